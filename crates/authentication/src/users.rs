//! Users of this machine, by whatever knows them here (NSS): a file, a directory.
//!
//! Whoever asks waits for it, perhaps for a server elsewhere: that is for threads that may.

use std::ffi::CString;

use nix::errno::Errno;
use nix::unistd::{Group, Uid, User, getgrouplist};

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

/// Whether a user administers this queue manager: the superuser, the user who runs it, and the group `mqm` do. None: it
/// could not be found out, because the groups of a user who is there could not be had.
pub fn is_administrator(name: &str) -> Option<bool> {
    let Some(user) = found(User::from_name(name))? else {
        // Without a name in the system he may still be a number, as a kernel names who has none.
        return Some(name.parse().is_ok_and(is_owner));
    };
    if is_owner(user.uid.as_raw()) {
        return Some(true);
    }
    let Some(administrators) = found(Group::from_name(ADMINISTRATORS))? else {
        return Some(false);
    };
    let groups = getgrouplist(&CString::new(name).ok()?, user.gid).ok()?;
    Some(groups.contains(&administrators.gid))
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
        let yes = Some(true);
        assert_eq!(is_administrator("root"), yes);
        let runs_this = rustix::process::geteuid().as_raw();
        let name = user_name(runs_this).unwrap_or_else(|| runs_this.to_string());
        assert_eq!(is_administrator(&name), yes);
        assert_eq!(is_administrator(&runs_this.to_string()), yes, "as a number");
        for name in ["nobody", "no-such-user-here", "", "4000000123"] {
            assert_eq!(is_administrator(name), Some(false), "{name}");
        }
        assert_eq!(user_name(4_000_000_123), None);
    }
}
