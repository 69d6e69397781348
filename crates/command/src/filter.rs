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

/// Whether a row is one that the filter asks for. A row without the attribute never is.
pub fn where_matches(filter: &Where, row: &Row) -> bool {
    let Some(value) = row.get(&filter.keyword) else {
        return false;
    };
    let (value, wanted) = (value.trim_end(), filter.value.as_str());
    let order = order(value, wanted, filter.number);
    let has = |accepts: fn(&str, &str) -> bool| {
        let mut items = value.split(',').map(str::trim);
        items.any(|item| accepts(wanted, item))
    };
    match filter.op {
        Op::Lt => order == Some(Ordering::Less),
        Op::Gt => order == Some(Ordering::Greater),
        Op::Eq => order == Some(Ordering::Equal),
        Op::Ne => order != Some(Ordering::Equal),
        Op::Le => order.is_some_and(Ordering::is_le),
        Op::Ge => order.is_some_and(Ordering::is_ge),
        Op::Lk => generic_matches(wanted, value),
        Op::Nl => !generic_matches(wanted, value),
        Op::Ct => has(|wanted, item| wanted == item),
        Op::Ex => !has(|wanted, item| wanted == item),
        Op::Ctg => has(generic_matches),
        Op::Exg => !has(generic_matches),
    }
}

/// How text compares byte by byte. Where numbers are compared, a word or a blank is neither more nor less than a number.
fn order(value: &str, wanted: &str, number: bool) -> Option<Ordering> {
    let parsed = |text: &str| text.trim_start().parse::<i64>().ok();
    match (number, parsed(value), parsed(wanted)) {
        (true, Some(value), Some(wanted)) => Some(value.cmp(&wanted)),
        (true, _, _) => (value == wanted).then_some(Ordering::Equal),
        (false, _, _) => Some(value.cmp(wanted)),
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
            ("CUSTOM".into(), "9".into()),
            ("MAXFSIZE".into(), "DEFAULT".into()),
            ("ARCHSZ".into(), String::new()),
            ("COMPMSG".into(), "NONE,RLE".into()),
        ]);
        // keyword, whether a number, value, then what LT GT EQ NE LE GE LK NL CT EX CTG EXG say
        let cases = [
            ("CURDEPTH", true, "9", [0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]),
            ("CURDEPTH", true, "10", [0, 0, 1, 0, 1, 1, 1, 0, 1, 0, 1, 0]),
            (
                "CURDEPTH",
                true,
                "100",
                [1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 0, 1],
            ),
            ("CURDEPTH", true, "-1", [0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]),
            ("CUSTOM", false, "10", [0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]),
            ("MAXFSIZE", true, "5", [0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 1]),
            (
                "MAXFSIZE",
                true,
                "DEFAULT",
                [0, 0, 1, 0, 1, 1, 1, 0, 1, 0, 1, 0],
            ),
            ("ARCHSZ", true, "0", [0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 1]),
            ("ARCHSZ", true, "", [0, 0, 1, 0, 1, 1, 1, 0, 1, 0, 1, 0]),
            (
                "QUEUE",
                false,
                "DEV.*",
                [0, 1, 0, 1, 0, 1, 1, 0, 0, 1, 1, 0],
            ),
            (
                "QUEUE",
                false,
                "DEV.Q1",
                [0, 0, 1, 0, 1, 1, 1, 0, 1, 0, 1, 0],
            ),
            ("DESCR", false, "", [0, 0, 1, 0, 1, 1, 1, 0, 1, 0, 1, 0]),
            (
                "COMPMSG",
                false,
                "RLE",
                [1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 1, 0],
            ),
            ("COMPMSG", false, "R*", [1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0]),
            (
                "COMPMSG",
                false,
                "LZ4FAST",
                [0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1],
            ),
            ("NOTHERE", false, "1", [0; 12]),
        ];
        for (keyword, number, value, expected) in cases {
            for ((word, op), expected) in Op::ALL.into_iter().zip(expected) {
                let filter = Where {
                    keyword: keyword.into(),
                    op,
                    value: value.into(),
                    number,
                };
                let found = where_matches(&filter, &row);
                assert_eq!(found, expected == 1, "{keyword} {word} {value}");
            }
        }
    }
}
