//! An engine with the four things that drive it: the log's writer, what settles asynchronous puts, what reads and writes
//! queue files for lanes, and maintenance, each on threads of its own.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use posthaste_engine::{EndMode, EngineConfig, Locks, Operator, QueueManager, StartError};
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
/// What the thread does that settles asynchronous puts.
const SETTLING: &str = "a thread that puts the effects of the log's writes in place";

/// Who is waited for before the files of a queue manager that has ended are let go.
#[derive(Clone, Default)]
pub(crate) struct Awaited(Arc<Mutex<&'static str>>);

impl Awaited {
    pub(crate) fn note(&self, who: &'static str) {
        *self.0.lock() = who;
    }

    pub(crate) fn who(&self) -> &'static str {
        match *self.0.lock() {
            // Before the first of them.
            "" => "what writes down how it ended",
            who => who,
        }
    }
}

/// A queue manager that runs.
pub(crate) struct EngineRun {
    /// The queue manager.
    pub qm: QueueManager,
    writer: Driver,
    /// The others, each with what it does, for whoever waits for its end.
    threads: Vec<(&'static str, Thread)>,
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
        let thread = |error| Failure::thread(&error);
        let writer = drive(env, started.qm.log(), started.writer).map_err(thread)?;
        let mut run = EngineRun {
            qm: started.qm,
            writer,
            threads: Vec::new(),
        };
        if let Err(error) = run.begin() {
            // Those that have begun have the queue manager, and with it its files.
            let _ = block_on(run.qm.end(EndMode::Preemptive));
            let _ = run.join(true, &Awaited::default());
            return Err(thread(error));
        }
        Ok(run)
    }

    fn begin(&mut self) -> std::io::Result<()> {
        self.spawn("settling", SETTLING, |qm| block_on(qm.settle()))?;
        self.spawn("maintenance", "a checkpoint", |qm| block_on(qm.maintain()))?;
        let delays = "the delivery of delayed messages";
        self.spawn("delivery-delay", delays, |qm| {
            block_on(qm.deliver_delayed())
        })?;
        for _ in 0..FILE_THREADS {
            let files = "a thread that reads and writes queue files";
            self.spawn("queue-files", files, |qm| block_on(qm.serve_files()))?;
        }
        Ok(())
    }

    fn spawn(
        &mut self,
        name: &str,
        does: &'static str,
        work: impl FnOnce(QueueManager) + Send + 'static,
    ) -> std::io::Result<()> {
        let qm = self.qm.clone();
        self.threads.push((does, spawn(name, move || work(qm))?));
        Ok(())
    }

    /// Waits for the threads, after the queue manager has ended, and lets other processes have its files if nobody else of this one
    /// works on them (`alone`); else they have to wait until it has gone.
    ///
    /// # Errors
    /// One of them panicked.
    pub(crate) fn join(self, alone: bool, awaited: &Awaited) -> Result<(), Failure> {
        awaited.note("the log's writer");
        let mut ended = self.writer.join();
        for (does, thread) in self.threads {
            awaited.note(does);
            ended = ended.and(thread.join());
        }
        awaited.note("an application's call that writes");
        ended.map_err(|()| {
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
