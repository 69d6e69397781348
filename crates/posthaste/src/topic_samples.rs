//! MQ's sample programs `amqspub` and `amqssub` and the client forms, with the output that users and scripts know.

use std::path::Path;

use posthaste_mqi::constants::MQSO_NON_DURABLE;
use posthaste_server::{Exit, Failure};

use crate::cli::TopicSample;
use crate::output::Out;
use crate::samples::{Way, connect, failed, finish, get_message, put_lines};
use crate::topic;

/// How long amqssub waits for the next message, milliseconds.
const TIMEOUT: i32 = 30_000;

pub(crate) fn amqspub(place: Option<&Path>, args: &TopicSample, way: Way) -> Result<Exit, Failure> {
    let mut out = Out::new();
    out.line("Sample AMQSPUBA start")?;
    let at = (place, args.queue_manager.as_deref());
    let Some(mut connection) = connect(at, way, "amqspub", &mut out)? else {
        return Ok(Exit::CallFailed);
    };
    out.line(&format!("target topic is {}", args.topic))?;
    out.flush()?;
    let exit = match topic::open(&mut connection, &args.topic) {
        Ok(topic) => put_lines(&mut connection, topic, &mut out)?,
        Err(error) => {
            failed(&mut out, "MQOPEN", &error)?;
            out.line("unable to open topic for publish")?;
            Exit::CallFailed
        }
    };
    finish(connection, out, "Sample AMQSPUBA end", exit)
}

pub(crate) fn amqssub(place: Option<&Path>, args: &TopicSample, way: Way) -> Result<Exit, Failure> {
    let mut out = Out::new();
    out.line("Sample AMQSSUBA start")?;
    let at = (place, args.queue_manager.as_deref());
    let Some(mut connection) = connect(at, way, "amqssub", &mut out)? else {
        return Ok(Exit::CallFailed);
    };
    let exit = match topic::subscribe(&mut connection, &args.topic, "", None, MQSO_NON_DURABLE) {
        Ok((subscribed, _)) => loop {
            out.line(&format!(
                "Calling MQGET : {} seconds wait time",
                TIMEOUT / 1_000
            ))?;
            out.flush()?;
            if let Some(exit) =
                get_message(&mut connection, subscribed.messages, TIMEOUT, &mut out)?
            {
                break exit;
            }
        },
        Err(error) => {
            failed(&mut out, "MQSUB", &error)?;
            Exit::CallFailed
        }
    };
    finish(connection, out, "Sample AMQSSUBA end", exit)
}
