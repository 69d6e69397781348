//! Distribution lists: MQOPEN of many queues by one descriptor, and MQPUT and MQPUT1 to all of them.
//!
//! Sources: MQ manual, "Distribution lists", "MQOD", "MQPMO", "MQOR", "MQPMR", "MQRR", "MaxHandles", MQMD "MsgId".
//!
//! Invariants:
//! * Each queue has an outcome of its own. Where all are the same, it is that of the call; otherwise the call has 2136, a
//!   warning if one queue at least has been opened, or has its message, and the response records tell them all.
//! * What is put outside a unit of work is there on all queues that took it, as one record of the log, or on none.
//! * Queues elsewhere get a message each on their transmission queue: nothing is left for a channel to distribute (MQDH).

use std::sync::Arc;

use bytes::Bytes;
use posthaste_mqi::constants::*;
use posthaste_mqi::{
    CompCode, Hobj, Md, ObjectRecord, ObjectRecords, Od, Pmo, PutRecord, PutRecords, Reason,
    ResponseRecord,
};

use super::authorise::put1_options;
use super::descriptor::check_md;
use super::distribute::{Copy, Distribution};
use super::put::{PUBLISHING, Route, check_common_options};
use super::{Done, Verb, context, mde};
use crate::authority_service::Authorised;
use crate::authorization::Caller;
use crate::group::{GroupPut, NextPut};
use crate::handles::{Handle, OpenList, Target};
use crate::message_data::MessageData;
use crate::meter::Count;
use crate::plant::{Bug, planted};
use crate::resolution::{Resolved, resolve};
use crate::routed::{RoutedMessage, trimmed};
use crate::session::SessionInner;

/// What a list cannot be opened for.
const NOT_FOR_LISTS: i32 = MQOO_INPUT_AS_Q_DEF
    | MQOO_INPUT_SHARED
    | MQOO_INPUT_EXCLUSIVE
    | MQOO_BROWSE
    | MQOO_INQUIRE
    | MQOO_SET;

/// Whether a descriptor has records, or says that it has.
pub(super) fn describes_list(od: &Od) -> bool {
    od.version >= MQOD_VERSION_2 && od.recs_present != 0
}

/// The queues that a descriptor names.
fn destinations(od: &Od) -> Result<Vec<ObjectRecord>, Reason> {
    if od.recs_present < 0 || od.object_type != MQOT_Q {
        return Err(Reason::RECS_PRESENT_ERROR);
    }
    let count = od.recs_present.unsigned_abs() as usize;
    let records = od.records.as_deref();
    let objects = records.map(|records| &records.objects);
    let objects = objects.filter(|objects| objects.len() == count);
    let objects = objects.ok_or(Reason::OBJECT_RECORDS_ERROR)?;
    let responses = records.map_or(0, |records| records.responses.len());
    if responses != 0 && responses != count {
        return Err(Reason::RESPONSE_RECORDS_ERROR);
    }
    if !od.object_name.is_blank() {
        return Err(Reason::OBJECT_NAME_ERROR);
    }
    if !od.object_q_mgr_name.is_blank() {
        return Err(Reason::OBJECT_Q_MGR_NAME_ERROR);
    }
    if od.version >= MQOD_VERSION_4 && !od.selection_string.is_empty() {
        return Err(Reason::SELECTOR_INVALID_FOR_TYPE);
    }
    Ok(objects.clone())
}

/// What came of one queue: a completion code and why.
type Outcome = (CompCode, Reason);

const DONE: Outcome = (CompCode::Ok, Reason::NONE);

fn outcome<T>(result: &Result<T, Reason>) -> Outcome {
    match result {
        Ok(_) => DONE,
        Err(reason) => (CompCode::Failed, *reason),
    }
}

/// What comes of the call by what came of each queue; response records are filled where these differ.
fn of_all(outcomes: &[Outcome], responses: [Option<&mut Vec<ResponseRecord>>; 2]) -> Verb<()> {
    let first = outcomes.first().copied().unwrap_or(DONE);
    if outcomes.iter().all(|outcome| *outcome == first) {
        return match first {
            (CompCode::Failed, reason) => Err(reason),
            (_, warning) => Ok(Done { value: (), warning }),
        };
    }
    for (response, (comp_code, reason)) in responses
        .into_iter()
        .flatten()
        .flat_map(|responses| responses.iter_mut().zip(outcomes))
    {
        response.comp_code = *comp_code as i32;
        response.reason = *reason;
    }
    let failed = |outcome: &Outcome| outcome.0 == CompCode::Failed;
    match outcomes.iter().all(failed) {
        true => Err(Reason::MULTIPLE_REASONS),
        false => Ok(Done {
            value: (),
            warning: Reason::MULTIPLE_REASONS,
        }),
    }
}

/// How many of those that succeeded are here, how many elsewhere, and how many failed.
fn counts(outcomes: &[Outcome], is_remote: impl Fn(usize) -> bool) -> (i32, i32, i32) {
    let mut counts = (0, 0, 0);
    for (at, outcome) in outcomes.iter().enumerate() {
        match outcome.0 {
            CompCode::Failed => counts.2 += 1,
            _ if is_remote(at) => counts.1 += 1,
            _ => counts.0 += 1,
        }
    }
    counts
}

/// Checks put options against what may be said to a list.
fn check_options(pmo: &Pmo) -> Result<(), Reason> {
    check_common_options(pmo)?;
    if pmo.options & PUBLISHING != 0 {
        return Err(Reason::OPTIONS_ERROR);
    }
    if pmo.version < MQPMO_VERSION_2 || pmo.recs_present == 0 {
        return Ok(());
    }
    if pmo.recs_present < 0 {
        return Err(Reason::RECS_PRESENT_ERROR);
    }
    let fields = pmo.put_msg_rec_fields;
    let sets = MQPMO_SET_IDENTITY_CONTEXT | MQPMO_SET_ALL_CONTEXT;
    let token = fields & MQPMRF_ACCOUNTING_TOKEN != 0;
    if PutRecord::length(fields).is_none() || (token && pmo.options & sets == 0) {
        return Err(Reason::PMO_RECORD_FLAGS_ERROR);
    }
    let count = pmo.recs_present.unsigned_abs() as usize;
    let is_whole = |length: usize| length == 0 || length == count;
    match &pmo.records {
        Some(all) if !is_whole(all.responses.len()) => Err(Reason::RESPONSE_RECORDS_ERROR),
        Some(all) if is_whole(all.records.len()) => Ok(()),
        _ => Err(Reason::PUT_MSG_RECORDS_ERROR),
    }
}

/// The descriptor of one queue's message: what its record says counts.
fn described(md: &Md, record: Option<&PutRecord>, fields: i32) -> Md {
    let mut md = md.clone();
    let Some(record) = record else {
        return md;
    };
    if fields & MQPMRF_MSG_ID != 0 {
        md.msg_id = record.msg_id;
    }
    if fields & MQPMRF_CORREL_ID != 0 {
        md.correl_id = record.correl_id;
    }
    if fields & MQPMRF_GROUP_ID != 0 && md.msg_flags & MQMF_MSG_IN_GROUP != 0 {
        md.group_id = match record.group_id {
            MQGI_NONE => md.group_id,
            own => own,
        };
    }
    if fields & MQPMRF_FEEDBACK != 0 {
        md.feedback = record.feedback;
    }
    if fields & MQPMRF_ACCOUNTING_TOKEN != 0 {
        md.accounting_token = record.accounting_token;
    }
    md
}

/// A queue of the list that can be put to, and that this is allowed.
type Way = (Route, Authorised);

/// What is put to a list: the same for all of its queues.
struct Message {
    md: Md,
    data: MessageData,
    passed: Option<Box<Md>>,
    /// Of each put that succeeds.
    warning: Reason,
}

impl SessionInner {
    /// A queue of a list by its names.
    fn resolve_listed(
        &self,
        record: &ObjectRecord,
        options: i32,
        caller: &Caller,
    ) -> Result<(Resolved, Authorised), Reason> {
        let resolved = resolve(&self.qm, &record.object_name, &record.object_q_mgr_name)?;
        // A dynamic queue would have no name that the application is told.
        let resolved = resolved.map_err(|_| Reason::OBJECT_TYPE_ERROR)?;
        if let Target::Topic(_) = resolved.target {
            return Err(Reason::ALIAS_BASE_Q_TYPE_ERROR);
        }
        let authorised = caller.may_open(&self.qm, &resolved, options)?;
        Ok((resolved, authorised))
    }

    /// Refuses a list that is longer than a connection may have handles: each of its queues takes room, also while it fails.
    fn check_length(&self, records: &[ObjectRecord]) -> Result<(), Reason> {
        let most = self.qm.catalogue.qmgr().max_handles;
        match u32::try_from(records.len()) {
            Ok(length) if length <= most => Ok(()),
            _ => Err(Reason::HANDLE_NOT_AVAILABLE),
        }
    }

    /// Opens a queue of a list behind so many others.
    fn open_listed(
        &self,
        record: &ObjectRecord,
        mut options: i32,
        caller: &Caller,
        others: u32,
    ) -> Result<Handle, Reason> {
        let last_change = self.qm.catalogue.changes.last();
        let (resolved, authorised) = self.resolve_listed(record, options, caller)?;
        if self.lock().handles.open + others >= self.qm.catalogue.qmgr().max_handles {
            return Err(Reason::HANDLE_NOT_AVAILABLE);
        }
        self.count_in(&resolved, &mut options)?;
        Ok(resolved.handle(last_change, options, authorised))
    }

    /// MQOPEN of a list, whose options have been checked.
    pub(super) async fn open_list(self: &Arc<Self>, od: &mut Od, options: i32) -> Verb<Hobj> {
        let records = destinations(od)?;
        self.check_length(&records)?;
        if options & NOT_FOR_LISTS != 0 {
            return Err(Reason::OPTION_NOT_VALID_FOR_TYPE);
        }
        let is_alternate = options & MQOO_ALTERNATE_USER_AUTHORITY != 0;
        let caller = self.opener(("MQOPEN", options), od, is_alternate).await?;
        // From here on nothing waits: what is counted in is either numbered or counted out.
        let queues: Vec<_> = (0..)
            .zip(records.iter())
            .map(|(others, record)| self.open_listed(record, options, &caller, others))
            .collect();
        let outcomes: Vec<_> = queues.iter().map(outcome).collect();
        let is_remote = |at: usize| {
            let handle = queues[at].as_ref();
            handle.is_ok_and(|handle| matches!(handle.target, Target::Remote { .. }))
        };
        (
            od.known_dest_count,
            od.unknown_dest_count,
            od.invalid_dest_count,
        ) = counts(&outcomes, is_remote);
        let responses = od.records.as_deref_mut().map(|all| &mut all.responses);
        let done = of_all(&outcomes, [responses, None])?;
        let list = Box::new(OpenList {
            queues: queues.into_iter().map(Result::ok).collect(),
            options,
            group_put: GroupPut::default(),
        });
        let counted: Vec<_> = list
            .opened()
            .map(|h| (h.target.clone(), h.options))
            .collect();
        let Some(hobj) = self.lock().handles.add_list(list) else {
            for (target, options) in counted {
                super::release::count_out(&target, options);
            }
            return Err(Reason::HANDLE_NOT_AVAILABLE);
        };
        Ok(Done {
            value: hobj,
            warning: done.warning,
        })
    }

    /// The part of a put to a list that is the same for all queues. `group`: where the handle's group stands.
    fn begin_list_put(
        &self,
        md: &Md,
        pmo: &Pmo,
        data: Bytes,
        group: GroupPut,
    ) -> Result<(Message, NextPut), Reason> {
        if pmo.options & MQPMO_FAIL_IF_QUIESCING != 0 && self.qm.lifecycle.quiescing() {
            return Err(Reason::Q_MGR_QUIESCING);
        }
        let passed = self.passed_context(pmo)?;
        let (mut md, data) = mde::absorb(md, data)?;
        let persistence = md.persistence;
        let next = group.next(&mut md, pmo, persistence, || {
            self.qm.new_msg_id(self.qm.next_seq())
        })?;
        // Each queue says whether it is elsewhere.
        let warning = check_md(&md, true)?;
        let data = trimmed(data).into();
        let message = Message {
            md,
            data,
            passed,
            warning,
        };
        Ok((message, next))
    }

    /// One queue's message, complete, and what the application is shown of its descriptor.
    fn address(
        &self,
        (route, _): &Way,
        message: &Message,
        record: Option<&PutRecord>,
        pmo: &Pmo,
    ) -> Result<(RoutedMessage, Md), Reason> {
        let mut md = described(&message.md, record, pmo.put_msg_rec_fields);
        // The feedback may be its own.
        check_md(&md, route.remote.is_some())?;
        self.complete(route, &mut md, pmo, message.passed.as_deref());
        self.check_fit(route, message.data.len(), &md)?;
        let expires = match md.expiry {
            MQEI_UNLIMITED => 0,
            tenths => self.qm.clock.now() + i64::from(tenths) * 100_000,
        };
        let routed = route.routed_sharing(&self.qm, md.clone(), message.data.clone(), expires);
        Ok((routed, md))
    }

    /// Puts a message to all queues that there is a way to; what came of each.
    ///
    /// # Errors
    /// Nothing was put.
    async fn put_to_all(
        self: &Arc<Self>,
        ways: &[Result<Way, Reason>],
        message: &Message,
        pmo: &mut Pmo,
    ) -> Result<Vec<Outcome>, Reason> {
        let records = pmo.records.as_deref().map_or(&[][..], |all| &all.records);
        let addressed: Vec<_> = ways
            .iter()
            .enumerate()
            .map(|(at, way)| {
                let way = way.as_ref().map_err(|reason| *reason)?;
                let of = if planted(Bug::SameRecord) { 0 } else { at };
                self.address(way, message, records.get(of), pmo)
            })
            .collect();
        let mut outcomes: Vec<_> = addressed.iter().map(outcome).collect();
        let mut shown = vec![None; ways.len()];
        let mut copies = Vec::with_capacity(ways.len());
        for (at, addressed) in addressed.into_iter().enumerate() {
            if let Ok((routed, md)) = addressed {
                shown[at] = Some(md);
                copies.push((at, routed));
            }
        }
        let is_remote = |at: usize| matches!(&ways[at], Ok((route, _)) if route.remote.is_some());
        // Those that share a body stand beside each other.
        copies.sort_by_key(|(at, _)| is_remote(*at));
        let (order, copies): (Vec<_>, Vec<_>) = copies
            .into_iter()
            .map(|(at, routed)| (at, Copy::of_list(routed)))
            .unzip();
        if !order.is_empty() {
            let undelivered = self.distribute(Distribution::new(copies), pmo).await?;
            for (of, reason) in undelivered {
                outcomes[order[of]] = (CompCode::Failed, reason);
            }
        }
        if message.warning != Reason::NONE {
            let done = outcomes.iter_mut().filter(|outcome| **outcome == DONE);
            done.for_each(|outcome| *outcome = (CompCode::Warning, message.warning));
        }
        let counted = counts(&outcomes, is_remote);
        (
            pmo.known_dest_count,
            pmo.unknown_dest_count,
            pmo.invalid_dest_count,
        ) = counted;
        let put = (counted.0 + counted.1).unsigned_abs() as usize;
        let counters = &self.qm.home.counters;
        counters.add(Count::Puts, put);
        counters.add(Count::PutBytes, put * message.data.len());
        show(pmo.records.as_deref_mut(), &shown, &outcomes);
        Ok(outcomes)
    }

    /// MQPUT to a list.
    pub(super) async fn put_to_list(
        self: &Arc<Self>,
        hobj: Hobj,
        md: &mut Md,
        pmo: &mut Pmo,
        data: Bytes,
    ) -> Verb<()> {
        check_options(pmo)?;
        let (ways, group) = {
            let mut state = self.lock();
            let list = state.handles.list(hobj)?;
            context::check(pmo.options, list.options)?;
            let way = |queue: &Option<Handle>| {
                let handle = queue.as_ref().ok_or(Reason::OPEN_FAILED)?;
                handle.unchanged(&self.qm.catalogue.changes)?;
                let route = Route::of(&handle.target, &handle.opened)?;
                Ok((route, handle.authorised))
            };
            let ways: Vec<_> = list.queues.iter().map(way).collect();
            (ways, list.group_put.clone())
        };
        let (message, next) = self.begin_list_put(md, pmo, data, group)?;
        let outcomes = self.put_to_all(&ways, &message, pmo).await?;
        let responses = pmo.records.as_deref_mut().map(|all| &mut all.responses);
        let done = of_all(&outcomes, [responses, None])?;
        give_back(md, &message.md);
        Ok(self.grouped(hobj, pmo, next, done))
    }

    /// MQPUT1 to a list.
    pub(super) async fn put1_to_list(
        self: &Arc<Self>,
        od: &mut Od,
        md: &mut Md,
        pmo: &mut Pmo,
        data: Bytes,
        caller: Result<Caller, Reason>,
    ) -> Verb<()> {
        let caller = caller?;
        check_options(pmo)?;
        if pmo.options & MQPMO_LOGICAL_ORDER != 0 {
            return Err(Reason::OPTIONS_ERROR);
        }
        context::check(pmo.options, -1)?;
        let records = destinations(od)?;
        self.check_length(&records)?;
        let options = put1_options(pmo.options);
        let way = |record: &ObjectRecord| {
            let (resolved, authorised) = self.resolve_listed(record, options, &caller)?;
            let route = Route::of(&resolved.target, &resolved.opened)?;
            Ok((route, authorised))
        };
        let ways: Vec<_> = records.iter().map(way).collect();
        let (message, _) = self.begin_list_put(md, pmo, data, GroupPut::default())?;
        let outcomes = self.put_to_all(&ways, &message, pmo).await?;
        (
            od.known_dest_count,
            od.unknown_dest_count,
            od.invalid_dest_count,
        ) = (
            pmo.known_dest_count,
            pmo.unknown_dest_count,
            pmo.invalid_dest_count,
        );
        let of_open = od.records.as_deref_mut();
        let of_open = of_open.map(|all: &mut ObjectRecords| &mut all.responses);
        let of_put = pmo.records.as_deref_mut().map(|all| &mut all.responses);
        let done = of_all(&outcomes, [of_open, of_put])?;
        give_back(md, &message.md);
        Ok(done)
    }
}

/// Fills the records of those that have their message: the identifiers that were made for it.
fn show(records: Option<&mut PutRecords>, shown: &[Option<Md>], outcomes: &[Outcome]) {
    let Some(records) = records else {
        return;
    };
    for ((record, md), outcome) in records.records.iter_mut().zip(shown).zip(outcomes) {
        if let (Some(md), false) = (md, outcome.0 == CompCode::Failed) {
            record.msg_id = md.msg_id;
            record.correl_id = md.correl_id;
            record.group_id = md.group_id;
        }
    }
}

/// What the application gets back in its own descriptor: identifiers of messages are in their records only.
fn give_back(md: &mut Md, put: &Md) {
    if md.version >= MQMD_VERSION_2 {
        md.group_id = put.group_id;
        md.msg_seq_number = put.msg_seq_number;
        md.offset = put.offset;
    }
}
