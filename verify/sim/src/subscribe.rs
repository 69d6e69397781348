//! Applications that subscribe: what each of them must be given is decided by the model.
//!
//! * Each durable subscription has a name of its own and one application that makes it, takes what comes, leaves it,
//!   comes back to it and ends it, over restarts too.
//! * Another has subscriptions that end with it.
//!
//! Invariant: a queue has messages of one subscription only, and only who has it gets from it.

use posthaste_model::{
    Get, How, Match, Op, Outcome, QueueId, QueueSpec, Rule, SubscriptionId, SubscriptionSpec,
    Violation,
};
use posthaste_mqi::constants::*;
use posthaste_mqi::{Gmo, Hobj, Md, Name, Reason, Sd};

use crate::calls::BUFFER;
use crate::run::Run;
use crate::workload::{Shared, Target, Worker, outcome, patient};

/// What is subscribed to, and whether in the character scheme.
const FILTERS: [(&str, bool); 11] = [
    ("a/b", false),
    ("a/c", false),
    ("a/#", false),
    ("a/+", false),
    ("+/c", false),
    ("#/c", false),
    ("#/b/#", false),
    ("#", false),
    ("a/*", true),
    ("*c", true),
    ("a?b", true),
];

/// Names of durable subscriptions.
const NAMES: usize = 3;
/// Queues for subscriptions that are not managed; each is used once.
const QUEUES: usize = 6;
/// So many of them have room for few messages.
const NARROW: usize = 3;
/// Their MAXDEPTH: no less than topics, so that there is room for what is retained.
const FEW: u64 = 8;

/// A subscription, as the model knows it.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    of: SubscriptionId,
    queue: QueueId,
    filter: (&'static str, bool),
    /// The queue that its application has named.
    own: Option<String>,
}

/// The subscriptions of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Subscriptions {
    /// What each name was last: it may be there.
    durable: Vec<Option<Known>>,
    /// Queues of subscriptions that are not managed, in their order.
    queues: Vec<(String, QueueId)>,
}

/// A subscription in hand.
struct Held {
    known: Known,
    /// Of the subscription.
    handle: Hobj,
    /// Its queue, open for input.
    target: Target,
}

/// What the queues of unmanaged subscriptions are defined by.
pub(crate) fn definitions() -> impl Iterator<Item = String> {
    (0..QUEUES).map(|at| {
        let most = if at < NARROW { FEW } else { 5000 };
        format!("DEFINE QLOCAL(U.{at}) MAXDEPTH({most})")
    })
}

impl Run {
    /// Spawns those who subscribe.
    pub(crate) fn spawn_subscribers(&self) {
        self.shared
            .borrow_mut()
            .subscriptions
            .durable
            .resize(NAMES, None);
        let executor = self.machine.world.executor();
        for at in 0..NAMES {
            executor.spawn("subscriber", self.worker().subscribe_rounds(at));
        }
        executor.spawn("visitor", self.worker().visit_rounds());
    }
}

impl Shared {
    fn add_subscribers_queue(&mut self, name: String) -> QueueId {
        self.model.add_queue(QueueSpec::roomy(name))
    }

    /// Adds a subscription that is about to be made, with its queue.
    fn add_subscription(
        &mut self,
        name: &str,
        filter: (&'static str, bool),
        options: i32,
    ) -> Known {
        let managed = options & MQSO_MANAGED != 0;
        let number = self.subscriptions.queues.len();
        let own = (!managed).then(|| format!("U.{number}"));
        let queue = own.clone().unwrap_or_else(|| format!("queue of {name}"));
        let queue = self.add_subscribers_queue(queue);
        if let Some(own) = &own {
            self.subscriptions.queues.push((own.clone(), queue));
        }
        let durable = options & MQSO_DURABLE != 0;
        let of = self.model.add_subscription(SubscriptionSpec {
            name: name.to_owned(),
            filter: filter.0.to_owned(),
            characters: filter.1,
            durable,
            queue,
            managed,
            non_persistent: managed && !durable,
            narrow: !managed && number < NARROW,
            new_only: options & MQSO_NEW_PUBLICATIONS_ONLY != 0,
        });
        Known {
            of,
            queue,
            filter,
            own,
        }
    }
}

/// Those who subscribe.
impl Worker {
    /// A call of which the model does not hear was refused: only with a reason that any call can have. False.
    pub(crate) fn refused(&self, reason: Reason) -> bool {
        self.end(Err(reason.into()));
        false
    }

    /// Has one durable subscription at a time, of one name.
    async fn subscribe_rounds(self, at: usize) {
        let Some(mut held) = self.look_for(at).await else {
            return;
        };
        while !self.stopping() {
            self.pause().await;
            let Some(now) = held.take() else {
                match self.subscribe_durable(at).await {
                    Some(made) => held = Some(made),
                    None => return,
                }
                continue;
            };
            let going = match self.below(40) {
                0 => self.end_subscription(at, now).await,
                1 => match self.leave(now).await {
                    true => match self.look_for(at).await {
                        Some(again) => {
                            held = again;
                            true
                        }
                        None => false,
                    },
                    false => false,
                },
                _ => {
                    let going = self.take_publication(&now).await;
                    held = Some(now);
                    going
                }
            };
            if !going {
                return;
            }
        }
        self.backout().await;
    }

    /// Has subscriptions that end with it, or before.
    async fn visit_rounds(self) {
        while !self.stopping() {
            let Some(held) = self.subscribe_volatile().await else {
                return;
            };
            let mut going = true;
            for _ in 0..self.below(30) {
                self.pause().await;
                going = going && (self.stopping() || self.take_publication(&held).await);
            }
            if !going || !self.backout().await {
                // It has ended with its connection; or the queue manager has, and the model knows.
                if self.session.queue_manager().stopped().is_none() {
                    let op = self.invoke(Op::Unsubscribe(held.known.of));
                    self.respond(op, Outcome::Done);
                }
                return;
            }
            if !self.unsubscribe(&held, MQCO_NONE).await {
                return;
            }
        }
    }

    /// Gets what has come, or ends the unit of work.
    async fn take_publication(&self, held: &Held) -> bool {
        match self.below(10) {
            0..7 => {
                let (how, unit) = self.unit();
                let wait = self.below(3) == 0;
                let get = Get {
                    queue: held.known.queue,
                    want: Match::default(),
                    how,
                    wait,
                };
                let mut gmo = Gmo {
                    version: MQGMO_VERSION_2,
                    options: unit | if wait { MQGMO_WAIT } else { 0 },
                    match_options: MQMO_NONE,
                    wait_interval: if wait { self.below(20) as i32 } else { 0 },
                    ..Gmo::default()
                };
                self.make_get(held.target, get, &mut Md::default(), &mut gmo, BUFFER)
                    .await
            }
            7 | 8 => self.commit().await,
            _ => self.backout().await,
        }
    }

    /// MQSUB. `own`: the queue that it names, open.
    async fn subscribe_call(
        &self,
        name: &str,
        filter: (&str, bool),
        options: i32,
        own: Option<Hobj>,
    ) -> Option<Result<(Hobj, Hobj), Reason>> {
        self.met("MQSUB");
        let scheme = [MQSO_WILDCARD_TOPIC, MQSO_WILDCARD_CHAR][usize::from(filter.1)];
        let mut sd = Sd {
            options: options | scheme,
            object_string: filter.0.to_owned(),
            sub_name: name.to_owned(),
            ..Sd::default()
        };
        let session = self.local()?;
        let call = session.subscribe(&mut sd, own.unwrap_or(Hobj::NONE));
        let result = patient(call, self.limit()).await?;
        Some(result.map(|done| done.value))
    }

    fn in_hand(&self, known: &Known, name: &str, handles: (Hobj, Hobj)) -> Held {
        Held {
            known: known.clone(),
            handle: handles.1,
            target: Target {
                handle: handles.0,
                selecting: None,
                queue: known.queue,
                name: Name::new(name),
            },
        }
    }

    /// Comes back to the subscription of this name, if it is there; `None`: the application is to end.
    #[allow(clippy::option_option, reason = "whether to go on, and with what")]
    async fn look_for(&self, at: usize) -> Option<Option<Held>> {
        let known = self.shared.borrow().subscriptions.durable[at].clone();
        let name = format!("SUB.{at}");
        let filter = known.as_ref().map_or(FILTERS[0], |known| known.filter);
        let own = match known.as_ref().and_then(|known| known.own.clone()) {
            Some(own) => Some(self.opened(&own).await?),
            None => None,
        };
        let managed = [MQSO_MANAGED, 0][usize::from(own.is_some())];
        let options = MQSO_RESUME | MQSO_DURABLE | managed;
        let found = self.subscribe_call(&name, filter, options, own).await;
        let found = match found {
            Some(Ok(handles)) => Some(handles),
            Some(Err(Reason::NO_SUBSCRIPTION)) => None,
            Some(Err(reason)) => {
                self.refused(reason);
                return None;
            }
            // It was given up, and nothing is known.
            None => {
                self.session_lost().await;
                return None;
            }
        };
        let Some(known) = known else {
            if found.is_some() {
                let text = format!("{name} is there, and nobody has made it");
                let rule = Rule::Subscriptions;
                self.violated(Violation { rule, text });
                return None;
            }
            return Some(None);
        };
        let looked = {
            let mut shared = self.shared.borrow_mut();
            shared.model.subscription_found(known.of, found.is_some())
        };
        if let Err(violation) = looked {
            self.violated(violation);
            return None;
        }
        let Some(handles) = found else {
            if let Some(own) = own
                && let Err(reason) = self.close_one(own).await
            {
                self.refused(reason);
                return None;
            }
            self.shared.borrow_mut().subscriptions.durable[at] = None;
            return Some(None);
        };
        self.met("subscription resumed");
        let handles = (own.unwrap_or(handles.0), handles.1);
        Some(Some(self.in_hand(&known, &name, handles)))
    }

    async fn opened(&self, queue: &str) -> Option<Hobj> {
        match self.open_one(queue, MQOO_INPUT_SHARED).await {
            Ok(handle) => Some(handle),
            Err(reason) => {
                self.refused(reason);
                None
            }
        }
    }

    /// Goes away without a word, as a client does whose connection broke.
    async fn session_lost(&self) {
        let lost = self.invoke(Op::Backout);
        if let Some(session) = self.local() {
            session.terminate().await;
        }
        let stopped = self.session.queue_manager().stopped().is_some();
        self.respond(
            lost,
            [Outcome::Done, Outcome::Unknown][usize::from(stopped)],
        );
    }

    fn new_only(&self) -> i32 {
        [0, MQSO_NEW_PUBLICATIONS_ONLY][usize::from(self.below(3) == 0)]
    }

    async fn subscribe_durable(&self, at: usize) -> Option<Held> {
        let filter = FILTERS[self.below(FILTERS.len() as u64) as usize];
        let free = self.shared.borrow().subscriptions.queues.len() < QUEUES;
        let managed = [MQSO_MANAGED, 0][usize::from(free && self.below(3) == 0)];
        let options = MQSO_CREATE | MQSO_DURABLE | managed | self.new_only();
        let name = format!("SUB.{at}");
        let known = self
            .shared
            .borrow_mut()
            .add_subscription(&name, filter, options);
        let own = match &known.own {
            Some(own) => Some(self.opened(own).await?),
            None => None,
        };
        // From here on it may be there.
        self.shared.borrow_mut().subscriptions.durable[at] = Some(known.clone());
        let op = self.invoke(Op::Subscribe(known.of));
        match self.subscribe_call(&name, filter, options, own).await {
            Some(Ok(handles)) => {
                self.met(match own {
                    Some(_) => "subscription durable to a queue",
                    None => "subscription durable",
                });
                let handles = (own.unwrap_or(handles.0), handles.1);
                self.respond(op, Outcome::Done)
                    .then(|| self.in_hand(&known, &name, handles))
            }
            Some(Err(reason)) => {
                self.failed(op, reason).await;
                None
            }
            None => {
                self.gave_up(op).await;
                None
            }
        }
    }

    async fn subscribe_volatile(&self) -> Option<Held> {
        let filter = FILTERS[self.below(FILTERS.len() as u64) as usize];
        let options = MQSO_CREATE | MQSO_MANAGED | self.new_only();
        let known = self
            .shared
            .borrow_mut()
            .add_subscription("a visitor", filter, options);
        let op = self.invoke(Op::Subscribe(known.of));
        match self.subscribe_call("", filter, options, None).await {
            Some(Ok(handles)) => {
                self.met("subscription not durable");
                self.respond(op, Outcome::Done)
                    .then(|| self.in_hand(&known, "", handles))
            }
            Some(Err(reason)) => {
                self.failed(op, reason).await;
                None
            }
            None => {
                self.gave_up(op).await;
                // Its connection is gone, and it with it, if it was made.
                if self.session.queue_manager().stopped().is_none() {
                    let op = self.invoke(Op::Unsubscribe(known.of));
                    self.respond(op, Outcome::Done);
                }
                None
            }
        }
    }

    /// Ends the subscription of a name.
    async fn end_subscription(&self, at: usize, held: Held) -> bool {
        // What is in hand is given back, or is done with.
        let ended = match self.below(2) {
            0 => self.commit_now().await,
            _ => self.backout().await,
        };
        if !ended || !self.unsubscribe(&held, MQCO_REMOVE_SUB).await {
            return false;
        }
        self.met("subscription ended");
        self.shared.borrow_mut().subscriptions.durable[at] = None;
        true
    }

    /// Closes the subscription so that it ends, and its queue.
    async fn unsubscribe(&self, held: &Held, options: i32) -> bool {
        let op = self.invoke(Op::Unsubscribe(held.known.of));
        let going = match patient(self.session.close(held.handle, options), self.limit()).await {
            Some(Ok(_)) => self.respond(op, Outcome::Done),
            Some(Err(reason)) => self.failed(op, reason).await,
            None => self.gave_up(op).await,
        };
        going && self.closed(held.target.handle).await
    }

    /// Closes the handles of a durable subscription, which stays.
    async fn leave(&self, held: Held) -> bool {
        let kept = self.session.close(held.handle, MQCO_KEEP_SUB).await;
        if let Err(reason) = kept {
            return self.refused(reason);
        }
        self.met("subscription left");
        self.closed(held.target.handle).await
    }

    async fn closed(&self, handle: Hobj) -> bool {
        match self.close_one(handle).await {
            Ok(()) => true,
            // The queue went with the subscription.
            Err(Reason::HOBJ_ERROR) => true,
            Err(reason) => self.refused(reason),
        }
    }

    /// Gets everything that durable subscriptions have.
    pub(crate) async fn drain_subscriptions(&self) {
        let names = self.shared.borrow().subscriptions.durable.len();
        for at in 0..names {
            let Some(held) = self.look_for(at).await else {
                return;
            };
            if let Some(held) = held
                && !self.drain_one(held.target).await
            {
                return;
            }
        }
        // What subscriptions that have ended have left behind.
        let queues = self.shared.borrow().subscriptions.queues.clone();
        for (name, queue) in queues {
            let Some(handle) = self.opened(&name).await else {
                return;
            };
            let target = Target {
                handle,
                selecting: None,
                queue,
                name: Name::new(&name),
            };
            if !self.drain_one(target).await {
                return;
            }
        }
    }

    /// Gets until there is nothing; false ends the application.
    async fn drain_one(&self, target: Target) -> bool {
        loop {
            let get = Get {
                queue: target.queue,
                want: Match::default(),
                how: How::NoSyncpoint,
                wait: false,
            };
            let op = self.invoke(Op::Get(get));
            let mut gmo = Gmo {
                options: MQGMO_NO_SYNCPOINT,
                ..Gmo::default()
            };
            let mut md = Md::default();
            let call = self.session.get(target.handle, &mut md, &mut gmo, BUFFER);
            match call.await {
                Ok(done) => {
                    let got = crate::calls::delivered(&md, &done.value.data);
                    if !self.respond(op, Outcome::Got(got)) {
                        return false;
                    }
                }
                Err(reason) => {
                    return self.respond(op, outcome(reason)) && reason == Reason::NO_MSG_AVAILABLE;
                }
            }
        }
    }
}
