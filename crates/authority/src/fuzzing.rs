//! What fuzzers run: profiles against the plainest way to match them.

use crate::profile::Profile;

/// Whether qualifiers match those of a profile, tried in every way.
fn qualifiers(profile: &[&str], name: &[&str]) -> bool {
    match profile.split_first() {
        None => name.is_empty(),
        Some((&"**", rest)) => (0..=name.len()).any(|skip| qualifiers(rest, &name[skip..])),
        Some((first, rest)) => name.split_first().is_some_and(|(own, others)| {
            characters(first.as_bytes(), own.as_bytes()) && qualifiers(rest, others)
        }),
    }
}

fn characters(profile: &[u8], name: &[u8]) -> bool {
    match profile.split_first() {
        None => name.is_empty(),
        Some((b'*', rest)) => (0..=name.len()).any(|skip| characters(rest, &name[skip..])),
        Some((first, rest)) => name.split_first().is_some_and(|(own, others)| {
            (*first == b'?' || first == own) && characters(rest, others)
        }),
    }
}

/// One input: a profile, a line feed, names. A profile without `?`, which may stand for a full stop, matches what its
/// qualifiers match; nothing panics, and a profile that was read reads back the same.
pub fn profile(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut lines = text.lines();
    let Some(Ok(profile)) = lines.next().map(Profile::new) else {
        return;
    };
    assert_eq!(Profile::new(profile.text()), Ok(profile.clone()));
    for name in lines {
        let matched = profile.matches(name);
        // The plain way takes long where there are many asterisks.
        let stars = profile.text().matches('*').count();
        if name.len() > 63 || stars > 4 || profile.text().contains('?') {
            continue;
        }
        let of_profile: Vec<&str> = profile.text().split('.').collect();
        let of_name: Vec<&str> = name.split('.').collect();
        assert_eq!(
            matched,
            qualifiers(&of_profile, &of_name),
            "{profile} and {name}"
        );
    }
}
