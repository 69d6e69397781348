//! Checkpoint and restart: what makes a queue manager survive.
//!
//! * `image` – what a checkpoint image holds, as bytes.
//! * `checkpoint` – takes one while everything goes on.
//! * `restart` – image, then log, then as if nothing had happened.
//! * `create` – a queue manager's first image.
//! * `identity` – that the log is the data folder's, and no older one.

pub(crate) mod checkpoint;
pub(crate) mod checkpoint_state;
mod create;
pub(crate) mod identity;
pub(crate) mod image;
pub(crate) mod locks;
mod replay;
mod restart;
