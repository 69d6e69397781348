//! What a loop carries: a connection of an application, to a queue manager or to a bare server.

use std::os::fd::BorrowedFd;

use super::application::Around;
use super::course::Course;
use super::tally::Tally;
use crate::workload::{Nanos, PerfError};

/// What the loop does with a link next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    /// Waits for its socket.
    Socket,
    /// Waits for a moment.
    Moment(Nanos),
    /// Goes on at once, after others have had their turn.
    Soon,
    /// Is to be dropped.
    Gone,
}

/// A connection, as a loop carries it.
pub(crate) trait Carried: Send {
    /// What the loop watches.
    fn socket(&self) -> BorrowedFd<'_>;
    /// Whether output waits for the system.
    fn blocked(&self) -> bool;
    /// Whether it ended before it was to.
    fn early(&self) -> bool;
    /// It goes no further: it is known what is done for good. Everything it did has been counted.
    fn settle(&self, tally: &Tally);
    /// The group has been let go.
    fn begin(&mut self, course: Course, around: &mut Around<'_>) -> Result<Next, PerfError>;
    /// The moment has come, or the output has room again.
    fn resume(&mut self, around: &mut Around<'_>) -> Result<Next, PerfError>;
    /// The socket has room again.
    fn writable(&mut self, around: &mut Around<'_>) -> Result<Next, PerfError>;
    /// The group is to end: whoever waits for a moment, or for the start, waits no longer.
    fn end(&mut self, around: &mut Around<'_>) -> Result<Next, PerfError>;
    /// The socket has something to read.
    fn receive(&mut self, buffer: &mut [u8], around: &mut Around<'_>) -> Result<Next, PerfError>;
}
