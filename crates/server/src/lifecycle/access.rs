//! Who may come into a new queue manager by its channels: what it is closed with, and the two users of a developer's.
//!
//! Invariants: what closes it is made with it, so that it never listens open; a password is written into one file that only
//! the owner reads, and nowhere else but as a hash, and is given once to whoever creates.

use std::path::PathBuf;

use posthaste_authentication::UserFile;
use posthaste_authority::ObjectType;
use posthaste_env::Entropy;

use crate::failure::Failure;
use crate::failure::exit::Exit;
use crate::layout::{self, Home};

/// The user whom applications run as.
pub const APPLICATIONS: &str = "app";
/// The user who administers.
pub const ADMINISTRATOR: &str = "admin";
/// The authentication information object of a closed queue manager.
const AUTHINFO: &str = "OWN.USERS";
/// The channel by which the administrator comes.
const ADMIN_CHANNEL: &str = "DEV.ADMIN.SVRCONN";
/// Letters of passwords: 32, none of which is taken for another.
const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
/// Letters of a password: 60 bits, and as long as one may be that does not come in MQCSP (USERID_DATA).
const LENGTH: usize = 12;

/// Who may come into a new queue manager by its channels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// Nobody is asked for a password, and who comes may do everything, until commands and `qm.ini` say otherwise: for
    /// programs that say it themselves.
    #[default]
    Unchecked,
    /// Whoever has a password in its user file, in which nobody is yet, and what authority records let him do.
    Passwords,
    /// The same; and there are a user of applications, as whom the owner's run without a password over loopback, and one who
    /// administers.
    Developer,
}

/// What the file with the passwords of these begins with; each of the other lines has a name, a blank and a password.
pub const FIRST_PASSWORDS: &str = "# Made with queue manager";

/// The users that a new queue manager has.
#[derive(Clone, PartialEq, Eq)]
pub struct FirstUsers {
    /// The file that has their passwords.
    pub path: PathBuf,
    /// Names and passwords.
    pub users: Vec<(&'static str, String)>,
}

impl std::fmt::Debug for FirstUsers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FirstUsers")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl Access {
    /// MQSC that closes it.
    pub(super) fn commands(self) -> Vec<String> {
        let mut commands = Vec::new();
        if self == Access::Unchecked {
            return commands;
        }
        commands.push("ALTER QMGR CHLAUTH(ENABLED)".to_owned());
        // The one exception that MQ's default records make.
        commands.push(
            "SET CHLAUTH('SYSTEM.ADMIN.SVRCONN') TYPE(ADDRESSMAP) ADDRESS('*') ACTION(REMOVE)"
                .to_owned(),
        );
        commands.push(format!(
            "DEFINE AUTHINFO({AUTHINFO}) AUTHTYPE(IDPWOS) AUTHENMD(USERFILE) CHCKCLNT(REQUIRED) CHCKLOCL(OPTIONAL) \
             ADOPTCTX(YES) DESCR('Users of the file users')"
        ));
        commands.push(format!("ALTER QMGR CONNAUTH({AUTHINFO})"));
        if self == Access::Developer {
            commands.extend(applications());
            commands.extend(administrator());
        }
        commands
    }

    /// Makes its users.
    pub(super) fn users(
        self,
        home: &Home,
        entropy: &dyn Entropy,
    ) -> Result<Option<FirstUsers>, Failure> {
        if self != Access::Developer {
            return Ok(None);
        }
        let file = UserFile::new(home.users());
        let mut text = format!(
            "{FIRST_PASSWORDS} {0}. Another one: posthaste users passwd {APPLICATIONS} {0}\n",
            home.name
        );
        let mut users = Vec::new();
        for name in [APPLICATIONS, ADMINISTRATOR] {
            let password = password(entropy);
            let added = file.add(name, password.as_bytes());
            added
                .map_err(|error| Failure::new(Exit::Unusable, "AMQ2232E", &[&error.to_string()]))?;
            text.push_str(&format!("{name} {password}\n"));
            users.push((name, password));
        }
        let path = home.first_passwords();
        layout::write_atomically(&path, &text).map_err(|error| Failure::io(&path, &error))?;
        Ok(Some(FirstUsers { path, users }))
    }
}

fn password(entropy: &dyn Entropy) -> String {
    let mut bytes = [0; LENGTH];
    entropy.fill(&mut bytes);
    let letter = |byte: u8| char::from(LETTERS[usize::from(byte) % LETTERS.len()]);
    bytes.into_iter().map(letter).collect()
}

/// What applications may do: put, get, browse and publish in `DEV.**`, and have temporary queues.
fn applications() -> Vec<String> {
    let grant = |of: &str, authorities: &str| {
        format!("SET AUTHREC {of} PRINCIPAL('{APPLICATIONS}') AUTHADD({authorities})")
    };
    let mut grants = vec![
        grant("OBJTYPE(QMGR)", "CONNECT,INQ"),
        grant("PROFILE('DEV.**') OBJTYPE(QUEUE)", "PUT,GET,BROWSE,INQ"),
        grant("PROFILE('DEV.**') OBJTYPE(TOPIC)", "PUB,SUB,RESUME"),
    ];
    // Who opens a model queue displays it.
    for model in ["DEV.APP.MODEL.QUEUE", "SYSTEM.DEFAULT.MODEL.QUEUE"] {
        let of = format!("PROFILE('{model}') OBJTYPE(QUEUE)");
        grants.push(grant(&of, "PUT,GET,BROWSE,INQ,DSP"));
    }
    grants
}

/// What the administrator may do, and that nobody else comes by the channel for that, whoever he says he is.
fn administrator() -> Vec<String> {
    let types = ObjectType::ALL.into_iter().map(|of| {
        let profile = match of {
            ObjectType::QueueManager => String::new(),
            _ => "PROFILE('**') ".to_owned(),
        };
        let (of, authorities) = match of {
            ObjectType::QueueManager => (of.word(), "ALL,CRT"),
            ObjectType::RemoteManager => (of.word(), "PUT"),
            _ => (of.word(), "ALL"),
        };
        let of = of.to_uppercase();
        format!(
            "SET AUTHREC {profile}OBJTYPE({of}) PRINCIPAL('{ADMINISTRATOR}') AUTHADD({authorities})"
        )
    });
    let mut all: Vec<String> = types.collect();
    let record = |rest: &str| format!("SET CHLAUTH('{ADMIN_CHANNEL}') {rest}");
    all.push(record("TYPE(ADDRESSMAP) ADDRESS('*') USERSRC(NOACCESS)"));
    all.push(record(&format!(
        "TYPE(USERMAP) CLNTUSER('{ADMINISTRATOR}') USERSRC(CHANNEL) CHCKCLNT(REQUIRED)"
    )));
    // Also where the system has an administrator of this name.
    all.push(record("TYPE(BLOCKUSER) USERLIST('nobody')"));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn passwords_are_long_and_never_the_same() {
        let env = posthaste_env::os();
        let made: BTreeSet<String> = (0..1_000).map(|_| password(&*env.entropy)).collect();
        assert_eq!(made.len(), 1_000);
        let letters: BTreeSet<u8> = made.iter().flat_map(|one| one.bytes()).collect();
        assert_eq!(letters.len(), LETTERS.len());
        assert!(made.iter().all(|one| one.len() == LENGTH));
    }

    #[test]
    fn what_has_the_passwords_does_not_show_them() {
        let users = FirstUsers {
            path: PathBuf::from("/p"),
            users: vec![(APPLICATIONS, "secret".to_owned())],
        };
        assert!(!format!("{users:?}").contains("secret"));
    }
}
