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
        self.check(credentials).into()
    }
}

impl From<Result<Option<String>, Unable>> for Verdict {
    fn from(answer: Result<Option<String>, Unable>) -> Verdict {
        match answer {
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
    /// They are right, but whose they are has no name here, for this reason: no better than wrong.
    NoName(String),
    /// The token is nobody's, for this reason.
    BadToken(&'static str),
    /// They were not looked at: too many wrong ones came from this address, or over loopback from this
    /// user of the machine, by his number.
    TooMany(Option<u32>),
    /// It could not be found out.
    Unable(Unable),
}

impl Verdict {
    /// Whether they were looked at and are not good enough: it counts against whoever gave them.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(
            self,
            Verdict::Wrong | Verdict::NoName(_) | Verdict::BadToken(_)
        )
    }

    /// The answer of a method that knows more than [`Method::check`] tells.
    pub(crate) fn into_answer(self) -> Result<Option<String>, Unable> {
        match self {
            Verdict::Right(user) => Ok(Some(user)),
            Verdict::Unable(unable) => Err(unable),
            Verdict::Wrong | Verdict::NoName(_) | Verdict::BadToken(_) | Verdict::TooMany(_) => {
                Ok(None)
            }
        }
    }
}
