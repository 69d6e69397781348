//! What decides about authorities: who knows users and groups, and the proof that was asked.
//!
//! Invariant: an [`Authorised`] is made only where what is granted has everything that is needed.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use posthaste_authority::{Authorities, Entity, Identity};

/// What is being looked up.
pub type Looking<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Who is in which group, as the operating system knows it.
pub trait Users: Send + Sync {
    /// A user with its groups; of one whom nobody knows only the name. None: it could not be found out.
    fn identity<'a>(&'a self, user: &'a str) -> Looking<'a, Option<Arc<Identity>>>;
    /// The same of a user whom somebody has asked about before, for those who cannot wait. None: it is not known yet, and is
    /// being asked now.
    fn known_identity(&self, user: &str) -> Option<Arc<Identity>>;
    /// Whether there is such a user, or such a group. None: it could not be found out.
    fn is_known<'a>(&'a self, entity: &'a Entity) -> Looking<'a, Option<bool>>;
    /// Forgets what was looked up.
    fn refresh(&self);
}

/// How authorities are decided about.
#[derive(Clone)]
pub struct Authorization {
    /// Who knows users and groups.
    pub users: Arc<dyn Users>,
    /// Users have records of their own (`SecurityPolicy=User`); else their groups only.
    pub by_user: bool,
    /// Authorities are checked; else records are only kept.
    pub enforced: bool,
}

impl fmt::Debug for Authorization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Authorization");
        shown.field("by_user", &self.by_user);
        shown
            .field("enforced", &self.enforced)
            .finish_non_exhaustive()
    }
}

/// Why nothing is known of a user or a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoEntity {
    /// There is none of this name.
    Unknown,
    /// It could not be found out.
    NoAnswer,
}

impl Authorization {
    /// That there is such a user, or such a group.
    ///
    /// # Errors
    /// There is none, or nobody could say.
    pub(crate) async fn find(&self, entity: &Entity) -> Result<(), NoEntity> {
        match self.users.is_known(entity).await {
            Some(true) => Ok(()),
            Some(false) => Err(NoEntity::Unknown),
            None => Err(NoEntity::NoAnswer),
        }
    }
}

/// That somebody may have an object open: given by a check only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Authorised(());

impl Authorised {
    /// The proof, if what is granted has all that is needed.
    pub(crate) fn checked(granted: Authorities, needs: Authorities) -> Option<Authorised> {
        granted.has(needs).then_some(Authorised(()))
    }
}
