//! How long it holds what was found out about partners: a session that goes on repeats nothing of it.
//!
//! Invariants: it holds no longer than each certificate of the chain, those of issuers included, and each list of revoked
//! certificates that the chain was looked up in, so that whom a whole handshake would refuse for a date is not taken for an
//! earlier session's sake. Of whom nothing was found out nothing holds.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use openssl::error::ErrorStack;
use openssl::hash::MessageDigest;
use openssl::ssl::SslRef;
use openssl::x509::{X509Crl, X509Ref};

use crate::certificate::seconds;

/// What partners are known by: the digest of their certificate.
type Digest = [u8; 32];

/// What was found out.
#[derive(Default)]
pub(crate) struct Validity {
    /// Issuer, and the second at which the next list of what it has revoked is due.
    lists: Vec<(Vec<u8>, i64)>,
    /// As many as there are certificates of partners that somebody trusted has issued.
    until: Mutex<HashMap<Digest, i64>>,
}

impl Validity {
    /// For chains that are looked up in these lists of revoked certificates.
    ///
    /// # Errors
    /// A date cannot be read.
    pub(crate) fn new(lists: &[X509Crl]) -> Result<Validity, ErrorStack> {
        let mut validity = Validity::default();
        for list in lists {
            if let Some(next) = list.next_update() {
                let issuer = list.issuer_name().to_der()?;
                validity.lists.push((issuer, seconds(next)?));
            }
        }
        Ok(validity)
    }

    /// A whole handshake is done: notes until when it holds who the partner is.
    ///
    /// # Errors
    /// A date cannot be read.
    pub(crate) fn note(&self, ssl: &SslRef) -> Result<(), ErrorStack> {
        let (Some(partner), Some(chain)) = (ssl.peer_certificate(), ssl.verified_chain()) else {
            return Ok(());
        };
        let mut until = i64::MAX;
        for certificate in chain {
            until = until.min(seconds(certificate.not_after())?);
            let issuer = certificate.issuer_name().to_der()?;
            let lists = self.lists.iter().filter(|(of, _)| *of == issuer);
            // Of several the newest counts.
            if let Some(next) = lists.map(|(_, next)| *next).max() {
                until = until.min(next);
            }
        }
        let digest = digest(&partner)?;
        let mut known = self.until.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(digest, until);
        Ok(())
    }

    /// The last second at which it holds who a partner is.
    ///
    /// # Errors
    /// There is no memory.
    pub(crate) fn until(&self, partner: &X509Ref) -> Result<i64, ErrorStack> {
        let digest = digest(partner)?;
        let known = self.until.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(known.get(&digest).copied().unwrap_or(i64::MIN))
    }
}

fn digest(certificate: &X509Ref) -> Result<Digest, ErrorStack> {
    let mut digest = Digest::default();
    let found = certificate.digest(MessageDigest::sha256())?;
    digest.copy_from_slice(&found);
    Ok(digest)
}
