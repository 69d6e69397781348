//! The audit log: who did what, from where, and what came of it, as lines of JSON.
//!
//! Invariants:
//! * Whoever causes an event waits for no disk: it takes one short lock. A thread of the log's own writes.
//! * No event is dropped without a word. What strangers cause again and again is counted by source ([`Repeats`]), what the
//!   files do not take, or finds no room in memory, is counted and reported (AMQ2801E, AMQ2802W, and a line `lost`).
//! * Memory is bounded, whoever floods. A log that cannot be written ends nothing.

mod files;
mod line;
mod reporter;

pub(crate) use reporter::Reporter;

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use parking_lot::{Condvar, Mutex};
use posthaste_engine::{Application, AuditEvent, AuditKind, Backlog, Operator};
use posthaste_env::{Thread, site};
use posthaste_mqi::Reason;

use crate::error_log::{Console, ErrorLog, program, user_name};
use crate::ini::{AuditSettings, Settings};
use crate::layout::Home;
use crate::repeats::{Repeats, Summary};
use files::Files;

/// Sources that are counted apart.
const MOST_SOURCES: usize = 1_024;

/// An event, and when it was.
type Dated = (Timestamp, AuditEvent);

/// Whose repetitions are counted together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Source {
    kind: AuditKind,
    /// The site of the address, and the user; none: anybody, because there are too many sources.
    from: Option<(String, String)>,
}

/// What an address counts by; what is none, this machine's own name for itself, as it is.
fn site_of(conname: &str) -> String {
    match conname.parse() {
        Ok(address) => site(address).to_string(),
        Err(_) => conname.to_owned(),
    }
}

impl Source {
    fn of(event: &AuditEvent) -> Source {
        let who = &event.who;
        // By the user of a refused connection anybody could be as many sources as he likes.
        let user = match event.kind {
            AuditKind::NotAuthorized | AuditKind::BranchDecided => who.user.clone(),
            _ => String::new(),
        };
        Source {
            kind: event.kind,
            from: Some((site_of(&who.conname), user)),
        }
    }
}

#[derive(Default)]
struct Waiting {
    backlog: Backlog<Dated>,
    ended: bool,
}

/// Events between those who cause them and the writer.
#[derive(Default)]
struct Inbox {
    waiting: Mutex<Waiting>,
    wake: Condvar,
}

/// An audit log that is written.
pub(crate) struct AuditLog {
    inbox: Arc<Inbox>,
    thread: Mutex<Option<Thread>>,
}

impl AuditLog {
    /// Begins to write the audit log of a queue manager in `folder`; `log` is given what goes wrong.
    ///
    /// # Errors
    /// The system gives no thread.
    pub(crate) fn start(
        folder: &Path,
        queue_manager: &str,
        settings: &AuditSettings,
        log: &Arc<ErrorLog>,
    ) -> std::io::Result<AuditLog> {
        let inbox = Arc::new(Inbox::default());
        let writer = Writer::new(folder, queue_manager, settings, log);
        let of_thread = Arc::clone(&inbox);
        let thread = posthaste_env::spawn("audit log", move || writer.run(&of_thread))?;
        Ok(AuditLog {
            inbox,
            thread: Mutex::new(Some(thread)),
        })
    }

    /// Takes an event.
    pub(crate) fn push(&self, event: AuditEvent) {
        let at = Timestamp::now();
        let mut waiting = self.inbox.waiting.lock();
        waiting.backlog.push(event.command.len(), (at, event));
        drop(waiting);
        self.inbox.wake.notify_one();
    }

    /// Writes what waits; nothing is taken any more.
    pub(crate) fn end(&self) {
        self.inbox.waiting.lock().ended = true;
        self.inbox.wake.notify_one();
        if let Some(thread) = self.thread.lock().take() {
            // A panic of the thread was reported.
            let _ = thread.join();
        }
    }
}

impl Drop for AuditLog {
    fn drop(&mut self) {
        self.end();
    }
}

/// Writes that somebody has changed a queue manager's own users by `command`, or why he could not: from a process of his own,
/// whether the queue manager runs or not. What cannot be written is told on standard error and in the error log.
pub fn users_changed(
    home: &Home,
    settings: &Settings,
    command: &str,
    user: &str,
    failed: Option<&str>,
) {
    if !settings.audit.enabled {
        return;
    }
    let reason = match failed {
        None => Reason::NONE,
        Some(_) => Reason::UNEXPECTED_ERROR,
    };
    let event = AuditEvent {
        who: Application {
            name: program(),
            user: user_name(),
            pid: std::process::id(),
            ..Application::default()
        },
        command: format!("users {command} {user}"),
        object: user.to_owned(),
        because: failed.unwrap_or_default().to_owned(),
        ..AuditEvent::new(AuditKind::UsersChanged, reason)
    };
    let AuditSettings {
        file_bytes, files, ..
    } = settings.audit;
    let mut files = Files::new(&home.errors(), file_bytes, files);
    let line = line::of(&home.name, Timestamp::now(), &event, 0);
    let written = line.map_err(std::io::Error::from);
    if let Err(error) = written.and_then(|line| files.append(&line)) {
        let (size, console) = (settings.error_log_bytes, Console::Stderr);
        let log = ErrorLog::new(&home.errors(), size, Some(&home.name), console);
        let path = files.path(1).display().to_string();
        log.write("AMQ2801E", &[path, error.to_string()]);
    }
}

/// The thread that writes.
struct Writer {
    queue_manager: String,
    files: Files,
    log: Arc<ErrorLog>,
    began: Instant,
    repeats: Repeats<Source, Dated>,
    /// Events that are in no file, and of which no line tells yet.
    lost: u64,
    failure_reported: bool,
}

impl Writer {
    fn new(
        folder: &Path,
        queue_manager: &str,
        settings: &AuditSettings,
        log: &Arc<ErrorLog>,
    ) -> Writer {
        Writer {
            queue_manager: queue_manager.to_owned(),
            files: Files::new(folder, settings.file_bytes, settings.files),
            log: Arc::clone(log),
            began: Instant::now(),
            repeats: Repeats::default(),
            lost: 0,
            failure_reported: false,
        }
    }

    fn run(mut self, inbox: &Inbox) {
        loop {
            let (events, overrun, ended) = self.wait(inbox);
            self.lost += overrun;
            for event in events {
                self.take(event);
            }
            let now = self.began.elapsed();
            let summaries = match ended {
                true => self.repeats.all(now),
                false => self.repeats.due(now),
            };
            for summary in summaries {
                self.sum_up(summary);
            }
            self.tell_of_loss();
            if ended {
                return self.last_words();
            }
        }
    }

    /// Waits until there is something to do.
    fn wait(&self, inbox: &Inbox) -> (VecDeque<Dated>, u64, bool) {
        let mut waiting = inbox.waiting.lock();
        loop {
            let due = self.repeats.next();
            let is_due = due.is_some_and(|at| at <= self.began.elapsed());
            if !waiting.backlog.is_empty() || is_due || waiting.ended {
                let (events, overrun) = waiting.backlog.take();
                return (events, overrun, waiting.ended);
            }
            match due {
                Some(at) => {
                    let at_most = at.saturating_sub(self.began.elapsed());
                    inbox.wake.wait_for(&mut waiting, at_most);
                }
                None => inbox.wake.wait(&mut waiting),
            }
        }
    }

    /// Writes an event, or counts it.
    fn take(&mut self, event: Dated) {
        if event.1.is_repeatable() && !self.is_to_be_written(&event) {
            return;
        }
        self.write(&event, 0);
    }

    fn is_to_be_written(&mut self, event: &Dated) -> bool {
        let now: Duration = self.began.elapsed();
        let mut source = Source::of(&event.1);
        if !self.repeats.has_room(&source, MOST_SOURCES, now) {
            source.from = None;
        }
        self.repeats.admit(&source, event, now)
    }

    /// The last of those that were counted, for all of them: it is one, and the others are its repetitions.
    fn sum_up(&mut self, summary: Summary<Source, Dated>) {
        let Summary {
            key, count, last, ..
        } = summary;
        let (at, mut event) = last;
        if key.from.is_none() {
            event.because = "many sources".to_owned();
        }
        self.write(&(at, event), count);
    }

    fn write(&mut self, (at, event): &Dated, repeated: u64) {
        let line = line::of(&self.queue_manager, *at, event, repeated);
        let written = line
            .map_err(std::io::Error::from)
            .and_then(|line| self.files.append(&line));
        match written {
            Ok(()) => self.failure_reported = false,
            Err(error) => {
                self.lost += repeated.max(1);
                if !self.failure_reported {
                    self.failure_reported = true;
                    let path = self.files.path(1).display().to_string();
                    self.tell("AMQ2801E", &[path, error.to_string()]);
                }
            }
        }
    }

    /// Tells in the log itself, and in the error log, how many events are missing, once it can be written again.
    fn tell_of_loss(&mut self) {
        if self.lost == 0 || self.failure_reported {
            return;
        }
        let lost = std::mem::take(&mut self.lost);
        let event = AuditEvent {
            message: "AMQ2802W",
            ..AuditEvent::new(AuditKind::Lost, Reason::NONE)
        };
        self.write(&(Timestamp::now(), event), lost);
        match self.failure_reported {
            // The line of the loss is missing too, and has counted what it stood for.
            true => {}
            false => self.report_lost(lost),
        }
    }

    /// The log ends, and still cannot be written.
    fn last_words(self) {
        if self.lost > 0 {
            self.report_lost(self.lost);
        }
    }

    /// Counted when it comes again and again.
    fn tell(&self, id: &'static str, inserts: &[String]) {
        let operator: &dyn Operator = &*self.log;
        operator.message(id, inserts);
    }

    fn report_lost(&self, lost: u64) {
        let path = self.files.path(1).display().to_string();
        self.tell("AMQ2802W", &[path, lost.to_string()]);
    }
}

#[cfg(test)]
mod tests;
