//! Queue files and checkpoint images: what a queue manager keeps on disk beside its recovery log.
//!
//! * A [`QueueFile`] holds the messages of one queue that memory should not or need not hold.
//! * A checkpoint image ([`ImageWriter`], [`read_image`]) holds everything else that a restart starts from.
//! * A [`Reserve`] keeps room on the disk for both.
//! * An [`IdentityFile`] says whose the data folder is, and which run has used it last.
//!
//! None knows what its bytes mean. All but the reserve recognise bytes that are not what was written and say so
//! ([`StoreError::Damaged`]) instead of handing them on.

#![forbid(unsafe_code)]

mod error;
pub mod fuzzing;
mod identity;
mod image;
mod item;
mod queue_file;
mod reserve;
mod space;

pub use error::StoreError;
pub use identity::{Identity, IdentityFile};
pub use image::{
    ImageReader, ImageWriter, image_name, image_number, read_image, remove_other_images,
};
pub use item::{BLOCK, HEADER, MAX_PAYLOAD, Place, Sealed};
pub use queue_file::{LARGEST_FILE, QueueFile};
pub use reserve::Reserve;
