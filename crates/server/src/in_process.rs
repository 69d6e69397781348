//! A queue manager inside an application's own process: the FASTPATH binding.
//!
//! The application opens the queue manager's folder itself and calls the engine on its own threads: no socket,
//! no copy of a message but the one into the queue manager's memory, no other process to switch to. What the
//! queue manager promises is the same, and so is everything around it: one process at a time has the files, local
//! tools (`endmqm`, `dspmq`, `runmqsc`, `amqsput`) work on it, and its listeners serve others if they are asked to.
//!
//! The price is that of FASTPATH: a defect of the application that ends the process ends the queue manager too, as
//! a kill would. What was acknowledged as persistent is in the log, and the next start recovers it.
//!
//! Invariants: when [`InProcess::open`] returns, applications are served; when [`InProcess::end`] returns or the
//! value has been dropped, the files are free, or a disk has not answered for ten seconds: then the error says who waits for
//! it, and the files are let go when it answers. Connections that live on change no file that is free. Signals and the
//! panic hook stay the application's.

mod connection;

use std::convert::Infallible;
use std::sync::{Arc, mpsc as std_mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use posthaste_command::Reply;
use posthaste_engine::{Application, EndMode};
use posthaste_env::{Env, Slowness, block_on};
use posthaste_mqi::Reason;
use posthaste_mqi::constants::MQAT_UNIX;
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use crate::compose::engine_run::Awaited;
use crate::compose::fronts::Fronts;
use crate::compose::listeners::Running;
use crate::compose::{self, Ask, Place, RunOptions};
use crate::error_log::{Console, user_name};
use crate::failure::Failure;
use crate::failure::exit::Exit;
use crate::layout::DataDir;
use crate::layout::registry;

pub use connection::LocalConnection;

/// How long the threads of a queue manager that has ended are waited for.
const LET_GO: Duration = Duration::from_secs(10);
/// How often it is looked whether it has ended, by whoever waits for its threads.
const LOOK: Duration = Duration::from_millis(100);

/// How a queue manager is opened inside a process. The default serves this process and tools on this machine.
#[derive(Clone, Debug)]
pub struct InProcessOptions {
    /// Whether its listeners start, so that clients elsewhere are served too.
    pub listen: bool,
    /// The port of the listener `SYSTEM.LISTENER.TCP.1` instead of what its object says; 0 is any free one.
    /// It needs `listen`.
    pub port: Option<u16>,
    /// The address of that listener instead of what its object says.
    pub host: Option<String>,
    /// Where messages go beside the error log.
    pub console: Console,
    /// How much slower its disk is to be than it is.
    pub slowness: Slowness,
}

impl Default for InProcessOptions {
    fn default() -> Self {
        InProcessOptions {
            listen: false,
            port: None,
            host: None,
            console: Console::Silent,
            slowness: Slowness::default(),
        }
    }
}

/// A queue manager that runs inside this process.
///
/// Dropping it ends it as [`EndMode::Immediate`] does; [`InProcess::end`] also says how that went.
pub struct InProcess {
    fronts: Arc<Fronts>,
    runtime: Handle,
    ask: Ask,
    user: String,
    /// Serves until the queue manager has ended.
    server: Option<JoinHandle<Result<(), Failure>>>,
    /// Closed when it has, and the files are free.
    freed: Mutex<std_mpsc::Receiver<Infallible>>,
    awaited: Awaited,
}

impl std::fmt::Debug for InProcess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = self.fronts.qm.name();
        f.debug_struct("InProcess")
            .field("queue_manager", &name)
            .finish_non_exhaustive()
    }
}

/// What the serving thread says when it serves.
struct Serving {
    fronts: Arc<Fronts>,
    runtime: Handle,
}

impl InProcess {
    /// Recovers the queue manager `name` below `data` and runs it in this process; an empty name is the default
    /// queue manager.
    ///
    /// # Errors
    /// There is none of that name (16, AMQ8118E); it is running already, here or in another process (77,
    /// AMQ2007E); it cannot be configured or recovered. A listener whose port somebody else has is no error: it is
    /// reported (AMQ2040W), is not among [`InProcess::listening`], and is tried again.
    pub fn open(
        data: &DataDir,
        name: &str,
        options: &InProcessOptions,
    ) -> Result<InProcess, Failure> {
        InProcess::open_in(&posthaste_env::os(), data, name, options)
    }

    /// As [`InProcess::open`], with the messages on the disk, and the time from the clock, of `env`.
    ///
    /// # Errors
    /// Those of [`InProcess::open`].
    pub fn open_in(
        env: &Env,
        data: &DataDir,
        name: &str,
        options: &InProcessOptions,
    ) -> Result<InProcess, Failure> {
        if !options.listen && (options.port.is_some() || options.host.is_some()) {
            return Err(Failure::bad_parameter(
                "a port or an address was given for a queue manager that is not to listen",
            ));
        }
        let run = RunOptions {
            data: data.clone(),
            home: registry::find(data, Some(name))?,
            port: options.port,
            host: options.host.clone(),
            no_listeners: false,
            console: options.console,
            slowness: options.slowness,
            plain_log: false,
        };
        let place = Place::Application {
            listen: options.listen,
        };
        let (ask, asked) = mpsc::unbounded_channel();
        let (sender, receiver) = std_mpsc::channel();
        let folder = run.home.folder.clone();
        let (serves, freed) = std_mpsc::channel();
        let awaited = Awaited::default();
        let serve = {
            let (env, ask, awaited) = (env.clone(), ask.clone(), awaited.clone());
            move || {
                let _serves: std_mpsc::Sender<Infallible> = serves;
                compose::run_in(&env, &run, place, (ask, asked), &awaited, |fronts| {
                    // Whoever opens waits for this.
                    let _ = sender.send(Serving {
                        fronts: Arc::clone(fronts),
                        runtime: Handle::current(),
                    });
                })
            }
        };
        let server = std::thread::Builder::new()
            .name("queue manager".to_owned())
            .spawn(serve)
            .map_err(|error| Failure::io(&folder, &error))?;
        match receiver.recv() {
            Ok(Serving { fronts, runtime }) => Ok(InProcess {
                fronts,
                runtime,
                ask,
                user: user_name(),
                server: Some(server),
                freed: Mutex::new(freed),
                awaited,
            }),
            Err(_) => Err(match joined(server) {
                Err(failure) => failure,
                Ok(()) => panicked(),
            }),
        }
    }

    /// The queue manager's name.
    pub fn name(&self) -> &str {
        self.fronts.qm.name()
    }

    /// Connects (MQCONNX with `MQCNO_FASTPATH_BINDING`); any number of connections, each for one thread at a time.
    ///
    /// # Errors
    /// 2161 or 2162 it is ending, 2009 it has ended.
    pub fn connect(&self, application: &str) -> Result<LocalConnection, Reason> {
        let session = self.fronts.qm.connect(Application {
            name: application.to_owned(),
            user: self.user.clone(),
            pid: std::process::id(),
            tid: rustix::thread::gettid()
                .as_raw_nonzero()
                .get()
                .unsigned_abs(),
            appl_type: MQAT_UNIX,
            ..Application::default()
        });
        session.map(LocalConnection::new)
    }

    /// Carries out one MQSC command.
    pub fn command(&self, mqsc: &str) -> Reply {
        // Starting a listener needs the runtime that serves it.
        let _inside = self.runtime.enter();
        block_on(self.fronts.admin().run(mqsc))
    }

    /// The listeners that are running, and where they listen.
    pub fn listening(&self) -> Vec<Running> {
        self.fronts.listeners.running()
    }

    /// Whether it has ended: by `endmqm`, or because it could not go on. [`InProcess::end`] then says why.
    pub fn has_ended(&self) -> bool {
        self.server.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Ends the queue manager and frees its files. [`EndMode::Controlled`] waits until every connection has been
    /// disconnected or dropped: a thread must not ask for that while it holds one itself.
    ///
    /// # Errors
    /// It had to stop for another reason, or could not be ended in order; nothing acknowledged is lost. The disk does not answer (64,
    /// AMQ2090E, with who waits for it): the files are let go when it does, and a start is refused until then.
    pub fn end(mut self, how: EndMode) -> Result<(), Failure> {
        self.finish(how)
    }

    fn finish(&mut self, how: EndMode) -> Result<(), Failure> {
        let Some(server) = self.server.take() else {
            return Ok(());
        };
        // Nobody hears it when it has ended already.
        let _ = self.ask.send(how);
        match self.is_freed() {
            true => joined(server),
            false => {
                let holder = format!("{} in this process", self.awaited.who());
                let inserts = [self.name(), &holder];
                Err(Failure::new(Exit::TimedOut, "AMQ2090E", &inserts))
            }
        }
    }

    /// Waits until the files are free, or its threads have had their time after it has ended.
    fn is_freed(&self) -> bool {
        let freed = self.freed.lock();
        let mut ended = None;
        while freed.recv_timeout(LOOK) != Err(std_mpsc::RecvTimeoutError::Disconnected) {
            if self.fronts.qm.has_ended()
                && ended.get_or_insert_with(Instant::now).elapsed() >= LET_GO
            {
                return false;
            }
        }
        true
    }
}

impl Drop for InProcess {
    fn drop(&mut self) {
        // What went wrong stands in the error log; there is nobody else to be told.
        let _ = self.finish(EndMode::Immediate);
    }
}

fn joined(server: JoinHandle<Result<(), Failure>>) -> Result<(), Failure> {
    server.join().unwrap_or_else(|_| Err(panicked()))
}

fn panicked() -> Failure {
    let what = "the thread of the queue manager panicked";
    Failure::new(Exit::Internal, "AMQ6109S", &[what])
}
