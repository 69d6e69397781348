//! What of a queue manager is open: a check for each row of the checklist in docs/security.md.
//!
//! Invariant: each check is a function of facts and of nothing else.

use std::net::IpAddr;

use super::manager::{Channel, Facts, Manager};
use super::verdict::{Finding, Verdict};
use crate::output::counted;
use crate::typed::quoted;
use posthaste_tls::Certificate;

const SECTION: &str = "security";

type Check = (&'static str, &'static str, fn(&Manager) -> Verdict);

const CHECKS: [Check; 7] = [
    (
        "passwords",
        "Without CONNAUTH a client is whoever it says it is.",
        passwords,
    ),
    (
        "channel records",
        "CHLAUTH keeps administrators of the machine out of channels, and everybody out of those of the system.",
        records,
    ),
    (
        "authorities",
        "Without the authorization service whoever connects may do everything.",
        authorities,
    ),
    (
        "channels",
        "Without SSLCIPH passwords and messages cross the network as they are; MCAUSER makes everybody that user.",
        channels,
    ),
    (
        "certificates",
        "When one has ended, nobody comes in who needs it.",
        certificates,
    ),
    (
        "listeners",
        "An address that is not loopback can be reached from the network.",
        listeners,
    ),
    (
        "password files",
        "Passwords that others read are theirs.",
        files,
    ),
];

/// Makes all checks.
pub(crate) fn check(manager: &Manager) -> Vec<Finding> {
    let made = CHECKS
        .iter()
        .map(|(name, why, judge)| Finding::new(SECTION, name, why, judge(manager)));
    made.collect()
}

const REFRESH: &str = "REFRESH SECURITY(*) TYPE(CONNAUTH)";
const REFRESH_TLS: &str = "REFRESH SECURITY(*) TYPE(SSL)";

/// Commands one after the other.
fn several(manager: &Manager, commands: &[&str]) -> String {
    let all: Vec<String> = commands.iter().map(|text| manager.mqsc(text)).collect();
    all.join("; ")
}

/// Commands that have the queue manager's own users demanded.
fn own_users(manager: &Manager) -> String {
    let commands = several(
        manager,
        &[
            "DEFINE AUTHINFO(OWN.USERS) AUTHTYPE(IDPWOS) AUTHENMD(USERFILE) CHCKCLNT(REQUIRED) ADOPTCTX(YES) REPLACE",
            "ALTER QMGR CONNAUTH(OWN.USERS)",
            REFRESH,
        ],
    );
    let (program, name, place) = (&manager.program, &manager.name, &manager.place);
    format!("{program} users add USER {name}{place}; then {commands}")
}

fn passwords(manager: &Manager) -> Verdict {
    let Facts {
        connauth,
        check_client,
        channels,
        ..
    } = &manager.security;
    let mut open = channels.iter().filter(|channel| !channel.is_closed());
    let certified = |channel: &Channel| channel.certificate && !channel.cipher.is_empty();
    if check_client != "REQUIRED" && open.all(certified) {
        return Verdict::pass("each channel demands a certificate");
    }
    match (connauth.as_str(), check_client.as_str()) {
        ("", _) => Verdict::warn(
            "CONNAUTH is blank: no client needs a password",
            own_users(manager),
        ),
        (object, _) if manager.security.auth_type.is_empty() => Verdict::warn(
            format!("CONNAUTH names {object}, which is not there"),
            own_users(manager),
        ),
        (object, "REQUIRED") => Verdict::pass(format!("{object} demands one of every client")),
        (object, check) => Verdict::warn(
            format!(
                "{object} has CHCKCLNT({check}): a client without a password is whoever it says it is"
            ),
            several(
                manager,
                &[
                    &format!(
                        "ALTER AUTHINFO('{object}') AUTHTYPE({}) CHCKCLNT(REQUIRED)",
                        manager.security.auth_type
                    ),
                    REFRESH,
                ],
            ),
        ),
    }
}

fn records(manager: &Manager) -> Verdict {
    if !manager.security.records {
        return Verdict::warn(
            "CHLAUTH(DISABLED): no record counts",
            manager.mqsc("ALTER QMGR CHLAUTH(ENABLED)"),
        );
    }
    let system = |channel: &&Channel| channel.name.starts_with("SYSTEM.");
    let open = manager.security.channels.iter().filter(system);
    match open.clone().find(|channel| !channel.is_closed()) {
        None => Verdict::pass("CHLAUTH(ENABLED), and SYSTEM.* channels are blocked"),
        Some(channel) => Verdict::warn(
            format!("{} is not blocked", channel.name),
            manager.mqsc(&format!(
                "SET CHLAUTH('{}') TYPE(ADDRESSMAP) ADDRESS('*') USERSRC(NOACCESS) ACTION(REPLACE)",
                channel.name
            )),
        ),
    }
}

fn authorities(manager: &Manager) -> Verdict {
    match manager.security.authorities {
        true => Verdict::pass("they are checked"),
        false => Verdict::warn(
            "they are not checked",
            format!(
                "grant what applications need (setmqaut), write the stanzas Service and ServiceComponent into {} \
                 (docs/security.md, What you may), then: {}",
                manager.configuration,
                manager.restart()
            ),
        ),
    }
}

/// Users that administer wherever there is one of that name.
const ADMINISTRATORS: [&str; 2] = ["root", "mqm"];

fn channels(manager: &Manager) -> Verdict {
    let facts = &manager.security;
    let all = facts.channels.iter().filter(|channel| !channel.is_closed());
    let many = all.clone().count();
    if let Some(channel) = all
        .clone()
        .find(|channel| ADMINISTRATORS.contains(&channel.user.as_str()))
    {
        return Verdict::warn(
            format!("{} has MCAUSER({})", channel.name, channel.user),
            manager.mqsc(&format!(
                "ALTER CHANNEL({}) CHLTYPE(SVRCONN) MCAUSER(' ')",
                channel.name
            )),
        );
    }
    let plain: Vec<&str> = all
        .clone()
        .filter(|channel| channel.cipher.is_empty())
        .map(|channel| channel.name.as_str())
        .collect();
    match plain.first() {
        None => Verdict::pass(format!("each of {many} has SSLCIPH")),
        Some(_) if !on_network(facts) => Verdict::pass(format!(
            "{} of {many} have no SSLCIPH, and are reached by loopback only",
            plain.len()
        )),
        Some(first) => Verdict::warn(
            format!("without SSLCIPH: {}", plain.join(", ")),
            manager.mqsc(&format!(
                "ALTER CHANNEL({first}) CHLTYPE(SVRCONN) SSLCIPH(ANY_TLS12_OR_HIGHER)"
            )),
        ),
    }
}

fn certificates(manager: &Manager) -> Verdict {
    let facts = &manager.security;
    if facts.channels.iter().all(|one| one.cipher.is_empty()) {
        return Verdict::pass("no channel has SSLCIPH");
    }
    let renew = |what: &str| format!("{what}, then: {}", manager.mqsc(REFRESH_TLS));
    let (label, days) = match &facts.certificate {
        Ok(first) => first,
        Err(why) => {
            let (program, path) = (&manager.program, quoted(&facts.repository));
            let what = format!("put the key repository in order: {program} certs show {path}");
            let found = format!("the key repository (SSLKEYR) cannot be used: {why}");
            return Verdict::warn(found, renew(&what));
        }
    };
    let left = counted(days.unsigned_abs(), "day");
    let found = match days {
        ..0 => format!("{label} has ended"),
        0..=Certificate::EARLY => format!("{label} ends in {left}"),
        _ => return Verdict::pass(format!("the first to end does in {left}: {label}")),
    };
    Verdict::warn(
        found,
        renew("put one that is valid for longer into the key repository"),
    )
}

/// Whether an address is of this machine only.
fn is_loopback(address: &str) -> bool {
    let ip = address.parse::<IpAddr>();
    ip.is_ok_and(|ip| ip.to_canonical().is_loopback()) || address == "localhost"
}

fn on_network(facts: &Facts) -> bool {
    let mut addresses = facts.listeners.iter().map(|(_, address)| address);
    addresses.any(|address| !is_loopback(address))
}

fn listeners(manager: &Manager) -> Verdict {
    let facts = &manager.security;
    let outside = facts.listeners.iter();
    let mut outside = outside.filter(|(_, address)| !is_loopback(address));
    let Some((name, address)) = outside.next() else {
        return Verdict::pass(format!("{} run, on loopback only", facts.listeners.len()));
    };
    let address = match address.as_str() {
        "" => "every address",
        address => address,
    };
    let found = format!("{name} is on {address}");
    match facts.insecure {
        false => Verdict::pass(format!("{found}, and InsecureListeners=NO")),
        true => Verdict::warn(
            format!("{found}, and may be there whatever the channels let in"),
            format!(
                "give each channel SSLCIPH, write InsecureListeners=NO below the line TCP: of {}, then: {}",
                manager.configuration,
                manager.restart()
            ),
        ),
    }
}

fn files(manager: &Manager) -> Verdict {
    let mut all = manager.security.files.iter();
    match all.find(|(_, mode)| mode & 0o077 != 0) {
        Some((path, mode)) => Verdict::warn(
            format!("{path} has permissions {mode:03o}"),
            format!(
                "chmod 600 {}, and change what is in it: {} users passwd USER {}{}",
                quoted(path),
                manager.program,
                manager.name,
                manager.place
            ),
        ),
        None => Verdict::pass(format!(
            "{} there, and only their owner reads them",
            manager.security.files.len()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::super::verdict::Status;
    use super::*;

    fn closed() -> Manager {
        let channel = |name: &str, blocked| Channel {
            name: name.to_owned(),
            blocked,
            ..Channel::default()
        };
        Manager {
            program: "/a/posthaste".to_owned(),
            name: "QM1".to_owned(),
            security: Facts {
                connauth: "OWN.USERS".to_owned(),
                check_client: "REQUIRED".to_owned(),
                auth_type: "IDPWOS".to_owned(),
                records: true,
                authorities: true,
                insecure: false,
                channels: vec![channel("SYSTEM.DEF.SVRCONN", true), channel("DEV", false)],
                repository: "/a b/key".to_owned(),
                certificate: Ok(("qm1".to_owned(), 31)),
                listeners: vec![("L".to_owned(), "127.0.0.1".to_owned())],
                files: vec![("/q/users".to_owned(), 0o600)],
            },
            ..Manager::default()
        }
    }

    /// The checks that warn.
    fn warned(change: impl FnOnce(&mut Facts)) -> Vec<&'static str> {
        let mut manager = closed();
        change(&mut manager.security);
        let verdicts = CHECKS
            .iter()
            .map(|(name, _, judge)| (*name, judge(&manager)));
        let warned = verdicts.filter(|(_, verdict)| verdict.status == Status::Warn);
        warned.map(|(name, _)| name).collect()
    }

    #[test]
    fn each_row_of_the_checklist_warns_of_what_is_open() {
        assert!(warned(|_| {}).is_empty());
        assert_eq!(warned(|facts| facts.connauth.clear()), ["passwords"]);
        let optional = |facts: &mut Facts| facts.check_client = "OPTIONAL".to_owned();
        assert_eq!(warned(optional), ["passwords"]);
        assert_eq!(warned(|facts| facts.records = false), ["channel records"]);
        let open = |facts: &mut Facts| facts.channels[0].blocked = false;
        assert_eq!(warned(open), ["channel records"]);
        let nobody = |facts: &mut Facts| facts.channels[0].user = "*NOACCESS".to_owned();
        assert!(
            warned(|facts| {
                open(facts);
                nobody(facts);
            })
            .is_empty()
        );
        let mapped = |facts: &mut Facts| facts.channels[0].mapped = true;
        assert_eq!(
            warned(|facts| {
                nobody(facts);
                mapped(facts);
            }),
            ["channel records"]
        );
        assert_eq!(warned(|facts| facts.authorities = false), ["authorities"]);
        let as_root = |facts: &mut Facts| facts.channels[1].user = "root".to_owned();
        assert_eq!(warned(as_root), ["channels"]);
        for address in ["", "0.0.0.0", "::", "10.0.0.1", "somewhere"] {
            let outside = |facts: &mut Facts| facts.listeners[0].1 = address.to_owned();
            assert_eq!(warned(outside), ["channels"], "{address}");
            let insecure = |facts: &mut Facts| {
                outside(facts);
                facts.insecure = true;
                facts.channels[1].cipher = "ANY_TLS12".to_owned();
            };
            assert_eq!(warned(insecure), ["listeners"], "{address}");
        }
        let ending = |facts: &mut Facts, days| {
            facts.certificate.as_mut().unwrap().1 = days;
        };
        assert!(
            warned(|facts| ending(facts, 3)).is_empty(),
            "nobody needs it"
        );
        let tls = |facts: &mut Facts| facts.channels[1].cipher = "ANY_TLS12".to_owned();
        assert!(warned(tls).is_empty());
        for days in [30, 0, -1] {
            let warned = warned(|facts| {
                tls(facts);
                ending(facts, days);
            });
            assert_eq!(warned, ["certificates"], "{days}");
        }
        let unread = |facts: &mut Facts| {
            tls(facts);
            facts.certificate = Err("away".to_owned());
        };
        assert_eq!(warned(unread), ["certificates"]);
        let read = |facts: &mut Facts| facts.files[0].1 = 0o640;
        assert_eq!(warned(read), ["password files"]);
    }

    #[test]
    fn the_remedy_is_for_the_object_that_is_there() {
        let mut manager = closed();
        manager.security.check_client = "OPTIONAL".to_owned();
        manager.security.auth_type = "IDPWLDAP".to_owned();
        let remedy = format!("{:?}", passwords(&manager));
        assert!(remedy.contains("AUTHTYPE(IDPWLDAP)"), "{remedy}");
        manager.security.auth_type.clear();
        let remedy = format!("{:?}", passwords(&manager));
        assert!(remedy.contains("OWN.USERS, which is not there"), "{remedy}");
        assert!(
            remedy.contains("/a/posthaste users add USER QM1; then "),
            "{remedy}"
        );
    }

    #[test]
    fn a_finding_about_certificates_says_whose_they_are_and_what_to_type() {
        let mut manager = closed();
        manager.security.channels[1].cipher = "ANY_TLS12".to_owned();
        manager.security.certificate = Err("/a b/key: No such file".to_owned());
        let verdict = certificates(&manager);
        assert!(verdict.found.contains("SSLKEYR"), "{verdict:?}");
        let remedy = verdict.remedy.unwrap();
        assert!(
            remedy.contains("/a/posthaste certs show '/a b/key', then"),
            "{remedy}"
        );
        for (days, expected) in [(1, "ends in 1 day"), (2, "ends in 2 days")] {
            manager.security.certificate = Ok(("qm1".to_owned(), days));
            assert_eq!(certificates(&manager).found, format!("qm1 {expected}"));
        }
    }
}
