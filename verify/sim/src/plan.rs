//! What a seed decides before anything happens: different seeds explore different worlds.

use crate::calls::LONGEST;
use crate::channel::Channels;
use posthaste_engine::plant::Bug;
use posthaste_env_sim::Rng;

/// The shape of one run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The seed.
    pub seed: u64,
    /// Applications at work at the same time.
    pub sessions: u32,
    /// Local queues.
    pub queues: usize,
    /// Applications that define and delete queues of their own, each under one name.
    pub definers: usize,
    /// Calls that such a one makes on a queue before it changes its definition, at most.
    pub stint: u64,
    /// Times the queue manager is started.
    pub epochs: u32,
    /// Virtual microseconds of work between stops, at most.
    pub epoch_micros: u64,
    /// Longest message, bytes.
    pub max_message: u64,
    /// Log pages an extent.
    pub file_pages: u32,
    /// Log extents that are always there, and those made when they do not suffice.
    pub log_files: (u32, u32),
    /// Bytes of messages a queue keeps in memory.
    pub buffer: usize,
    /// Nanoseconds a log write takes, at least and at most.
    pub write_nanos: (u64, u64),
    /// Puts in a million that are persistent.
    pub persistent: u32,
    /// Calls in a million that are made in syncpoint.
    pub syncpoint: u32,
    /// Calls in a million that are given up before they end.
    pub cancel: u32,
    /// Stops in a million that are crashes (the others are ends).
    pub crash: u32,
    /// Stops in a million that begin with a failing write or sync.
    pub disk_error: u32,
    /// Units of work in a million that are kept open until the log is full.
    pub hoard: u32,
    /// Puts in a million whose message expires.
    pub expiry: u32,
    /// Puts in a million of more than a megabyte.
    pub huge: u32,
    /// Calls in a million before which puts or gets are inhibited or allowed.
    pub inhibit: u32,
    /// MAXDEPTH of the first queue.
    pub max_depth: u64,
    /// Ends in a million that are controlled or pre-emptive (the others are immediate).
    pub other_ends: u32,
    /// Ends in a million in the middle of which the queue manager crashes.
    pub crash_in_end: u32,
    /// Ends in a million that give way to another one, wherever they are.
    pub give_way: u32,
    /// Stretches of work in a million in which a file cannot be created, renamed or removed, or a folder synced.
    pub name_error: u32,
    /// Stretches of work in a million before which the wall clock is set.
    pub clock_step: u32,
    /// Stretches of work in a million in which the log is filled to its last byte, on a full disk.
    pub exhaust: u32,
    /// Stretches of work, and starts, in a million in which the medium fails once.
    pub media: u32,
    /// Stretches of work in a million in which queues are turned over between orderly ends.
    pub turn_over: u32,
    /// Applications are alone with queues of their own (`solo.rs`).
    pub solo: bool,
    /// Topics are published on and subscribed to.
    pub topics: bool,
    /// Messages are put with a delivery delay.
    pub delays: bool,
    /// Messages are put to distribution lists.
    pub lists: bool,
    /// Small messages that are put at once in the first stretch of work, so that an index has many parts.
    pub deep: u64,
    /// Steps from one look at the engine's invariants to the next.
    pub look_every: u64,
    /// Applications that come over channels, if any do.
    pub channels: Option<Channels>,
    /// Stretches of work in a million in which the disk is full, or one call finds it so.
    pub full_disk: u32,
    /// The bodies of messages are encrypted on disk.
    pub sealed: bool,
    /// Print every call and its end.
    pub tell: bool,
    /// A bug to plant.
    pub bug: Option<Bug>,
    /// The log is acknowledged before it is written (a bug of the log's driver).
    pub acknowledge_early: bool,
}

impl Plan {
    /// Draws a plan.
    pub fn of(seed: u64) -> Plan {
        let mut rng = Rng::new(seed ^ 0x5EED_0F00_D15C_0000);
        let quick = rng.coin();
        let huge = rng.below(16) == 0;
        let mut plan = Plan {
            seed,
            sessions: rng.between(1, 6) as u32,
            queues: rng.between(1, 3) as usize,
            epochs: rng.between(2, 5) as u32,
            epoch_micros: if rng.coin() { 20_000 } else { 200_000 },
            max_message: if quick { 600 } else { 9_000 },
            log_files: (3, 2),
            file_pages: match (huge, rng.coin()) {
                (true, _) => 2048,
                (_, true) => 64,
                _ => 256,
            },
            buffer: if rng.coin() { 8 * 1024 } else { 256 * 1024 },
            write_nanos: if rng.coin() {
                (20_000, 60_000)
            } else {
                (100_000, 3_000_000)
            },
            persistent: *rng.pick(&[1_000_000, 700_000, 300_000]).unwrap_or(&700_000),
            syncpoint: *rng.pick(&[200_000, 600_000, 900_000]).unwrap_or(&600_000),
            cancel: *rng.pick(&[0, 30_000, 150_000]).unwrap_or(&0),
            crash: *rng.pick(&[1_000_000, 700_000]).unwrap_or(&700_000),
            disk_error: *rng.pick(&[0, 0, 200_000]).unwrap_or(&0),
            hoard: *rng.pick(&[0, 0, 50_000]).unwrap_or(&0),
            definers: *rng.pick(&[0, 1, 2, 4]).unwrap_or(&1),
            stint: if rng.coin() { 6 } else { 30 },
            expiry: *rng.pick(&[0, 0, 200_000]).unwrap_or(&0),
            huge: if huge { 3_000 } else { 0 },
            inhibit: *rng.pick(&[0, 0, 10_000]).unwrap_or(&0),
            max_depth: *rng.pick(&[1_000_000, 1_000_000, 20]).unwrap_or(&20),
            other_ends: *rng.pick(&[0, 500_000]).unwrap_or(&0),
            crash_in_end: *rng.pick(&[0, 300_000]).unwrap_or(&0),
            name_error: *rng.pick(&[0, 0, 200_000]).unwrap_or(&0),
            clock_step: *rng.pick(&[0, 500_000]).unwrap_or(&0),
            exhaust: 0,
            look_every: 1,
            media: 0,
            turn_over: 0,
            give_way: 0,
            channels: Channels::of(seed),
            full_disk: 0,
            solo: false,
            topics: false,
            delays: false,
            lists: false,
            deep: 0,
            sealed: false,
            tell: false,
            bug: None,
            acknowledge_early: false,
        };
        plan.draw_more(&mut rng);
        plan.carried_by_channels()
    }

    /// Without messages that would be on their way still when all are to have ended.
    fn carried_by_channels(mut self) -> Plan {
        if self.channels.as_ref().is_some_and(|c| !c.carries(LONGEST)) {
            self.huge = 0;
        }
        self
    }

    /// What bears on something that has been drawn before.
    fn draw_more(&mut self, rng: &mut Rng) {
        if self.huge == 0 && rng.below(8) == 0 {
            self.exhaust = 400_000;
            (self.file_pages, self.log_files) = (64, (2, 1));
            // What is put first has to find room.
            self.max_depth = 1_000_000;
        }
        self.look_every = *rng.pick(&[1, 8, 32, 32]).unwrap_or(&32);
        self.media = *rng.pick(&[0, 0, 0, 400_000]).unwrap_or(&0);
        if self.media > 0 {
            self.turn_over = 200_000;
        }
        self.full_disk = *rng.pick(&[0, 0, 400_000]).unwrap_or(&0);
        // On a full disk reports are discarded.
        self.solo = rng.below(3) == 0 && self.full_disk == 0;
        if self.exhaust == 0 && rng.below(24) == 0 {
            self.deep = 2_100;
            self.max_depth = 1_000_000;
        }
        self.give_way = *rng.pick(&[0, 0, 600_000]).unwrap_or(&0);
        if self.give_way > 0 {
            self.crash = 400_000;
        }
        // What a fault of the medium or a disk without room does to one queue of several is not told here.
        self.topics = rng.below(3) == 0 && self.full_disk == 0 && self.media == 0;
        self.sealed = rng.below(4) == 0;
        self.delays = rng.below(3) == 0;
        self.lists = rng.below(3) == 0;
    }

    /// The same with channels, whatever the seed wants.
    pub fn over_channels(seed: u64) -> Plan {
        Plan {
            channels: Some(Channels::of_any(seed)),
            media: 0,
            turn_over: 0,
            full_disk: 0,
            ..Plan::of(seed)
        }
        .carried_by_channels()
    }

    /// The same without, and with topics.
    pub fn with_topics(seed: u64) -> Plan {
        Plan {
            topics: true,
            media: 0,
            turn_over: 0,
            full_disk: 0,
            ..Plan::without_channels(seed)
        }
    }

    /// The same without, and with applications that are alone with queues of their own.
    pub fn with_solo(seed: u64) -> Plan {
        Plan {
            solo: true,
            media: 0,
            turn_over: 0,
            full_disk: 0,
            ..Plan::without_channels(seed)
        }
    }

    /// The same without, and with messages that are delayed.
    pub fn with_delays(seed: u64) -> Plan {
        Plan {
            delays: true,
            media: 0,
            turn_over: 0,
            full_disk: 0,
            exhaust: 0,
            ..Plan::without_channels(seed)
        }
    }

    /// The same without, and with distribution lists.
    pub fn with_lists(seed: u64) -> Plan {
        Plan {
            lists: true,
            media: 0,
            turn_over: 0,
            full_disk: 0,
            ..Plan::without_channels(seed)
        }
    }

    /// The same without.
    pub fn without_channels(seed: u64) -> Plan {
        Plan {
            channels: None,
            ..Plan::of(seed)
        }
    }
}
