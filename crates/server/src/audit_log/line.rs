//! A line of the audit log.
//!
//! Invariants: a line is one JSON object and has every field; what is not known, or does not apply, is null. Fields are added
//! at the end of their object, and keep their names and meanings.

use std::fmt::Write as _;

use jiff::Timestamp;
use posthaste_command::is_unseen;
use posthaste_engine::AuditEvent;
use posthaste_mqi::Reason;
use serde::Serialize;

/// The longest of what an application says of itself that is written, in bytes; commands come as short as they are to be.
const LONGEST: usize = 512;

#[derive(Serialize)]
struct Line<'a> {
    time: String,
    queue_manager: &'a str,
    event: &'a str,
    who: Who<'a>,
    from: From<'a>,
    what: What<'a>,
    result: Outcome<'a>,
    repeated: u64,
}

#[derive(Serialize)]
struct Who<'a> {
    user: Option<&'a str>,
    alternate: Option<&'a str>,
    claimed: Option<&'a str>,
    certificate: Option<&'a str>,
}

#[derive(Serialize)]
struct From<'a> {
    address: Option<&'a str>,
    channel: Option<&'a str>,
    application: Option<&'a str>,
    process: Option<u32>,
}

#[derive(Serialize)]
struct What<'a> {
    call: Option<&'a str>,
    options: Option<i32>,
    command: Option<&'a str>,
    object_type: Option<String>,
    object: Option<&'a str>,
    missing: Option<String>,
    because: Option<&'a str>,
    owner: Option<&'a str>,
}

#[derive(Serialize)]
struct Outcome<'a> {
    reason: i32,
    name: &'a str,
    message: Option<&'a str>,
}

/// None for nothing.
fn known(text: &str) -> Option<&str> {
    let text = &text[..text.floor_char_boundary(LONGEST)];
    Some(text.trim_end()).filter(|text| !text.is_empty())
}

/// JSON with `\uXXXX` in the place of what is in it and not seen: JSON itself asks for that below 32 only, and what strangers call
/// themselves must not look like another line. All such characters stand in texts, and have four digits.
fn escaped(json: &str) -> String {
    json.chars()
        .fold(String::with_capacity(json.len()), |mut out, c| {
            match is_unseen(c) {
                // Writing to a String does not fail.
                true => drop(write!(out, "\\u{:04x}", u32::from(c))),
                false => out.push(c),
            }
            out
        })
}

/// The line for an event, which stands for `repeated` more of its kind and source, with its end.
pub(super) fn of(
    queue_manager: &str,
    at: Timestamp,
    event: &AuditEvent,
    repeated: u64,
) -> Result<Vec<u8>, serde_json::Error> {
    let who = &event.who;
    let line = Line {
        time: format!("{at:.3}"),
        queue_manager,
        event: event.kind.name(),
        who: Who {
            user: known(&who.user),
            alternate: known(&event.alternate),
            claimed: known(&event.claimed),
            certificate: known(&who.certificate),
        },
        from: From {
            address: known(&who.conname),
            channel: known(&who.channel),
            application: known(&who.name),
            process: Some(who.pid).filter(|pid| *pid != 0),
        },
        what: What {
            call: known(event.call),
            options: known(event.call).map(|_| event.options),
            command: Some(event.command.as_str()).filter(|text| !text.is_empty()),
            object_type: event.object_type.map(|of| of.to_string()),
            object: known(&event.object),
            missing: Some(event.missing.to_string()).filter(|_| !event.missing.is_empty()),
            because: known(&event.because),
            owner: known(&event.owner),
        },
        result: Outcome {
            reason: event.reason.0,
            name: match event.reason {
                Reason::NONE => "MQRC_NONE",
                reason => reason.name(),
            },
            message: known(event.message),
        },
        repeated,
    };
    Ok((escaped(&serde_json::to_string(&line)?) + "\n").into_bytes())
}
