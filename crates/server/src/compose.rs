//! The composition root: everything a running queue manager consists of, put together and taken apart
//! in one readable order.
//!
//! Start: configure, lock and recover (the engine), drive (log writer, maintenance), take requests to
//! end, take local applications, carry out commands, listen, ready. End: listen no more, let
//! applications leave or send them away, final checkpoint, threads, files.
//!
//! Invariants: nobody is admitted before recovery is complete; "ready" is said only when a client that
//! connects now is served; whatever ends the queue manager, it ends with one message and one exit code.

mod certificates;
pub(crate) mod engine_run;
pub(crate) mod fronts;
pub(crate) mod io_delay;
mod lanes;
pub(crate) mod listeners;
mod places;
mod services;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use posthaste_admin::EventInbox;
use posthaste_channel::{ConnAuth, Limits as ChannelLimits, Registry, Security, Sources};
use posthaste_command::ObjectKind;
use posthaste_engine::{
    Application, AuditEvent, AuditKind, Authorization, ConnectionStatus, EndMode, Operator,
    QueueManager,
};
use posthaste_env::{Clock, Env, Slowness, slow_disk};
use posthaste_mqi::Reason;
use posthaste_mqi::constants::{MQAT_QMGR, MQSVC_CONTROL_MANUAL, MQSVC_CONTROL_Q_MGR_START};
use posthaste_net::{Address, Admission, Lanes, Listener, Options, RuntimeClock};
use posthaste_recovery_log::RecoveryLog;
use tokio::runtime::Runtime;
use tokio::sync::{mpsc, watch};

use crate::audit_log::{AuditLog, Reporter};
use crate::control::socket::SocketPath;
use crate::control::status::StatusFile;
use crate::control::{ControlSocket, Door, Phase};
use crate::error_log::{Console, ErrorLog, host, program, user_name};
use crate::failure::Failure;
use crate::failure::exit::Exit;
use crate::ini::configure::{self, Configured};
use crate::ini::{SecurityPolicy, Settings};
use crate::layout::private;
use crate::layout::{DataDir, Home};
use crate::lifecycle::another_root;
use crate::lifecycle::broken_off;
use crate::lifecycle::create::LISTENER;
use crate::lifecycle::ending::{Cause, Forgotten, LastEnd};
use crate::lifecycle::process_lock::ProcessLock;
use crate::users::SystemUsers;
use engine_run::{Awaited, EngineRun};
use fronts::{Fronts, OverControlSocket};
use lanes::ServingLanes;
use listeners::{Listeners, Plan, Reporting, Running, SocketOptions, Waiting};
use places::Places;
use services::{Services, Surroundings};

/// How long connections may take to be closed after the queue manager has ended.
const FAREWELL: Duration = Duration::from_secs(3);
/// How long an immediate end waits for the answer to a command that is being carried out.
const ANSWERED: Duration = Duration::from_secs(5);
/// Passwords that are looked at at the same time: a hash takes a processor for tens of milliseconds, and whoever else is asked
/// may take long.
const PASSWORD_THREADS: usize = 4;

/// The first of a developer's queues.
const DEVELOPER_QUEUE: &str = "DEV.QUEUE.1";

/// What to run, and how.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The folder of queue managers.
    pub data: DataDir,
    /// The queue manager.
    pub home: Home,
    /// For this run, the listener's port instead of what its object says.
    pub port: Option<u16>,
    /// For this run, the listener's address.
    pub host: Option<String>,
    /// For this run, no listener starts.
    pub no_listeners: bool,
    /// Where messages go beside the error log.
    pub console: Console,
    /// For measuring: how much slower the disk is made than it is.
    pub slowness: Slowness,
    /// For measuring: the log has one write in flight and no rule that makes batches whole.
    pub plain_log: bool,
}

/// Said once, when clients are served.
#[derive(Clone, Debug)]
pub struct Ready {
    /// Listeners and where they listen.
    pub listeners: Vec<Running>,
    /// Listeners that wait for their address.
    pub waiting: Vec<Waiting>,
    /// Whether the queue that a developer begins with is there.
    pub developer: bool,
}

/// Whose process it is that the queue manager runs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Its own: signals end it, and so do panics, which are written into its error log.
    Own,
    /// An application's, which keeps its signals and its panic hook to itself.
    Application {
        /// Whether the listeners start.
        listen: bool,
    },
}

impl Place {
    fn listens(self) -> bool {
        matches!(self, Place::Own | Place::Application { listen: true })
    }

    /// How long each thread is waited for that may have the files still; none: as long as it takes. An application's process does
    /// not end with its queue manager, so that only this lets the files go.
    fn timeout(self) -> Option<Duration> {
        match self {
            Place::Own => Some(FAREWELL),
            Place::Application { .. } => None,
        }
    }

    /// Must be called inside a runtime.
    fn signals(self, home: &Home) -> Result<Option<Signals>, Failure> {
        match self {
            Place::Own => Signals::listen()
                .map(Some)
                .map_err(|error| Failure::io(&home.folder, &error)),
            Place::Application { .. } => Ok(None),
        }
    }
}

/// Requests to end: whoever may ask has a clone of the sender.
pub(crate) type Ask = mpsc::UnboundedSender<EndMode>;
/// The other end of [`Ask`].
pub(crate) type Asked = mpsc::UnboundedReceiver<EndMode>;

/// Runs a queue manager until it has ended. `ready` is called when it serves.
///
/// # Errors
/// It could not be started, or had to stop.
pub fn run(
    env: &Env,
    options: &RunOptions,
    ready: impl FnOnce(&Ready) + Send,
) -> Result<(), Failure> {
    let served = |fronts: &Arc<Fronts>| {
        let developer = fronts.qm.object(ObjectKind::QLocal, DEVELOPER_QUEUE);
        ready(&Ready {
            listeners: fronts.listeners.running(),
            waiting: fronts.listeners.waiting(),
            developer: developer.is_some(),
        });
    };
    let ends = mpsc::unbounded_channel();
    run_in(env, options, Place::Own, ends, &Awaited::default(), served)
}

/// Runs a queue manager until it has ended; `served` is called when it serves. `awaited` is told who holds the files then.
///
/// # Errors
/// It could not be started, or had to stop.
pub(crate) fn run_in(
    env: &Env,
    options: &RunOptions,
    place: Place,
    ends: (Ask, Asked),
    awaited: &Awaited,
    served: impl FnOnce(&Arc<Fronts>),
) -> Result<(), Failure> {
    let home = &options.home;
    let early = |folder| {
        move |failure: &Failure| {
            if let Some(log) = early_log(options, folder) {
                log.file(failure.id, &failure.inserts);
            }
        }
    };
    another_root::check_copied(&options.data, home).inspect_err(early(options.data.root()))?;
    let found = match home.folder.is_dir() {
        true => &home.folder,
        false => options.data.root(),
    };
    let configured = configure::configure(env, &options.data, home).inspect_err(early(found))?;
    let log = Arc::new(ErrorLog::new(
        &home.errors(),
        configured.settings.error_log_bytes,
        Some(&home.name),
        options.console,
    ));
    let start = Start {
        env,
        options,
        place,
        configured: &configured,
        awaited,
    };
    let (audit, events) = (start.audit(&log), Arc::default());
    let result = audit.and_then(|audit| {
        let operator: Arc<dyn Operator> = Arc::new(Reporter::new(&log, audit.as_ref(), &events));
        let writer = audit.as_ref().map(|(audit, _)| &**audit);
        let result = start.run((&log, &operator, &events, writer), ends, served);
        if let Some((audit, _)) = audit {
            // Of a start that failed.
            audit.end();
        }
        result
    });
    if let Err(failure) = &result {
        log.file(failure.id, &failure.inserts);
    }
    result
}

/// Where a failure is written before the configuration is known: below a folder of whoever runs this. What he wrote into another
/// user's would keep that one from writing there.
fn early_log(options: &RunOptions, above: &Path) -> Option<ErrorLog> {
    let folder = above.join("errors");
    let mut folders = [above, &folder].into_iter().filter(|it| it.exists());
    if !folders.all(private::is_own) {
        return None;
    }
    let size = 32 << 20;
    let name = Some(&*options.home.name);
    Some(ErrorLog::new(&folder, size, name, Console::Silent))
}

/// What a start goes by.
struct Start<'a> {
    env: &'a Env,
    options: &'a RunOptions,
    place: Place,
    configured: &'a Configured,
    awaited: &'a Awaited,
}

impl Start<'_> {
    fn run(
        &self,
        (log, operator, events, audit): (
            &Arc<ErrorLog>,
            &Arc<dyn Operator>,
            &Arc<EventInbox>,
            Option<&AuditLog>,
        ),
        ends: (Ask, Asked),
        served: impl FnOnce(&Arc<Fronts>),
    ) -> Result<(), Failure> {
        let home = &self.options.home;
        if self.place.listens() {
            posthaste_env::allow_descriptors();
        }
        if self.place == Place::Own {
            end_at_panics(log, home);
        }
        for note in &self.configured.notes {
            log.write(note.id, &note.inserts);
        }
        // Before anything is recovered: its threads may write still.
        let lock = ProcessLock::take(home)?;
        // With it: whoever has it is ending as long as that is written there.
        let last_end = LastEnd::forget(home)?;
        let env = slowed(self.env, self.options, log);
        let env = &io_delay::watched(env, &self.configured.engine, operator);
        let mut config = self.configured.engine.clone();
        config.log_config.writes.plain |= self.options.plain_log;
        config.authorization = Some(self.authorization(&env.clock, operator)?);
        let runtime = self.runtime()?;
        let lanes = self.lanes(&ends.0)?;
        // From here on a failure is an end, too: it lets the files go.
        let engine = EngineRun::start(env, home, &config, operator);
        let engine = engine.inspect_err(|_| drop(lanes.end(FAREWELL)));
        let engine = note_end(engine, home, last_end)?;
        let outcome = runtime.block_on(async {
            tell_lanes_together(engine.qm.log());
            let name = home.name.clone();
            tokio::spawn(lanes::watch(
                lanes.lanes.clone(),
                name,
                Arc::clone(operator),
            ));
            let server = match self.note_start(&config.log, &**operator) {
                Ok(()) => {
                    Server::open(self, (operator, events), &engine.qm, ends, &lanes.lanes).await
                }
                Err(failure) => Err(failure),
            };
            let ended = match server {
                Ok(server) => server.serve(home, served).await,
                Err(failure) => {
                    // What was recovered is put in order before the reason is told.
                    let _ = engine.qm.end(EndMode::Immediate).await;
                    Err(failure)
                }
            };
            // Before the control socket is closed: whoever waits there reads it next.
            ended.inspect_err(|failure| Cause::of(failure).record(home))
        });
        let gone = self.let_go((engine, lanes, runtime), audit, lock);
        outcome?;
        gone
    }

    /// Lets others have the files once no thread works on them any more, or leaves that to the end of the process.
    fn let_go(
        &self,
        (engine, lanes, runtime): (EngineRun, ServingLanes, Runtime),
        audit: Option<&AuditLog>,
        lock: ProcessLock,
    ) -> Result<(), Failure> {
        let timeout = self.place.timeout();
        self.awaited.note("a thread that serves connections");
        let lanes_ended = lanes.end(timeout.unwrap_or(Duration::MAX));
        engine.qm.log().wake_directly();
        self.awaited.note("a command");
        let tasks_ended = ended_within(runtime, timeout);
        let alone = tasks_ended && matches!(lanes_ended, Ok(true));
        let joined = engine.join(alone, self.awaited);
        if let Some(audit) = audit {
            // Nobody is left who could cause an event, and a successor puts the same files aside.
            audit.end();
        }
        if !alone || joined.is_err() {
            lock.keep();
        }
        lanes_ended.and(joined)
    }

    /// Writes down where it runs, once it has been recovered.
    fn note_start(&self, log: &Path, operator: &dyn Operator) -> Result<(), Failure> {
        let RunOptions { data, home, .. } = self.options;
        another_root::claim_at_start(data, home, operator);
        broken_off::forget_creation(home, log)
    }

    fn lanes(&self, ask: &Ask) -> Result<ServingLanes, Failure> {
        let lanes = match self.place.listens() {
            true => self.configured.settings.lanes,
            // Only commands and local tools are served.
            false => 1,
        };
        ServingLanes::start(lanes, ask).map_err(|error| Failure::thread(&error))
    }

    /// The audit log, if there is to be one, and whether it has every connection.
    fn audit(&self, log: &Arc<ErrorLog>) -> Result<Option<(Arc<AuditLog>, bool)>, Failure> {
        let settings = self.configured.settings.audit;
        if !settings.enabled {
            return Ok(None);
        }
        let Home { name, .. } = &self.options.home;
        let folder = self.options.home.errors();
        let audit = AuditLog::start(&folder, name, &settings, log)
            .map_err(|error| Failure::io(&folder, &error))?;
        Ok(Some((Arc::new(audit), settings.connections)))
    }

    /// Who may do what, and who knows users and groups.
    fn authorization(
        &self,
        clock: &Arc<dyn Clock>,
        operator: &Arc<dyn Operator>,
    ) -> Result<Authorization, Failure> {
        let policy = self.configured.settings.authorization;
        let external = policy == Some(SecurityPolicy::External);
        let users = SystemUsers::start(Arc::clone(clock), Arc::clone(operator), external);
        let users = users.map_err(|error| Failure::io(&self.options.home.folder, &error))?;
        Ok(Authorization {
            users: Arc::new(users),
            by_user: policy == Some(SecurityPolicy::User) || external,
            enforced: policy.is_some(),
        })
    }

    /// What services may do, and with what.
    fn services(&self) -> Surroundings {
        Surroundings {
            queue_manager: self.options.home.name.clone(),
            data: self.options.data.root().to_owned(),
            home: self.options.home.folder.clone(),
            may_run: self.configured.settings.service_programs,
        }
    }

    /// Where commands, signals and listeners are waited for. Connections are served on lanes.
    fn runtime(&self) -> Result<Runtime, Failure> {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("posthaste")
            .enable_all()
            .build()
            .map_err(|error| Failure::thread(&error))
    }
}

/// What is written of the end before goes with a start, or with the reason why there was none; where another process has the files, it
/// is as it was.
fn note_end(
    started: Result<EngineRun, Failure>,
    home: &Home,
    last_end: Forgotten<'_>,
) -> Result<EngineRun, Failure> {
    match &started {
        Err(failure) if failure.exit == Exit::InUse => return started,
        Err(failure) => Cause::of(failure).record(home),
        Ok(_) => {}
    }
    last_end.stands();
    started
}

/// Ends a runtime; false: a command that it carries out goes on, for as long as a disk holds it up.
fn ended_within(runtime: Runtime, timeout: Option<Duration>) -> bool {
    let Some(timeout) = timeout else {
        // It is back when all have ended.
        drop(runtime);
        return true;
    };
    let begun = Instant::now();
    // It is back at once when all have ended.
    runtime.shutdown_timeout(timeout);
    begun.elapsed() < timeout
}

/// Has each lane told once of all its committers whom a log write has released.
fn tell_lanes_together(log: &RecoveryLog) {
    let released = log.clone();
    // Taken away at the end: it keeps the log.
    log.on_release(Box::new(move || {
        posthaste_net::together(|| released.wake_released());
    }));
}

/// The world with the disk as slow as it was asked for, which nobody must fail to notice.
fn slowed(env: &Env, options: &RunOptions, log: &ErrorLog) -> Env {
    let slowness = options.slowness;
    if !slowness.is_none() {
        let inserts = [options.home.name.clone(), slowness.to_string()];
        log.write("AMQ2031W", &inserts);
    }
    Env {
        disk: slow_disk(Arc::clone(&env.disk), slowness),
        ..env.clone()
    }
}

/// A panic is a defect, and whoever panicked may have left something half changed that others go on to use: it is
/// written into the error log, where whoever looks for a reason looks first, and the process ends at once. The next
/// start recovers from the log, which the half change has not reached.
fn end_at_panics(log: &Arc<ErrorLog>, home: &Home) {
    let log = Arc::downgrade(log);
    let home = home.clone();
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if let Some(log) = log.upgrade() {
            let what = panic.to_string();
            log.file_last("AMQ6109S", std::slice::from_ref(&what));
            Cause::of(&Failure::new(Exit::Internal, "AMQ6109S", &[&what])).record(&home);
        }
        before(panic);
        std::process::abort();
    }));
}

/// How many connections are taken; the operator is told if those are fewer than were configured.
fn places(settings: &Settings, name: &str, operator: &dyn Operator) -> Places {
    let channels = settings.max_channels;
    let log = &settings.log;
    let log_files = log.primary_files.saturating_add(log.secondary_files);
    let log_files = usize::try_from(log_files).unwrap_or(usize::MAX);
    let descriptors = posthaste_env::descriptor_limit();
    let places = Places::within(channels, log_files, descriptors);
    if let Some(limit) = descriptors.filter(|_| places.network < channels) {
        let numbers = [
            places.network.to_string(),
            channels.to_string(),
            limit.to_string(),
        ];
        let [taken, wanted, limit] = numbers;
        operator.message("AMQ2071W", &[name.to_owned(), taken, wanted, limit]);
    }
    places
}

/// By what applications come in, and who looks at them.
struct Entrances {
    /// The channels of clients over the network.
    channels: Arc<Registry>,
    /// What is one for applications of this machine.
    local: Arc<Registry>,
    /// The TLS of the former.
    security: Arc<Security>,
    connauth: Arc<ConnAuth>,
}

async fn entrances(
    qm: &QueueManager,
    operator: &Arc<dyn Operator>,
    clock: &Arc<dyn Clock>,
    home: &Home,
    settings: &Settings,
) -> Result<Entrances, Failure> {
    let registries = [Registry::new, Registry::local].map(|make| {
        let limits = ChannelLimits::default();
        make(qm.clone(), Arc::clone(operator), limits, Arc::clone(clock))
    });
    let security = security(qm, operator, home)?;
    certificates::watch(&security, clock).await;
    let [channels, _] = &registries;
    channels.secure(Arc::clone(&security));
    let connauth = connauth(qm, operator, home, settings)?;
    for registry in &registries {
        registry.authenticate(Arc::clone(&connauth));
    }
    let [channels, local] = registries;
    Ok(Entrances {
        channels,
        local,
        security,
        connauth,
    })
}

/// What CONNAUTH demands of all of them.
fn connauth(
    qm: &QueueManager,
    operator: &Arc<dyn Operator>,
    home: &Home,
    settings: &Settings,
) -> Result<Arc<ConnAuth>, Failure> {
    let sources = Sources {
        users: home.users(),
        directory_password: home.directory_password(),
        tokens: settings.tokens.clone(),
        loopback_user: settings.loopback_user.clone(),
    };
    let (operator, clock) = (Arc::clone(operator), posthaste_env::os().clock);
    let connauth = ConnAuth::start(qm.clone(), operator, sources, clock, PASSWORD_THREADS);
    connauth.map_err(|error| Failure::io(&home.users(), &error))
}

/// Key repository and handshakes of clients that use TLS: of the processors half are kept for those that have shaken hands.
fn security(
    qm: &QueueManager,
    operator: &Arc<dyn Operator>,
    home: &Home,
) -> Result<Arc<Security>, Failure> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let store = home.key_repository();
    let security = Security::start(qm.clone(), Arc::clone(operator), store, processors / 2);
    security.map_err(|error| Failure::io(&home.key_repository(), &error))
}

fn control_socket(home: &Home, qm: &QueueManager) -> Result<ControlSocket, Failure> {
    let control = home.control();
    qm.make_file(|| ControlSocket::bind(&control))
        .map_err(|error| cannot_listen(&control, &error))
}

/// Everything around the engine.
struct Server {
    qm: QueueManager,
    operator: Arc<dyn Operator>,
    fronts: Arc<Fronts>,
    /// The control socket's way to administration.
    door: Arc<Door>,
    phase: watch::Sender<Phase>,
    ends: Asked,
    /// The process's, if it is the queue manager's own.
    signals: Option<Signals>,
    /// Keeps the path of the local socket valid.
    _local: SocketPath,
}

impl Server {
    async fn open(
        start: &Start<'_>,
        (operator, events): (&Arc<dyn Operator>, &Arc<EventInbox>),
        qm: &QueueManager,
        (ask, ends): (Ask, Asked),
        lanes: &Lanes,
    ) -> Result<Server, Failure> {
        let Start {
            env,
            options,
            place,
            configured,
            ..
        } = start;
        let home = &options.home;
        let signals = place.signals(home)?;
        let socket = control_socket(home, qm)?;
        let (phase, phases) = watch::channel(Phase::Starting);
        let door = Arc::new(Door::default());
        tokio::spawn(socket.run(ask, phases, Arc::clone(&door)));

        let clock: Arc<dyn Clock> = Arc::new(RuntimeClock);
        let by = entrances(qm, operator, &clock, home, &configured.settings).await?;
        let most = places(&configured.settings, qm.name(), &**operator);
        let reporting = Reporting::new(operator, lanes, most.turned_away);
        let places = most.admissions();
        let [network_places, local_places] = &places;
        let _local = open_local((home, qm), &by.local, local_places, &reporting)?;
        let buffer = configured.settings.log.buffer_pages;
        let listeners = Arc::new(Listeners::new(
            Arc::clone(&by.channels),
            network_places.clone(),
            reporting,
            SocketOptions::of(&configured.settings),
            StatusFile::new(home, env.clock.wall_micros(), buffer),
            Arc::clone(&env.clock),
        ));
        let services = Services::new(start.services(), operator, &clock);
        if place.listens() && !options.no_listeners {
            start_listeners(&listeners, qm.name(), plans(options, qm)).await?;
            services.begin(&qm.objects(ObjectKind::Service));
        }
        let fronts = Arc::new(Fronts {
            qm: qm.clone(),
            channels: by.channels,
            local: by.local,
            places,
            lanes: lanes.clone(),
            security: by.security,
            connauth: by.connauth,
            listeners,
            services,
            command_server: Default::default(),
            clock: Arc::clone(&clock),
        });
        door.open(Arc::new(OverControlSocket(Arc::downgrade(&fronts))));
        fronts.start_administration(operator, events, &clock);
        Ok(Server {
            qm: qm.clone(),
            operator: Arc::clone(operator),
            fronts,
            door,
            phase,
            ends,
            signals,
            _local,
        })
    }

    /// Serves until the queue manager has ended. Whoever waits for that at the control socket waits
    /// until it has been written down, too.
    async fn serve(
        mut self,
        home: &Home,
        served: impl FnOnce(&Arc<Fronts>),
    ) -> Result<(), Failure> {
        let name = self.qm.name().to_owned();
        self.phase.send_replace(Phase::Running);
        self.operator
            .message("AMQ8003I", std::slice::from_ref(&name));
        self.operator.audit(AuditEvent {
            object: host(),
            ..of_itself(AuditKind::Started, "AMQ8003I")
        });
        served(&self.fronts);
        let qm = &self.qm;
        let first = tokio::select! {
            () = qm.ended() => EndMode::Preemptive,
            mode = next_request(&mut self.ends, self.signals.as_mut()) => mode,
        };
        let (mode, ended) = self.end(first).await;
        self.fronts.listeners.gone();
        match (ended, self.qm.stopped()) {
            (_, Some(stop)) | (Err(stop), None) => {
                let failure = Failure::stop(&name, &stop);
                self.operator.audit(of_itself(AuditKind::Ended, failure.id));
                Err(failure)
            }
            (Ok(()), None) => {
                LastEnd::of(mode).record(home)?;
                self.operator.message("AMQ8004I", &[name]);
                self.operator.audit(AuditEvent {
                    because: Phase::ending(mode).word().to_owned(),
                    ..of_itself(AuditKind::Ended, "AMQ8004I")
                });
                Ok(())
            }
        }
    }

    /// Ends the queue manager as asked, or faster if that is asked for meanwhile.
    async fn end(&mut self, first: EndMode) -> (EndMode, Result<(), posthaste_engine::Stop>) {
        let qm = &self.qm;
        let mut mode = first;
        loop {
            self.begin_end(mode).await;
            let ended = tokio::select! {
                ended = qm.end(mode) => Some(ended),
                next = faster(&mut self.ends, self.signals.as_mut(), mode, qm) => {
                    mode = next;
                    None
                }
            };
            if let Some(ended) = ended {
                self.say_farewell().await;
                return (mode, ended);
            }
        }
    }

    async fn begin_end(&self, mode: EndMode) {
        let qm = &self.qm;
        self.phase.send_replace(Phase::ending(mode));
        let own = |status: &ConnectionStatus| status.application.appl_type == MQAT_QMGR;
        let applications = qm.connection_status().iter().filter(|s| !own(s)).count();
        let inserts = [qm.name().to_owned(), applications.to_string()];
        self.operator.message("AMQ2015I", &inserts);
        self.fronts.services.end(&qm.objects(ObjectKind::Service));
        self.fronts.listeners.end().await;
        let [network, local] = &self.fronts.places;
        network.drain();
        qm.quiesce(mode);
        if mode == EndMode::Immediate {
            // A command that is being carried out is answered, unless it takes too long.
            let answered = async {
                self.fronts.command_server_ended().await;
                self.door.idle().await;
            };
            let _ = tokio::time::timeout(ANSWERED, answered).await;
        }
        if mode != EndMode::Controlled {
            local.drain();
            let force = mode == EndMode::Preemptive;
            self.fronts.channels.end(force);
            self.fronts.local.end(force);
        }
    }

    /// Closes the connections that are left; a peer that does not read keeps nobody waiting.
    async fn say_farewell(&self) {
        self.fronts.channels.end(true);
        self.fronts.local.end(true);
        let [network, local] = &self.fronts.places;
        local.drain();
        let gone = async {
            network.empty().await;
            local.empty().await;
            self.door.idle().await;
        };
        // Those that are left after that time are closed with the process.
        let _ = tokio::time::timeout(FAREWELL, gone).await;
        let services = Arc::clone(&self.fronts.services);
        // It does not panic.
        let _ = tokio::task::spawn_blocking(move || services.ended_within(FAREWELL)).await;
    }
}

/// An event of the queue manager's own process.
fn of_itself(kind: AuditKind, message: &'static str) -> AuditEvent {
    AuditEvent {
        who: Application {
            name: program(),
            user: user_name(),
            pid: std::process::id(),
            ..Application::default()
        },
        message,
        ..AuditEvent::new(kind, Reason::NONE)
    }
}

fn cannot_listen(path: &Path, error: &std::io::Error) -> Failure {
    let shown = path.display().to_string();
    Failure::new(
        Exit::CannotListen,
        "AMQ2008E",
        &[&shown, &error.to_string()],
    )
}

fn open_local(
    (home, qm): (&Home, &QueueManager),
    registry: &Arc<Registry>,
    places: &Admission,
    reporting: &Arc<Reporting>,
) -> Result<SocketPath, Failure> {
    let path = home.applications();
    let socket = SocketPath::new(&path).map_err(|e| cannot_listen(&path, &e))?;
    let options = Options {
        mode: 0o600,
        ..Options::default()
    };
    let address = Address::Unix(socket.path().to_owned());
    let bind = || Listener::bind(&address, options).map_err(|error| error.source);
    let listener = qm
        .make_file(bind)
        .map_err(|error| cannot_listen(&path, &error))?;
    let listening = reporting.listen(listener, places.clone(), registry);
    let places = places.clone();
    tokio::spawn(async move {
        places.draining().await;
        listening.close().await;
    });
    Ok(socket)
}

async fn start_listeners(
    listeners: &Arc<Listeners>,
    queue_manager: &str,
    plans: Vec<Plan>,
) -> Result<(), Failure> {
    for plan in plans {
        let name = plan.name.clone();
        let started = listeners.start_or_wait(plan).await;
        started.map_err(|error| error.failure(queue_manager, &name))?;
    }
    Ok(())
}

/// The listeners that start with the queue manager.
fn plans(options: &RunOptions, qm: &QueueManager) -> Vec<Plan> {
    let objects = qm.objects(ObjectKind::Listener);
    let mut plans: Vec<Plan> = objects
        .iter()
        .map(Plan::of)
        .filter(|plan| plan.control != MQSVC_CONTROL_MANUAL)
        .collect();
    if options.port.is_none() && options.host.is_none() {
        return plans;
    }
    if !plans.iter().any(|plan| plan.name == LISTENER) {
        plans.push(Plan {
            name: LISTENER.to_owned(),
            port: 1414,
            host: "127.0.0.1".to_owned(),
            backlog: 0,
            control: MQSVC_CONTROL_Q_MGR_START,
            description: String::new(),
        });
    }
    for plan in plans.iter_mut().filter(|plan| plan.name == LISTENER) {
        plan.port = options.port.unwrap_or(plan.port);
        plan.host = options.host.clone().unwrap_or_else(|| plan.host.clone());
    }
    plans
}

/// What the terminal and the system send.
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hangup: tokio::signal::unix::Signal,
    /// Signals that have come.
    received: u32,
}

impl Signals {
    fn listen() -> std::io::Result<Signals> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
            received: 0,
        })
    }

    /// The first means "end", the second "at once".
    async fn next(&mut self) -> EndMode {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hangup.recv() => {}
        }
        self.received += 1;
        match self.received {
            1 => EndMode::Immediate,
            _ => EndMode::Preemptive,
        }
    }
}

/// The next request to end, from wherever.
async fn next_request(ends: &mut Asked, signals: Option<&mut Signals>) -> EndMode {
    let signal = async {
        match signals {
            Some(signals) => signals.next().await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        Some(mode) = ends.recv() => mode,
        mode = signal => mode,
    }
}

fn severity(mode: EndMode) -> u8 {
    match mode {
        EndMode::Controlled => 0,
        EndMode::Immediate => 1,
        EndMode::Preemptive => 2,
    }
}

/// Waits for a request that makes the end faster.
async fn faster(
    ends: &mut Asked,
    mut signals: Option<&mut Signals>,
    now: EndMode,
    qm: &QueueManager,
) -> EndMode {
    loop {
        let next = next_request(ends, signals.as_deref_mut()).await;
        // With nobody left a controlled end is in its final checkpoint already, which an immediate
        // end would only begin again.
        let useful = next == EndMode::Preemptive || qm.connections() > 0;
        if severity(next) > severity(now) && useful {
            return next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_ordered_by_haste() {
        assert!(severity(EndMode::Controlled) < severity(EndMode::Immediate));
        assert!(severity(EndMode::Immediate) < severity(EndMode::Preemptive));
    }

    /// Set for the process that the test below starts and lets panic.
    const FOLDER: &str = "POSTHASTE_TEST_PANICS_IN";

    #[test]
    fn a_panic_on_any_thread_ends_the_process_and_stands_in_the_error_log() {
        if let Some(folder) = std::env::var_os(FOLDER) {
            let path = std::path::PathBuf::from(folder);
            let log = Arc::new(ErrorLog::new(&path, 1 << 20, Some("QM1"), Console::Silent));
            let home = Home {
                name: "QM1".to_owned(),
                folder: path,
            };
            end_at_panics(&log, &home);
            let operator: Arc<dyn Operator> = log.clone();
            for _ in 0..50 {
                operator.message("AMQ9519E", &["NONE".to_owned(), "127.0.0.1".to_owned()]);
            }
            let died = std::thread::spawn(|| panic!("on purpose")).join();
            unreachable!("the process outlives a panic: {died:?}");
        }
        let folder = tempfile::tempdir().unwrap();
        let name = "a_panic_on_any_thread_ends_the_process_and_stands_in_the_error_log";
        let ended = std::process::Command::new(std::env::current_exe().unwrap())
            .arg(format!("compose::tests::{name}"))
            .arg("--exact")
            .env(FOLDER, folder.path())
            .output()
            .unwrap();
        let signal = std::os::unix::process::ExitStatusExt::signal(&ended.status);
        assert_eq!(signal, Some(6), "{ended:?}");
        let log = std::fs::read_to_string(folder.path().join("AMQERR01.LOG")).unwrap();
        assert!(
            log.contains("AMQ6109S") && log.contains("on purpose"),
            "{log}"
        );
        let counted = "AMQ2053W: 30 messages AMQ9519E were counted";
        assert!(log.contains(counted), "{log}");
    }
}
