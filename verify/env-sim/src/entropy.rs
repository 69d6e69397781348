//! Random bytes that follow from the seed, so that identifiers and log generations replay.

use parking_lot::Mutex;
use posthaste_env::Entropy;

use crate::rng::Rng;
use crate::trace::{Trace, digest};

pub(crate) struct SimEntropy {
    rng: Mutex<Rng>,
    trace: Trace,
}

impl SimEntropy {
    pub(crate) fn new(rng: Rng, trace: Trace) -> Self {
        Self {
            rng: Mutex::new(rng),
            trace,
        }
    }
}

impl Entropy for SimEntropy {
    fn fill(&self, buf: &mut [u8]) {
        self.rng.lock().fill(buf);
        self.trace
            .record("entropy", &[digest(buf)], || format!("{} bytes", buf.len()));
    }
}
