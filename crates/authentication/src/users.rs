//! Users of this machine, by whatever knows them here (NSS): a file, a directory.
//!
//! Whoever asks waits for it, perhaps for a server elsewhere: that is for threads that may.

use uzers::{get_user_by_name, get_user_by_uid, get_user_groups};

/// The group of those who administer queue managers (manual: "Authority to administer IBM MQ").
const ADMINISTRATORS: &str = "mqm";
const ROOT: u32 = 0;

/// The name of the user with a number, if there is one.
pub fn user_name(number: u32) -> Option<String> {
    let user = get_user_by_uid(number)?;
    user.name().to_str().map(str::to_owned)
}

/// Whether a user administers this queue manager: the superuser, the user who runs it, and the group `mqm` do.
pub fn is_administrator(name: &str) -> bool {
    let Some(user) = get_user_by_name(name) else {
        return false;
    };
    let runs_it = rustix::process::geteuid().as_raw();
    if user.uid() == ROOT || user.uid() == runs_it {
        return true;
    }
    let groups = get_user_groups(name, user.primary_group_id()).unwrap_or_default();
    groups.iter().any(|group| group.name() == ADMINISTRATORS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_superuser_and_who_runs_this_administer_and_nobody_does_not() {
        assert_eq!(user_name(ROOT).as_deref(), Some("root"));
        assert!(is_administrator("root"));
        let runs_this = user_name(rustix::process::geteuid().as_raw());
        assert!(runs_this.is_none_or(|name| is_administrator(&name)));
        assert!(!is_administrator("nobody"));
        assert!(!is_administrator("no-such-user-here"));
        assert!(!is_administrator(""));
        assert_eq!(user_name(4_000_000_123), None);
    }
}
