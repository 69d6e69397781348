//! Objects as rows and as definitions; what is written is read again.

use super::*;
use crate::command::Command;
use crate::script::ScriptReader;
use crate::value::Date;
use crate::{Attrs, by_keyword, parse};
use posthaste_mqi::constants as mq;
use proptest::prelude::*;

#[test]
fn definitions() {
    let mut queue = Object::new(ObjectKind::QLocal, "app.Q");
    queue.attrs.set_int(mq::MQIA_MAX_Q_DEPTH, 10);
    queue.attrs.set_int(mq::MQIA_SHAREABILITY, 0);
    queue.attrs.set_text(mq::MQCA_Q_DESC, "it's (mine)");
    queue.attrs.set_int(mq::MQIA_CURRENT_Q_DEPTH, 7);
    let day = Date::parse("2026-01-01").expect("a day");
    queue.attrs.set(mq::MQCA_CREATION_DATE, day.into());
    let line = "DEFINE QLOCAL('app.Q') DESCR('it''s (mine)') MAXDEPTH(10) NOSHARE";
    assert_eq!(mqsc_of(&queue), line);
    let script = "\
DEFINE QLOCAL('app.Q') +
   DESCR('it''s (mine)') +
   MAXDEPTH(10) +
   NOSHARE +
   REPLACE
";
    assert_eq!(script_of(&queue, DefineForm::Changed), script);

    let channel = Object::new(ObjectKind::SvrConn, "C");
    assert_eq!(mqsc_of(&channel), "DEFINE CHANNEL('C') CHLTYPE(SVRCONN)");
    let mut qmgr = Object::new(ObjectKind::Qmgr, "QM1");
    assert_eq!(mqsc_of(&qmgr), "ALTER QMGR");
    qmgr.attrs.set_int(mq::MQIA_MSG_MARK_BROWSE_INTERVAL, -1);
    assert_eq!(
        script_of(&qmgr, DefineForm::Changed),
        "ALTER QMGR +\n   MARKINT(NOLIMIT)\n"
    );
    let all = script_of(&qmgr, DefineForm::All);
    for absent in ["ACTCHL", "KEYRPWD", "INITKEY"] {
        assert!(!all.contains(absent), "{all}");
    }
    assert!(all.contains("CERTVPOL(ANY)"), "{all}");
    let all = script_of(&Object::new(ObjectKind::Listener, "L"), DefineForm::All);
    assert!(
        all.contains("PORT(1414)") && all.contains("DESCR(' ')"),
        "{all}"
    );
    assert!(!all.contains("ALTDATE"), "{all}");
}

#[test]
fn rows_show_what_was_asked_for() {
    let mut queue = Object::new(ObjectKind::QLocal, "Q");
    queue.attrs.set_int(mq::MQIA_SHAREABILITY, 0);
    let cells = |show: &[&str], all| {
        let show: Vec<String> = show.iter().map(|word| word.to_string()).collect();
        let row = row_of(&queue, &show, all);
        let cells = row
            .cells()
            .iter()
            .map(|cell| format!("{}={}", cell.keyword(), cell.shown()));
        cells.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(cells(&[], false), "QUEUE=Q TYPE=QLOCAL");
    assert_eq!(
        cells(&["SHARE", "MONQ", "CURDEPTH", "DESCR", "RNAME"], false),
        "QUEUE=Q TYPE=QLOCAL CURDEPTH=0 DESCR=  MONQ=QMGR NOSHARE="
    );
    let all = cells(&[], true);
    let count = attributes(ObjectKind::QLocal).count();
    assert_eq!(all.matches('=').count(), count);
    let channel = row_of(&Object::new(ObjectKind::SvrConn, "C"), &[], false);
    assert_eq!(channel.shown("CHANNEL").as_deref(), Some("C"));
    assert_eq!(channel.shown("CHLTYPE").as_deref(), Some("SVRCONN"));
    let qmgr = row_of(
        &Object::new(ObjectKind::Qmgr, "QM"),
        &["SYNCPT".to_owned()],
        false,
    );
    let cells = qmgr
        .cells()
        .iter()
        .map(|cell| (cell.keyword(), cell.shown()));
    let expected = [("QMNAME", "QM"), ("SYNCPT", "")].map(|(k, v)| (k.to_owned(), v.to_owned()));
    assert!(cells.eq(expected));
}

#[test]
fn generic_names_show_the_name_only() {
    for (name, show, all, expected) in [
        ("Q1", &[][..], false, true),
        ("Q*", &[][..], false, false),
        ("Q*", &[][..], true, true),
        ("Q1", &["DESCR".to_owned()][..], false, false),
        ("", &[][..], false, true),
    ] {
        assert_eq!(shows_all(name, show, all), expected, "{name}");
    }
}

#[test]
fn values_as_shown() {
    let value = |kind, keyword: &str, value| {
        shown(by_keyword(kind, keyword).expect("in the table"), &value)
    };
    use ObjectKind::{QLocal, SvrConn};
    assert_eq!(value(QLocal, "GET", Value::Int(1)), "DISABLED");
    assert_eq!(value(QLocal, "GET", Value::Int(77)), "77", "not hidden");
    assert_eq!(value(QLocal, "DESCR", Value::Text("a\nb ".into())), "a.b");
    assert_eq!(value(QLocal, "DESCR", Value::Text(String::new())), " ");
    assert_eq!(value(SvrConn, "KAINT", Value::Int(-1)), "AUTO");
    assert_eq!(value(SvrConn, "KAINT", Value::Int(5)), "5");
    let list = Value::Ints(vec![2, 0, 77]);
    assert_eq!(value(SvrConn, "COMPMSG", list), "ZLIBFAST,NONE,77");
    let day = Date::parse("2026-01-31").expect("a day");
    assert_eq!(value(QLocal, "ALTDATE", day.into()), "2026-01-31");
    assert_eq!(value(QLocal, "ALTDATE", Value::Blank), " ");
    assert_eq!(value(QLocal, "DESCR", Value::Bytes(vec![0, 254])), "00FE");
}

/// A value that the attribute accepts.
fn any_value(attribute: &'static Attribute) -> BoxedStrategy<Value> {
    let words = attribute.words();
    match attribute.kind {
        ValueKind::Int { min, max } => (min..=max).prop_map(Value::Int).boxed(),
        ValueKind::IntOrKeyword { min, max, .. } => {
            let word = prop::sample::select(words).prop_map(|(_, code)| Value::from(code));
            prop_oneof![word, (min..=max).prop_map(Value::Int)].boxed()
        }
        ValueKind::Keyword(_) => prop::sample::select(words)
            .prop_map(|(_, code)| Value::from(code))
            .boxed(),
        ValueKind::Keywords(_) => prop::sample::subsequence(words, 1..=words.len())
            .prop_shuffle()
            .prop_map(|some| Value::Ints(some.iter().map(|(_, code)| i64::from(*code)).collect()))
            .boxed(),
        ValueKind::Names { max, most, .. } => {
            let name = matching(format!("[A-Za-z0-9./_%]{{1,{max}}}"));
            let names = prop::collection::vec(name, 0..most.min(5));
            names.prop_map(Value::Texts).boxed()
        }
        ValueKind::Bytes { max } => prop::collection::vec(any::<u8>(), 0..=max)
            .prop_map(Value::Bytes)
            .boxed(),
        ValueKind::Ints | ValueKind::Bits(_) | ValueKind::Date | ValueKind::Time => {
            panic!("{} is set by nobody", attribute.keyword)
        }
        ValueKind::Name { max } => matching(format!("[A-Za-z0-9./_%]{{0,{max}}}"))
            .prop_map(Value::Text)
            .boxed(),
        ValueKind::Text { max, .. } => r"[ -~é'(),;+*\-]{0,32}"
            .prop_map(move |text| {
                let mut text = text.trim_end().to_owned();
                while text.len() > max {
                    text.pop();
                }
                Value::Text(text.trim_end().to_owned())
            })
            .boxed(),
    }
}

/// Text that matches a pattern.
fn matching(pattern: String) -> impl Strategy<Value = String> {
    proptest::string::string_regex(&pattern).expect("a pattern")
}

fn any_object() -> impl Strategy<Value = Object> {
    prop::sample::select(&ObjectKind::ALL[..]).prop_flat_map(|kind| {
        let name = matching(format!("[A-Za-z0-9./_%]{{1,{}}}", kind.name_length()));
        let settable: Vec<&'static Attribute> = attributes(kind)
            .filter(|attribute| attribute.set != Set::ReadOnly && attribute.saved)
            .collect();
        let values: Vec<_> = settable
            .iter()
            .map(|attribute| prop::option::weighted(0.3, any_value(attribute)))
            .collect();
        (name, values).prop_map(move |(name, values)| {
            let mut object = Object::new(kind, name);
            for (attribute, value) in settable.iter().zip(values) {
                if let Some(value) = value {
                    object.attrs.set(attribute.selector, value);
                }
            }
            object
        })
    })
}

/// The object that a command defines, over the defaults.
fn defined(command: Command, qmgr: &str) -> Object {
    let (kind, name, attrs) = match command {
        Command::Define {
            kind, name, attrs, ..
        } => (kind, name, attrs),
        Command::Alter { kind, attrs, .. } => (kind, qmgr.to_owned(), attrs),
        other => panic!("{other:?}"),
    };
    let mut all = Attrs::defaults(kind);
    all.merge(&attrs);
    Object {
        kind,
        name,
        attrs: all,
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(object in any_object()) {
        let line = mqsc_of(&object);
        let command = parse(&line).map_err(|error| TestCaseError::fail(format!("{line}\n{error}")))?;
        let command = command.expect("a command");
        prop_assert_eq!(&defined(command, &object.name), &object, "{}", line);
    }

    #[test]
    fn scripts_are_read_again(object in any_object(), all in any::<bool>()) {
        let form = if all { DefineForm::All } else { DefineForm::Changed };
        let script = script_of(&object, form);
        let commands = ScriptReader::read(&script);
        prop_assert_eq!(commands.len(), 1, "{}", script);
        let command = parse(&commands[0].1)
            .map_err(|error| TestCaseError::fail(format!("{script}\n{error}")))?
            .expect("a command");
        prop_assert_eq!(&defined(command, &object.name), &object, "{}", script);
    }
}
