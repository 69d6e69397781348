//! What a socket says of who its applications are, and what was found out.
//!
//! Invariants: credentials are looked at once for a socket and hold for all its conversations, for as long as CONNAUTH is
//! not read again; of those that were right a seal is kept, and never the password. What comes with USERID_DATA instead of
//! MQCSP is kept until it was looked at or nothing looks at it, because it comes only once. Who is on this machine is whom the kernel names, whatever
//! he says; and so it is asked of a connection over loopback whose process has made it, once for a socket: to know the user who
//! runs the queue manager, and to count wrong passwords by users. That it could not be asked is not remembered.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use posthaste_authentication::{
    Asking, Credentials, Loopback, Seal, SecretKind, Verdict, own_number,
};
use posthaste_engine::Application;
use posthaste_mqi::Reason;
use posthaste_wire::identity::{Authentication, Userid};
use zeroize::Zeroizing;

use crate::admission::{Answer, Authenticated, Claim, Demand, Refusal};
use crate::chlauth;
use crate::connauth::{AskingMaker, Checks, ConnAuth, Policy};
use crate::instance::Instance;
use crate::registry::Registry;

/// Credentials that were right on this socket.
struct Right {
    /// What was demanded then.
    policy: Arc<Policy>,
    /// As whom they were given, and as whom that user is known.
    given: String,
    user: String,
    seal: Option<Seal>,
}

/// Different ones on a socket that are remembered: a client gives the same for all its conversations.
const MOST_REMEMBERED: usize = 8;

/// See the head of this file.
pub(crate) struct Identity {
    /// The number of the user whose process this is, if it is on this machine.
    kernel: Option<u32>,
    maker: Maker,
    /// Whom the client's process runs as, by its own word.
    process: RefCell<Option<String>>,
    /// What USERID_DATA brought.
    given: RefCell<Option<Credentials>>,
    right: RefCell<Vec<Right>>,
}

/// Whose process has made a connection.
struct Maker {
    /// The connection, if it comes over loopback.
    loopback: Option<Loopback>,
    /// The kernel was asked already, for whoever wants to know.
    asked: Cell<Option<AskingMaker>>,
    /// What was answered, once it was.
    known: Cell<Option<Option<u32>>>,
}

impl Maker {
    fn of(loopback: Option<Loopback>) -> Maker {
        Maker {
            loopback,
            asked: Cell::new(None),
            known: Cell::new(None),
        }
    }

    /// Asks the kernel, for an answer that is wanted soon.
    fn ask_ahead(&self, ask: impl FnOnce(Loopback) -> AskingMaker) {
        if let Some(loopback) = self.loopback {
            self.asked.set(Some(ask(loopback)));
        }
    }

    /// The number of the user, as far as the kernel says so.
    async fn number(&self, ask: impl FnOnce(Loopback) -> AskingMaker) -> Option<u32> {
        let loopback = self.loopback?;
        if let Some(known) = self.known.get() {
            return known;
        }
        let asked = self.asked.take().filter(Asking::had_room);
        let asked = asked.unwrap_or_else(|| ask(loopback));
        let answer = asked.answer().await.ok()?.ok()?;
        self.known.set(Some(answer));
        answer
    }
}

/// User and password, or token, as MQCSP has them.
pub(crate) fn of_csp(authentication: Authentication) -> Credentials {
    let Authentication {
        user,
        password,
        token,
    } = authentication;
    match token.is_empty() {
        true => Credentials::new(String::from_utf8_lossy(&user), password),
        false => Credentials::of_token(token),
    }
}

/// What stands for the user of a token, who is in the token: nobody has such a name.
const OF_TOKEN: &str = "(token)";

/// As whom credentials were given.
fn claimed(credentials: &Credentials) -> String {
    match credentials.kind {
        SecretKind::Password => credentials.user.clone(),
        SecretKind::Token => OF_TOKEN.to_owned(),
    }
}

/// User and password as USERID_DATA has them; none if there is no password.
fn of_userid(userid: &Userid) -> Option<Credentials> {
    let padding = |byte: &u8| matches!(byte, b' ' | 0);
    let password = &userid.password[..];
    let end = password.iter().rposition(|byte| !padding(byte))? + 1;
    let password = password.get(..end)?.to_vec();
    Some(Credentials::new(userid.name(), Zeroizing::new(password)))
}

impl Identity {
    /// Of a socket; with the number of the user whose process is at its other end, if that is on this machine.
    pub(crate) fn new(kernel: Option<u32>, loopback: Option<Loopback>) -> Identity {
        Identity {
            kernel,
            maker: Maker::of(loopback),
            process: RefCell::default(),
            given: RefCell::default(),
            right: RefCell::default(),
        }
    }

    /// USERID_DATA has come.
    pub(crate) fn say(&self, userid: &Userid) {
        self.process.replace(Some(userid.name()));
        self.given.replace(of_userid(userid));
    }

    /// As whom an application runs, or why it does not: `who` gave `credentials` for its MQCONN, on a channel with
    /// MCAUSER `mca_user`. A refusal was told to the operator.
    pub(crate) async fn establish(
        &self,
        registry: &Registry,
        instance: &Instance,
        who: &Application,
        mca_user: &str,
        credentials: Option<Credentials>,
    ) -> Result<Authenticated, Reason> {
        let connauth = registry.connauth();
        let policy = connauth.map_or_else(Arc::default, |connauth| connauth.policy());
        let process = self.process(connauth).await;
        if !matches!(&*policy, Policy::Checked(_)) {
            self.given.take();
        }
        let credentials = credentials.or_else(|| self.given());
        // Nobody can take a token at its word.
        let is_checked = matches!(&*policy, Policy::Checked(_));
        let credentials =
            credentials.filter(|given| is_checked || given.kind == SecretKind::Password);
        let held = match credentials {
            None => self.held(&policy),
            Some(_) => None,
        };
        let given = match (&credentials, &held) {
            (Some(credentials), _) => Some(claimed(credentials)),
            (None, held) => held.as_ref().map(|(given, _)| given.clone()),
        };
        let owner = match (given.is_none(), connauth) {
            (true, Some(connauth)) => self.owner(connauth, &policy).await,
            _ => None,
        };
        let local = registry.is_local();
        let claim = Claim {
            channel: if local { "" } else { &instance.channel },
            conname: &instance.conname,
            local,
            mca_user,
            credentials: given.as_deref(),
            process: process.as_deref(),
            owner: owner.as_deref(),
        };
        let answer = match (claim.demand(&policy), connauth, &*policy) {
            (Demand::Privilege(user), ..) => {
                Answer::Privilege(registry.queue_manager().administers(&user).await)
            }
            (Demand::Credentials, Some(connauth), Policy::Checked(checks)) => {
                Answer::Credentials(match (held, credentials) {
                    (Some((_, user)), _) => Verdict::Right(user),
                    (None, Some(credentials)) => {
                        let from = instance.host;
                        self.check(connauth, &policy, checks, credentials, from)
                            .await
                    }
                    (None, None) => Verdict::Wrong,
                })
            }
            _ => Answer::Nothing,
        };
        let tell = |refusal: Refusal| {
            registry.operator().audit(claim.refused(&refusal, who));
            refusal.tell(registry.operator())
        };
        let weighed = claim.weigh(&policy, answer).map_err(tell)?;
        let user = match local {
            true => weighed.user,
            false => chlauth::admit(registry, instance, who, weighed).await?,
        };
        claim.run_as(user).map_err(tell)
    }

    /// Whom the application's process runs as.
    async fn process(&self, connauth: Option<&Arc<ConnAuth>>) -> Option<String> {
        match (self.kernel, connauth) {
            (Some(number), Some(connauth)) => Some(connauth.name_of(number).await),
            (Some(number), None) => Some(number.to_string()),
            (None, _) => self.process.borrow().clone(),
        }
    }

    /// As whom the application runs for its connection alone: over loopback, from a process of the user who runs the queue
    /// manager.
    async fn owner(&self, connauth: &ConnAuth, policy: &Policy) -> Option<String> {
        let user = connauth.loopback_user()?;
        if !matches!(policy, Policy::Checked(_)) {
            return None;
        }
        let maker = self.maker(connauth).await;
        (maker == Some(own_number())).then(|| user.to_owned())
    }

    /// The number of the user whose process has made the connection, as far as the kernel says so.
    async fn maker(&self, connauth: &ConnAuth) -> Option<u32> {
        self.maker.number(|it| connauth.ask_maker(it)).await
    }

    /// An application is about to connect: what the kernel is asked then it is asked now, so that nobody waits for it.
    pub(crate) fn expect(&self, connauth: &ConnAuth) {
        if connauth.loopback_user().is_some() {
            self.maker.ask_ahead(|it| connauth.ask_maker(it));
        }
    }

    /// What USERID_DATA has brought, as long as it was not looked at.
    fn given(&self) -> Option<Credentials> {
        self.given.borrow().as_ref().map(Credentials::copy)
    }

    /// The last that were right, by what is demanded now: as whom they were given, and whose they are.
    fn held(&self, policy: &Arc<Policy>) -> Option<(String, String)> {
        let right = self.right.borrow();
        let last = right
            .last()
            .filter(|right| Arc::ptr_eq(&right.policy, policy));
        last.map(|right| (right.given.clone(), right.user.clone()))
    }

    async fn check(
        &self,
        connauth: &ConnAuth,
        policy: &Arc<Policy>,
        checks: &Checks,
        credentials: Credentials,
        from: Option<posthaste_net::Host>,
    ) -> Verdict {
        if let Some(user) = self.known(connauth, policy, &credentials) {
            return Verdict::Right(user);
        }
        let seal = connauth.seal(&credentials);
        let given = claimed(&credentials);
        let maker = self.maker(connauth).await;
        let verdict = connauth.check(checks, credentials, from, maker).await;
        if !matches!(verdict, Verdict::Unable(_)) {
            self.given.take();
        }
        if let Verdict::Right(user) = &verdict {
            let mut right = self.right.borrow_mut();
            if right.len() == MOST_REMEMBERED {
                right.remove(0);
            }
            right.push(Right {
                policy: Arc::clone(policy),
                given,
                user: user.clone(),
                seal,
            });
        }
        verdict
    }

    /// Whose credentials these are, if they were right before.
    fn known(
        &self,
        connauth: &ConnAuth,
        policy: &Arc<Policy>,
        credentials: &Credentials,
    ) -> Option<String> {
        let right = self.right.borrow();
        let same = |right: &&Right| {
            let is_of = |seal: &Seal| connauth.is_of(seal, credentials);
            Arc::ptr_eq(&right.policy, policy) && right.seal.as_ref().is_some_and(is_of)
        };
        right.iter().find(same).map(|right| right.user.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use posthaste_authentication::Checker;
    use posthaste_mqi::Chars;
    use std::io;

    fn userid(password: &[u8; 12]) -> Userid {
        Userid {
            user: Chars::new("ALICE"),
            password: Zeroizing::new(*password),
            long_user: Chars::new("alice"),
        }
    }

    fn over_loopback() -> Maker {
        let address = "127.0.0.1:1".parse().unwrap();
        Maker::of(Some(Loopback {
            peer: address,
            here: address,
            inode: 7,
        }))
    }

    #[test]
    fn a_question_for_which_there_was_no_room_is_asked_when_the_answer_is_wanted() {
        let maker = over_loopback();
        let kernel = Checker::start(1, posthaste_env::os().clock).unwrap();
        let (go_on, wait) = std::sync::mpsc::channel::<()>();
        let hanging = kernel.ask_ahead(move || wait.recv().map_err(io::Error::other));
        let filling: Vec<_> = std::iter::repeat_with(|| kernel.ask_ahead(|| ()))
            .take_while(Asking::had_room)
            .collect();
        maker.ask_ahead(|_| kernel.ask_ahead(|| Ok(Some(6))));
        drop(filling);
        go_on.send(()).unwrap();
        posthaste_env::block_on(hanging.answer()).unwrap().unwrap();
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while !kernel.ask_ahead(|| ()).had_room() {
            assert!(std::time::Instant::now() < deadline, "no room again");
            std::thread::yield_now();
        }
        let number = maker.number(|_| kernel.ask_ahead(|| Ok(Some(7))));
        assert_eq!(posthaste_env::block_on(number), Some(7));
    }

    #[test]
    fn that_the_kernel_gave_no_answer_is_not_remembered() {
        let maker = over_loopback();
        let kernel = Checker::start(1, posthaste_env::os().clock).unwrap();
        let busy = || Err(io::ErrorKind::ResourceBusy.into());
        let wanted = |answer: fn() -> io::Result<Option<u32>>| {
            posthaste_env::block_on(maker.number(|_| kernel.ask_ahead(answer)))
        };
        assert_eq!(wanted(busy), None);
        maker.ask_ahead(|_| kernel.ask_ahead(busy));
        assert_eq!(wanted(|| Ok(Some(6))), None, "asked ahead");
        maker.ask_ahead(|_| kernel.ask_ahead(|| Ok(Some(7))));
        assert_eq!(wanted(busy), Some(7));
        assert_eq!(wanted(|| Ok(Some(8))), Some(7), "once for a socket");
        let elsewhere = Maker::of(None);
        let number = elsewhere.number(|_| kernel.ask_ahead(|| Ok(Some(7))));
        assert_eq!(posthaste_env::block_on(number), None);
    }

    #[test]
    fn a_password_of_userid_data_ends_before_its_padding() {
        for (password, expected) in [
            (b"secret      ", Some(&b"secret"[..])),
            (b"secret\0\0\0\0\0\0", Some(b"secret")),
            (b"two words   ", Some(b"two words")),
            (b"twelve bytes", Some(b"twelve bytes")),
            (b"            ", None),
            (b"\0\0\0\0\0\0\0\0\0\0\0\0", None),
        ] {
            let given = of_userid(&userid(password));
            assert_eq!(given.as_ref().map(|g| &g.secret[..]), expected);
            assert!(given.is_none_or(|given| given.user == "alice"));
        }
    }
}
