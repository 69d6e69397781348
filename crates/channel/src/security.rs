//! What channels demand of TLS, and whether a connection has it.
//!
//! Invariants: a channel with SSLCIPH admits nobody without TLS, one without it nobody with; what cannot be checked is
//! refused. A refusal is one numbered message and one status. The key repository is read when the first connection wants
//! it, and again by [`Security::refresh`]: what has changed is used by handshakes from then on, and connections that stand
//! are left alone.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;
use posthaste_command::{Attrs, ObjectKind, Value, messages};
use posthaste_engine::{Application, AuditEvent, AuditKind, Operator, QueueManager};
use posthaste_mqi::Reason;
use posthaste_mqi::constants::{
    MQCA_CERT_LABEL, MQCA_SSL_KEY_REPOSITORY, MQCACH_SSL_CIPHER_SPEC, MQCACH_SSL_PEER_NAME,
    MQIA_SSL_FIPS_REQUIRED, MQIA_SUITE_B_STRENGTH, MQIACH_SSL_CLIENT_AUTH, MQSCA_REQUIRED,
    MQSSL_FIPS_YES,
};
use posthaste_net::{AcceptorSource, Handshakes};
use posthaste_tls::{
    Accept, Acceptor, Agreed, Allowed, CipherSpec, Failure, KeyStore, KeyStoreError, PeerPattern,
    Terms,
};
use posthaste_wire::Status;

use crate::expiring::Expiring;

/// What the label of a queue manager's certificate begins with, if CERTLABL is blank.
const LABEL: &str = "ibmwebspheremq";
/// Values of SUITEB.
const SUITE_B_128: i64 = 2;
const SUITE_B_192: i64 = 4;

/// Who is in the way of a connection: a message number with its inserts, and what the client is told.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Objection {
    id: &'static str,
    inserts: Vec<String>,
    status: Status,
}

impl Objection {
    fn new(id: &'static str, inserts: &[&str], status: Status) -> Objection {
        Objection {
            id,
            inserts: inserts.iter().map(|&insert| insert.to_owned()).collect(),
            status,
        }
    }

    /// Tells the operator, and whoever audits who it was; gives what the client is told.
    pub(crate) fn tell(&self, operator: &dyn Operator, who: Application) -> Status {
        operator.message(self.id, &self.inserts);
        operator.audit(AuditEvent {
            who,
            because: messages::format(self.id, &self.inserts),
            message: self.id,
            ..AuditEvent::new(AuditKind::TlsRefused, Reason::CHANNEL_SSL_ERROR)
        });
        self.status
    }
}

/// What a definition demands of the partners of its channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Demands {
    /// SSLCIPH; blank is no TLS.
    cipher: String,
    /// SSLCAUTH(REQUIRED).
    certificate: bool,
    /// SSLPEER; blank is anybody.
    peer: String,
    /// CERTLABL; blank is the queue manager's.
    label: String,
}

impl Demands {
    pub(crate) fn read(channel: &Attrs) -> Demands {
        let text = |selector: i32| channel.name(selector).to_owned();
        Demands {
            cipher: text(MQCACH_SSL_CIPHER_SPEC),
            certificate: channel.int(MQIACH_SSL_CLIENT_AUTH) == MQSCA_REQUIRED,
            peer: text(MQCACH_SSL_PEER_NAME),
            label: text(MQCA_CERT_LABEL),
        }
    }

    /// Whether it is used without TLS.
    pub(crate) fn is_plain(&self) -> bool {
        self.cipher.is_empty()
    }

    /// Whether a certificate is demanded of each client.
    pub(crate) fn of_certificate(&self) -> bool {
        self.certificate || !self.peer.is_empty()
    }

    /// Whether a connection from `conname` may use the channel `channel`: with what was agreed on, at a time in
    /// seconds from 1970 on.
    pub(crate) fn check(
        &self,
        agreed: Option<&Agreed>,
        channel: &str,
        conname: &str,
        now: i64,
    ) -> Result<(), Objection> {
        let object = |id, more: &[&str]| {
            let inserts = [&[channel, conname], more].concat();
            Err(Objection::new(id, &inserts, Status::CIPHER_SPEC))
        };
        let agreed = match (agreed, self.cipher.is_empty()) {
            (None, true) if self.peer.is_empty() => return Ok(()),
            // Whom should it let in? Nobody shows a certificate.
            (None, true) => {
                return object(
                    "AMQ9635E",
                    &["SSLPEER needs a certificate, and SSLCIPH is blank"],
                );
            }
            (Some(_), true) => {
                return object("AMQ9635E", &["the client uses TLS, and SSLCIPH is blank"]);
            }
            (None, false) => return object("AMQ9639E", &[]),
            (Some(agreed), false) => agreed,
        };
        let Ok(allowed) = Allowed::parse(&self.cipher) else {
            return object("AMQ9635E", &["SSLCIPH names none that is known here"]);
        };
        if !allowed.contains(agreed.spec) {
            return object("AMQ9631E", &[agreed.spec.name, &self.cipher]);
        }
        if !self.label.is_empty() && agreed.channel.as_deref() != Some(channel) {
            return object("AMQ9673E", &[&self.label]);
        }
        match &agreed.partner {
            None if self.certificate || !self.peer.is_empty() => object("AMQ9637E", &[]),
            None => Ok(()),
            // One that goes on with an earlier session does not show it again, nor are its issuers looked at.
            Some(partner) if !partner.is_valid(now) || now > agreed.until => object(
                "AMQ9633E",
                &[&partner.subject.to_string(), "it is not valid now"],
            ),
            Some(partner) => self.check_peer(&partner.subject, channel, conname),
        }
    }

    fn check_peer(
        &self,
        name: &posthaste_tls::DistinguishedName,
        channel: &str,
        conname: &str,
    ) -> Result<(), Objection> {
        if self.peer.is_empty() {
            return Ok(());
        }
        let object = |id, inserts: &[&str]| Err(Objection::new(id, inserts, Status::PEER_NAME));
        match PeerPattern::parse(&self.peer) {
            Err(error) => object("AMQ9640E", &[channel, &self.peer, &error.to_string()]),
            Ok(pattern) if pattern.matches(name) => Ok(()),
            Ok(_) => object(
                "AMQ9636E",
                &[channel, conname, &name.to_string(), &self.peer],
            ),
        }
    }
}

/// The message for a handshake, or a connection, that has failed: TLS has told the client.
pub(crate) fn failed(
    failure: &Failure,
    qm: &str,
    channel: &str,
    conname: &str,
) -> Option<Objection> {
    let channel = if channel.is_empty() { "?" } else { channel };
    let because = failure.to_string();
    let id = match failure {
        Failure::NothingInCommon(_) => "AMQ9616E",
        Failure::BadCertificate { .. } => "AMQ9633E",
        Failure::Alert(_) => "AMQ9665E",
        Failure::BadRecord(_) => "AMQ9661E",
        Failure::Truncated => "AMQ9638E",
        Failure::NoCertificate(_) => "AMQ9657E",
        // Whoever could not read the key repository has said so.
        Failure::Unable(_) => return None,
    };
    let who = match failure {
        Failure::BadCertificate { subject, .. } => {
            let name = subject.as_deref().unwrap_or("?");
            &[channel, conname, name, &because][..]
        }
        Failure::NoCertificate(_) => &[qm, &because],
        _ => &[channel, conname, &because],
    };
    Some(Objection::new(id, who, Status::CIPHER_SPEC))
}

/// What all connections of a queue manager have in common: its key repository, and threads for handshakes.
pub struct Security {
    repository: Arc<Repository>,
    handshakes: Handshakes,
}

struct Repository {
    qm: QueueManager,
    operator: Arc<dyn Operator>,
    /// Where it is if SSLKEYR is blank.
    default: PathBuf,
    acceptor: Mutex<Option<Acceptor>>,
    /// Of what was read last.
    expiring: Mutex<Option<Expiring>>,
}

impl fmt::Debug for Security {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Security")
    }
}

impl Security {
    /// For a queue manager whose key repository is at `default` if SSLKEYR does not say otherwise, with so many threads.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(
        qm: QueueManager,
        operator: Arc<dyn Operator>,
        default: PathBuf,
        threads: usize,
    ) -> io::Result<Arc<Security>> {
        let repository = Arc::new(Repository {
            qm,
            operator,
            default,
            acceptor: Mutex::default(),
            expiring: Mutex::default(),
        });
        let of_threads = Arc::clone(&repository);
        let source: AcceptorSource = Arc::new(move || of_threads.acceptor());
        Ok(Arc::new(Security {
            handshakes: Handshakes::start(threads, &source)?,
            repository,
        }))
    }

    pub(crate) fn handshakes(&self) -> &Handshakes {
        &self.handshakes
    }

    /// Reads the key repository again, and what the queue manager's attributes say of it. It waits for the disk.
    ///
    /// # Errors
    /// It cannot be used; what was read before stays in use.
    pub fn refresh(&self) -> Result<(), String> {
        let acceptor = self.repository.load()?;
        *self.repository.acceptor.lock() = Some(acceptor);
        Ok(())
    }

    /// Tells the operator of certificates that come to their end, once a day; and why the key repository cannot be read,
    /// if a channel wants it and nobody has used it yet. `now` is in seconds from 1970 on. It waits for the disk.
    pub fn look_after_certificates(&self, now: i64) {
        let repository = &self.repository;
        if !repository.is_wanted() {
            return;
        }
        // Whoever could not read it has said so.
        if repository.acceptor().is_err() {
            return;
        }
        let due = repository.expiring.lock().as_mut().map(|all| all.due(now));
        for (id, inserts) in due.unwrap_or_default() {
            repository.operator.message(id, &inserts);
        }
    }
}

impl Repository {
    /// A channel demands TLS.
    fn is_wanted(&self) -> bool {
        let channels = self.qm.objects(ObjectKind::SvrConn);
        channels
            .iter()
            .any(|channel| !Demands::read(&channel.attrs).cipher.is_empty())
    }

    fn acceptor(&self) -> Result<Acceptor, Failure> {
        let mut acceptor = self.acceptor.lock();
        if let Some(acceptor) = &*acceptor {
            return Ok(acceptor.clone());
        }
        // Every connection tries again, so that a repository that was put in order needs no command.
        let loaded = self.load().map_err(Failure::Unable)?;
        Ok(acceptor.insert(loaded).clone())
    }

    /// Reads the repository; tells the operator why it cannot be used.
    fn load(&self) -> Result<Acceptor, String> {
        self.try_load().inspect_err(|why| {
            let name = self.qm.name().to_owned();
            self.operator.message("AMQ9657E", &[name, why.clone()]);
        })
    }

    fn try_load(&self) -> Result<Acceptor, String> {
        let attrs = self.qm.object(ObjectKind::Qmgr, self.qm.name());
        let attrs = attrs.map(|qmgr| qmgr.attrs).unwrap_or_default();
        let approved = Approved::read(&attrs);
        let allowed = Allowed::all().only(|spec| approved.has(spec));
        let allowed = allowed.ok_or("SSLFIPS and SUITEB together leave no CipherSpec")?;
        let path = match attrs.name(MQCA_SSL_KEY_REPOSITORY) {
            "" => self.default.clone(),
            path => PathBuf::from(path),
        };
        let words = |error: KeyStoreError| error.to_string();
        let store = KeyStore::load(&path, None).map_err(words)?;
        *self.expiring.lock() = Some(Expiring::of(&store));
        let label = attrs.name(MQCA_CERT_LABEL).to_owned();
        let otherwise = format!("{LABEL}{}", self.qm.name().to_lowercase());
        let qm = self.qm.clone();
        let terms = move |channel: &str| terms(&qm, channel, approved);
        let accept = Accept {
            store: &store,
            label: Some(label.as_str()).filter(|label| !label.is_empty()),
            otherwise: &otherwise,
            allowed,
            suite_b: approved.suite_b,
            terms: Arc::new(terms),
        };
        Acceptor::new(accept).map_err(words)
    }
}

/// What a channel asks of handshakes.
fn terms(qm: &QueueManager, channel: &str, approved: Approved) -> Option<Terms> {
    let definition = qm.object(ObjectKind::SvrConn, channel)?;
    let demands = Demands::read(&definition.attrs);
    let allowed = Allowed::parse(&demands.cipher).ok()?;
    Some(Terms {
        allowed: allowed.only(|spec| approved.has(spec))?,
        label: Some(demands.label).filter(|label| !label.is_empty()),
    })
}

/// What SSLFIPS and SUITEB leave of the CipherSpecs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Approved {
    fips: bool,
    /// The least strength of Suite B in bits, if it is asked for.
    suite_b: Option<u16>,
}

impl Approved {
    fn read(qmgr: &Attrs) -> Approved {
        let strengths = match qmgr.get(MQIA_SUITE_B_STRENGTH) {
            Some(Value::Ints(strengths)) => strengths.clone(),
            Some(Value::Int(strength)) => vec![*strength],
            _ => Vec::new(),
        };
        let suite_b = match (
            strengths.contains(&SUITE_B_128),
            strengths.contains(&SUITE_B_192),
        ) {
            (true, _) => Some(128),
            (false, true) => Some(192),
            (false, false) => None,
        };
        Approved {
            fips: qmgr.int(MQIA_SSL_FIPS_REQUIRED) == MQSSL_FIPS_YES,
            suite_b,
        }
    }

    fn has(self, spec: &CipherSpec) -> bool {
        let strong = self.suite_b.is_none_or(|least| spec.suite_b >= Some(least));
        strong && (spec.fips || !self.fips)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What looks blank and is not demands something that no client has.
    #[test]
    fn no_space_but_a_blank_is_nothing_around_what_is_demanded() {
        for space in ["\u{a0}", "\u{2003}", "\u{3000}"] {
            let mut channel = Attrs::defaults(ObjectKind::SvrConn);
            channel.set_text(MQCACH_SSL_CIPHER_SPEC, space);
            channel.set_text(MQCACH_SSL_PEER_NAME, format!("CN=bank{space}"));
            channel.set_text(MQCA_CERT_LABEL, format!(" {space}label "));
            let demands = Demands::read(&channel);
            assert!(!demands.is_plain(), "{space:?}");
            assert_eq!(demands.peer, format!("CN=bank{space}"));
            assert_eq!(demands.label, format!("{space}label"));
        }
    }

    /// An earlier session is taken no longer than a whole handshake would be, whichever date of the chain is the first.
    #[test]
    fn a_session_that_goes_on_ends_with_the_first_date_of_its_chain() {
        let spec = &posthaste_tls::CIPHER_SPECS[0];
        let demands = Demands {
            cipher: spec.name.to_owned(),
            certificate: true,
            peer: String::new(),
            label: String::new(),
        };
        let partner = posthaste_tls::Certificate {
            subject: posthaste_tls::DistinguishedName::default(),
            issuer: posthaste_tls::DistinguishedName::default(),
            valid: (0, 1_000),
            key: String::new(),
            authority: false,
        };
        let agreed = Agreed {
            spec,
            partner: Some(partner),
            channel: None,
            resumed: true,
            until: 500,
        };
        for (now, refused) in [
            (500, None),
            (501, Some("AMQ9633E")),
            (1_001, Some("AMQ9633E")),
        ] {
            let checked = demands.check(Some(&agreed), "C", "127.0.0.1", now);
            assert_eq!(
                checked.err().map(|objection| objection.id),
                refused,
                "{now}"
            );
        }
    }
}
