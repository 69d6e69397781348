//! That the log is the data folder's, and no older one.
//!
//! The log alone says which messages count, and it is found by a name: one of an earlier time, or another queue manager's,
//! would be believed, as long as the image that it names is there. So each run has a number, drawn at random, which stands in the
//! anchor, with that of the run before, and in the file `identity` of the data folder. A copy of both halves goes its own way by that.
//!
//! Invariants:
//! * The data folder knows the log's run or, after a crash between the two, the one before it. Any other log is refused
//!   before anything is written.
//! * A run begins only when the data folder knows the one before it, and serves nobody before the data folder knows it: so the
//!   folder is never two runs behind.
//! * A queue manager of an earlier release takes an identity on at a start: the folder first, and says that the log has none
//!   yet. Without room for that it goes on without, and a later start does it. A log without an identity is refused as soon as it
//!   has had one.
//! * A data folder that has lost the file takes a log for its own on somebody's word only.

use std::path::Path;

use posthaste_env::Env;
use posthaste_store::{Identity, IdentityFile, StoreError};

use super::image::{Anchor, LogIdentity, nonsense};
use crate::config::EngineConfig;
use crate::mark::{Mark, mark};
use crate::plant::{Bug, planted};
use crate::stop::StartError;

/// A number that nobody else draws.
pub(super) fn random(env: &Env) -> u64 {
    let mut bytes = [0; 8];
    env.entropy.fill(&mut bytes);
    u64::from_le_bytes(bytes)
}

/// That of a new queue manager.
fn new(env: &Env, incarnation: u32, adopting: bool) -> Identity {
    let mut queue_manager = [0; 16];
    env.entropy.fill(&mut queue_manager);
    Identity {
        queue_manager,
        run: random(env),
        incarnation,
        adopting,
    }
}

/// That which a data folder has when it knows the run of a log.
fn known(log: LogIdentity, incarnation: u32) -> Identity {
    Identity {
        queue_manager: log.queue_manager,
        run: log.run,
        incarnation,
        adopting: false,
    }
}

/// The identity of a queue manager that is being created: the data folder has it, durably.
pub(super) fn begin(env: &Env, config: &EngineConfig) -> Result<LogIdentity, StartError> {
    let identity = new(env, 0, false);
    IdentityFile::read(&env.disk, &config.data)?.write(&env.disk, identity)?;
    Ok(LogIdentity {
        queue_manager: identity.queue_manager,
        run: identity.run,
        before: identity.run,
    })
}

/// What a data folder says of itself, which fits the log.
pub(super) struct FolderIdentity(IdentityFile);

impl FolderIdentity {
    /// Reads it, and refuses a log that does not belong to it.
    pub(super) fn of(
        env: &Env,
        config: &EngineConfig,
        anchor: &Anchor,
    ) -> Result<FolderIdentity, StartError> {
        let file = IdentityFile::read(&env.disk, &config.data)?;
        match misfit(&config.log, anchor, &file) {
            Some(what) if !planted(Bug::TrustAnyLog) => Err(nonsense(&what)),
            _ => Ok(FolderIdentity(file)),
        }
    }

    /// Brings the folder up to the log, and draws what the run that begins is known by.
    pub(super) fn prepare(
        &mut self,
        env: &Env,
        anchor: &Anchor,
    ) -> Result<Option<LogIdentity>, StartError> {
        let noted = self.0.newest();
        let before = match (anchor.identity, noted) {
            (Some(log), _) => known(log, anchor.incarnation),
            (None, Some(noted)) => Identity {
                incarnation: anchor.incarnation,
                ..noted
            },
            (None, None) => new(env, anchor.incarnation, true),
        };
        if noted != Some(before) {
            let adopted = anchor.identity.is_none();
            if !adopted {
                mark(Mark::IdentityBehind);
            }
            match self.0.write(&env.disk, before) {
                Err(StoreError::Full) if adopted => return Ok(None),
                written => written?,
            }
        }
        Ok(Some(LogIdentity {
            queue_manager: before.queue_manager,
            run: random(env),
            before: before.run,
        }))
    }

    /// The log has the new run.
    pub(super) fn begun(&mut self, env: &Env, anchor: &Anchor) -> Result<(), StartError> {
        let Some(log) = anchor.identity else {
            return Ok(());
        };
        Ok(self.0.write(&env.disk, known(log, anchor.incarnation))?)
    }
}

/// Why a log does not belong to a data folder, for whoever removes both and needs nothing of what is lost or damaged: nothing
/// where one of them does not say whose it is.
pub fn misfit_of_log(env: &Env, data: &Path, log: &Path) -> Option<String> {
    let anchor = posthaste_recovery_log::anchor(env, log).ok()?;
    let anchor = Anchor::decode(&anchor).ok()?;
    let file = IdentityFile::read(&env.disk, data).ok()?;
    file.newest()?;
    misfit(log, &anchor, &file)
}

/// Has a data folder that has lost the file `identity`, or holds a damaged one, take the log for its own, because somebody knows
/// that both are of one moment; whether it has. Where the file says to which log the folder belongs, nobody's word counts.
///
/// # Errors
/// One of them cannot be read, or the file not written.
pub fn trust_log(env: &Env, data: &Path, log: &Path) -> Result<bool, StartError> {
    let anchor = Anchor::decode(&posthaste_recovery_log::anchor(env, log)?)?;
    let mut file = IdentityFile::read(&env.disk, data)?;
    let (Some(identity), None) = (anchor.identity, file.newest()) else {
        return Ok(false);
    };
    file.write(&env.disk, known(identity, anchor.incarnation))?;
    Ok(true)
}

/// Why the log does not belong to the data folder.
fn misfit(log: &Path, anchor: &Anchor, file: &IdentityFile) -> Option<String> {
    let shown = log.display();
    let log_run = anchor.incarnation;
    let old = |noted: Identity| {
        let data_run = noted.incarnation;
        format!(
            "the log in {shown} is of start {log_run}, and the data folder was last used by start {data_run}, with another log"
        )
    };
    match (anchor.identity, file.newest()) {
        (None, None) => None,
        (None, Some(noted)) if noted.adopting && log_run >= noted.incarnation => None,
        (None, Some(noted)) => Some(old(noted)),
        (Some(_), None) => Some(format!(
            "{} is missing or damaged, which says to which log the data folder belongs",
            file.path().display()
        )),
        (Some(log), Some(noted)) if log.queue_manager != noted.queue_manager => {
            Some(format!("the log in {shown} is another queue manager's"))
        }
        (Some(log), Some(noted)) if log.run == noted.run || log.before == noted.run => None,
        (Some(_), Some(noted)) => Some(old(noted)),
    }
}
