//! One application has a group of durable subscriptions to one queue, publishes, and gets what comes, with its properties
//! and without.
//!
//! The rules (manual: "MQSO_GROUP_SUB", "PROPCTL", MQGMO_NO_PROPERTIES, "WILDCARD"):
//! * A publication comes once if a subscription of the group asks for it, and otherwise not at all, over restarts too.
//! * No two of a group have one topic string (2514).
//! * Whoever wants no properties is given the data behind them, and their format; anybody else is given all of it.
//! * ALTER SUB leaves a subscription in its group, and DELETE SUB ends it; one that DEFINE SUB makes for the same queue and
//!   CorrelId is of no group, so what it asks for comes once more.
//! * Nobody who asks for everything above the topic is given what is published below it: WILDCARD(BLOCK).

use std::time::Duration;

use bytes::Bytes;
use posthaste_engine::Session;
use posthaste_model::{Outcome, Rule};
use posthaste_mqi::constants::*;
use posthaste_mqi::{ByteOrder, Chars, Hobj, Md, Od, Pmo, PointerSize, Reason, Rfh2, Sd};

use crate::delayed::in_header;
use crate::solo::{Going, must};
use crate::workload::{Worker, payload};

/// What it works with: the alias shows no properties.
pub(crate) const DEFINITIONS: [&str; 3] = [
    "DEFINE TOPIC(J) TOPICSTR('j') WILDCARD(BLOCK)",
    "DEFINE QLOCAL(J.GROUP) MSGDLVSQ(FIFO)",
    "DEFINE QALIAS(J.BARE) TARGET(J.GROUP) PROPCTL(NONE)",
];
/// What the subscriptions of the group ask for, and what is published on.
const FILTERS: [&str; 3] = ["j/x", "j/#", "j/+"];
const TOPICS: [&str; 4] = ["j", "j/x", "j/y", "j/x/z"];
const CORREL_ID: [u8; 24] = [7; 24];
/// The subscription that is of no group, and what it asks for.
const ALONE: (&str, &str) = ("J.ALONE", "j/+");

/// A publication that is to come.
#[derive(Clone)]
struct Sent {
    data: Bytes,
    /// It was published behind a header with properties.
    behind: bool,
}

/// What it has in hand.
struct Group<'a> {
    session: &'a Session,
    queue: Hobj,
    bare: Hobj,
    /// Handles of the subscriptions that are there.
    subscriptions: [Option<Hobj>; FILTERS.len()],
    /// That of no group is there.
    alone: bool,
}

fn asks(filter: &str, topic: &str) -> bool {
    match filter.split_once('/') {
        Some((_, "#")) => true,
        Some((_, "+")) => topic.matches('/').count() == 1,
        _ => filter == topic,
    }
}

impl Group<'_> {
    async fn subscribe(&self, at: usize, name: &str, options: i32) -> Result<Hobj, Reason> {
        let mut sd = Sd {
            options: options | MQSO_DURABLE | MQSO_GROUP_SUB | MQSO_SET_CORREL_ID,
            object_string: FILTERS[at].to_owned(),
            sub_name: name.to_owned(),
            sub_correl_id: CORREL_ID,
            sub_user_data: "group".to_owned(),
            ..Sd::default()
        };
        let made = self.session.subscribe(&mut sd, self.queue).await;
        made.map(|done| done.value.1)
    }
}

impl Worker {
    /// Works until the queue manager or a rule says stop.
    pub(crate) async fn group_subscriptions(self) {
        let going = self.grouped_rounds().await;
        self.end(going);
    }

    async fn grouped_rounds(&self) -> Going {
        while let Some(session) = self.local()
            && !self.stopping()
        {
            let input = MQOO_INPUT_SHARED | MQOO_BROWSE;
            let mut group = Group {
                session,
                queue: self.open_one("J.GROUP", input).await?,
                bare: self.open_one("J.BARE", input).await?,
                subscriptions: [None; FILTERS.len()],
                alone: false,
            };
            // A run before may have left it.
            self.stop_alone().await?;
            let rest = MQGMO_NO_SYNCPOINT;
            while self
                .take_one(group.queue, rest, Duration::ZERO)
                .await?
                .is_some()
            {}
            for at in 0..FILTERS.len() {
                self.join_group(&mut group, at).await?;
            }
            for _ in 0..=self.below(4) {
                self.change_group(&mut group).await?;
                self.command_group(&mut group).await?;
                let sent = self.publish_to_group(&group).await?;
                self.get_of_group(&group, sent).await?;
            }
            for handle in group.subscriptions.into_iter().flatten() {
                session.close(handle, MQCO_KEEP_SUB).await?;
            }
            self.close_one(group.queue).await?;
            self.close_one(group.bare).await?;
            self.sleep(100_000).await;
        }
        Ok(())
    }

    /// Comes back to a subscription, or makes it.
    async fn join_group(&self, group: &mut Group<'_>, at: usize) -> Going {
        let name = format!("J.{at}");
        let handle = match group.subscribe(at, &name, MQSO_RESUME).await {
            Err(Reason::NO_SUBSCRIPTION) => group.subscribe(at, &name, MQSO_CREATE).await?,
            resumed => {
                self.met("subscription of a group resumed");
                resumed?
            }
        };
        group.subscriptions[at] = Some(handle);
        Ok(())
    }

    /// Ends a subscription of the group, makes it again, or tries to make another like it.
    async fn change_group(&self, group: &mut Group<'_>) -> Going {
        let at = self.below(FILTERS.len() as u64) as usize;
        match (self.below(3), group.subscriptions[at]) {
            (0, Some(handle)) => {
                group.session.close(handle, MQCO_REMOVE_SUB).await?;
                group.subscriptions[at] = None;
            }
            (1, None) => self.join_group(group, at).await?,
            (1, Some(_)) => {
                let another = group.subscribe(at, "J.SAME", MQSO_CREATE).await;
                let refused = another == Err(Reason::DUPLICATE_GROUP_SUB);
                if let (false, Err(reason)) = (refused, another) {
                    return Err(reason.into());
                }
                must(refused, Rule::Groups, || {
                    format!("a group has {} twice", FILTERS[at])
                })?;
                self.met("another of a group refused");
            }
            _ => {}
        }
        Ok(())
    }

    /// A command that has to succeed.
    async fn must_do(&self, text: &str) -> Going {
        match self.command(text).await {
            Outcome::Done => Ok(()),
            Outcome::Reason(reason) => Err(Reason(reason).into()),
            _ => Err(Reason::CONNECTION_BROKEN.into()),
        }
    }

    async fn stop_alone(&self) -> Going {
        match self.command(&format!("DELETE SUB('{}')", ALONE.0)).await {
            Outcome::Done | Outcome::Reason(_) => Ok(()),
            _ => Err(Reason::CONNECTION_BROKEN.into()),
        }
    }

    /// An administrator alters or deletes a subscription of the group, or defines or deletes that of no group.
    async fn command_group(&self, group: &mut Group<'_>) -> Going {
        let at = self.below(FILTERS.len() as u64) as usize;
        match (self.below(8), group.subscriptions[at]) {
            (0, Some(handle)) => {
                group.session.close(handle, MQCO_KEEP_SUB).await?;
                self.must_do(&format!("DELETE SUB('J.{at}')")).await?;
                self.met("subscription of a group deleted by a command");
                group.subscriptions[at] = None;
            }
            (1, Some(handle)) => {
                group.session.close(handle, MQCO_KEEP_SUB).await?;
                let text = format!("ALTER SUB('J.{at}') USERDATA('altered')");
                self.must_do(&text).await?;
                self.met("subscription of a group altered by a command");
                let name = format!("J.{at}");
                let handle = group.subscribe(at, &name, MQSO_RESUME).await?;
                group.subscriptions[at] = Some(handle);
            }
            (2, _) if !group.alone => {
                let correl_id = "07".repeat(CORREL_ID.len());
                let text = format!(
                    "DEFINE SUB('{}') TOPICSTR('{}') DEST(J.GROUP) DESTCORL('{correl_id}')",
                    ALONE.0, ALONE.1
                );
                self.must_do(&text).await?;
                group.alone = true;
            }
            (3, _) if group.alone => {
                self.stop_alone().await?;
                group.alone = false;
            }
            _ => {}
        }
        Ok(())
    }

    /// Publishes in units of work and outside; what is to come of it, in its order.
    async fn publish_to_group(&self, group: &Group<'_>) -> Result<Vec<Sent>, Reason> {
        let mut sent = Vec::new();
        let commits = self.below(3) > 0;
        for _ in 0..=self.below(4) {
            let topic = TOPICS[self.below(TOPICS.len() as u64) as usize];
            let in_unit = self.below(2) == 0;
            let publication = self.publish_one(topic, in_unit).await?;
            let there = FILTERS.iter().zip(group.subscriptions);
            let asked = there.filter(|(filter, handle)| handle.is_some() && asks(filter, topic));
            let asked = asked.count();
            if in_unit && !commits {
                continue;
            }
            if asked > 1 {
                self.met("publication for several of a group");
            }
            let alone = group.alone && asks(ALONE.1, topic);
            if alone && asked > 0 {
                self.met("publication for a group and for one beside it");
            }
            let copies = usize::from(asked > 0) + usize::from(alone);
            sent.extend(std::iter::repeat_n(publication, copies));
        }
        match commits {
            true => self.commit_one().await?,
            false => self.backout_one().await?,
        }
        Ok(sent)
    }

    async fn publish_one(&self, topic: &str, in_unit: bool) -> Result<Sent, Reason> {
        let number = {
            let mut shared = self.shared.borrow_mut();
            shared.next_number += 1;
            shared.next_number
        };
        let data = payload(number, self.below(self.plan.max_message));
        let behind = self.below(2) == 0;
        let md = Md {
            persistence: [MQPER_NOT_PERSISTENT, MQPER_PERSISTENT][self.below(2) as usize],
            format: Chars::new(MQFMT_STRING),
            ..Md::default()
        };
        let (mut md, mut out) = match behind {
            true => (in_header(md), Vec::new()),
            false => (md, data.to_vec()),
        };
        if behind {
            let header = Rfh2 {
                format: Chars::new(MQFMT_STRING),
                folders: vec![format!("<usr><number>{number}</number></usr>")],
                ..Rfh2::default()
            };
            header.encode(&mut out, ByteOrder::Big, PointerSize::Four);
            out.extend_from_slice(&data);
        }
        let mut od = Od {
            version: MQOD_VERSION_4,
            object_type: MQOT_TOPIC,
            object_string: topic.to_owned(),
            ..Od::default()
        };
        let mut pmo = Pmo {
            options: [MQPMO_NO_SYNCPOINT, MQPMO_SYNCPOINT][usize::from(in_unit)],
            ..Pmo::default()
        };
        let put = self.session.put1(&mut od, &mut md, &mut pmo, out.into());
        put.await?;
        Ok(Sent { data, behind })
    }

    /// Gets what is to be there, and nothing else.
    async fn get_of_group(&self, group: &Group<'_>, sent: Vec<Sent>) -> Going {
        let mut sent = sent.into_iter();
        loop {
            let (handle, options, bare) = [
                (group.queue, 0, false),
                (group.queue, MQGMO_NO_PROPERTIES, true),
                (group.bare, 0, true),
                (group.bare, MQGMO_PROPERTIES_FORCE_MQRFH2, false),
            ][self.below(4) as usize];
            let first = MQGMO_BROWSE_FIRST | options;
            let seen = self.take_one(handle, first, Duration::ZERO).await?;
            let options = MQGMO_NO_SYNCPOINT | options;
            let got = self.take_one(handle, options, Duration::ZERO).await?;
            must(
                seen.map(|(_, data)| data) == got.as_ref().map(|(_, data)| data.clone()),
                Rule::Groups,
                || "what was browsed is not what was got".to_owned(),
            )?;
            let (md, data, expected) = match (got, sent.next()) {
                (None, None) => return Ok(()),
                (Some((md, data)), Some(expected)) => (md, data, expected),
                (got, expected) => {
                    let (got, expected) = (got.is_some(), expected.is_some());
                    return must(false, Rule::Groups, || {
                        format!("a publication is there: {got}, and is to be: {expected}")
                    });
                }
            };
            let whole = data.ends_with(&expected.data) && md.correl_id == CORREL_ID;
            must(whole, Rule::Groups, || {
                "it is not the next publication".to_owned()
            })?;
            if bare {
                self.met("get without properties");
                let own = md.format == Chars::new(MQFMT_STRING) && data == expected.data;
                must(own, Rule::Properties, || {
                    "properties are shown to whoever wants none".to_owned()
                })?;
            } else {
                let header = md.format == Chars::new(MQFMT_RF_HEADER_2);
                must(header || !expected.behind, Rule::Properties, || {
                    "properties are missing".to_owned()
                })?;
            }
        }
    }
}
