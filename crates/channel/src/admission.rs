//! As whom a conversation runs, or why it does not: the one way from MQCONN to the engine.
//!
//! Invariants: a conversation has a session only by [`Authenticated::connect`], and only [`Claim::run_as`] makes an
//! [`Authenticated`]. Whatever says who an application is (the channel's definition, its process, the kernel, credentials)
//! is weighed here and nowhere else, in this order:
//!
//! | step | what | source |
//! | --- | --- | --- |
//! | 1 | the channel's MCAUSER, if it has one | manual: "DEFINE CHANNEL", MCAUSER |
//! | 2 | else the user that the application's process runs as: by the kernel's word on this machine, by its own elsewhere | USERID_DATA |
//! | 3 | what CONNAUTH demands: no password, any, or this user's if he administers | manual: "DEFINE AUTHINFO", CHCKCLNT and CHCKLOCL |
//! | 3a | without credentials, but over loopback and from a process of the user who runs the queue manager: the user that qm.ini names, whatever 1 to 3 say | LoopbackUser (ours) |
//! | 4 | the credentials, if any were given and CONNAUTH looks at them, are right | MQCSP, USERID_DATA |
//! | 5 | ADOPTCTX(YES): it runs as the user of the credentials, whatever 1 and 2 say | manual: "DEFINE AUTHINFO", ADOPTCTX |
//! | 6 | over a network: what channel authentication records say (`chlauth`) | manual: "Channel authentication records" |
//! | 7 | nobody is `*NOACCESS`; a channel with that MCAUSER is for those whom records map, whatever users are adopted | manual: "DEFINE CHANNEL", MCAUSER |
//!
//! Without CONNAUTH nothing is checked: then 2 takes a client's credentials at their word.
//!
//! Steps that may take long are not made here: [`Claim::demand`] says what has to be asked first, and [`Claim::weigh`]
//! takes the answer; without the answer that its claim demands it lets nobody in. What comes of it is the user of the
//! engine's session: the authority of its calls, UserIdentifier in its messages, USERID in DISPLAY CONN, and MCAUSER in
//! DISPLAY CHSTATUS.

use std::ops::Deref;

use posthaste_authentication::Verdict;
use posthaste_engine::{Application, AuditEvent, AuditKind, Operator, QueueManager, Session};
use posthaste_mqi::Reason;
use posthaste_mqi::constants::MQ_USER_ID_LENGTH;

use crate::connauth::{Check, Checks, Policy};

/// A user whom nobody may be: MCAUSER says it to close a channel.
pub(crate) const NOBODY: &str = "*NOACCESS";

/// What is said and known of an application that wants to connect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claim<'a> {
    /// The channel it came by; empty for applications of this machine.
    pub(crate) channel: &'a str,
    /// Where it comes from, as CONNAME shows it.
    pub(crate) conname: &'a str,
    /// It is on this machine: CHCKLOCL is for it, and not CHCKCLNT.
    pub(crate) local: bool,
    /// MCAUSER of the channel's definition; blank for none.
    pub(crate) mca_user: &'a str,
    /// The user of its credentials, if it gave any.
    pub(crate) credentials: Option<&'a str>,
    /// Whom its process runs as: by the kernel's word on this machine, by its own elsewhere.
    pub(crate) process: Option<&'a str>,
    /// As whom it runs without credentials, because the kernel says that its connection is of this machine and of the user
    /// who runs the queue manager.
    pub(crate) owner: Option<&'a str>,
}

/// What has to be known before it is decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Demand {
    /// Nothing.
    Nothing,
    /// Whether its credentials are right.
    Credentials,
    /// Whether this user administers the queue manager: then he has to give a password, and has not.
    Privilege(String),
}

/// What was found out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Nothing was asked.
    Nothing,
    /// What the credentials are.
    Credentials(Verdict),
    /// Whether the user administers; none if that could not be found out.
    Privilege(Option<bool>),
}

/// Why an application is not let in: a message number with its inserts, and the reason that MQCONN fails with.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    id: &'static str,
    inserts: Vec<String>,
    /// What makes one such refusal differ from another, if the number alone does not say it: never what was given to prove
    /// who it is.
    because: String,
    reason: Reason,
}

impl Refusal {
    /// Tells the operator; gives what the application is told.
    pub(crate) fn tell(&self, operator: &dyn Operator) -> Reason {
        operator.message(self.id, &self.inserts);
        self.reason
    }
}

/// What a message's descriptor can carry of a name: whoever is let in by a name is known by that, and by nothing longer.
fn carried(name: &str) -> &str {
    let most = usize::try_from(MQ_USER_ID_LENGTH).unwrap_or(0);
    let name = name.split('\0').next().unwrap_or_default();
    name[..name.floor_char_boundary(most)].trim_end_matches(' ')
}

impl Claim<'_> {
    /// Whom it would run as if no credentials were adopted.
    fn user(&self, policy: &Policy) -> &str {
        match self.mca_user {
            "" => self.client(policy).unwrap_or_default(),
            user => carried(user),
        }
    }

    /// Whom it comes as, whatever the channel says.
    fn client(&self, policy: &Policy) -> Option<&str> {
        let trusted = match policy {
            // The kernel knows better on this machine.
            Policy::Unchecked if !self.local => self.credentials,
            Policy::Checked(_) => self.trusted_owner(),
            _ => None,
        };
        trusted.or(self.process).map(carried)
    }

    /// As whom it runs for its connection alone.
    fn trusted_owner(&self) -> Option<&str> {
        self.owner.filter(|_| self.credentials.is_none())
    }

    fn check(&self, checks: &Checks) -> Check {
        match self.local {
            true => checks.local,
            false => checks.client,
        }
    }

    /// What has to be known before it is decided.
    pub(crate) fn demand(&self, policy: &Policy) -> Demand {
        let Policy::Checked(checks) = policy else {
            return Demand::Nothing;
        };
        if self.trusted_owner().is_some() {
            return Demand::Nothing;
        }
        match (self.check(checks), self.credentials) {
            (Check::None, _) => Demand::Nothing,
            (_, Some(_)) => Demand::Credentials,
            (Check::Administrators, None) => Demand::Privilege(self.user(policy).to_owned()),
            // The second is refused without more ado.
            (Check::Optional | Check::Required, None) => Demand::Nothing,
        }
    }

    /// As whom the application runs if no channel authentication record says otherwise, or why it does not.
    pub(crate) fn weigh(&self, policy: &Policy, answer: Answer) -> Result<Weighed, Refusal> {
        let right = match &answer {
            Answer::Credentials(Verdict::Right(user)) => Some(user.clone()),
            _ => None,
        };
        let (verified, adopts) = (
            right.is_some(),
            matches!(policy, Policy::Checked(checks) if checks.adopt),
        );
        let user = self.settled(policy, answer)?;
        let adopted = right.filter(|_| adopts);
        let client = adopted.or_else(|| self.client(policy).map(str::to_owned));
        Ok(Weighed {
            user,
            client,
            verified,
        })
    }

    fn settled(&self, policy: &Policy, answer: Answer) -> Result<String, Refusal> {
        let user = self.user(policy);
        let user = match (policy, self.demand(policy), answer) {
            (Policy::Unchecked, _, _) => user.to_owned(),
            // Who administers on this machine can put it right.
            (Policy::Broken(_), _, _) if self.local => user.to_owned(),
            (Policy::Broken(why), _, _) => return Err(self.unable(why)),
            (Policy::Checked(checks), Demand::Nothing, Answer::Nothing) => {
                match self.trusted_owner() {
                    Some(owner) if !self.is_closed() => self.whole(owner.to_owned())?,
                    None if self.check(checks) == Check::Required => {
                        return Err(self.none_given("AMQ5540E", &[&checks.object]));
                    }
                    _ => user.to_owned(),
                }
            }
            (Policy::Checked(checks), Demand::Privilege(user), Answer::Privilege(is)) => match is {
                Some(false) => user,
                Some(true) => return Err(self.none_given("AMQ5541E", &[&user, &checks.object])),
                None => return Err(self.unable("it could not be found out who administers")),
            },
            (Policy::Checked(checks), Demand::Credentials, Answer::Credentials(verdict)) => {
                let right = self.judge(verdict)?;
                match checks.adopt && !self.is_closed() {
                    true => self.whole(right)?,
                    false => user.to_owned(),
                }
            }
            // Nobody has asked what had to be asked.
            (Policy::Checked(_), _, _) => return Err(self.unable("nothing was checked")),
        };
        Ok(user)
    }

    /// That it runs as a user, whoever has said so, unless that is nobody.
    pub(crate) fn run_as(&self, user: String) -> Result<Authenticated, Refusal> {
        if user.eq_ignore_ascii_case(NOBODY) {
            return Err(self.no_access());
        }
        let user = self.whole(user)?;
        Ok(Authenticated { user })
    }

    /// Whether nobody may come by its channel but those whom records map.
    fn is_closed(&self) -> bool {
        self.mca_user.eq_ignore_ascii_case(NOBODY)
    }

    fn no_access(&self) -> Refusal {
        self.refuse("AMQ9557E", &[], Reason::NOT_AUTHORIZED)
    }

    fn judge(&self, verdict: Verdict) -> Result<String, Refusal> {
        let claimed = self.credentials.unwrap_or_default();
        match verdict {
            Verdict::Right(user) => Ok(user),
            Verdict::Wrong => Err(self.refuse("AMQ5534E", &[claimed], Reason::NOT_AUTHORIZED)),
            Verdict::NoName(why) => Err(self.because("AMQ2607E", &why, Reason::NOT_AUTHORIZED)),
            Verdict::BadToken(why) => Err(self.because("AMQ2605E", why, Reason::NOT_AUTHORIZED)),
            Verdict::TooMany(user) => Err(self.too_many(user, claimed)),
            Verdict::Unable(why) => Err(self.unable(&why.0)),
        }
    }

    /// Wrong passwords have come: from its address, or over loopback from this user.
    fn too_many(&self, user: Option<u32>, claimed: &str) -> Refusal {
        let origin = user.map(|number| format!("user {number} of this machine"));
        let counted = Claim {
            conname: origin.as_deref().unwrap_or(self.conname),
            ..*self
        };
        counted.refuse("AMQ2601E", &[claimed], Reason::NOT_AUTHORIZED)
    }

    /// A name that is cut off in a message's descriptor could be somebody else's.
    fn whole(&self, user: String) -> Result<String, Refusal> {
        match carried(&user) == user {
            true => Ok(user),
            false => Err(self.refuse("AMQ2603E", &[&user], Reason::NOT_AUTHORIZED)),
        }
    }

    fn none_given(&self, id: &'static str, more: &[&str]) -> Refusal {
        self.refuse(id, more, Reason::NOT_AUTHORIZED)
    }

    /// It cannot be found out who it is: nobody's fault, and nobody is let in.
    fn unable(&self, why: &str) -> Refusal {
        self.because("AMQ2602E", why, Reason::SECURITY_ERROR)
    }

    /// What an audit is to know of a refusal of the application `who`.
    pub(crate) fn refused(&self, refusal: &Refusal, who: &Application) -> AuditEvent {
        AuditEvent {
            who: Application {
                user: self.process.unwrap_or_default().to_owned(),
                ..who.clone()
            },
            claimed: self.credentials.unwrap_or_default().to_owned(),
            call: "MQCONN",
            options: who.options,
            because: refusal.because.clone(),
            message: refusal.id,
            ..AuditEvent::new(AuditKind::ConnectionRefused, refusal.reason)
        }
    }

    /// For a reason that the message tells.
    fn because(&self, id: &'static str, why: &str, reason: Reason) -> Refusal {
        Refusal {
            because: why.to_owned(),
            ..self.refuse(id, &[why], reason)
        }
    }

    fn refuse(&self, id: &'static str, more: &[&str], reason: Reason) -> Refusal {
        let channel = if self.channel.is_empty() {
            "-"
        } else {
            self.channel
        };
        let inserts = [&[channel, self.conname], more].concat();
        Refusal {
            id,
            inserts: inserts.into_iter().map(str::to_owned).collect(),
            because: String::new(),
            reason,
        }
    }
}

/// What was found out of an application before channel authentication records are asked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Weighed {
    /// As whom it runs if no record says otherwise.
    pub(crate) user: String,
    /// Whom it comes as: the user that was adopted, or that its process runs as.
    pub(crate) client: Option<String>,
    /// It gave a right password.
    pub(crate) verified: bool,
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
    /// As [`QueueManager::admit`].
    pub(crate) async fn connect(
        self,
        qm: &QueueManager,
        who: Application,
    ) -> Result<AuthenticatedSession, Reason> {
        let user = self.user;
        let session = qm.admit(Application { user, ..who }).await?;
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
mod tests;
