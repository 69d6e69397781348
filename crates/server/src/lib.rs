//! Composition root.

pub mod error_log;
pub mod exit;
pub mod failure;
#[doc(hidden)]
pub mod fuzzing;
pub mod ini;
pub mod layout;
pub mod private;
pub mod registry;
pub mod stanza;
