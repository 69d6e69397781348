//! MQPUT with a delivery delay, as JMS 2.0 has it: the message goes to the staging queue, in the unit of work or outside it, and
//! from there to where it is to go ([`crate::delayed`]).
//!
//! Invariants:
//! * The delay is in the property `mqext.Dly`, in milliseconds; it begins with the put, not with the commit.
//! * What can be said against the put is said at the put: it is checked as if it were not delayed. Where it would have landed, and by
//!   whose authority, goes with it: by aliases it may land elsewhere when it is due.

use bytes::Bytes;
use posthaste_command::ObjectKind;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Chars, Hobj, Md, Name, Pmo, Properties, Property, Reason};

use super::put::{Begun, Destination, Going, PUBLISHING, Prepared, check_options};
use super::{Verb, mde};
use crate::catalogue::Definition;
use crate::delayed::header::{FORMAT, Header, LONGEST_USER, Landing, Place};
use crate::handles::Target;
use crate::message_data::MessageData;
use crate::origin::Origin;
use crate::routed::{RoutedMessage, trimmed};
use crate::session::{Session, SessionInner};

/// Milliseconds that a message asks to be delayed.
fn delay_of(md: &Md, data: &[u8]) -> i64 {
    match Properties::of(md, data).get("mqext", "Dly") {
        Some(Property::Integer(milliseconds)) => *milliseconds,
        // The client's library gives it no type.
        Some(Property::Text(text)) => text.parse().unwrap_or(0),
        _ => 0,
    }
}

/// The names by which a queue that was opened is opened again.
fn queue_of(target: &Target, opened: &Definition) -> Place {
    match target {
        Target::Remote {
            alias: None,
            definition: None,
            names,
            ..
        } => {
            let (queue, queue_manager) = **names;
            // A queue manager alias says the way, too: it is asked again.
            let manager = match opened.kind() {
                ObjectKind::QRemote => Name::new(opened.name()),
                _ => queue_manager,
            };
            Place::Queue(queue, manager)
        }
        _ => Place::Queue(Name::new(opened.name()), Name::default()),
    }
}

/// The queue here that messages land on.
pub(crate) fn landing(target: &Target) -> Landing {
    let Some(queue) = target.local_queue() else {
        return Landing::Nowhere;
    };
    match target {
        _ if queue.attributes().temporary() => Landing::Unknown,
        Target::Remote { .. } => Landing::By(queue.id),
        _ => Landing::On(queue.id),
    }
}

impl SessionInner {
    /// The part of the put before the message is on its way; none: there is no delay.
    fn begin_delayed(
        &self,
        hobj: Hobj,
        md: &Md,
        pmo: &Pmo,
        data: &Bytes,
    ) -> Result<Option<Going>, Reason> {
        check_options(pmo)?;
        let (mut changed, data) = mde::absorb(md, data.clone())?;
        let delay = delay_of(&changed, &data);
        if delay <= 0 {
            return Ok(None);
        }
        let lives = i64::from(changed.expiry).saturating_mul(100);
        if changed.expiry != MQEI_UNLIMITED && lives < delay {
            return Err(Reason::EXPIRY_ERROR);
        }
        if pmo.options & (MQPMO_LOGICAL_ORDER | MQPMO_ASYNC_RESPONSE) != 0 {
            return Err(Reason::OPTIONS_ERROR);
        }
        let (place, landing) = self.place_of(hobj)?;
        let Prepared {
            to,
            passed,
            authorised,
            ..
        } = self.prepare(hobj, &mut changed, pmo)?;
        let now = self.qm.clock.now();
        let mut header = Header {
            due: now.saturating_add(delay.saturating_mul(1_000)),
            expires: 0,
            options: pmo.options & PUBLISHING,
            pub_level: match pmo.version >= MQPMO_VERSION_3 {
                true => pmo.pub_level,
                false => 9,
            },
            publisher: self.qm.numbers.of_connection(self.id),
            to: place,
            landing,
            putter: self.is_checked.then(|| self.putter()),
            earlier: false,
            md: Md::default(),
        };
        let passed = passed.as_deref();
        let begun = match to {
            Destination::Queue(route) => {
                let begun =
                    self.begin_put(route, changed, pmo, data.clone(), passed, authorised)?;
                begun.may_go_later()?;
                (header.md, header.expires) = begun.complete();
                let routed = self.staged(&header, &header.md, data)?;
                begun.instead(routed)
            }
            Destination::Topic(topic) => {
                header.to = Place::Topic(topic.string.clone());
                let publishing =
                    self.begin_publish(topic, changed, pmo, data.clone(), passed, authorised)?;
                let (published, expires, msg_id, warning) = publishing.complete();
                (header.md, header.expires) = (published, expires);
                let shown = Md {
                    msg_id,
                    ..header.md.clone()
                };
                let length = data.len();
                let routed = self.staged(&header, &shown, data)?;
                Begun::of(routed, shown, length, warning)
            }
        };
        Ok(Some(Going::Queue(begun)))
    }

    /// What goes to the staging queue.
    fn staged(&self, header: &Header, shown: &Md, data: Bytes) -> Result<RoutedMessage, Reason> {
        let queue = self.qm.delay_queue().ok_or(Reason::UNKNOWN_OBJECT_NAME)?;
        let md = Md {
            version: MQMD_VERSION_2,
            format: Chars::new(FORMAT),
            encoding: MQENC_NATIVE,
            coded_char_set_id: self.qm.catalogue.qmgr().coded_char_set_id,
            expiry: MQEI_UNLIMITED,
            report: MQRO_NONE,
            msg_flags: MQMF_NONE,
            ..shown.clone()
        };
        let data = MessageData::from(trimmed(data)).behind(&header.encode());
        Ok(RoutedMessage::sharing(queue, md, data, 0).with_origin(Origin::Delayed))
    }

    /// The user of this connection, for a header.
    fn putter(&self) -> String {
        let user = &self.who.user;
        match user.len() <= LONGEST_USER {
            true => user.clone(),
            false => String::new(),
        }
    }

    /// What the queue of a handle is found by later on, and the queue here that it is now.
    fn place_of(&self, hobj: Hobj) -> Result<(Place, Landing), Reason> {
        let mut state = self.lock();
        let open = state.handles.get(hobj)?;
        open.unchanged(&self.qm.catalogue.changes)?;
        Ok((queue_of(&open.target, &open.opened), landing(&open.target)))
    }
}

impl Session {
    /// MQPUT of a message that says how long it is to be delayed, in milliseconds (`mqext.Dly` in its MQRFH2); without that
    /// it is [`Session::put`].
    ///
    /// # Errors
    /// Those of [`Session::put`]; 2013 it would expire before; 2046 in logical order, or asynchronously; 2085 there is no
    /// staging queue, and 2051, 2053, 2056 if that takes no message.
    pub async fn put_delayed(
        &self,
        hobj: Hobj,
        md: &mut Md,
        pmo: &mut Pmo,
        data: Bytes,
    ) -> Verb<()> {
        {
            let session = self.inner();
            let _call = session.enter()?;
            let begun = session.begin_delayed(hobj, md, pmo, &data);
            let failed = |reason: &Reason| session.put_ended(hobj, md, pmo, &Err(*reason));
            if let Some(going) = begun.inspect_err(failed)? {
                let put = session.finish_put(going, md, pmo).await;
                session.put_ended(hobj, md, pmo, &put);
                return put;
            }
        }
        self.put(hobj, md, pmo, data).await
    }
}
