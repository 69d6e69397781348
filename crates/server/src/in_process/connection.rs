//! A connection inside the queue manager's process.
//!
//! Invariants: a verb runs on the calling thread, which sleeps only where the verb has to wait; a message that is
//! put is copied once, into the queue manager's memory, and one that is got is not copied. A panic inside a verb is
//! the application's to deal with, but the queue manager has ended then: what the verb was changing may be half
//! changed.

use bytes::Bytes;
use posthaste_engine::Session;
use posthaste_env::block_on;
use posthaste_mqi::constants::{
    MQPMO_ASYNC_RESPONSE, MQPMO_SYNC_RESPONSE, MQPRT_ASYNC_RESPONSE, MQSTAT_TYPE_ASYNC_ERROR,
};
use posthaste_mqi::{
    Done, Gmo, Got, Hobj, Inquired, Md, Mqi, Od, Pmo, Reason, Sd, Sro, Sts, Subscribed, Verb,
};

/// A connection to a queue manager inside this process; see [`Mqi`] for its verbs. Dropping it without
/// [`Mqi::disconnect`] backs its unit of work out.
pub struct LocalConnection {
    session: Session,
}

impl std::fmt::Debug for LocalConnection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LocalConnection").finish_non_exhaustive()
    }
}

/// Whether a call failed because there is no connection to make it by: then MQSTAT could not tell it either.
fn disconnected(reason: Reason) -> bool {
    [
        Reason::CONNECTION_BROKEN,
        Reason::HCONN_ERROR,
        Reason::Q_MGR_STOPPING,
        Reason::CALL_IN_PROGRESS,
    ]
    .contains(&reason)
}

/// Ends the queue manager when a verb is cut short by a panic.
struct Watched<'a>(&'a Session);

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let qm = self.0.queue_manager();
            qm.found_defect("a verb panicked in an application's process");
        }
    }
}

impl LocalConnection {
    /// Runs a verb to its end.
    fn run<T>(&self, verb: impl Future<Output = T>) -> T {
        if std::thread::panicking() {
            // Called while the application unwinds: whether the verb itself panics cannot be told.
            return block_on(verb);
        }
        let _watched = Watched(&self.session);
        block_on(verb)
    }

    pub(super) fn new(session: Session) -> LocalConnection {
        LocalConnection { session }
    }

    /// Whether the application is not told how a put by this handle ends: by its options, or as DEFPRESP was when the
    /// queue was opened. One without a handle is always told, as a client's library tells it.
    fn asynchronous(&self, handle: Hobj, options: i32) -> Result<bool, Reason> {
        let stated = stated_response(options)?;
        let Some(defaults) = self.session.defaults(handle) else {
            return Ok(false);
        };
        let by_queue = defaults.put_response == MQPRT_ASYNC_RESPONSE;
        Ok(match stated {
            0 => by_queue,
            stated => stated == MQPMO_ASYNC_RESPONSE,
        })
    }
}

/// What a put's options say of its response.
fn stated_response(options: i32) -> Result<i32, Reason> {
    const BOTH: i32 = MQPMO_ASYNC_RESPONSE | MQPMO_SYNC_RESPONSE;
    match options & BOTH {
        BOTH => Err(Reason::OPTIONS_ERROR),
        stated => Ok(stated),
    }
}

/// What the application is told of a put at once. Of an asynchronous one it is told later, by MQSTAT, as by a client's
/// library.
fn synchronous(put: Verb<()>, asynchronous: bool) -> Verb<()> {
    match put {
        Err(reason) if disconnected(reason) => Err(reason),
        _ if asynchronous => Ok(Done::ok(())),
        put => put,
    }
}

impl Mqi for LocalConnection {
    fn queue_manager(&self) -> String {
        self.session.queue_manager().name().to_owned()
    }

    fn open_object(&mut self, od: &mut Od, options: i32) -> Verb<Hobj> {
        self.run(self.session.open(od, options))
    }

    fn close(&mut self, handle: Hobj, options: i32) -> Verb<()> {
        self.run(self.session.close(handle, options))
    }

    fn put(&mut self, handle: Hobj, md: &mut Md, pmo: &mut Pmo, data: &[u8]) -> Verb<()> {
        let stated = pmo.options;
        let asynchronous = self.asynchronous(handle, stated)?;
        pmo.options = match asynchronous {
            true => stated | MQPMO_ASYNC_RESPONSE,
            false => stated & !MQPMO_ASYNC_RESPONSE,
        };
        let data = Bytes::copy_from_slice(data);
        let put = self.run(self.session.put(handle, md, pmo, data));
        pmo.options = stated;
        synchronous(put, asynchronous)
    }

    fn put1(&mut self, od: &mut Od, md: &mut Md, pmo: &mut Pmo, data: &[u8]) -> Verb<()> {
        let asynchronous = stated_response(pmo.options)? == MQPMO_ASYNC_RESPONSE;
        let data = Bytes::copy_from_slice(data);
        let put = self.run(self.session.put1(od, md, pmo, data));
        synchronous(put, asynchronous)
    }

    fn get(&mut self, handle: Hobj, md: &mut Md, gmo: &mut Gmo, max: usize) -> Verb<Got> {
        self.run(self.session.get(handle, md, gmo, max))
    }

    fn subscribe(&mut self, sd: &mut Sd, own: Hobj) -> Verb<Subscribed> {
        let subscribed = self.run(self.session.subscribe(sd, own))?;
        Ok(subscribed.map(|(messages, subscription)| Subscribed {
            messages,
            subscription,
        }))
    }

    fn subscription_request(&mut self, subscription: Hobj, action: i32, sro: &mut Sro) -> Verb<()> {
        self.run(self.session.subscription_request(subscription, action, sro))
    }

    fn commit(&mut self) -> Verb<()> {
        self.run(self.session.commit())
    }

    fn backout(&mut self) -> Verb<()> {
        self.run(self.session.backout())
    }

    fn inquire(&mut self, handle: Hobj, selectors: &[i32], char_length: usize) -> Verb<Inquired> {
        let mut found = self.run(self.session.inquire(handle, selectors))?;
        // As over a socket: what does not fit is cut off.
        found.value.chars.truncate(char_length);
        Ok(found)
    }

    fn set(&mut self, handle: Hobj, selectors: &[i32], ints: &[i32], chars: &[u8]) -> Verb<()> {
        self.run(self.session.set(handle, selectors, ints, chars))
    }

    fn stat(&mut self) -> Verb<Sts> {
        let version = Sts::default().version;
        let stat = block_on(self.session.stat(MQSTAT_TYPE_ASYNC_ERROR, version));
        stat.map(Done::ok)
    }

    fn disconnect(self: Box<Self>) -> Verb<()> {
        self.run(self.session.disconnect())
    }
}
