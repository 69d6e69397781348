//! MQSUBRQ: retained publications are sent to a subscription again.
//!
//! Invariants: a call that succeeds has sent all that is retained and matches; a subscription that has ended, as it is told, does
//! not come back by a crash.

use posthaste_mqi::constants::{MQSR_ACTION_PUBLICATION, MQSRO_FAIL_IF_QUIESCING};
use posthaste_mqi::{Hobj, Reason, Sro};

use super::retained::send_retained;
use super::{Done, Verb};
use crate::session::Session;
use crate::topics::managed::reason;

impl Session {
    /// MQSUBRQ. `sro` comes back with how many publications were sent.
    ///
    /// # Errors
    /// 2019 `hsub` is no handle on a subscription, 2046 options, 2535 action, 2523 the subscription has ended, 2437 there is
    /// no retained publication on its topics, 2525 these cannot be had, 2526 its queue does not take them, 2161 quiescing.
    pub async fn subscription_request(&self, hsub: Hobj, action: i32, sro: &mut Sro) -> Verb<()> {
        let session = self.inner();
        let _call = session.enter()?;
        if action != MQSR_ACTION_PUBLICATION {
            return Err(Reason::ACTION_ERROR);
        }
        if sro.options & !MQSRO_FAIL_IF_QUIESCING != 0 {
            return Err(Reason::OPTIONS_ERROR);
        }
        if sro.options & MQSRO_FAIL_IF_QUIESCING != 0 && session.qm.lifecycle.quiescing() {
            return Err(Reason::Q_MGR_QUIESCING);
        }
        let opened = session.lock().handles.subscription(hsub)?;
        let Some(found) = session.qm.topics.found(&opened.id) else {
            session.qm.recorded_as_gone().await.map_err(reason)?;
            return Err(Reason::INVALID_SUBSCRIPTION);
        };
        let subscription = found.subscription;
        session.settled().await?;
        sro.num_pubs = 0;
        sro.num_pubs = send_retained(&session.qm, session.id, &subscription, None).await?;
        match sro.num_pubs {
            0 => Err(Reason::NO_RETAINED_MSG),
            _ => Ok(Done::ok(())),
        }
    }
}
