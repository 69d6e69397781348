//! A queue manager that ends in an application's process (FASTPATH), and its successor on the same files: what the application
//! does with its connections, before and after, meets the successor's puts and gets.

use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Waker};

use bytes::Bytes;
use posthaste_engine::{Delivery, Session};
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Gmo, Hobj, Md, Name, Od, Pmo};

use crate::scenario::{SHORT, going};
use crate::world::World;

/// More than a queue's memory takes.
const FILED: usize = 10 * SHORT;

/// A non-persistent message that was handed to a consumer, and never was on the queue: when it is given back there, it is
/// filed. Nobody else sees it, and no end keeps it, so that the oracle need not know of it.
fn handed_over(session: &Session, queue: Hobj) -> Option<Delivery> {
    let by = Md {
        correl_id: [9; 24],
        persistence: MQPER_NOT_PERSISTENT,
        ..Md::default()
    };
    let how = Gmo {
        version: MQGMO_VERSION_2,
        match_options: MQMO_MATCH_CORREL_ID,
        options: MQGMO_NO_SYNCPOINT,
        ..Gmo::default()
    };
    let mut consumer = session.consumer(queue, &by, &how).ok()?;
    consumer.credit(1);
    let mut next = pin!(consumer.next());
    let mut context = Context::from_waker(Waker::noop());
    if next.as_mut().poll(&mut context).is_ready() {
        return None;
    }
    let mut pmo = Pmo {
        options: MQPMO_NO_SYNCPOINT,
        ..Pmo::default()
    };
    let data = Bytes::from(vec![9; FILED]);
    block_on(session.put(queue, &mut by.clone(), &mut pmo, data)).ok()?;
    block_on(next).ok()
}

pub(crate) fn succession(world: &Rc<World>) -> Vec<usize> {
    let mut threads = Vec::new();
    // Connected before the end begins: what counts is what it does when that is over.
    if let Some(app) = world.connect("putter")
        && app.has("A")
    {
        threads.push(world.thread("putter", move |_| {
            // `None` only says that it ended early.
            let _ = (0..6).try_for_each(|_| going(app.put("A", SHORT, false)));
            app.leave();
        }));
    }
    let holder = world.connect("holder");
    let held = holder.as_ref().and_then(|app| {
        let mut od = Od {
            object_name: Name::new("A"),
            ..Od::default()
        };
        let session = app.session();
        let opened = block_on(session.open(&mut od, MQOO_INPUT_SHARED | MQOO_OUTPUT));
        handed_over(&session, opened.ok()?.value)
    });
    threads.push(world.thread("successor", move |world| {
        world.succeed();
        let next = world.connect("next");
        if let Some(app) = &next {
            let _ = (0..6).try_for_each(|_| going(app.put("A", SHORT, false)));
        }
        drop((held, holder));
        if let Some(app) = next {
            app.drain("A");
            app.leave();
        }
    }));
    threads
}
