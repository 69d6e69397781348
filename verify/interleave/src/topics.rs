//! A program in which topics are published on while others subscribe, alter what they subscribed, and end it.
//!
//! Invariants:
//! * A durable subscription has a name and one application at a time that makes, resumes or ends it; what the name was
//!   last is what may be there after a restart.
//! * Every subscription has a managed queue, from which only who has the subscription gets.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use posthaste_env::block_on;
use posthaste_model::{
    Op, Outcome, Publication, QueueId, QueueSpec, SubscriptionId, SubscriptionSpec,
};
use posthaste_mqi::constants::*;
use posthaste_mqi::{Hobj, Md, Od, Pmo, Reason, Sd};

use crate::application::{App, Ended, Target, outcome};
use crate::scenario::{SHORT, application, filler, going};
use crate::world::{World, keep};

/// Made before the others begin, and altered while they are at work.
const KEPT: &str = "KEPT";
/// Made and ended while they are.
const PASSING: &str = "PASSING";
/// Whose names they are.
const TOPIC: &str = "a/b";

/// A durable subscription, as the oracle knows it.
#[derive(Clone, Copy)]
struct Known {
    of: SubscriptionId,
    queue: QueueId,
}

/// What each name was last.
#[derive(Default)]
pub(crate) struct Subscriptions {
    last: RefCell<BTreeMap<&'static str, Known>>,
}

/// A durable subscription in hand.
pub(crate) struct Held {
    name: &'static str,
    of: SubscriptionId,
    handle: Hobj,
}

impl World {
    /// Adds a durable subscription that is about to be made.
    fn add_subscription(&self, name: &'static str) -> Known {
        let mut judge = self.judge();
        let queue = judge
            .model
            .add_queue(QueueSpec::roomy(format!("queue of {name}")));
        let of = judge.model.add_subscription(SubscriptionSpec {
            name: name.to_owned(),
            filter: TOPIC.to_owned(),
            characters: false,
            durable: true,
            queue,
            managed: true,
            non_persistent: false,
            narrow: false,
            new_only: true,
        });
        let known = Known { of, queue };
        self.subscriptions.last.borrow_mut().insert(name, known);
        known
    }
}

fn durable(name: &str, options: i32) -> Sd {
    Sd {
        options: options | MQSO_DURABLE | MQSO_MANAGED,
        sub_name: name.to_owned(),
        object_string: TOPIC.to_owned(),
        ..Sd::default()
    }
}

impl App {
    /// Makes a durable subscription, from whose queue it may then get by its name.
    pub(crate) fn subscribe(&self, name: &'static str) -> Option<Held> {
        let Known { of, queue } = self.world.add_subscription(name);
        let op = self.invoke(Op::Subscribe(of))?;
        let mut sd = durable(name, MQSO_CREATE);
        let made = block_on(self.session().subscribe(&mut sd, Hobj::NONE));
        let outcome = made
            .as_ref()
            .map_or_else(|reason| outcome(*reason), |_| Outcome::Done);
        let ended = self.respond(op, outcome);
        let (handle, hsub) = made.ok().filter(|_| ended == Ended::Fine)?.value;
        self.keep_open(name, Target { handle, queue });
        Some(Held {
            name,
            of,
            handle: hsub,
        })
    }

    /// Ends it.
    pub(crate) fn unsubscribe(&self, held: &Held) -> Ended {
        let Some(op) = self.invoke(Op::Unsubscribe(held.of)) else {
            return Ended::Gone;
        };
        let closed = block_on(self.session().close(held.handle, MQCO_REMOVE_SUB));
        let ended = self.respond(op, closed.map_or_else(outcome, |_| Outcome::Done));
        self.close(held.name);
        ended
    }

    /// Publishes a persistent message of so many bytes.
    pub(crate) fn publish(&self, length: usize, in_uow: bool) -> Ended {
        let (id, data, hash) = self.letter(length);
        let publication = Publication {
            id,
            hash,
            topic: TOPIC.to_owned(),
            persistent: true,
            priority: 0,
            in_uow,
            retain: false,
            for_all: true,
            delay: None,
            expiry: None,
        };
        let Some(op) = self.invoke(Op::Publish(publication)) else {
            return Ended::Gone;
        };
        let mut od = Od {
            version: MQOD_VERSION_4,
            object_type: MQOT_TOPIC,
            object_string: TOPIC.to_owned(),
            ..Od::default()
        };
        let mut md = Md {
            persistence: MQPER_PERSISTENT,
            ..Md::default()
        };
        let mut pmo = Pmo {
            options: [MQPMO_NO_SYNCPOINT, MQPMO_SYNCPOINT][usize::from(in_uow)],
            ..Pmo::default()
        };
        let session = self.session();
        let ended = block_on(session.put1(&mut od, &mut md, &mut pmo, data));
        self.respond(op, ended.map_or_else(outcome, |_| Outcome::Done))
    }

    /// After a restart: holds what there is under each name against what must be, and gets everything.
    pub(crate) fn take_over_subscriptions(&self) {
        let last = self.world.subscriptions.last.borrow().clone();
        for (name, Known { of, queue }) in last {
            let mut sd = durable(name, MQSO_RESUME);
            let found = match block_on(self.session().subscribe(&mut sd, Hobj::NONE)) {
                Ok(done) => Some(done.value.0),
                Err(Reason::NO_SUBSCRIPTION) => None,
                Err(reason) => panic!("{name} cannot be resumed: {reason}"),
            };
            {
                let mut judge = self.world.judge();
                let verdict = judge.model.subscription_found(of, found.is_some());
                keep(&mut judge.violation, verdict);
            }
            if let Some(handle) = found {
                self.keep_open(name, Target { handle, queue });
                self.drain(name);
            }
        }
    }
}

/// Publications beside a subscription that is altered, another that comes and goes, and checkpoints.
pub(crate) fn topics(world: &Rc<World>) -> Vec<usize> {
    if let Some(app) = world.connect("first") {
        // It stays when its application goes.
        app.subscribe(KEPT);
        app.leave();
    }
    let publisher = |_| {
        application(world, "publisher", |app| {
            for round in 0..3 {
                let in_uow = round == 1;
                going(app.publish(SHORT, in_uow))?;
                if in_uow {
                    going(app.commit())?;
                }
            }
            Some(())
        })
    };
    let mut threads: Vec<usize> = (0..2).map(publisher).collect();
    threads.push(application(world, "subscriber", |app| {
        for _ in 0..2 {
            let held = app.subscribe(PASSING)?;
            for in_uow in [false, true] {
                going(app.get(PASSING, in_uow, 1))?;
            }
            going(app.commit())?;
            going(app.unsubscribe(&held))?;
        }
        app.subscribe(PASSING).map(drop)
    }));
    threads.push(world.thread("operator", |world| {
        for number in 0..3 {
            if world.judge.borrow().down {
                break;
            }
            // A queue manager that is ending refuses it.
            let _ = world.command(&format!("ALTER SUB({KEPT}) USERDATA('{number}')"));
        }
    }));
    threads.push(filler(world, 4));
    if world.rng.borrow_mut().below(3) == 0 {
        threads.push(world.thread("end", |world| world.end()));
    }
    threads
}
