//! A queue manager's beginning: an empty log, and an image of the system objects.

use std::path::Path;
use std::sync::Arc;

use posthaste_env::{Disk, Env};
use posthaste_mqi::constants::{
    MQCA_ALTERATION_DATE, MQCA_ALTERATION_TIME, MQCA_CREATION_DATE, MQCA_CREATION_TIME,
};
use posthaste_recovery_log::Lsn;
use posthaste_store::ImageWriter;

use super::identity::{self, random};
use super::image::{self, Anchor, Header, LogIdentity, SavedObject};
use super::locks::Locks;
use crate::catalogue::{Stored, system_objects};
use crate::config::{CreateOptions, EngineConfig};
use crate::names::valid_name;
use crate::queue_manager::QueueManager;
use crate::stop::StartError;
use crate::verbs::clock;
use posthaste_command::ObjectKind;

/// Makes a folder and what it lies in, so that a crash does not take it away again: a name is
/// durable once the folder that holds it is synced.
fn make_folder(disk: &dyn Disk, folder: &Path) -> std::io::Result<()> {
    let made: Vec<&Path> = folder
        .ancestors()
        .take_while(|f| !f.as_os_str().is_empty() && !disk.exists(f))
        .collect();
    disk.create_dir_all(folder)?;
    for folder in made {
        match folder.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => disk.sync_dir(parent)?,
            _ => disk.sync_dir(Path::new("."))?,
        }
    }
    Ok(())
}

/// What the log of a new queue manager says.
fn first_anchor(sealed: bool, identity: LogIdentity) -> Anchor {
    Anchor {
        image: 1,
        incarnation: 0,
        numbers: 1,
        sealed,
        identity: Some(identity),
    }
}

impl QueueManager {
    /// Creates a queue manager in empty folders: its log and its first checkpoint image. Returns
    /// the number of objects it was given. `progress` hears how much of the log has been written
    /// (bytes done, bytes in all).
    ///
    /// # Errors
    /// [`StartError::AlreadyExists`] when there is one; the log's and the file system's errors.
    pub fn create(
        env: &Env,
        config: &EngineConfig,
        options: &CreateOptions,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<usize, StartError> {
        if !valid_name(&config.name) {
            return Err(StartError::BadName(config.name.clone()));
        }
        let disk = &env.disk;
        let io = |what: String| move |error| StartError::Io { what, error };
        let queues = config.data.join("queues");
        for folder in [&config.data, &queues, &config.log] {
            make_folder(&**disk, folder).map_err(io(format!("making {}", folder.display())))?;
        }
        let locks = Locks::take(env, config)?;
        let names = disk
            .list(&config.data)
            .map_err(io(format!("reading {}", config.data.display())))?;
        if names.iter().any(|name| name.starts_with("checkpoint-")) {
            return Err(StartError::AlreadyExists);
        }
        posthaste_recovery_log::create(&**disk, &config.log, &config.log_config, progress)?;
        let mut restart = posthaste_recovery_log::open(env, &config.log, &config.log_config)?;
        while restart.next()?.is_some() {}
        let (log, _writer) = restart.finish()?;
        let now = env.clock.wall_micros();
        let (date, time) = clock::display_stamp(now);
        let id = format!("{}_{date}_{time}", config.name);
        let mut objects = system_objects(&config.name, &id, options);
        let (mut numbered, mut next_queue) = (Vec::new(), 1);
        for object in &mut objects {
            for selector in [MQCA_CREATION_DATE, MQCA_ALTERATION_DATE] {
                object.attrs.set(selector, date.into());
            }
            for selector in [MQCA_CREATION_TIME, MQCA_ALTERATION_TIME] {
                object.attrs.set(selector, time.into());
            }
        }
        for object in objects {
            let mut queue = 0;
            if object.kind == ObjectKind::QLocal {
                queue = next_queue;
                next_queue += 1;
            }
            numbered.push(SavedObject {
                changed: Lsn(0),
                stored: Stored { queue, object },
            });
        }
        let header = Header {
            begin: log.appended(),
            next_queue,
            tag_seed: random(env),
            clean: true,
            sealed: config.cipher.is_some(),
        };
        let mut writer = ImageWriter::begin(&Arc::clone(disk), &config.data, 1)?;
        for (kind, bytes) in image::without_messages(header, &numbered) {
            writer.section(kind, &bytes)?;
        }
        writer.finish()?;
        let identity = identity::begin(env, config)?;
        let anchor = first_anchor(header.sealed, identity).encode();
        log.advance(log.appended(), &anchor, true)?;
        drop(locks);
        Ok(numbered.len())
    }
}
