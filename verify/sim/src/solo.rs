//! Applications that are alone with queues of their own, so that what must come of each call is known to the last
//! message. Triggers, reports, groups, browse locks, marks, groups of subscriptions and properties are judged so, each by the
//! manual's rules, told here once more.
//!
//! Invariant: such an application ends when a call is refused for a reason that any call can have; another reason is a
//! finding.

use std::time::Duration;

use bytes::Bytes;
use posthaste_model::{Outcome, Rule, Violation};
use posthaste_mqi::constants::*;
use posthaste_mqi::{Gmo, Hobj, Md, Name, Od, Pmo, Reason};

use crate::calls::BUFFER;
use crate::workload::{Worker, outcome};

/// What they work with.
pub(crate) const DEFINITIONS: [&str; 10] = [
    "DEFINE QLOCAL(T.INIT)",
    "DEFINE QLOCAL(T.FIRST) TRIGGER TRIGTYPE(FIRST) TRIGMPRI(1) INITQ(T.INIT)",
    "DEFINE QLOCAL(T.EVERY) TRIGGER TRIGTYPE(EVERY) TRIGMPRI(1) INITQ(T.INIT)",
    "DEFINE QLOCAL(T.DEPTH) TRIGGER TRIGTYPE(DEPTH) TRIGMPRI(1) TRIGDPTH(3) INITQ(T.INIT)",
    "DEFINE QLOCAL(R.ASKED)",
    "DEFINE QLOCAL(R.REPORTS)",
    "DEFINE QLOCAL(G.GROUPS)",
    "DEFINE QLOCAL(L.LOCKS) MSGDLVSQ(FIFO)",
    "DEFINE QLOCAL(K.MARKS)",
    "ALTER QMGR MARKINT(5)",
];

/// Why an application ends.
pub(crate) enum End {
    /// A call was refused.
    Refused(Reason),
    /// A rule is broken.
    Broken(Violation),
}

impl From<Reason> for End {
    fn from(reason: Reason) -> Self {
        End::Refused(reason)
    }
}

pub(crate) type Going = Result<(), End>;

/// A rule is broken, unless `holds`.
pub(crate) fn must(holds: bool, rule: Rule, text: impl FnOnce() -> String) -> Going {
    if holds {
        return Ok(());
    }
    let text = text();
    Err(End::Broken(Violation { rule, text }))
}

impl Worker {
    /// Ends the application, one way or the other.
    pub(crate) fn end(&self, going: Going) {
        match going {
            Ok(()) => {}
            Err(End::Broken(violation)) => {
                self.violated(violation);
            }
            Err(End::Refused(reason)) => {
                // The log or the disk is full, or something is wrong with the medium.
                let any = [
                    Reason::BACKED_OUT,
                    Reason::RESOURCE_PROBLEM,
                    Reason::Q_SPACE_NOT_AVAILABLE,
                    Reason::OBJECT_DAMAGED,
                    // Over a channel.
                    Reason::CONNECTION_STOPPING,
                    Reason::CONNECTION_QUIESCING,
                ];
                if outcome(reason) != Outcome::Unknown && !any.contains(&reason) {
                    let text = format!("a call was refused with {reason}");
                    let rule = Rule::Refused;
                    self.violated(Violation { rule, text });
                }
            }
        }
    }

    pub(crate) fn stopping(&self) -> bool {
        self.shared.borrow().stopping
    }

    pub(crate) async fn open_one(&self, name: &str, options: i32) -> Result<Hobj, Reason> {
        self.open_selecting(name, options, "").await
    }

    pub(crate) async fn open_selecting(
        &self,
        name: &str,
        options: i32,
        selection: &str,
    ) -> Result<Hobj, Reason> {
        let mut od = Od {
            version: MQOD_VERSION_4,
            object_name: Name::new(name),
            selection_string: selection.to_owned(),
            ..Od::default()
        };
        self.session
            .open(&mut od, options)
            .await
            .map(|done| done.value)
    }

    pub(crate) async fn close_one(&self, handle: Hobj) -> Result<(), Reason> {
        self.session.close(handle, MQCO_NONE).await.map(drop)
    }

    pub(crate) async fn send_one(
        &self,
        handle: Hobj,
        md: &mut Md,
        options: i32,
        data: Bytes,
    ) -> Result<(), Reason> {
        let mut pmo = Pmo {
            options,
            ..Pmo::default()
        };
        self.session.put(handle, md, &mut pmo, data).await.map(drop)
    }

    /// The next message, in arrival or logical order; `None` when there is none within the wait.
    pub(crate) async fn take_one(
        &self,
        handle: Hobj,
        options: i32,
        wait: Duration,
    ) -> Result<Option<(Md, Bytes)>, Reason> {
        let mut md = Md {
            version: MQMD_VERSION_2,
            ..Md::default()
        };
        let millis = wait.as_millis() as i32;
        let mut gmo = Gmo {
            version: MQGMO_VERSION_2,
            options: options | if millis > 0 { MQGMO_WAIT } else { 0 },
            match_options: MQMO_NONE,
            wait_interval: millis,
            ..Gmo::default()
        };
        match self.session.get(handle, &mut md, &mut gmo, BUFFER).await {
            Ok(done) => Ok(Some((md, done.value.data))),
            Err(Reason::NO_MSG_AVAILABLE) => Ok(None),
            Err(reason) => Err(reason),
        }
    }

    pub(crate) async fn commit_one(&self) -> Result<(), Reason> {
        self.session.commit().await.map(drop)
    }

    pub(crate) async fn backout_one(&self) -> Result<(), Reason> {
        self.session.backout().await.map(drop)
    }

    pub(crate) async fn sleep(&self, nanos: u64) {
        self.clock.sleep_until(self.clock.monotonic() + nanos).await;
    }
}
