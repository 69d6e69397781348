//! Where no file may be touched: whoever waits for a disk must not keep others from what it has locked.
//!
//! Invariant: in builds with debug assertions the real disk refuses every operation but locking and asking a length to a
//! thread that has a [`NoFiles`]; other builds have nothing of this.

#[cfg(debug_assertions)]
thread_local! {
    static HELD: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

/// While this is held its thread touches no file.
#[derive(Debug)]
pub struct NoFiles(());

impl NoFiles {
    /// From now on.
    #[inline]
    #[expect(clippy::new_without_default, reason = "it begins something")]
    pub fn new() -> NoFiles {
        #[cfg(debug_assertions)]
        HELD.set(HELD.get() + 1);
        NoFiles(())
    }
}

impl Drop for NoFiles {
    #[inline]
    fn drop(&mut self) {
        #[cfg(debug_assertions)]
        HELD.set(HELD.get() - 1);
    }
}

/// What a disk asserts before it does anything.
#[inline]
#[track_caller]
pub fn assert_files_allowed() {
    #[cfg(debug_assertions)]
    assert!(
        HELD.get() == 0,
        "a file is touched under a lock that no disk may hold up"
    );
    crate::turns::assert_not_held_up();
}

#[cfg(test)]
#[cfg(debug_assertions)]
mod tests {
    use super::*;

    #[test]
    fn the_real_disk_is_not_touched_meanwhile() {
        let disk = crate::os().disk;
        let folder = tempfile::tempdir().unwrap();
        let held = (NoFiles::new(), NoFiles::new());
        let (outer, inner) = held;
        drop(inner);
        let touched = || disk.list(folder.path()).map(|names| names.len());
        let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(touched));
        assert!(refused.is_err());
        drop(outer);
        assert_eq!(touched().unwrap(), 0);
    }
}
