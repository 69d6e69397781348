//! `publish`: as `put`, to a topic.

use std::path::Path;

use posthaste_mqi::constants::{MQPMO_RETAIN, MQPMO_WARN_IF_NO_SUBS_MATCHED};
use posthaste_server::{Exit, Failure};

use crate::cli;
use crate::put::{Destination, send};

pub(crate) fn publish(place: Option<&Path>, args: &cli::Publish) -> Result<Exit, Failure> {
    let retains = match args.retain {
        true => MQPMO_RETAIN,
        false => 0,
    };
    let to = Destination {
        name: &args.topic,
        topic: true,
        reply_to: None,
        reply_to_qm: None,
        options: retains | MQPMO_WARN_IF_NO_SUBS_MATCHED,
    };
    send(place, "posthaste publish", to, &args.sending)
}
