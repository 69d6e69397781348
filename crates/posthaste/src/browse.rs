//! `browse`: messages with their descriptors, left on the queue.

use std::path::Path;

use posthaste_client::{ClientError, Connection};
use posthaste_mqi::constants::{
    MQGMO_ACCEPT_TRUNCATED_MSG, MQGMO_BROWSE_NEXT, MQGMO_FAIL_IF_QUIESCING, MQGMO_NO_WAIT,
    MQGMO_WAIT, MQMO_NONE, MQOO_BROWSE, MQOO_FAIL_IF_QUIESCING,
};
use posthaste_mqi::{Gmo, Got, Hobj, Md, Reason};
use posthaste_server::{Exit, Failure};

use crate::cli;
use crate::connect::{Target, call_failed};
use crate::dump;
use crate::output::{Out, complain, counted};
use crate::queue;

/// The longest message that is shown whole.
pub(crate) const LONGEST: usize = 104_857_600;

pub(crate) fn browse(place: Option<&Path>, args: &cli::Browse) -> Result<Exit, Failure> {
    let target = Target {
        place,
        queue_manager: args.queue_manager.as_deref(),
        reach: &args.reach,
        client: false,
        application: "posthaste browse",
        within: args.reply_timeout.within(),
    };
    let mut connection = target.connect()?;
    let queue = open(&mut connection, &args.queue, args.selector.as_deref())
        .map_err(|error| call_failed("MQOPEN", &args.queue, &error))?;
    let mut out = Out::new();
    let mut shown = 0;
    while args.count.is_none_or(|count| shown < count) && !out.reader_gone() {
        let next = next(&mut connection, queue, LONGEST, None);
        let Some((md, got)) = next.map_err(|error| call_failed("MQGET", &args.queue, &error))?
        else {
            break;
        };
        shown += 1;
        out.line(&format!("Message {shown}"))?;
        out.line(&dump::descriptor(&md))?;
        out.line(&dump::data(&got.data, got.length))?;
    }
    out.flush()?;
    let disconnected = connection.disconnect();
    disconnected.map_err(|error| call_failed("MQDISC", &args.queue, &error))?;
    complain(&format!("{} on {}.", counted(shown, "message"), args.queue));
    Ok(Exit::Done)
}

/// Opens a queue for browsing.
pub(crate) fn open(
    connection: &mut Connection,
    queue: &str,
    selector: Option<&str>,
) -> Result<Hobj, ClientError> {
    let options = MQOO_BROWSE | MQOO_FAIL_IF_QUIESCING;
    queue::open_selecting(connection, queue, selector, options)
}

/// The next message after the last one that was browsed; `wait` is in milliseconds.
pub(crate) fn next(
    connection: &mut Connection,
    queue: Hobj,
    max: usize,
    wait: Option<i32>,
) -> Result<Option<(Md, Got)>, ClientError> {
    let mut md = Md {
        version: 2,
        ..Md::default()
    };
    let waiting = if wait.is_some() {
        MQGMO_WAIT
    } else {
        MQGMO_NO_WAIT
    };
    let mut gmo = Gmo {
        version: 2,
        options: MQGMO_BROWSE_NEXT | MQGMO_ACCEPT_TRUNCATED_MSG | MQGMO_FAIL_IF_QUIESCING | waiting,
        wait_interval: wait.unwrap_or(0),
        match_options: MQMO_NONE,
        ..Gmo::default()
    };
    match connection.get(queue, &mut md, &mut gmo, max) {
        Ok(got) => Ok(Some((md, got.value))),
        Err(error) if error.reason() == Reason::NO_MSG_AVAILABLE => Ok(None),
        Err(error) => Err(error),
    }
}
