//! Queues that are as deep at each checkpoint as at the one before, of other messages: a part of an index is written
//! where an older one of its length was. The disk loses such a write, and the power fails.

use posthaste_engine::EndMode;
use posthaste_env_sim::{Area, Fault};
use posthaste_model::{Get, How, Match, Model};
use posthaste_mqi::Gmo;
use posthaste_mqi::constants::MQGMO_NO_SYNCPOINT;

use crate::calls::{BUFFER, Manner};
use crate::media::QUEUES;
use crate::run::{Failure, Run};
use crate::workload::{Target, Worker};

/// Ends in order, and starts, at most.
const ROUNDS: u32 = 12;
/// Bytes of a message.
const LENGTH: u64 = 100;

impl Worker {
    /// Gets one message and puts another; false when one of both is not possible.
    async fn exchange(&self, target: Target) -> bool {
        let get = Get {
            queue: target.queue,
            want: Match::default(),
            how: How::NoSyncpoint,
            wait: false,
        };
        let mut gmo = Gmo {
            options: MQGMO_NO_SYNCPOINT,
            ..Gmo::default()
        };
        let mut md = crate::calls::asked();
        self.make_get(target, get, &mut md, &mut gmo, BUFFER).await
            && self.make_put(target, LENGTH, Manner::plain(false)).await
    }
}

impl Run {
    /// Turns the messages of all queues over until a write has been lost over something like it; then the power fails.
    /// `false`: a start was refused, and rightly so.
    pub(crate) fn turn_over(&mut self, epoch: u32) -> Result<bool, Failure> {
        let disk = self.machine.world.disk().clone();
        for round in 0..ROUNDS {
            let done = self.alone(async move |worker| {
                let mut all = true;
                for target in worker.handles.clone() {
                    if round == 0 {
                        all &= worker.make_put(target, LENGTH, Manner::plain(false)).await;
                    }
                    all &= worker.exchange(target).await;
                }
                all
            })?;
            self.check()?;
            self.expect_no_stop()?;
            if !done || self.machine.qm().stopped().is_some() {
                break;
            }
            disk.order(Fault::LostRewrite, Area::Under(QUEUES.into()), 0);
            let before = disk.struck().len();
            self.end(EndMode::Immediate)?;
            if !self.start_again(epoch)? {
                return Ok(false);
            }
            if disk.struck().len() > before {
                // What was lost is still in the page cache.
                self.met("power cut after a lost rewrite");
                self.machine.crash();
                self.verdict(Model::crash)?;
                return self.start_again(epoch);
            }
        }
        self.break_off()?;
        self.start_again(epoch)
    }
}
