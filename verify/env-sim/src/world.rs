//! A world: one disk, one clock, one source of random bytes, connections and one executor, all from one seed.
//!
//! Invariant: each part draws from a stream of its own, so what one of them does leaves the choices of
//! the others alone.

use std::sync::Arc;

use posthaste_env::Env;

use crate::clock::SimClock;
use crate::disk::SimDisk;
use crate::entropy::SimEntropy;
use crate::executor::SimExecutor;
use crate::pipe::SimNetwork;
use crate::rng::Rng;
use crate::trace::Trace;

/// A simulated machine. It outlives the programs that run on it, crash by crash.
pub struct SimWorld {
    seed: u64,
    trace: Trace,
    disk: SimDisk,
    clock: SimClock,
    entropy: Arc<SimEntropy>,
    executor: SimExecutor,
    network: SimNetwork,
}

impl SimWorld {
    /// The world of `seed`, with an empty disk.
    pub fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let trace = Trace::default();
        trace.record("seed", &[seed], || seed.to_string());
        let disk = SimDisk::new(rng.fork(), trace.clone());
        let entropy = Arc::new(SimEntropy::new(rng.fork(), trace.clone()));
        // Some time after the machine was started, at no round number.
        let start = rng.between(1_000_000_000, 1_000_000_000_000);
        let clock = SimClock::new(start, trace.clone());
        let executor = SimExecutor::new(rng.fork(), clock.clone(), trace.clone());
        let network = SimNetwork::new(rng.fork(), clock.clone(), trace.clone());
        Self {
            seed,
            trace,
            disk,
            clock,
            entropy,
            executor,
            network,
        }
    }

    /// What it all follows from.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The surroundings of a program that starts now. Its disk stops working at the next crash or kill:
    /// ask again then.
    pub fn env(&self) -> Env {
        Env {
            disk: self.disk.mount(),
            clock: Arc::new(self.clock.clone()),
            entropy: Arc::clone(&self.entropy) as _,
        }
    }

    /// The disk, to make it fail and to look at it.
    pub fn disk(&self) -> &SimDisk {
        &self.disk
    }

    /// The clock, to move it.
    pub fn clock(&self) -> &SimClock {
        &self.clock
    }

    /// Where programs of this machine are reached from others.
    pub fn network(&self) -> &SimNetwork {
        &self.network
    }

    /// The executor.
    pub fn executor(&self) -> &SimExecutor {
        &self.executor
    }

    /// Loses the power and gets it back: open handles end, locks are released, what was not durable
    /// survives in part or not at all, tasks and timers are gone. Time goes on. Returns a line that says
    /// what was lost.
    pub fn crash(&self) -> String {
        let line = self.disk.crash();
        self.end_program();
        line
    }

    /// Ends the program as SIGKILL does: as [`SimWorld::crash`], but the system lives on and loses nothing.
    /// With the power cut already, it is a crash.
    pub fn kill(&self) -> String {
        if self.disk.power_is_cut() {
            return self.crash();
        }
        let line = self.disk.kill();
        self.end_program();
        line
    }

    fn end_program(&self) {
        // The epoch is over: what destructors still try to write goes nowhere.
        self.clock.forget_timers();
        self.executor.clear();
        self.clock.forget_timers();
    }

    /// A hash of everything that has happened. Equal for equal seeds and programs.
    pub fn trace(&self) -> u64 {
        self.trace.hash()
    }

    /// Keeps the last `lines` of what happens as text, for [`SimWorld::recent`]. None are kept unless asked for.
    pub fn keep_trace(&self, lines: usize) {
        self.trace.keep(lines);
    }

    /// The last things that happened, oldest first.
    pub fn recent(&self) -> Vec<String> {
        self.trace.lines()
    }
}

impl Drop for SimWorld {
    /// Tasks that spawn others hold the executor that holds them: unless they are dropped here, nobody
    /// ever does it.
    fn drop(&mut self) {
        self.end_program();
    }
}

impl std::fmt::Debug for SimWorld {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SimWorld")
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}
