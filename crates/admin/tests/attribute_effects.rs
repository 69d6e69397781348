//! What attributes do that nobody acts on: those that ask for what is not there are refused, and those that only matter to what is
//! not there are kept.
#![allow(clippy::unwrap_used, missing_docs)]

mod as_commands;
#[path = "../../engine/tests/world/mod.rs"]
mod world;

use as_commands::{given, type_word};
use posthaste_command::{Attribute, Effect, ObjectKind, Value, ValueKind, attributes, render};
use posthaste_mqi::Reason;
use world::*;

/// A command that makes an object of a kind, or alters the queue manager, with a blank for more attributes.
fn giving(kind: ObjectKind, name: &str) -> String {
    match kind {
        // No two topic objects have one topic string.
        ObjectKind::Topic => format!("DEFINE TOPIC({name}) TOPICSTR('{name}') "),
        ObjectKind::Sub => format!("DEFINE SUB({name}) TOPICSTR('{name}') DEST({LOCAL}) "),
        ObjectKind::Qmgr => "ALTER QMGR ".to_owned(),
        _ => format!("DEFINE {}({name}) {} ", kind.noun(), type_word(kind)),
    }
}

/// Every value that an attribute may have by its row, as far as words go, and one number or text.
fn values_of(attribute: &Attribute) -> Vec<Value> {
    let mut values: Vec<Value> = match attribute.kind {
        ValueKind::Keyword(words) | ValueKind::IntOrKeyword { words, .. } => {
            words.iter().map(|(_, code)| Value::from(*code)).collect()
        }
        ValueKind::Keywords(words) => {
            let word = |(_, code): &(&str, i32)| Value::Ints(vec![(*code).into()]);
            words.iter().map(word).collect()
        }
        ValueKind::Text { .. } | ValueKind::Name { .. } => {
            ["", "X"].map(|text| Value::Text(text.to_owned())).into()
        }
        _ => Vec::new(),
    };
    if let ValueKind::Int { max, .. } | ValueKind::IntOrKeyword { max, .. } = attribute.kind {
        values.push(Value::Int(max));
    }
    values
}

/// What asks for something that is not there is refused, and nothing is changed by it; what asks for nothing is taken.
#[test]
fn attributes_that_nobody_acts_on_take_only_what_asks_for_nothing() {
    let w = World::new();
    let (mut taken, mut refused) = (0, 0);
    let own = ["CHLTYPE", "TRPTYPE"];
    let idle = |kind| {
        let only = attributes(kind).filter(|a| matches!(a.effect, Effect::Only(_)));
        only.filter(|a| !own.contains(&a.keyword))
    };
    let rows = ObjectKind::ALL
        .into_iter()
        .flat_map(|k| idle(k).map(move |a| (k, a)));
    for (kind, attribute) in rows {
        for value in values_of(attribute) {
            let name = match kind {
                ObjectKind::Qmgr => "QM1".to_owned(),
                _ => format!("O{}", taken + refused),
            };
            let given = given(attribute, &value);
            let reply = w.mqsc(&(giving(kind, &name) + &given));
            let text = render(&reply);
            let kept = w.qm().object(kind, &name).map(|object| object.attrs);
            let kept = kept
                .as_ref()
                .and_then(|attrs| attrs.get(attribute.selector));
            if attribute.takes(&value) {
                assert!(reply.ok, "{kind} {given}: {text}");
                assert_eq!(kept, Some(&value), "{kind} {given}");
                taken += 1;
            } else {
                let numbered = !reply.ok && text.starts_with("AMQ2406E");
                assert!(numbered && text.contains(&given), "{kind} {given}: {text}");
                assert!(
                    kept.is_none_or(|kept| attribute.takes(kept)),
                    "{kind} {given}"
                );
                refused += 1;
            }
        }
    }
    assert!(
        taken > 60 && refused > 60,
        "{taken} taken, {refused} refused"
    );
}

/// What is kept and acts on nothing is taken, and said to be so once, unless it is the default or was not given.
#[test]
fn attributes_that_nobody_acts_on_yet_are_kept_and_said_to_be() {
    let w = World::new();
    let warning = |command: &str| {
        let reply = w.mqsc(command);
        assert!(
            reply.ok && reply.reason == Reason::NONE,
            "{command}: {reply:?}"
        );
        let ids = reply.messages.iter().map(|(id, text)| (id.as_str(), text));
        let warnings: Vec<_> = ids.filter(|(id, _)| *id == "AMQ2415W").collect();
        assert!(warnings.len() < 2, "{command}: {reply:?}");
        warnings.first().map(|(_, text)| text.to_string())
    };
    let text = "Kept, but nothing acts on it in this release: ";
    assert_eq!(
        warning("ALTER QMGR PSNPMSG(KEEP) DESCR('x') PSRTYCNT(5) IMGINTVL(OFF)"),
        Some(format!("{text}IMGINTVL(OFF) PSNPMSG(KEEP)."))
    );
    assert_eq!(warning("ALTER QMGR PSNPMSG(DISCARD) IMGINTVL(60)"), None);
    assert_eq!(
        warning("DEFINE QLOCAL(Q) DEFBIND(GROUP) MAXDEPTH(7)"),
        Some(format!("{text}DEFBIND(GROUP)."))
    );
    assert_eq!(warning("DEFINE QLOCAL(LIKE.Q) LIKE(Q)"), None);
    let record = "SET CHLAUTH('A.*') TYPE(ADDRESSMAP) ADDRESS('10.*') USERSRC(CHANNEL)";
    assert_eq!(
        warning(&format!("{record} CUSTOM('c') DESCR('d')")),
        Some(format!("{text}CUSTOM(c)."))
    );
    let shown = render(&w.mqsc("DISPLAY QLOCAL(LIKE.Q) DEFBIND"));
    assert!(shown.contains("DEFBIND(GROUP)"), "{shown}");
    // Each of them, with some value that is not its default.
    let (mut seen, mut made) = (0, 0);
    for kind in ObjectKind::ALL {
        for attribute in attributes(kind).filter(|one| one.effect == Effect::Kept) {
            // What it may be is known all the same.
            if ["SSLCIPH", "SSLPEER"].contains(&attribute.keyword) {
                continue;
            }
            for value in values_of(attribute) {
                let name = match kind {
                    ObjectKind::Qmgr => "QM1".to_owned(),
                    _ => format!("K{made}"),
                };
                let given = given(attribute, &value);
                let kept = warning(&(giving(kind, &name) + &given)).is_some();
                let is_default = attribute.default.value() == Some(value);
                assert!(kept != is_default, "{kind} {given}");
                seen += usize::from(kept);
                made += 1;
            }
        }
    }
    assert!(seen > 100, "{seen}");
}

/// An administrator's command that is meant to protect is refused as a whole, whatever else it says.
#[test]
fn what_would_protect_and_is_not_there_is_refused() {
    let w = World::new();
    let reply = w.mqsc("ALTER QMGR DESCR('x') CERTVPOL(RFC5280) CONNAUTH(SOME.OBJECT)");
    let text = render(&reply);
    let expected =
        "AMQ2406E: Not in this release, so nothing was changed: CERTVPOL(RFC5280), only ANY.\n";
    assert_eq!(text, expected);
    assert_eq!(reply.reason, Reason::FUNCTION_NOT_SUPPORTED);
    let shown = render(&w.mqsc("DISPLAY QMGR DESCR CERTVPOL CONNAUTH"));
    assert!(
        shown.contains("CERTVPOL(ANY)")
            && shown.contains("CONNAUTH( )")
            && shown.contains("DESCR( )"),
        "{shown}"
    );
    w.run("ALTER QMGR DESCR('x') CERTVPOL(ANY) CONNAUTH(SOME.OBJECT)");
    let shown = render(&w.mqsc("DISPLAY QMGR CONNAUTH"));
    assert!(shown.contains("CONNAUTH(SOME.OBJECT)"), "{shown}");
}

/// A script made for MQ hears of everything at once that is not there.
#[test]
fn attributes_of_what_is_not_there_are_known_and_named_together() {
    let w = World::new();
    let reply = w.mqsc(
        "ALTER QMGR ACTCHL(300) CERTVPOL(RFC5280) CLWLDATA(X) DEFCLXQ(CHANNEL) KEYRPWD(secret) MONACLS(HIGH) PARENT(QM2) \
         SSLCRYP(X) SSLCRLNL(X) STATACLS(LOW) TREELIFE(60) PSCLUS(DISABLED) REVDNS(DISABLED)",
    );
    let text = render(&reply);
    assert!(text.starts_with("AMQ2406E"), "{text}");
    for asked in [
        "ACTCHL(300), only 200",
        "CERTVPOL(RFC5280), only ANY",
        "CLWLDATA(X), only blank",
        "DEFCLXQ(CHANNEL), only SCTQ",
        "KEYRPWD(********), only blank",
        "MONACLS(HIGH), only QMGR, OFF",
        "PARENT(QM2), only blank",
        "SSLCRYP(X), only blank",
        "SSLCRLNL(X), only blank",
        "STATACLS(LOW), only QMGR, OFF",
    ] {
        assert!(text.contains(asked), "{asked}: {text}");
    }
    assert!(!text.to_uppercase().contains("SECRET"), "{text}");
    let defaults = "ACTCHL(200) CERTVPOL(ANY) CLWLDATA( ) DEFCLXQ(SCTQ) KEYRPWD( ) MONACLS(QMGR) PARENT( ) PSCLUS(ENABLED) \
                    REVDNS(ENABLED) SSLCRLNL( ) SSLCRYP( ) STATACLS(QMGR) TREELIFE(1800)";
    let shown = render(&w.mqsc("DISPLAY QMGR ALL"));
    for default in defaults.split(") ") {
        assert!(shown.contains(default), "{default}: {shown}");
    }
    w.run("ALTER QMGR TREELIFE(60) PSCLUS(DISABLED) REVDNS(DISABLED)");
    let shown = render(&w.mqsc("DISPLAY QMGR TREELIFE"));
    assert!(shown.contains("TREELIFE(60)"), "{shown}");
}
