//! What can say whether a password is right.

use std::fmt;

use crate::Credentials;

/// Something that knows passwords. It is asked on a thread that may wait.
pub trait Method: Send + Sync {
    /// Whether the password is this user's: as whom he is known here, if so.
    ///
    /// # Errors
    /// It could not be found out; that is no answer about the password.
    fn check(&self, credentials: &Credentials) -> Result<Option<String>, Unable>;

    /// The same as a verdict.
    fn verdict(&self, credentials: &Credentials) -> Verdict {
        match self.check(credentials) {
            Ok(Some(user)) => Verdict::Right(user),
            Ok(None) => Verdict::Wrong,
            Err(unable) => Verdict::Unable(unable),
        }
    }
}

/// It could not be found out whether a password is right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unable(pub String);

impl fmt::Display for Unable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What became of credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// They are right: as whom the user is known here.
    Right(String),
    /// They are not: no such user, another password, or one that may not be used now.
    Wrong,
    /// The token is nobody's, for this reason.
    BadToken(&'static str),
    /// They were not looked at: too many wrong ones came from this address, or over loopback from this
    /// user of the machine, by his number.
    TooMany(Option<u32>),
    /// It could not be found out.
    Unable(Unable),
}
