//! The reference pages, made from the tables: docs/attributes.md and docs/messages.md.
//!
//! Invariant (tested): they are in the repository as the tables have them.

use crate::attribute::shown;
use crate::attribute::{Attribute, Effect, Set, ValueKind};
use crate::kinds::ObjectKind;
use crate::messages;
use crate::show::display_order;
use std::fmt::Write;

/// The attributes of every kind of object, as Markdown.
pub fn reference_page() -> String {
    let mut page = String::from(
        "# Attributes\n\n\
         Made from the table of attributes (`crates/command/src/table`); do not edit.\n\n\
         *Set by* says who may change an attribute: DEFINE and ALTER, DEFINE only, SET, or nobody \
         (the queue manager keeps it). *Calls* says whether MQINQ can ask for it and MQSET can \
         change it. *Number* is the selector of those calls and of command messages.\n\n\
         What an attribute says is acted on, unless its meaning says otherwise: values other than those of *in this \
         release only* are refused (AMQ2406E); what is *kept* is taken, and a value other than the default is answered \
         with a warning (AMQ2415W).\n",
    );
    for kind in ObjectKind::ALL.into_iter().chain(ObjectKind::RECORDS) {
        let _ = write!(page, "\n## {}: {kind}\n\n", kind.noun());
        page.push_str("| Keyword | Values | Default | Set by | Calls | Number | Meaning |\n");
        page.push_str("| --- | --- | --- | --- | --- | --- | --- |\n");
        for attribute in display_order(kind) {
            page.push_str(&line(attribute));
        }
    }
    page
}

fn line(attribute: &Attribute) -> String {
    let also: String = attribute
        .also
        .iter()
        .map(|also| format!(", `{also}`"))
        .collect();
    let record = |kind: &ObjectKind| ObjectKind::RECORDS.contains(kind);
    let set = match attribute.set {
        Set::Always | Set::CreateOnly if attribute.on.iter().any(record) => "SET",
        Set::Always => "DEFINE, ALTER",
        Set::CreateOnly | Set::DefineOnly => "DEFINE",
        Set::ReadOnly => "nobody",
    };
    let calls = match (attribute.inquire, attribute.mqset) {
        (true, true) => "MQINQ, MQSET",
        (true, false) => "MQINQ",
        (false, _) => "",
    };
    let only = match attribute.effect {
        Effect::Kept => Some(" (kept, acts on nothing in this release)".to_owned()),
        _ => attribute
            .taken()
            .map(|taken| format!(" (in this release only: {taken})")),
    };
    format!(
        "| `{}`{also} | {} | {} | {set} | {calls} | {} | {}{} |\n",
        attribute.keyword,
        values(attribute),
        default(attribute),
        attribute.selector,
        attribute.help,
        only.unwrap_or_default(),
    )
}

fn values(attribute: &Attribute) -> String {
    let words: Vec<&str> = attribute.words().iter().map(|(word, _)| *word).collect();
    match attribute.kind {
        ValueKind::Int { min, max } if min == max => min.to_string(),
        ValueKind::Int { min, max } => format!("{min} to {max}"),
        ValueKind::IntOrKeyword { min, max, .. } => format!("{min} to {max}, {}", words.join(", ")),
        ValueKind::Keyword(_) if attribute.is_switch() => {
            format!("{} (no parentheses)", words.join(", "))
        }
        ValueKind::Keyword(_) => words.join(", "),
        ValueKind::Keywords(_) => format!("list of {}", words.join(", ")),
        ValueKind::Text { max, .. } => format!("text, {max} bytes"),
        ValueKind::Name { max } => format!("name, {max} bytes"),
        ValueKind::Names { max, most, .. } => format!("{most} names, {max} bytes each"),
        ValueKind::Bytes { max } => format!("{max} bytes in hexadecimal"),
        ValueKind::Ints => "numbers".to_owned(),
        ValueKind::Bits(prefix) => format!("names in {prefix}"),
        ValueKind::Date => "date, yyyy-mm-dd".to_owned(),
        ValueKind::Time => "time, hh.mm.ss".to_owned(),
    }
}

fn default(attribute: &Attribute) -> String {
    match attribute.default.value() {
        None => String::new(),
        Some(value) if value.is_blank() => "blank".to_owned(),
        Some(value) => shown(attribute, &value),
    }
}

/// Every numbered message with its explanation and action, as Markdown.
pub fn messages_page() -> String {
    let mut page = String::from(
        "# Messages\n\n\
         Made from the table of messages (`crates/command/src/messages`); do not edit. The last letter is the severity: I \
         information, W warning, E error, S severe. `{0}`, `{1}` and so on stand for what is \
         put in when the message is written.\n",
    );
    for message in messages::all() {
        let messages::Message {
            id,
            text,
            explanation,
            action,
        } = message;
        let _ = write!(
            page,
            "\n## {id}\n\n**{text}**\n\n{explanation}\n\n*What to do:* {action}\n"
        );
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::attributes;

    #[test]
    fn every_attribute_has_a_line() {
        let page = reference_page();
        let rows = page.lines().filter(|line| line.starts_with("| `")).count();
        let all = ObjectKind::ALL.into_iter().chain(ObjectKind::RECORDS);
        let expected: usize = all.map(|kind| attributes(kind).count()).sum();
        assert_eq!(rows, expected);
        for line in page.lines().filter(|line| line.starts_with('|')) {
            assert_eq!(line.matches('|').count(), 8, "{line}");
        }
        for wanted in [
            "| `MAXDEPTH` | 0 to 999999999 | 5000 | DEFINE, ALTER | MQINQ | 15 | Most messages the queue may hold |",
            "| `GET` | ENABLED, DISABLED | ENABLED | DEFINE, ALTER | MQINQ, MQSET | 9 | Whether messages may be got |",
            "| `SHARE` | SHARE, NOSHARE (no parentheses) | NOSHARE |",
            "| `TARGET`, `TARGQ` | name, 48 bytes | blank |",
            "| `KAINT` | 0 to 99999, AUTO | AUTO |",
            "| `CHLTYPE` | SVRCONN | SVRCONN | DEFINE |  |",
            "| `CHLAUTH` | DISABLED, ENABLED | DISABLED | DEFINE, ALTER | MQINQ | 248 | Whether channel authentication records apply |",
            "| `CURDEPTH` | 0 to 999999999 |  | nobody | MQINQ | 3 |",
        ] {
            assert!(page.contains(wanted), "{wanted}");
        }
    }

    /// Both pages are in the repository as the tables have them; the kind that only tests have is left out.
    #[test]
    fn the_pages_are_current() {
        let attributes = reference_page();
        let (before, sample) = attributes.split_once("\n## SAMPLE").expect("the last kind");
        let (_, records) = sample.split_once("\n## ").expect("records");
        let attributes = &format!("{before}\n## {records}");
        for (name, page, made) in [
            (
                "attributes",
                include_str!("../../../docs/attributes.md"),
                attributes,
            ),
            (
                "messages",
                include_str!("../../../docs/messages.md"),
                &messages_page(),
            ),
        ] {
            assert!(
                page == made,
                "docs/{name}.md is not what the table says; write it anew: cargo run -p posthaste-command \
                 --example reference_page -- {name} > docs/{name}.md"
            );
        }
    }

    #[test]
    fn every_message_has_a_section() {
        let page = messages_page();
        assert_eq!(page.matches("\n## AMQ").count(), messages::all().count());
        assert!(page.contains("## AMQ7469W\n\n**Units of work were backed out"));
    }
}
