//! Channel authentication records, asked for an application that wants to connect.
//!
//! Invariants: whoever comes over the network gets past [`admit`] or gets no session, and past [`address`] or nothing at all;
//! what has to be known and cannot be found out blocks. A refusal is one numbered message, which names the channel, the address,
//! the user and the record, and 2035; or 2063 where it could not be found out. Whoever is let in is let in by the rules of that moment.

use std::cell::RefCell;
use std::sync::Arc;

use posthaste_chlauth::{CheckClient, Decision, Objection, Partner, Record, Rules, Why};
use posthaste_engine::{Application, AuditEvent, AuditKind, Operator, QueueManager};
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
            let [address, record] = inserts;
            let who = Application {
                conname: address,
                ..Application::default()
            };
            operator.audit(judged(id, who, record));
            objection.record.warn
        }
    }
}

/// What an audit is to know of a record that blocks or warns.
fn judged(id: &'static str, who: Application, record: String) -> AuditEvent {
    let (kind, reason) = match id.ends_with('W') {
        true => (AuditKind::ChannelWarned, Reason::CHANNEL_BLOCKED_WARNING),
        false => (AuditKind::ChannelBlocked, Reason::CHANNEL_BLOCKED),
    };
    AuditEvent {
        who,
        because: record,
        message: id,
        ..AuditEvent::new(kind, reason)
    }
}

/// What of a decision outlives the rules.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    user: String,
    /// The key of the record that says so; blank for none.
    mapping: String,
    /// It must give a password.
    demanded: bool,
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
        (Why::NotUnderstood, _) => "AMQ2452E",
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
        demanded: match check {
            CheckClient::AsQueueManager => false,
            CheckClient::Required => true,
            CheckClient::RequiredOfAdministrators => administrator,
        },
        mapping: decision.mapping.map(Record::key).unwrap_or_default(),
        warnings: warnings.map(message_of).collect(),
        blocked: decision.blocked.as_ref().map(message_of),
        asked: asked.into_inner(),
        user: decision.user,
    }
}

/// It could not be found out who administers, and it matters.
#[derive(Debug, PartialEq, Eq)]
struct NotKnown;

/// What the rules that are in force when it returns come to: whoever set a record while somebody was asked for has been
/// answered, and whoever comes in behind that answer comes in by the new rules.
///
/// # Errors
/// See [`NotKnown`].
async fn settled(
    rules: impl Fn() -> Arc<Rules>,
    of_administrators: impl Fn() -> bool,
    is_administrator: impl AsyncFn(String) -> Option<bool>,
    partner: &Partner<'_>,
    otherwise: &str,
) -> Result<Option<Outcome>, NotKnown> {
    loop {
        let now = rules();
        if !now.enabled() {
            return Ok(None);
        }
        let demanded_of = of_administrators();
        let decide = |administers| decided(&now, partner, otherwise, (administers, demanded_of));
        let mut outcome = decide(true);
        let Some(user) = outcome.asked.take() else {
            return Ok(Some(outcome));
        };
        let administers = is_administrator(user).await;
        if !Arc::ptr_eq(&now, &rules()) {
            continue;
        }
        let mut other = decide(false);
        other.asked = None;
        return match administers {
            Some(true) => Ok(Some(outcome)),
            Some(false) => Ok(Some(other)),
            None if outcome == other => Ok(Some(outcome)),
            None => Err(NotKnown),
        };
    }
}

/// Who tells of an application that is blocked, or warned of.
struct Refusing<'a> {
    operator: &'a dyn Operator,
    instance: &'a Instance,
    host: Host,
    who: &'a Application,
}

impl Refusing<'_> {
    /// Tells of a record, by the number of its message and its key. `client`: whom the application came as; `user`: whom it
    /// would run as.
    fn tell(&self, client: &str, user: &str, (id, record): (&'static str, String)) {
        let who = Application {
            user: user.to_owned(),
            ..self.who.clone()
        };
        self.operator.audit(AuditEvent {
            claimed: client.to_owned(),
            call: "MQCONN",
            ..judged(id, who, record.clone())
        });
        let inserts = match id {
            "AMQ2446E" => vec![self.host.to_canonical().to_string(), record],
            _ => {
                let Instance {
                    channel, conname, ..
                } = self.instance;
                vec![channel.clone(), conname.clone(), user.to_owned(), record]
            }
        };
        self.operator.message(id, &inserts);
    }

    /// Tells that it could not be found out who administers.
    fn not_known(&self, client: &str) {
        let why = "it could not be found out who administers".to_owned();
        let Instance {
            channel, conname, ..
        } = self.instance;
        let inserts = [channel.clone(), conname.clone(), why];
        self.operator.message("AMQ2602E", &inserts);
        self.operator.audit(AuditEvent {
            who: self.who.clone(),
            claimed: client.to_owned(),
            call: "MQCONN",
            message: "AMQ2602E",
            ..AuditEvent::new(AuditKind::ConnectionRefused, Reason::SECURITY_ERROR)
        });
    }
}

/// As whom an application runs, of whom it was weighed as whom it would run without records.
///
/// # Errors
/// A record blocks it, or demands a password (2035), or it could not be found out whether one does (2063); the operator was told.
pub(crate) async fn admit(
    registry: &Registry,
    instance: &Instance,
    who: &Application,
    weighed: Weighed,
) -> Result<String, Reason> {
    let Some(host) = instance.host else {
        return Ok(weighed.user);
    };
    let refusing = Refusing {
        operator: registry.operator(),
        instance,
        host,
        who,
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
    let connauth = registry.connauth();
    let of_administrators = || connauth.is_some_and(|connauth| connauth.asks_administrators());
    let is_administrator = async |user: String| registry.queue_manager().administers(&user).await;
    let rules = || registry.queue_manager().chlauth();
    let settled = settled(
        rules,
        of_administrators,
        is_administrator,
        &partner,
        &weighed.user,
    );
    let client = weighed.client.as_deref().unwrap_or_default();
    let outcome = match settled.await {
        Ok(Some(outcome)) => outcome,
        Ok(None) => return Ok(weighed.user),
        Err(NotKnown) => {
            refusing.not_known(client);
            return Err(Reason::SECURITY_ERROR);
        }
    };
    let tell = |of| refusing.tell(client, &outcome.user, of);
    outcome.warnings.into_iter().for_each(tell);
    match outcome.blocked {
        Some(blocked) => tell(blocked),
        None if outcome.demanded && !weighed.verified => tell(("AMQ2449E", outcome.mapping)),
        None => return Ok(outcome.user),
    }
    Err(Reason::NOT_AUTHORIZED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use parking_lot::Mutex;
    use posthaste_chlauth::{ADMINISTRATORS, Pattern, Rule};

    fn blocking(users: &[&str]) -> Arc<Rules> {
        let users = users.iter().map(|user| (*user).to_owned()).collect();
        let record = Record {
            profile: Pattern::new("*"),
            rule: Rule::BlockUsers(users),
            warn: false,
        };
        Arc::new(Rules::new(true, [record]))
    }

    const CAROL: Partner<'static> = Partner {
        channel: "CH",
        address: std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST),
        user: Some("carol"),
        queue_manager: None,
        peer: None,
        issuer: None,
    };

    /// Whether she is blocked; `rules` may change while somebody is asked.
    fn is_blocked(
        rules: &Mutex<Arc<Rules>>,
        is_administrator: impl AsyncFn(String) -> Option<bool>,
    ) -> Result<bool, NotKnown> {
        let now = || Arc::clone(&rules.lock());
        let settled = settled(now, || false, is_administrator, &CAROL, "carol");
        let settled = posthaste_env::block_on(settled);
        settled.map(|outcome| outcome.is_some_and(|outcome| outcome.blocked.is_some()))
    }

    #[test]
    fn what_was_set_while_somebody_was_asked_counts() {
        let rules = Mutex::new(blocking(&[ADMINISTRATORS]));
        assert_eq!(is_blocked(&rules, async |_| Some(false)), Ok(false));
        assert_eq!(is_blocked(&rules, async |_| Some(true)), Ok(true));
        let set = async |_: String| {
            *rules.lock() = blocking(&["carol"]);
            Some(false)
        };
        assert_eq!(is_blocked(&rules, set), Ok(true));
    }

    #[test]
    fn where_nobody_can_be_asked_it_is_said_if_it_matters() {
        let rules = Mutex::new(blocking(&[ADMINISTRATORS]));
        assert_eq!(is_blocked(&rules, async |_| None), Err(NotKnown));
        let rules = Mutex::new(blocking(&[ADMINISTRATORS, "carol"]));
        assert_eq!(is_blocked(&rules, async |_| None), Ok(true));
        let rules = Mutex::new(blocking(&["dave"]));
        assert_eq!(is_blocked(&rules, async |_| None), Ok(false));
    }
}
