//! TLS as a state machine, and what the product has to know of it. No sockets, no threads: bytes in; plain text and bytes
//! out.
//!
//! * [`Machine`] is a connection; [`Acceptor`] and [`Connector`] are what the connections of one side have in common;
//! * [`Allowed`] is what SSLCIPH allows, [`CIPHER_SPECS`] the table behind it;
//! * [`KeyStore`] is a key repository (SSLKEYR), [`Certificate`] what one of its certificates says;
//! * [`PeerPattern`] is SSLPEER;
//! * `server_name` says which channel a client wants, in the handshake;
//! * `development` makes authorities and certificates for tests and first steps.
//!
//! OpenSSL carries out the protocol and the cryptography; its errors become [`Failure`]s.

#[doc(hidden)]
pub mod both_sides;
mod certificate;
mod cipher_spec;
mod client_hello;
mod context;
pub mod development;
mod failure;
#[doc(hidden)]
pub mod fuzzing;
mod key_bags;
mod key_store;
mod machine;
pub mod server_name;
mod validity;

pub use certificate::Certificate;
pub use cipher_spec::{ALIASES, Allowed, CIPHER_SPECS, CipherSpec, UnknownCipherSpec, Version};
pub use context::{Accept, Acceptor, Connector, Reach, Terms, TermsOf};
pub use failure::{Broken, Failure};
pub use key_store::{KeyStore, KeyStoreError, Personal, Shown};
pub use machine::{Agreed, Machine, Plain, Progress};
pub use openssl::error::ErrorStack;
pub use posthaste_chlauth::{BadPattern, DistinguishedName, PeerPattern};
