//! A simulated world: seeded disk, clock, entropy and connections that fail on purpose, and an executor to run in it.
//!
//! Everything that happens in a [`SimWorld`] follows from one 64-bit seed and the calls made: the same
//! seed and the same program give the same [`SimWorld::trace`] hash. One world belongs to one thread;
//! many worlds may run beside each other.
//!
//! ```
//! use posthaste_env::Open;
//! use posthaste_env_sim::SimWorld;
//!
//! let world = SimWorld::new(7);
//! let env = world.env();
//! let file = env.disk.open("/f".as_ref(), Open::CREATE)?;
//! file.write_at(b"never synced, may be lost", 0)?;
//! println!("{}", world.crash());
//! assert!(file.sync().is_err(), "handles end with the power");
//! let env = world.env(); // the world after the restart
//! println!("survived: {}", env.disk.exists("/f".as_ref()));
//! # Ok::<(), std::io::Error>(())
//! ```

#![forbid(unsafe_code)]

mod clock;
mod disk;
mod entropy;
mod executor;
mod pipe;
mod rng;
mod trace;
mod world;

pub use clock::SimClock;
pub use disk::{Area, Fault, SECTOR, SimDisk, Struck};
pub use executor::{Progress, SimExecutor, Stuck, Task, TaskId, yield_now};
pub use pipe::{Break, Cut, PipeEnd, Shape, Side, SimNetwork, Wire};
pub use rng::Rng;
pub use world::SimWorld;
