//! Users and groups for the authority service: asked of the operating system, on threads of its own, and kept.
//!
//! Invariants: nobody who asks waits on a lane for a directory, nor for the answer about one other user; what was found is
//! kept until it is refreshed, as long as there is room, and nothing that was asked before a refresh is kept after it; of
//! whom nobody knows only the name is known, so only what everybody may do; about whom nobody could be asked nothing is
//! known, and nothing is kept.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

use parking_lot::Mutex;
use posthaste_authentication::{Checker, LONGEST_NAME, SystemUser, is_group, system_user};
use posthaste_authority::{EVERYBODY, Entity, EntityKind, Identity};
use posthaste_engine::{Looking, Operator, Users};
use posthaste_env::Clock;

/// Threads that ask.
const THREADS: usize = 4;
/// Why nothing was found out, where the system said no more.
const FAILED: &str = "the look-up failed";
/// Users that are kept, none with a name longer than one may be. Clients can name as many as they like.
const MOST: usize = 10_000;

#[derive(Default)]
struct Kept {
    users: BTreeMap<Box<str>, Arc<Identity>>,
    /// How often everything was forgotten.
    refreshed: u64,
    /// Who is being asked about without anybody who waits for it.
    being_asked: BTreeSet<Box<str>>,
}

impl Kept {
    /// What was found out when so many refreshes had been.
    fn keep(&mut self, identity: &Arc<Identity>, refreshed: u64) {
        if self.refreshed != refreshed || identity.user.len() > LONGEST_NAME {
            return;
        }
        if self.users.len() >= MOST {
            self.users.clear();
        }
        self.users
            .insert(identity.user.clone(), Arc::clone(identity));
    }
}

/// A user as the authority service wants him.
fn identity_of(user: &str, found: SystemUser) -> Arc<Identity> {
    let groups = found.groups.into_iter().map(String::into_boxed_str);
    Arc::new(Identity {
        user: user.into(),
        groups: groups.collect(),
        privileged: found.administers,
    })
}

/// The users of this machine.
pub(crate) struct SystemUsers {
    kept: Arc<Mutex<Kept>>,
    threads: Checker,
    operator: Arc<dyn Operator>,
    look_up: fn(&str) -> Option<SystemUser>,
    /// Users may be others than the system's (`SecurityPolicy=UserExternal`): any may have records.
    external: bool,
}

impl SystemUsers {
    /// Begins to answer. `external`: users may be others than the system's.
    ///
    /// # Errors
    /// The system gives no thread.
    pub(crate) fn start(
        clock: Arc<dyn Clock>,
        operator: Arc<dyn Operator>,
        external: bool,
    ) -> io::Result<Self> {
        Ok(SystemUsers {
            kept: Arc::default(),
            threads: Checker::start(THREADS, clock)?,
            operator,
            look_up: system_user,
            external,
        })
    }

    /// Asks on a thread; none: it could not be found out, which the operator is told.
    async fn ask<T: Send + 'static>(
        &self,
        name: &str,
        question: impl FnOnce(&str) -> Option<T> + Send + 'static,
    ) -> Option<T> {
        let asked = name.to_owned();
        let why = match self.threads.ask(move || question(&asked)).await {
            Ok(Some(answer)) => return Some(answer),
            Ok(None) => FAILED.to_owned(),
            Err(unable) => unable.0,
        };
        self.operator.message("AMQ2433E", &[name.to_owned(), why]);
        None
    }

    async fn find_out(&self, user: &str) -> Option<Arc<Identity>> {
        let refreshed = self.kept.lock().refreshed;
        let identity = identity_of(user, self.ask(user, self.look_up).await?);
        self.kept.lock().keep(&identity, refreshed);
        Some(identity)
    }

    /// Asks on a thread, for whoever looks again later.
    fn begin(&self, user: &str) {
        let refreshed = {
            let mut kept = self.kept.lock();
            if !kept.being_asked.insert(user.into()) {
                return;
            }
            kept.refreshed
        };
        let asking = Asking {
            kept: Arc::clone(&self.kept),
            user: user.into(),
        };
        let (look_up, operator) = (self.look_up, Arc::clone(&self.operator));
        // Where too many wait already, whoever looks again asks again.
        self.threads.begin(move || {
            let user = &asking.user;
            match look_up(user) {
                Some(found) => asking
                    .kept
                    .lock()
                    .keep(&identity_of(user, found), refreshed),
                None => operator.message("AMQ2433E", &[user.to_string(), FAILED.to_owned()]),
            }
        });
    }
}

/// Somebody is being asked about, until this is dropped.
struct Asking {
    kept: Arc<Mutex<Kept>>,
    user: Box<str>,
}

impl Drop for Asking {
    fn drop(&mut self) {
        self.kept.lock().being_asked.remove(&self.user);
    }
}

impl Users for SystemUsers {
    fn identity<'a>(&'a self, user: &'a str) -> Looking<'a, Option<Arc<Identity>>> {
        let known = self.kept.lock().users.get(user).cloned();
        Box::pin(async move {
            match known {
                Some(known) => Some(known),
                None => self.find_out(user).await,
            }
        })
    }

    fn known_identity(&self, user: &str) -> Option<Arc<Identity>> {
        let known = self.kept.lock().users.get(user).cloned();
        if known.is_none() {
            self.begin(user);
        }
        known
    }

    fn is_known<'a>(&'a self, entity: &'a Entity) -> Looking<'a, Option<bool>> {
        let asked = async move {
            match entity.kind {
                EntityKind::Principal if self.external => Some(true),
                EntityKind::Principal => {
                    let is_user = |name: &str| system_user(name).map(|user| user.known);
                    self.ask(&entity.name, is_user).await
                }
                // Everybody is in it, whether the system has it or not.
                EntityKind::Group if &*entity.name == EVERYBODY => Some(true),
                EntityKind::Group => self.ask(&entity.name, is_group).await,
            }
        };
        Box::pin(asked)
    }

    fn refresh(&self) {
        let mut kept = self.kept.lock();
        kept.users.clear();
        kept.refreshed += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::Location;

    use std::time::{Duration, Instant};

    use posthaste_env::{block_on, os};

    fn stranger(user: &str) -> Identity {
        Identity {
            user: user.into(),
            ..Identity::default()
        }
    }

    #[derive(Default)]
    struct Recorded(Mutex<Vec<String>>);

    impl Operator for Recorded {
        fn record(&self, id: &'static str, inserts: &[String], _: &'static Location<'static>) {
            self.0.lock().push(format!("{id} {}", inserts.join(" ")));
        }
    }

    fn users() -> (Arc<Recorded>, SystemUsers) {
        let operator = Arc::new(Recorded::default());
        let clock = os().clock;
        (
            operator.clone(),
            SystemUsers::start(clock, operator, false).unwrap(),
        )
    }

    #[test]
    fn the_system_knows_root_and_no_stranger() {
        let (operator, users) = users();
        for _ in 0..2 {
            let root = block_on(users.identity("root")).unwrap();
            assert!(root.privileged && !root.groups.is_empty());
            let stranger = block_on(users.identity("no-such-user")).unwrap();
            assert!(!stranger.privileged && stranger.groups.is_empty());
            assert_eq!(&*stranger.user, "no-such-user");
            users.refresh();
        }
        let known = |entity: Entity| block_on(users.is_known(&entity)).unwrap();
        assert!(known(Entity::principal("root")) && known(Entity::group("root")));
        assert!(known(Entity::group("nobody")));
        assert!(!known(Entity::principal("no-such-user")));
        assert!(!known(Entity::group("no-such-group")));
        assert!(operator.0.lock().is_empty());
    }

    /// Names that were looked up for the test below.
    static LOOKED_UP: Mutex<Vec<String>> = Mutex::new(Vec::new());

    fn counted(user: &str) -> Option<SystemUser> {
        let mut looked_up = LOOKED_UP.lock();
        looked_up.push(user.get(..4).unwrap_or_default().to_owned());
        Some(SystemUser {
            administers: looked_up.len() > 1,
            ..SystemUser::default()
        })
    }

    /// However many connections of a user come, the system is asked once; and nobody fills the memory with names.
    #[test]
    fn one_who_was_found_is_asked_about_again_after_a_refresh_only() {
        let (_, users) = users();
        let users = SystemUsers {
            look_up: counted,
            ..users
        };
        let administers = |user: &str| block_on(users.identity(user)).unwrap().privileged;
        assert!(!administers("anna") && !administers("anna"));
        assert_eq!(*LOOKED_UP.lock(), ["anna"]);
        users.refresh();
        assert!(administers("anna"));
        assert_eq!(*LOOKED_UP.lock(), ["anna", "anna"]);
        let (long, longer) = ("b".repeat(LONGEST_NAME), "c".repeat(LONGEST_NAME + 1));
        for name in [&long, &longer, &long, &longer] {
            administers(name);
        }
        assert_eq!(LOOKED_UP.lock()[2..], ["bbbb", "cccc", "cccc"]);
        assert_eq!(users.kept.lock().users.len(), 2);
    }

    #[test]
    fn users_of_elsewhere_may_have_records_where_the_policy_says_so() {
        let (_, users) = users();
        let users = SystemUsers {
            external: true,
            ..users
        };
        let known = |entity: Entity| block_on(users.is_known(&entity)).unwrap();
        assert!(known(Entity::principal("no-such-user")));
        assert!(
            !known(Entity::group("no-such-group")),
            "groups are the system's"
        );
    }

    #[test]
    fn of_whom_nobody_could_be_asked_nothing_is_kept() {
        let (operator, users) = users();
        let users = SystemUsers {
            look_up: |_| None,
            ..users
        };
        for times in 1..3 {
            assert_eq!(block_on(users.identity("root")), None);
            assert!(users.kept.lock().users.is_empty());
            let messages = operator.0.lock();
            assert_eq!(*messages, vec!["AMQ2433E root the look-up failed"; times]);
        }
    }

    /// Held by a test as long as a directory is not to answer.
    static SILENT: Mutex<()> = Mutex::new(());

    fn slow(user: &str) -> Option<SystemUser> {
        if user.starts_with("slow") {
            drop(SILENT.lock());
        }
        system_user(user)
    }

    #[test]
    fn one_who_is_slowly_found_holds_nobody_else_up() {
        let (_, users) = users();
        let users = SystemUsers {
            look_up: slow,
            ..users
        };
        let silent = SILENT.lock();
        for user in ["slow1", "slow1", "slow2", "slow3"] {
            assert_eq!(users.known_identity(user), None);
        }
        let deadline = Instant::now() + Duration::from_secs(60);
        // Nobody waits for it, but it is asked.
        while users.known_identity("root").is_none() {
            assert!(Instant::now() < deadline, "the others wait");
            std::thread::yield_now();
        }
        assert!(block_on(users.identity("no-such-user")).is_some());
        assert_eq!(users.known_identity("slow1"), None);
        drop(silent);
    }

    #[test]
    fn not_everybody_who_was_ever_named_is_kept_and_nobody_beyond_a_refresh() {
        let mut kept = Kept::default();
        for number in 0..=MOST {
            let identity = Arc::new(stranger(&format!("no-such-{number}")));
            kept.keep(&identity, 0);
        }
        assert_eq!(kept.users.len(), 1);
        kept.refreshed += 1;
        kept.keep(&Arc::new(stranger("late")), 0);
        assert!(!kept.users.contains_key("late"));
    }
}
