//! What a listener on an address of the network would let in that nobody protects.
//!
//! Invariant: a channel counts as closed only if its definition demands TLS, and of each client a certificate or a password; or
//! if it is a channel of the system and channel authentication records let nobody in; or if its MCAUSER is nobody and no record
//! gives anybody another user.

use posthaste_command::{Object, ObjectKind};
use posthaste_mqi::constants::MQCACH_MCA_USER_ID;

use crate::admission::NOBODY;
use crate::connauth::{Check, ConnAuth, Policy};
use crate::registry::Registry;
use crate::security::Demands;

/// The names of the system's channels begin so.
const SYSTEM: &str = "SYSTEM.";

/// A channel by which clients come in unprotected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exposed {
    /// Its name.
    pub channel: String,
    /// What is missing.
    pub why: &'static str,
}

impl Registry {
    /// The channels that let clients in without TLS, or without a certificate and a password.
    pub fn exposed(&self) -> Vec<Exposed> {
        let asks = self.connauth().is_some_and(|connauth| asks_all(connauth));
        let channels = self.queue_manager().objects(ObjectKind::SvrConn);
        let open = channels.iter().filter(|channel| !self.is_closed(channel));
        let exposed = open.filter_map(|channel| {
            let demands = Demands::read(&channel.attrs);
            let why = match (demands.is_plain(), asks || demands.of_certificate()) {
                (true, _) => "SSLCIPH is blank",
                (false, false) => {
                    "neither a certificate (SSLCAUTH) nor a password (CONNAUTH) is demanded"
                }
                (false, true) => return None,
            };
            let channel = channel.name.clone();
            Some(Exposed { channel, why })
        });
        exposed.collect()
    }

    /// Whether nobody comes in by it, whatever TLS and passwords it demands.
    fn is_closed(&self, channel: &Object) -> bool {
        let rules = self.queue_manager().chlauth();
        let user = channel.attrs.name(MQCACH_MCA_USER_ID);
        match user.eq_ignore_ascii_case(NOBODY) {
            true => !rules.maps_somebody(&channel.name),
            false => channel.name.starts_with(SYSTEM) && rules.lets_nobody_in(&channel.name),
        }
    }
}

/// Whether a password is demanded of every client.
fn asks_all(connauth: &ConnAuth) -> bool {
    match &*connauth.policy() {
        Policy::Unchecked => false,
        Policy::Checked(checks) => checks.client == Check::Required,
        Policy::Broken(_) => true,
    }
}
