//! Subscriptions and topic strings: definitions and what is so at this moment, as rows.
//!
//! Invariant: subscriptions are shown with the topic string that they came to, those too that are not durable.

use posthaste_command::{
    DisplayType, DisplayWhat, Object, ObjectKind, Reply, Row, Value, generic_matches, row_of,
    shows_all, where_matches,
};
use posthaste_engine::{
    HandleStatus, OpenTopicStatus, QueueManager, SubscriptionStatus, TopicStatus, display_stamp,
};
use posthaste_mqi::constants::*;
use posthaste_topic::levels_match;

use super::{Cells, Request};

/// What a topic string with wildcards in a command chooses. It stands for itself too.
fn matches(pattern: &str, topic: &str) -> bool {
    pattern == topic || levels_match(pattern, topic)
}

/// The definition of a subscription as it is shown.
fn definition(status: &SubscriptionStatus) -> Object {
    let mut object = status.definition.clone();
    object
        .attrs
        .set_text(MQCA_TOPIC_STRING, status.topic.as_str());
    for (moment, date, time) in [
        (status.created, MQCA_CREATION_DATE, MQCA_CREATION_TIME),
        (status.altered, MQCA_ALTERATION_DATE, MQCA_ALTERATION_TIME),
    ] {
        // One that is not durable has no dates of its own.
        if object.attrs.get(date).is_none() {
            let (day, clock) = display_stamp(moment);
            object.attrs.set(date, day.into());
            object.attrs.set(time, clock.into());
        }
    }
    object
}

/// DISPLAY SUB.
pub(super) fn subscriptions(qm: &QueueManager, request: &Request<'_>) -> Reply {
    let mut reply = Reply::default();
    let row = ObjectKind::Sub.row();
    let default = qm.object(ObjectKind::Sub, row.default_object);
    let default = default.filter(|default| generic_matches(request.name, &default.name));
    let all = qm.subscriptions(|name, _| generic_matches(request.name, name));
    let everything = shows_all(request.name, request.show, request.all);
    let mut show = request.show.to_vec();
    show.extend(request.filter.map(|filter| filter.keyword.to_owned()));
    for object in default.into_iter().chain(all.iter().map(definition)) {
        let mut filters = request.filter.into_iter().chain(request.chosen);
        if filters.all(|filter| where_matches(filter, &row_of(&object, &[], true))) {
            reply.add_row(row.message_ids.shown, row_of(&object, &show, everything));
        }
    }
    request.any(reply)
}

/// What is so of a subscription.
fn push_subscription(row: &mut Row, status: &SubscriptionStatus) {
    let attrs = &status.definition.attrs;
    let stamp = |moment: Option<i64>| moment.map(display_stamp).unzip();
    let connections = status
        .connections
        .iter()
        .map(|number| format!("{number:016X}"));
    let (date, time) = stamp(status.latest);
    let (resumed_date, resumed_time) = stamp(status.resumed);
    row.push("ACTCONN", connections.collect::<Vec<_>>().join(","));
    row.push("DURABLE", attrs.int(MQIACF_DURABLE_SUBSCRIPTION));
    row.push("LMSGDATE", date);
    row.push("LMSGTIME", time);
    row.push("NUMMSGS", status.messages);
    row.push("RESMDATE", resumed_date);
    row.push("RESMTIME", resumed_time);
    row.push("SUBID", Value::Bytes(status.id.to_vec()));
    row.push("SUBTYPE", attrs.int(MQIACF_SUB_TYPE));
    row.push("SUBUSER", attrs.text(MQCACF_SUB_USER_ID));
}

/// DISPLAY SBSTATUS.
pub(super) fn subscription_status(qm: &QueueManager, request: &Request<'_>) -> Reply {
    let mut reply = Reply::default();
    for status in qm.subscriptions(|name, _| generic_matches(request.name, name)) {
        let mut row = Row::of(DisplayWhat::SbStatus);
        row.push("SUB", status.definition.name.as_str());
        row.push("TOPICSTR", status.topic.as_str());
        push_subscription(&mut row, &status);
        request.add(&mut reply, "AMQ8099I", Cells::whole(row, 2));
    }
    request.any(reply)
}

fn topic_row(status: &TopicStatus) -> Row {
    let rules = &status.rules;
    let mut row = Row::of(DisplayWhat::TpStatus);
    row.push("TOPICSTR", status.topic.as_str());
    row.push("ADMIN", status.object.as_str());
    for (keyword, selector) in [
        ("CLUSTER", MQCA_CLUSTER_NAME),
        ("COMMINFO", MQCA_COMM_INFO_NAME),
        ("MDURMDL", MQCA_MODEL_DURABLE_Q),
        ("MNDURMDL", MQCA_MODEL_NON_DURABLE_Q),
    ] {
        row.push(keyword, rules.text(selector));
    }
    for (keyword, selector) in [
        ("CLROUTE", MQIA_CLUSTER_PUB_ROUTE),
        ("DEFPRESP", MQIA_DEF_PUT_RESPONSE_TYPE),
        ("DEFPRTY", MQIA_DEF_PRIORITY),
        ("DEFPSIST", MQIA_TOPIC_DEF_PERSISTENCE),
        ("DURSUB", MQIA_DURABLE_SUB),
        ("MCAST", MQIA_MULTICAST),
        ("NPMSGDLV", MQIA_NPM_DELIVERY),
        ("PMSGDLV", MQIA_PM_DELIVERY),
        ("PUB", MQIA_INHIBIT_PUB),
        ("PUBSCOPE", MQIA_PUB_SCOPE),
        ("SUB", MQIA_INHIBIT_SUB),
        ("SUBSCOPE", MQIA_SUB_SCOPE),
        ("USEDLQ", MQIA_USE_DEAD_LETTER_Q),
    ] {
        row.push(keyword, rules.int(selector));
    }
    row.push("PUBCOUNT", status.publishers as u64);
    row.push("RETAINED", i32::from(status.retained));
    row.push("SUBCOUNT", status.subscriptions as u64);
    row
}

/// A handle to publish by, of the connection of this number.
fn publisher_row(connection: u64, open: &OpenTopicStatus) -> Row {
    let (date, time) = open.latest.map(display_stamp).unzip();
    let mut row = Row::of(DisplayWhat::TpStatus);
    row.push("TOPICSTR", open.topic.as_str());
    row.push("ACTCONN", format!("{connection:016X}"));
    row.push("LPUBDATE", date);
    row.push("LPUBTIME", time);
    row.push("NUMPUBS", open.published);
    row
}

/// DISPLAY TPSTATUS.
pub(super) fn topic_status(qm: &QueueManager, request: &Request<'_>) -> Reply {
    let mut reply = Reply::default();
    let wanted = |topic: &str| matches(request.name, topic);
    match request.type_ {
        Some(DisplayType::Handle) => {
            for status in qm.subscriptions(|_, _| true) {
                if wanted(&status.topic) {
                    let mut row = Row::of(DisplayWhat::TpStatus);
                    row.push("TOPICSTR", status.topic.as_str());
                    push_subscription(&mut row, &status);
                    request.add(&mut reply, "AMQ8754I", Cells::whole(row, 1));
                }
            }
        }
        Some(DisplayType::Pub) => {
            for connection in qm.connection_status() {
                let open = connection.handles.iter();
                let open = open.filter_map(HandleStatus::publishes);
                for open in open.filter(|open| wanted(&open.topic)) {
                    let row = publisher_row(connection.number, open);
                    request.add(&mut reply, "AMQ8754I", Cells::whole(row, 1));
                }
            }
        }
        _ => {
            for status in qm.topics(wanted) {
                request.add(&mut reply, "AMQ8754I", Cells::whole(topic_row(&status), 1));
            }
        }
    }
    request.any(reply)
}

/// DISPLAY PUBSUB.
pub(super) fn publish_subscribe(qm: &QueueManager, request: &Request<'_>) -> Reply {
    let mut reply = Reply::default();
    let mut row = Row::of(DisplayWhat::PubSub);
    row.push("QMNAME", qm.name());
    row.push("TYPE", "LOCAL");
    // Queued publish/subscribe, which ACTIVE would say is there, is not.
    row.push("STATUS", "COMPAT");
    row.push("SUBCOUNT", qm.subscriptions(|_, _| true).len() as u64);
    row.push("TPCOUNT", qm.topics(|_| true).len() as u64);
    request.add(&mut reply, "AMQ8723I", Cells::whole(row, 2));
    reply
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It looks at every topic string, on the command server's one thread.
    #[test]
    fn many_wildcards_cost_no_more_than_few() {
        let topic = vec!["x"; 200].join("/");
        for wildcard in ["#/", "#/x/", "+/#/"] {
            assert!(!matches(&format!("{}q", wildcard.repeat(90)), &topic));
            assert!(matches(&format!("{}#", wildcard.repeat(90)), &topic));
        }
    }

    #[test]
    fn wildcards_choose_topic_strings() {
        for (pattern, topic, chosen) in [
            ("a/b", "a/b", true),
            ("a/b", "a", false),
            ("", "", true),
            ("", "a", false),
            ("#", "", true),
            ("#", "a/b", true),
            ("a/#", "a", true),
            ("a/#", "a/b/c", true),
            ("a/#", "b", false),
            ("+/b", "a/b", true),
            ("+/b", "a/c/b", false),
            ("#/b", "a/c/b", true),
            ("a/+", "a/#", true),
        ] {
            assert_eq!(matches(pattern, topic), chosen, "{pattern} {topic}");
        }
    }
}
