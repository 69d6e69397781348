//! `runmqsc`: MQSC commands from a file, standard input or a person, carried out one by one, and the answers as they come
//! (manual: "runmqsc").
//!
//! To a queue manager of this machine they go by its control socket, which no definition can close. Over the network, for
//! a user who is named, and for whoever may not use that socket they go to the command server's queue.
//!
//! Invariant: what is counted and what the exit code says is what was printed.

use std::io::{BufRead, BufReader, IsTerminal};
use std::path::Path;
use std::time::Duration;

use posthaste_client::{ClientError, Connection};
use posthaste_command::{Reply, ScriptReader, Tally, echo, is_end, messages, pcf, render};
use posthaste_mqi::constants::{
    MQFMT_ADMIN, MQGMO_NO_SYNCPOINT, MQGMO_WAIT, MQMO_MATCH_CORREL_ID, MQMT_REQUEST,
    MQOO_FAIL_IF_QUIESCING, MQOO_INPUT_EXCLUSIVE, MQPER_NOT_PERSISTENT, MQPMO_FAIL_IF_QUIESCING,
    MQPMO_NEW_MSG_ID, MQPMO_NO_SYNCPOINT,
};
use posthaste_mqi::{ByteOrder, Chars, Gmo, Hobj, Md, Name, Od, Pmo, Reason};
use posthaste_server::{COMMAND_QUEUE, DataDir, Exit, Failure, Home, Phase, find};

use crate::cli;
use crate::connect::{Attached, Target, call_failed, no_answer};
use crate::output::{Out, complain, stream_failure};

/// The model of reply queues, and what serves in its place if somebody has deleted it.
const REPLY_MODELS: [&str; 2] = ["SYSTEM.MQSC.REPLY.QUEUE", "SYSTEM.DEFAULT.MODEL.QUEUE"];
/// How much longer than it waits for an answer itself a queue manager may take to say that none came.
const GRACE: Duration = Duration::from_secs(1);
/// How long a process may take to say that it runs, however long a command may take.
const AWAKE: Duration = Duration::from_secs(10);
/// Reasons of a connection that ends.
const ENDS: [Reason; 5] = [
    Reason::CONNECTION_BROKEN,
    Reason::CONNECTION_QUIESCING,
    Reason::CONNECTION_STOPPING,
    Reason::Q_MGR_QUIESCING,
    Reason::Q_MGR_STOPPING,
];
/// The longest answer to one command.
const LONGEST: usize = 4 << 20;

pub(crate) fn mqsc(place: Option<&Path>, args: &cli::Mqsc) -> Result<Exit, Failure> {
    let none = |failure: Failure| Failure {
        exit: Exit::NoCommands,
        ..failure
    };
    let file = match &args.file {
        Some(path) => {
            let file = std::fs::File::open(path);
            Some(file.map_err(|error| none(Failure::io(path, &error)))?)
        }
        None => None,
    };
    // It may ask for a password, and take it from standard input.
    let server = match args.verify {
        true => None,
        false => Some(connect(place, args).map_err(none)?),
    };
    let mut input: Box<dyn BufRead> = match file {
        Some(file) => Box::new(BufReader::new(file)),
        None => Box::new(std::io::stdin().lock()),
    };
    let person = args.file.is_none() && std::io::stdin().is_terminal();
    let mut run = Run {
        server,
        out: Out::new(),
        echo: !args.no_echo && !person,
        prompt: person && std::io::stdout().is_terminal(),
        tally: Tally::default(),
        answered: 0,
        broken: None,
    };
    run.greet(args)?;
    run.read(&mut input)?;
    run.finish()
}

fn connect(place: Option<&Path>, args: &cli::Mqsc) -> Result<CommandServer, Failure> {
    let target = Target {
        place,
        queue_manager: args.queue_manager.as_deref(),
        reach: &args.reach,
        client: args.client,
        application: CommandServer::APPLICATION,
        within: Duration::from_secs(args.wait.into()),
    };
    CommandServer::connect(&target, args.wait)
}

/// A run of runmqsc.
struct Run {
    server: Option<CommandServer>,
    out: Out,
    echo: bool,
    prompt: bool,
    tally: Tally,
    /// Commands that the queue manager answered.
    answered: usize,
    /// Why no more commands can be carried out.
    broken: Option<Failure>,
}

impl Run {
    fn greet(&mut self, args: &cli::Mqsc) -> Result<(), Failure> {
        match (&self.server, &args.queue_manager) {
            (Some(server), _) => {
                let name = server.queue_manager();
                self.out
                    .line(&format!("Starting MQSC for queue manager {name}.\n\n"))
            }
            (None, _) => self.out.line("Looking at the syntax of MQSC commands.\n\n"),
        }
    }

    fn read(&mut self, input: &mut dyn BufRead) -> Result<(), Failure> {
        let mut script = ScriptReader::new();
        let mut bytes = Vec::new();
        loop {
            if self.prompt {
                let prompt: &[u8] = if script.is_continued() { b"+ " } else { b"> " };
                self.out.bytes(prompt)?;
            }
            self.out.flush()?;
            bytes.clear();
            let read = input.read_until(b'\n', &mut bytes);
            let read = read.map_err(|error| stream_failure("the script", &error))?;
            if read == 0 {
                break;
            }
            let line = String::from_utf8_lossy(&bytes);
            let line = line.trim_end_matches(['\n', '\r']);
            if let Some((_, command)) = script.push(line) {
                if is_end(&command) {
                    return Ok(());
                }
                self.command(&command)?;
                if self.broken.is_some() {
                    return Ok(());
                }
            }
        }
        match script.finish() {
            Some((_, command)) if !is_end(&command) => self.command(&command),
            _ => Ok(()),
        }
    }

    fn command(&mut self, text: &str) -> Result<(), Failure> {
        self.tally.read += 1;
        if self.echo {
            self.out.bytes(echo(self.tally.read, text).as_bytes())?;
        }
        // The syntax is looked at here, so that what is counted as a syntax error does not depend on
        // what the queue manager makes of it.
        if let Err(error) = posthaste_command::parse(text) {
            self.tally.refused(&error);
            let answer = render(&Reply::from(&error));
            return self.out.bytes(answer.as_bytes());
        }
        let Some(server) = &mut self.server else {
            let valid = format!("AMQ8427I: {}", messages::format("AMQ8427I", &[]));
            return self.out.line(&valid);
        };
        let answers = match server.execute(text) {
            Ok(answers) => answers,
            Err(failure) => {
                self.tally.failed += 1;
                self.out.line(&failure.line())?;
                self.broken = Some(failure);
                return Ok(());
            }
        };
        self.answered += 1;
        self.tally.failed += usize::from(answers.outcome() != Some(Ok(())));
        for text in answers.texts() {
            self.out.line(text)?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Exit, Failure> {
        self.out
            .line(&format!("\n{}", self.tally.to_string().trim_end()))?;
        self.out.flush()?;
        if let Some(failure) = self.broken {
            complain(&failure.to_string());
            return Ok(match self.answered {
                0 => Exit::NoCommands,
                _ => Exit::CommandsFailed,
            });
        }
        if let Some(server) = self.server {
            server.disconnect();
        }
        match self.tally.exit_code() {
            0 => Ok(Exit::Done),
            _ => Ok(Exit::CommandsFailed),
        }
    }
}

/// Opens a queue for answers; gives its handle and its name.
fn open_reply_queue(connection: &mut Connection) -> Result<(Hobj, Name), Failure> {
    let options = MQOO_INPUT_EXCLUSIVE | MQOO_FAIL_IF_QUIESCING;
    for model in REPLY_MODELS {
        let mut od = Od {
            object_name: Name::new(model),
            dynamic_q_name: Name::new("MQSC.*"),
            ..Od::default()
        };
        match connection.open_object(&mut od, options) {
            Ok(replies) => return Ok((replies.value, od.object_name)),
            Err(error) if error.reason() == Reason::UNKNOWN_OBJECT_NAME => {}
            Err(error) => return Err(call_failed("MQOPEN", model, &error)),
        }
    }
    Err(no_queue(connection, REPLY_MODELS[0]))
}

/// One of the queues that MQSC commands go by is missing.
fn no_queue(connection: &Connection, name: &str) -> Failure {
    let queue_manager = connection.queue_manager();
    Failure::new(Exit::NoCommands, "AMQ2211E", &[queue_manager.trim(), name])
}

/// Who carries commands out, as their client sees it.
pub(crate) enum CommandServer {
    /// The process of a queue manager of this machine, by its control socket.
    Process(Process),
    /// A command server, by queues.
    Queues(Box<Queues>),
}

/// A queue manager of this machine.
pub(crate) struct Process {
    home: Home,
    within: Duration,
}

/// A command server that is reached by queues.
pub(crate) struct Queues {
    connection: Attached,
    replies: Hobj,
    reply_queue: Name,
    wait_s: u32,
}

impl CommandServer {
    /// What whoever sends commands calls itself.
    pub(crate) const APPLICATION: &str = "runmqsc";

    /// Connects; each answer is waited for at most `wait_s` seconds.
    pub(crate) fn connect(target: &Target<'_>, wait_s: u32) -> Result<CommandServer, Failure> {
        match Process::find(target, wait_s)? {
            Some(process) => Ok(CommandServer::Process(process)),
            None => {
                let queues = Queues::connect(target, wait_s)?;
                Ok(CommandServer::Queues(Box::new(queues)))
            }
        }
    }

    /// The queue manager's name.
    pub(crate) fn queue_manager(&self) -> String {
        match self {
            CommandServer::Process(process) => process.home.name.clone(),
            CommandServer::Queues(queues) => queues.queue_manager(),
        }
    }

    /// Leaves.
    pub(crate) fn disconnect(self) {
        if let CommandServer::Queues(queues) = self {
            // Everything has been answered; the queue manager notices the end by itself.
            let _ = queues.connection.disconnect();
        }
    }

    /// Sends a command and collects its answer.
    pub(crate) fn execute(&mut self, text: &str) -> Result<pcf::EscapeReplies, Failure> {
        match self {
            CommandServer::Process(process) => process.execute(text),
            CommandServer::Queues(queues) => queues.execute(text),
        }
    }
}

/// Takes the next message of an answer; true when it was the last.
fn take(answers: &mut pcf::EscapeReplies, data: &[u8]) -> Result<bool, Failure> {
    answers.push(data).map_err(|error| {
        let what = format!("an answer to a command cannot be read: {error}");
        Failure::new(Exit::CommandsFailed, "AMQ6109S", &[&what])
    })
}

/// A command that had to be carried out and was not: first the answer as it came, then that this is the end.
pub(crate) fn refused(answers: &pcf::EscapeReplies) -> Failure {
    let what = "the queue manager has refused it";
    let mut failure = Failure::new(Exit::CommandsFailed, "AMQ2402E", &[what]);
    let texts = answers.texts().iter();
    failure.details = texts.map(|text| text.trim_end().to_owned()).collect();
    failure
}

impl Process {
    /// The queue manager that is meant, if it is one of this machine, serves, and may be asked so.
    fn find(target: &Target<'_>, wait_s: u32) -> Result<Option<Process>, Failure> {
        if target.client || target.reach.connect.is_some() || target.reach.user.is_some() {
            return Ok(None);
        }
        let within = Duration::from_secs(wait_s.into());
        let found = DataDir::find(target.place);
        let Ok(home) = found.and_then(|data| find(&data, target.queue_manager)) else {
            return Ok(None);
        };
        match posthaste_server::phase_within(&home, within.min(AWAKE)) {
            Ok(Phase::Running) => Ok(Some(Process { home, within })),
            Err(failure) if failure.exit == Exit::TimedOut => Err(failure),
            // What is wrong, connecting tells.
            _ => Ok(None),
        }
    }

    fn execute(&self, text: &str) -> Result<pcf::EscapeReplies, Failure> {
        let mut answers = pcf::EscapeReplies::new();
        for message in posthaste_server::command(&self.home, text, self.within)? {
            take(&mut answers, &message)?;
        }
        Ok(answers)
    }
}

impl Queues {
    fn connect(target: &Target<'_>, wait_s: u32) -> Result<Queues, Failure> {
        let mut connection = target.connect()?;
        // The queue manager waits for an answer to come; this waits for the queue manager.
        let silence = Duration::from_secs(wait_s.into()) + GRACE;
        connection
            .give_up_after(silence)
            .map_err(|error| call_failed("MQCONN", "the queue manager", &error))?;
        let (replies, reply_queue) = open_reply_queue(&mut connection)?;
        Ok(Queues {
            connection,
            replies,
            reply_queue,
            wait_s,
        })
    }

    fn queue_manager(&self) -> String {
        self.connection.queue_manager().trim().to_owned()
    }

    fn execute(&mut self, text: &str) -> Result<pcf::EscapeReplies, Failure> {
        let request = self.send(text)?;
        let mut answers = pcf::EscapeReplies::new();
        loop {
            let data = self.receive(&request)?;
            if take(&mut answers, &data)? {
                return Ok(answers);
            }
        }
    }

    fn send(&mut self, text: &str) -> Result<posthaste_mqi::MsgId, Failure> {
        let mut od = Od {
            object_name: Name::new(COMMAND_QUEUE),
            ..Od::default()
        };
        let mut md = Md {
            msg_type: MQMT_REQUEST,
            format: Chars::new(MQFMT_ADMIN),
            persistence: MQPER_NOT_PERSISTENT,
            // A command that waits longer than its answer would be waited for is not carried out.
            expiry: i32::try_from(self.wait_s.saturating_mul(10)).unwrap_or(i32::MAX),
            reply_to_q: self.reply_queue,
            encoding: match ByteOrder::NATIVE {
                ByteOrder::Big => 273,
                ByteOrder::Little => 546,
            },
            coded_char_set_id: 1208,
            ..Md::default()
        };
        let mut pmo = Pmo {
            options: MQPMO_NO_SYNCPOINT | MQPMO_NEW_MSG_ID | MQPMO_FAIL_IF_QUIESCING,
            ..Pmo::default()
        };
        let data = pcf::escape_request(text);
        let sent = self.connection.put1(&mut od, &mut md, &mut pmo, &data);
        sent.map_err(|error| match error.reason() {
            Reason::UNKNOWN_OBJECT_NAME => no_queue(&self.connection, COMMAND_QUEUE),
            Reason::CONNECTION_BROKEN => self.unanswered(&error),
            _ => call_failed("MQPUT1", COMMAND_QUEUE, &error),
        })?;
        Ok(md.msg_id)
    }

    /// The connection ended, and the command may have been carried out all the same.
    fn unanswered(&self, error: &ClientError) -> Failure {
        if let ClientError::Silent(_) = error {
            let within = Duration::from_secs(self.wait_s.into());
            return no_answer(&self.queue_manager(), within);
        }
        let inserts = [self.queue_manager(), error.reason().to_string()];
        let inserts = inserts.each_ref().map(String::as_str);
        Failure::new(Exit::CommandsFailed, "AMQ2213E", &inserts)
    }

    fn receive(&mut self, request: &posthaste_mqi::MsgId) -> Result<Vec<u8>, Failure> {
        let mut md = Md {
            correl_id: *request,
            ..Md::default()
        };
        let mut gmo = Gmo {
            version: 2,
            // A queue manager that quiesces answers what it was asked before.
            options: MQGMO_WAIT | MQGMO_NO_SYNCPOINT,
            match_options: MQMO_MATCH_CORREL_ID,
            wait_interval: i32::try_from(self.wait_s.saturating_mul(1_000)).unwrap_or(i32::MAX),
            ..Gmo::default()
        };
        let got = self
            .connection
            .get(self.replies, &mut md, &mut gmo, LONGEST);
        match got {
            Ok(got) => Ok(got.value.data.to_vec()),
            Err(error) if error.reason() == Reason::NO_MSG_AVAILABLE => {
                let name = self.connection.queue_manager();
                let seconds = self.wait_s.to_string();
                Err(Failure::new(
                    Exit::TimedOut,
                    "AMQ2029E",
                    &[name.trim(), &seconds],
                ))
            }
            Err(error) if ENDS.contains(&error.reason()) => Err(self.unanswered(&error)),
            Err(error) => Err(call_failed("MQGET", "the reply queue", &error)),
        }
    }
}
