//! Messages that are delivered some time after they were put (JMS 2.0, delivery delay): they wait on a staging queue, and
//! are put where they are to go when they are due.
//!
//! Invariants:
//! * A message leaves the staging queue in the unit of work that puts it on its queue, publishes it, or puts it on the
//!   dead-letter queue: after a crash it is at one end or the other, once.
//! * What cannot be put, and not on the dead-letter queue either, stays on the staging queue and is tried again.
//! * A message is believed what its header says if the queue manager has put it on the staging queue, which no application can write
//!   into it (`origin.rs`). Of what an earlier release has put nobody knows: it goes where it says, but not to a queue whose messages
//!   are taken at their word, and no report is made on it. Anything else stays where it is (AMQ2215W, 2035).
//! * Where it lands may have changed since it was put, by aliases, of topics too, queue manager aliases, the default transmission queue
//!   and queues that were made anew: then whoever has put it is asked about anew, and it does not get to a queue whose messages are taken at their word. A queue is known again by its
//!   number, for it keeps that as long as it is there, and no other gets it.
//! * Nothing waits on a staging queue that an application has made: it would be its maker's.
//! * While nothing is delayed there is no connection for it, and nobody looks.

pub(crate) mod header;
pub(crate) mod known;

use std::sync::Arc;

use bytes::Bytes;
use posthaste_env::sync::atomic::Ordering;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Gmo, Hobj, LONGEST_MESSAGE, Md, Name, Od, Pmo, Reason};

use crate::at_their_word::{on_anothers_behalf, speaks_for_itself};
use crate::catalogue::DELAY_QUEUE;
use crate::consume::selection::{seq_of, token_of};
use crate::handles::Target;
use crate::maintain::Watched;
use crate::manager::Inner;
use crate::mark::{Mark, mark};
use crate::origin::Origin;
use crate::plant::{Bug, planted};
use crate::queue::Queue;
use crate::queue_manager::QueueManager;
use crate::report::{self, Kind, Report};
use crate::resolution::Resolved;
use crate::session::Session;
use crate::signal::either;
use crate::verbs::put_delayed::landing;
use crate::verbs::{Done, send};
use header::{Header, Landing, Place};
use known::LONGEST_WAIT;

/// Microseconds until what could not be put is tried again.
const TRY_AGAIN: i64 = 60_000_000;
/// Microseconds until the queue is looked through again, where somebody else holds a message that was due.
const LOOK_AGAIN: i64 = 1_000_000;

impl Inner {
    /// The staging queue, if it is there.
    pub(crate) fn delay_queue(&self) -> Option<Arc<Queue>> {
        let queue = self.catalogue.local_queue(DELAY_QUEUE)?;
        if queue.attributes().dynamic() {
            return None;
        }
        // One that has just been defined knows of nobody to tell.
        queue.lock().tell_delays(&self.delays);
        Some(queue)
    }

    /// Messages on it, those of units of work that go on included.
    fn staged(&self) -> u32 {
        self.delay_queue().map_or(0, |queue| queue.lock().depth())
    }
}

/// At work on the staging queue.
struct Delivering {
    session: Session,
    queue: Hobj,
}

/// What became of a message that was due.
enum Became {
    /// It is where it was to go, or on the dead-letter queue; or it was no longer there.
    Done,
    /// Somebody else has it in hand.
    Held,
    /// It stays.
    Stays(Reason),
}

impl QueueManager {
    /// Puts delayed messages where they are to go when they are due, until the queue manager quiesces or ends. Drive it on a
    /// thread or task of its own; where nobody does, they stay delayed.
    pub async fn deliver_delayed(&self) {
        let _watched = Watched(self, "the delivery of delayed messages panicked");
        let inner = self.inner();
        let mut delivering = None;
        let mut reported = Reason::NONE;
        // What was there before the queue manager was started.
        inner.delays.look_again(0);
        loop {
            let ending = inner.lifecycle.changed.listen();
            let changed = inner.delays.changed.listen();
            if inner.lifecycle.quiescing() || inner.lifecycle.ended() {
                break;
            }
            let turn = self.deliver_those_due(&mut delivering, &mut reported).await;
            let failed = turn.is_err();
            if let Err(reason) = turn {
                if !self.stays_up(reason, &mut reported) {
                    break;
                }
                // Whoever puts the queue in order finds nobody who has it open.
                if let Some(Delivering { session, .. }) = delivering.take() {
                    session.terminate().await;
                }
            }
            let left_over = inner.staged() as usize;
            let left = left_over > 0;
            if left && inner.delays.next(0).is_none() {
                // In a unit of work that goes on, or given back by one.
                inner.delays.look_again(inner.clock.now() + LOOK_AGAIN);
            } else if inner.delays.count() < left_over {
                // Some are so, or were put there by somebody for whom they stay.
                inner.delays.look_again(inner.clock.now() + TRY_AGAIN);
            }
            if !left && let Some(Delivering { session, .. }) = delivering.take() {
                session.terminate().await;
            }
            let wait = inner.delays.next(inner.clock.now());
            let wait = wait.filter(|_| left).unwrap_or(LONGEST_WAIT);
            // What is due does not make a call succeed that has failed.
            let wait = if failed { TRY_AGAIN } else { wait };
            let until = inner.env.clock.monotonic() + wait.unsigned_abs() * 1_000;
            let woken = either(changed, inner.env.clock.sleep_until(until));
            either(ending, woken).await;
        }
        if let Some(Delivering { session, .. }) = delivering {
            session.terminate().await;
        }
    }

    /// A call has failed: whether it is worth to try again. The operator is told of what is new.
    fn stays_up(&self, reason: Reason, reported: &mut Reason) -> bool {
        let inner = self.inner();
        if inner.lifecycle.quiescing() || inner.lifecycle.ended() {
            return false;
        }
        self.report_once(reason, reported);
        inner.delays.look_again(inner.clock.now() + TRY_AGAIN);
        true
    }

    /// One reason is told once, however many messages have it.
    fn report_once(&self, reason: Reason, reported: &mut Reason) {
        if reason != *reported {
            let inserts = [DELAY_QUEUE.to_owned(), reason.to_string()];
            self.inner().operator.message("AMQ2215W", &inserts);
            *reported = reason;
        }
    }

    async fn deliver_those_due(
        &self,
        delivering: &mut Option<Delivering>,
        reported: &mut Reason,
    ) -> Result<(), Reason> {
        let inner = self.inner();
        let now = inner.clock.now();
        if inner.delays.next(now) != Some(0) {
            return Ok(());
        }
        if inner.staged() == 0 {
            inner.delays.forget();
            if inner.staged() > 0 {
                // It came between the two.
                inner.delays.look_again(0);
            }
            return Ok(());
        }
        let at_work = match delivering {
            Some(at_work) => at_work,
            None => delivering.insert(Delivering::begin(self).await?),
        };
        if inner.delays.is_to_look(now) {
            at_work.look_through(inner).await?;
        }
        while let Some(seq) = inner.delays.take_due(now) {
            match at_work.deliver(inner, seq).await? {
                Became::Done => {}
                Became::Held => inner.delays.look_again(inner.clock.now() + LOOK_AGAIN),
                Became::Stays(reason) => {
                    let again = (inner.clock.now() + TRY_AGAIN, seq);
                    inner.delays.add([again]);
                    self.report_once(reason, reported);
                }
            }
        }
        Ok(())
    }
}

impl Delivering {
    async fn begin(qm: &QueueManager) -> Result<Delivering, Reason> {
        let session = qm.connect_itself("delivery delay")?;
        let mut od = Od {
            object_name: Name::new(DELAY_QUEUE),
            ..Od::default()
        };
        let options = MQOO_INPUT_SHARED | MQOO_BROWSE | MQOO_FAIL_IF_QUIESCING;
        let queue = session.open(&mut od, options).await?.value;
        Ok(Delivering { session, queue })
    }

    /// Finds out about every message on the queue.
    async fn look_through(&self, inner: &Inner) -> Result<(), Reason> {
        // What arrives from here on is among the known ones, once more perhaps.
        inner.delays.forget();
        let mut found = Vec::new();
        let mut next = MQGMO_BROWSE_FIRST;
        loop {
            let mut gmo = Gmo {
                version: MQGMO_VERSION_3,
                options: next | MQGMO_ACCEPT_TRUNCATED_MSG | MQGMO_FAIL_IF_QUIESCING,
                match_options: MQMO_NONE,
                ..Gmo::default()
            };
            let mut md = Md::default();
            let data = match self.session.get(self.queue, &mut md, &mut gmo, 64).await {
                Ok(Done { value, .. }) => value.data,
                Err(Reason::NO_MSG_AVAILABLE) => break,
                Err(reason) => {
                    inner.delays.look_again(0);
                    return Err(reason);
                }
            };
            if let (Some(due), Some(seq)) = (Header::due_of(&data), seq_of(&gmo.msg_token)) {
                mark(Mark::DelayFound);
                if !planted(Bug::ForgetDelayed) || due > inner.clock.now() {
                    found.push((due, seq));
                }
            }
            next = MQGMO_BROWSE_NEXT;
        }
        inner.delays.add(found);
        Ok(())
    }

    /// Puts a message where it is to go.
    ///
    /// # Errors
    /// A call failed that is not about this message.
    async fn deliver(&self, inner: &Arc<Inner>, seq: u64) -> Result<Became, Reason> {
        let data = match self.take(seq).await {
            Ok(data) => data,
            Err(Reason::NO_MSG_AVAILABLE) => return Ok(Became::Held),
            Err(reason) => return Err(reason),
        };
        let Some((mut header, length)) = Header::decode(&data) else {
            self.session.backout().await?;
            return Ok(Became::Done);
        };
        let is_own = self.session.inner().got_delayed.load(Ordering::Relaxed);
        match (is_own, header.earlier) {
            (true, false) => {}
            (false, true) => header.md.report = MQRO_NONE,
            _ => {
                self.session.backout().await?;
                return Ok(Became::Stays(Reason::NOT_AUTHORIZED));
            }
        }
        let data = data.slice(length..);
        if planted(Bug::MoveInTwo) {
            self.session.commit().await?;
        }
        if header.expires != 0 && header.expires <= inner.clock.now() {
            mark(Mark::DelayExpired);
            return self.expire(inner, header, data).await;
        }
        let settled = match self.put(inner, &header, data.clone()).await {
            Err(reason) if self.is_final(reason) => self.give_up(inner, header, data, reason).await,
            put => put,
        };
        match settled {
            Ok(()) => {
                mark(Mark::DelayOver);
                self.session.commit().await.map(|_| Became::Done)
            }
            Err(reason) => {
                mark(Mark::DelayGoesOn);
                self.session.backout().await?;
                Ok(Became::Stays(reason))
            }
        }
    }

    /// It has expired while it waited: nobody is given it, and the report goes out for which it asks.
    async fn expire(
        &self,
        inner: &Arc<Inner>,
        header: Header,
        data: Bytes,
    ) -> Result<Became, Reason> {
        let of = (&header.md, Origin::of(&header.md), header.expires);
        let report = report::report(inner, Kind::Expiration, of, &data.into());
        if let (Place::Queue(..), Some(report)) = (&header.to, report) {
            send::send_report(self.session.inner(), &report, true).await;
        }
        self.session.commit().await.map(|_| Became::Done)
    }

    /// Gets it in the unit of work.
    async fn take(&self, seq: u64) -> Result<Bytes, Reason> {
        let mut gmo = Gmo {
            version: MQGMO_VERSION_3,
            options: MQGMO_SYNCPOINT | MQGMO_NO_WAIT | MQGMO_FAIL_IF_QUIESCING,
            match_options: MQMO_MATCH_MSG_TOKEN,
            msg_token: token_of(seq),
            ..Gmo::default()
        };
        // As long as one may ever have been: whether it is too long now is for its put to say.
        let longest = LONGEST_MESSAGE + header::LONGEST;
        let mut md = Md::default();
        let got = self.session.get(self.queue, &mut md, &mut gmo, longest);
        Ok(got.await?.value.data)
    }

    /// Whether a put that failed for this reason is to fail again, whenever it is tried.
    fn is_final(&self, reason: Reason) -> bool {
        let never_fits = self.session.inner().never_fits.load(Ordering::Relaxed);
        !is_passing(reason) || reason == Reason::RESOURCE_PROBLEM && never_fits
    }

    /// Puts it in the unit of work.
    async fn put(&self, inner: &Inner, header: &Header, data: Bytes) -> Result<(), Reason> {
        let mut od = match &header.to {
            Place::Queue(queue, manager) => Od {
                object_name: *queue,
                object_q_mgr_name: *manager,
                ..Od::default()
            },
            Place::Topic(string) => Od {
                version: MQOD_VERSION_4,
                object_type: MQOT_TOPIC,
                object_string: string.clone(),
                ..Od::default()
            },
        };
        let mut md = header.md.clone();
        if header.expires != 0 {
            let left = header.expires.saturating_sub(inner.clock.now()) / 100_000;
            // Less than a tenth of a second is one.
            md.expiry = i32::try_from(left.max(1)).unwrap_or(i32::MAX);
        }
        let mut pmo = Pmo {
            version: MQPMO_VERSION_3,
            options: header.options | MQPMO_SYNCPOINT | MQPMO_SET_ALL_CONTEXT,
            pub_level: header.pub_level,
            ..Pmo::default()
        };
        if let Some(publisher) = &self.session.inner().publishes_for {
            let of_this_run = inner.numbers.in_this_run(header.publisher);
            publisher.store(of_this_run, Ordering::Relaxed);
        }
        let never_fits = &self.session.inner().never_fits;
        never_fits.store(false, Ordering::Relaxed);
        let unknown = Err(Reason::SECURITY_ERROR);
        let may_land = |resolved: &Resolved| may_land(inner, header, resolved);
        let put = self
            .session
            .put1_for(&mut od, &mut md, &mut pmo, data.clone(), may_land);
        let put = put.await.map(drop);
        let Some(user) = header.putter.as_ref().filter(|_| put == unknown) else {
            return put;
        };
        inner.look_up(user).await;
        let put = self
            .session
            .put1_for(&mut od, &mut md, &mut pmo, data, may_land);
        put.await.map(drop)
    }

    /// It cannot be put for `reason`: puts it on the dead-letter queue, unless it asks to be discarded, and the report for
    /// which it asks, in the unit of work.
    async fn give_up(
        &self,
        inner: &Inner,
        header: Header,
        data: Bytes,
        reason: Reason,
    ) -> Result<(), Reason> {
        let session = self.session.inner();
        let to = match header.to {
            Place::Queue(queue, manager) => (queue, manager),
            Place::Topic(string) => (Name::new(&string), Name::default()),
        };
        let origin = Origin::of(&header.md);
        let expires = header.expires;
        let failed = Report {
            md: header.md,
            data: data.into(),
            origin,
            to,
        };
        let exception = report::report(
            inner,
            Kind::Exception(reason.0),
            (&failed.md, origin, expires),
            &failed.data,
        );
        if failed.md.report & MQRO_DISCARD_MSG == 0 {
            let dead = failed.dead_letter(inner, reason).map_err(|why| match why {
                // There is none: the operator is told what the matter is with where it was to go.
                Reason::UNKNOWN_OBJECT_NAME => reason,
                why => why,
            })?;
            send::in_unit(session, dead).await?;
        }
        if let Some(exception) = exception {
            send::send_report(session, &exception, true).await;
        }
        Ok(())
    }
}

/// Whether a message may be put now where its way leads: there it would have landed when it was put, or it still may.
///
/// # Errors
/// 2035 it may not; 2063 nobody has said yet who put it.
fn may_land(qm: &Inner, header: &Header, resolved: &Resolved) -> Result<(), Reason> {
    let lands = landing(&resolved.target);
    let is_unchanged = match &resolved.target {
        // A queue's name may be that of an alias of a topic by now.
        Target::Topic(_) => matches!(header.to, Place::Topic(_)),
        // It may be transmitted from by now. The command queue was what it is when it was put.
        Target::Queue { queue, .. } if speaks_for_itself(queue) => false,
        // By which queue it was to be transmitted was not written before.
        Target::Remote { .. } if header.landing == Landing::Nowhere => !header.earlier,
        _ => !header.earlier && lands.is_known() && lands == header.landing,
    };
    if is_unchanged {
        return Ok(());
    }
    let named = header.md.user_identifier.text();
    let user = header.putter.as_deref().unwrap_or(&named);
    if let Target::Queue { queue, .. } = &resolved.target {
        on_anothers_behalf(qm, queue, (user, DELAYED))?;
    }
    // As long as an earlier release has been content with: but for what it had not asked.
    let is_published = matches!(resolved.target, Target::Topic(_));
    let asked = match header.earlier {
        true => is_published || resolved.target.by_manager().is_some(),
        false => header.putter.is_some(),
    };
    if !asked {
        return Ok(());
    }
    let caller = qm.known_caller(user, DELAYED)?;
    let caller = match header.earlier {
        true => caller.unprivileged(),
        false => caller,
    };
    caller.may_open(qm, resolved, MQOO_OUTPUT).map(drop)
}

/// What the put of a message that is due is called where its putter may not put it any more.
const DELAYED: &str = "delayed put";

/// A put failed for a reason that is not about the message or where it goes.
fn is_passing(reason: Reason) -> bool {
    [
        Reason::BACKED_OUT,
        Reason::CONNECTION_BROKEN,
        Reason::Q_MGR_QUIESCING,
        Reason::Q_MGR_STOPPING,
        Reason::Q_SPACE_NOT_AVAILABLE,
        Reason::RESOURCE_PROBLEM,
        Reason::SECURITY_ERROR,
    ]
    .contains(&reason)
}
