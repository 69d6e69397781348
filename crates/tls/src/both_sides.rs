//! Both sides of a connection, with certificates of an authority of their own: for tests, fuzzers and measurements.
//!
//! Invariant: nothing in here is for production, as in [`development`](crate::development).

use std::sync::Arc;

use crate::cipher_spec::Allowed;
use crate::context::{Accept, Acceptor, Connector, Reach};
use crate::development::{Issued, KeyKind, Subject};
use crate::key_store::KeyStore;

/// Who accepts whatever is known here, and who begins with this CipherSpec or alias; none where OpenSSL makes no certificate,
/// or the CipherSpec is not known.
pub fn both_sides(key: KeyKind, spec: &str) -> Option<(Acceptor, Connector)> {
    let subject = Subject {
        name: &[("CN", "one")],
        hosts: &[],
        key,
        valid: (0, i64::from(i32::MAX)),
    };
    let authority = Issued::authority(&subject).ok()?;
    let store = KeyStore::of(authority.issue(&subject).ok()?, &authority);
    let acceptor = Acceptor::new(Accept {
        store: &store,
        label: None,
        otherwise: "",
        allowed: Allowed::all(),
        suite_b: None,
        terms: Arc::new(|_| None),
    });
    let connector = Connector::new(Reach {
        store: &store,
        label: None,
        otherwise: "",
        allowed: Allowed::parse(spec).ok()?,
    });
    Some((acceptor.ok()?, connector.ok()?))
}
