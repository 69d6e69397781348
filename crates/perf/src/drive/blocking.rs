//! A blocking thread for each application, as ordinary programs have it.
//!
//! Invariant: no call of this carrier leaves anything to wait for, so that an application is one long poll.

use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread;

use bytes::Bytes;
use posthaste_mqi::constants::MQMI_NONE;
use posthaste_mqi::{Done, Gmo, Hobj, Md, Mqi, MsgId, Pmo, Reason, Sts};

use super::Group;
use super::application::{Application, Share};
use super::carrier::{Called, Carrier, Get, Got, Message, Put, Queue};
use super::connect::object;
use super::course::be_punctual;
use super::tally::Tally;
use crate::measure::LabError;
use crate::workload::{Nanos, Shapes};

/// Enough for a thread that only calls.
const STACK: usize = 256 * 1024;

/// Starts a thread for each application.
pub(crate) fn spawn(group: &Group) -> Result<Vec<Arc<Tally>>, LabError> {
    let mut tallies = Vec::new();
    for index in 0..group.workload.applications {
        let tally = Arc::new(Tally::new(1));
        tallies.push(tally.clone());
        let mine = group.clone();
        let started = thread::Builder::new()
            .name(format!("application {index}"))
            .stack_size(STACK)
            .spawn(move || live(Share::new(mine, tally), index));
        if let Err(error) = started {
            group.control.end();
            return Err(LabError::workload(
                format!("thread {} cannot be started", index + 1),
                error,
            ));
        }
    }
    Ok(tallies)
}

/// The whole life of an application.
fn live(share: Rc<Share>, index: u32) {
    let (group, control) = (&share.group, share.group.control.clone());
    be_punctual(&group.workload);
    control.await_turn(index, &group.workload);
    let connected = match control.ending() {
        true => None,
        false => Some(group.way.connect()),
    };
    let connection = match connected {
        Some(Ok(connection)) => connection,
        ended => {
            drop(share);
            if let Some(Err(error)) = ended {
                control.fail(error);
            }
            return control.ended(true);
        }
    };
    let name = connection.queue_manager();
    let carrier = Blocking::new(connection, share.clone(), index);
    let application = Application::new(carrier, name, share, (index, 0));
    let life = pin!(application.live());
    let polled = life.poll(&mut Context::from_waker(Waker::noop()));
    assert_eq!(polled, Poll::Ready(()), "a blocking call does not wait");
}

/// A connection whose calls block.
struct Blocking {
    connection: Box<dyn Mqi>,
    share: Rc<Share>,
    shapes: Shapes,
    md: Md,
    pmo: Pmo,
    gmo: Gmo,
    /// The message got last.
    got: Bytes,
    /// Iterations until the thread yields.
    yields: u64,
}

impl Blocking {
    fn new(connection: Box<dyn Mqi>, share: Rc<Share>, index: u32) -> Blocking {
        Blocking {
            connection,
            shapes: Shapes::new(share.workload(), index),
            md: Md::default(),
            pmo: Pmo::default(),
            gmo: Gmo::default(),
            got: Bytes::new(),
            yields: share.workload().yield_every,
            share,
        }
    }
}

impl Carrier for Blocking {
    async fn open(&mut self, queue: &Queue, options: i32) -> Called<Hobj> {
        let mut od = object(queue.name, queue.queue_manager);
        Ok(self.connection.open_object(&mut od, options)?.value)
    }

    async fn put(&mut self, put: &Put<'_>) -> Called<MsgId> {
        let (md, pmo) = (&mut self.md, &mut self.pmo);
        md.clone_from(&self.shapes.put.md);
        pmo.clone_from(&self.shapes.put.pmo);
        md.correl_id = put.correl_id;
        md.msg_id = MQMI_NONE;
        let data = put.data.unwrap_or(&self.got);
        match put.to.handle {
            Some(handle) => self.connection.put(handle, md, pmo, data)?,
            None => {
                let mut od = object(put.to.name, put.to.queue_manager);
                self.connection.put1(&mut od, md, pmo, data)?
            }
        };
        Ok(md.msg_id)
    }

    async fn get(&mut self, get: &Get, message: &mut Message) -> Called<Got> {
        let (md, gmo) = (&mut self.md, &mut self.gmo);
        md.clone_from(&self.shapes.get.md);
        gmo.clone_from(&self.shapes.get.gmo);
        md.correl_id = get.correl_id;
        gmo.wait_interval = get.wait_ms;
        let got = match self.connection.get(get.from, md, gmo, get.buffer) {
            Err(Reason::NO_MSG_AVAILABLE) => return Ok(Got::Nothing),
            got => got?,
        };
        if got.warning == Reason::TRUNCATED_MSG_FAILED {
            return Ok(Got::TooLong(got.value.length));
        }
        // As MQ-CPH has it, an application that is warned goes no further.
        let got = got.or_warning()?;
        self.got = got.data;
        *message = Message {
            msg_id: md.msg_id,
            correl_id: md.correl_id,
            reply_to: md.reply_to_q,
            reply_to_q_mgr: md.reply_to_q_mgr,
        };
        Ok(Got::Message)
    }

    async fn commit(&mut self) -> Called<()> {
        self.connection.commit()?;
        Ok(())
    }

    async fn stat(&mut self) -> Called<Sts> {
        Ok(self.connection.stat()?.value)
    }

    async fn disconnect(self) -> Called<()> {
        Ok(self.connection.disconnect().and_then(Done::or_warning)?)
    }

    async fn pause(&mut self, until: Option<Nanos>) -> Called<()> {
        match until {
            Some(until) => self.share.control().pause(until),
            None => self.share.control().await_go(),
        }
        Ok(())
    }

    fn now(&self) -> Nanos {
        self.share.control().now()
    }

    fn rested(&mut self) {
        self.share.count();
        if self.yields > 0 {
            self.yields -= 1;
            if self.yields == 0 {
                self.yields = self.share.workload().yield_every;
                thread::yield_now();
            }
        }
    }
}
