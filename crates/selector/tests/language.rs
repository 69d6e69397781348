//! The language, row by row. Each table names where its rules stand: a section of the JMS specification (Jakarta
//! Messaging has the same), or a page of the MQ manual.

use std::borrow::Cow;

use posthaste_selector::{
    DEEPEST, Descriptor, Fault, LONGEST, Name, Provider, Selector, Source, Value,
};

/// The message of all rows.
struct Message;

impl Source for Message {
    fn value(&self, name: &Name) -> Value<'_> {
        let Name::Property { folder, path } = name else {
            return match name {
                Name::Jms(name) if name.text() == "JMSPriority" => Value::Exact(7),
                Name::Jms(name) if name.text() == "JMSDeliveryMode" => {
                    Value::Called("PERSISTENT", 2)
                }
                Name::Jms(name) if name.text() == "JMSXUserID" => Value::Text("root".into()),
                Name::Descriptor(field) if field.text() == "MsgId" => {
                    Value::Bytes(Cow::Borrowed(&[0x0a, 0xfc, 0x23]))
                }
                _ => Value::Null,
            };
        };
        match (&**folder, &**path) {
            ("usr", "color") => Value::Text("blue".into()),
            ("usr", "quoted") => Value::Text("it's".into()),
            ("usr", "percent") => Value::Text("100%".into()),
            ("usr", "_under") => Value::Text("_x".into()),
            ("usr", "empty") => Value::Text("".into()),
            ("usr", "n") => Value::Exact(5),
            ("usr", "big") => Value::Exact(i64::MAX),
            ("usr", "half") => Value::Approximate(2.5),
            ("usr", "nan") => Value::Approximate(f64::NAN),
            ("usr", "mode") => Value::Text("PERSISTENT".into()),
            ("usr", "digits") => Value::Text("5".into()),
            ("usr", "yes") => Value::Boolean(true),
            ("usr", "no") => Value::Boolean(false),
            ("usr", "bytes") => Value::Bytes(Cow::Borrowed(&[1, 2])),
            ("usr", "$dollar") | ("wmq", "a.b") | ("mq_usr", "x") => Value::Exact(1),
            ("usr", "größe") => Value::Exact(3),
            _ => Value::Null,
        }
    }
}

#[track_caller]
fn all(rows: &[(&str, bool)]) {
    for (text, expected) in rows {
        let selector = Selector::new(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(selector.matches(&Message), *expected, "{text}");
    }
}

#[track_caller]
fn refused(rows: &[(&str, Fault)]) {
    for (text, fault) in rows {
        let refused = Selector::new(text).map_err(|error| error.fault);
        assert_eq!(refused.map(drop), Err(*fault), "{text}");
    }
}

/// "3.8.1.1 Message selector syntax": JMSDeliveryMode has the values 'PERSISTENT' and 'NON_PERSISTENT'. IBM's JMS library compares
/// it with numbers too.
#[test]
fn a_delivery_mode_is_a_text_and_a_number() {
    all(&[
        ("JMSDeliveryMode = 'PERSISTENT'", true),
        ("'NON_PERSISTENT' = JMSDeliveryMode", false),
        ("JMSDeliveryMode <> 'PERSISTENT'", false),
        ("JMSDeliveryMode <> 'other'", true),
        ("JMSDeliveryMode IN ('PERSISTENT', 'x')", true),
        ("JMSDeliveryMode NOT IN ('PERSISTENT', 'x')", false),
        ("JMSDeliveryMode NOT IN ('NON_PERSISTENT')", true),
        ("JMSDeliveryMode LIKE 'PER%'", true),
        ("JMSDeliveryMode LIKE 'NON%'", false),
        ("JMSDeliveryMode NOT LIKE 'NON%'", true),
        ("JMSDeliveryMode = mode", true),
        ("mode <> JMSDeliveryMode", false),
        ("JMSDeliveryMode = color", false),
        ("JMSDeliveryMode = 2", true),
        ("JMSDeliveryMode = 1", false),
        ("JMSDeliveryMode = 2.0 AND JMSDeliveryMode > 1", true),
        ("JMSDeliveryMode BETWEEN 2 AND 3", true),
        ("-JMSDeliveryMode + 4 = JMSDeliveryMode * 1", true),
        ("JMSDeliveryMode = JMSDeliveryMode", true),
        ("JMSDeliveryMode = n", false),
        ("JMSDeliveryMode IS NULL", false),
        ("JMSDeliveryMode = TRUE OR JMSDeliveryMode", false),
    ]);
}

/// JMS, "Message selector syntax", "Literals"; MQ, "Message selector syntax".
#[test]
fn literals() {
    all(&[
        ("color = 'blue'", true),
        ("color = 'Blue'", false),
        ("quoted = 'it''s'", true),
        ("empty = ''", true),
        ("n = 5", true),
        ("n = +5", true),
        ("n = 5L", true),
        ("n = 5l", true),
        ("n = 0x5", true),
        ("n = 0X05L", true),
        ("n = 05", true),
        ("n + 3 = 010", true),
        ("n = 5.", true),
        ("n = .5e1", true),
        ("n = 50E-1", true),
        ("n = 5D", true),
        ("n = 5.0f", true),
        ("n = 5e0", true),
        ("-n = -5", true),
        ("n = - -5", true),
        ("big = 9223372036854775807", true),
        ("-big - 1 = -9223372036854775808", true),
        ("yes = TRUE", true),
        ("yes = true", true),
        ("no = FALSE", true),
        ("Root.MQMD.MsgId = \"0x0AFC23\"", true),
        ("Root.MQMD.MsgId = \"0X0afc23\"", true),
        ("Root.MQMD.MsgId = \"0x0AFC2300\"", false),
        ("Root.MQMD.MsgId = \"0x000AFC23\"", false),
        ("Root.MQMD.MsgId = \"0x23FC0A\"", false),
        ("Root.MQMD.MsgId <> \"0x23FC0A\"", true),
    ]);
    refused(&[
        ("color = 'blue", Fault::OpenString),
        ("color = \"blue\"", Fault::Bytes),
        ("bytes = \"0xAFC23\"", Fault::Bytes),
        ("bytes = \"0x\"", Fault::Bytes),
        ("bytes = \"0xZZ\"", Fault::Bytes),
        ("bytes = \"0x12", Fault::Bytes),
        ("n = 09", Fault::Number),
        ("n = 0x", Fault::Number),
        ("n = 5x", Fault::Number),
        ("n = 5.5L", Fault::Number),
        ("n = 5e", Fault::Number),
        ("n = 1e999", Fault::Number),
        ("n = 9223372036854775808", Fault::Number),
        ("n = -9223372036854775809", Fault::Number),
        ("n = 99999999999999999999", Fault::Number),
        ("n = #", Fault::Character),
        ("n != 5", Fault::Character),
    ]);
}

/// JMS, "Message selector syntax", "Identifiers"; MQ, "Property names", "Property name restrictions".
#[test]
fn identifiers() {
    all(&[
        ("Color IS NULL", true),
        ("$dollar = 1", true),
        ("_under = '_x'", true),
        ("größe = 3", true),
        ("usr.color = 'blue'", true),
        ("wmq.a.b = 1", true),
        ("mq_usr.x = 1", true),
        ("JMSPriority > 6", true),
        ("JMSType IS NULL", true),
        ("Root.MQMD.Format IS NULL", true),
        ("a.b IS NULL", true),
        ("mqx.y IS NULL", true),
        // As IBM's library takes them where it selects itself: no message has them.
        ("JMSNone = 1", false),
        ("JMSNone IS NULL AND JMS_none IS NULL AND JMS IS NULL", true),
        ("JMSXState = 0", false),
        (
            "JMSXRcvTimestamp IS NULL AND JMSXProducerTXID IS NULL",
            true,
        ),
    ]);
    refused(&[
        ("a..b = 1", Fault::Name),
        ("a. = 1", Fault::Name),
        ("a.1 = 1", Fault::Name),
        ("JMS.x = 1", Fault::Name),
        ("JMS_IBM_Format.x IS NULL", Fault::Name),
        ("usr.JMS_IBM_Format IS NULL", Fault::Name),
        ("usr.JMSType = 'x'", Fault::Name),
        ("usr.not = 1", Fault::Name),
        ("Root.MQMD.StrucId = 'MD'", Fault::Name),
        ("Root.MQMD.format = 'MQSTR'", Fault::Name),
        ("Root.XMLNS.a = 1", Fault::Name),
        ("Body.a = 1", Fault::Name),
        ("mqx.y.z = 1", Fault::Name),
        ("MQX.y.z = 1", Fault::Name),
        ("𝒳 = 1", Fault::Name),
        ("NULL = 1", Fault::Unexpected),
        ("between = 1", Fault::Unexpected),
        ("n = Escape", Fault::Unexpected),
    ]);
}

/// MQ, "Mapping JMS provider-specific fields", "JMS message object properties".
#[test]
fn properties_of_the_provider() {
    let named = |text: &str| Name::new(text).unwrap_or_else(|| panic!("{text}"));
    for field in Descriptor::ALL {
        let name = named(&format!("JMS_IBM_MQMD_{}", field.text()));
        assert_eq!(name, Name::Descriptor(*field));
    }
    for (text, field) in [
        ("JMS_IBM_MsgType", Descriptor::MsgType),
        ("JMS_IBM_Feedback", Descriptor::Feedback),
        ("JMS_IBM_PutApplType", Descriptor::PutApplType),
        ("JMS_IBM_PutDate", Descriptor::PutDate),
        ("JMS_IBM_PutTime", Descriptor::PutTime),
    ] {
        assert_eq!(named(text), Name::Descriptor(field));
    }
    for name in Provider::ALL {
        assert_eq!(named(name.text()), Name::Provider(*name));
    }
    for text in [
        "JMS_IBM_Character_Set",
        "JMS_IBM_MQMD_StrucId",
        "JMS_IBM_format",
        "JMSXState",
    ] {
        assert_eq!(named(text), Name::Unset(text.into()));
    }
    all(&[
        ("JMS_IBM_MQMD_MsgId = \"0x0AFC23\"", true),
        ("JMS_IBM_MsgType IS NULL", true),
    ]);
}

/// Fields of characters are filled up with blanks, and say no more for it.
#[test]
fn blanks_at_the_end_of_a_field_do_not_count() {
    all(&[
        ("JMSXUserID = 'root'", true),
        ("JMSXUserID = 'root        '", true),
        ("'root  ' = JMSXUserID", true),
        ("JMSXUserID <> 'root '", false),
        ("JMSXUserID IN ('x', 'root ')", true),
        ("JMSXUserID = ' root'", false),
        ("color = 'blue '", false),
        ("color IN ('blue ')", false),
    ]);
}

/// JMS, "Message selector syntax", "White space", "Expressions", "Standard bracketing"; MQ, "Message selector syntax".
#[test]
fn conditions_and_their_order() {
    all(&[
        ("yes", true),
        ("no", false),
        ("color", false),
        ("NOT no", true),
        ("NOT NOT yes", true),
        ("NOT color", true),
        ("TRUE", true),
        ("FALSE", false),
        ("\t\n\r yes \u{c}", true),
        ("(((yes)))", true),
        ("no OR yes AND no", false),
        ("yes OR yes AND no", true),
        ("(yes OR yes) AND no", false),
        ("NOT no AND no", false),
        ("NOT (no AND no)", true),
        ("yes and Not no oR no", true),
        ("(n) = (5)", true),
        ("(n+1)*2=12", true),
        ("n + 1 * 2 = 7", true),
        ("10 - 3 - 2 = n", true),
        ("100 / 10 / 2 = n", true),
        ("n=5 AND(color='blue')", true),
    ]);
    refused(&[
        ("", Fault::Unexpected),
        ("   ", Fault::Unexpected),
        ("5", Fault::Unexpected),
        ("'text'", Fault::Unexpected),
        ("n + 1", Fault::Unexpected),
        ("n = 5 AND", Fault::Unexpected),
        ("n = 5 n = 5", Fault::Unexpected),
        ("n = = 5", Fault::Unexpected),
        ("n = 5 = 5", Fault::Unexpected),
        ("(n = 5", Fault::Unexpected),
        ("n = 5)", Fault::Unexpected),
        ("()", Fault::Unexpected),
        ("NOT", Fault::Unexpected),
        ("5 AND yes", Fault::Unexpected),
        ("(n = 5) = TRUE", Fault::Type),
        ("(n = 5) + 1 = 6", Fault::Type),
    ]);
}

/// JMS, "Message selector syntax", "Comparison operators" and "Null values".
#[test]
fn comparisons() {
    all(&[
        ("n > 4", true),
        ("n >= 5", true),
        ("n < 5", false),
        ("n <= 5", true),
        ("n <> 4", true),
        ("n <> 5", false),
        ("half > 2", true),
        ("half = 2.5", true),
        ("n > half", true),
        ("4 < n", true),
        ("color <> 'red'", true),
        ("yes <> no", true),
        // What is of unlike types is neither equal nor unequal.
        ("digits = 5", false),
        ("digits <> 5", false),
        ("digits > 1", false),
        ("NOT digits > 1", true),
        ("color = TRUE", false),
        ("color <> TRUE", false),
        ("yes = 'true'", false),
        ("bytes = 'x'", false),
        ("'a' = 1", false),
        // Texts and truth values have no order.
        ("color > digits", false),
        ("yes >= no", false),
        // Unknown, whichever way.
        ("none = 1", false),
        ("none <> 1", false),
        ("NOT none = 1", false),
        ("none = none", false),
        // Not a number.
        ("nan = nan", false),
        ("nan <> nan", true),
        ("nan > 1", false),
        ("nan <= 1", false),
    ]);
    refused(&[
        ("color > 'a'", Fault::Type),
        ("yes < TRUE", Fault::Type),
        ("'a' <= color", Fault::Type),
        ("bytes > \"0x01\"", Fault::Type),
    ]);
}

/// JMS, "Message selector syntax", "Null values": the tables of AND, OR and NOT.
#[test]
fn logic_of_three_values() {
    let values = [("yes", Some(true)), ("no", Some(false)), ("none", None)];
    let is = |text: String, expected: Option<bool>| {
        // True of the condition, or of its negation, or unknown: of neither.
        all(&[
            (&text, expected == Some(true)),
            (&format!("NOT ({text})"), expected == Some(false)),
        ]);
    };
    for (left, l) in values {
        for (right, r) in values {
            let and = match (l, r) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            };
            let or = match (l, r) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            };
            is(format!("{left} AND {right}"), and);
            is(format!("{left} OR {right}"), or);
            is(format!("{left} AND {right} AND {left}"), and);
            is(format!("{right} OR {left} OR {right}"), or);
        }
        is(format!("NOT {left}"), l.map(|value| !value));
    }
}

/// JMS, "Message selector syntax", "Arithmetic operators", "Null values"; numeric promotion as in Java.
#[test]
fn arithmetic() {
    all(&[
        ("n * 2 - 1 = 9", true),
        ("7 / 2 = 3", true),
        ("7 / 2. = 3.5", true),
        ("-7 / 2 = -3", true),
        ("half * 2 = n", true),
        ("-half = -2.5", true),
        ("+n = 5", true),
        ("big + 1 > big", false),
        ("big + 1 = 9223372036854775808.0", true),
        ("big * 2 > 18446744073709000000.0", true),
        ("-(-big - 1) = 9223372036854775808.0", true),
        ("n / 0 = 1", false),
        ("NOT n / 0 = 1", false),
        ("n / 0. > big", true),
        ("none + 1 = 1", false),
        ("NOT none + 1 = 1", false),
    ]);
    all(&[
        // A text is no number, whatever is in it.
        ("digits + 1 = 6", false),
        ("NOT digits + 1 = 6", true),
        ("digits * 1 <> 6", false),
        ("-digits = -5", false),
        ("+digits = '5'", false),
        ("yes + 1 = 2", false),
        ("digits + none = 1", false),
        ("NOT digits + none = 1", false),
    ]);
    refused(&[
        ("n + 'a' = 1", Fault::Type),
        ("TRUE * 2 = 2", Fault::Type),
        ("-'a' = 1", Fault::Type),
        ("none * 0 IS NULL", Fault::Type),
        ("n * = 5", Fault::Unexpected),
    ]);
}

/// JMS, "Message selector syntax", "Comparison operators": BETWEEN.
#[test]
fn between() {
    all(&[
        ("n BETWEEN 5 AND 5", true),
        ("n BETWEEN 6 AND 9", false),
        ("n NOT BETWEEN 6 AND 9", true),
        ("n NOT BETWEEN 1 AND 9", false),
        ("n BETWEEN 9 AND 1", false),
        ("n BETWEEN half AND half * 2", true),
        ("n BETWEEN 1 AND 9 AND yes", true),
        ("n + 1 BETWEEN 6 AND 6", true),
        ("none BETWEEN 1 AND 9", false),
        ("none NOT BETWEEN 1 AND 9", false),
        ("n BETWEEN none AND 4", false),
        ("NOT (n BETWEEN none AND 4)", true),
        ("n BETWEEN none AND 9", false),
        ("NOT (n BETWEEN none AND 9)", false),
        // As two comparisons would say.
        ("digits BETWEEN 1 AND 9", false),
        ("digits NOT BETWEEN 1 AND 9", false),
    ]);
    refused(&[
        ("n BETWEEN 1", Fault::Unexpected),
        ("n BETWEEN 1 OR 9", Fault::Unexpected),
        ("n BETWEEN 'a' AND 'b'", Fault::Type),
        ("n NOT 5", Fault::Unexpected),
    ]);
}

/// JMS, "Message selector syntax", "Comparison operators": IN.
#[test]
fn within() {
    all(&[
        ("color IN ('red', 'blue')", true),
        ("color IN ('red')", false),
        ("color NOT IN ('red')", true),
        ("color NOT IN ('blue','red')", false),
        ("none IN ('red')", false),
        ("none NOT IN ('red')", false),
        ("n IN ('5')", false),
    ]);
    refused(&[
        ("color IN ()", Fault::Unexpected),
        ("color IN ('a',)", Fault::Unexpected),
        ("color IN 'a'", Fault::Unexpected),
        ("n IN (5)", Fault::Unexpected),
        ("'a' IN ('a')", Fault::Type),
    ]);
}

/// JMS, "Message selector syntax", "Comparison operators": LIKE.
#[test]
fn like() {
    all(&[
        ("color LIKE 'b%'", true),
        ("color LIKE '%e'", true),
        ("color LIKE '%l%'", true),
        ("color LIKE '%%'", true),
        ("color LIKE 'b__e'", true),
        ("color LIKE 'b_e'", false),
        ("color LIKE 'blue'", true),
        ("color LIKE 'blu'", false),
        ("color LIKE 'blue_'", false),
        ("color LIKE 'blue%'", true),
        ("color LIKE '%b%l%u%e%'", true),
        ("color LIKE '%u%l%'", false),
        ("color LIKE ''", false),
        ("empty LIKE ''", true),
        ("empty LIKE '%'", true),
        ("empty LIKE '_'", false),
        ("color NOT LIKE 'r%'", true),
        ("_under LIKE '\\_%' ESCAPE '\\'", true),
        ("color LIKE '\\_%' ESCAPE '\\'", false),
        ("percent LIKE '%!%' ESCAPE '!'", true),
        ("percent LIKE '100!%' ESCAPE '!'", true),
        ("color LIKE '%!%' ESCAPE '!'", false),
        ("percent LIKE '1__%%' ESCAPE '%'", true),
        ("none LIKE '%'", false),
        ("none NOT LIKE '%'", false),
        ("n LIKE '%'", false),
    ]);
    refused(&[
        ("color LIKE 5", Fault::Unexpected),
        ("color LIKE digits", Fault::Unexpected),
        ("'blue' LIKE 'b%'", Fault::Type),
        ("color LIKE 'b' ESCAPE", Fault::Unexpected),
        ("color LIKE 'b' ESCAPE ''", Fault::Escape),
        ("color LIKE 'b' ESCAPE '!!'", Fault::Escape),
        ("color LIKE 'b!' ESCAPE '!'", Fault::Escape),
    ]);
}

/// JMS, "Message selector syntax", "Comparison operators": IS NULL; MQ, "Selection behavior".
#[test]
fn null() {
    all(&[
        ("none IS NULL", true),
        ("none IS NOT NULL", false),
        ("color IS NULL", false),
        ("color IS NOT NULL", true),
        ("empty IS NULL", false),
        ("NOT none IS NULL", false),
    ]);
    refused(&[
        ("none IS", Fault::Unexpected),
        ("none IS 5", Fault::Unexpected),
        ("none = NULL", Fault::Unexpected),
        ("5 IS NULL", Fault::Type),
    ]);
}

/// MQ, "Selection behavior": what is settled before any message is looked at.
#[test]
fn what_names_nothing_is_constant() {
    for (text, constant) in [
        ("TRUE <> FALSE", Some(true)),
        ("TRUE = FALSE", Some(false)),
        ("1 + 1 = 2", Some(true)),
        ("1 / 0 = 1", Some(false)),
        ("FALSE AND color = 'blue'", None),
    ] {
        let selector = Selector::new(text).unwrap();
        assert_eq!(selector.constant(), constant, "{text}");
    }
}

#[test]
fn limits() {
    let nested = |levels: usize| format!("{}n = 5{}", "(".repeat(levels), ")".repeat(levels));
    all(&[(&nested(DEEPEST), true)]);
    refused(&[(&nested(DEEPEST + 1), Fault::TooDeep)]);
    // Whatever else is repeated is repeated without end.
    let long = |part: &str, end: &str| {
        let times = (LONGEST - end.len()) / part.len();
        format!("{}{end}", part.repeat(times))
    };
    all(&[
        (&long("NOT NOT ", "yes"), true),
        (&long("no OR ", "yes"), true),
        (&long("yes AND ", "no"), false),
        (&long("- + -", " n = 5"), true),
        (&long("0+", "n = 5"), true),
        (&long("1*", "n = 5"), true),
    ]);
    let exact = format!("color='{}'", "x".repeat(LONGEST - 8));
    assert_eq!(exact.len(), LONGEST);
    all(&[(&exact, false)]);
    refused(&[
        (&format!("{exact} "), Fault::TooLong),
        (&long("(", ""), Fault::TooDeep),
        (&long("NOT ", ""), Fault::Unexpected),
    ]);
}

/// A pattern with many `%` must not take time without end.
#[test]
fn patterns_are_matched_in_bounded_time() {
    struct Long(String);
    impl Source for Long {
        fn value(&self, _: &Name) -> Value<'_> {
            Value::Text(Cow::Borrowed(&self.0))
        }
    }
    let selector = Selector::new(&format!("x LIKE '{}b'", "%a".repeat(1000))).unwrap();
    assert!(!selector.matches(&Long("a".repeat(4000))));
    assert!(selector.matches(&Long(format!("{}b", "a".repeat(4000)))));
}

#[test]
fn faults_are_told_with_their_place() {
    let error = Selector::new("n = 5 AND color > 'a'").unwrap_err();
    assert_eq!(
        (error.at, error.to_string().as_str()),
        (21, "this type has no such operator at byte 21")
    );
    let error = Selector::new("n = 5 AND #").unwrap_err();
    assert_eq!((error.fault, error.at), (Fault::Character, 10));
}

#[test]
fn texts_that_are_required_are_known() {
    let required = |text: &str| {
        let selector = Selector::new(text).unwrap();
        let all: Vec<(Name, String)> = selector
            .required()
            .map(|r| (r.name.clone(), r.text.to_owned()))
            .collect();
        (all, selector.only_required().is_some())
    };
    let color = (Name::new("color").unwrap(), "blue".to_owned());
    assert_eq!(required("color = 'blue'"), (vec![color.clone()], true));
    assert_eq!(required("('blue' = color)"), (vec![color.clone()], true));
    assert_eq!(
        required("n = 5 AND color = 'blue'"),
        (vec![color.clone()], false)
    );
    for text in [
        "color = 'blue' OR yes",
        "color <> 'blue'",
        "NOT color = 'blue'",
        "n = 5",
    ] {
        assert_eq!(required(text), (vec![], false), "{text}");
    }
}

/// By what a message can be looked up.
#[test]
fn what_a_message_must_have_is_known() {
    use posthaste_selector::{Key, Need, Selector, Value};
    let shown = |need: Need| match need {
        Need::Value(Key::Text(text)) => format!("'{text}'"),
        Need::Value(Key::Number(number)) => number.to_string(),
        Need::Number(range) => format!("{}..{}", range.low(), range.high()),
        Need::Beginning(text) => format!("{text}%"),
    };
    let ways = |text: &str| {
        let selector = Selector::new(text).unwrap();
        assert_eq!(selector.text(), text);
        let ways = selector.ways().map(|way| {
            let needs = way.into_iter().map(|(name, need)| match name {
                Name::Property { path, .. } => format!("{path} {}", shown(need)),
                other => panic!("{other:?}"),
            });
            needs.collect::<Vec<_>>().join(" or ")
        });
        ways.collect::<Vec<_>>()
    };
    let many = |count: usize| {
        let each: Vec<_> = (0..count).map(|n| format!("'{n}'")).collect();
        format!("a IN ({})", each.join(", "))
    };
    let rows: &[(&str, &[&str])] = &[
        (
            "a = 'x' AND 5 = b AND c > 3",
            &["b 5..5", "c 3..inf", "a 'x'", "b 5"],
        ),
        ("a IN ('x', 'y')", &["a 'x' or a 'y'"]),
        ("a IN ('x', 'y') AND b", &["a 'x' or a 'y'"]),
        ("a LIKE 'x%y'", &["a x%"]),
        ("a LIKE 'x!_y_z' ESCAPE '!'", &["a x_y%"]),
        ("a LIKE 'x'", &["a x%"]),
        ("a = 'x' OR b = 5", &["a 'x' or b 5"]),
        ("a < 3 OR b BETWEEN 1 AND 2", &["a -inf..3 or b 1..2"]),
        // Of what is joined by AND the narrowest counts.
        (
            "(a > 3 AND b = 'x') OR (c LIKE 'y%' AND a > 1 AND a < 2)",
            &["b 'x' or a 1..2"],
        ),
        (
            "(a = 'x' OR (b = 'y' OR c = 'z')) AND d LIKE 'u%'",
            &["a 'x' or b 'y' or c 'z'", "d u%"],
        ),
        // One that says nothing may be why a message is matched.
        ("a = 'x' OR b <> 5", &[]),
        ("a = 'x' OR a LIKE '%y'", &[]),
        ("a = 'x' OR a IS NULL", &[]),
        ("a NOT IN ('x')", &[]),
        ("a NOT LIKE 'x%'", &[]),
        ("a LIKE '_x'", &[]),
        ("NOT a = 'x'", &[]),
        ("NOT (a = 'x' OR b = 5)", &[]),
        ("a <> 'x'", &[]),
        ("a = b", &[]),
        ("a = 1.5", &["a 1.5..1.5"]),
        (
            "a = 9007199254740993",
            &["a 9007199254740992..9007199254740992"],
        ),
    ];
    for (text, expected) in rows {
        assert_eq!(ways(text), *expected, "{text}");
    }
    assert_eq!(ways(&many(16)).len(), 1);
    assert_eq!(ways(&many(17)), [""; 0]);
    let half = many(9);
    assert_eq!(ways(&format!("{half} OR {half}")), [""; 0]);
    let keys = |value: &Value<'_>| Key::of(value).collect::<Vec<_>>();
    assert_eq!(keys(&Value::Approximate(5.0)), [Key::Number(5)]);
    assert_eq!(
        keys(&Value::Called("PERSISTENT", 2)),
        [Key::Text("PERSISTENT".into()), Key::Number(2)]
    );
    for none in [
        Value::Approximate(5.5),
        Value::Approximate(f64::NAN),
        Value::Approximate(9_007_199_254_740_992.0),
        Value::Exact(i64::MIN),
        Value::Null,
        Value::Boolean(true),
    ] {
        assert_eq!(keys(&none), [], "{none:?}");
    }
    let begins = Need::Beginning("é".into());
    for (value, is_met) in [
        (Value::Text("éa".into()), true),
        (Value::Text("e".into()), false),
        (Value::Null, false),
        (Value::Exact(1), false),
    ] {
        assert_eq!(begins.is_met(&value), is_met, "{value:?}");
    }
}

/// Between which numbers a value must lie.
#[test]
fn what_is_compared_has_ranges() {
    use posthaste_selector::{Need, Selector, Value};
    let found = |text: &str| {
        let selector = Selector::new(text).unwrap();
        let ways = selector.ways().filter(|way| way.len() == 1);
        let needs = ways.flatten().map(|(_, need)| need);
        let ranges = needs.filter_map(|need| match need {
            Need::Number(range) => Some(range),
            _ => None,
        });
        ranges.collect::<Vec<_>>()
    };
    let ranges = |text: &str| {
        let all = found(text).into_iter();
        all.map(|range| (range.low(), range.high()))
            .collect::<Vec<_>>()
    };
    let (most, least) = (f64::INFINITY, f64::NEG_INFINITY);
    let rows: &[(&str, &[(f64, f64)])] = &[
        ("a >= 5 AND a < 6", &[(5.0, 6.0)]),
        ("6.5 > a AND -5 < a", &[(-5.0, 6.5)]),
        ("a > -1.5", &[(-1.5, most)]),
        ("7 >= a", &[(least, 7.0)]),
        ("a BETWEEN 1 AND 2.5", &[(1.0, 2.5)]),
        (
            "a BETWEEN 1 AND 9 AND b < 3 AND a <= 4",
            &[(1.0, 4.0), (least, 3.0)],
        ),
        ("a BETWEEN b AND 9", &[(least, 9.0)]),
        ("a = 1.5", &[(1.5, 1.5)]),
        ("a > 5 AND a < 3", &[]),
        ("a > 5 AND a < 3 AND a > 1", &[]),
        ("a BETWEEN 3 AND 1", &[]),
        ("a > 5 OR a < 3", &[]),
        ("NOT a > 5", &[]),
        ("a NOT BETWEEN 1 AND 2", &[]),
        ("a <> 5", &[]),
        ("a + 1 > 5", &[]),
        ("a > b", &[]),
        ("a > 0.0 / 0.0", &[]),
    ];
    for (text, expected) in rows {
        assert_eq!(ranges(text), *expected, "{text}");
    }
    let [range] = found("a <= 9007199254740993")[..] else {
        panic!("one range");
    };
    for within in [
        Value::Exact(9_007_199_254_740_993),
        Value::Exact(i64::MIN),
        Value::Approximate(least),
    ] {
        assert!(range.holds(&within), "{within:?}");
    }
    for beyond in [
        Value::Exact(i64::MAX),
        Value::Approximate(f64::NAN),
        Value::Text("5".into()),
        Value::Boolean(true),
        Value::Null,
        Value::Unfit,
    ] {
        assert!(!range.holds(&beyond), "{beyond:?}");
    }
}
