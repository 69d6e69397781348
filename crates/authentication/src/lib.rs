//! Whether users are who they say.
//!
//! * [`Credentials`] are what an application gave: a user and a password, which is erased when they are dropped;
//! * a [`Method`] says whether a password is right: [`Pam`] asks the system, [`UserFile`] a file of the queue manager's own,
//!   [`Directory`] an LDAP server, and [`Tokens`] knows the issuers of tokens;
//! * [`Checker`] has the threads on which methods work, for passwords take milliseconds to check and no lane waits so
//!   long; it limits how many wait, and how often an address may be wrong;
//! * [`Loopback`] is a connection on this machine, and asks the kernel whose the other end is;
//! * [`user_name`], [`system_user`] and [`is_group`] ask the system about its users and groups.
//!
//! Invariant: a password is never kept, shown or logged. What is remembered of credentials that were right is a
//! [`Seal`], from which nobody learns them.

mod checker;
mod credentials;
mod directory;
mod group;
mod limiter;
mod loopback;
mod method;
mod pam;
mod threads;
mod token;
mod user_file;
mod users;

pub use checker::{Asked, Asking, Checker};
pub use credentials::{Credentials, Seal, Seals, SecretKind};
pub use directory::{Directory, DirectorySettings};
pub use loopback::{Loopback, own_number};
pub use method::{Method, Unable, Verdict};
pub use pam::Pam;
#[doc(hidden)]
pub use token::fuzz as fuzz_token;
pub use token::{LONGEST_TOKEN, TokenSettings, Tokens};
pub use user_file::{LONGEST_PASSWORD, UserFile, UserFileError};
pub use users::{LONGEST_NAME, SystemUser, is_group, system_user, user_name};
