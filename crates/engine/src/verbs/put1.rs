//! MQPUT1: open, put and close in one call.

use bytes::Bytes;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Hobj, Md, Od, Pmo, Reason};

use super::authorise::put1_options;
use super::lists::describes_list;
use super::open::check_descriptor;
use super::put::{Going, Route, check_options};
use super::{Verb, context, mde};
use crate::authority_service::Authorised;
use crate::authorization::Caller;
use crate::group::GroupPut;
use crate::handles::Target;
use crate::resolution::{Resolved, resolve};
use crate::session::{Session, SessionInner};

impl SessionInner {
    /// The context that a put passes on, if it passes one on.
    pub(super) fn passed_context(&self, pmo: &Pmo) -> Result<Option<Box<Md>>, Reason> {
        let passes = MQPMO_PASS_ALL_CONTEXT | MQPMO_PASS_IDENTITY_CONTEXT;
        if pmo.options & passes == 0 {
            return Ok(None);
        }
        let mut state = self.lock();
        let from = state.handles.get(Hobj(pmo.context));
        let from = from.map_err(|_| Reason::CONTEXT_HANDLE_ERROR)?;
        Ok(Some(context::saved(from)?))
    }

    /// The part of MQPUT1 before the message is on its way.
    fn begin_put1(
        &self,
        od: &mut Od,
        md: &Md,
        pmo: &Pmo,
        data: Bytes,
        may_open: impl FnOnce(&Resolved, i32) -> Result<Authorised, Reason>,
    ) -> Result<Going, Reason> {
        check_options(pmo)?;
        if pmo.options & MQPMO_LOGICAL_ORDER != 0 {
            return Err(Reason::OPTIONS_ERROR);
        }
        check_descriptor(od, 0)?;
        // MQPUT1 opens with every context right the put asks for.
        context::check(pmo.options, -1)?;
        let resolved = match od.object_type {
            MQOT_Q => resolve(&self.qm, &od.object_name, &od.object_q_mgr_name)?
                .map_err(|_| Reason::OBJECT_TYPE_ERROR)?,
            MQOT_TOPIC => self.resolve_topic(od, MQOO_OUTPUT)?,
            _ => return Err(Reason::OBJECT_TYPE_ERROR),
        };
        let options = put1_options(pmo.options);
        let authorised = may_open(&resolved, options)?;
        let passed = self.passed_context(pmo)?;
        let (mut changed, data) = mde::absorb(md, data)?;
        let new_id = || self.qm.new_msg_id(self.qm.next_seq());
        GroupPut::default().next(&mut changed, pmo, md.persistence, new_id)?;
        let passed = passed.as_deref();
        if let Target::Topic(topic) = resolved.target {
            od.resolved_type = MQOT_TOPIC;
            od.res_object_string.clone_from(&topic.string);
            let publishing = self.begin_publish(topic, changed, pmo, data, passed, authorised)?;
            return Ok(Going::Topic(publishing));
        }
        let route = Route::of(&resolved.target, &resolved.opened)?;
        let begun = self.begin_put(route, changed, pmo, data, passed, authorised)?;
        Ok(Going::Queue(begun))
    }
}

impl Session {
    /// MQPUT1 of the queue manager itself, for somebody: `may_land` says whether it may, where it lands.
    ///
    /// # Errors
    /// Those of [`Session::put1`], and of `may_land`.
    pub(crate) async fn put1_for(
        &self,
        od: &mut Od,
        md: &mut Md,
        pmo: &mut Pmo,
        data: Bytes,
        may_land: impl FnOnce(&Resolved) -> Result<(), Reason>,
    ) -> Verb<()> {
        let session = self.inner();
        let _call = session.enter()?;
        let may_open = |resolved: &Resolved, options| {
            may_land(resolved)?;
            Caller::Unchecked.may_open(&session.qm, resolved, options)
        };
        let begun = session.begin_put1(od, md, pmo, data, may_open);
        let failed = |reason: &Reason| session.put1_ended(od, md, pmo, &Err(*reason));
        let begun = begun.inspect_err(failed)?;
        let put = session.finish_put(begun, md, pmo).await;
        session.put1_ended(od, md, pmo, &put);
        put
    }

    /// MQPUT1.
    ///
    /// # Errors
    /// Those of MQOPEN and MQPUT. A model queue cannot be the destination: a
    /// dynamic queue would have no handle to live by, so `OBJECT_TYPE_ERROR` (2043) is returned.
    pub async fn put1(&self, od: &mut Od, md: &mut Md, pmo: &mut Pmo, data: Bytes) -> Verb<()> {
        let session = self.inner();
        let _call = session.enter()?;
        let is_alternate = pmo.options & MQPMO_ALTERNATE_USER_AUTHORITY != 0;
        let call = ("MQPUT1", pmo.options);
        let caller = session.opener(call, od, is_alternate).await;
        if describes_list(od) {
            // A future of its own, so that all the other puts need no room for it.
            let put = Box::pin(session.put1_to_list(od, md, pmo, data, caller)).await;
            session.put1_ended(od, md, pmo, &put);
            return put;
        }
        let begun = caller.and_then(|caller| {
            let may_open =
                |resolved: &Resolved, options| caller.may_open(&session.qm, resolved, options);
            session.begin_put1(od, md, pmo, data, may_open)
        });
        let failed = |reason: &Reason| session.put1_ended(od, md, pmo, &Err(*reason));
        let begun = begun.inspect_err(failed)?;
        let put = session.finish_put(begun, md, pmo).await;
        session.put1_ended(od, md, pmo, &put);
        let done = put?;
        od.resolved_q_name = pmo.resolved_q_name;
        od.resolved_q_mgr_name = pmo.resolved_q_mgr_name;
        (od.known_dest_count, od.unknown_dest_count) =
            (pmo.known_dest_count, pmo.unknown_dest_count);
        Ok(done)
    }
}
