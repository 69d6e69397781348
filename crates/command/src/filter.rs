//! Generic names, and the WHERE of a DISPLAY command.

use crate::command::{Op, Where};
use crate::reply::Row;
use std::cmp::Ordering;

/// Whether a name is meant by a pattern: a name, or the start of names followed by `*`.
/// An asterisk anywhere else has no special meaning.
pub fn generic_matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => pattern == name,
    }
}

/// Compares as numbers when both are numbers, otherwise byte by byte; trailing blanks do not
/// count.
pub fn compare(left: &str, right: &str) -> Ordering {
    let (left, right) = (left.trim_end(), right.trim_end());
    match (
        left.trim_start().parse::<i64>(),
        right.trim_start().parse::<i64>(),
    ) {
        (Ok(left), Ok(right)) => left.cmp(&right),
        _ => left.cmp(right),
    }
}

/// Whether a row is one that the filter asks for. A row without the attribute never is.
pub fn where_matches(filter: &Where, row: &Row) -> bool {
    let Some(value) = row.get(&filter.keyword) else {
        return false;
    };
    let order = compare(value, &filter.value);
    match filter.op {
        Op::Lt => order == Ordering::Less,
        Op::Gt => order == Ordering::Greater,
        Op::Eq => order == Ordering::Equal,
        Op::Ne => order != Ordering::Equal,
        Op::Le => order != Ordering::Greater,
        Op::Ge => order != Ordering::Less,
        Op::Lk => generic_matches(&filter.value, value.trim_end()),
        Op::Nl => !generic_matches(&filter.value, value.trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generic_names() {
        for (pattern, name, expected) in [
            ("*", "", true),
            ("*", "ANY", true),
            ("DEV.*", "DEV.Q1", true),
            ("DEV.*", "DEV.", true),
            ("DEV.*", "DEV", false),
            ("DEV.*", "dev.Q1", false),
            ("Q1", "Q1", true),
            ("Q1", "Q10", false),
            ("Q*1", "Q*1", true),
            ("Q*1", "QX1", false),
            ("", "", true),
            ("", "Q", false),
        ] {
            assert_eq!(generic_matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn filters() {
        let row = Row(vec![
            ("QUEUE".into(), "DEV.Q1".into()),
            ("CURDEPTH".into(), "10".into()),
            ("DESCR".into(), " ".into()),
            ("SHARE".into(), String::new()),
        ]);
        // keyword, value, then what LT GT EQ NE LE GE LK NL say
        let cases = [
            ("CURDEPTH", "9", [0, 1, 0, 1, 0, 1, 0, 1]),
            ("CURDEPTH", "10", [0, 0, 1, 0, 1, 1, 1, 0]),
            ("CURDEPTH", "100", [1, 0, 0, 1, 1, 0, 0, 1]),
            ("CURDEPTH", "1x", [1, 0, 0, 1, 1, 0, 0, 1]),
            ("CURDEPTH", "1*", [0, 1, 0, 1, 0, 1, 1, 0]),
            ("QUEUE", "DEV.*", [0, 1, 0, 1, 0, 1, 1, 0]),
            ("QUEUE", "DEV.Q1", [0, 0, 1, 0, 1, 1, 1, 0]),
            ("DESCR", " ", [0, 0, 1, 0, 1, 1, 0, 1]),
            ("DESCR", "", [0, 0, 1, 0, 1, 1, 1, 0]),
            ("NOTHERE", "1", [0, 0, 0, 0, 0, 0, 0, 0]),
        ];
        for (keyword, value, expected) in cases {
            for ((word, op), expected) in Op::ALL.into_iter().zip(expected) {
                let filter = Where {
                    keyword: keyword.into(),
                    op,
                    value: value.into(),
                };
                let found = where_matches(&filter, &row);
                assert_eq!(found, expected == 1, "{keyword} {word} {value}");
            }
        }
    }

    #[test]
    fn numbers_compare_as_numbers() {
        assert_eq!(compare("9", "10"), Ordering::Less);
        assert_eq!(compare("-1", "0"), Ordering::Less);
        assert_eq!(compare("9", "1A"), Ordering::Greater);
        assert_eq!(compare("A ", "A"), Ordering::Equal);
        assert_eq!(
            compare("9223372036854775808", "1"),
            Ordering::Greater,
            "as text"
        );
    }
}
