//! What a definition says where an application leaves it open ("as queue definition", "as topic definition").
//!
//! Invariant: a queue's is the one that a put consults: that of the object as it was named, before an alias, a remote definition or
//! a transmission queue leads on. A topic has what holds for its topic string, inherited from above where the closest topic
//! object says nothing.

use std::sync::Arc;

use posthaste_command::ObjectKind;
use posthaste_mqi::constants::{
    MQIA_DEF_PERSISTENCE, MQIA_DEF_PUT_RESPONSE_TYPE, MQIA_DEF_READ_AHEAD, MQIA_PROPERTY_CONTROL,
    MQOO_BROWSE, MQREADA_DISABLED,
};
use posthaste_mqi::{Hobj, Md, Od, Reason};

use super::put::Route;
use crate::handles::{Handle, Target};
use crate::manager::Inner;
use crate::resolution::resolve;
use crate::session::Session;

/// Defaults of the object that a handle is open on; attributes that it does not have are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Defaults {
    /// DEFPSIST.
    pub persistence: i32,
    /// DEFPRESP.
    pub put_response: i32,
    /// DEFREADA; of a handle that browses MQREADA_DISABLED, whatever that is: what was sent ahead would be neither under the cursor
    /// nor on the queue (manual: "MQGET options and read ahead"), and MQGMO_BROWSE_FIRST could be given what was sent before it.
    pub read_ahead: i32,
    /// PROPCTL.
    pub property_control: i32,
}

impl Session {
    /// Whether a handle is open, by which something may be done now.
    ///
    /// # Errors
    /// 2009, 2018, 2162 the connection or the queue manager ends, which closes handles too; 2019 it is not open.
    pub fn check_open(&self, handle: Hobj) -> Result<(), Reason> {
        let session = self.inner();
        let is_open = session.lock().handles.get(handle).map(|_| ());
        is_open.map_err(|reason| session.why_closed(reason))
    }

    /// Defaults of what a handle is open on; none if it is not open.
    pub fn defaults(&self, handle: Hobj) -> Option<Defaults> {
        let mut state = self.inner().lock();
        let handle = state.handles.get(handle).ok()?;
        let opened = &handle.opened;
        if let (Target::Topic(topic), ObjectKind::Topic) = (&handle.target, opened.kind()) {
            let rules = self.inner().qm.catalogue.topic_objects.rules(&topic.string);
            return Some(Defaults {
                persistence: rules.persistence,
                put_response: rules.put_response,
                ..Defaults::default()
            });
        }
        Some(Defaults {
            persistence: opened.int(MQIA_DEF_PERSISTENCE),
            put_response: opened.int(MQIA_DEF_PUT_RESPONSE_TYPE),
            read_ahead: match handle.options & MQOO_BROWSE != 0 {
                true => MQREADA_DISABLED,
                false => opened.int(MQIA_DEF_READ_AHEAD),
            },
            property_control: opened.int(MQIA_PROPERTY_CONTROL),
        })
    }
}

/// The persistence that a message gets when it is put by a handle now; none if nothing can be put by it.
pub(crate) fn persistence_of(handle: &Handle, md: &Md) -> Option<i32> {
    let route = Route::of(&handle.target, &handle.opened).ok()?;
    Some(route.persistence(md))
}

/// The persistence that a message gets when MQPUT1 puts it now; none if the name leads nowhere.
pub(crate) fn persistence_to(qm: &Arc<Inner>, od: &Od, md: &Md) -> Option<i32> {
    let resolved = resolve(qm, &od.object_name, &od.object_q_mgr_name);
    let resolved = resolved.ok()?.ok()?;
    let route = Route::of(&resolved.target, &resolved.opened).ok()?;
    Some(route.persistence(md))
}
