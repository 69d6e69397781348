//! Groups of this machine by name or number, however many members they have.
//!
//! Invariants: what the system gives of a group includes all its members, which are not looked at, and must fit all the same:
//! the room grows until they do, up to [`MOST`]; one that needs more could not be looked up, which is not the same as that
//! there is none.
#![expect(
    unsafe_code,
    reason = "calls of the C library that no crate makes with room for large groups"
)]

use std::ffi::{CStr, CString, c_char};
use std::mem::MaybeUninit;
use std::ptr;

use nix::errno::Errno;

/// Bytes to begin with.
const FIRST: usize = 16 * 1_024;
/// Bytes that the largest group may need: a million members with names of fifty characters.
const MOST: usize = 64 * 1_024 * 1_024;

/// Makes a call with ever more room, as long as it says that there is too little.
fn grown<T>(
    first: usize,
    mut call: impl FnMut(&mut [c_char]) -> Result<T, Errno>,
) -> Result<T, Errno> {
    let mut room = first.max(1);
    loop {
        match call(&mut vec![0; room]) {
            Err(Errno::ERANGE) if room < MOST => room = (2 * room).min(MOST),
            made => return made,
        }
    }
}

type Call<'a> =
    &'a dyn Fn(*mut libc::group, *mut c_char, usize, *mut *mut libc::group) -> libc::c_int;

/// The name and the number of the group that a call gives, if there is one.
fn found(first: usize, call: Call<'_>) -> Result<Option<(String, u32)>, Errno> {
    grown(first, |room| {
        let mut group = MaybeUninit::<libc::group>::uninit();
        let mut there = ptr::null_mut();
        match call(
            group.as_mut_ptr(),
            room.as_mut_ptr(),
            room.len(),
            &mut there,
        ) {
            0 if there.is_null() => return Ok(None),
            0 => {}
            error => return Err(Errno::from_raw(error)),
        }
        // SAFETY: the call has succeeded and found a group: `there` is `group`, which it has filled, with a name in `room`.
        let (name, number) = unsafe { (CStr::from_ptr((*there).gr_name), (*there).gr_gid) };
        Ok(Some((name.to_string_lossy().into_owned(), number)))
    })
}

/// The name of the group with a number; `Ok(None)` if the system knows none.
///
/// # Errors
/// The system's, `ERANGE` for one that is too large among them.
pub(crate) fn group_name(number: u32) -> Result<Option<String>, Errno> {
    let group = found(FIRST, &|group, room, length, there| {
        // SAFETY: the pointers are to a group, to `length` bytes, and to a pointer, all of which outlive the call.
        unsafe { libc::getgrgid_r(number, group, room, length, there) }
    })?;
    Ok(group.map(|(name, _)| name))
}

/// The number of the group with a name; `Ok(None)` if the system knows none.
///
/// # Errors
/// As [`group_name`].
pub(crate) fn group_number(name: &str) -> Result<Option<u32>, Errno> {
    number_with_room(name, FIRST)
}

fn number_with_room(name: &str, first: usize) -> Result<Option<u32>, Errno> {
    // No group has a name with a zero byte.
    let Ok(name) = CString::new(name) else {
        return Ok(None);
    };
    let group = found(first, &|group, room, length, there| {
        // SAFETY: as in `group_name`; the name ends with a zero byte.
        unsafe { libc::getgrnam_r(name.as_ptr(), group, room, length, there) }
    })?;
    Ok(group.map(|(_, number)| number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_found_by_name_and_by_number_however_little_room_there_is_at_first() {
        assert_eq!(number_with_room("root", 1), Ok(Some(0)));
        assert_eq!(group_number("root"), Ok(Some(0)));
        assert_eq!(group_name(0), Ok(Some("root".to_owned())));
        assert_eq!(group_number("no-such-group-here"), Ok(None));
        assert_eq!(group_number("ro\0ot"), Ok(None));
        assert_eq!(group_name(4_000_000_123), Ok(None));
    }

    /// Groups of 30,000 members need more than a mebibyte, and there are larger ones.
    #[test]
    fn room_grows_as_far_as_large_groups_need_and_no_further() {
        let needing = |needed: usize| {
            let mut calls = 0;
            let made = grown(FIRST, |room| {
                calls += 1;
                match room.len() < needed {
                    true => Err(Errno::ERANGE),
                    false => Ok(room.len()),
                }
            });
            (made, calls)
        };
        assert_eq!(needing(FIRST), (Ok(FIRST), 1));
        let (made, _) = needing(40 * 1_024 * 1_024);
        assert_eq!(made, Ok(MOST));
        let (made, calls) = needing(MOST + 1);
        assert_eq!(made, Err(Errno::ERANGE));
        assert!(calls < 20, "{calls}");
        assert_eq!(grown(1, |_| Err::<(), _>(Errno::EIO)), Err(Errno::EIO));
    }
}
