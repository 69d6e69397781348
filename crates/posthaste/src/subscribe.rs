//! `subscribe`: what is published to standard output.
//!
//! Invariant: that of `get`; so a message of a durable subscription that was not written out comes the next time.

use std::path::Path;

use posthaste_client::Connection;
use posthaste_mqi::constants::{
    MQCO_KEEP_SUB, MQCO_NONE, MQCO_REMOVE_SUB, MQSO_DURABLE, MQSO_NEW_PUBLICATIONS_ONLY,
    MQSO_PUBLICATIONS_ON_REQUEST, MQSO_RESUME, MQSR_ACTION_PUBLICATION,
};
use posthaste_mqi::{Reason, Sro};
use posthaste_server::{Exit, Failure};

use crate::connect::call_failed;
use crate::get::{Source, Wanted, connect, receive};
use crate::output::complain;
use crate::{cli, topic};

pub(crate) fn subscribe(place: Option<&Path>, args: &cli::Subscribe) -> Result<Exit, Failure> {
    let from = Wanted {
        from: &args.topic,
        wait: if args.retained { 0 } else { args.wait },
        msgid: None,
        correlid: None,
    };
    let how = &args.receiving;
    let connection = connect(place, "posthaste subscribe", how)?;
    receive(connection, "subscribe", from, how, |connection| {
        let source = source(connection, args)?;
        if !how.quiet {
            complain(&format!("Subscribed to {}.", args.topic));
        }
        Ok(source)
    })
}

fn source(connection: &mut Connection, args: &cli::Subscribe) -> Result<Source, Failure> {
    let option = |given, option| if given { option } else { 0 };
    let options = option(args.durable.is_some(), MQSO_DURABLE | MQSO_RESUME)
        | option(args.new, MQSO_NEW_PUBLICATIONS_ONLY)
        | option(args.retained, MQSO_PUBLICATIONS_ON_REQUEST);
    let name = args.durable.as_deref().unwrap_or_default();
    let selector = args.receiving.selector.as_deref();
    let (subscribed, is) = topic::subscribe(connection, &args.topic, name, selector, options)
        .map_err(|error| call_failed("MQSUB", &args.topic, &error))?;
    // One of this name that was there before has its own topic and selector.
    let differs = [
        (is.res_object_string.as_str(), args.topic.as_str()),
        (is.selection_string.as_str(), selector.unwrap_or_default()),
    ];
    if let Some((is, asked)) = differs.iter().find(|(is, asked)| is != asked) {
        let what =
            format!("the subscription {name} is there already, with '{is}' and not '{asked}'");
        return Err(Failure::bad_parameter(what));
    }
    if args.retained {
        let mut sro = Sro::default();
        let asked = connection.subscription_request(
            subscribed.subscription,
            MQSR_ACTION_PUBLICATION,
            &mut sro,
        );
        match asked {
            Err(error) if error.reason() == Reason::NO_RETAINED_MSG => {}
            asked => {
                asked.map_err(|error| call_failed("MQSUBRQ", &args.topic, &error))?;
            }
        }
    }
    let close = match (args.durable.is_some(), args.remove) {
        (true, true) => MQCO_REMOVE_SUB,
        (true, false) => MQCO_KEEP_SUB,
        (false, _) => MQCO_NONE,
    };
    Ok(Source {
        messages: subscribed.messages,
        subscription: Some((subscribed.subscription, close)),
    })
}
