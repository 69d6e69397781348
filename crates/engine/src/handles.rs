//! The open objects of a connection, by their numbers.
//!
//! Invariants:
//! * The number of a closed handle is not taken for that of a newer one. A list's number tells that it is one.
//! * A handle is void from the moment on at which something changes that it came by (`catalogue/last_change.rs`): it can
//!   only be closed.
//! * What a handle that is asked for knows of groups is true of the units of work that have ended by then.

use std::sync::Arc;

use posthaste_mqi::constants::*;
use posthaste_mqi::{Chars, Hobj, Md, Name, Reason};

use crate::authority_service::Authorised;
use crate::catalogue::last_change::Changes;
use crate::catalogue::{Alias, Definition};
use crate::consume::selection::{Selecting, Selection};
use crate::group::{GetGroup, GroupGet, GroupPut};
use crate::group_backout::Befores;
use crate::queue::judged::Judged;
use crate::queue::{Cursor, Queue};
use crate::topics::subscription::{PublicationCount, SubId};
use crate::unit::Unit;

/// What a handle is open on.
#[derive(Clone)]
pub(crate) enum Target {
    /// A local queue, perhaps by an alias.
    Queue {
        queue: Arc<Queue>,
        alias: Option<Arc<Alias>>,
        /// The queue manager alias that led here.
        by_manager: Option<Definition>,
    },
    /// A queue elsewhere: messages go to a transmission queue with a header.
    Remote {
        transmission: Arc<Queue>,
        /// That is the default one, and is meant for no other reason.
        by_default: bool,
        /// The queue manager alias that led to a definition here.
        by_manager: Option<Definition>,
        alias: Option<Arc<Alias>>,
        /// The local definition of the remote queue, if there is one.
        definition: Option<Definition>,
        /// Of the queue and its queue manager; apart, because few have any.
        names: Box<(Name, Name)>,
    },
    /// A topic, for publications.
    Topic(Arc<OpenTopic>),
    /// The queue manager.
    Qmgr,
    /// A definition open for inquiry only.
    Definition,
}

impl Target {
    /// The queue here that it stands on: its own, or the transmission queue that leads to it.
    pub(crate) fn local_queue(&self) -> Option<&Arc<Queue>> {
        match self {
            Target::Queue { queue, .. } => Some(queue),
            Target::Remote { transmission, .. } => Some(transmission),
            Target::Topic(_) | Target::Qmgr | Target::Definition => None,
        }
    }

    /// The queue manager alias that led here from outside.
    pub(crate) fn by_manager(&self) -> Option<&Definition> {
        match self {
            Target::Queue { by_manager, .. } | Target::Remote { by_manager, .. } => {
                by_manager.as_ref()
            }
            Target::Topic(topic) => topic.by_manager.as_ref(),
            Target::Qmgr | Target::Definition => None,
        }
    }

    /// The same, to which that queue manager alias led.
    pub(crate) fn led_to_by(mut self, by: Definition) -> Target {
        match &mut self {
            Target::Queue { by_manager, .. } | Target::Remote { by_manager, .. } => {
                *by_manager = Some(by);
            }
            Target::Topic(topic) => {
                let open = OpenTopic {
                    string: topic.string.clone(),
                    alias: topic.alias.clone(),
                    by_manager: Some(by),
                    published: PublicationCount::default(),
                };
                *topic = Arc::new(open);
            }
            Target::Qmgr | Target::Definition => {}
        }
        self
    }
}

/// A topic that is open.
pub(crate) struct OpenTopic {
    /// The whole topic string.
    pub(crate) string: String,
    /// The alias queue by which it was opened.
    pub(crate) alias: Option<Arc<Alias>>,
    /// The queue manager alias that led to that.
    pub(crate) by_manager: Option<Definition>,
    /// What was published by this handle.
    pub(crate) published: PublicationCount,
}

/// An open object.
pub(crate) struct Handle {
    pub(crate) target: Target,
    pub(crate) options: i32,
    /// What MQINQ and MQSET are about: the definition that was opened, before resolution.
    pub(crate) opened: Definition,
    pub(crate) cursor: Option<Cursor>,
    /// The cursor was set in logical order.
    pub(crate) cursor_logical: bool,
    pub(crate) group_put: GroupPut,
    pub(crate) group_get: GroupGet,
    /// The message context was saved from (`MQOO_SAVE_ALL_CONTEXT`).
    pub(crate) saved_context: Option<Box<Md>>,
    /// What its gets are about, of all that is on the queue.
    pub(crate) selecting: Option<Arc<Selecting>>,
    /// What its gets have judged, of which selection.
    pub(crate) judged: Option<Box<(Selection, Judged)>>,
    /// The handle created its (dynamic) queue.
    pub(crate) created_queue: bool,
    /// MQSUB made it, for the managed queue of a subscription.
    pub(crate) managed: bool,
    /// That its opener may do what its options say.
    pub(crate) authorised: Authorised,
    /// The last change before it was opened.
    pub(crate) last_change: u32,
}

impl Handle {
    /// By which nothing has been done yet.
    pub(crate) fn new(
        target: Target,
        opened: Definition,
        options: i32,
        authorised: Authorised,
    ) -> Handle {
        Handle {
            target,
            options,
            opened,
            cursor: None,
            cursor_logical: false,
            group_put: GroupPut::default(),
            group_get: GroupGet::default(),
            saved_context: None,
            selecting: None,
            judged: None,
            created_queue: false,
            managed: false,
            authorised,
            last_change: 0,
        }
    }

    /// Whether it can be gone on with: nothing that it came by has changed.
    ///
    /// # Errors
    /// 2041.
    pub(crate) fn unchanged(&self, changes: &Changes) -> Result<(), Reason> {
        if changes.last() == self.last_change {
            return Ok(());
        }
        let is_later =
            |definition: &Definition| definition.last_change().is_after(self.last_change);
        let on_the_way = match &self.target {
            Target::Queue { queue, alias, .. } => {
                queue.unchanged(alias.as_ref(), self.last_change).is_err()
            }
            Target::Remote {
                transmission,
                by_default,
                definition,
                ..
            } => {
                transmission.unchanged(None, self.last_change).is_err()
                    || definition.as_ref().is_some_and(is_later)
                    || *by_default && changes.default_route.is_after(self.last_change)
            }
            Target::Topic(_) | Target::Qmgr | Target::Definition => false,
        };
        let by_manager = self.target.by_manager();
        match on_the_way || is_later(&self.opened) || by_manager.is_some_and(is_later) {
            true => Err(Reason::OBJECT_CHANGED),
            false => Ok(()),
        }
    }

    /// Whether it was opened by this definition: by its name, by a name that led through it, or by it as a queue manager alias.
    pub(crate) fn came_by(&self, definition: &Definition) -> bool {
        let through = match &self.target {
            Target::Remote { definition, .. } => definition.as_ref(),
            _ => None,
        };
        let all = [Some(&self.opened), through, self.target.by_manager()];
        all.into_iter().flatten().any(|by| by.is(definition))
    }

    /// Where a browse with these options goes on: it does so in the order, logical or physical, in which the cursor was
    /// set.
    ///
    /// # Errors
    /// 2259 it would go on in the other order.
    pub(crate) fn cursor(&self, options: i32) -> Result<Option<Cursor>, Reason> {
        let logical = options & MQGMO_LOGICAL_ORDER != 0;
        let goes_on = options & MQGMO_BROWSE_NEXT != 0 && self.cursor.is_some();
        match goes_on && logical != self.cursor_logical {
            true => Err(Reason::INCONSISTENT_BROWSE),
            false => Ok(self.cursor),
        }
    }

    /// A browse with these options stands there.
    pub(crate) fn set_cursor(&mut self, cursor: Option<Cursor>, options: i32) {
        self.cursor = cursor;
        // What is under the cursor is so in either order.
        if options & MQGMO_BROWSE_MSG_UNDER_CURSOR == 0 {
            self.cursor_logical = options & MQGMO_LOGICAL_ORDER != 0;
        }
    }
}

/// A distribution list that is open.
pub(crate) struct OpenList {
    /// Its queues, in their order; of one that could not be opened, that.
    pub(crate) queues: Vec<Option<Handle>>,
    pub(crate) options: i32,
    pub(crate) group_put: GroupPut,
}

impl OpenList {
    /// The queues that are open.
    pub(crate) fn opened(&self) -> impl Iterator<Item = &Handle> {
        self.queues.iter().flatten()
    }
}

/// A handle on a subscription.
#[derive(Clone, Copy, Default)]
pub(crate) struct OpenSubscription {
    pub(crate) id: SubId,
    /// On whose behalf it was opened.
    pub(crate) user: Chars<12>,
}

/// What has a number.
// Most of them are open objects, which every call looks at.
#[allow(clippy::large_enum_variant)]
pub(crate) enum Open {
    /// An open object.
    Object(Handle),
    /// A subscription (Hsub), which may have ended.
    Subscription(OpenSubscription),
    /// A distribution list.
    List(Box<OpenList>),
}

impl Open {
    /// How many handles it counts as: a list has one for each queue (manual: "MaxHandles"), also for one that could not be
    /// opened, for it takes as much room.
    fn weight(&self) -> u32 {
        match self {
            Open::Object(_) | Open::Subscription(_) => 1,
            Open::List(list) => list.queues.len() as u32,
        }
    }
}

const INDEX_BITS: u32 = 20;
/// Of what an entry counts up with each use.
const GENERATIONS: u32 = 0x3FF;
/// What an entry has besides while it is a list.
const LIST: u32 = GENERATIONS + 1;

/// Whether a number is that of a distribution list, open or not.
pub(crate) fn is_list(hobj: Hobj) -> bool {
    hobj.0 > 0 && (hobj.0.unsigned_abs() >> INDEX_BITS) & LIST != 0
}

/// The handles of a connection, found by number.
#[derive(Default)]
pub(crate) struct Handles {
    entries: Vec<(u32, Option<Open>)>,
    free: Vec<u32>,
    pub(crate) open: u32,
    put_before: Befores<GroupPut>,
    removed_before: Befores<Option<Box<GetGroup>>>,
}

impl Handles {
    /// Adds an open object; `None` when the numbers have run out (about a million handles).
    pub(crate) fn add(&mut self, handle: Handle) -> Option<Hobj> {
        self.number(Open::Object(handle))
    }

    /// Adds a subscription; `None` when the numbers have run out.
    pub(crate) fn add_subscription(&mut self, opened: OpenSubscription) -> Option<Hobj> {
        self.number(Open::Subscription(opened))
    }

    /// Adds a distribution list; `None` when the numbers have run out.
    pub(crate) fn add_list(&mut self, list: Box<OpenList>) -> Option<Hobj> {
        self.number(Open::List(list))
    }

    fn number(&mut self, open: Open) -> Option<Hobj> {
        let at = match self.free.pop() {
            Some(at) => at,
            None if self.entries.len() + 1 >= 1 << INDEX_BITS => return None,
            None => {
                if self.entries.len() == self.entries.capacity() {
                    // By itself a vector begins with room for four, and most connections have one or two.
                    self.entries.reserve_exact(self.entries.len().max(1));
                }
                self.entries.push((0, None));
                self.entries.len() as u32 - 1
            }
        };
        let entry = &mut self.entries[at as usize];
        // Another generation each time, so that a closed handle is not taken for a new one.
        entry.0 = (entry.0 + 1) & GENERATIONS;
        if matches!(open, Open::List(_)) {
            entry.0 |= LIST;
        }
        self.open += open.weight();
        entry.1 = Some(open);
        Some(Hobj(((entry.0 << INDEX_BITS) | (at + 1)) as i32))
    }

    fn at(&self, hobj: Hobj) -> Option<usize> {
        let number = u32::try_from(hobj.0).ok()?;
        let at = (number & ((1 << INDEX_BITS) - 1)).checked_sub(1)? as usize;
        let entry = self.entries.get(at)?;
        (entry.0 == number >> INDEX_BITS).then_some(at)
    }

    /// Where an entry is, which knows now what has become of its units of work.
    fn caught_up(&mut self, hobj: Hobj) -> Option<usize> {
        let at = self.at(hobj)?;
        match &mut self.entries[at].1 {
            Some(Open::Object(handle)) => {
                self.put_before.catch_up(hobj, &mut handle.group_put);
                let removing = &mut handle.group_get.removing;
                self.removed_before.catch_up(hobj, removing);
            }
            Some(Open::List(list)) => self.put_before.catch_up(hobj, &mut list.group_put),
            Some(Open::Subscription(_)) | None => {}
        }
        Some(at)
    }

    /// An open object.
    ///
    /// # Errors
    /// 2019 it is none.
    pub(crate) fn get(&mut self, hobj: Hobj) -> Result<&mut Handle, Reason> {
        let at = self.caught_up(hobj);
        match at.and_then(|at| self.entries[at].1.as_mut()) {
            Some(Open::Object(handle)) => Ok(handle),
            _ => Err(Reason::HOBJ_ERROR),
        }
    }

    /// A message that was put has left its handle, or list, there in its group; `unit`: that in which it was put.
    pub(crate) fn has_put(&mut self, hobj: Hobj, group: GroupPut, unit: Option<&Arc<Unit>>) {
        let open = self.caught_up(hobj).map(|at| &mut self.entries[at].1);
        let known = match open {
            Some(Some(Open::Object(handle))) => &mut handle.group_put,
            Some(Some(Open::List(list))) => &mut list.group_put,
            _ => return,
        };
        self.put_before.change(hobj, known, group, unit);
    }

    /// A message that was removed has left its handle there in its group; `unit`: that in which it was got.
    pub(crate) fn has_removed(
        &mut self,
        hobj: Hobj,
        group: Option<Box<GetGroup>>,
        unit: Option<&Arc<Unit>>,
    ) {
        let open = self.caught_up(hobj).map(|at| &mut self.entries[at].1);
        let Some(Some(Open::Object(handle))) = open else {
            return;
        };
        let known = &mut handle.group_get.removing;
        self.removed_before.change(hobj, known, group, unit);
    }

    /// The same for a call that a distribution list cannot have, for this reason.
    ///
    /// # Errors
    /// 2019 it is none; the reason.
    pub(crate) fn get_single(
        &mut self,
        hobj: Hobj,
        of_list: Reason,
    ) -> Result<&mut Handle, Reason> {
        match is_list(hobj) {
            false => self.get(hobj),
            true => self.list(hobj).and(Err(of_list)),
        }
    }

    /// A distribution list.
    ///
    /// # Errors
    /// 2019 it is none.
    pub(crate) fn list(&mut self, hobj: Hobj) -> Result<&mut OpenList, Reason> {
        let at = self.caught_up(hobj);
        match at.and_then(|at| self.entries[at].1.as_mut()) {
            Some(Open::List(list)) => Ok(list),
            _ => Err(Reason::HOBJ_ERROR),
        }
    }

    /// A subscription.
    ///
    /// # Errors
    /// 2019 it is none.
    pub(crate) fn subscription(&self, hobj: Hobj) -> Result<OpenSubscription, Reason> {
        let at = self.at(hobj);
        match at.and_then(|at| self.entries[at].1.as_ref()) {
            Some(Open::Subscription(opened)) => Ok(*opened),
            _ => Err(Reason::HOBJ_ERROR),
        }
    }

    pub(crate) fn remove(&mut self, hobj: Hobj) -> Result<Open, Reason> {
        let at = self.caught_up(hobj).ok_or(Reason::HOBJ_ERROR)?;
        let open = self.entries[at].1.take().ok_or(Reason::HOBJ_ERROR)?;
        self.put_before.forget(hobj);
        self.removed_before.forget(hobj);
        self.free.push(at as u32);
        self.open -= open.weight();
        Ok(open)
    }

    pub(crate) fn all(&self) -> Vec<Hobj> {
        let number = |(at, (generation, open)): (usize, &(u32, Option<Open>))| {
            open.as_ref()
                .map(|_| Hobj(((generation << INDEX_BITS) | (at as u32 + 1)) as i32))
        };
        self.entries.iter().enumerate().filter_map(number).collect()
    }

    /// The open objects, those of lists too.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Handle> {
        let open = self.entries.iter().filter_map(|(_, open)| open.as_ref());
        open.flat_map(|open| {
            let (object, list) = match open {
                Open::Object(handle) => (Some(handle), None),
                Open::List(list) => (None, Some(list)),
                Open::Subscription(_) => (None, None),
            };
            object
                .into_iter()
                .chain(list.into_iter().flat_map(|list| list.opened()))
        })
    }

    /// The subscriptions.
    pub(crate) fn subscriptions(&self) -> impl Iterator<Item = SubId> {
        let open = self.entries.iter().filter_map(|(_, open)| open.as_ref());
        open.filter_map(|open| match open {
            Open::Subscription(opened) => Some(opened.id),
            Open::Object(_) | Open::List(_) => None,
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// A connection has few handles, and as much memory for them as it has handles.
    #[test]
    fn few_handles_take_no_more_room_than_they_need() {
        let mut handles = Handles::default();
        for (handle, room) in [1, 2, 4, 4, 8].into_iter().enumerate() {
            handles
                .add_subscription(OpenSubscription::default())
                .unwrap();
            assert_eq!(handles.entries.capacity(), room, "{handle}");
        }
        let size = size_of::<(u32, Option<Open>)>();
        assert!(size <= 192, "{size} bytes");
    }
}
