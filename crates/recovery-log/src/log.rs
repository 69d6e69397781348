//! The log as its users see it: append, force, advance.
//!
//! Invariants:
//! * `taken <= placed` and `forced <= taken`; all three are page boundaries and only grow. `appended` is the
//!   end of the last record.
//! * Locks, in this order where two are held: control, extents, tail. The waiters' lock is never held
//!   together with another. No lock is held across I/O except `control` in `advance`.
//! * Once `stopped` is set nothing is acknowledged and nothing is appended any more.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use posthaste_env::Disk;
use posthaste_env::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use posthaste_env::sync::{Mutex, MutexGuard};

use crate::config::{LogConfig, Shape};
use crate::control::{Control, Slot};
use crate::extents::{Extents, Limits};
use crate::force::{Force, Room, Waiters};
use crate::limits::{BIG_RECORD, MAX_ANCHOR, MAX_RECORD, RECORD_HEADER};
use crate::record::{self, Source};
use crate::statistics::LogStatistics;
use crate::tail::{Buffer, Tail};
use crate::{LogError, Lsn, page};

/// What a record may use when the log is nearly full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// What can be refused and takes up space: puts.
    Ordinary,
    /// What can be refused and makes space in the end: gets, the records of checkpoints. May use half of the reserve.
    Relief,
    /// What makes space again and is refused last: commits, changes of definitions. May use the reserve, but for what
    /// others were promised.
    Essential,
    /// The end of a unit of work that was promised room for it. May use everything.
    Promised,
}

/// Where a record lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// LSN of its first byte.
    pub start: Lsn,
    /// LSN after its last byte: force up to here to make it durable.
    pub end: Lsn,
}

/// How full the log is. Bytes are physical: page headers and padding included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Bytes from the restart LSN to the tail.
    pub used: u64,
    /// Bytes of the primary extents.
    pub primary: u64,
    /// Bytes of primary and secondary extents.
    pub total: u64,
    /// Of these, bytes that only essential records may use.
    pub reserve: u64,
    /// Bytes an ordinary record can still use.
    pub ordinary_left: u64,
    /// Where restart would begin.
    pub restart: Lsn,
    /// Bytes kept for the ends of units of work.
    pub promised: u64,
    /// Extent files that exist.
    pub extents: u64,
    /// Why no further extent can be made at present (disk full).
    pub blocked: Option<Arc<str>>,
}

type Hook = Arc<dyn Fn() + Send + Sync>;
/// Says whether it has written.
type WriteHook = Arc<dyn Fn() -> bool + Send + Sync>;

/// The control file and what is needed to move the restart LSN.
pub(crate) struct Anchor {
    pub(crate) control: Control,
    /// First LSN of each generation at or after the restart LSN's, in order.
    pub(crate) generations: Vec<(u64, u32)>,
}

/// What log, writer and futures share.
pub(crate) struct Shared {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) active: PathBuf,
    pub(crate) shape: Shape,
    appended: AtomicU64,
    placed: AtomicU64,
    pub(crate) taken: AtomicU64,
    forced: AtomicU64,
    restart: AtomicU64,
    room_limit: AtomicU64,
    buffer_bytes: u64,
    pub(crate) tail: Mutex<Tail>,
    pub(crate) waiters: Mutex<Waiters>,
    pub(crate) extents: Mutex<Extents>,
    anchor: Mutex<Anchor>,
    pub(crate) counts: Mutex<LogStatistics>,
    stopped: OnceLock<LogError>,
    closing: AtomicBool,
    release_hook: Mutex<Option<Hook>>,
    signal_hook: Mutex<Option<Hook>>,
    stop_hook: Mutex<Option<Hook>>,
    alone_hook: OnceLock<WriteHook>,
}

impl Shared {
    pub(crate) fn new(
        disk: Arc<dyn Disk>,
        config: &LogConfig,
        anchor: Anchor,
        extents: Extents,
        position: u64,
    ) -> Self {
        let limits = extents.limits();
        let shape = config.shape();
        Self {
            disk,
            active: extents.active.clone(),
            shape,
            appended: AtomicU64::new(position),
            placed: AtomicU64::new(position),
            taken: AtomicU64::new(position),
            forced: AtomicU64::new(position),
            restart: AtomicU64::new(anchor.control.slot.restart),
            room_limit: AtomicU64::new(limits.room),
            buffer_bytes: config.buffer_bytes(),
            tail: Mutex::new(Tail::new(position, shape.extent_bytes(), limits)),
            waiters: Mutex::new(Waiters::new()),
            extents: Mutex::new(extents),
            anchor: Mutex::new(anchor),
            counts: Mutex::new(LogStatistics::default()),
            stopped: OnceLock::new(),
            closing: AtomicBool::new(false),
            release_hook: Mutex::new(None),
            signal_hook: Mutex::new(None),
            stop_hook: Mutex::new(None),
            alone_hook: OnceLock::new(),
        }
    }

    pub(crate) fn forced(&self) -> u64 {
        self.forced.load(SeqCst)
    }

    pub(crate) fn placed(&self) -> u64 {
        self.placed.load(SeqCst)
    }

    pub(crate) fn stopped(&self) -> Option<LogError> {
        self.stopped.get().cloned()
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(SeqCst)
    }

    /// Bytes placed and in no write yet.
    pub(crate) fn unwritten(&self) -> u64 {
        self.placed().saturating_sub(self.taken.load(SeqCst))
    }

    /// Whether so much waits that it is written even if nobody asks.
    pub(crate) fn is_pressed(&self) -> bool {
        self.unwritten() >= self.buffer_bytes / 2
    }

    pub(crate) fn has_room(&self) -> bool {
        let space =
            self.unwritten() < self.buffer_bytes && self.placed() < self.room_limit.load(SeqCst);
        space || self.is_closing() || self.stopped.get().is_some()
    }

    /// Publishes the forced LSN; call with the waiters' lock held.
    pub(crate) fn set_forced(&self, forced: u64) {
        self.forced.fetch_max(forced, SeqCst);
    }

    /// Puts new limits in force. Takes the tail lock.
    pub(crate) fn set_limits(&self, limits: Limits) {
        self.tail.lock().limits = limits;
        self.room_limit.store(limits.room, SeqCst);
    }

    /// Tells the driver that there is something to do.
    pub(crate) fn signal(&self) {
        let hook = self.signal_hook.lock().clone();
        if let Some(hook) = hook {
            hook();
        }
    }

    pub(crate) fn set_signal(&self, hook: Hook) {
        *self.signal_hook.lock() = Some(hook);
    }

    /// Makes the writer look again.
    pub(crate) fn nudge(&self) {
        let signal = self.waiters.lock().nudge();
        if signal {
            self.signal();
        }
    }

    /// Wakes those who wait for room, to look again.
    pub(crate) fn wake_rooms(&self) {
        let rooms = self.waiters.lock().take_rooms();
        for (_, waker) in rooms {
            waker.wake();
        }
    }

    /// A committer is alone: lets the driver write on this thread, if it can. `false`: it has not.
    pub(crate) fn write_here(&self) -> bool {
        self.alone_hook.get().is_some_and(|hook| hook())
    }

    /// Committers have been released: has them woken, by the hook's owner or here.
    pub(crate) fn released(&self) {
        let hook = self.release_hook.lock().clone();
        match hook {
            Some(hook) => hook(),
            None => self.wake_released(),
        }
    }

    fn wake_released(&self) {
        let mut wakers = self.waiters.lock().take_released();
        if wakers.is_empty() {
            return;
        }
        for waker in wakers.drain(..) {
            waker.wake();
        }
        self.waiters.lock().keep(wakers);
    }

    /// Nothing is appended from here on.
    fn close_tail(&self) {
        let shut = || LogError::Stopped("it was shut down".into());
        self.tail.lock().closed.get_or_insert_with(shut);
    }

    /// Stops the log for good: all who wait learn it.
    pub(crate) fn stop(&self, reason: &str) {
        let error = LogError::Stopped(reason.into());
        if self.stopped.set(error.clone()).is_err() {
            return;
        }
        self.tail.lock().closed = Some(error);
        let signal = {
            let mut waiters = self.waiters.lock();
            waiters.release_all();
            waiters.nudge()
        };
        if signal {
            self.signal();
        }
        self.wake_rooms();
        self.released();
        let hook = self.stop_hook.lock().clone();
        if let Some(hook) = hook {
            hook();
        }
    }
}

/// Stops the log if an append is cut short by a panic: its place in the buffer would never be filled.
struct Unfinished<'a>(&'a Shared);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        self.0.stop("an append did not finish");
    }
}

/// The recovery log. Cloning shares it.
#[derive(Clone)]
pub struct RecoveryLog {
    pub(crate) shared: Arc<Shared>,
}

impl std::fmt::Debug for RecoveryLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RecoveryLog")
            .field("appended", &self.appended())
            .field("forced", &self.forced())
            .finish_non_exhaustive()
    }
}

impl RecoveryLog {
    /// Appends a record made of `parts` and never waits.
    ///
    /// # Errors
    /// `Full`: not enough space above the oldest record still needed; `TooLong`; `Stopped`.
    pub fn append(&self, class: Class, parts: &[&[u8]]) -> Result<Appended, LogError> {
        self.append_owing(class, parts, 0)
    }

    /// The same, and keeps `owing` bytes for a record of [`Class::Promised`] that is to come. They are kept until
    /// [`Self::release`].
    ///
    /// # Errors
    /// As [`Self::append`]; nothing is kept then.
    pub fn append_owing(
        &self,
        class: Class,
        parts: &[&[u8]],
        owing: u64,
    ) -> Result<Appended, LogError> {
        let shared = &*self.shared;
        let payload = parts
            .iter()
            .fold(0_usize, |sum, part| sum.saturating_add(part.len()));
        if payload > MAX_RECORD {
            return Err(LogError::TooLong(payload));
        }
        let bytes = RECORD_HEADER + payload;
        let (mut tail, start, end) = self.tail_for(class, bytes, owing)?;
        let placed = page::round_up(end);
        let before = page::round_up(tail.next);
        let mut source = Source::new(record::encode(start, payload as u32), parts);
        let pieces = if bytes > BIG_RECORD {
            tail.reserve(start, end)
        } else {
            tail.copy(start, end, &mut source);
            Vec::new()
        };
        tail.promise(owing);
        tail.records += 1;
        tail.logical_bytes += bytes as u64;
        shared.appended.store(end, SeqCst);
        shared.placed.store(placed, SeqCst);
        drop(tail);
        if !pieces.is_empty() {
            let unfinished = Unfinished(shared);
            for piece in pieces {
                piece.fill_and_return(&mut source);
            }
            std::mem::forget(unfinished);
            // The writer may be waiting for exactly these bytes.
            shared.nudge();
        } else if self.crossed(before, placed) {
            shared.nudge();
        }
        Ok(Appended {
            start: Lsn(start),
            end: Lsn(end),
        })
    }

    /// The tail, locked, with room and buffers for a record of `bytes`, and where that will lie.
    fn tail_for(
        &self,
        class: Class,
        bytes: usize,
        owing: u64,
    ) -> Result<(MutexGuard<'_, Tail>, u64, u64), LogError> {
        loop {
            let tail = self.shared.tail.lock();
            if let Some(closed) = &tail.closed {
                return Err(closed.clone());
            }
            let start = record::begin(tail.next);
            let end = record::end(start, bytes as u64);
            if page::round_up(end) > tail.limit(class, owing) {
                return Err(LogError::Full);
            }
            let short = tail.buffers_short(start, end);
            if short == 0 {
                return Ok((tail, start, end));
            }
            drop(tail);
            for _ in 0..short {
                let buffer = Buffer::new();
                self.shared.tail.lock().provide(buffer);
            }
        }
    }

    /// The end that [`Self::append_owing`] kept `bytes` for has been appended, or will never be.
    pub fn release(&self, bytes: u64) {
        if bytes > 0 {
            self.shared.tail.lock().release(bytes);
        }
    }

    /// Has `hook` called once the log has stopped, whatever the reason, at once if it has.
    pub fn on_stop(&self, hook: Box<dyn Fn() + Send + Sync>) {
        let hook: Hook = Arc::from(hook);
        *self.shared.stop_hook.lock() = Some(Arc::clone(&hook));
        if self.shared.stopped.get().is_some() {
            hook();
        }
    }

    /// Whether growing from `before` to `placed` has made the writer's data pressing.
    fn crossed(&self, before: u64, placed: u64) -> bool {
        let taken = self.shared.taken.load(SeqCst);
        let press = self.shared.buffer_bytes / 2;
        placed.saturating_sub(taken) >= press && before.saturating_sub(taken) < press
    }

    /// A future that is ready when everything before `upto` is forced, at once if it already is.
    pub fn force(&self, upto: Lsn) -> Force {
        Force::new(Arc::clone(&self.shared), upto)
    }

    /// A future that is ready while less than `LogBufferPages` waits to be written and the next extent is
    /// there. Await it before an append that may be delayed.
    pub fn room(&self) -> Room {
        Room::new(Arc::clone(&self.shared))
    }

    /// End of the last record.
    pub fn appended(&self) -> Lsn {
        Lsn(self.shared.appended.load(SeqCst))
    }

    /// Everything before this is forced. It is a page boundary, so it may lie beyond [`Self::appended`].
    pub fn forced(&self) -> Lsn {
        Lsn(self.shared.forced())
    }

    /// Why an extent could not be made since this was last asked, if one could not: the log may have found
    /// another place since.
    pub fn take_failure_to_grow(&self) -> Option<Arc<str>> {
        self.shared.extents.lock().take_unreported()
    }

    /// Makes `restart` the place where restart begins, durably, and `anchor` what it gets there. Extents
    /// below are then used again. `clean`: the log ends here and takes no more records, so that restart can
    /// insist on finding all of it.
    ///
    /// `restart` is a record's start or end, or an earlier [`Self::appended`]. Blocks for one write.
    ///
    /// # Errors
    /// `Misuse` if `restart` lies before the last one or is not forced yet, if the anchor is longer than 256
    /// bytes, or if `clean` and something is not forced; `Stopped`; `Io` (the log stops).
    pub fn advance(&self, restart: Lsn, anchor: &[u8], clean: bool) -> Result<(), LogError> {
        let shared = &*self.shared;
        if let Some(error) = shared.stopped() {
            return Err(error);
        }
        let mut state = shared.anchor.lock();
        let old = state.control.slot.restart;
        let forced = shared.forced();
        check_advance(restart.0, old, forced, anchor)?;
        if clean {
            let mut tail = shared.tail.lock();
            if self.appended().0 > forced {
                return Err(LogError::Misuse(
                    "a clean end was declared before everything was forced".to_owned(),
                ));
            }
            let ended = || LogError::Stopped("it was ended cleanly".into());
            tail.closed.get_or_insert_with(ended);
        }
        let current = state.control.slot.clone();
        let restart_generation = state
            .generations
            .iter()
            .rev()
            .find(|(first, _)| *first <= restart.0)
            .map_or(current.restart_generation, |(_, generation)| *generation);
        let slot = Slot {
            clean,
            restart: restart.0,
            acknowledged: forced.max(current.acknowledged),
            restart_generation,
            anchor: anchor.to_vec(),
            ..current
        };
        if let Err(error) = state.control.write(slot) {
            // The slot may be there or not, and what it frees must not be guessed.
            shared.stop(&error.to_string());
            return Err(error);
        }
        // Only the last generation that begins at or before the restart LSN can still be asked for.
        let keep = state
            .generations
            .partition_point(|(first, _)| *first <= restart.0);
        state.generations.drain(..keep.saturating_sub(1));
        {
            let mut extents = shared.extents.lock();
            extents.advance(restart.0, old, shared.placed());
            shared.restart.store(restart.0, SeqCst);
            shared.set_limits(extents.limits());
        }
        drop(state);
        shared.wake_rooms();
        shared.nudge();
        Ok(())
    }

    /// How full the log is.
    pub fn usage(&self) -> Usage {
        let shared = &*self.shared;
        let restart = shared.restart.load(SeqCst);
        let extents = shared.extents.lock();
        let tail = shared.tail.lock();
        Usage {
            used: tail.next.saturating_sub(restart),
            primary: u64::from(shared.shape.primary) * shared.shape.extent_bytes(),
            total: shared.shape.capacity(),
            reserve: shared.shape.reserve(),
            ordinary_left: tail.limit(Class::Ordinary, 0).saturating_sub(tail.next),
            restart: Lsn(restart),
            promised: tail.promised(),
            extents: extents.files(),
            blocked: extents.blocked(),
        }
    }

    /// What the log has counted since it was opened.
    pub fn statistics(&self) -> LogStatistics {
        let mut counts = *self.shared.counts.lock();
        let tail = self.shared.tail.lock();
        counts.records = tail.records;
        counts.logical_bytes = tail.logical_bytes;
        counts
    }

    /// Why the log has stopped, if it has (a failed write, or its writer ended).
    pub fn stopped(&self) -> Option<LogError> {
        self.shared.stopped()
    }

    /// Has `hook` called once for each write that released committers, instead of waking them one by one
    /// from the writer. Whoever it sets going calls [`Self::wake_released`].
    pub fn on_release(&self, hook: Box<dyn Fn() + Send + Sync>) {
        *self.shared.release_hook.lock() = Some(Arc::from(hook));
        // Those released before would wait for a hook that has already been missed.
        if self.shared.waiters.lock().has_released() {
            self.shared.released();
        }
    }

    /// Takes the hook of [`RecoveryLog::on_release`] away: committers are woken by the writer again.
    pub fn wake_directly(&self) {
        *self.shared.release_hook.lock() = None;
        self.shared.wake_released();
    }

    /// Wakes all released committers. Any thread.
    pub fn wake_released(&self) {
        self.shared.wake_released();
    }

    /// Has `hook` called when a writer that gave `Idle` or `WaitUntil` has something to do. [`crate::drive`]
    /// sets its own.
    pub fn on_work(&self, hook: Box<dyn Fn() + Send + Sync>) {
        self.shared.set_signal(Arc::from(hook));
    }

    /// Has `hook` called, on its own thread, by a committer that is alone: it may run the write there, and
    /// says whether it has. [`crate::drive`] sets its own; the first one stays.
    pub(crate) fn on_alone(&self, hook: Box<dyn Fn() -> bool + Send + Sync>) {
        // A log is driven once.
        let _ = self.shared.alone_hook.set(Arc::from(hook));
    }

    /// No more appends; the writer writes what is there and ends.
    pub fn shut_down(&self) {
        let shared = &*self.shared;
        // In this order: a writer that sees `closing` sees every record that was ever accepted, so it
        // cannot end while one is still to be written.
        shared.close_tail();
        shared.closing.store(true, SeqCst);
        // Whoever waits for an LSN that will never be reached has to learn it.
        shared.waiters.lock().release_gathering();
        shared.released();
        shared.wake_rooms();
        shared.nudge();
    }
}

fn check_advance(restart: u64, old: u64, forced: u64, anchor: &[u8]) -> Result<(), LogError> {
    let misuse = |text: String| Err(LogError::Misuse(text));
    if restart < old {
        return misuse(format!("restart LSN {restart} lies before {old}"));
    }
    if restart > forced {
        return misuse(format!("restart LSN {restart} is not forced ({forced} is)"));
    }
    if anchor.len() > MAX_ANCHOR {
        return misuse(format!("an anchor of {} bytes", anchor.len()));
    }
    Ok(())
}
