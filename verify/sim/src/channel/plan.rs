//! What a seed decides about channels before anything happens.

use posthaste_env_sim::{Break, Cut, Rng, Shape, Side};

use super::QUIET;

/// One run in so many has applications that come over channels.
const OVER_CHANNELS: u64 = 3;

/// Bytes that a handshake takes, about.
const HANDSHAKE: u64 = 3_000;

/// The channels of one run.
#[derive(Clone, Debug)]
pub struct Channels {
    /// Connections that applications keep open at the same time.
    pub sockets: u64,
    /// Conversations on each, at most.
    pub conversations: u64,
    /// Connections in a million that break by themselves.
    pub cut: u32,
    /// Nanoseconds that bytes are on their way, at most.
    pub delay: u64,
    /// The longest piece in which bytes travel.
    pub piece: usize,
    /// Bytes on their way or unread, at most.
    pub window: usize,
    /// Milliseconds that a get waits, at most.
    pub wait: u64,
    /// Virtual microseconds between STOP CHANNELs, at most; 0 for none.
    pub stop_micros: u64,
    /// Stretches of work in a million after which all applications end, and nothing may be left of them.
    pub quiet: u32,
    /// Stretches in a million after which very many gets wait on one connection.
    pub crowd: u32,
    /// Clients that begin long messages and never end them.
    pub floods: u64,
    /// Clients that do not read what they are sent.
    pub deaf: u64,
    /// Bytes that unfinished messages may take on all connections.
    pub unfinished_in_all: usize,
}

impl Channels {
    /// What this seed wants of channels, if anything.
    pub(crate) fn of(seed: u64) -> Option<Channels> {
        let (wanted, channels) = Channels::draw(seed);
        wanted.then_some(channels)
    }

    /// The same for a seed that has to have them.
    pub(crate) fn of_any(seed: u64) -> Channels {
        Channels::draw(seed).1
    }

    /// Whether a seed wants them, and how they are.
    fn draw(seed: u64) -> (bool, Channels) {
        let mut rng = Rng::new(seed ^ 0x00C4_A77E_15E0_0000);
        let wanted = rng.below(OVER_CHANNELS) == 0;
        let floods = *rng.pick(&[0, 0, 12]).unwrap_or(&0);
        let channels = Channels {
            sockets: rng.between(1, 3),
            conversations: rng.between(1, 4),
            cut: *rng.pick(&[0, 300_000, 900_000]).unwrap_or(&0),
            delay: *rng.pick(&[1_000, 50_000, 2_000_000]).unwrap_or(&1_000),
            piece: *rng.pick(&[1, 16, 500, 40_000]).unwrap_or(&500),
            window: *rng.pick(&[64, 2_000, 60_000]).unwrap_or(&60_000),
            wait: *rng.pick(&[5, 50, 1_000]).unwrap_or(&50),
            stop_micros: *rng.pick(&[0, 10_000, 60_000]).unwrap_or(&0),
            quiet: *rng.pick(&[0, 500_000]).unwrap_or(&0),
            crowd: *rng.pick(&[0, 0, 300_000]).unwrap_or(&0),
            floods,
            deaf: rng.below(2),
            unfinished_in_all: if floods > 0 { 1 << 20 } else { 8 << 20 },
        };
        (wanted, channels)
    }

    /// Whether so many bytes come across in half the time in which everything comes to its end.
    pub(crate) fn carries(&self, bytes: u64) -> bool {
        bytes / self.window as u64 * self.delay < QUIET / 2
    }

    /// How one more connection of an application is.
    /// In a silence nobody finds the other side gone on a connection that is not `shared`, but the system's keepalive.
    pub(crate) fn shape(&self, rng: &mut Rng, shared: bool) -> Shape {
        let cut = rng.chance(self.cut).then(|| Cut {
            writer: if rng.coin() {
                Side::Client
            } else {
                Side::Server
            },
            after: match rng.below(4) {
                0 => rng.below(HANDSHAKE),
                _ => {
                    let most = 1 << rng.between(8, 18);
                    HANDSHAKE + rng.below(most)
                }
            },
            how: match rng.below(4) {
                0 if shared => Break::Silence,
                1 => Break::HalfClose,
                _ => Break::Reset,
            },
        });
        Shape {
            delay: (self.delay / 10, self.delay),
            piece: self.piece,
            window: self.window,
            cut,
        }
    }

    /// How a connection is of which nothing is cut.
    pub(crate) fn whole(&self) -> Shape {
        Shape {
            delay: (1_000, 50_000),
            piece: 40_000,
            window: 60_000,
            cut: None,
        }
    }
}
