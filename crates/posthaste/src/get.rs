//! `get`: messages to standard output.
//!
//! Invariant: in syncpoint, a message is committed only after its bytes have been handed to the
//! system; whatever goes wrong before, it is still on the queue. So that others see what happens
//! here, a unit of work is committed before waiting. Ctrl-C, and an MQGET that fails, commit what was written out.

use std::io::IsTerminal;
use std::path::Path;

use posthaste_client::{ClientError, Connection};
use posthaste_mqi::constants::{
    MQGMO_FAIL_IF_QUIESCING, MQGMO_NO_SYNCPOINT, MQGMO_NO_WAIT, MQGMO_SYNCPOINT, MQGMO_WAIT,
    MQMO_MATCH_CORREL_ID, MQMO_MATCH_MSG_ID, MQMO_NONE, MQOO_FAIL_IF_QUIESCING,
    MQOO_INPUT_AS_Q_DEF,
};
use posthaste_mqi::{Gmo, Got, Hobj, Md, Reason, hex};
use posthaste_server::{Exit, Failure, Interrupt};

use crate::cli::{self, Form};
use crate::connect::{Attached, Target, call_failed};
use crate::input::interrupt;
use crate::output::{Out, Progress, complain, counted};
use crate::queue;

/// Milliseconds of one wait: as long as Ctrl-C may take.
const A_LITTLE: i32 = 500;

pub(crate) fn get(place: Option<&Path>, args: &cli::Get) -> Result<Exit, Failure> {
    let from = Wanted {
        from: &args.queue,
        wait: args.wait,
        msgid: args.msgid,
        correlid: args.correlid,
    };
    let how = &args.receiving;
    let connection = connect(place, "posthaste get", how)?;
    receive(connection, "get", from, how, |connection| {
        open_input(connection, &args.queue, how.selector.as_deref())
            .map(Source::from)
            .map_err(|error| call_failed("MQOPEN", &args.queue, &error))
    })
}

/// Which messages, and how long they are waited for.
pub(crate) struct Wanted<'a> {
    /// The queue or topic that they come from.
    pub(crate) from: &'a str,
    /// Milliseconds; negative: for ever.
    pub(crate) wait: i32,
    pub(crate) msgid: Option<cli::Identifier>,
    pub(crate) correlid: Option<cli::Identifier>,
}

/// Where messages are got.
pub(crate) struct Source {
    pub(crate) messages: Hobj,
    /// What is closed in the end, and with which MQCO_* option.
    pub(crate) subscription: Option<(Hobj, i32)>,
}

impl From<Hobj> for Source {
    fn from(messages: Hobj) -> Self {
        Source {
            messages,
            subscription: None,
        }
    }
}

/// Connects, unless what comes could not be written.
pub(crate) fn connect(
    place: Option<&Path>,
    application: &str,
    how: &cli::Receiving,
) -> Result<(Interrupt, Attached), Failure> {
    let target = Target {
        place,
        queue_manager: how.queue_manager.as_deref(),
        reach: &how.reach,
        client: false,
        application,
        within: how.reply_timeout.within(),
    };
    if how.form == Form::Raw && std::io::stdout().is_terminal() {
        return Err(Failure::bad_parameter(
            "raw messages are not written to a terminal, which they could confuse: write to a file, or use --form hex",
        ));
    }
    Ok((interrupt()?, target.connect()?))
}

/// Gets messages from what `open` opens, and disconnects.
pub(crate) fn receive(
    (interrupt, mut connection): (Interrupt, Attached),
    command: &str,
    wanted: Wanted<'_>,
    args: &cli::Receiving,
    open: impl FnOnce(&mut Connection) -> Result<Source, Failure>,
) -> Result<Exit, Failure> {
    let source = open(&mut connection)?;
    let terminal = std::io::stdout().is_terminal();
    let shown = !args.quiet && !terminal;
    let from = wanted.from;
    let mut getter = Getter {
        connection,
        queue: source.messages,
        wanted,
        args,
        interrupt,
        out: Out::new(),
        progress: Progress::messages(args.count, shown),
        got: 0,
        pending: 0,
        terminal,
    };
    let done = getter.all();
    getter.progress.clear();
    let (got, committed) = (getter.got, getter.got - getter.pending);
    if done.is_err() || getter.out.reader_gone() {
        getter.give_back();
    }
    if let Err(failure) = done {
        let text = format!("{} got from {from}.", counted(committed, "message"));
        return Err(failure.with_detail(text));
    }
    if getter.out.reader_gone() {
        return Ok(Exit::Done);
    }
    if let Some((handle, option)) = source.subscription {
        let closed = getter.connection.close(handle, option);
        closed.map_err(|error| call_failed("MQCLOSE", from, &error))?;
    }
    let disconnected = getter.connection.disconnect();
    disconnected.map_err(|error| call_failed("MQDISC", from, &error))?;
    let text = format!("{} got from {from}.", counted(got, "message"));
    if getter.interrupt.raised() {
        return Err(Failure::new(Exit::CallFailed, "AMQ2212E", &[command]).with_detail(text));
    }
    if !args.quiet {
        complain(&text);
    }
    Ok(exit(got, args.count))
}

/// Nothing, or less than was asked for, is told by the exit code.
fn exit(got: u64, count: Option<u64>) -> Exit {
    match got < count.unwrap_or(1) {
        true => Exit::CallFailed,
        false => Exit::Done,
    }
}

/// Opens a queue for getting.
pub(crate) fn open_input(
    connection: &mut Connection,
    queue: &str,
    selector: Option<&str>,
) -> Result<Hobj, ClientError> {
    queue::open_selecting(
        connection,
        queue,
        selector,
        MQOO_INPUT_AS_Q_DEF | MQOO_FAIL_IF_QUIESCING,
    )
}

struct Getter<'a> {
    connection: Attached,
    queue: Hobj,
    wanted: Wanted<'a>,
    args: &'a cli::Receiving,
    interrupt: Interrupt,
    out: Out,
    progress: Progress,
    got: u64,
    /// Messages written out and not committed.
    pending: u64,
    /// Whether a person reads standard output.
    terminal: bool,
}

impl Getter<'_> {
    fn all(&mut self) -> Result<(), Failure> {
        let wanted = |got| self.args.count.is_none_or(|count| got < count);
        while wanted(self.got) && !self.interrupt.raised() {
            let next = match self.next(MQGMO_NO_WAIT, 0) {
                Ok(next) => next,
                Err(failure) => {
                    // What was written out is not to come again because of that; where it cannot be committed either,
                    // what is counted as got leaves it out.
                    let _ = self.settle();
                    return Err(failure);
                }
            };
            let message = match next {
                Some(message) => Some(message),
                None => {
                    self.settle()?;
                    match self.wanted.wait {
                        _ if self.out.reader_gone() => None,
                        0 => None,
                        _ => self.wait()?,
                    }
                }
            };
            let Some(message) = message else {
                break;
            };
            self.write(&message.data)?;
            self.got += 1;
            self.progress.one();
            match self.args.batch {
                0 => self.out.flush()?,
                batch => {
                    self.pending += 1;
                    if self.pending >= batch {
                        self.settle()?;
                    }
                }
            }
            if self.out.reader_gone() {
                return Ok(());
            }
        }
        self.settle()
    }

    /// Waits for the next message, until one comes, the time is over, or Ctrl-C. The connection is in a call while it
    /// waits, so it waits a little at a time.
    fn wait(&mut self) -> Result<Option<Got>, Failure> {
        let mut left = self.wanted.wait;
        while left != 0 && !self.interrupt.raised() {
            let now = match left {
                ..0 => A_LITTLE,
                left => left.min(A_LITTLE),
            };
            if let Some(message) = self.next(MQGMO_WAIT, now)? {
                return Ok(Some(message));
            }
            if left > 0 {
                left -= now;
            }
        }
        Ok(None)
    }

    /// The next message, if there is one.
    fn next(&mut self, waiting: i32, interval: i32) -> Result<Option<Got>, Failure> {
        let (args, wanted) = (self.args, &self.wanted);
        let mut md = Md {
            msg_id: wanted.msgid.unwrap_or_default(),
            correl_id: wanted.correlid.unwrap_or_default(),
            ..Md::default()
        };
        let matching = |given: bool, option| if given { option } else { MQMO_NONE };
        let sync = match args.batch {
            0 => MQGMO_NO_SYNCPOINT,
            _ => MQGMO_SYNCPOINT,
        };
        let mut gmo = Gmo {
            version: 2,
            options: sync | waiting | MQGMO_FAIL_IF_QUIESCING,
            wait_interval: interval,
            match_options: matching(wanted.msgid.is_some(), MQMO_MATCH_MSG_ID)
                | matching(wanted.correlid.is_some(), MQMO_MATCH_CORREL_ID),
            ..Gmo::default()
        };
        match self.connection.get(self.queue, &mut md, &mut gmo, args.max) {
            // A warning means a message that is longer than was asked for; it stays on the queue.
            Ok(got) if got.warning == Reason::TRUNCATED_MSG_FAILED => {
                let error = ClientError::Reason(got.warning);
                Err(call_failed("MQGET", wanted.from, &error))
            }
            Ok(got) => Ok(Some(got.value)),
            Err(error) if error.reason() == Reason::NO_MSG_AVAILABLE => Ok(None),
            Err(error) => Err(call_failed("MQGET", wanted.from, &error)),
        }
    }

    fn write(&mut self, data: &[u8]) -> Result<(), Failure> {
        match self.args.form {
            Form::Raw => self.out.bytes(data),
            // What a message holds must not drive a terminal.
            Form::Line if self.terminal => self.out.line(&crate::dump::printable(data)),
            Form::Line => {
                self.out.bytes(data)?;
                self.out.bytes(b"\n")
            }
            Form::Hex => self.out.line(&hex(data)),
        }
    }

    /// Puts back what nobody took, so that it is there for others when this command has ended.
    fn give_back(&mut self) {
        if self.pending > 0 {
            // Without a connection the queue manager does it by itself.
            let _ = self.connection.backout();
            self.pending = 0;
        }
    }

    /// Brings out what was written, then commits it.
    fn settle(&mut self) -> Result<(), Failure> {
        self.out.flush()?;
        if self.pending > 0 && !self.out.reader_gone() {
            self.connection
                .commit()
                .map_err(|error| call_failed("MQCMIT", self.wanted.from, &error))?;
            self.pending = 0;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_few_messages_are_told_by_the_exit_code() {
        assert_eq!(exit(0, None), Exit::CallFailed);
        assert_eq!(exit(1, None), Exit::Done);
        assert_eq!(exit(1, Some(2)), Exit::CallFailed);
        assert_eq!(exit(2, Some(2)), Exit::Done);
        assert_eq!(exit(0, Some(0)), Exit::Done);
    }
}
