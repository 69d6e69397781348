//! An engine with the four things that drive it: the log's writer, what settles asynchronous puts, what reads and writes
//! queue files for lanes, and maintenance, each on threads of its own.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use posthaste_engine::{EngineConfig, Locks, Operator, QueueManager, StartError};
use posthaste_env::{Env, Thread, block_on, spawn};
use posthaste_recovery_log::{Driver, drive};

use crate::control::is_going;
use crate::failure::Failure;
use crate::failure::exit::Exit;
use crate::layout::Home;
use crate::lifecycle::log_owner;

/// How often and how long a lock that is held is tried again. Whoever asks for a queue manager's
/// state holds it for a moment, and so does a process that has just ended.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(25);
/// Threads that read and write queue files for lanes: two, so that what one waits for does not hold up all others.
const FILE_THREADS: usize = 2;

/// Who is waited for before the files of a queue manager that has ended are let go.
#[derive(Clone, Default)]
pub(crate) struct Awaited(Arc<Mutex<&'static str>>);

impl Awaited {
    pub(crate) fn note(&self, who: &'static str) {
        *self.0.lock() = who;
    }

    pub(crate) fn who(&self) -> &'static str {
        *self.0.lock()
    }
}

/// A queue manager that runs.
pub(crate) struct EngineRun {
    /// The queue manager.
    pub qm: QueueManager,
    writer: Driver,
    settling: Thread,
    files: Vec<Thread>,
    maintenance: Thread,
    delays: Thread,
}

impl EngineRun {
    /// Recovers and runs.
    ///
    /// # Errors
    /// It cannot be started; see [`Failure::start`].
    pub(crate) fn start(
        env: &Env,
        home: &Home,
        config: &EngineConfig,
        operator: &Arc<dyn Operator>,
    ) -> Result<EngineRun, Failure> {
        let refused = |error| Failure::start(&home.name, &home.folder, &error);
        // Before the lock, because whoever has it is the owner then, and again with it: somebody may have been the owner meanwhile.
        log_owner::check(home, &config.log)?;
        let mut tries = 0;
        let locks = loop {
            tries += 1;
            match Locks::take(env, config) {
                Err(StartError::InUse(_)) if tries < TRIES && is_going(home) => {
                    std::thread::sleep(PAUSE);
                }
                taken => break taken.map_err(refused)?,
            }
        };
        log_owner::check(home, &config.log)?;
        let (log, own, operated) = (&config.log, config.clone(), Arc::clone(operator));
        let started = QueueManager::start_locked(env, own, operated, locks).map_err(refused)?;
        if let Err(failure) = log_owner::claim(home, log) {
            // On a full disk, of a queue manager that an earlier release ran: it is noted by a later start.
            operator.message(failure.id, &failure.inserts);
        }
        let thread = |error: std::io::Error| Failure::io(&home.folder, &error);
        let writer = drive(env, started.qm.log(), started.writer).map_err(thread)?;
        let qm = started.qm.clone();
        let maintenance = spawn("maintenance", move || block_on(qm.maintain())).map_err(thread)?;
        let qm = started.qm.clone();
        let settling = spawn("settling", move || block_on(qm.settle())).map_err(thread)?;
        let qm = started.qm.clone();
        let delays =
            spawn("delivery-delay", move || block_on(qm.deliver_delayed())).map_err(thread)?;
        let serving = || {
            let qm = started.qm.clone();
            spawn("queue-files", move || block_on(qm.serve_files())).map_err(thread)
        };
        let files = (0..FILE_THREADS)
            .map(|_| serving())
            .collect::<Result<_, _>>()?;
        Ok(EngineRun {
            qm: started.qm,
            writer,
            settling,
            files,
            maintenance,
            delays,
        })
    }

    /// Waits for the threads, after the queue manager has ended, and lets other processes have its files if nobody else of this one
    /// works on them (`alone`); else they have to wait until it has gone.
    ///
    /// # Errors
    /// One of them panicked.
    pub(crate) fn join(self, alone: bool, awaited: &Awaited) -> Result<(), Failure> {
        awaited.note("the log's writer");
        let writer = self.writer.join();
        awaited.note("a thread that puts the effects of the log's writes in place");
        let settling = self.settling.join();
        awaited.note("a checkpoint");
        let maintenance = self.maintenance.join();
        awaited.note("the delivery of delayed messages");
        let delays = self.delays.join();
        awaited.note("a thread that reads and writes queue files");
        let files = self.files.into_iter().map(Thread::join);
        let files = files.fold(Ok(()), Result::and);
        awaited.note("an application's call that writes");
        writer
            .and(settling)
            .and(maintenance)
            .and(delays)
            .and(files)
            .map_err(|()| {
                let what = "a thread of the queue manager panicked";
                Failure::new(Exit::Internal, "AMQ6109S", &[what])
            })?;
        if alone {
            self.qm.unlock();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io;
    use std::path::Path;

    use posthaste_engine::Silent;
    use posthaste_env::{Disk, DiskInFront, File, Lock, Open};

    use super::*;
    use crate::ini::configure::configure;
    use crate::layout::DataDir;
    use crate::lifecycle::create::{Creation, create};

    /// A disk on which another data folder becomes the owner of the log just before the locks are granted.
    struct Meanwhile {
        disk: Arc<dyn Disk>,
        owner: Home,
        log: std::path::PathBuf,
    }

    impl DiskInFront for Meanwhile {
        fn behind(&self) -> &dyn Disk {
            &*self.disk
        }

        fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn File>> {
            self.disk.open(path, how)
        }

        fn lock(&self, path: &Path) -> io::Result<Box<dyn Lock>> {
            log_owner::claim(&self.owner, &self.log)
                .map_err(|e| io::Error::other(e.to_string()))?;
            self.disk.lock(path)
        }
    }

    #[test]
    fn whose_the_log_is_is_asked_again_with_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::at(folder.path());
        let env = posthaste_env::os();
        let mut creation = Creation {
            name: "QM1".to_owned(),
            ..Creation::default()
        };
        creation.shape.file_pages = 64;
        let made = create(&env, &data, &creation, &mut |_, _| {}).unwrap();
        let config = configure(&env, &data, &made.home).unwrap().engine;
        let owner = Home {
            name: "QM1".to_owned(),
            folder: folder.path().join("original"),
        };
        fs::create_dir(&owner.folder).unwrap();
        let meanwhile = Env {
            disk: Arc::new(Meanwhile {
                disk: Arc::clone(&env.disk),
                owner,
                log: made.log.clone(),
            }),
            ..env.clone()
        };
        let operator: Arc<dyn Operator> = Arc::new(Silent);
        let control = made.log.join("LOG.CTL");
        let before = fs::read(&control).unwrap();
        let started = EngineRun::start(&meanwhile, &made.home, &config, &operator);
        let refused = started.err().map(|failure| failure.id);
        assert_eq!(refused, Some("AMQ2051E"));
        assert!(fs::read(&control).unwrap() == before);
    }
}
