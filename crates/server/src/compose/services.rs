//! Services: programs that are started and ended with the queue manager, or when an administrator says so.
//!
//! Invariants: a service of SERVTYPE(SERVER) has one program at a time, and a thread that waits for its end; the
//! programs of SERVTYPE(COMMAND) are started and left alone. What is typed at the queue manager's terminal reaches none
//! of them: only the queue manager ends them. When [`Services::ended_within`] returns, nothing that was told to end is
//! left, nor a STOPCMD. The lock is not held for anything that waits; signals are sent under it, so that none is sent to
//! a program whose end was collected.

mod arguments;
mod program;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use posthaste_admin::{ComponentError, ComponentState, ServiceStatus};
use posthaste_command::Object;
use posthaste_engine::Operator;
use posthaste_env::Clock;
use posthaste_mqi::constants::*;
use rustix::process::Signal;

use arguments::{Inserts, Variables, split};
use program::{Given, Program};

/// A service whose program runs.
struct Running {
    /// The definition that it was started by.
    service: Object,
    program: Program,
    started: i64,
    stopping: bool,
}

#[derive(Default)]
struct State {
    running: BTreeMap<String, Running>,
    /// Those that run.
    stop_commands: Vec<Program>,
    /// The services that start with the queue manager were started, and are to end with it.
    begun: bool,
}

impl State {
    /// Whether something that is to end has not.
    fn is_stopping(&self) -> bool {
        !self.stop_commands.is_empty() || self.running.values().any(|running| running.stopping)
    }
}

/// Where services are, and whether they may do anything.
pub(crate) struct Surroundings {
    pub(crate) queue_manager: String,
    /// The folder of all queue managers.
    pub(crate) data: PathBuf,
    /// The queue manager's folder.
    pub(crate) home: PathBuf,
    /// Programs may be run.
    pub(crate) may_run: bool,
}

/// The services of a queue manager.
pub(crate) struct Services {
    around: Surroundings,
    operator: Arc<dyn Operator>,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    /// A program has ended.
    ended: Condvar,
}

impl Services {
    pub(crate) fn new(
        around: Surroundings,
        operator: &Arc<dyn Operator>,
        clock: &Arc<dyn Clock>,
    ) -> Arc<Services> {
        Arc::new(Services {
            around,
            operator: Arc::clone(operator),
            clock: Arc::clone(clock),
            state: Mutex::default(),
            ended: Condvar::new(),
        })
    }

    /// Those whose programs run.
    pub(crate) fn running(&self) -> Vec<ServiceStatus> {
        let state = self.state.lock();
        let statuses = state.running.values().map(|running| ServiceStatus {
            service: running.service.clone(),
            state: match running.stopping {
                true => ComponentState::Stopping,
                false => ComponentState::Running,
            },
            pid: running.program.pid(),
            started: running.started,
        });
        statuses.collect()
    }

    /// Starts the program of a service.
    pub(crate) fn start(self: &Arc<Self>, service: &Object) -> Result<(), ComponentError> {
        if service.attrs.text(MQCA_SERVICE_START_COMMAND).is_empty() {
            return Err(ComponentError::NoStartCommand);
        }
        if is_command(service) {
            let program = self.launch(service, MQCA_SERVICE_START_COMMAND, None)?;
            self.say("AMQ5030I", &service.name, program);
            return self.watch(program, None);
        }
        let mut state = self.state.lock();
        if state.running.contains_key(&service.name) {
            return Err(ComponentError::ServiceActive);
        }
        let program = self.launch(service, MQCA_SERVICE_START_COMMAND, None)?;
        let running = Running {
            service: service.clone(),
            program,
            started: self.clock.wall_micros(),
            stopping: false,
        };
        state.running.insert(service.name.clone(), running);
        drop(state);
        self.say("AMQ5028I", &service.name, program);
        self.watch(program, Some(service.name.clone()))
    }

    /// Tells the program of a service to end: by the STOPCMD of the definition it was started by, or by a signal. A
    /// service of SERVTYPE(COMMAND) has its STOPCMD whatever runs.
    pub(crate) fn stop(self: &Arc<Self>, service: &Object) -> Result<(), ComponentError> {
        let mut state = self.state.lock();
        let running = state.running.get(&service.name);
        let program = running.map(|running| running.program);
        let service = running.map_or(service, |running| &running.service).clone();
        let has_command = !service.attrs.text(MQCA_SERVICE_STOP_COMMAND).is_empty();
        if program.is_none() && !(has_command && is_command(&service)) {
            return Err(ComponentError::ServiceInactive);
        }
        let stop_command = match has_command {
            true => Some(self.launch(&service, MQCA_SERVICE_STOP_COMMAND, program)?),
            false => None,
        };
        state.stop_commands.extend(stop_command);
        if let Some(running) = state.running.get_mut(&service.name) {
            running.stopping = true;
            if !has_command {
                running.program.signal(Signal::TERM);
            }
        }
        drop(state);
        stop_command.map_or(Ok(()), |program| self.watch(program, None))
    }

    /// Starts what starts with the queue manager. What cannot be started is said, and keeps nothing else from it.
    pub(crate) fn begin(self: &Arc<Self>, services: &[Object]) {
        self.state.lock().begun = true;
        let manual =
            |service: &&Object| service.attrs.int(MQIA_SERVICE_CONTROL) == MQSVC_CONTROL_MANUAL;
        for service in services.iter().filter(|service| !manual(service)) {
            self.tell_failure(service, self.start(service));
        }
    }

    /// Tells what ends with the queue manager to end, once: those that run, and the commands among `services`, as they
    /// are defined now. A program whose STOPCMD cannot be started is ended by a signal.
    pub(crate) fn end(self: &Arc<Self>, services: &[Object]) {
        if !std::mem::take(&mut self.state.lock().begun) {
            return;
        }
        let with_queue_manager =
            |service: &Object| service.attrs.int(MQIA_SERVICE_CONTROL) == MQSVC_CONTROL_Q_MGR;
        let has_stop_command =
            |service: &Object| !service.attrs.text(MQCA_SERVICE_STOP_COMMAND).is_empty();
        let commands = services
            .iter()
            .filter(|s| is_command(s) && has_stop_command(s));
        let running = self.running().into_iter();
        let running = running.filter(|status| status.state == ComponentState::Running);
        let stopping = running
            .map(|status| status.service)
            .chain(commands.cloned());
        for service in stopping.filter(with_queue_manager) {
            let stopped = self.stop(&service);
            if stopped.is_err()
                && let Some(running) = self.state.lock().running.get_mut(&service.name)
            {
                running.stopping = true;
                running.program.signal(Signal::TERM);
            }
            // One that has ended by itself meanwhile needs no word.
            if !matches!(stopped, Err(ComponentError::ServiceInactive)) {
                self.tell_failure(&service, stopped);
            }
        }
    }

    /// Waits until what was told to end has ended, but no longer than `most`; then ends it.
    pub(crate) fn ended_within(&self, most: Duration) {
        let mut state = self.state.lock();
        let stopping = |state: &mut State| state.is_stopping();
        let late = self.ended.wait_while_for(&mut state, stopping, most);
        if late.timed_out() {
            let programs = state.running.values().filter(|running| running.stopping);
            let programs = programs.map(|running| running.program);
            for program in programs.chain(state.stop_commands.iter().copied()) {
                program.signal(Signal::KILL);
            }
            // A process that is killed ends, but for one that its disk holds up: that is not waited for.
            self.ended.wait_while_for(&mut state, stopping, most);
        }
    }

    fn tell_failure(&self, service: &Object, done: Result<(), ComponentError>) {
        if let Err(error) = done {
            let (id, inserts, _) = error.message(&self.around.queue_manager, &service.name);
            self.operator.message(id, &inserts);
        }
    }

    fn say(&self, id: &'static str, service: &str, program: Program) {
        self.operator
            .message(id, &[service.to_owned(), program.pid().to_string()]);
    }

    /// Waits on a thread for the end of a program: that of a service of SERVTYPE(SERVER), if there is a name.
    fn watch(
        self: &Arc<Self>,
        program: Program,
        service: Option<String>,
    ) -> Result<(), ComponentError> {
        let (services, name) = (Arc::clone(self), service.clone());
        let watching = std::thread::Builder::new().name("service".to_owned());
        let watches = watching.spawn(move || {
            program.wait();
            services.has_ended(program, name.as_deref());
        });
        watches.map(drop).map_err(|error: io::Error| {
            // Nobody would know of its end.
            program.signal(Signal::KILL);
            program.wait();
            self.has_ended(program, service.as_deref());
            ComponentError::CannotStart {
                program: "a thread".to_owned(),
                why: error.to_string(),
            }
        })
    }

    fn has_ended(&self, program: Program, service: Option<&str>) {
        let mut state = self.state.lock();
        let of_this = |running: &Running| running.program == program;
        state.running.retain(|_, running| !of_this(running));
        state.stop_commands.retain(|other| *other != program);
        let how = program.collect();
        drop(state);
        if let Some(service) = service {
            let inserts = [service.to_owned(), program.pid().to_string(), how];
            self.operator.message("AMQ5029I", &inserts);
        }
        self.ended.notify_all();
    }

    /// Starts the program that an attribute names, with the arguments that belong to it.
    fn launch(
        &self,
        service: &Object,
        command: i32,
        running: Option<Program>,
    ) -> Result<Program, ComponentError> {
        let around = &self.around;
        if !around.may_run {
            return Err(ComponentError::MayNotRun);
        }
        let variables = Variables::read([&around.data, &around.home])?;
        let stops = command == MQCA_SERVICE_STOP_COMMAND;
        let inserts = Inserts {
            queue_manager: &around.queue_manager,
            service: &service.name,
            data: &around.data,
            home: &around.home,
            server: stops.then(|| running.map_or(0, Program::pid)),
            variables: &variables,
        };
        let arguments = match command {
            MQCA_SERVICE_START_COMMAND => MQCA_SERVICE_START_ARGS,
            _ => MQCA_SERVICE_STOP_ARGS,
        };
        let text = |selector| inserts.filled(service.attrs.text(selector));
        let [out, err] = [MQCA_STDOUT_DESTINATION, MQCA_STDERR_DESTINATION].map(text);
        Program::start(&Given {
            path: &text(command),
            arguments: &split(&text(arguments)),
            outputs: [&out, &err],
            variables: &variables,
            folder: &around.home,
        })
    }
}

fn is_command(service: &Object) -> bool {
    service.attrs.int(MQIA_SERVICE_TYPE) == MQSVC_TYPE_COMMAND
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::Location;
    use std::time::Instant;

    use posthaste_command::ObjectKind;
    use posthaste_net::RuntimeClock;

    #[derive(Default)]
    struct RecordingOperator(Mutex<Vec<&'static str>>);

    impl Operator for RecordingOperator {
        fn record(&self, id: &'static str, _: &[String], _: &'static Location<'static>) {
            self.0.lock().push(id);
        }
    }

    /// A service whose programs note their numbers in a file and do not end, whatever they are told.
    fn stubborn(kind: i32, numbers: &std::path::Path) -> Object {
        let script = "-c \"trap : TERM; tail -f /dev/null & echo $$ $! >> FILE; wait; wait\"";
        let script = script.replace("FILE", &numbers.display().to_string());
        let mut service = Object::new(ObjectKind::Service, "S");
        service.attrs = posthaste_command::Attrs::defaults(ObjectKind::Service);
        service.attrs.set_int(MQIA_SERVICE_TYPE, kind);
        service
            .attrs
            .set_int(MQIA_SERVICE_CONTROL, MQSVC_CONTROL_Q_MGR);
        for (command, arguments) in [
            (MQCA_SERVICE_START_COMMAND, MQCA_SERVICE_START_ARGS),
            (MQCA_SERVICE_STOP_COMMAND, MQCA_SERVICE_STOP_ARGS),
        ] {
            service.attrs.set_text(command, "/bin/sh");
            service.attrs.set_text(arguments, script.as_str());
        }
        service
    }

    #[test]
    fn programs_and_stop_commands_that_do_not_end_are_ended_with_all_they_started() {
        let folder = tempfile::tempdir().unwrap();
        let numbers = folder.path().join("numbers");
        let operator = Arc::new(RecordingOperator::default());
        let around = Surroundings {
            queue_manager: "QM1".to_owned(),
            data: folder.path().to_owned(),
            home: folder.path().to_owned(),
            may_run: true,
        };
        let (reports, clock): (Arc<dyn Operator>, Arc<dyn Clock>) =
            (operator.clone(), Arc::new(RuntimeClock));
        let services = Services::new(around, &reports, &clock);
        let service = stubborn(MQSVC_TYPE_SERVER, &numbers);
        services.begin(std::slice::from_ref(&service));
        services.end(std::slice::from_ref(&service));
        let deadline = Instant::now() + Duration::from_secs(60);
        let noted = || -> Vec<String> {
            let text = std::fs::read_to_string(&numbers).unwrap_or_default();
            text.split_whitespace().map(str::to_owned).collect()
        };
        while noted().len() < 4 {
            assert!(Instant::now() < deadline, "they do not run");
            std::thread::yield_now();
        }
        services.ended_within(Duration::from_millis(1));
        while !services.running().is_empty() || services.state.lock().is_stopping() {
            assert!(Instant::now() < deadline, "they do not end");
            std::thread::yield_now();
        }
        for pid in noted() {
            // One that has ended and was not waited for has no memory any more.
            let status = format!("/proc/{pid}/status");
            while std::fs::read_to_string(&status).is_ok_and(|status| status.contains("VmSize")) {
                assert!(Instant::now() < deadline, "{pid} lives");
                std::thread::yield_now();
            }
        }
        assert_eq!(*operator.0.lock(), ["AMQ5028I", "AMQ5029I"]);
        // It was told to end once.
        services.end(&[service]);
        assert!(!services.state.lock().is_stopping());
    }
}
