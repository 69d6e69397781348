//! The error logs: `AMQERR01.LOG` is written, 02 and 03 are the older ones (manual: "Error logs on
//! UNIX, Linux and Windows").
//!
//! Invariants: an entry is written with one call and never split over two files; room is kept for the messages of
//! a full disk; a message that cannot be written all the same goes to the system's log and to standard error, and
//! nothing here panics or returns an error, because there would be nobody left to tell. Messages about channels
//! (AMQ9...), refusals and what is lost of events ([`COUNTED`]), which any stranger can cause, are written by a thread of
//! the log's own, and counted when they are many, and so is what a thread that serves many has to say, unless it is severe;
//! every other message is in the file when the call returns.

mod notes;
mod reserve;
mod syslog;

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use parking_lot::Mutex;
use posthaste_command::{messages, printable};
use posthaste_engine::Operator;
use posthaste_env::{Thread, serves_many};

use notes::{Notes, Work};
use reserve::Reserve;

/// What only was counted, of the messages of one number.
type Summary = crate::repeats::Summary<&'static str, Vec<String>>;

/// Version, release, modification and fix as MQ shows them: the interface this product follows.
pub const VRMF: &str = "9.4.0.0";
const INDENT: &str = "                    ";
const RULE: usize = 80;
/// Refusals of applications and their users, and what is lost of the audit log and of event messages, which are as many as
/// refusals: whatever thread has to tell of them.
const COUNTED: &[&str] = &[
    "AMQ2446E", "AMQ2447W", "AMQ2448W", "AMQ2449E", "AMQ2452E", "AMQ2601E", "AMQ2602E", "AMQ2603E",
    "AMQ2605E", "AMQ2801E", "AMQ2802W", "AMQ2803W", "AMQ2804W", "AMQ5534E", "AMQ5540E", "AMQ5541E",
    "AMQ8077W",
];
/// The numeric inserts that stand before the text ones, at most (manual: "Message inserts").
const ARITHMETIC: usize = 2;

/// Where messages go beside the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Console {
    /// Nowhere.
    Silent,
    /// Standard error, in one line each.
    Stderr,
}

/// Who writes: what the head of every entry says.
#[derive(Clone, Debug)]
struct Writer {
    user: String,
    program: String,
    host: String,
    queue_manager: Option<String>,
}

struct State {
    file: Option<File>,
    bytes: u64,
    /// Room kept behind the file.
    reserve: Reserve,
    /// The last error of writing has been told.
    failure_reported: bool,
}

/// The three files of a folder.
pub struct ErrorLog {
    files: Arc<Files>,
    notes: Arc<Notes>,
    /// Writes the notes; started with the first of them.
    thread: Mutex<Option<Thread>>,
}

struct Files {
    folder: PathBuf,
    limit: u64,
    console: Console,
    writer: Writer,
    /// Where the system's log listens.
    syslog: PathBuf,
    state: Mutex<State>,
}

impl ErrorLog {
    /// Error logs in `folder`, each of about `limit` bytes. The folder is made when the first
    /// message is written.
    pub fn new(
        folder: &Path,
        limit: u64,
        queue_manager: Option<&str>,
        console: Console,
    ) -> ErrorLog {
        let files = Files {
            folder: folder.to_owned(),
            limit,
            console,
            writer: Writer {
                user: user_name(),
                program: program(),
                host: host(),
                queue_manager: queue_manager.map(str::to_owned),
            },
            syslog: PathBuf::from(syslog::SOCKET),
            state: Mutex::new(State {
                file: None,
                bytes: 0,
                reserve: Reserve::default(),
                failure_reported: false,
            }),
        };
        ErrorLog {
            files: Arc::new(files),
            notes: Arc::new(Notes::new()),
            thread: Mutex::new(None),
        }
    }

    /// Writes an entry, from the place that calls this.
    #[track_caller]
    pub fn write(&self, id: &str, inserts: &[String]) {
        self.write_from(id, inserts, Location::caller());
    }

    fn write_from(&self, id: &str, inserts: &[String], from: &Location<'_>) {
        if self.files.console == Console::Stderr {
            say(&short(&now(), id, inserts));
        }
        self.file_from(id, inserts, from);
    }

    /// Leaves an entry to the log's own thread; false if there is none.
    fn note(&self, id: &'static str, inserts: &[String], from: &'static Location<'static>) -> bool {
        let mut thread = self.thread.lock();
        if thread.is_none() {
            let (files, notes) = (Arc::clone(&self.files), Arc::clone(&self.notes));
            let started = posthaste_env::spawn("error log", move || files.write_notes(&notes));
            *thread = started.ok();
        }
        let started = thread.is_some();
        drop(thread);
        if started {
            self.notes.push(id, inserts, from);
        }
        started
    }

    /// Writes an entry to the files only: of what is told otherwise anyway.
    #[track_caller]
    pub fn file(&self, id: &str, inserts: &[String]) {
        self.file_from(id, inserts, Location::caller());
    }

    /// Writes an entry as [`ErrorLog::file`] does, and what was only counted: the process is about to break off.
    #[track_caller]
    pub(crate) fn file_last(&self, id: &str, inserts: &[String]) {
        self.file(id, inserts);
        let mut state = self.files.state.lock();
        for summary in self.notes.last_words() {
            self.files.write_summary(&mut state, &summary);
        }
    }

    fn file_from(&self, id: &str, inserts: &[String], from: &Location<'_>) {
        let mut state = self.files.state.lock();
        self.files.write_noted(&mut state, &self.notes);
        self.files.write(&mut state, &now(), id, inserts, from);
    }
}

impl Drop for ErrorLog {
    fn drop(&mut self) {
        self.notes.end();
        if let Some(thread) = self.thread.get_mut().take() {
            // A panic of the thread was reported; what it left is written here.
            let _ = thread.join();
            self.files
                .write_noted(&mut self.files.state.lock(), &self.notes);
        }
    }
}

impl Files {
    /// The log's own thread.
    fn write_notes(&self, notes: &Notes) {
        loop {
            let (summaries, last) = match notes.wait() {
                Work::Write(summaries) => (summaries, false),
                Work::End(summaries) => (summaries, true),
            };
            let mut state = self.state.lock();
            self.write_noted(&mut state, notes);
            for summary in summaries {
                self.write_summary(&mut state, &summary);
            }
            if last {
                return;
            }
        }
    }

    fn write_noted(&self, state: &mut State, notes: &Notes) {
        for note in notes.take() {
            if self.console == Console::Stderr {
                say(&short(&note.at, note.id, &note.inserts));
            }
            self.write(state, &note.at, note.id, &note.inserts, note.from);
        }
    }

    fn write_summary(&self, state: &mut State, summary: &Summary) {
        let (now, id) = (now(), "AMQ2053W");
        let inserts = [
            summary.count.to_string(),
            summary.seconds.to_string(),
            summary.key.to_owned(),
            messages::format(summary.key, &summary.last),
        ];
        if self.console == Console::Stderr {
            say(&short(&now, id, &inserts));
        }
        self.write(state, &now, id, &inserts, Location::caller());
    }

    fn write(
        &self,
        state: &mut State,
        at: &Zoned,
        id: &str,
        inserts: &[String],
        from: &Location<'_>,
    ) {
        let from = place(from.file(), from.line());
        let entry = entry(at, &self.writer, id, inserts, &from);
        match self.append(state, entry.as_bytes()) {
            Ok(()) => state.failure_reported = false,
            Err(error) => self.fall_back(state, &error, id, inserts),
        }
    }

    fn append(&self, state: &mut State, entry: &[u8]) -> io::Result<()> {
        if (state.file.as_ref()).is_some_and(|file| !self.is_named(file))
            && let Some(moved) = state.file.take()
        {
            state.reserve.give_back(&moved, state.bytes);
        }
        if state.file.is_none() {
            crate::layout::make_private_folder(&self.folder)?;
            let file = self.open()?;
            state.bytes = file.metadata()?.len();
            state.reserve = Reserve::default();
            state.file = Some(file);
        }
        if state.bytes > 0 && state.bytes + entry.len() as u64 > self.limit {
            if let Some(file) = state.file.take() {
                state.reserve.give_back(&file, state.bytes);
            }
            self.rotate()?;
            state.file = Some(self.open()?);
            state.bytes = 0;
        }
        if let Some(file) = &mut state.file {
            let written = file.write_all(entry);
            // Part of it may be there; the length decides when to rotate.
            state.bytes = file.metadata().map_or(state.bytes, |found| found.len());
            state.reserve.keep(file, state.bytes);
            written?;
        }
        Ok(())
    }

    fn open(&self) -> io::Result<File> {
        OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(self.path(1))
    }

    /// Whether this is the file of that name still: somebody may have moved or removed it.
    fn is_named(&self, file: &File) -> bool {
        let place = |found: fs::Metadata| (found.dev(), found.ino());
        match (file.metadata(), fs::metadata(self.path(1))) {
            (Ok(is), Ok(named)) => place(is) == place(named),
            (_, Err(error)) => error.kind() != io::ErrorKind::NotFound,
            (Err(_), Ok(_)) => true,
        }
    }

    fn path(&self, number: u8) -> PathBuf {
        self.folder.join(format!("AMQERR{number:02}.LOG"))
    }

    fn rotate(&self) -> io::Result<()> {
        for (from, to) in [(2, 3), (1, 2)] {
            match fs::rename(self.path(from), self.path(to)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    fn fall_back(&self, state: &mut State, error: &io::Error, id: &str, inserts: &[String]) {
        // The next message opens the file anew: the disk may have room by then.
        state.file = None;
        let now = now();
        let name = self.writer.queue_manager.as_deref();
        if !state.failure_reported {
            state.failure_reported = true;
            let inserts = [self.path(1).display().to_string(), error.to_string()];
            say(&short(&now, "AMQ6245E", &inserts));
            syslog::send(&self.syslog, &now, name, "AMQ6245E", &inserts);
        }
        syslog::send(&self.syslog, &now, name, id, inserts);
        if self.console == Console::Silent {
            say(&short(&now, id, inserts));
        }
    }
}

impl Operator for ErrorLog {
    fn record(&self, id: &'static str, inserts: &[String], from: &'static Location<'static>) {
        let later =
            id.starts_with("AMQ9") || COUNTED.contains(&id) || serves_many() && !id.ends_with('S');
        if !(later && self.note(id, inserts, from)) {
            self.write_from(id, inserts, from);
        }
    }
}

/// Now, in the time zone of the system (`TZ`, or `/etc/localtime`).
fn now() -> Zoned {
    Timestamp::now().to_zoned(TimeZone::system())
}

/// One line on standard error. `eprintln!` would panic if nobody reads it any more.
fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// A message in one line.
fn short(now: &Zoned, id: &str, inserts: &[String]) -> String {
    let text = messages::format(id, inserts);
    format!("{} {id}: {text}", now.strftime("%H:%M:%S"))
}

/// A place in the source, as short as it is still unique: `engine/maintain.rs : 119`.
fn place(file: &str, line: u32) -> String {
    let from_crates = file.rfind("crates/").map_or(0, |at| at + "crates/".len());
    let short = file.get(from_crates..).unwrap_or(file);
    format!("{} : {line}", short.replacen("/src/", "/", 1))
}

/// The inserts as the head shows them: leading numbers as ArithInsert, the rest as CommentInsert.
fn insert_lines(inserts: &[String], out: &mut String) {
    let is_number = |insert: &&String| insert.parse::<i64>().is_ok();
    let numbers = inserts
        .iter()
        .take(ARITHMETIC)
        .take_while(is_number)
        .count();
    for (at, insert) in inserts.iter().enumerate() {
        let (name, at) = match at < numbers {
            true => ("ArithInsert", at + 1),
            false => ("CommentInsert", at - numbers + 1),
        };
        let shown = printable(insert);
        // Writing to a String does not fail.
        let _ = writeln!(out, "{INDENT}{name}{at}({shown})");
    }
}

/// A whole entry: with local time in its first line, and universal time in `Time()`.
fn entry(now: &Zoned, writer: &Writer, id: &str, inserts: &[String], from: &str) -> String {
    let (process, thread) = (std::process::id(), rustix::thread::gettid().as_raw_pid());
    let Writer {
        user,
        program,
        host,
        queue_manager,
    } = writer;
    let mut out = String::with_capacity(1024);
    // Writing to a String does not fail.
    let _ = writeln!(
        out,
        "{} - Process({process}.{thread}) User({user}) Program({program})",
        now.strftime("%d/%m/%y %H:%M:%S")
    );
    let _ = writeln!(out, "{INDENT}Host({host}) Installation(Installation1)");
    let _ = match queue_manager {
        Some(name) => writeln!(out, "{INDENT}VRMF({VRMF}) QMgr({name})"),
        None => writeln!(out, "{INDENT}VRMF({VRMF})"),
    };
    let _ = writeln!(out, "{INDENT}Time({:.3})", now.timestamp());
    insert_lines(inserts, &mut out);
    let text = messages::format(id, inserts);
    let (why, what) = match messages::find(id) {
        Some(message) => (message.explain(inserts), message.advise(inserts)),
        None => ("None.".to_owned(), "None.".to_owned()),
    };
    let _ = writeln!(
        out,
        "\n{id}: {text}\n\nEXPLANATION:\n{why}\nACTION:\n{what}"
    );
    let rule = format!("----- {from} ");
    let _ = writeln!(out, "{rule:-<RULE$}");
    out
}

/// The user this process runs as: by name where the system knows one, otherwise by number. What the
/// environment says is not asked, for anybody can set it.
pub fn user_name() -> String {
    let number = rustix::process::geteuid().as_raw();
    posthaste_authentication::user_name(number).unwrap_or_else(|| number.to_string())
}

/// The name of the program that runs.
pub(crate) fn program() -> String {
    let path = std::env::args_os().next().map(PathBuf::from);
    let name = path.as_deref().and_then(Path::file_name);
    name.map_or_else(
        || "posthaste".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}

/// The name of the machine.
pub(crate) fn host() -> String {
    let system = rustix::system::uname();
    system.nodename().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writer() -> Writer {
        Writer {
            user: "mqm".to_owned(),
            program: "amqzmuf0".to_owned(),
            host: "host1".to_owned(),
            queue_manager: Some("PERF0".to_owned()),
        }
    }

    fn texts(inserts: &[&str]) -> Vec<String> {
        inserts.iter().map(|&insert| insert.to_owned()).collect()
    }

    /// AMQ6245E names the file: it named the folder too, in a message of its own.
    #[test]
    fn why_it_cannot_be_written_is_said_without_its_path() {
        let folder = tempfile::tempdir().unwrap();
        let errors = folder.path().join("errors");
        fs::write(&errors, "no folder").unwrap();
        let log = ErrorLog::new(&errors, 1 << 20, None, Console::Silent);
        let mut state = log.files.state.lock();
        let error = log.files.append(&mut state, b"x").unwrap_err();
        assert!(!error.to_string().contains("errors"), "{error}");
    }

    #[test]
    fn an_entry_has_the_known_layout() {
        let now: Zoned = "2024-08-14T17:25:58.791+01:00[+01:00]".parse().unwrap();
        let from = "env/disk.rs : 119";
        let inserts = texts(&["4096", "W", "7000", "10126"]);
        let entry = entry(&now, &writer(), "AMQ6729W", &inserts, from);
        let (pid, tid) = (std::process::id(), rustix::thread::gettid().as_raw_pid());
        let expected = format!(
            "14/08/24 17:25:58 - Process({pid}.{tid}) User(mqm) Program(amqzmuf0)
                    Host(host1) Installation(Installation1)
                    VRMF(9.4.0.0) QMgr(PERF0)
                    Time(2024-08-14T16:25:58.791Z)
                    ArithInsert1(4096)
                    CommentInsert1(W)
                    CommentInsert2(7000)
                    CommentInsert3(10126)

AMQ6729W: An I/O operation (W) of 4096 bytes took 10126 microseconds; the limit is 7000.

EXPLANATION:
A read (R) or write (W) of the recovery log took longer than the environment variable AMQ_IODELAY allows. At most one message about reads and one about writes are written each second.
ACTION:
Compare with what the disk does on a normal day, and look at what else was using it.
----- env/disk.rs : 119 --------------------------------------------------------
"
        );
        assert_eq!(entry, expected);
    }

    #[test]
    fn a_place_in_the_source_is_short() {
        for (file, expected) in [
            ("crates/engine/src/maintain.rs", "engine/maintain.rs : 9"),
            ("/elsewhere/crates/net/src/a/b.rs", "net/a/b.rs : 9"),
            ("src/main.rs", "src/main.rs : 9"),
        ] {
            assert_eq!(place(file, 9), expected);
        }
        let folder = tempfile::tempdir().unwrap();
        let log = Arc::new(ErrorLog::new(folder.path(), 1 << 20, None, Console::Silent));
        let operator: Arc<dyn Operator> = log.clone();
        let lines = [line!() + 1, line!() + 2];
        log.write("AMQ2402E", &["directly".to_owned()]);
        operator.message("AMQ2402E", &["by the trait".to_owned()]);
        let text = fs::read_to_string(log.files.path(1)).unwrap();
        for line in lines {
            let rule = format!("\n----- server/error_log.rs : {line} -----");
            assert!(text.contains(&rule), "{rule}: {text}");
        }
    }

    #[test]
    fn whoever_runs_this_has_the_name_that_the_system_knows() {
        let id = std::process::Command::new("id").arg("-un").output();
        let name = id.map(|id| String::from_utf8_lossy(&id.stdout).into_owned());
        assert_eq!(user_name(), name.unwrap().trim_end());
    }

    #[test]
    fn inserts_are_numbers_first_then_text() {
        for (inserts, expected) in [
            (&[][..], ""),
            (&["a"][..], "CommentInsert1(a)"),
            (
                &["1", "2", "3"][..],
                "ArithInsert1(1) ArithInsert2(2) CommentInsert1(3)",
            ),
            (&["a", "1"][..], "CommentInsert1(a) CommentInsert2(1)"),
            (&["-1", "x\ny"][..], "ArithInsert1(-1) CommentInsert1(x.y)"),
            // Readers of logs split lines at these, too, and terminals show others in another order.
            (
                &["a\u{9b}b\u{85}c\u{2028}d\u{2029}e\u{202e}f\u{2066}g\u{200f}h"][..],
                "CommentInsert1(a.b.c.d.e.f.g.h)",
            ),
        ] {
            let mut out = String::new();
            insert_lines(&texts(inserts), &mut out);
            let shown: Vec<&str> = out.split_whitespace().collect();
            assert_eq!(shown.join(" "), expected);
        }
    }

    #[test]
    fn files_rotate_and_no_entry_is_split() {
        let folder = tempfile::tempdir().unwrap();
        let log = ErrorLog::new(folder.path(), 4_000, Some("QM1"), Console::Silent);
        for number in 0..40 {
            log.write("AMQ2402E", &[format!("number {number}")]);
        }
        let names = |folder: &Path| {
            let mut names: Vec<String> = fs::read_dir(folder)
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        };
        assert_eq!(
            names(folder.path()),
            ["AMQERR01.LOG", "AMQERR02.LOG", "AMQERR03.LOG"]
        );
        let mut seen = Vec::new();
        for number in [3, 2, 1] {
            let text = fs::read_to_string(log.files.path(number)).unwrap();
            assert!(text.len() <= 4_000, "{}", text.len());
            assert!(text.ends_with("-\n"));
            seen.extend(text.lines().filter_map(|line| {
                let number = line.strip_prefix("AMQ2402E: number ")?;
                number.trim_end_matches('.').parse::<u32>().ok()
            }));
        }
        let first = seen[0];
        assert!(first > 0, "the oldest are gone");
        assert_eq!(
            seen,
            (first..40).collect::<Vec<_>>(),
            "the newest are all there"
        );
    }

    /// Somebody has the files for as long as a disk takes: a thread that serves many says what it has to, and goes on.
    #[test]
    fn a_thread_that_serves_many_does_not_wait_for_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let log = ErrorLog::new(folder.path(), 1 << 20, None, Console::Silent);
        let (path, operator): (_, &dyn Operator) = (log.files.path(1), &log);
        let turns = posthaste_env::Turns::new();
        let writing = log.files.state.lock();
        operator.message("AMQ2034I", &texts(&["1"]));
        drop((writing, turns));
        drop(log);
        let text = fs::read_to_string(path).unwrap();
        assert_eq!(text.matches("\nAMQ2034I: ").count(), 1, "{text}");
    }

    /// More garbage than once erased everything: the entries about it were ten times what the three files hold.
    #[test]
    fn a_flood_of_strangers_does_not_erase_the_history() {
        let folder = tempfile::tempdir().unwrap();
        let log = Arc::new(ErrorLog::new(
            folder.path(),
            100_000,
            Some("QM1"),
            Console::Silent,
        ));
        log.write("AMQ8003I", &["QM1".to_owned()]);
        let operator: Arc<dyn Operator> = log.clone();
        for number in 0..5_000 {
            operator.message("AMQ9207E", &texts(&[&format!("host {number}"), "?"]));
        }
        log.write("AMQ8004I", &["QM1".to_owned()]);
        let so_far = fs::read_to_string(log.files.path(1)).unwrap();
        let before = so_far.find("from host host 19 on channel").unwrap();
        let after = so_far.find("AMQ8004I: ").unwrap();
        assert!(
            before < after,
            "what is written at once comes behind the notes"
        );
        drop((operator, log));
        assert!(!folder.path().join("AMQERR02.LOG").exists());
        let text = fs::read_to_string(folder.path().join("AMQERR01.LOG")).unwrap();
        assert!(text.contains("AMQ8003I: "));
        assert_eq!(text.matches("\nAMQ9207E: ").count(), 20);
        let summary = "AMQ2053W: 4980 messages AMQ9207E were counted in";
        assert!(text.contains(summary), "{text}");
        assert!(text.contains("host 4999"), "the last one is told");
    }

    /// An event queue that is full, and got from slowly: each get makes room for one message, and the next finds none.
    #[test]
    fn event_messages_that_are_missing_again_and_again_do_not_erase_the_history() {
        let folder = tempfile::tempdir().unwrap();
        let log = ErrorLog::new(folder.path(), 100_000, Some("QM1"), Console::Silent);
        let operator: &dyn Operator = &log;
        let queue = "SYSTEM.ADMIN.QMGR.EVENT";
        for _ in 0..500 {
            operator.message("AMQ2803W", &texts(&[queue, "MQRC_Q_FULL [2053]"]));
            operator.message("AMQ2804W", &texts(&[queue, "1"]));
        }
        drop(log);
        let text = fs::read_to_string(folder.path().join("AMQERR01.LOG")).unwrap();
        for id in ["AMQ2803W", "AMQ2804W"] {
            assert_eq!(text.matches(&format!("\n{id}: ")).count(), 20, "{text}");
            let summary = format!("AMQ2053W: 480 messages {id} were counted in");
            assert!(text.contains(&summary), "{text}");
        }
    }

    #[test]
    fn a_second_writer_goes_on_where_the_first_left_off() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..2 {
            let log = ErrorLog::new(folder.path(), 1 << 20, None, Console::Silent);
            log.write("AMQ2402E", &[format!("run {number}")]);
        }
        let text = fs::read_to_string(folder.path().join("AMQERR01.LOG")).unwrap();
        assert!(text.contains("run 0") && text.contains("run 1"));
        assert!(!text.contains("QMgr("));
    }

    /// As where a queue manager that has ended says so while its successor says that it has started.
    #[test]
    fn what_another_process_has_written_stays_when_a_file_is_put_aside() {
        let folder = tempfile::tempdir().unwrap();
        let logs =
            [(); 2].map(|()| ErrorLog::new(folder.path(), 4_000, Some("QM1"), Console::Silent));
        let write = |log: &ErrorLog, what: &str| log.write("AMQ2402E", &[what.to_owned()]);
        let [one, other] = &logs;
        write(one, "first");
        write(other, "by another process");
        write(one, &"too long ".repeat(500));
        let aside = fs::read_to_string(one.files.path(2)).unwrap();
        assert!(aside.contains("by another process"));
    }

    #[test]
    fn a_file_that_is_moved_or_removed_is_followed_by_a_new_one() {
        let folder = tempfile::tempdir().unwrap();
        let errors = folder.path().join("errors");
        let log = ErrorLog::new(&errors, 1 << 20, Some("QM1"), Console::Silent);
        let write = |number: usize| log.write("AMQ2402E", &[format!("entry {number}")]);
        let text = |file: &Path| fs::read_to_string(file).unwrap();
        let (named, moved) = (log.files.path(1), folder.path().join("moved"));
        write(1);
        fs::rename(&named, &moved).unwrap();
        write(2);
        assert!(text(&moved).contains("entry 1") && !text(&moved).contains("entry 2"));
        fs::remove_file(&named).unwrap();
        write(3);
        assert!(text(&named).contains("entry 3") && !text(&named).contains("entry 2"));
        fs::remove_dir_all(&errors).unwrap();
        write(4);
        write(5);
        assert!(text(&named).contains("entry 4") && text(&named).contains("entry 5"));
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_survived() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("errors"), "not a folder").unwrap();
        let log = ErrorLog::new(
            &folder.path().join("errors"),
            4_000,
            Some("QM1"),
            Console::Silent,
        );
        log.write("AMQ8003I", &["QM1".to_owned()]);
        assert!(log.files.state.lock().failure_reported);
        fs::remove_file(folder.path().join("errors")).unwrap();
        log.write("AMQ8004I", &["QM1".to_owned()]);
        assert!(
            !log.files.state.lock().failure_reported,
            "it goes on when the cause is gone"
        );
        let text = fs::read_to_string(folder.path().join("errors/AMQERR01.LOG")).unwrap();
        assert!(text.contains("AMQ8004I: Queue manager QM1 ended."));
    }

    #[test]
    fn what_a_full_disk_does_not_take_goes_to_the_system_s_log() {
        let folder = tempfile::tempdir().unwrap();
        let errors = folder.path().join("errors");
        fs::create_dir(&errors).unwrap();
        // The device that has no room, in the place of the file.
        std::os::unix::fs::symlink("/dev/full", errors.join("AMQERR01.LOG")).unwrap();
        let mut log = ErrorLog::new(&errors, 4_000, Some("QM1"), Console::Silent);
        let files = Arc::get_mut(&mut log.files).unwrap();
        files.syslog = folder.path().join("log");
        let system = std::os::unix::net::UnixDatagram::bind(&log.files.syslog).unwrap();
        log.write("AMQ8003I", &["QM1".to_owned()]);
        log.write("AMQ8004I", &["QM1".to_owned()]);
        assert!(log.files.state.lock().failure_reported);
        let last_line = || {
            let mut line = [0; 1_024];
            let length = system.recv(&mut line).unwrap();
            String::from_utf8_lossy(&line[..length]).into_owned()
        };
        let first = last_line();
        assert!(first.starts_with("<27>") && first.contains("AMQ6245E"));
        assert!(last_line().ends_with("]: QM1: AMQ8003I: Queue manager QM1 started."));
        assert!(last_line().ends_with("]: QM1: AMQ8004I: Queue manager QM1 ended."));
    }

    #[test]
    fn room_is_kept_behind_the_file_and_not_behind_older_ones() {
        use std::os::unix::fs::MetadataExt as _;
        let folder = tempfile::tempdir().unwrap();
        let log = ErrorLog::new(folder.path(), 4_000, Some("QM1"), Console::Silent);
        let allocated = |number| {
            let found = fs::metadata(log.files.path(number)).unwrap();
            (found.len(), found.blocks() * 512)
        };
        log.write("AMQ8003I", &["QM1".to_owned()]);
        let (length, room) = allocated(1);
        assert!(length < 4_000 && room > 128 * 1024, "{length} {room}");
        while !log.files.path(2).exists() {
            log.write("AMQ8003I", &["QM1".to_owned()]);
        }
        let (length, room) = allocated(2);
        assert!(room < length + 64 * 1024, "{length} {room}");
        assert!(allocated(1).1 > 128 * 1024);
    }
}
