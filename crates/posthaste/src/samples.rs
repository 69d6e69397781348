//! MQ's sample programs: `amqsput`, `amqsget`, `amqsbcg`, `amqsgbr` and the client forms, with the
//! output that users and scripts know.

use std::io::BufRead;
use std::path::Path;

use posthaste_client::{ClientError, Connection};
use posthaste_mqi::constants::{
    MQFMT_STRING, MQGMO_CONVERT, MQGMO_NO_SYNCPOINT, MQGMO_WAIT, MQMO_NONE,
    MQPMO_FAIL_IF_QUIESCING, MQPMO_NEW_CORREL_ID, MQPMO_NEW_MSG_ID, MQPMO_NO_SYNCPOINT,
    MQPMO_SYNC_RESPONSE,
};
use posthaste_mqi::{Chars, Gmo, Md, Pmo, Reason};
use posthaste_server::{Exit, Failure};

use crate::cli::{ConnectArgs, Sample};
use crate::connect::{Attached, Target};
use crate::output::{Out, stream_failure};
use crate::{browse, dump, get, put};

/// Whether a sample connects to a queue manager of this machine or where `MQSERVER` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Local,
    Client,
}

/// Whom the samples connect as.
const USER: &str = "MQSAMP_USER_ID";
/// How long amqsget waits for the next message, milliseconds.
const TIMEOUT: i32 = 15_000;
/// How long amqsgbr and amqsbcg wait.
const SHORT_TIMEOUT: i32 = 1_000;

pub(crate) fn connect(
    (place, queue_manager): (Option<&Path>, Option<&str>),
    way: Way,
    name: &str,
    out: &mut Out,
) -> Result<Option<Attached>, Failure> {
    // As MQ's samples: who is named so is asked for his password.
    let user = std::env::var(USER).ok().filter(|user| !user.is_empty());
    let reach = ConnectArgs {
        user,
        ..ConnectArgs::default()
    };
    let target = Target {
        place,
        queue_manager,
        reach: &reach,
        client: way == Way::Client,
        application: name,
        within: crate::cli::ANSWER,
    };
    match target.try_connect() {
        Ok(connection) => Ok(Some(connection)),
        Err(error) => {
            let reason = error.reason();
            out.line(&format!("MQCONN ended with reason code {reason}"))?;
            out.flush()?;
            crate::output::complain(&error.failure().to_string());
            Ok(None)
        }
    }
}

/// Where a sample connects to.
fn at<'a>(place: Option<&'a Path>, args: &'a Sample) -> (Option<&'a Path>, Option<&'a str>) {
    (place, args.queue_manager.as_deref())
}

/// What a sample says of a call that failed.
pub(crate) fn failed(out: &mut Out, call: &str, error: &ClientError) -> Result<(), Failure> {
    let code = error.reason().0;
    out.line(&format!("{call} ended with reason code {code}"))
}

pub(crate) fn amqsput(place: Option<&Path>, args: &Sample, way: Way) -> Result<Exit, Failure> {
    let mut out = Out::new();
    out.line("Sample AMQSPUT0 start")?;
    let Some(mut connection) = connect(at(place, args), way, "amqsput", &mut out)? else {
        return Ok(Exit::CallFailed);
    };
    out.line(&format!("target queue is {}", args.queue))?;
    out.flush()?;
    let exit = match put::open_output(&mut connection, &args.queue) {
        Ok(queue) => put_lines(&mut connection, queue, &mut out)?,
        Err(error) => {
            failed(&mut out, "MQOPEN", &error)?;
            out.line("unable to open queue for output")?;
            Exit::CallFailed
        }
    };
    finish(connection, out, "Sample AMQSPUT0 end", exit)
}

pub(crate) fn put_lines(
    connection: &mut Connection,
    queue: posthaste_mqi::Hobj,
    out: &mut Out,
) -> Result<Exit, Failure> {
    let input = std::io::stdin().lock();
    for line in input.split(b'\n') {
        let line = line.map_err(|error| stream_failure("standard input", &error))?;
        let line = line.strip_suffix(b"\r").unwrap_or(&line);
        // An empty line ends it.
        if line.is_empty() {
            break;
        }
        let mut md = Md {
            format: Chars::new(MQFMT_STRING),
            coded_char_set_id: 1208,
            ..Md::default()
        };
        let mut pmo = Pmo {
            options: MQPMO_NO_SYNCPOINT
                | MQPMO_FAIL_IF_QUIESCING
                | MQPMO_NEW_MSG_ID
                | MQPMO_NEW_CORREL_ID
                // A line that could not be put is reported, whatever DEFPRESP says.
                | MQPMO_SYNC_RESPONSE,
            ..Pmo::default()
        };
        if let Err(error) = connection.put(queue, &mut md, &mut pmo, line) {
            failed(out, "MQPUT", &error)?;
            return Ok(Exit::CallFailed);
        }
    }
    Ok(Exit::Done)
}

pub(crate) fn finish(
    connection: Attached,
    mut out: Out,
    last: &str,
    mut exit: Exit,
) -> Result<Exit, Failure> {
    if let Err(error) = connection.disconnect() {
        failed(&mut out, "MQDISC", &error)?;
        exit = Exit::CallFailed;
    }
    if !last.is_empty() {
        out.line(last)?;
    }
    out.flush()?;
    Ok(exit)
}

pub(crate) fn amqsget(place: Option<&Path>, args: &Sample, way: Way) -> Result<Exit, Failure> {
    let mut out = Out::new();
    out.line("Sample AMQSGET0 start")?;
    let Some(mut connection) = connect(at(place, args), way, "amqsget", &mut out)? else {
        return Ok(Exit::CallFailed);
    };
    let exit = match get::open_input(&mut connection, &args.queue, None) {
        Ok(queue) => get_messages(&mut connection, queue, &mut out)?,
        Err(error) => {
            failed(&mut out, "MQOPEN", &error)?;
            out.line("unable to open queue for input")?;
            Exit::CallFailed
        }
    };
    finish(connection, out, "Sample AMQSGET0 end", exit)
}

fn get_messages(
    connection: &mut Connection,
    queue: posthaste_mqi::Hobj,
    out: &mut Out,
) -> Result<Exit, Failure> {
    loop {
        out.flush()?;
        if let Some(exit) = get_message(connection, queue, TIMEOUT, out)? {
            return Ok(exit);
        }
    }
}

/// Shows the next message; how the sample ends if there is none within `timeout` milliseconds.
pub(crate) fn get_message(
    connection: &mut Connection,
    queue: posthaste_mqi::Hobj,
    timeout: i32,
    out: &mut Out,
) -> Result<Option<Exit>, Failure> {
    let mut md = Md::default();
    let mut gmo = Gmo {
        version: 2,
        options: MQGMO_WAIT | MQGMO_NO_SYNCPOINT | MQGMO_CONVERT,
        wait_interval: timeout,
        match_options: MQMO_NONE,
        ..Gmo::default()
    };
    match connection.get(queue, &mut md, &mut gmo, browse::LONGEST) {
        Ok(got) => {
            out.bytes(b"message <")?;
            out.bytes(&got.value.data)?;
            out.line(">")?;
            Ok(None)
        }
        Err(error) if error.reason() == Reason::NO_MSG_AVAILABLE => {
            out.line("no more messages")?;
            Ok(Some(Exit::Done))
        }
        Err(error) => {
            failed(out, "MQGET", &error)?;
            Ok(Some(Exit::CallFailed))
        }
    }
}

pub(crate) fn amqsbcg(place: Option<&Path>, args: &Sample, way: Way) -> Result<Exit, Failure> {
    let mut out = Out::new();
    out.line("\nAMQSBCG0 - starts here\n**********************\n ")?;
    let Some(mut connection) = connect(at(place, args), way, "amqsbcg", &mut out)? else {
        return Ok(Exit::CallFailed);
    };
    out.line(&format!(" MQOPEN - '{}'\n ", args.queue))?;
    let queue = match browse::open(&mut connection, &args.queue, None) {
        Ok(queue) => queue,
        Err(error) => {
            out.line(&format!(
                " MQOPEN failed with CompCode:2, Reason:{}",
                error.reason().0
            ))?;
            return finish(connection, out, " MQDISC", Exit::CallFailed);
        }
    };
    let mut number = 0;
    let exit = loop {
        match browse::next(&mut connection, queue, browse::LONGEST, Some(SHORT_TIMEOUT)) {
            Ok(Some((md, got))) => {
                number += 1;
                out.line(&format!(
                    " \n MQGET of message number {number}, CompCode:0 Reason:0"
                ))?;
                out.line(&dump::descriptor(&md))?;
                out.line(&dump::data(&got.data, got.length))?;
            }
            Ok(None) => {
                out.line(" \n \n \n No more messages ")?;
                break Exit::Done;
            }
            Err(error) => {
                out.line(&format!(
                    " \n MQGET {}, failed with CompCode:2 Reason:{}",
                    number + 1,
                    error.reason().0
                ))?;
                break Exit::CallFailed;
            }
        }
    };
    out.line(" MQCLOSE")?;
    finish(connection, out, " MQDISC", exit)
}

pub(crate) fn amqsgbr(place: Option<&Path>, args: &Sample, way: Way) -> Result<Exit, Failure> {
    let mut out = Out::new();
    out.line("Sample AMQSGBR0 (browse) start")?;
    let Some(mut connection) = connect(at(place, args), way, "amqsgbr", &mut out)? else {
        return Ok(Exit::CallFailed);
    };
    let name = connection.queue_manager();
    out.line(&format!("{}\nMessages for {}", name.trim(), args.queue))?;
    let exit = match browse::open(&mut connection, &args.queue, None) {
        Ok(queue) => browse_texts(&mut connection, queue, &mut out)?,
        Err(error) => {
            failed(&mut out, "MQOPEN", &error)?;
            out.line("unable to open queue")?;
            Exit::CallFailed
        }
    };
    finish(connection, out, "Sample AMQSGBR0 (browse) end", exit)
}

fn browse_texts(
    connection: &mut Connection,
    queue: posthaste_mqi::Hobj,
    out: &mut Out,
) -> Result<Exit, Failure> {
    let mut number = 0;
    loop {
        match browse::next(connection, queue, browse::LONGEST, Some(SHORT_TIMEOUT)) {
            Ok(Some((_, got))) => {
                number += 1;
                out.bytes(format!("{number:4} <").as_bytes())?;
                out.bytes(&got.data)?;
                out.line(">")?;
            }
            Ok(None) => {
                out.line("no more messages")?;
                return Ok(Exit::Done);
            }
            Err(error) => {
                failed(out, "MQGET", &error)?;
                return Ok(Exit::CallFailed);
            }
        }
    }
}
