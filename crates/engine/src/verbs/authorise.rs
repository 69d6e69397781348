//! What calls need authorities for (manual: "Authorizations for MQI calls").
//!
//! Invariants: an object is checked by the name that it is opened by (that of an alias, not of its target), before
//! anything is made or counted; a queue that is transmitted from can be opened for output, by its own name or by an alias,
//! only by who may set all context; whoever opens a queue whose messages are taken at their word (`at_their_word.rs`) by an alias
//! needs context rights on it too, for who makes an alias has all of them there; whoever opens a model queue needs to display it
//! besides; who names another user has that one's authorities on objects, and its own as to contexts, but for what the queue
//! manager puts for him where messages are taken at their word.

use std::sync::Arc;

use posthaste_authority::{Authorities, Authority, ObjectType};
use posthaste_command::ObjectKind;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Chars, Name, Od, Reason, Sd};

use crate::at_their_word::{is_taken_at_its_word, speaks_for_itself};
use crate::authority_service::Authorised;
use crate::authorization::{Asking, Caller};
use crate::catalogue::Definition;
use crate::handles::{Handle, Target};
use crate::manager::Inner;
use crate::queue::Queue;
use crate::resolution::{Resolved, resolve};
use crate::session::SessionInner;
use crate::topics::subscription::Subscription;

const ALTERNATE: Authorities = Authorities::of(&[Authority::AlternateUser]);
const SUBSCRIBE: Authorities = Authorities::of(&[Authority::Subscribe]);
const RESUME: Authorities = Authorities::of(&[Authority::Resume]);
const PUT: Authorities = Authorities::of(&[Authority::Put]);
/// What a queue must grant whose messages a subscription hands out.
const DESTINATION: Authorities =
    Authorities::of(&[Authority::Put, Authority::Get, Authority::Browse]);

/// Options of an open that say whose a message is that is put.
const CONTEXTS: i32 = MQOO_PASS_IDENTITY_CONTEXT
    | MQOO_PASS_ALL_CONTEXT
    | MQOO_SET_IDENTITY_CONTEXT
    | MQOO_SET_ALL_CONTEXT;
/// Options of an open that puts.
const PUTS: i32 = MQOO_OUTPUT | CONTEXTS;

/// A call of the MQ Interface by its name, and its options.
type Call = (&'static str, i32);

/// What the options of an open need on the object.
fn needs(options: i32, is_topic: bool) -> Authorities {
    let input = MQOO_INPUT_AS_Q_DEF | MQOO_INPUT_SHARED | MQOO_INPUT_EXCLUSIVE;
    let output = match is_topic {
        true => Authority::Publish,
        false => Authority::Put,
    };
    let rows = [
        (MQOO_INQUIRE, Authority::Inquire),
        (MQOO_SET, Authority::Set),
        (MQOO_BROWSE, Authority::Browse),
        (input | MQOO_SAVE_ALL_CONTEXT, Authority::Get),
        (MQOO_OUTPUT, output),
        (MQOO_PASS_IDENTITY_CONTEXT, Authority::PassIdentity),
        (MQOO_PASS_ALL_CONTEXT, Authority::PassAll),
        (MQOO_SET_IDENTITY_CONTEXT, Authority::SetIdentity),
        (MQOO_SET_ALL_CONTEXT, Authority::SetAll),
    ];
    let asked = rows.into_iter().filter(|(option, _)| options & option != 0);
    asked.map(|(_, authority)| authority).collect()
}

/// What of that is needed on the queue manager too.
fn needs_of_manager(on_object: Authorities) -> Authorities {
    on_object & Authorities::of(&[Authority::SetIdentity, Authority::SetAll])
}

/// The options of the open in an MQPUT1.
pub(super) fn put1_options(options: i32) -> i32 {
    let rows = [
        (MQPMO_PASS_IDENTITY_CONTEXT, MQOO_PASS_IDENTITY_CONTEXT),
        (MQPMO_PASS_ALL_CONTEXT, MQOO_PASS_ALL_CONTEXT),
        (MQPMO_SET_IDENTITY_CONTEXT, MQOO_SET_IDENTITY_CONTEXT),
        (MQPMO_SET_ALL_CONTEXT, MQOO_SET_ALL_CONTEXT),
    ];
    let asked = rows.into_iter().filter(|(option, _)| options & option != 0);
    asked.fold(MQOO_OUTPUT, |all, (_, option)| all | option)
}

/// The queue on which what is put lands, if messages there are taken at their word: not a transmission queue to which a queue
/// elsewhere leads.
fn taken_at_its_word(target: &Target) -> Option<&Queue> {
    match target {
        Target::Queue { queue, .. } => is_taken_at_its_word(queue).then_some(queue),
        _ => None,
    }
}

/// Whether what is put there says by itself where it goes and in whose name.
fn goes_where_it_says(target: &Target) -> bool {
    taken_at_its_word(target).is_some_and(speaks_for_itself)
}

impl Caller {
    fn check_definition(
        &self,
        qm: &Inner,
        definition: &Definition,
        needs: Authorities,
    ) -> Result<Authorised, Reason> {
        let of_manager = needs_of_manager(needs);
        if !of_manager.is_empty() {
            self.check_manager(qm, of_manager)?;
        }
        self.check(
            qm,
            definition.kind().object_type(),
            definition.name(),
            needs,
        )
    }

    /// Whether an object may be opened so.
    ///
    /// # Errors
    /// 2035.
    pub(crate) fn may_open(
        &self,
        qm: &Inner,
        resolved: &Resolved,
        options: i32,
    ) -> Result<Authorised, Reason> {
        if matches!(self, Caller::Unchecked) {
            return self.check_manager(qm, Authorities::NONE);
        }
        let opened = &resolved.opened;
        match &resolved.target {
            Target::Qmgr => self.check_manager(qm, needs(options, false)),
            Target::Topic(topic) => {
                if opened.kind() == ObjectKind::QAlias {
                    self.check_definition(qm, opened, needs(options, false))?;
                }
                let needs = needs(options, true);
                let of_manager = needs_of_manager(needs);
                if !of_manager.is_empty() {
                    self.check_manager(qm, of_manager)?;
                }
                self.check_topic(qm, &topic.string, &[needs])
            }
            target => match taken_at_its_word(target) {
                Some(queue) if options & PUTS != 0 => {
                    self.who_causes_it()
                        .may_put_at_its_word(qm, (opened, queue), options)
                }
                _ => self.check_definition(qm, opened, needs(options, false)),
            },
        }
    }

    /// The same of a queue whose messages are taken at their word, for output or with context rights.
    ///
    /// # Errors
    /// 2035.
    fn may_put_at_its_word(
        &self,
        qm: &Inner,
        (opened, queue): (&Definition, &Queue),
        options: i32,
    ) -> Result<Authorised, Reason> {
        let asked = match options & MQOO_OUTPUT != 0 && speaks_for_itself(queue) {
            true => options & !MQOO_OUTPUT | MQOO_SET_ALL_CONTEXT,
            false => options,
        };
        let authorised = self.check_definition(qm, opened, needs(asked, false))?;
        let name = queue.name.text();
        if opened.name() == name {
            return Ok(authorised);
        }
        self.check(
            qm,
            ObjectType::Queue,
            &name,
            needs(options & CONTEXTS, false),
        )
    }

    /// Who has to be allowed what the queue manager puts for him by itself, which nobody checks: all of it is his doing.
    fn who_causes_it(&self) -> &Caller {
        match self {
            Caller::Alternate { named, own } if matches!(**own, Caller::Unchecked) => named,
            same => same,
        }
    }

    /// Whether a dynamic queue may be made of a model queue and opened so.
    ///
    /// # Errors
    /// 2035.
    pub(super) fn may_make(
        &self,
        qm: &Inner,
        model: &Definition,
        options: i32,
    ) -> Result<Authorised, Reason> {
        let needs = needs(options, false) | Authority::Display.into();
        self.check_definition(qm, model, needs)
    }

    /// Whether a queue may be deleted as it is closed.
    ///
    /// # Errors
    /// 2035.
    pub(super) fn may_delete(&self, qm: &Inner, queue: &str) -> Result<Authorised, Reason> {
        self.check(qm, ObjectType::Queue, queue, Authority::Delete.into())
    }

    /// Whether a subscription to a topic string may be made or altered, or only resumed.
    ///
    /// # Errors
    /// 2035.
    pub(super) fn may_subscribe(
        &self,
        qm: &Inner,
        topic: &str,
        resumes: bool,
    ) -> Result<Authorised, Reason> {
        let enough: &[Authorities] = match resumes {
            true => &[RESUME, SUBSCRIBE],
            false => &[SUBSCRIBE],
        };
        self.check_topic(qm, topic, enough)
    }

    /// Whether a durable subscription may be ended by a handle that was opened on behalf of `user`: his own that is his alone, or one of
    /// any user's whose topic he may subscribe to (manual: "Not Authorized (type 3)"). Another's is ended as by a command.
    ///
    /// # Errors
    /// 2035.
    pub(super) fn may_remove(
        &self,
        qm: &Inner,
        of: &Subscription,
        user: &Chars<12>,
    ) -> Result<(), Reason> {
        if of.any_user {
            return self.may_subscribe(qm, of.filter.branch(), false).map(drop);
        }
        match of.is_of(user) {
            true => Ok(()),
            false => self.check_manager(qm, Authority::Change.into()).map(drop),
        }
    }

    /// Whether publications may go to a queue that the application has open.
    ///
    /// # Errors
    /// 2035.
    pub(super) fn may_provide(
        &self,
        qm: &Inner,
        handle: &Handle,
        sd: &Sd,
    ) -> Result<Authorised, Reason> {
        // As to open it for output.
        let mut needs = match goes_where_it_says(&handle.target) {
            true => Authority::SetAll.into(),
            false => PUT,
        };
        if sd.options & MQSO_SET_IDENTITY_CONTEXT != 0 {
            needs = needs | Authority::SetIdentity.into();
        }
        self.check_definition(qm, &handle.opened, needs)
    }

    /// Whether messages may come from the user in whose name a subscription is made: what is published goes to a queue that the
    /// application has chosen with that user in its context, and whoever reads commands there takes them for his.
    ///
    /// # Errors
    /// 2035.
    pub(super) fn may_have_sent(&self, qm: &Inner) -> Result<(), Reason> {
        match self {
            Caller::Alternate { .. } => self
                .check_manager(qm, Authority::SetIdentity.into())
                .map(drop),
            _ => Ok(()),
        }
    }

    /// Whether a handle may be had on a queue that an administrator, or another application, has given a subscription.
    ///
    /// # Errors
    /// 2035.
    pub(super) fn may_have(&self, qm: &Inner, queue: &Definition) -> Result<Authorised, Reason> {
        self.check_definition(qm, queue, DESTINATION)
    }

    /// Whether the messages of another user's subscription may come elsewhere from now on: he has them there instead of whoever has
    /// them here.
    ///
    /// # Errors
    /// 2035.
    pub(super) fn may_have_from(
        &self,
        qm: &Inner,
        (queue, manager): (&Name, &Name),
    ) -> Result<Authorised, Reason> {
        match resolve(qm, queue, manager) {
            Ok(Ok(resolved)) => self.may_have(qm, &resolved.opened),
            // It leads nowhere by now.
            _ => self.check(qm, ObjectType::Queue, &queue.text(), DESTINATION),
        }
    }
}

impl SessionInner {
    /// On whose behalf this connection's calls are made.
    ///
    /// # Errors
    /// 2063 nobody could say who its user is.
    pub(super) async fn caller(&self, call: Call) -> Result<Caller, Reason> {
        match self.is_checked {
            true => self.qm.caller(&self.who.user, self.asking(call)).await,
            false => Ok(Caller::Unchecked),
        }
    }

    fn asking(&self, (call, options): Call) -> Asking {
        Asking {
            who: Arc::clone(&self.who),
            call,
            options,
        }
    }

    /// The same for a call that may name another user, which the connection's own must be allowed to.
    ///
    /// # Errors
    /// 2035 it is not; 2063 nobody could say who one of them is.
    async fn caller_for(&self, call: Call, alternate: Option<&str>) -> Result<Caller, Reason> {
        let own = self.caller(call).await?;
        let Some(user) = alternate else {
            return Ok(own);
        };
        own.check_manager(&self.qm, ALTERNATE)?;
        // Who names himself acts as ever.
        if user == self.who.user {
            return Ok(own);
        }
        // Of somebody who is not checked too: who acts for others may do what they may.
        let named = self.qm.caller(user, self.asking(call)).await?;
        Ok(Caller::Alternate {
            named: Box::new(named),
            own: Box::new(own),
        })
    }

    /// On whose behalf an object is opened.
    ///
    /// # Errors
    /// 2035 the connection's user may not name another one; 2063 nobody could say who it is.
    pub(super) async fn opener(
        &self,
        call: Call,
        od: &Od,
        is_alternate: bool,
    ) -> Result<Caller, Reason> {
        let user = od.alternate_user_id.text();
        self.caller_for(call, is_alternate.then_some(&user)).await
    }

    /// On whose behalf a subscription is ended by a handle of this user's.
    ///
    /// # Errors
    /// 2035 the connection's user may not name another one; 2063 nobody could say who it is.
    pub(super) async fn removing(&self, user: &Chars<12>) -> Result<Caller, Reason> {
        let named = user.text();
        let is_alternate = named != Chars::<12>::new(&self.who.user).text();
        let call = ("MQCLOSE", MQCO_REMOVE_SUB);
        self.caller_for(call, is_alternate.then_some(&named)).await
    }

    /// On whose behalf a subscription is made.
    ///
    /// # Errors
    /// 2035 the connection's user may not name another one; 2063 nobody could say who it is.
    pub(super) async fn subscribing(&self, sd: &Sd) -> Result<Caller, Reason> {
        let is_alternate = sd.options & MQSO_ALTERNATE_USER_AUTHORITY != 0;
        let user = sd.alternate_user_id.text();
        let call = ("MQSUB", sd.options);
        self.caller_for(call, is_alternate.then_some(&user)).await
    }
}
