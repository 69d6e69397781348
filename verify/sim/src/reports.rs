//! One application asks for reports on its messages, and counts them.
//!
//! The rules: a message that arrives has one COA, one that is got one COD, one that expires one expiration report, each
//! to the reply-to queue, with the message's identifier as its CorrelId and the message's persistence; that of a
//! persistent message survives a crash as the message does. No other report comes, and none twice.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use posthaste_model::Rule;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Hobj, Md, Name};

use crate::solo::{Going, must};
use crate::workload::{Worker, id24};

/// How long a report may be on its way.
const SOON: Duration = Duration::from_secs(2);

/// A report that is due.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Due {
    persistent: bool,
    /// The call that it comes of was answered.
    sure: bool,
    /// A persistent message was found to have expired. A restart may forget that, and then it is found again; unless
    /// the clock was set back, and the message is there.
    found: bool,
}

/// By message and feedback.
pub(crate) type Reports = BTreeMap<([u8; 24], i32), Due>;

impl Worker {
    /// Works until the queue manager or a rule says stop.
    pub(crate) async fn report(self) {
        let going = self.report_rounds().await;
        self.end(going);
    }

    fn due(&self, id: [u8; 24], feedback: i32, persistent: bool, sure: bool) {
        let due = Due {
            persistent,
            sure,
            found: sure && persistent && feedback == MQFB_EXPIRATION,
        };
        self.say(&format!("report {feedback} on {} is {due:?}", id[23]));
        let mut shared = self.shared.borrow_mut();
        shared.reports.insert((id, feedback), due);
    }

    async fn report_rounds(&self) -> Going {
        // The queue manager has been started anew: what was not persistent has gone, and what was, has not.
        self.shared.borrow_mut().reports.retain(|_, due| {
            due.sure &= !due.found;
            due.persistent
        });
        let options = MQOO_INPUT_SHARED | MQOO_OUTPUT;
        let asked = self.open_one("R.ASKED", options).await?;
        let reports = self.open_one("R.REPORTS", MQOO_INPUT_SHARED).await?;
        self.count_reports(reports).await?;
        while self.get_asked(asked).await? {}
        // None of them is there.
        for due in self.shared.borrow_mut().reports.values_mut() {
            due.sure |= due.found;
        }
        while !self.stopping() {
            self.put_asked(asked).await?;
            self.count_reports(reports).await?;
            if self.below(2) == 0 {
                while self.get_asked(asked).await? {}
                self.count_reports(reports).await?;
            }
            self.sleep(100_000).await;
        }
        Ok(())
    }

    async fn put_asked(&self, asked: Hobj) -> Going {
        let id = {
            let mut shared = self.shared.borrow_mut();
            shared.next_number += 1;
            id24(shared.next_number | 1 << 40)
        };
        let persistent = self.below(2) == 0;
        let in_unit = self.below(2) == 0;
        let expires = self.below(4) == 0;
        let mut md = Md {
            version: MQMD_VERSION_2,
            msg_id: id,
            persistence: i32::from(persistent),
            report: MQRO_COA | MQRO_COD | MQRO_EXPIRATION,
            reply_to_q: Name::new("R.REPORTS"),
            expiry: if expires { 1 } else { MQEI_UNLIMITED },
            ..Md::default()
        };
        self.due(id, MQFB_COA, persistent, false);
        if expires {
            // It may be put, and expire, though the put is not answered.
            self.due(id, MQFB_EXPIRATION, persistent, false);
        }
        let options = [MQPMO_NO_SYNCPOINT, MQPMO_SYNCPOINT][usize::from(in_unit)];
        self.send_one(asked, &mut md, options, Bytes::from_static(b"asked"))
            .await?;
        if in_unit && self.below(4) == 0 {
            self.backout_one().await?;
            let mut shared = self.shared.borrow_mut();
            shared.reports.remove(&(id, MQFB_COA));
            shared.reports.remove(&(id, MQFB_EXPIRATION));
            return Ok(());
        }
        self.commit_one().await?;
        self.due(id, MQFB_COA, persistent, true);
        if !expires {
            return Ok(());
        }
        self.sleep(150_000_000).await;
        // What does not expire may be there.
        if let Some((md, _)) = self
            .take_one(asked, MQGMO_SYNCPOINT, Duration::ZERO)
            .await?
        {
            must(md.msg_id != id, Rule::Expired, || {
                "a message with reports".to_owned()
            })?;
            self.finish_asked(&md).await?;
        }
        // It had been there, and is not: so it has been found to have expired, and if that is lost in a crash, it will
        // be again.
        self.due(id, MQFB_EXPIRATION, persistent, true);
        Ok(())
    }

    /// A message was got; its unit of work is committed.
    async fn finish_asked(&self, md: &Md) -> Going {
        let persistent = md.persistence != 0;
        self.due(md.msg_id, MQFB_COD, persistent, false);
        // If that is lost in a crash the message is there again, and may expire.
        self.commit_one().await?;
        self.due(md.msg_id, MQFB_COD, persistent, true);
        self.shared
            .borrow_mut()
            .reports
            .remove(&(md.msg_id, MQFB_EXPIRATION));
        Ok(())
    }

    /// Gets a message, finally or not; whether there was one.
    async fn get_asked(&self, asked: Hobj) -> Result<bool, crate::solo::End> {
        let Some((md, _)) = self
            .take_one(asked, MQGMO_SYNCPOINT, Duration::ZERO)
            .await?
        else {
            return Ok(false);
        };
        if self.below(4) == 0 {
            self.backout_one().await?;
        } else {
            self.finish_asked(&md).await?;
        }
        Ok(true)
    }

    /// Gets reports until all that are sure to be due have come, and then those that are there.
    async fn count_reports(&self, reports: Hobj) -> Going {
        loop {
            let sure = self
                .shared
                .borrow()
                .reports
                .values()
                .filter(|due| due.sure)
                .count();
            let wait = if sure > 0 { SOON } else { Duration::ZERO };
            let Some((md, _)) = self.take_one(reports, MQGMO_SYNCPOINT, wait).await? else {
                return must(sure == 0, Rule::Reports, || {
                    format!(
                        "{sure} reports do not come: {:?}",
                        self.shared.borrow().reports
                    )
                });
            };
            let key = (md.correl_id, md.feedback);
            let due = self.shared.borrow().reports.get(&key).copied();
            self.say(&format!("report {} on {}", md.feedback, md.correl_id[23]));
            let same = due.is_some_and(|due| due.persistent == (md.persistence != 0));
            must(same && md.msg_type == MQMT_REPORT, Rule::Reports, || {
                format!("report {} on {:?} was {due:?}", md.feedback, md.correl_id)
            })?;
            // Whether it is gone is known when the commit is answered.
            self.due(md.correl_id, md.feedback, md.persistence != 0, false);
            self.commit_one().await?;
            let mut shared = self.shared.borrow_mut();
            shared.reports.remove(&key);
            if md.feedback == MQFB_COD {
                // The commit that nobody answered has happened: a message that was got does not expire any more.
                shared.reports.remove(&(md.correl_id, MQFB_EXPIRATION));
            }
            drop(shared);
            self.met(match md.feedback {
                MQFB_COA => "report COA",
                MQFB_COD => "report COD",
                _ => "report expiration",
            });
        }
    }
}
