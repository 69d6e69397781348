//! Channel authentication records, asked for an application that wants to connect.
//!
//! Invariants: whoever comes over the network gets past [`admit`] or gets no session, and past [`address`] or nothing at all;
//! what has to be known and cannot be found out blocks. A refusal is one numbered message, which names the channel, the address,
//! the user and the record, and 2035.

use std::cell::RefCell;

use posthaste_chlauth::{CheckClient, Decision, Objection, Partner, Record, Rules, Why};
use posthaste_engine::{Operator, QueueManager};
use posthaste_mqi::Reason;
use posthaste_net::Host;

use crate::admission::Weighed;
use crate::instance::Instance;
use crate::registry::Registry;

/// Whether a connection from an address may go on, before anything is known of it but the address. What a record blocks, or only
/// warns of, the operator was told.
pub(crate) fn address(qm: &QueueManager, operator: &dyn Operator, host: Host) -> bool {
    let rules = qm.chlauth();
    match rules.address(host) {
        None => true,
        Some(objection) => {
            let id = match objection.record.warn {
                true => "AMQ2447W",
                false => "AMQ2446E",
            };
            let inserts = [host.to_canonical().to_string(), objection.record.key()];
            operator.message(id, &inserts);
            objection.record.warn
        }
    }
}

/// What of a decision outlives the rules.
struct Outcome {
    user: String,
    check: CheckClient,
    /// The key of the record that says so; blank for none.
    mapping: String,
    /// Message number, and the record's key.
    warnings: Vec<(&'static str, String)>,
    blocked: Option<(&'static str, String)>,
    /// Whom somebody asked about: is he an administrator?
    asked: Option<String>,
}

fn message_of(objection: &Objection<'_>) -> (&'static str, String) {
    let id = match (objection.why, objection.record.warn) {
        (Why::User, false) => "AMQ9776E",
        (Why::Address, false) => "AMQ2446E",
        (Why::NoAccess, false) => "AMQ9777E",
        (_, true) => "AMQ2448W",
    };
    (id, objection.record.key())
}

/// `of_administrators`: the queue manager demands passwords of administrators, and so of whoever becomes one here.
fn decided(
    rules: &Rules,
    partner: &Partner<'_>,
    otherwise: &str,
    (administrator, of_administrators): (bool, bool),
) -> Outcome {
    let asked = RefCell::new(None);
    let decision: Decision<'_> = rules.decide(partner, otherwise, |user| {
        asked.replace(Some(user.to_owned()));
        administrator
    });
    let check = match decision.check() {
        CheckClient::AsQueueManager if of_administrators => CheckClient::RequiredOfAdministrators,
        check => check,
    };
    if check == CheckClient::RequiredOfAdministrators {
        asked.replace(Some(decision.user.clone()));
    }
    // Of addresses whoever accepts connections has warned.
    let warnings = decision
        .warnings
        .iter()
        .filter(|one| one.why != Why::Address);
    Outcome {
        check,
        mapping: decision.mapping.map(Record::key).unwrap_or_default(),
        warnings: warnings.map(message_of).collect(),
        blocked: decision.blocked.as_ref().map(message_of),
        asked: asked.into_inner(),
        user: decision.user,
    }
}

/// As whom an application runs, of whom it was weighed as whom it would run without records.
///
/// # Errors
/// A record blocks it, or demands a password; the operator was told.
pub(crate) async fn admit(
    registry: &Registry,
    instance: &Instance,
    weighed: Weighed,
) -> Result<String, Reason> {
    let rules = registry.queue_manager().chlauth();
    let Some(host) = instance.host.filter(|_| rules.enabled()) else {
        return Ok(weighed.user);
    };
    let certificate = instance.partner();
    let partner = Partner {
        channel: &instance.channel,
        address: host,
        user: weighed.client.as_deref(),
        queue_manager: None,
        peer: certificate.map(|certificate| &certificate.subject),
        issuer: certificate.map(|certificate| &certificate.issuer),
    };
    // Whoever cannot be asked about is taken for an administrator.
    let mut administers = true;
    let connauth = registry.connauth();
    let of_administrators = connauth.is_some_and(|connauth| connauth.asks_administrators());
    let decide = |administers| {
        let asked = (administers, of_administrators);
        decided(&rules, &partner, &weighed.user, asked)
    };
    let mut outcome = decide(administers);
    if let (Some(user), Some(connauth)) = (outcome.asked.take(), connauth) {
        administers = connauth.is_administrator(user).await.unwrap_or(true);
        outcome = decide(administers);
    }
    let demanded = match outcome.check {
        CheckClient::AsQueueManager => false,
        CheckClient::Required => true,
        CheckClient::RequiredOfAdministrators => administers,
    };
    let tell = |(id, record): (&'static str, String)| {
        let Instance {
            channel, conname, ..
        } = instance;
        let inserts = [channel, conname, &outcome.user, &record].map(String::clone);
        registry.operator().message(id, &inserts);
    };
    outcome.warnings.into_iter().for_each(tell);
    match outcome.blocked {
        Some(blocked) => tell(blocked),
        None if demanded && !weighed.verified => tell(("AMQ2449E", outcome.mapping)),
        None => return Ok(outcome.user),
    }
    Err(Reason::NOT_AUTHORIZED)
}
