//! Every number the log is built on, in one place.
//!
//! Invariants: the constant assertions at the end. A change of [`PAGE`], [`HEADER`] or [`RECORD_HEADER`]
//! changes the format on disk and needs a new [`FORMAT`].

/// Version of the format on disk; the control file carries it.
pub const FORMAT: u32 = 1;

/// The unit of writing, of checksums and of torn-write protection.
pub(crate) const PAGE: usize = posthaste_env::PAGE;
/// Bytes at the start of each page that are not record bytes.
pub(crate) const HEADER: usize = 32;
/// Record bytes a page can hold.
pub(crate) const BODY: usize = PAGE - HEADER;
/// Bytes before each record's payload.
pub(crate) const RECORD_HEADER: usize = 8;
/// Longest payload of one record: a 100 MB message with room to spare.
pub const MAX_RECORD: usize = 128 << 20;
/// Longest anchor the engine may leave in the control file.
pub const MAX_ANCHOR: usize = 256;

/// Pages of one log buffer, which is also the longest single write (2 MiB).
pub(crate) const CHUNK_PAGES: usize = 512;
/// Bytes of one log buffer.
pub(crate) const CHUNK: usize = CHUNK_PAGES * PAGE;
/// Buffers kept for reuse when the log is quiet.
pub(crate) const KEPT_CHUNKS: usize = 4;
/// A record longer than this is copied outside the tail lock.
pub(crate) const BIG_RECORD: usize = 64 << 10;

/// Most writes that may be in flight at once.
pub(crate) const MAX_FLIGHTS: usize = 4;

/// Range of `LogFilePages` (4 KiB pages).
pub(crate) const FILE_PAGES: std::ops::RangeInclusive<u32> = 64..=65_535;
/// Range of `LogPrimaryFiles`.
pub(crate) const PRIMARY: std::ops::RangeInclusive<u32> = 2..=510;
/// Range of `LogSecondaryFiles`.
pub(crate) const SECONDARY: std::ops::RangeInclusive<u32> = 1..=509;
/// Primary and secondary files together.
pub(crate) const ALL_FILES: u32 = 511;
/// Range of `LogBufferPages`; 0 stands for [`DEFAULT_BUFFER_PAGES`].
pub(crate) const BUFFER_PAGES: std::ops::RangeInclusive<u32> = 18..=4_096;
/// What `LogBufferPages` 0 means.
pub(crate) const DEFAULT_BUFFER_PAGES: u32 = 4096;

/// The share of the log that [`crate::Class::Ordinary`] must not use is `capacity / RESERVE_SHARE` ...
pub(crate) const RESERVE_SHARE: u64 = 8;
/// ... but not more than this: commit and backout records of all units of work that can be open.
pub(crate) const RESERVE_MOST: u64 = 64 << 20;

/// How far behind a bad page restart looks at every page for proof that the bad one was acknowledged.
/// More than everything that can be in flight at once.
pub(crate) const DENSE_PROOF: u64 = 16 << 20;
/// Beyond that, it looks at one page in so many.
pub(crate) const SPARSE_PROOF_PAGES: u64 = 256;

/// Read size of restart.
pub(crate) const READ_PAGES: usize = 256;

const _: () = assert!(PAGE == 4096, "the format on disk is built on 4 KiB pages");
const _: () = assert!(HEADER <= 48 && RECORD_HEADER < BODY);
const _: () = assert!(PAGE <= u16::MAX as usize, "offsets in a page are 16 bits");
const _: () = assert!(MAX_RECORD < u32::MAX as usize - RECORD_HEADER);
const _: () = assert!(DENSE_PROOF >= 2 * (MAX_FLIGHTS * CHUNK) as u64);
const _: () = assert!(*PRIMARY.end() < ALL_FILES && *SECONDARY.end() < ALL_FILES);
const _: () = assert!(DEFAULT_BUFFER_PAGES <= *BUFFER_PAGES.end());
const _: () = assert!(BIG_RECORD > 2 * PAGE && BIG_RECORD < CHUNK);
