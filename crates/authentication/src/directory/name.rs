//! Distinguished names as LDAP writes them (RFC 4514): whether one is below another.
//!
//! Invariants: names are compared part by part as the server reads them, and never by their text: a comma with a backslash
//! before it separates nothing. What different servers read differently (quotation marks, semicolons, values in
//! hexadecimal) is no name here, so that nobody is looked for at a place that was not compared.

/// A part: attributes and values, in order, because `a=1+b=2` is `b=2+a=1`.
type Part = Vec<(String, Vec<u8>)>;

/// Whether a name is below another one, by at least one part. What is no name is below nothing, and nothing is below it.
pub(super) fn is_below(name: &str, base: &str) -> bool {
    match (parts(name), parts(base)) {
        (Some(name), Some(base)) => name.len() > base.len() && name.ends_with(&base),
        _ => false,
    }
}

/// The parts of a name, the lowest first.
fn parts(text: &str) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let mut rest = text.as_bytes();
    loop {
        let mut part = Part::new();
        let end = loop {
            let (attribute, end) = attribute(rest)?;
            part.push(attribute);
            let separator = rest.get(end).copied();
            rest = rest.get(end + 1..).unwrap_or_default();
            if separator != Some(b'+') {
                break separator;
            }
        };
        part.sort();
        parts.push(part);
        if end.is_none() {
            return Some(parts);
        }
    }
}

/// An attribute with its value at the beginning of `text`, and where it ends: at a separator, or with the text.
fn attribute(text: &[u8]) -> Option<((String, Vec<u8>), usize)> {
    let equals = text.iter().position(|byte| *byte == b'=')?;
    let kind = std::str::from_utf8(text.get(..equals)?).ok()?;
    let kind = kind.trim_matches(' ');
    let is_kind = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
    if kind.is_empty() || !kind.chars().all(is_kind) {
        return None;
    }
    let (mut value, mut at) = (Vec::new(), equals + 1);
    // Spaces before and behind a value mean nothing unless they have a backslash.
    let mut kept = 0;
    loop {
        match text.get(at).copied() {
            None | Some(b',' | b'+') => break,
            Some(b'"' | b';' | b'<' | b'>' | 0) => return None,
            Some(b'#') if value.is_empty() => return None,
            Some(b' ') if value.is_empty() => {}
            Some(b'\\') => {
                value.push(escaped(text, &mut at)?);
                kept = value.len();
            }
            Some(byte) => {
                // Letters match in either case, as those of names of people and units do.
                value.push(byte.to_ascii_lowercase());
                if byte != b' ' {
                    kept = value.len();
                }
            }
        }
        at += 1;
    }
    value.truncate(kept);
    (!value.is_empty()).then(|| ((kind.to_ascii_lowercase(), value), at))
}

/// What a backslash at `at` and what follows stand for; `at` is then at the last of these.
fn escaped(text: &[u8], at: &mut usize) -> Option<u8> {
    let digit = |at: usize| char::from(*text.get(at)?).to_digit(16);
    let first = text.get(*at + 1).copied()?;
    if let (Some(high), Some(low)) = (digit(*at + 1), digit(*at + 2)) {
        *at += 2;
        return Some(((high * 16 + low) as u8).to_ascii_lowercase());
    }
    *at += 1;
    b" \"#+,;<=>\\".contains(&first).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_by_their_parts() {
        for (name, base) in [
            ("cn=alice,ou=people,dc=x", "ou=people,dc=x"),
            ("CN=Alice , OU = People,  DC=X", "ou=people,dc=x"),
            ("cn=a\\,b,ou=people,dc=x", "ou=people,dc=x"),
            ("cn=a\\2Cb,ou=pe\\6fple,dc=x", "ou=people,dc=x"),
            ("cn=a,cn=b,ou=a\\,b,dc=x", "ou=a\\2cb,dc=x"),
            ("cn=a,ou=q+l=z,dc=x", "l=z+ou=q,dc=x"),
            ("cn=a,ou=ends\\ ,dc=x", "ou=ends\\20,dc=x"),
            ("cn=ä,ou=people,dc=x", "ou=people,dc=x"),
        ] {
            assert!(is_below(name, base), "{name} is below {base}");
        }
        for (name, base) in [
            // Directly below dc=x.
            ("cn=mallory\\,ou=people,dc=x", "ou=people,dc=x"),
            ("cn=mallory\\2cou=people,dc=x", "ou=people,dc=x"),
            ("cn=mallory\\\\\\,ou=people,dc=x", "ou=people,dc=x"),
            ("cn=\"mallory,ou=people\",dc=x", "ou=people,dc=x"),
            ("cn=mallory+ou=people,dc=x", "ou=people,dc=x"),
            ("cn=mallory;ou=people,dc=x", "ou=people,dc=x"),
            ("cn=#0401,ou=people,dc=x", "ou=people,dc=x"),
            ("ou=people,dc=x", "ou=people,dc=x"),
            ("cn=a,ou=otherpeople,dc=x", "ou=people,dc=x"),
            ("cn=a,ou=ends ,dc=x", "ou=ends\\ ,dc=x"),
            // Only blanks mean nothing.
            ("cn=a,ou\u{a0}=people,dc=x", "ou=people,dc=x"),
            ("cn=a,ou=people\u{a0},dc=x", "ou=people,dc=x"),
            ("cn=a,dc=y", "dc=x"),
            ("cn=a\\", "dc=x"),
            ("cn=a\\zz,dc=x", "dc=x"),
            ("cn=a,,dc=x", "dc=x"),
            ("cn=a,dc=x,", "dc=x"),
            ("cn=,dc=x", "dc=x"),
            ("cn=a,dc=x", ""),
        ] {
            assert!(!is_below(name, base), "{name} is not below {base}");
        }
    }
}
