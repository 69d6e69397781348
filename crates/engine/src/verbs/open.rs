//! MQOPEN: from a name to a handle.
//!
//! Invariant: an open counts on its queue from the moment it is admitted, and a dynamic queue of which nobody has heard
//! goes again.

use std::sync::Arc;

use posthaste_command::{Deletion, Object, ObjectKind};
use posthaste_mqi::constants::*;
use posthaste_mqi::{Hobj, Name, Od, Reason};

use super::lists::describes_list;
use super::{Done, Verb};
use crate::at_their_word::is_so_by_name;
use crate::authority_service::Authorised;
use crate::authorization::Caller;
use crate::catalogue::{ChangeError, Defined, Definition, Runtime};
use crate::consume::selection::Selecting;
use crate::handles::{Handle, Target};
use crate::manager::Inner;
use crate::names::valid_name;
use crate::plant::{Bug, planted};
use crate::queue::{Queue, QueueState};
use crate::resolution::{Resolved, ours, resolve};
use crate::session::{Session, SessionInner};
use crate::topics::administrative::BASE_TOPIC;

const INPUT: i32 = MQOO_INPUT_AS_Q_DEF | MQOO_INPUT_SHARED | MQOO_INPUT_EXCLUSIVE;
const CONTEXT: i32 = MQOO_PASS_IDENTITY_CONTEXT
    | MQOO_PASS_ALL_CONTEXT
    | MQOO_SET_IDENTITY_CONTEXT
    | MQOO_SET_ALL_CONTEXT;
const KNOWN: i32 = INPUT
    | CONTEXT
    | MQOO_BROWSE
    | MQOO_CO_OP
    | MQOO_OUTPUT
    | MQOO_INQUIRE
    | MQOO_SET
    | MQOO_SAVE_ALL_CONTEXT
    | MQOO_ALTERNATE_USER_AUTHORITY
    | MQOO_FAIL_IF_QUIESCING
    | MQOO_BIND_ON_OPEN
    | MQOO_BIND_NOT_FIXED
    | MQOO_BIND_ON_GROUP
    | MQOO_RESOLVE_LOCAL_Q
    | MQOO_NO_READ_AHEAD
    | MQOO_READ_AHEAD
    | MQOO_NO_MULTICAST;

/// What an object descriptor asks for besides an object, if the object is opened with these options.
pub(super) fn check_descriptor(od: &Od, options: i32) -> Result<Option<Arc<Selecting>>, Reason> {
    let selects = od.version >= MQOD_VERSION_4 && !od.selection_string.is_empty();
    if !selects || planted(Bug::IgnoredSelector) {
        return Ok(None);
    }
    let selecting = Selecting::new(&od.selection_string)?;
    if od.object_type != MQOT_Q || options & (INPUT | MQOO_BROWSE) == 0 {
        return Err(Reason::SELECTOR_INVALID_FOR_TYPE);
    }
    Ok(selecting)
}

fn check_options(options: i32) -> Result<(), Reason> {
    let inputs = (options & INPUT).count_ones();
    if options & !KNOWN != 0 || inputs > 1 {
        return Err(Reason::OPTIONS_ERROR);
    }
    let any = INPUT | MQOO_BROWSE | MQOO_OUTPUT | MQOO_INQUIRE | MQOO_SET;
    if options & any == 0 {
        return Err(Reason::OPTIONS_ERROR);
    }
    if options & CONTEXT != 0 && options & MQOO_OUTPUT == 0 {
        return Err(Reason::OPTIONS_ERROR);
    }
    if options & MQOO_SAVE_ALL_CONTEXT != 0 && inputs == 0 {
        return Err(Reason::OPTIONS_ERROR);
    }
    if options & MQOO_CO_OP != 0 && options & MQOO_BROWSE == 0 {
        return Err(Reason::OPTIONS_ERROR);
    }
    let binds = MQOO_BIND_ON_OPEN | MQOO_BIND_NOT_FIXED | MQOO_BIND_ON_GROUP;
    if (options & binds).count_ones() > 1 {
        return Err(Reason::OPTIONS_ERROR);
    }
    if options & MQOO_READ_AHEAD != 0 && options & MQOO_NO_READ_AHEAD != 0 {
        return Err(Reason::OPTIONS_ERROR);
    }
    Ok(())
}

/// Characters in front of the `*` in the name of a dynamic queue (manual: "2011 MQRC_DYNAMIC_Q_NAME_ERROR").
const LONGEST_BEGINNING: usize = 32;

/// The name of a new dynamic queue: a trailing `*` is replaced by something unique. What is wrong with a name that means a queue of the
/// queue manager's own is the name, whoever asks for it and whether there is such a queue.
fn dynamic_name(qm: &Inner, pattern: &Name) -> Result<String, Reason> {
    let text = pattern.text().into_owned();
    let Some(prefix) = text.strip_suffix('*') else {
        return if valid_name(&text) && !is_so_by_name(&text) {
            Ok(text)
        } else {
            Err(Reason::DYNAMIC_Q_NAME_ERROR)
        };
    };
    let name = format!("{prefix}{:016X}", qm.next_seq());
    if prefix.len() <= LONGEST_BEGINNING && valid_name(&name) {
        Ok(name)
    } else {
        Err(Reason::DYNAMIC_Q_NAME_ERROR)
    }
}

/// A dynamic queue of which nobody has heard yet: it goes when nobody will.
struct Made<'a>(&'a Arc<Inner>, Option<Arc<Queue>>);

impl Made<'_> {
    fn report(mut self) {
        self.1 = None;
    }
}

impl Drop for Made<'_> {
    fn drop(&mut self) {
        let Made(qm, queue) = self;
        if let Some(queue) = queue {
            // Not forced: should a crash bring the queue back, it has been made, as if the application had died after
            // its MQOPEN. A log that is full or has stopped may refuse it; then the queue stays, as after such a crash.
            let _ = qm.catalogue.delete_open(qm, queue, true);
        }
    }
}

/// Makes a dynamic queue after a model.
async fn make_dynamic(
    qm: &Arc<Inner>,
    model: &Definition,
    od: &Od,
    caller: &Caller,
) -> Result<Resolved, Reason> {
    let name = dynamic_name(qm, &od.dynamic_q_name)?;
    let mut attrs = model.attrs();
    let kind = model.int(MQIA_DEFINITION_TYPE);
    attrs.set_int(MQIA_Q_TYPE, MQQT_LOCAL);
    attrs.set_int(MQIA_DEFINITION_TYPE, kind);
    let object = Object {
        kind: ObjectKind::QLocal,
        name,
        attrs,
    };
    let define = || qm.catalogue.define(qm, object.clone(), None);
    let failed = |error| match error {
        ChangeError::Exists(_) | ChangeError::WrongKind(_) => Reason::OBJECT_ALREADY_EXISTS,
        ChangeError::Failed(reason) | ChangeError::NotRunning(reason) => reason,
        _ => Reason::UNEXPECTED_ERROR,
    };
    let made = qm.with_log_room(define).await;
    let Defined {
        definition,
        mut end,
        ..
    } = made.map_err(failed)?;
    let Runtime::Local(queue) = definition.runtime().clone() else {
        return Err(Reason::UNEXPECTED_ERROR);
    };
    let made = Made(qm, Some(queue.clone()));
    let name = definition.name();
    if let Some(maker) = caller.granted_as_maker(qm, model.name(), name) {
        let queue = (name, end.is_none());
        let grant = || qm.catalogue.grant_maker(qm, queue, maker.clone());
        let granted = qm.with_log_room(grant).await.map_err(failed)?;
        end = granted.or(end);
    }
    if let Some(end) = end
        && let Err(error) = qm.log.force(end).await
    {
        qm.log_failed(&error);
        return Err(Reason::CONNECTION_BROKEN);
    }
    made.report();
    let mut resolved = Resolved::local(definition, queue, None, qm);
    resolved.created_queue = true;
    Ok(resolved)
}

/// Counts a handle in, or says why it may not be opened.
fn admit(state: &mut QueueState, options: &mut i32) -> Result<(), Reason> {
    if state.deleted {
        return Err(Reason::UNKNOWN_OBJECT_NAME);
    }
    state.usable()?;
    if *options & MQOO_INPUT_AS_Q_DEF != 0 {
        *options &= !MQOO_INPUT_AS_Q_DEF;
        *options |= if state.attributes.def_input_exclusive {
            MQOO_INPUT_EXCLUSIVE
        } else {
            MQOO_INPUT_SHARED
        };
    }
    if *options & (MQOO_INPUT_SHARED | MQOO_INPUT_EXCLUSIVE) != 0 {
        if state.keeps_retained() {
            // The queue manager has it.
            return Err(Reason::OBJECT_IN_USE);
        }
        let exclusive = *options & MQOO_INPUT_EXCLUSIVE != 0 || !state.attributes.shareable;
        if state.exclusive || (exclusive && state.open_input.get() > 0) {
            return Err(Reason::OBJECT_IN_USE);
        }
        state.exclusive = exclusive;
        state.open_input += 1;
    }
    if *options & MQOO_BROWSE != 0 {
        state.open_browse += 1;
        if *options & MQOO_CO_OP != 0 {
            state.co_op_opened();
        }
    }
    if *options & MQOO_OUTPUT != 0 {
        state.open_output += 1;
    }
    // Inquiry and setting count too: a queue that somebody has open is not deleted.
    if *options & (MQOO_INPUT_SHARED | MQOO_INPUT_EXCLUSIVE | MQOO_BROWSE | MQOO_OUTPUT) == 0 {
        state.open_browse += 1;
    }
    Ok(())
}

impl SessionInner {
    async fn resolve_queue(
        &self,
        od: &Od,
        options: i32,
        caller: &Caller,
    ) -> Result<(Resolved, Authorised), Reason> {
        let qm = &self.qm;
        // Inquiring an alias, model or remote queue needs no resolution.
        let moves = INPUT | MQOO_BROWSE | MQOO_OUTPUT;
        if options & moves == 0
            && ours(qm, &od.object_q_mgr_name)
            && let Some(definition) = qm.catalogue.queue(&od.object_name.text())
            && matches!(definition.kind(), ObjectKind::QAlias | ObjectKind::QRemote)
        {
            let resolved = Resolved {
                target: Target::Definition,
                q_name: od.object_name,
                q_mgr_name: Name::new(&qm.config.name),
                opened: definition,
                created_queue: false,
                output_only: false,
            };
            let authorised = caller.may_open(qm, &resolved, options)?;
            return Ok((resolved, authorised));
        }
        match resolve(qm, &od.object_name, &od.object_q_mgr_name)? {
            Ok(resolved) => {
                let authorised = caller.may_open(qm, &resolved, options)?;
                Ok((resolved, authorised))
            }
            Err(model) => {
                let authorised = caller.may_make(qm, &model, options)?;
                let resolved = make_dynamic(qm, &model, od, caller).await?;
                Ok((resolved, authorised))
            }
        }
    }

    /// What a descriptor names, if it may be opened so.
    async fn resolve_object(
        &self,
        od: &Od,
        options: i32,
    ) -> Result<(Resolved, Authorised), Reason> {
        let is_alternate = options & MQOO_ALTERNATE_USER_AUTHORITY != 0;
        let caller = self.opener(("MQOPEN", options), od, is_alternate).await?;
        let resolved = match od.object_type {
            MQOT_Q => return self.resolve_queue(od, options, &caller).await,
            MQOT_Q_MGR => self.resolve_qmgr(od, options)?,
            MQOT_NAMELIST => self.resolve_other(od, options, ObjectKind::Namelist)?,
            MQOT_PROCESS => self.resolve_other(od, options, ObjectKind::Process)?,
            MQOT_TOPIC => self.resolve_topic(od, options)?,
            _ => return Err(Reason::OBJECT_TYPE_ERROR),
        };
        let authorised = caller.may_open(&self.qm, &resolved, options)?;
        Ok((resolved, authorised))
    }

    fn resolve_qmgr(&self, od: &Od, options: i32) -> Result<Resolved, Reason> {
        let qm = &self.qm;
        if options & (INPUT | MQOO_BROWSE | MQOO_OUTPUT | MQOO_SET) != 0 {
            return Err(Reason::OPTION_NOT_VALID_FOR_TYPE);
        }
        if !ours(qm, &od.object_q_mgr_name) {
            return Err(Reason::UNKNOWN_OBJECT_Q_MGR);
        }
        if !ours(qm, &od.object_name) {
            return Err(Reason::UNKNOWN_OBJECT_NAME);
        }
        let opened = qm.catalogue.qmgr_definition();
        Ok(Resolved {
            target: Target::Qmgr,
            opened: opened.ok_or(Reason::UNKNOWN_OBJECT_NAME)?,
            q_name: Name::default(),
            q_mgr_name: Name::new(&qm.config.name),
            created_queue: false,
            output_only: false,
        })
    }

    /// An object that can only be inquired.
    fn resolve_other(&self, od: &Od, options: i32, kind: ObjectKind) -> Result<Resolved, Reason> {
        let qm = &self.qm;
        if options & (INPUT | MQOO_BROWSE | MQOO_OUTPUT | MQOO_SET) != 0 {
            return Err(Reason::OPTION_NOT_VALID_FOR_TYPE);
        }
        if !ours(qm, &od.object_q_mgr_name) {
            return Err(Reason::UNKNOWN_OBJECT_Q_MGR);
        }
        let opened = qm.catalogue.find(kind, &od.object_name.text());
        Ok(Resolved {
            target: Target::Definition,
            opened: opened.ok_or(Reason::UNKNOWN_OBJECT_NAME)?,
            q_name: Name::default(),
            q_mgr_name: Name::new(&qm.config.name),
            created_queue: false,
            output_only: false,
        })
    }

    /// A topic by the name of an object, a topic string, or both.
    pub(crate) fn resolve_topic(&self, od: &Od, options: i32) -> Result<Resolved, Reason> {
        let qm = &self.qm;
        if options & (INPUT | MQOO_BROWSE | MQOO_SET) != 0 {
            return Err(Reason::OPTION_NOT_VALID_FOR_TYPE);
        }
        if !ours(qm, &od.object_q_mgr_name) {
            return Err(Reason::UNKNOWN_OBJECT_Q_MGR);
        }
        let name = match od.object_name.is_blank() {
            true => BASE_TOPIC.into(),
            false => od.object_name.text(),
        };
        let opened = qm.catalogue.find(ObjectKind::Topic, &name);
        let opened = opened.ok_or(Reason::UNKNOWN_OBJECT_NAME)?;
        let added = match od.version >= MQOD_VERSION_4 {
            true => od.object_string.as_str(),
            false => "",
        };
        let string = posthaste_topic::join(&opened.text(MQCA_TOPIC_STRING), added);
        Resolved::topic(&string, opened, None)
    }

    pub(super) fn count_in(&self, resolved: &Resolved, options: &mut i32) -> Result<(), Reason> {
        let receives = INPUT | MQOO_BROWSE;
        if resolved.output_only && *options & (receives | MQOO_INQUIRE | MQOO_SET) != 0 {
            return Err(Reason::OPTION_NOT_VALID_FOR_TYPE);
        }
        match &resolved.target {
            Target::Topic(_) if *options & (receives | MQOO_SET) != 0 => {
                Err(Reason::OPTION_NOT_VALID_FOR_TYPE)
            }
            Target::Topic(_) if !self.qm.catalogue.qmgr().publish_subscribe => {
                Err(Reason::PUBSUB_INHIBITED)
            }
            Target::Topic(_) => Ok(()),
            Target::Queue { queue, .. } => admit(&mut queue.lock(), options),
            Target::Remote { transmission, .. } => {
                if *options & receives != 0 {
                    return Err(Reason::OPTION_NOT_VALID_FOR_TYPE);
                }
                transmission.lock().open_output += 1;
                Ok(())
            }
            Target::Definition | Target::Qmgr => Ok(()),
        }
    }

    async fn open_object(
        self: &Arc<Self>,
        od: &mut Od,
        mut options: i32,
        counted: bool,
    ) -> Verb<Hobj> {
        check_options(options)?;
        let qm = &self.qm;
        if options & MQOO_FAIL_IF_QUIESCING != 0 && qm.lifecycle.quiescing() {
            return Err(Reason::Q_MGR_QUIESCING);
        }
        if describes_list(od) {
            // A future of its own, so that all the other opens need no room for it.
            return Box::pin(self.open_list(od, options)).await;
        }
        if counted && self.lock().handles.open >= qm.catalogue.qmgr().max_handles {
            return Err(Reason::HANDLE_NOT_AVAILABLE);
        }
        let selecting = check_descriptor(od, options)?;
        let last_change = qm.catalogue.changes.last();
        let (resolved, authorised) = self.resolve_object(od, options).await?;
        let temporary_mine = resolved.created_queue;
        if let Err(reason) = self.count_in(&resolved, &mut options) {
            if temporary_mine {
                // Nobody could see the queue yet; its definition goes as it came.
                let name = resolved.q_name.text().into_owned();
                let (queue, how) = ((ObjectKind::QLocal, &*name), Deletion::purging(true));
                let _ = qm.catalogue.delete(qm, queue, how, &|_| Ok(()));
            }
            return Err(reason);
        }
        self.describe(od, &resolved, options);
        let target = resolved.target.clone();
        let handle = Handle {
            selecting,
            created_queue: temporary_mine,
            ..resolved.handle(last_change, options, authorised)
        };
        let added = self.lock().handles.add(handle);
        match added {
            Some(hobj) => {
                if options & (MQOO_INPUT_SHARED | MQOO_INPUT_EXCLUSIVE) != 0
                    && let Target::Queue { queue, .. } = &target
                {
                    crate::delivery::initiation_ready(qm, queue);
                }
                Ok(Done::ok(hobj))
            }
            None => {
                super::release::count_out(&target, options);
                Err(Reason::HANDLE_NOT_AVAILABLE)
            }
        }
    }

    /// Fills the output fields of the object descriptor.
    fn describe(&self, od: &mut Od, resolved: &Resolved, options: i32) {
        if resolved.created_queue {
            (od.object_name, od.object_q_mgr_name) = (resolved.q_name, resolved.q_mgr_name);
        }
        od.resolved_q_name = resolved.q_name;
        od.resolved_q_mgr_name = resolved.q_mgr_name;
        if options & MQOO_RESOLVE_LOCAL_Q != 0
            && let Target::Remote { transmission, .. } = &resolved.target
        {
            od.resolved_q_name = transmission.name;
            od.resolved_q_mgr_name = Name::new(&self.qm.config.name);
        }
        od.resolved_type = od.object_type;
        if let Target::Topic(topic) = &resolved.target {
            od.resolved_type = MQOT_TOPIC;
            od.res_object_string.clone_from(&topic.string);
        }
        let (local, remote) = match resolved.target {
            Target::Remote { .. } => (0, 1),
            Target::Topic(_) => (0, 0),
            _ => (1, 0),
        };
        od.known_dest_count = local;
        od.unknown_dest_count = remote;
        od.invalid_dest_count = 0;
    }

    pub(crate) async fn open(self: &Arc<Self>, od: &mut Od, options: i32) -> Verb<Hobj> {
        self.open_object(od, options, true).await
    }
}

impl Session {
    /// MQOPEN.
    ///
    /// # Errors
    /// 2045 option not valid for type, 2046 options, 2042 object in use, 2043 object type, 2017 no
    /// handle (MAXHANDS), 2085 unknown object, 2086/2087 unknown (remote) queue manager, 2057 queue
    /// type, 2082 unknown alias base queue, 2001 alias base queue type, 2011 dynamic queue name,
    /// 2100 object already exists, 2184 remote queue name, 2196/2091/2092 and 2197/2198/2199
    /// (default) transmission queue unknown/type/usage, 2425 topic string, 2531 PSMODE, 2459/2504/2516/2519 selectors, 2161 quiescing; of
    /// distribution lists 2001, 2136, 2152 to 2156.
    pub async fn open(&self, od: &mut Od, options: i32) -> Verb<Hobj> {
        let _call = self.inner().enter()?;
        self.inner().open(od, options).await
    }
}
