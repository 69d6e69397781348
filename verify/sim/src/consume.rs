//! Gets by a consumer with credit for one message, which the oracle judges as it judges MQGET.

use std::future::poll_fn;
use std::task::Poll;

use posthaste_engine::{Delivery, Done, Got, Session, Verb};
use posthaste_mqi::constants::*;
use posthaste_mqi::{Gmo, Hobj, Md, Reason};

use crate::calls::BUFFER;
use crate::workload::Worker;

/// Options with which a consumer does what MQGET does.
pub(crate) const LIKE_GET: i32 =
    MQGMO_WAIT | MQGMO_NO_SYNCPOINT | MQGMO_SYNCPOINT | MQGMO_SYNCPOINT_IF_PERSISTENT;

impl Worker {
    /// The connection, if this get is to be made by a consumer.
    pub(crate) fn consuming(&self, gmo: &Gmo, buffer: usize) -> Option<&Session> {
        let can = gmo.options & !LIKE_GET == 0 && buffer == BUFFER;
        self.local().filter(|_| can && self.below(3) == 0)
    }

    /// Gets as MQGET does.
    pub(crate) async fn consumed(
        &self,
        session: &Session,
        handle: Hobj,
        md: &mut Md,
        gmo: &Gmo,
    ) -> Verb<Got> {
        self.met("get by a consumer");
        let wait = match gmo.options & MQGMO_WAIT {
            0 => 0,
            _ => u64::try_from(gmo.wait_interval).unwrap_or(0) * 1_000_000,
        };
        let delivery = self.handed(session, (handle, wait), md, gmo).await?;
        *md = delivery.descriptor();
        let data = delivery.data();
        let persistent = md.persistence == MQPER_PERSISTENT;
        let in_unit = gmo.options & MQGMO_SYNCPOINT != 0
            || gmo.options & MQGMO_SYNCPOINT_IF_PERSISTENT != 0 && persistent;
        match in_unit {
            true if self.below(2) == 0 => delivery.accept_for_listener().await?,
            true => delivery.accept_in_unit().await?,
            false => delivery.accept().await?,
        }
        Ok(Done {
            value: Got {
                length: data.len(),
                data,
            },
            warning: Reason::NONE,
        })
    }

    async fn handed(
        &self,
        session: &Session,
        (handle, wait): (Hobj, u64),
        md: &Md,
        gmo: &Gmo,
    ) -> Result<Delivery, Reason> {
        let mut consumer = session.consumer(handle, md, gmo)?;
        consumer.credit(1);
        let mut timer = self.clock.sleep_until(self.clock.monotonic() + wait);
        poll_fn(|context| {
            let came = consumer.poll_next(context);
            if came.is_pending() && consumer.is_inhibited() {
                // It would wait on; the get that it stands for does not.
                return Poll::Ready(Err(Reason::GET_INHIBITED));
            }
            if came.is_ready() || wait > 0 && timer.as_mut().poll(context).is_pending() {
                return came;
            }
            Poll::Ready(Err(Reason::NO_MSG_AVAILABLE))
        })
        .await
    }
}
