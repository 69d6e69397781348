//! How to connect: where, by which channel, and as whom.

use std::time::Duration;

use posthaste_mqi::constants::MQAT_UNIX;
use posthaste_mqi::{ByteOrder, Chars, Name};
use posthaste_wire::Request;
use posthaste_wire::client::ClientOffer;
use posthaste_wire::identity::{Authentication, Userid};
use posthaste_wire::request::ConnRequest;

use crate::{Address, Password, Tls};

/// How to connect.
#[derive(Clone, Debug)]
pub struct Connect {
    /// Where.
    pub address: Address,
    /// Server-connection channel.
    pub channel: String,
    /// Queue manager; empty takes whichever answers.
    pub queue_manager: String,
    /// Application name (`APPLTAG`).
    pub application: String,
    /// User; none takes the process's.
    pub user: Option<String>,
    /// TLS; none for a plain connection. A socket of this machine has none.
    pub tls: Option<Box<Tls>>,
    /// Password, sent as it is: use a connection that nobody can listen on.
    pub password: Option<Password>,
    /// How long connecting may take.
    pub timeout: Duration,
    /// The same for the answer to MQCONN where a password is given: a wrong one is refused after as much as 60 seconds
    /// (FAILDLAY), and whoever knows passwords may be slow.
    pub checked: Duration,
    /// How many connections may share the socket ([`crate::Connection::another`]); 0 for a socket of its own.
    pub conversations: u32,
}

/// A server looks for an answer for 30 seconds at most, and delays a refusal for 60 (FAILDLAY).
const CHECKED: Duration = Duration::from_secs(100);

impl Connect {
    /// To a queue manager at an address, with defaults for the rest.
    pub fn new(address: Address, channel: &str, queue_manager: &str) -> Connect {
        Connect {
            address,
            channel: channel.to_owned(),
            queue_manager: queue_manager.to_owned(),
            application: "posthaste".to_owned(),
            user: None,
            tls: None,
            password: None,
            timeout: Duration::from_secs(10),
            checked: CHECKED,
            conversations: 0,
        }
    }

    /// How long the answer to MQCONN may take.
    pub(crate) fn answered_within(&self) -> Duration {
        match self.password {
            Some(_) => self.checked.max(self.timeout),
            None => self.timeout,
        }
    }

    /// What is proposed for the socket.
    pub(crate) fn offer(&self) -> ClientOffer {
        ClientOffer {
            channel: Chars::new(&self.channel),
            q_mgr: Name::new(&self.queue_manager),
            // On a socket that is not shared the server expects nobody to answer heartbeats between
            // calls, when nobody listens here; so an application may be idle for as long as it likes.
            conversations: self.conversations,
            product: Chars::new("PHCL00010000"),
            process_id: std::process::id(),
            // On this machine the system says when the other side is gone; a caller that waits for
            // something else (its standard input, say) answers no heartbeats meanwhile.
            heartbeat_s: match self.address {
                Address::Unix(_) => 0,
                Address::Tcp { .. } => ClientOffer::default().heartbeat_s,
            },
            ..ClientOffer::default()
        }
    }

    /// Whom the application runs as.
    pub(crate) fn user(&self) -> String {
        let process_user = || std::env::var("USER").unwrap_or_default();
        self.user.clone().unwrap_or_else(process_user)
    }

    /// Who a conversation belongs to.
    pub(crate) fn introduction(&self) -> Handshake {
        let user = self.user();
        Handshake {
            userid: Userid {
                user: Chars::new(&user.to_uppercase()),
                password: [b' '; 12].into(),
                long_user: Chars::new(&user),
            },
            authentication: self.password.as_ref().map(|password| Authentication {
                user: user.into_bytes(),
                password: password.as_bytes().to_vec().into(),
                ..Authentication::default()
            }),
            request: Request::Conn(Box::new(ConnRequest {
                q_mgr: Name::new(&self.queue_manager),
                application: Chars::new(&self.application),
                application_type: MQAT_UNIX,
                accounting_token: [0; 32],
                options: 1,
                connect_options: 0,
                fcno: ConnRequest::plain_fcno(ByteOrder::Little),
            })),
        }
    }
}

/// What a conversation says of itself until it is connected.
pub(crate) struct Handshake {
    pub(crate) userid: Userid,
    pub(crate) authentication: Option<Authentication>,
    /// MQCONN.
    pub(crate) request: Request,
}
