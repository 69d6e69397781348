//! Secrets in the text of commands.
//!
//! Invariant: of what stands in parentheses behind the keyword of a secret nothing is left, whether the command is one that
//! is carried out here or not, wherever it breaks off, and whatever separates the two.

use crate::kinds::ObjectKind;
use crate::parse::is_separator;
use crate::table::attributes;

/// Bytes of a command that are kept; runs of what separates its parts do not count (manual: "MQSC commands" are of 32,762
/// characters at most).
const LONGEST: usize = 32 * 1024;
/// What stands for a secret.
const HIDDEN: &str = "********";

fn is_secret(word: &str) -> bool {
    let is_called = |keyword: &str| keyword.eq_ignore_ascii_case(word);
    // Settings of cryptographic hardware have its password in them.
    is_called("SSLCRYP")
        || ObjectKind::ALL.into_iter().any(|kind| {
            let mut rows = attributes(kind);
            rows.any(|row| row.secret && is_called(row.keyword))
        })
}

fn separates(c: char) -> bool {
    u8::try_from(c).is_ok_and(is_separator)
}

/// The text of a command with asterisks in place of secrets, such as LDAPPWD. Of what separates its parts one blank is kept,
/// or a comma; of one that is very long the beginning, and how long it is.
pub fn without_secrets(command: &str) -> String {
    let mut out = String::new();
    let mut rest = command;
    while let Some(first) = rest.chars().next().filter(|_| out.len() <= LONGEST) {
        if separates(first) {
            let behind = rest.trim_start_matches(separates);
            let skipped = &rest[..rest.len() - behind.len()];
            out.push(if skipped.contains(',') { ',' } else { ' ' });
            rest = behind;
            continue;
        }
        let of_word = |c: char| c.is_alphanumeric() || c == '_';
        let length = match first {
            '\'' => quoted(rest),
            first if of_word(first) => rest.find(|c| !of_word(c)).unwrap_or(rest.len()),
            first => first.len_utf8(),
        };
        let (token, behind) = rest.split_at(length);
        out.push_str(token);
        rest = behind;
        if of_word(first) && is_secret(token) {
            let value = rest.trim_start_matches(separates);
            if value.starts_with('(') {
                out.push('(');
                out.push_str(HIDDEN);
                out.push(')');
                rest = value.get(parenthesised(value)..).unwrap_or_default();
            }
        }
    }
    if out.len() > LONGEST {
        out.truncate(out.floor_char_boundary(LONGEST));
        out.push_str(&format!("... ({} bytes)", command.len()));
    }
    out
}

/// The bytes of the text in quotes that `text` begins with; all of it, if it does not end.
fn quoted(text: &str) -> usize {
    let end = text.get(1..).and_then(|inside| inside.find('\''));
    end.map_or(text.len(), |end| end + 2)
}

/// The bytes of what `text` has in parentheses, from the first of them on; all of it, if they are not closed.
fn parenthesised(text: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let length = match rest.chars().next() {
            Some('\'') => quoted(rest),
            Some(other) => {
                match other {
                    '(' => depth += 1,
                    ')' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                other.len_utf8()
            }
            None => break,
        };
        at += length;
        if depth == 0 {
            break;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_secret_nothing_is_left() {
        for (text, expected) in [
            (
                "ALTER QMGR DESCR('LDAPPWD(x)')",
                "ALTER QMGR DESCR('LDAPPWD(x)')",
            ),
            (
                "define authinfo(A) ldappwd('geheim (1) it''s )') ldapuser('cn=q')",
                "define authinfo(A) ldappwd(********) ldapuser('cn=q')",
            ),
            (
                "DEFINE CHANNEL(C) CHLTYPE(CLNTCONN) PASSWORD (geheim) USERID(x)",
                "DEFINE CHANNEL(C) CHLTYPE(CLNTCONN) PASSWORD(********) USERID(x)",
            ),
            ("ALTER QMGR KEYRPWD('geheim", "ALTER QMGR KEYRPWD(********)"),
            (
                "ALTER QMGR INITKEY(a(geheim)b)",
                "ALTER QMGR INITKEY(********)",
            ),
            (
                "DEFINE QLOCAL('PASSWORD') DESCR('ü')",
                "DEFINE QLOCAL('PASSWORD') DESCR('ü')",
            ),
            ("DISPLAY QMGR KEYRPWD", "DISPLAY QMGR KEYRPWD"),
            (
                "ALTER QMGR KEYRPWD,('geheim') INITKEY , \t(geheim)\n,DESCR( 'a  b' )",
                "ALTER QMGR KEYRPWD(********) INITKEY(********),DESCR( 'a  b' )",
            ),
            ("", ""),
        ] {
            assert_eq!(without_secrets(text), expected);
            assert!(!without_secrets(text).contains("geheim"));
        }
    }

    #[test]
    fn a_long_command_hides_nothing_and_fills_nothing() {
        let blanks = " ".repeat(4 << 20);
        let shown = without_secrets(&format!("ALTER QLOCAL(Q){blanks}DESCR('x')"));
        assert_eq!(shown, "ALTER QLOCAL(Q) DESCR('x')");
        for end in ["')", ""] {
            let long = format!("ALTER QLOCAL(Q) DESCR('{}{end}", "ä".repeat(1 << 20));
            let shown = without_secrets(&long);
            assert!(
                shown.len() < LONGEST + 100 && shown.ends_with(&format!("({} bytes)", long.len()))
            );
        }
    }

    #[test]
    fn each_row_that_is_a_secret_is_known() {
        for word in ["LDAPPWD", "PASSWORD", "KEYRPWD", "INITKEY", "SSLCRYP"] {
            assert!(is_secret(word) && is_secret(&word.to_lowercase()), "{word}");
        }
        assert!(!is_secret("LDAPUSER"));
    }
}
