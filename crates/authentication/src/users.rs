//! Users of this machine, by whatever knows them here (NSS): a file, a directory.
//!
//! Whoever asks waits for it, perhaps for a server elsewhere: that is for threads that may.

use std::ffi::CString;

use nix::errno::Errno;
use nix::unistd::{Uid, User, getgrouplist};

use crate::group::{group_name, group_number};

/// The group of those who administer queue managers (manual: "Authority to administer IBM MQ").
const ADMINISTRATORS: &str = "mqm";
const ROOT: u32 = 0;

/// The name of the user with a number, if there is one.
pub fn user_name(number: u32) -> Option<String> {
    let user = User::from_uid(Uid::from_raw(number)).ok()?;
    user.map(|user| user.name)
}

/// Whether the user with a number administers this queue manager whatever groups he is in: the superuser, and who runs it.
fn is_owner(number: u32) -> bool {
    number == ROOT || number == rustix::process::geteuid().as_raw()
}

/// A user, as far as the system knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SystemUser {
    /// The names of the groups that the user is in, the primary one first; none of one whom nobody knows.
    pub groups: Vec<String>,
    /// Whether the user administers this queue manager: the superuser, the user who runs it, and the group `mqm` do.
    pub administers: bool,
    /// Whether the system knows the user.
    pub known: bool,
}

/// Bytes of the longest name of a user or a group that there can be (LOGIN_NAME_MAX of Linux). Libraries behind NSS put a name on the
/// stack, as long as it is.
pub const LONGEST_NAME: usize = 256;

/// What the system knows of a user. None: it could not be found out.
pub fn system_user(name: &str) -> Option<SystemUser> {
    if name.len() > LONGEST_NAME {
        return Some(SystemUser::default());
    }
    let Some(user) = found(User::from_name(name))? else {
        // Without a name in the system he may still be a number, as a kernel names who has none. The number of one who has a
        // name is nobody.
        let number = name.parse().ok();
        let number = number.filter(|number: &u32| number.to_string() == name);
        let nameless = match number {
            Some(number) => found(User::from_uid(Uid::from_raw(number)))?.is_none(),
            None => false,
        };
        return Some(SystemUser {
            administers: nameless && number.is_some_and(is_owner),
            ..SystemUser::default()
        });
    };
    let mut numbers = getgrouplist(&CString::new(name).ok()?, user.gid).ok()?;
    numbers.sort_by_key(|number| *number != user.gid);
    numbers.dedup();
    let mut groups = Vec::new();
    for number in numbers {
        // A group without a name has no records.
        groups.extend(found(group_name(number.as_raw()))?);
    }
    Some(SystemUser {
        administers: is_owner(user.uid.as_raw())
            || groups.iter().any(|name| name == ADMINISTRATORS),
        groups,
        known: true,
    })
}

/// Whether the system knows a group. None: it could not be found out.
pub fn is_group(name: &str) -> Option<bool> {
    if name.len() > LONGEST_NAME {
        return Some(false);
    }
    found(group_number(name)).map(|group| group.is_some())
}

/// What a look-up has found, if anything; none: it could not be made. Some sources say by an error that there is nothing.
fn found<T>(looked_up: nix::Result<Option<T>>) -> Option<Option<T>> {
    match looked_up {
        Err(Errno::ENOENT | Errno::ESRCH) => Some(None),
        looked_up => looked_up.ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_superuser_and_who_runs_this_administer_and_nobody_does_not() {
        assert_eq!(user_name(ROOT).as_deref(), Some("root"));
        let administers = |name: &str| system_user(name).map(|user| user.administers);
        assert_eq!(administers("root"), Some(true));
        let runs_this = rustix::process::geteuid().as_raw();
        let name = user_name(runs_this).unwrap_or_else(|| runs_this.to_string());
        assert_eq!(administers(&name), Some(true));
        let nameless = user_name(runs_this).is_none();
        for (number, expected) in [
            (runs_this.to_string(), nameless),
            (format!("+{runs_this}"), false),
        ] {
            assert_eq!(administers(&number), Some(expected), "{number}");
        }
        for name in ["nobody", "no-such-user-here", "", "4000000123"] {
            assert_eq!(administers(name), Some(false), "{name}");
        }
        assert_eq!(user_name(4_000_000_123), None);
    }

    #[test]
    fn the_primary_group_of_a_user_comes_first() {
        let root = system_user("root").unwrap();
        assert!(root.known && root.administers);
        assert_eq!(root.groups.first().map(String::as_str), Some("root"));
        assert_eq!(
            system_user("no-such-user-here"),
            Some(SystemUser::default())
        );
        assert_eq!(is_group("root"), Some(true));
        assert_eq!(is_group("no-such-group-here"), Some(false));
        // Asked for, it would overflow the stack of a thread.
        let long = "a".repeat(4 << 20);
        assert_eq!(system_user(&long), Some(SystemUser::default()));
        assert_eq!(is_group(&long), Some(false));
        let odd = system_user("a\0b");
        assert!(odd.is_none_or(|user| user == SystemUser::default()));
    }
}
