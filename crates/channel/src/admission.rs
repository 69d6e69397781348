//! As whom a conversation runs, or why it does not: the one way from MQCONN to the engine.
//!
//! Invariants: a conversation has a session only by [`Authenticated::connect`], and only [`Claim::decide`] makes an
//! [`Authenticated`]. Whatever says who an application is (the channel's definition, its process, credentials) is weighed
//! here and nowhere else, in this order:
//!
//! | step | what | source |
//! | --- | --- | --- |
//! | 1 | the channel's MCAUSER, if it has one | manual: "DEFINE CHANNEL", MCAUSER |
//! | 2 | else the user of the credentials that came for this MQCONN | MQCSP |
//! | 3 | else the user that the client's process runs as, by its own word | USERID_DATA |
//! | 4 | nobody is `*NOACCESS` | manual: "DEFINE CHANNEL", MCAUSER |
//!
//! What comes of it is the user of the engine's session: the authority of its calls, UserIdentifier in its messages,
//! USERID in DISPLAY CONN, and MCAUSER in DISPLAY CHSTATUS.

use std::ops::Deref;

use posthaste_engine::{Application, Operator, QueueManager, Session};
use posthaste_mqi::Reason;

/// A user whom nobody may be: MCAUSER says it to close a channel.
const NOBODY: &str = "*NOACCESS";

/// What is said and known of an application that wants to connect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claim<'a> {
    /// The channel it came by.
    pub(crate) channel: &'a str,
    /// Where it comes from, as CONNAME shows it.
    pub(crate) conname: &'a str,
    /// MCAUSER of the channel's definition; blank for none.
    pub(crate) mca_user: &'a str,
    /// The user of its credentials, if it gave any for this MQCONN.
    pub(crate) credentials: Option<&'a str>,
    /// Whom its process runs as, by its own word.
    pub(crate) asserted: Option<&'a str>,
}

/// Why an application is not let in: a message number with its inserts, and the reason that MQCONN fails with.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    id: &'static str,
    inserts: Vec<String>,
    reason: Reason,
}

impl Refusal {
    /// Tells the operator; gives what the application is told.
    pub(crate) fn tell(&self, operator: &dyn Operator) -> Reason {
        operator.message(self.id, &self.inserts);
        self.reason
    }
}

impl Claim<'_> {
    /// As whom the application runs, or why it does not.
    pub(crate) fn decide(&self) -> Result<Authenticated, Refusal> {
        let user = match self.mca_user {
            "" => self.credentials.or(self.asserted).unwrap_or_default(),
            user => user,
        };
        if user.eq_ignore_ascii_case(NOBODY) {
            return Err(Refusal {
                id: "AMQ9557E",
                inserts: [self.channel, self.conname].map(str::to_owned).into(),
                reason: Reason::NOT_AUTHORIZED,
            });
        }
        Ok(Authenticated {
            user: user.to_owned(),
        })
    }
}

/// Proof that it was decided as whom an application runs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Authenticated {
    user: String,
}

impl Authenticated {
    /// The user.
    pub(crate) fn user(&self) -> &str {
        &self.user
    }

    /// Connects the application `who`, whoever it says it is, as this user.
    ///
    /// # Errors
    /// As [`QueueManager::connect`].
    pub(crate) fn connect(
        self,
        qm: &QueueManager,
        who: Application,
    ) -> Result<AuthenticatedSession, Reason> {
        let user = self.user;
        let session = qm.connect(Application { user, ..who })?;
        Ok(AuthenticatedSession(session))
    }
}

/// A session of somebody of whom it was decided who he is.
pub(crate) struct AuthenticatedSession(Session);

impl Deref for AuthenticatedSession {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.0
    }
}

impl AuthenticatedSession {
    /// To end it, which takes it whole.
    pub(crate) fn into_session(self) -> Session {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLAIM: Claim<'static> = Claim {
        channel: "CH",
        conname: "127.0.0.1",
        mca_user: "",
        credentials: None,
        asserted: None,
    };

    fn user(claim: &Claim<'_>) -> String {
        claim.decide().map(|who| who.user).expect("somebody")
    }

    #[test]
    fn mcauser_comes_before_credentials_and_these_before_what_the_process_says() {
        let process = Claim {
            asserted: Some("process"),
            ..CLAIM
        };
        let both = Claim {
            credentials: Some("alice"),
            ..process
        };
        let channel = Claim {
            mca_user: "mqapp",
            ..both
        };
        assert_eq!(user(&CLAIM), "");
        assert_eq!(user(&process), "process");
        assert_eq!(user(&both), "alice");
        assert_eq!(user(&channel), "mqapp");
    }

    #[test]
    fn nobody_is_noaccess_by_whatever_says_so() {
        let nobody = Some("*noAccess");
        let closed = Claim {
            mca_user: "*NOACCESS",
            asserted: Some("alice"),
            ..CLAIM
        };
        let by_process = Claim {
            asserted: nobody,
            ..CLAIM
        };
        let credentials = Claim {
            credentials: nobody,
            ..CLAIM
        };
        for claim in [closed, by_process, credentials] {
            let refusal = claim.decide().expect_err("refused");
            assert_eq!(refusal.id, "AMQ9557E");
            assert_eq!(refusal.inserts, ["CH", "127.0.0.1"]);
            assert_eq!(refusal.reason, Reason::NOT_AUTHORIZED);
        }
    }
}
