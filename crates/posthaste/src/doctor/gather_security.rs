//! Facts about who may come into a running queue manager: from its command server, its qm.ini and its files.
//!
//! Invariant: nothing is judged here, and nothing of the queue manager is changed.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use posthaste_server::{self as server, Failure, Home};

use super::gather::{display, text};
use super::manager::{Channel, Facts};
use crate::mqsc::CommandServer;

/// What records say of whom nothing is known, from an address of nobody's (RFC 5737).
fn is_blocked(commands: &mut CommandServer, channel: &str) -> Result<bool, Failure> {
    let check = format!(
        "DISPLAY CHLAUTH('{channel}') MATCH(RUNCHECK) CLNTUSER('nobody') ADDRESS('192.0.2.1') ALL"
    );
    let shown = display(commands, &check)?;
    Ok(shown
        .iter()
        .any(|record| text(record, "USERSRC") == "NOACCESS"))
}

fn channels(commands: &mut CommandServer) -> Result<Vec<Channel>, Failure> {
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
            blocked: is_blocked(commands, &name)?,
            cipher: text(&one, "SSLCIPH").to_owned(),
            certificate: text(&one, "SSLCAUTH") == "REQUIRED",
            user: text(&one, "MCAUSER").to_owned(),
            name,
        });
    }
    Ok(channels)
}

/// Who may come in.
pub(crate) fn gather(home: &Home, commands: &mut CommandServer) -> Result<Facts, Failure> {
    let (settings, _) = server::read_configuration(home)?;
    let qmgr = display(commands, "DISPLAY QMGR CONNAUTH CHLAUTH")?;
    let qmgr = qmgr.into_iter().next().unwrap_or_default();
    let connauth = text(&qmgr, "CONNAUTH").to_owned();
    let check_client = match connauth.as_str() {
        "" => String::new(),
        object => {
            let shown = display(commands, &format!("DISPLAY AUTHINFO({object}) CHCKCLNT"))?;
            let found = shown.first();
            found.map_or_else(String::new, |shown| text(shown, "CHCKCLNT").to_owned())
        }
    };
    let listeners = display(commands, "DISPLAY LSSTATUS(*) IPADDR")?;
    let listeners = listeners.iter().map(|shown| {
        let [name, address] = ["LISTENER", "IPADDR"].map(|key| text(shown, key).to_owned());
        (name, address)
    });
    let file = |path: PathBuf| {
        let mode = std::fs::metadata(&path).ok()?.mode() & 0o777;
        Some((path.display().to_string(), mode))
    };
    let files = [
        home.users(),
        home.first_passwords(),
        home.directory_password(),
    ];
    Ok(Facts {
        connauth,
        check_client,
        records: text(&qmgr, "CHLAUTH") == "ENABLED",
        authorities: settings.authorization.is_some(),
        insecure: settings.insecure_listeners,
        channels: channels(commands)?,
        listeners: listeners.filter(|(name, _)| !name.is_empty()).collect(),
        files: files.into_iter().filter_map(file).collect(),
    })
}
