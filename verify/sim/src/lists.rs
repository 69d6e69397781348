//! Puts to distribution lists: of queues that all share, some twice, and of some that are not there.
//!
//! Laws, beside the model's:
//! * Where the queues of a list differ the call has 2136, and the response records and counts tell of each queue; one that
//!   is not there has 2085, and 2137 when it is put to.
//! * A message has what its record says of it, and for the rest what the descriptor says.
//! * A unit of work in which an asynchronous put of a persistent message has missed a queue is not committed.

use std::collections::BTreeMap;

use bytes::Bytes;
use posthaste_engine::Verb;
use posthaste_model::{Delivered, ListPut, Op, OpId, Outcome, Put, QueueId, Rule, Violation};
use posthaste_mqi::constants::*;
use posthaste_mqi::{
    Hobj, Md, Name, ObjectRecord, ObjectRecords, Od, Pmo, PutRecord, PutRecords, Reason,
    ResponseRecord,
};

use crate::calls::Manner;
use crate::workload::{Target, Worker, id24, patient};

/// Queues of a list, at least and at most.
const LENGTHS: (u64, u64) = (2, 5);
/// No queue has this name.
const NOT_THERE: &str = "NOT.THERE";
/// What a record may say.
const FIELDS: [i32; 5] = [
    MQPMRF_MSG_ID,
    MQPMRF_CORREL_ID,
    MQPMRF_GROUP_ID,
    MQPMRF_FEEDBACK,
    MQPMRF_ACCOUNTING_TOKEN,
];

/// What the descriptor of a message has that was put to a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected {
    fields: i32,
    record: PutRecord,
}

/// By list, queue and MsgId.
pub(crate) type Listed = BTreeMap<(u64, QueueId, u64), Expected>;

/// The queues of a list; without a target: there is none of that name, or it could not be opened.
type Entries = Vec<Option<Target>>;

/// What is put to a list.
struct Letter {
    list: ListPut,
    md: Md,
    pmo: Pmo,
    data: Bytes,
    manner: Manner,
}

fn list_of(entries: &[Option<Target>]) -> Od {
    let object = |entry: &Option<Target>| ObjectRecord {
        object_name: entry.map_or(Name::new(NOT_THERE), |target| target.name),
        ..ObjectRecord::default()
    };
    Od {
        version: MQOD_VERSION_2,
        recs_present: i32::try_from(entries.len()).unwrap_or(0),
        records: Some(Box::new(ObjectRecords {
            objects: entries.iter().map(object).collect(),
            responses: vec![ResponseRecord::default(); entries.len()],
        })),
        ..Od::default()
    }
}

/// Why a queue has failed; none: it has not.
fn failure(response: &ResponseRecord) -> Option<Reason> {
    (response.comp_code == MQCC_FAILED).then_some(response.reason)
}

fn wrong<T>(text: String) -> Result<T, Violation> {
    Err(Violation {
        rule: Rule::Lists,
        text,
    })
}

/// What came of each queue by the response records of a call that says that they differ.
fn by_record(
    entries: &[Option<Target>],
    responses: &[ResponseRecord],
    absent: Reason,
) -> Result<Vec<Option<Reason>>, Violation> {
    let failures: Vec<_> = responses.iter().map(failure).collect();
    let differ = responses.iter().any(|response| *response != responses[0]);
    if failures.len() != entries.len() || !differ {
        return wrong(format!("the queues differ, and have {responses:?}"));
    }
    let absences = entries.iter().zip(&failures);
    let is_absent = |(entry, failure): (&Option<Target>, &Option<Reason>)| {
        entry.is_some() || *failure == Some(absent)
    };
    match absences.into_iter().all(is_absent) {
        true => Ok(failures),
        false => wrong(format!(
            "a queue that is not there has another reason: {responses:?}"
        )),
    }
}

impl Worker {
    /// Puts to a list.
    pub(crate) async fn put_listed(&self) -> bool {
        let entries = self.draw_list();
        if entries.is_empty() {
            return true;
        }
        match self.below(3) {
            0 => {
                self.met("MQPUT1 to a list");
                self.put_letter(None, &entries).await
            }
            _ => self.open_and_put(entries).await,
        }
    }

    fn draw_list(&self) -> Entries {
        let known = self.handles.iter().copied();
        let known: Vec<Target> = known.filter(|target| self.is_shared(target)).collect();
        if known.is_empty() {
            return Vec::new();
        }
        let draws = LENGTHS.0 + self.below(LENGTHS.1 - LENGTHS.0 + 1);
        let draw = |_| {
            let target = known[self.below(known.len() as u64) as usize];
            (self.below(8) > 0).then_some(target)
        };
        (0..draws).map(draw).collect()
    }

    async fn open_and_put(&self, entries: Entries) -> bool {
        let mut od = list_of(&entries);
        let options = MQOO_OUTPUT | MQOO_SET_IDENTITY_CONTEXT;
        let opened = self.session.open(&mut od, options).await;
        let (handle, warning) = match opened {
            Ok(done) => (done.value, done.warning),
            // None of them is there.
            Err(Reason::UNKNOWN_OBJECT_NAME) if entries.iter().all(Option::is_none) => return true,
            // All of them are damaged, or all that are there.
            Err(Reason::OBJECT_DAMAGED | Reason::MULTIPLE_REASONS) => {
                let mut queues = entries.iter().flatten();
                return queues.all(|target| self.damaged(target.queue, Reason::OBJECT_DAMAGED));
            }
            Err(reason) => return self.not_done(reason).await,
        };
        let entries = match self.open_in_part(entries, warning, &od) {
            Ok(entries) => entries,
            Err(violation) => return self.violated(violation),
        };
        for _ in 0..=self.below(3) {
            if !self.put_letter(Some(handle), &entries).await {
                return false;
            }
        }
        match self.close_one(handle).await {
            Ok(()) => true,
            Err(reason) => self.not_done(reason).await,
        }
    }

    /// A call of which the model does not hear was refused.
    async fn not_done(&self, reason: Reason) -> bool {
        match self.remote() {
            Some(remote) => {
                remote.line.hang_up();
                self.lost_between(remote).await
            }
            None => self.refused(reason),
        }
    }

    /// The queues of a list that could be opened.
    fn open_in_part(
        &self,
        entries: Entries,
        warning: Reason,
        od: &Od,
    ) -> Result<Entries, Violation> {
        if warning == Reason::NONE {
            return match entries.iter().all(Option::is_some) {
                true => Ok(entries),
                false => wrong("a queue that is not there is open".to_owned()),
            };
        }
        self.met("list open in part");
        let responses = od.records.as_ref().map_or(&[][..], |all| &all.responses);
        let failures = by_record(&entries, responses, Reason::UNKNOWN_OBJECT_NAME)?;
        let count = |failed: bool| {
            let such = failures.iter().filter(|why| why.is_some() == failed);
            i32::try_from(such.count()).unwrap_or(0)
        };
        if (od.known_dest_count, od.invalid_dest_count) != (count(false), count(true)) {
            return wrong(format!("MQOPEN counts other queues than {failures:?}"));
        }
        let there = entries.into_iter().zip(failures);
        there
            .map(|(entry, why)| match (entry, why) {
                (Some(target), Some(reason)) if !self.damaged(target.queue, reason) => {
                    wrong(format!("{} cannot be opened: {reason}", target.name))
                }
                (_, Some(_)) => Ok(None),
                (entry, None) => Ok(entry),
            })
            .collect()
    }

    /// Draws a message for these queues.
    fn compose(&self, entries: &[Option<Target>]) -> Letter {
        let manner = self.manner();
        let drawn = FIELDS.map(|field| [0, field][self.below(2) as usize]);
        let mut fields = drawn.iter().sum::<i32>() * self.below(2) as i32;
        let queues: Vec<QueueId> = entries.iter().flatten().map(|it| it.queue).collect();
        if (1..queues.len()).any(|at| queues[..at].contains(&queues[at])) {
            self.met("list with a queue twice");
            // Who is given one of its messages has to know which.
            fields |= MQPMRF_MSG_ID;
        }
        let (id, data) = self.letter(self.length());
        let (unit, asynchronous, context) = (
            [MQPMO_NO_SYNCPOINT, MQPMO_SYNCPOINT][usize::from(manner.in_uow)],
            [0, MQPMO_ASYNC_RESPONSE][usize::from(manner.asynchronous)],
            [0, MQPMO_SET_IDENTITY_CONTEXT][usize::from(fields & MQPMRF_ACCOUNTING_TOKEN != 0)],
        );
        let grouped = fields & MQPMRF_GROUP_ID != 0;
        let md = Md {
            version: if grouped { MQMD_VERSION_2 } else { 1 },
            persistence: i32::from(manner.persistent),
            priority: i32::from(manner.priority),
            msg_id: id24(id),
            correl_id: id24(manner.correl),
            expiry: manner.tenths.map_or(MQEI_UNLIMITED, |tenths| tenths as i32),
            msg_flags: if grouped { MQMF_MSG_IN_GROUP } else { 0 },
            ..Md::default()
        };
        let (puts, records) = self.addressed(id, entries, (manner, fields));
        let pmo = Pmo {
            version: MQPMO_VERSION_2,
            options: unit | asynchronous | context,
            recs_present: i32::try_from(entries.len()).unwrap_or(0),
            put_msg_rec_fields: fields,
            records: Some(Box::new(PutRecords {
                records: if fields == 0 { Vec::new() } else { records },
                responses: vec![ResponseRecord::default(); entries.len()],
            })),
            ..Pmo::default()
        };
        let list = ListPut {
            id,
            in_uow: manner.in_uow,
            plain: self.refuses_plainly(),
            puts,
        };
        Letter {
            list,
            md,
            pmo,
            data,
            manner,
        }
    }

    /// Whether no queue refuses a put because its messages find no room on the disk.
    fn refuses_plainly(&self) -> bool {
        let plan = &self.plan;
        let faults = [
            plan.full_disk,
            plan.media,
            plan.exhaust,
            plan.disk_error,
            plan.name_error,
            plan.turn_over,
        ];
        faults == [0; 6]
    }

    /// The puts of a list for the oracle, and a record for each queue, also those that are not there.
    fn addressed(
        &self,
        id: u64,
        entries: &[Option<Target>],
        (manner, fields): (Manner, i32),
    ) -> (Vec<Put>, Vec<PutRecord>) {
        let mut shared = self.shared.borrow_mut();
        let (hash, mut puts, mut records) = (shared.sent[&id].1, Vec::new(), Vec::new());
        for entry in entries {
            shared.next_id += 1;
            let own = shared.next_id;
            let of = |field: i32, own: u64, all: u64| if fields & field != 0 { own } else { all };
            let correl_id = of(MQPMRF_CORREL_ID, own % 4, manner.correl);
            let msg_id = of(MQPMRF_MSG_ID, own, id);
            let record = PutRecord {
                msg_id: id24(msg_id),
                correl_id: id24(correl_id),
                group_id: id24(own),
                feedback: MQFB_APPL_FIRST + (own % 1_000) as i32,
                accounting_token: [(own % 251) as u8; 32],
            };
            records.push(record);
            let Some(target) = entry else { continue };
            let put = Put {
                queue: target.queue,
                id: own,
                hash,
                persistent: Some(manner.persistent),
                priority: Some(manner.priority),
                in_uow: manner.in_uow,
                expiry: manner.tenths.map(|tenths| tenths * crate::calls::TENTH),
                delay: None,
                msg_id,
                correl_id,
            };
            puts.push(put);
            let expected = Expected { fields, record };
            shared.listed.insert((id, target.queue, msg_id), expected);
        }
        (puts, records)
    }

    /// Puts a message to a list that is open, or to one by the names of its queues.
    async fn put_letter(&self, handle: Option<Hobj>, entries: &[Option<Target>]) -> bool {
        let letter = self.compose(entries);
        let Letter {
            list,
            mut md,
            mut pmo,
            data,
            manner,
        } = letter;
        for (met, what) in [
            (true, "list put"),
            (manner.in_uow, "list put syncpoint"),
            (manner.persistent, "list put persistent"),
            (manner.asynchronous, "list put async response"),
            (manner.tenths.is_some(), "list put expiry"),
            (pmo.put_msg_rec_fields != 0, "list put with records"),
            (self.remote().is_some(), "list put over a channel"),
        ] {
            if met {
                self.met(what);
            }
        }
        let op = self.invoke(Op::PutList(list));
        let unopened = entries.iter().any(Option::is_none);
        let mut od = list_of(entries);
        if let (Some(remote), true) = (self.remote(), manner.asynchronous) {
            let sent = match handle {
                Some(handle) => remote.put_unanswered(handle, &md, &pmo, &data),
                None => remote.put1_unanswered(&od, &md, &pmo, &data),
            };
            if let Err(reason) = sent {
                return self.failed(op, reason).await;
            }
            if unopened {
                self.list_dooms(manner);
            }
            return self.list_unanswered(op, manner);
        }
        let limit = self.limit();
        let result = match handle {
            Some(handle) => {
                let call = self.session.put(handle, &mut md, &mut pmo, data);
                patient(call, limit).await
            }
            None => {
                let call = self.session.put1(&mut od, &mut md, &mut pmo, data);
                patient(call, limit).await
            }
        };
        let absent = match handle {
            Some(_) => Reason::OPEN_FAILED,
            None => Reason::UNKNOWN_OBJECT_NAME,
        };
        match result {
            Some(result) => {
                self.list_answered((op, manner), (entries, absent), &pmo, result)
                    .await
            }
            None => self.gave_up(op).await,
        }
    }

    /// An asynchronous put has missed a queue.
    fn list_dooms(&self, manner: Manner) {
        if manner.asynchronous && manner.in_uow && manner.persistent {
            self.met("unit of work doomed by a list");
            self.shared.borrow_mut().model.doom(self.number);
        }
    }

    async fn list_answered(
        &self,
        (op, manner): (OpId, Manner),
        (entries, absent): (&[Option<Target>], Reason),
        pmo: &Pmo,
        result: Verb<()>,
    ) -> bool {
        let answered = match result {
            Ok(ref done) if done.warning == Reason::NONE => all_taken(entries, pmo),
            // Of a call that has failed a channel brings no records here.
            Err(Reason::MULTIPLE_REASONS) if self.remote().is_some() => {
                Ok(vec![Some(Reason::MULTIPLE_REASONS); entries.len()])
            }
            Ok(_) | Err(Reason::MULTIPLE_REASONS) => {
                let responses = pmo.records.as_ref().map_or(&[][..], |all| &all.responses);
                by_record(entries, responses, absent)
            }
            Err(reason) => {
                if self.local().is_some() && reason != Reason::BACKED_OUT {
                    self.list_dooms(manner);
                }
                return self.failed(op, reason).await;
            }
        };
        let failures = match answered.and_then(|failures| judged(failures, &result, pmo)) {
            Ok(failures) => failures,
            Err(violation) => return self.violated(violation),
        };
        if failures.iter().any(Option::is_some) {
            self.met("list put that misses a queue");
            if self.local().is_some() {
                self.list_dooms(manner);
            }
        }
        let there = entries.iter().zip(&failures);
        let there = there.filter(|(entry, _)| entry.is_some());
        let outcomes: Vec<Outcome> = there
            .map(|(_, failure)| failure.map_or(Outcome::Done, |reason| Outcome::Reason(reason.0)))
            .collect();
        if manner.in_uow {
            return self.still_there(op).await && self.respond_each(op, &outcomes);
        }
        let open = manner.asynchronous && self.local().is_some();
        match open && outcomes.contains(&Outcome::Done) {
            true => self.list_left_open(op, manner, outcomes),
            false => self.respond_each(op, &outcomes),
        }
    }

    /// A message has come: it is what its record says, if it was put to a list.
    pub(crate) fn hold_against_record(&self, queue: QueueId, md: &Md, got: &Delivered) {
        let key = (got.id, queue, got.msg_id.unwrap_or(got.id));
        let expected = self.shared.borrow().listed.get(&key).copied();
        let Some(Expected { fields, record }) = expected else {
            return;
        };
        let says = |field: i32| fields & field != 0;
        let holds = md.correl_id == record.correl_id
            && (md.feedback
                == if says(MQPMRF_FEEDBACK) {
                    record.feedback
                } else {
                    0
                })
            && (!says(MQPMRF_GROUP_ID) || md.group_id == record.group_id)
            && (!says(MQPMRF_ACCOUNTING_TOKEN) || md.accounting_token == record.accounting_token);
        if !holds {
            let text = format!("message {got:?} with {fields:#x} of {record:?} came with {md:?}");
            self.violated(Violation {
                rule: Rule::Lists,
                text,
            });
        }
    }
}

/// A warning says that some have it, and a failure that none has; the counts say how many.
fn judged(
    failures: Vec<Option<Reason>>,
    result: &Verb<()>,
    pmo: &Pmo,
) -> Result<Vec<Option<Reason>>, Violation> {
    let failed = failures.iter().filter(|why| why.is_some()).count();
    if result.is_ok() == (failed == failures.len()) {
        return wrong(format!("{result:?}, and of the queues {failures:?}"));
    }
    let counted = (pmo.known_dest_count, pmo.invalid_dest_count);
    let count = |count: usize| i32::try_from(count).unwrap_or(0);
    match result.is_err() || counted == (count(failures.len() - failed), count(failed)) {
        true => Ok(failures),
        false => wrong(format!("{counted:?} are counted, and are {failures:?}")),
    }
}

/// What each queue answers where the call has said that all have the message.
fn all_taken(entries: &[Option<Target>], pmo: &Pmo) -> Result<Vec<Option<Reason>>, Violation> {
    let count = i32::try_from(entries.len()).unwrap_or(0);
    match entries.iter().all(Option::is_some) && pmo.known_dest_count == count {
        true => Ok(vec![None; entries.len()]),
        false => wrong(format!("{} of {count} have it", pmo.known_dest_count)),
    }
}
