//! A queue manager with channels and queues for the cases.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use posthaste_command::Reply;
use posthaste_server::{
    Creation, DataDir, EndMode, InProcess, InProcessOptions, UserFile, create, developer_objects,
    find, ini,
};

use crate::detour::Detour;
use crate::keys::Keys;

/// Channels beside those of a developer: how many conversations share a socket is what they differ in.
const CHANNELS: [u32; 3] = [0, 1, 10];

/// Bytes of the longest message that there may be.
const LONGEST: u32 = 100 << 20;

/// As MQ's `qm.ini` asks for the checks.
const AUTHORIZATION_SERVICE: &str = "
Service:
   Name=AuthorizationService
   EntryPoints=14
ServiceComponent:
   Service=AuthorizationService
   Name=MQSeries.UNIX.auth.service
   Module=amqzfu
   ComponentDataSize=0
";

/// A running queue manager `QM1` in a folder of its own.
pub struct QueueManager {
    /// None while it is started again.
    qm: Mutex<Option<InProcess>>,
    data: DataDir,
    detour: Detour,
    keys: Keys,
    _folder: tempfile::TempDir,
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

impl QueueManager {
    /// Makes and starts it; the channels are `SC0`, `SC1` and `SC10`, and `TLS`, which has no CipherSpec yet. It
    /// knows the user `alice`, of whom no password is demanded yet.
    ///
    /// # Errors
    /// It cannot be made or started.
    pub fn start() -> Result<QueueManager, String> {
        QueueManager::configured("")
    }

    /// The same, where authorities are checked.
    ///
    /// # Errors
    /// As [`QueueManager::start`].
    pub fn checking_authorities() -> Result<QueueManager, String> {
        QueueManager::configured(AUTHORIZATION_SERVICE)
    }

    /// `more`: what stands in its `qm.ini` besides.
    fn configured(more: &str) -> Result<QueueManager, String> {
        let folder = tempfile::tempdir().map_err(text)?;
        let data = DataDir::find(Some(folder.path())).map_err(text)?;
        let creation = Creation {
            name: "QM1".to_owned(),
            shape: ini::Shape {
                file_pages: 256,
                ..ini::Shape::default()
            },
            commands: developer_objects(),
            ..Creation::default()
        };
        create(&posthaste_env::os(), &data, &creation, &mut |_, _| {}).map_err(text)?;
        let home = find(&data, Some("QM1")).map_err(text)?;
        let path = home.folder.join("qm.ini");
        let ini = std::fs::read_to_string(&path).map_err(text)? + more;
        std::fs::write(&path, ini).map_err(text)?;
        let users = UserFile::new(home.users());
        users.add("alice", b"right").map_err(text)?;
        let keys = Keys::make()?;
        let ini = fs::read_to_string(home.configuration()).map_err(text)?;
        let stanza = format!("AuthToken:\n   KeyStore={}\n", keys.issuers().display());
        let ini = ini.replace("AuthToken:\n", &stanza);
        fs::write(home.configuration(), ini).map_err(text)?;
        let qm = open(&data)?;
        let this = QueueManager {
            detour: Detour::to(address(&qm)?).map_err(text)?,
            qm: Mutex::new(Some(qm)),
            data,
            keys,
            _folder: folder,
        };
        let store = this.keys.queue_manager();
        this.must(&format!("ALTER QMGR SSLKEYR('{}')", store.display()))?;
        this.must(&format!("ALTER QMGR MAXMSGL({LONGEST})"))?;
        this.must("DEFINE AUTHINFO(USERS) AUTHTYPE(IDPWOS) AUTHENMD(USERFILE)")?;
        this.must("DEFINE CHANNEL(TLS) CHLTYPE(SVRCONN) SHARECNV(10)")?;
        for conversations in CHANNELS {
            this.must(&format!(
                "DEFINE CHANNEL(SC{conversations}) CHLTYPE(SVRCONN) SHARECNV({conversations}) MAXMSGL({LONGEST})"
            ))?;
        }
        Ok(this)
    }

    /// Where it listens.
    ///
    /// # Errors
    /// It does not.
    pub fn address(&self) -> Result<SocketAddr, String> {
        address(self.running().as_ref().ok_or("it does not run")?)
    }

    /// The way to it that can be cut, and that leads to it after it was started again too.
    pub fn detour(&self) -> &Detour {
        &self.detour
    }

    fn running(&self) -> MutexGuard<'_, Option<InProcess>> {
        self.qm.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends it, and starts it again, on another port.
    ///
    /// # Errors
    /// It does not end in order, or does not start again.
    pub fn restart(&self, how: EndMode) -> Result<(), String> {
        let mut running = self.running();
        if let Some(qm) = running.take() {
            qm.end(how).map_err(text)?;
        }
        let qm = open(&self.data)?;
        self.detour.lead_to(address(&qm)?);
        *running = Some(qm);
        Ok(())
    }

    /// Where the keys of its clients are.
    pub fn keys(&self) -> &Path {
        self.keys.folder()
    }

    /// Carries out a command, and tells its answer in one line: `OK` or `NO`, and its text.
    pub fn command(&self, mqsc: &str) -> String {
        match self.running().as_ref() {
            Some(qm) => line(&qm.command(mqsc)),
            None => "NO it does not run".to_owned(),
        }
    }

    /// Carries out a command.
    ///
    /// # Errors
    /// It was refused.
    pub fn must(&self, mqsc: &str) -> Result<String, String> {
        let answer = self.command(mqsc);
        match answer.starts_with("OK") {
            true => Ok(answer),
            false => Err(format!("{mqsc}: {answer}")),
        }
    }
}

fn open(data: &DataDir) -> Result<InProcess, String> {
    let options = InProcessOptions {
        listen: true,
        port: Some(0),
        host: Some("127.0.0.1".to_owned()),
        ..InProcessOptions::default()
    };
    InProcess::open(data, "QM1", &options).map_err(text)
}

fn address(qm: &InProcess) -> Result<SocketAddr, String> {
    let listening = qm.listening();
    let first = listening.first().ok_or("it does not listen")?;
    Ok(first.address)
}

fn line(reply: &Reply) -> String {
    let mut answer = String::from(if reply.ok { "OK" } else { "NO" });
    for (_, _, row) in &reply.rows {
        for cell in row.cells() {
            answer.push_str(&format!(" {}({})", cell.keyword(), cell.shown()));
        }
    }
    for (number, text) in &reply.messages {
        answer.push_str(&format!(" {number} {text}"));
    }
    answer.replace('\n', " ")
}
