//! The control socket: how `endmqm` and `dspmq` talk to the process that runs a queue manager.
//!
//! A request is one line, the answer is one line; after a request to end the connection stays open
//! until the queue manager has ended, so that whoever waits needs no polling. The socket belongs to
//! the process that listens on it, so a request never reaches another process that happens to have
//! the number that stood in a file, and it works while applications are no longer admitted. Who may
//! open it is decided by the permissions of its folder.
//!
//! Invariant: nothing a peer sends (or does not send) keeps the queue manager from ending.

mod commands;
pub(crate) mod list;
pub(crate) mod socket;
pub(crate) mod status;
mod transactions;

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::num::NonZeroU32;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use posthaste_admin::{Admin, Decision, Undecided};
use posthaste_command::Reply;
use posthaste_engine::{Application, EndMode, TransactionStatus};
use posthaste_net::UnixPeer;
use rustix::io::Errno;
use rustix::process::{Pid, Signal};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixListener;
use tokio::sync::{mpsc, watch};

use crate::failure::Failure;
use crate::failure::exit::Exit;
use crate::layout::Home;
pub use commands::command;
use socket::SocketPath;

/// A request is shorter than this.
const LONGEST: usize = 64;
/// An answer is shorter than this.
const LONGEST_ANSWER: u64 = 16 * 1024;
/// Most peers that are served at one time.
const PEERS: usize = 64;
/// How long a peer may take to send its request.
const TIMEOUT: Duration = Duration::from_secs(5);

/// What a running queue manager is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Recovering; applications cannot connect yet.
    Starting,
    /// Running.
    Running,
    /// Waiting for applications to leave.
    Quiescing,
    /// Ending without waiting.
    EndingImmediately,
    /// Breaking off.
    EndingPreemptively,
}

impl Phase {
    const WORDS: [(Phase, &'static str); 5] = [
        (Phase::Starting, "Starting"),
        (Phase::Running, "Running"),
        (Phase::Quiescing, "Quiescing"),
        (Phase::EndingImmediately, "Ending immediately"),
        (Phase::EndingPreemptively, "Ending preemptively"),
    ];

    /// As `dspmq` shows it.
    pub fn word(self) -> &'static str {
        let row = Phase::WORDS.iter().find(|(phase, _)| *phase == self);
        row.map_or("Running", |(_, word)| word)
    }

    fn parse(word: &str) -> Option<Phase> {
        let row = Phase::WORDS.iter().find(|(_, known)| *known == word);
        row.map(|(phase, _)| *phase)
    }

    /// The phase in which a request to end puts a queue manager.
    pub fn ending(mode: EndMode) -> Phase {
        match mode {
            EndMode::Controlled => Phase::Quiescing,
            EndMode::Immediate => Phase::EndingImmediately,
            EndMode::Preemptive => Phase::EndingPreemptively,
        }
    }
}

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Request {
    Status,
    Ask(Asked),
    /// A decision about the branch of this number.
    Decide(Decision, u64),
    /// To carry out an MQSC command of this length.
    Command(usize),
    End(EndMode),
}

/// What is asked of administration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// The sums of what the queue manager counts, on one line.
    Sums,
    /// Every number of the registry, in its text format.
    All,
    /// Every unit of work.
    Transactions,
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Asked::Sums => f.write_str("COUNTERS"),
            Asked::All => f.write_str("METRICS"),
            Asked::Transactions => f.write_str("TRANSACTIONS"),
        }
    }
}

impl Asked {
    fn parse(line: &str) -> Option<Asked> {
        match line {
            "COUNTERS" => Some(Asked::Sums),
            "METRICS" => Some(Asked::All),
            "TRANSACTIONS" => Some(Asked::Transactions),
            _ => None,
        }
    }

    /// What is answered behind OK.
    pub(crate) fn answer(self, admin: &Admin) -> String {
        match self {
            Asked::Sums => {
                let sums = admin.sums().into_iter();
                let pairs: Vec<String> = sums
                    .map(|(name, value)| format!("{name}={value}"))
                    .collect();
                pairs.join(" ")
            }
            Asked::All => admin.metrics(),
            Asked::Transactions => transactions::answer(admin),
        }
    }
}

const MODES: [(EndMode, &str); 3] = [
    (EndMode::Controlled, "controlled"),
    (EndMode::Immediate, "immediate"),
    (EndMode::Preemptive, "preemptive"),
];

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Request::Status => f.write_str("STATUS"),
            Request::Ask(asked) => asked.fmt(f),
            Request::Decide(decision, number) => {
                f.write_str(&transactions::write_decision(*decision, *number))
            }
            Request::Command(length) => f.write_str(&commands::write_request(*length)),
            Request::End(mode) => {
                let row = MODES.iter().find(|(known, _)| known == mode);
                write!(f, "END {}", row.map_or("controlled", |(_, word)| word))
            }
        }
    }
}

impl Request {
    fn parse(line: &str) -> Option<Request> {
        match line.split_once(' ') {
            None if line == "STATUS" => Some(Request::Status),
            Some(("END", mode)) => {
                let row = MODES.iter().find(|(_, word)| *word == mode);
                row.map(|(mode, _)| Request::End(*mode))
            }
            Some(("MQSC", _)) => commands::read_request(line).map(Request::Command),
            Some(("DECIDE", _)) => {
                let (decision, number) = transactions::read_decision(line)?;
                Some(Request::Decide(decision, number))
            }
            _ => Asked::parse(line).map(Request::Ask),
        }
    }
}

/// What has come of a decision about a branch.
pub(crate) type Decided = Result<(), Undecided>;

/// Administration, as this socket sees it.
pub(crate) trait Administration: Send + Sync {
    /// What is answered behind OK.
    fn answer(&self, asked: Asked) -> String;

    /// An application decides about the branch of this number; none: the queue manager has ended.
    fn decide(&self, who: Application, number: u64, decision: Decision) -> Option<Decided>;

    /// Carries out an application's command; none: the queue manager has ended.
    fn command(&self, who: Application, text: &str) -> Option<Reply>;
}

/// The way from this socket to administration.
#[derive(Default)]
pub(crate) struct Door {
    /// Not there before applications are served.
    administration: OnceLock<Arc<dyn Administration>>,
    /// Commands that are not yet answered.
    under_way: watch::Sender<usize>,
}

impl Door {
    /// Opens it; once.
    pub(crate) fn open(&self, administration: Arc<dyn Administration>) {
        // Who comes second finds it open.
        let _ = self.administration.set(administration);
    }

    fn enter(&self) -> Option<(UnderWay<'_>, Arc<dyn Administration>)> {
        let administration = self.administration.get()?;
        self.under_way.send_modify(|count| *count += 1);
        Some((UnderWay(self), Arc::clone(administration)))
    }

    /// Ready when every command has been answered.
    pub(crate) async fn idle(&self) {
        let mut counts = self.under_way.subscribe();
        // The sender is in `self`: it cannot have gone.
        let _ = counts.wait_for(|count| *count == 0).await;
    }
}

/// A command that is not yet answered.
struct UnderWay<'a>(&'a Door);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let less = |count: &mut usize| *count = count.saturating_sub(1);
        self.0.under_way.send_modify(less);
    }
}

/// The listening side.
pub(crate) struct ControlSocket {
    listener: UnixListener,
    path: SocketPath,
}

impl ControlSocket {
    /// Listens. Must be called inside a runtime, by the process that holds the queue manager's
    /// [`ProcessLock`](crate::lifecycle::process_lock::ProcessLock): a socket file that is there is then left over.
    ///
    /// # Errors
    /// The socket cannot be made.
    pub(crate) fn bind(path: &Path) -> io::Result<ControlSocket> {
        let path = SocketPath::new(path)?;
        match std::fs::remove_file(path.path()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(path.path())?;
        Ok(ControlSocket { listener, path })
    }

    /// Serves until dropped. Requests to end go to `ends`; `phase` is what STATUS answers.
    pub(crate) async fn run(
        self,
        ends: mpsc::UnboundedSender<EndMode>,
        phase: watch::Receiver<Phase>,
        door: Arc<Door>,
    ) {
        let places = Arc::new(tokio::sync::Semaphore::new(PEERS));
        let mut peers = tokio::task::JoinSet::new();
        loop {
            while peers.try_join_next().is_some() {}
            let Ok(place) = Arc::clone(&places).acquire_owned().await else {
                return;
            };
            match self.listener.accept().await {
                Ok((stream, _)) => {
                    let (ends, phase) = (ends.clone(), phase.clone());
                    let door = Arc::clone(&door);
                    peers.spawn(async move {
                        // A peer that goes away has withdrawn nothing: there is nobody to tell.
                        let _ = serve(stream, ends, phase, &door).await;
                        drop(place);
                    });
                }
                // Out of descriptors, say: whoever asks will ask again.
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        }
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        // A file that stays is recognised as left over by the next start.
        let _ = std::fs::remove_file(self.path.path());
    }
}

async fn serve(
    mut stream: tokio::net::UnixStream,
    ends: mpsc::UnboundedSender<EndMode>,
    phase: watch::Receiver<Phase>,
    door: &Door,
) -> io::Result<()> {
    let line = tokio::time::timeout(TIMEOUT, read_request(&mut stream)).await??;
    match Request::parse(&line) {
        Some(Request::Status) => {
            let word = phase.borrow().word();
            stream.write_all(format!("OK {word}\n").as_bytes()).await
        }
        Some(Request::Ask(asked)) => {
            let administration = door.administration.get().map(Arc::clone);
            // There may be very many of them.
            let answer = move || administration.map(|admin| admin.answer(asked));
            let answer = tokio::task::spawn_blocking(answer).await?;
            let answer = answer.unwrap_or_default();
            let within = tokio::time::timeout(ANSWER, async {
                stream.write_all(b"OK ").await?;
                stream.write_all(answer.as_bytes()).await?;
                stream.write_all(b"\n").await
            });
            within.await?
        }
        Some(Request::Decide(decision, number)) => {
            transactions::serve(&mut stream, decision, number, door).await
        }
        Some(Request::Command(length)) => commands::serve(&mut stream, length, door).await,
        Some(Request::End(mode)) => {
            // The receiver is gone only when the queue manager has ended.
            let _ = ends.send(mode);
            stream.write_all(b"OK\n").await?;
            // Held open until the process ends or the peer has seen enough.
            let mut byte = [0];
            stream.read(&mut byte).await.map(drop)
        }
        None => stream.write_all(b"NO not a request\n").await,
    }
}

async fn read_request(stream: &mut tokio::net::UnixStream) -> io::Result<String> {
    let mut line = Vec::new();
    loop {
        let byte = stream.read_u8().await?;
        if byte == b'\n' {
            return String::from_utf8(line).map_err(io::Error::other);
        }
        line.push(byte);
        if line.len() > LONGEST {
            return Err(io::ErrorKind::InvalidData.into());
        }
    }
}

/// A request to end that was accepted.
pub struct Ending {
    stream: BufReader<UnixStream>,
}

impl Ending {
    /// The process that ends, where the system says it.
    pub fn process(&self) -> Option<u32> {
        listener(self.stream.get_ref()).ok().map(NonZeroU32::get)
    }

    /// Kills the process: it has not ended in the time that it may take.
    ///
    /// # Errors
    /// The system does not say which process it is, or lets nobody end it.
    pub fn kill(&self) -> io::Result<()> {
        kill_listener(self.stream.get_ref())
    }

    /// Waits until the queue manager has ended; false when `within` passed before.
    ///
    /// # Errors
    /// The connection cannot be read.
    pub fn wait(&mut self, within: Option<Duration>) -> io::Result<bool> {
        self.stream.get_ref().set_read_timeout(within)?;
        let mut byte = [0];
        match self.stream.read(&mut byte) {
            Ok(_) => Ok(true),
            Err(error) if is_timeout(&error) => Ok(false),
            // The process ended without closing in order.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(true),
            Err(error) => Err(error),
        }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
}

/// How long an answer may take.
pub(crate) const ANSWER: Duration = Duration::from_secs(10);
/// How long an answer may take to a request to break off.
const SHORT_ANSWER: Duration = Duration::from_secs(2);

fn ask(home: &Home, request: Request) -> Result<(String, BufReader<UnixStream>), Failure> {
    ask_within(home, request, ANSWER)
}

fn ask_within(
    home: &Home,
    request: Request,
    within: Duration,
) -> Result<(String, BufReader<UnixStream>), Failure> {
    let (timeout, hasty) = match request {
        Request::End(EndMode::Preemptive) => (SHORT_ANSWER, true),
        _ => (within, false),
    };
    let refused = |error: io::Error| refused(home, timeout, &error);
    let stream = open(home, timeout)?;
    (&stream)
        .write_all(format!("{request}\n").as_bytes())
        .map_err(refused)?;
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    match (&mut reader).take(LONGEST_ANSWER).read_line(&mut line) {
        Err(error) if hasty && is_timeout(&error) => {
            let killed = kill_listener(reader.get_ref());
            killed.map_err(|error| {
                no_answer(home, timeout).with_detail(format!("It was not killed: {error}."))
            })?;
            return Ok((String::new(), reader));
        }
        read => read.map_err(refused)?,
    };
    match line.trim_end().strip_prefix("OK") {
        Some(answer) => Ok((answer.trim_start().to_owned(), reader)),
        // It ended between accepting and answering.
        None => Err(Failure::not_running(&home.name)),
    }
}

/// A connection on which each answer is waited for at most so long.
fn open(home: &Home, timeout: Duration) -> Result<UnixStream, Failure> {
    let refused = |error: io::Error| refused(home, timeout, &error);
    let socket = SocketPath::new(&home.control()).map_err(refused)?;
    let stream = UnixStream::connect(socket.path()).map_err(refused)?;
    stream.set_read_timeout(Some(timeout)).map_err(refused)?;
    stream.set_write_timeout(Some(timeout)).map_err(refused)?;
    Ok(stream)
}

/// What an error of a connection to the control socket says.
fn refused(home: &Home, timeout: Duration, error: &io::Error) -> Failure {
    match error.kind() {
        // Nobody listens, or the process is just going.
        io::ErrorKind::NotFound
        | io::ErrorKind::ConnectionRefused
        | io::ErrorKind::ConnectionReset
        | io::ErrorKind::BrokenPipe => Failure::not_running(&home.name),
        _ if is_timeout(error) => no_answer(home, timeout),
        _ => Failure::io(&home.control(), error),
    }
}

/// The process at the other end of a connection: the one that listens on the socket.
///
/// # Errors
/// It is not seen from here.
fn listener(stream: &UnixStream) -> io::Result<NonZeroU32> {
    let process = UnixPeer::of(stream)?.process;
    process.ok_or_else(|| {
        io::Error::other(
            "its process is in another PID namespace, as that of a container, and can be killed only there",
        )
    })
}

/// Kills a process that does not answer, whatever number it has, unless it has gone.
fn kill_listener(stream: &UnixStream) -> io::Result<()> {
    let process = Pid::from_raw(listener(stream)?.get().cast_signed()).ok_or(Errno::SRCH)?;
    match rustix::process::kill_process(process, Signal::KILL) {
        Err(Errno::SRCH) => Ok(()),
        killed => Ok(killed?),
    }
}

fn no_answer(home: &Home, within: Duration) -> Failure {
    let seconds = within.as_secs().to_string();
    Failure::new(Exit::TimedOut, "AMQ2029E", &[&home.name, &seconds])
}

/// That the process of a queue manager does not answer.
pub fn silent(home: &Home) -> Failure {
    no_answer(home, ANSWER)
}

/// The process that serves at the control socket.
fn serving(home: &Home) -> io::Result<u32> {
    let socket = SocketPath::new(&home.control())?;
    let stream = UnixStream::connect(socket.path())?;
    listener(&stream).map(NonZeroU32::get)
}

/// Whether nobody serves, so that whoever has the lock of its files will soon not have it any more.
pub(crate) fn is_going(home: &Home) -> bool {
    phase(home).is_err_and(|failure| failure.exit == Exit::NotRunning)
}

/// What the process that runs a queue manager is doing.
///
/// # Errors
/// There is none, or it does not answer.
pub fn phase(home: &Home) -> Result<Phase, Failure> {
    phase_within(home, ANSWER)
}

/// The same, when it is to answer within this time.
///
/// # Errors
/// There is none, or it does not answer.
pub fn phase_within(home: &Home, within: Duration) -> Result<Phase, Failure> {
    let (word, _) = ask_within(home, Request::Status, within)?;
    Ok(Phase::parse(&word).unwrap_or(Phase::Running))
}

/// What the process that runs a queue manager has counted since it started: names, as in docs/metrics.md, and sums;
/// none before applications are served.
///
/// # Errors
/// It is not running, or does not answer.
pub fn counters(home: &Home) -> Result<Vec<(String, u64)>, Failure> {
    let (line, _) = ask(home, Request::Ask(Asked::Sums))?;
    let pair = |word: &str| {
        let (name, value) = word.split_once('=')?;
        Some((name.to_owned(), value.parse().ok()?))
    };
    Ok(line.split_whitespace().filter_map(pair).collect())
}

/// Every number that the process that runs a queue manager counts or measures, in the text format that Prometheus
/// reads; empty before applications are served.
///
/// # Errors
/// It is not running, or does not answer.
pub fn metrics(home: &Home) -> Result<String, Failure> {
    let (mut text, mut rest) = ask(home, Request::Ask(Asked::All))?;
    if !text.is_empty() {
        text.push('\n');
    }
    rest.read_to_string(&mut text)
        .map_err(|error| Failure::io(&home.control(), &error))?;
    text.truncate(text.trim_end().len() + 1);
    Ok(text)
}

/// Every unit of work of a running queue manager, and every branch that is remembered.
///
/// # Errors
/// It is not running, or does not answer.
pub fn transactions(home: &Home) -> Result<Vec<TransactionStatus>, Failure> {
    let (mut text, mut rest) = ask(home, Request::Ask(Asked::Transactions))?;
    text.push('\n');
    rest.read_to_string(&mut text)
        .map_err(|error| Failure::io(&home.control(), &error))?;
    // Not whole: it ended meanwhile, or is not serving yet.
    transactions::read_answer(&text).ok_or_else(|| Failure::not_running(&home.name))
}

/// Decides about the branch of this number.
///
/// # Errors
/// The outer one: it is not running, or does not answer. The inner one: the branch cannot be decided so.
pub fn decide(home: &Home, number: u64, decision: Decision) -> Result<Decided, Failure> {
    let (answer, _) = ask(home, Request::Decide(decision, number))?;
    transactions::read_decided(&answer).ok_or_else(|| Failure::not_running(&home.name))
}

/// Asks a queue manager to end. A process that does not even answer a request to break off is killed.
///
/// # Errors
/// It is not running, or does not answer.
pub fn end(home: &Home, mode: EndMode) -> Result<Ending, Failure> {
    let (_, stream) = ask(home, Request::End(mode))?;
    Ok(Ending { stream })
}

#[cfg(test)]
mod tests {
    use posthaste_command::pcf;

    use super::*;

    #[test]
    fn requests_and_phases_survive_the_socket() {
        let all = MODES.map(|(mode, _)| Request::End(mode));
        let others = [
            Request::Status,
            Request::Ask(Asked::Sums),
            Request::Ask(Asked::All),
            Request::Ask(Asked::Transactions),
            Request::Decide(Decision::BackOut, 5),
            Request::Command(4096),
        ];
        for request in all.into_iter().chain(others) {
            assert_eq!(Request::parse(&request.to_string()), Some(request));
        }
        for wrong in ["", "END", "END now", "STATUS ", "status", "END controlled "] {
            assert_eq!(Request::parse(wrong), None, "{wrong}");
        }
        for (phase, word) in Phase::WORDS {
            assert_eq!(Phase::parse(word), Some(phase));
        }
    }

    fn home(folder: &Path) -> Home {
        let home = Home {
            name: "QM1".to_owned(),
            folder: folder.to_owned(),
        };
        crate::layout::make_private(&home.run()).unwrap();
        home
    }

    #[test]
    fn nobody_listening_means_not_running() {
        let folder = tempfile::tempdir().unwrap();
        let home = home(folder.path());
        assert_eq!(phase(&home).unwrap_err().exit, Exit::NotRunning);
        // A file without a listener is what a killed process leaves.
        drop(std::os::unix::net::UnixListener::bind(home.control()).unwrap());
        assert_eq!(phase(&home).unwrap_err().exit, Exit::NotRunning);
    }

    struct Sample;

    impl Administration for Sample {
        fn answer(&self, asked: Asked) -> String {
            match asked {
                Asked::Sums => format!("log.writes=7 engine.puts={}", u64::MAX),
                Asked::All => "# HELP many\nlines 1\n".repeat(10_000),
                Asked::Transactions => String::new(),
            }
        }

        fn decide(&self, who: Application, number: u64, how: Decision) -> Option<Decided> {
            let words = format!("{} says {how:?} {number}", who.user);
            Some(Err(Undecided::Refused(words)))
        }

        fn command(&self, who: Application, text: &str) -> Option<Reply> {
            let words = format!("{} says {text}", who.user);
            Some(Reply::done("AMQ8405E", &[words]))
        }
    }

    #[test]
    fn an_end_is_asked_for_and_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let home = home(folder.path());
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let guard = runtime.enter();
        // A left-over file does not hinder.
        drop(std::os::unix::net::UnixListener::bind(home.control()).unwrap());
        let socket = ControlSocket::bind(&home.control()).unwrap();
        let (ends, mut asked) = mpsc::unbounded_channel();
        let (says, phases) = watch::channel(Phase::Starting);
        let door = Arc::new(Door::default());
        runtime.spawn(socket.run(ends, phases, Arc::clone(&door)));
        assert_eq!(phase(&home).unwrap(), Phase::Starting);
        says.send_replace(Phase::Running);
        assert_eq!(phase(&home).unwrap(), Phase::Running);

        assert_eq!(super::counters(&home).unwrap(), [], "nothing is served yet");
        door.open(Arc::new(Sample));
        let pairs = [("log.writes", 7), ("engine.puts", u64::MAX)];
        let pairs = pairs.map(|(name, sum)| (name.to_owned(), sum));
        assert_eq!(super::counters(&home).unwrap(), pairs);
        assert_eq!(metrics(&home).unwrap(), Sample.answer(Asked::All));
        let long = Duration::from_secs(60);
        let mut replies = pcf::EscapeReplies::new();
        for message in command(&home, "PING QMGR\n", long).unwrap() {
            replies.push(&message).unwrap();
        }
        let user = posthaste_authentication::user_name(rustix::process::geteuid().as_raw());
        let user = user.unwrap_or_default();
        let text = replies.texts().concat();
        assert!(text.contains(&format!("{user} says PING QMGR")), "{text}");
        let decided = decide(&home, 7, Decision::Forget).unwrap();
        let words = Undecided::Refused(format!("{user} says Forget 7"));
        assert_eq!(decided, Err(words));
        runtime.block_on(door.idle());

        let mut ending = end(&home, EndMode::Immediate).unwrap();
        assert_eq!(asked.blocking_recv(), Some(EndMode::Immediate));
        let soon = Some(Duration::from_millis(1));
        assert!(!ending.wait(soon).unwrap(), "it has not ended yet");
        // Garbage and silence hinder nobody.
        let mut garbage = UnixStream::connect(home.control()).unwrap();
        garbage.write_all(&[0xff; 200]).unwrap();
        let _silent = UnixStream::connect(home.control()).unwrap();
        let mut odd = UnixStream::connect(home.control()).unwrap();
        odd.write_all(b"MAKE tea\n").unwrap();
        let mut answer = String::new();
        odd.read_to_string(&mut answer).unwrap();
        assert_eq!(answer, "NO not a request\n");
        assert_eq!(phase(&home).unwrap(), Phase::Running);

        drop(guard);
        runtime.shutdown_background();
        assert!(ending.wait(Some(Duration::from_secs(30))).unwrap());
        assert_eq!(phase(&home).unwrap_err().exit, Exit::NotRunning);
    }
}
