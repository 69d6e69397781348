//! What an application gives to say who it is, and what is remembered of it.
//!
//! Invariants: a password is erased from memory when what holds it is dropped, and never shown. A [`Seal`] is a keyed
//! digest: the key is drawn anew for every process and never leaves it, so that a seal tells equal credentials from others
//! and nothing else.

use std::fmt;
use std::net::IpAddr;

use openssl::hash::MessageDigest;
use openssl::memcmp;
use openssl::pkey::{PKey, Private};
use openssl::sign::Signer;
use zeroize::Zeroizing;

/// What a secret is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretKind {
    /// A user's password.
    Password,
    /// A token, which names its user itself.
    Token,
}

/// A user and the password that was given for him; or a token.
pub struct Credentials {
    /// The user, as the application wrote it; empty with a token.
    pub user: String,
    /// The password or the token.
    pub secret: Zeroizing<Vec<u8>>,
    /// Which of them.
    pub kind: SecretKind,
    /// Where they came from; none for this machine.
    pub from: Option<IpAddr>,
    /// The number of the user whose process has made the connection, if the kernel knows it: over loopback.
    pub maker: Option<u32>,
}

impl Credentials {
    /// Of a user; the password is taken over and erased in the end.
    pub fn new(user: impl Into<String>, password: Zeroizing<Vec<u8>>) -> Credentials {
        Credentials {
            user: user.into(),
            secret: password,
            kind: SecretKind::Password,
            from: None,
            maker: None,
        }
    }

    /// A token, which is taken over and erased in the end.
    pub fn of_token(token: Zeroizing<Vec<u8>>) -> Credentials {
        Credentials {
            user: String::new(),
            secret: token,
            kind: SecretKind::Token,
            from: None,
            maker: None,
        }
    }

    /// The same once more.
    pub fn copy(&self) -> Credentials {
        Credentials {
            user: self.user.clone(),
            secret: self.secret.clone(),
            kind: self.kind,
            from: self.from,
            maker: self.maker,
        }
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

/// What makes seals.
pub struct Seals {
    key: PKey<Private>,
}

/// Stands for credentials that were right.
#[derive(Clone)]
pub struct Seal([u8; 32]);

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seal")
    }
}

impl Seals {
    /// With a key of its own.
    ///
    /// # Errors
    /// The system gives no random bytes, or OpenSSL does not take them as a key.
    pub fn new() -> Result<Seals, String> {
        let mut key = Zeroizing::new([0; 32]);
        getrandom::fill(&mut key[..]).map_err(|error| error.to_string())?;
        let key = PKey::hmac(&key[..]).map_err(|error| error.to_string())?;
        Ok(Seals { key })
    }

    /// The seal of credentials; none if OpenSSL fails, and then nothing is remembered.
    pub fn seal(&self, credentials: &Credentials) -> Option<Seal> {
        let mut signer = Signer::new(MessageDigest::sha256(), &self.key).ok()?;
        // The length tells where the user ends.
        let length = u64::try_from(credentials.user.len()).ok()?;
        signer.update(&length.to_be_bytes()).ok()?;
        signer.update(credentials.user.as_bytes()).ok()?;
        signer.update(&credentials.secret).ok()?;
        let mut seal = Seal([0; 32]);
        let made = signer.sign(&mut seal.0).ok()?;
        (made == seal.0.len()).then_some(seal)
    }

    /// Whether these are the credentials that a seal stands for; as long for any that are not.
    pub fn is_of(&self, seal: &Seal, credentials: &Credentials) -> bool {
        let other = self.seal(credentials);
        other.is_some_and(|other| memcmp::eq(&seal.0, &other.0))
    }
}

impl fmt::Debug for Seals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seals")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn credentials(user: &str, password: &str) -> Credentials {
        Credentials::new(user, password.as_bytes().to_vec().into())
    }

    #[test]
    fn a_seal_is_of_equal_credentials_only() {
        let seals = Seals::new().unwrap();
        let seal = seals.seal(&credentials("alice", "secret")).unwrap();
        assert!(seals.is_of(&seal, &credentials("alice", "secret")));
        for (user, password) in [("alice", "secreT"), ("alic", "esecret"), ("bob", "secret")] {
            assert!(!seals.is_of(&seal, &credentials(user, password)), "{user}");
        }
        let others = Seals::new().unwrap();
        assert!(!others.is_of(&seal, &credentials("alice", "secret")));
    }

    #[test]
    fn a_password_does_not_show() {
        let seals = Seals::new().unwrap();
        let given = credentials("alice", "s3cret");
        let shown = format!("{given:?} {:?} {seals:?}", seals.seal(&given));
        assert!(
            shown.contains("alice") && !shown.contains("s3cret"),
            "{shown}"
        );
        // By its type: what holds it erases it.
        let Credentials { secret, .. } = given;
        let _: Zeroizing<Vec<u8>> = secret;
    }
}
