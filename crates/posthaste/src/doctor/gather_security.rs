//! Facts about who may come into a running queue manager: from its command server, its qm.ini and its files.
//!
//! Invariant: nothing is judged here, and nothing of the queue manager is changed.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use posthaste_chlauth::{
    AddressPattern, CheckClient, Map, Pattern, Record, Rule, Rules, UserSource, Whom,
};
use posthaste_server::{self as server, Failure, Home};
use posthaste_tls::{KeyStore, Shown as ShownCertificate};

use super::gather::{Shown, display, text};
use super::manager::{Channel, Facts};
use crate::mqsc::CommandServer;

/// A channel authentication record about as whom partners run, as it is shown; none: it is another one. Names are not read: it
/// counts whether it is about everybody, about queue managers, or about some clients.
fn record(shown: &Shown) -> Option<Record> {
    let whom = match text(shown, "TYPE") {
        "ADDRESSMAP" => Whom::Anybody,
        "QMGRMAP" => Whom::QueueManager(Pattern::new(text(shown, "QMNAME"))),
        "USERMAP" => Whom::User(text(shown, "CLNTUSER").to_owned()),
        "SSLPEERMAP" => Whom::User(text(shown, "SSLPEER").to_owned()),
        _ => return None,
    };
    let source = match text(shown, "USERSRC") {
        "NOACCESS" => UserSource::NoAccess,
        "CHANNEL" => UserSource::Channel,
        _ => UserSource::Map(text(shown, "MCAUSER").to_owned()),
    };
    Some(Record {
        profile: Pattern::new(text(shown, "CHLAUTH")),
        rule: Rule::Map(Map {
            whom,
            // What cannot be read is not every address.
            address: AddressPattern::parse(text(shown, "ADDRESS")).ok(),
            source,
            check: CheckClient::AsQueueManager,
        }),
        warn: text(shown, "WARN") == "YES",
    })
}

fn channels(commands: &mut CommandServer, rules: &Rules) -> Result<Vec<Channel>, Failure> {
    let shown = display(
        commands,
        "DISPLAY CHANNEL(*) CHLTYPE(SVRCONN) SSLCIPH SSLCAUTH MCAUSER",
    )?;
    let mut channels = Vec::new();
    for one in shown {
        let name = text(&one, "CHANNEL").to_owned();
        if name.is_empty() {
            continue;
        }
        channels.push(Channel {
            blocked: rules.lets_nobody_in(&name),
            mapped: rules.maps_somebody(&name),
            cipher: text(&one, "SSLCIPH").to_owned(),
            certificate: text(&one, "SSLCAUTH") == "REQUIRED",
            user: text(&one, "MCAUSER").to_owned(),
            name,
        });
    }
    Ok(channels)
}

/// The certificate in the key repository that ends first, and the days until then; or why it cannot be read.
fn first_to_end(repository: &Path) -> Result<(String, i64), String> {
    let store = KeyStore::load(repository, None).and_then(|store| store.show());
    let now = jiff::Timestamp::now().as_second();
    let days = |shown: ShownCertificate| {
        let name = match shown.label.as_str() {
            "" => shown.certificate.subject.to_string(),
            label => label.to_owned(),
        };
        (name, shown.certificate.days_left(now))
    };
    let shown = store.map_err(|error| error.to_string())?;
    let first = shown.into_iter().map(days).min_by_key(|(_, days)| *days);
    first.ok_or_else(|| "there is no certificate in it".to_owned())
}

/// AUTHTYPE and CHCKCLNT of the authentication information object that CONNAUTH names; blank if there is none.
fn authentication(commands: &mut CommandServer, object: &str) -> Result<(String, String), Failure> {
    if object.is_empty() {
        return Ok((String::new(), String::new()));
    }
    // Without quotes its letters would be capitals.
    let command = format!("DISPLAY AUTHINFO('{object}') AUTHTYPE CHCKCLNT");
    let shown = display(commands, &command)?;
    let found = shown.iter().find(|shown| text(shown, "AUTHINFO") == object);
    let of = |key| found.map_or_else(String::new, |shown| text(shown, key).to_owned());
    Ok((of("AUTHTYPE"), of("CHCKCLNT")))
}

/// Who may come in.
pub(crate) fn gather(home: &Home, commands: &mut CommandServer) -> Result<Facts, Failure> {
    let (settings, _) = server::read_configuration(home)?;
    let qmgr = display(commands, "DISPLAY QMGR CONNAUTH CHLAUTH SSLKEYR")?;
    let qmgr = qmgr.into_iter().next().unwrap_or_default();
    let connauth = text(&qmgr, "CONNAUTH").to_owned();
    let (auth_type, check_client) = authentication(commands, &connauth)?;
    let repository = match text(&qmgr, "SSLKEYR") {
        "" => home.key_repository(),
        path => PathBuf::from(path),
    };
    let listeners = display(commands, "DISPLAY LSSTATUS(*) IPADDR STATUS")?;
    // One that waits for its address is not there.
    let open = |shown: &&Shown| text(shown, "STATUS") != "STARTING";
    let listeners = listeners.iter().filter(open).map(|shown| {
        let [name, address] = ["LISTENER", "IPADDR"].map(|key| text(shown, key).to_owned());
        (name, address)
    });
    let file = |path: PathBuf| {
        let mode = std::fs::metadata(&path).ok()?.mode() & 0o777;
        Some((path.display().to_string(), mode))
    };
    let records = text(&qmgr, "CHLAUTH") == "ENABLED";
    let shown = display(commands, "DISPLAY CHLAUTH(*) ALL")?;
    let rules = Rules::new(records, shown.iter().filter_map(record));
    let files = [
        home.users(),
        home.first_passwords(),
        home.directory_password(),
    ];
    Ok(Facts {
        connauth,
        auth_type,
        check_client,
        records,
        authorities: settings.authorization.is_some(),
        insecure: settings.insecure_listeners,
        repository: repository.display().to_string(),
        certificate: first_to_end(&repository),
        channels: channels(commands, &rules)?,
        listeners: listeners.filter(|(name, _)| !name.is_empty()).collect(),
        files: files.into_iter().filter_map(file).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::gather::attributes;
    use super::*;

    /// Records as the command server shows them.
    #[test]
    fn records_are_read_as_they_are_shown() {
        let closed = |lines: &[&str]| {
            let records = lines.iter().map(|line| record(&attributes(line)).unwrap());
            let rules = Rules::new(true, records);
            let channel = "SYSTEM.DEF.SVRCONN";
            (rules.lets_nobody_in(channel), rules.maps_somebody(channel))
        };
        let all = "CHLAUTH(SYSTEM.*) TYPE(ADDRESSMAP) ADDRESS(*) USERSRC(NOACCESS) WARN(NO)";
        assert_eq!(closed(&[]), (false, false));
        assert_eq!(closed(&[all]), (true, false));
        assert_eq!(
            closed(&[&all.replace("WARN(NO)", "WARN(YES)")]),
            (false, false)
        );
        let of = "CHLAUTH(SYSTEM.DEF.SVRCONN) ADDRESS( ) WARN(NO)";
        for (more, expected) in [
            (
                "TYPE(USERMAP) CLNTUSER(alice) USERSRC(CHANNEL)",
                (false, false),
            ),
            (
                "TYPE(USERMAP) CLNTUSER(alice) USERSRC(MAP) MCAUSER(bob)",
                (false, true),
            ),
            (
                "TYPE(SSLPEERMAP) SSLPEER(CN=a) SSLCERTI( ) USERSRC(MAP) MCAUSER(bob)",
                (false, true),
            ),
            (
                "TYPE(USERMAP) CLNTUSER(alice) USERSRC(NOACCESS)",
                (true, false),
            ),
            ("TYPE(QMGRMAP) QMNAME(QM2) USERSRC(CHANNEL)", (true, false)),
        ] {
            assert_eq!(closed(&[all, &format!("{of} {more}")]), expected, "{more}");
        }
        assert_eq!(
            record(&attributes("CHLAUTH(*) TYPE(BLOCKUSER) USERLIST(*MQADMIN)")),
            None
        );
    }
}
