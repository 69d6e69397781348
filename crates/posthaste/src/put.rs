//! `put`: lines, files or generated data to messages.
//!
//! Invariant: what is reported as put is what the queue manager has accepted, and with units of work,
//! what it has committed. What was sent with `--async` counts when MQSTAT has confirmed it.

use std::io::{BufRead, BufReader, IsTerminal, Read};
use std::path::Path;

use posthaste_client::{ClientError, Connection};
use posthaste_mqi::constants::{
    MQFMT_NONE, MQFMT_STRING, MQMT_REQUEST, MQOO_FAIL_IF_QUIESCING, MQOO_OUTPUT,
    MQPER_NOT_PERSISTENT, MQPER_PERSISTENCE_AS_Q_DEF, MQPER_PERSISTENT, MQPMO_ASYNC_RESPONSE,
    MQPMO_FAIL_IF_QUIESCING, MQPMO_NEW_MSG_ID, MQPMO_NO_SYNCPOINT, MQPMO_SYNC_RESPONSE,
    MQPMO_SYNCPOINT,
};
use posthaste_mqi::{Chars, Hobj, Md, Name, Pmo, Reason, hex};
use posthaste_server::{Exit, Failure, Interrupt};

use crate::cli;
use crate::connect::{Attached, Target, call_failed};
use crate::input::{Input, interrupt};
use crate::output::{Out, Progress, complain, counted, stream_failure};
use crate::too_long::Limits;
use crate::{queue, topic};

/// The character set of text: UTF-8.
const CCSID: i32 = 1208;
/// Tenths of a second, in which MQ counts expiry.
const TENTHS: i32 = 10;
/// After so many asynchronous puts MQSTAT is asked what became of them.
const ASK_EVERY: u64 = 5_000;
/// The longest message that a channel carries.
const LONGEST: usize = 104_857_600;

pub(crate) fn put(place: Option<&Path>, args: &cli::Put) -> Result<Exit, Failure> {
    let to = Destination {
        name: &args.queue,
        topic: false,
        reply_to: args.reply_to.as_deref(),
        reply_to_qm: args.reply_to_qm.as_deref(),
        options: 0,
    };
    send(place, "posthaste put", to, &args.sending)
}

/// Where messages go.
pub(crate) struct Destination<'a> {
    /// The queue, or the topic string.
    pub(crate) name: &'a str,
    pub(crate) topic: bool,
    pub(crate) reply_to: Option<&'a str>,
    pub(crate) reply_to_qm: Option<&'a str>,
    /// More MQPMO_* options.
    pub(crate) options: i32,
}

impl Destination<'_> {
    fn verb(&self) -> &'static str {
        match self.topic {
            true => "published on",
            false => "put to",
        }
    }
}

/// Puts everything that there is to send.
pub(crate) fn send(
    place: Option<&Path>,
    application: &str,
    to: Destination<'_>,
    args: &cli::Sending,
) -> Result<Exit, Failure> {
    let target = Target {
        place,
        queue_manager: args.queue_manager.as_deref(),
        reach: &args.reach,
        client: false,
        application,
        within: args.reply_timeout.within(),
    };
    let (queue, verb) = (to.name, to.verb());
    let mut putter = Putter::open(&target, to, args)?;
    let done = putter.all();
    putter.progress.clear();
    let committed = putter.put - putter.pending;
    if let Err(failure) = done {
        if putter.pending > 0 {
            // Without a connection the queue manager does it by itself.
            let _ = putter.connection.backout();
        }
        let unknown = putter.unasked;
        let lost = match putter.pending {
            0 if unknown > 0 => format!(
                "; whether {} more that were sent were {} is not known, because MQSTAT could not be asked",
                counted(unknown, "message"),
                verb.split(' ').next().unwrap_or_default()
            ),
            0 => String::new(),
            pending if putter.in_doubt => format!(
                "; whether {} more were put is not known, because the connection broke at the commit",
                counted(pending, "message")
            ),
            pending => format!("; {} backed out", counted(pending, "message")),
        };
        let text = format!("{} {verb} {queue}{lost}.", counted(committed, "message"));
        return Err(failure.with_detail(text));
    }
    putter.out.flush()?;
    let unheard = match putter.unheard {
        0 => String::new(),
        unheard => format!(", {unheard} of them to nobody"),
    };
    let disconnected = putter.connection.disconnect();
    disconnected.map_err(|error| call_failed("MQDISC", queue, &error))?;
    if !args.quiet {
        complain(&format!(
            "{} {verb} {queue}{unheard}.",
            counted(committed, "message")
        ));
    }
    Ok(Exit::Done)
}

struct Putter<'a> {
    connection: Attached,
    queue: Hobj,
    to: Destination<'a>,
    args: &'a cli::Sending,
    interrupt: Interrupt,
    out: Out,
    progress: Progress,
    /// Messages put.
    put: u64,
    /// Those of them that are not committed.
    pending: u64,
    /// Messages sent with `--async` since MQSTAT was asked.
    unasked: u64,
    /// Bytes of the longest message so far.
    longest: usize,
    /// A commit was sent and not answered.
    in_doubt: bool,
    /// Messages that nobody had subscribed to, as far as that was told.
    unheard: u64,
}

impl<'a> Putter<'a> {
    fn open(
        target: &Target<'_>,
        to: Destination<'a>,
        args: &'a cli::Sending,
    ) -> Result<Putter<'a>, Failure> {
        let interrupt = interrupt()?;
        let mut connection = target.connect()?;
        let opened = match to.topic {
            true => topic::open(&mut connection, to.name),
            false => open_output(&mut connection, to.name),
        };
        let queue = opened.map_err(|error| call_failed("MQOPEN", to.name, &error))?;
        let total = match args.files.len() {
            0 => args.count,
            files => Some(files as u64),
        };
        let typed = total.is_none() && std::io::stdin().is_terminal();
        Ok(Putter {
            connection,
            queue,
            to,
            args,
            interrupt,
            out: Out::new(),
            progress: Progress::messages(total, !args.quiet && !typed),
            put: 0,
            pending: 0,
            unasked: 0,
            longest: 0,
            in_doubt: false,
            unheard: 0,
        })
    }

    fn all(&mut self) -> Result<(), Failure> {
        if let Some(count) = self.args.count {
            self.generated(count)?;
        } else if self.args.files.is_empty() {
            self.lines()?;
        }
        for file in &self.args.files {
            self.go_on()?;
            let data = std::fs::read(file).map_err(|error| Failure::io(file, &error))?;
            self.message(&data, MQFMT_NONE)?;
        }
        self.ask()?;
        match self.pending {
            0 => Ok(()),
            _ => self.commit(),
        }
    }

    /// Ctrl-C ends between two messages; whose replies are not awaited are asked for.
    fn go_on(&mut self) -> Result<(), Failure> {
        if !self.interrupt.raised() {
            return Ok(());
        }
        self.ask()?;
        Err(Failure::new(Exit::CallFailed, "AMQ2212E", &["put"]))
    }

    fn generated(&mut self, count: u64) -> Result<(), Failure> {
        for number in 1..=count {
            self.go_on()?;
            let data = generated(number, self.args.size);
            self.message(&data, MQFMT_STRING)?;
        }
        Ok(())
    }

    fn lines(&mut self) -> Result<(), Failure> {
        let mut input = BufReader::new(Input::new(&self.interrupt)?);
        let mut line = Vec::new();
        loop {
            line.clear();
            // A little more than the longest message, so that a longer one is refused, not held.
            let most = LONGEST as u64 + 2;
            let read = input.by_ref().take(most).read_until(b'\n', &mut line);
            let read = read.map_err(|error| stream_failure("standard input", &error))?;
            // Of what was being typed then nothing is put.
            self.go_on()?;
            if read == 0 {
                return Ok(());
            }
            if line.len() > LONGEST {
                let what = format!("a line is longer than {LONGEST} bytes, the longest message");
                return Err(Failure::bad_parameter(what));
            }
            self.message(without_line_end(&line), MQFMT_STRING)?;
        }
    }

    fn message(&mut self, data: &[u8], format: &str) -> Result<(), Failure> {
        let mut md = descriptor(self.args, &self.to, format);
        let sync = match self.args.batch {
            0 => MQPMO_NO_SYNCPOINT,
            _ => MQPMO_SYNCPOINT,
        };
        let new_id = match self.args.msgid {
            Some(_) => 0,
            None => MQPMO_NEW_MSG_ID,
        };
        let response = match self.args.asynchronous {
            true => MQPMO_ASYNC_RESPONSE,
            false => MQPMO_SYNC_RESPONSE,
        };
        let mut pmo = Pmo {
            options: sync | new_id | response | MQPMO_FAIL_IF_QUIESCING | self.to.options,
            ..Pmo::default()
        };
        let put = self.connection.put(self.queue, &mut md, &mut pmo, data);
        self.longest = self.longest.max(data.len());
        let put = put.map_err(|error| self.refused(&error, data.len()))?;
        self.unheard += u64::from(put.warning == Reason::NO_SUBS_MATCHED);
        self.progress.one();
        if self.args.ids {
            self.out.line(&hex(&md.msg_id))?;
        }
        self.count()
    }

    /// MQPUT failed; whose limit a message was too long for is found out.
    fn refused(&mut self, error: &ClientError, length: usize) -> Failure {
        let queue = self.to.name;
        if self.to.topic {
            return call_failed("MQPUT", queue, error);
        }
        let limits = Limits::exceeded(&mut self.connection, queue, error, length);
        limits.map_or_else(
            || call_failed("MQPUT", queue, error),
            |limits| limits.failure(queue),
        )
    }

    /// One more message was put, or sent.
    fn count(&mut self) -> Result<(), Failure> {
        if self.args.asynchronous {
            self.unasked += 1;
            if self.unasked >= ASK_EVERY {
                self.ask()?;
            }
        } else {
            self.accepted(1);
        }
        let batch = self.args.batch;
        if batch > 0 && self.pending + self.unasked >= batch {
            self.ask()?;
            return self.commit();
        }
        Ok(())
    }

    fn accepted(&mut self, messages: u64) {
        self.put += messages;
        if self.args.batch > 0 {
            self.pending += messages;
        }
    }

    /// Asks what became of the messages sent since the last time.
    fn ask(&mut self) -> Result<(), Failure> {
        if self.unasked == 0 {
            return Ok(());
        }
        let stat = self.connection.stat();
        let sts = stat.map_err(|error| call_failed("MQSTAT", self.to.name, &error))?;
        let sts = sts.value;
        let number = |count: i32| u64::try_from(count).unwrap_or(0);
        let failed = number(sts.put_failure_count);
        let sent = std::mem::take(&mut self.unasked);
        self.accepted(number(sts.put_success_count) + number(sts.put_warning_count));
        if failed == 0 {
            return Ok(());
        }
        let error = ClientError::Reason(Reason(sts.reason));
        let text = format!(
            "Of the last {} sent, {failed} could not be put; the first for this reason:",
            counted(sent, "message")
        );
        let longest = self.longest;
        Err(self.refused(&error, longest).with_detail(text))
    }

    fn commit(&mut self) -> Result<(), Failure> {
        if let Err(error) = self.connection.commit() {
            self.in_doubt = error.reason() == Reason::CONNECTION_BROKEN;
            return Err(call_failed("MQCMIT", self.to.name, &error));
        }
        self.pending = 0;
        Ok(())
    }
}

/// Opens a queue for output.
pub(crate) fn open_output(
    connection: &mut Connection,
    queue: &str,
) -> Result<Hobj, posthaste_client::ClientError> {
    queue::open(connection, queue, MQOO_OUTPUT | MQOO_FAIL_IF_QUIESCING)
}

fn descriptor(args: &cli::Sending, to: &Destination<'_>, format: &str) -> Md {
    let defaults = Md::default();
    let persistence = match (args.persistent, args.nonpersistent) {
        (true, _) => MQPER_PERSISTENT,
        (_, true) => MQPER_NOT_PERSISTENT,
        _ => MQPER_PERSISTENCE_AS_Q_DEF,
    };
    Md {
        version: 1,
        msg_type: match to.reply_to {
            Some(_) => MQMT_REQUEST,
            None => defaults.msg_type,
        },
        expiry: args
            .expiry
            .map_or(defaults.expiry, |seconds| seconds.saturating_mul(TENTHS)),
        coded_char_set_id: CCSID,
        format: Chars::new(args.format.as_deref().unwrap_or(format)),
        priority: args.priority.unwrap_or(defaults.priority),
        persistence,
        msg_id: args.msgid.unwrap_or(defaults.msg_id),
        correl_id: args.correlid.unwrap_or(defaults.correl_id),
        reply_to_q: Name::new(to.reply_to.unwrap_or("")),
        reply_to_q_mgr: Name::new(to.reply_to_qm.unwrap_or("")),
        ..defaults
    }
}

fn without_line_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// A generated message: its number, then letters, in the size asked for.
fn generated(number: u64, size: usize) -> Vec<u8> {
    let mut data = format!("message {number} ").into_bytes();
    let letters = (b'a'..=b'z').cycle();
    data.extend(letters.take(size.saturating_sub(data.len())));
    data.truncate(size);
    data
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_messages_have_their_size_and_number() {
        for size in [0, 5, 8, 10, 11, 2048] {
            assert_eq!(generated(7, size).len(), size);
        }
        assert!(generated(42, 30).starts_with(b"message 42 abc"));
        assert_ne!(generated(1, 100), generated(2, 100));
    }

    #[test]
    fn line_ends_are_not_part_of_a_message() {
        for (line, expected) in [
            (&b"a\n"[..], &b"a"[..]),
            (b"a\r\n", b"a"),
            (b"a", b"a"),
            (b"\n", b""),
            (b"a\r\r\n", b"a\r"),
        ] {
            assert_eq!(without_line_end(line), expected);
        }
    }
}
