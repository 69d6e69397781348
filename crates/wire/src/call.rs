//! Puts and gets as a client asks its socket for them.
//!
//! Invariant: what the application gave is borrowed, and written once, into the bytes that go out.

use posthaste_mqi::{Gmo, Hobj, Md, Od, Pmo};

/// An MQPUT as [`crate::client::ClientSocket::put`] wants it.
#[derive(Clone, Copy, Debug)]
pub struct ClientPut<'a> {
    /// The queue's handle.
    pub handle: Hobj,
    /// Message descriptor.
    pub md: &'a Md,
    /// Options.
    pub pmo: &'a Pmo,
    /// The message.
    pub data: &'a [u8],
    /// Whether a reply is awaited.
    pub answered: bool,
}

/// An MQGET as [`crate::client::ClientSocket::get_prepared`] wants it.
#[derive(Clone, Copy, Debug)]
pub struct ClientGet<'a> {
    /// The queue's handle.
    pub handle: Hobj,
    /// Message descriptor.
    pub md: &'a Md,
    /// Options.
    pub gmo: &'a Gmo,
    /// The longest message that is taken.
    pub buffer_length: i32,
}

/// An MQPUT1 as [`crate::client::ClientSocket::put1`] wants it.
#[derive(Clone, Copy, Debug)]
pub struct ClientPut1<'a> {
    /// The queue.
    pub od: &'a Od,
    /// Message descriptor.
    pub md: &'a Md,
    /// Options.
    pub pmo: &'a Pmo,
    /// The message.
    pub data: &'a [u8],
    /// Whether a reply is awaited.
    pub answered: bool,
}
