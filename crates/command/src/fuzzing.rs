//! Entry points for fuzzing: one function per target, each for any bytes at all. They panic
//! when a promise of the crate does not hold.

use crate::attrs::Attrs;
use crate::command::Command;
use crate::kinds::ObjectKind;
use crate::object::Object;
use crate::pcf::{self, EscapeReplies, Message};
use crate::script::ScriptReader;
use crate::show::{DefineForm, mqsc_of, row_of, script_of};
use crate::table::attributes;
use crate::{parse, reply::Reply, reply::render};
use posthaste_mqi::ByteOrder;

/// A target: takes any bytes, and panics when a promise does not hold.
pub type Target = fn(&[u8]);

/// Every target by name.
pub const TARGETS: &[(&str, Target)] = &[
    ("mqsc", mqsc),
    ("script", script),
    ("command_message", command_message),
    ("stored_attributes", stored_attributes),
];

/// A line of MQSC: parsed without panic; a fault is inside the line; and a definition, when
/// written out again, is read as the same definition.
pub fn mqsc(data: &[u8]) {
    let line = String::from_utf8_lossy(data);
    match parse(&line) {
        Ok(None) => {}
        Ok(Some(command)) => again(command),
        Err(error) => {
            assert!(
                line.is_char_boundary(error.column),
                "a fault is in the line"
            );
            let shown = render(&Reply::from(&error));
            assert!(shown.starts_with(error.id), "a fault has its number");
        }
    }
}

fn again(command: Command) {
    let (kind, name, attrs) = match command {
        Command::Define {
            kind, name, attrs, ..
        } => (kind, name, attrs),
        Command::Alter { attrs, .. } if attrs.is_empty() => return,
        Command::Alter {
            kind, name, attrs, ..
        } => (kind, name, attrs),
        _ => return,
    };
    let mut object = Object::new(kind, name);
    object.attrs.merge(&attrs);
    for attribute in attributes(kind).filter(|attribute| !attribute.saved) {
        if let Some(default) = attribute.default.value() {
            object.attrs.set(attribute.selector, default);
        }
    }
    row_of(&object, &[], true);
    read_again(&object, &mqsc_of(&object));
    let script = ScriptReader::read(&script_of(&object, DefineForm::All));
    assert_eq!(script.len(), 1, "one command: {script:?}");
    for (_, line) in script {
        read_again(&object, &line);
    }
}

/// What stands for an object makes the same one.
fn read_again(object: &Object, line: &str) {
    let read = match parse(line) {
        Ok(Some(Command::Define {
            kind, name, attrs, ..
        })) => Some((kind, name, attrs)),
        Ok(Some(Command::Alter { kind, attrs, .. })) => Some((kind, object.name.clone(), attrs)),
        _ => None,
    };
    let read = read.map(|(kind, name, attrs)| {
        let mut all = Attrs::defaults(kind);
        all.merge(&attrs);
        Object {
            kind,
            name,
            attrs: all,
        }
    });
    assert_eq!(read.as_ref(), Some(object), "{line}");
}

/// A script: joined and parsed without panic.
pub fn script(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let lines = text.lines().count();
    for (number, command) in ScriptReader::read(&text) {
        assert!(
            (1..=lines).contains(&number),
            "a command begins on a line of the script"
        );
        mqsc(command.as_bytes());
    }
}

/// A command message: what can be read is written and read as the same.
pub fn command_message(data: &[u8]) {
    for order in [ByteOrder::Big, ByteOrder::Little] {
        if let Ok((message, used)) = Message::decode(data, order) {
            assert!(used <= data.len(), "no more is used than there is");
            let mut out = Vec::new();
            message.encode(&mut out, order);
            let length = out.len();
            assert_eq!(Message::decode(&out, order), Ok((message, length)));
        }
    }
    let read = |ccsid: i32, bytes: &[u8]| (ccsid >= 0).then(|| bytes.to_vec());
    if let Ok(text) = pcf::escape_command(data, &read) {
        mqsc(text.as_bytes());
    }
    if let Ok(request) = pcf::request_of(data, &read, &|_| None) {
        for command in request.commands() {
            mqsc(command.as_bytes());
        }
    }
    // Whether these accept the bytes does not matter, only that they come back.
    let _ = pcf::escape_texts(data).is_ok();
    let _ = EscapeReplies::new().push(data).is_ok();
}

/// Stored attributes: what can be read is written and read as the same.
pub fn stored_attributes(data: &[u8]) {
    if let Some((attrs, used)) = Attrs::decode(data) {
        assert!(used <= data.len(), "no more is used than there is");
        let mut out = Vec::new();
        attrs.encode(&mut out);
        let length = out.len();
        let object = Object {
            kind: ObjectKind::QLocal,
            name: String::new(),
            attrs,
        };
        row_of(&object, &[], true);
        assert_eq!(Attrs::decode(&out), Some((object.attrs, length)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Pieces of which nearly valid commands are made.
    const PIECES: &[&str] = &[
        "DEFINE ",
        "ALTER ",
        "DISPLAY ",
        "DELETE ",
        "QLOCAL",
        "QL",
        "CHANNEL",
        "QMGR ",
        "Q",
        "LISTENER",
        "CONN",
        "(",
        ")",
        "'",
        "''",
        " ",
        ",",
        "*",
        ";",
        "+\n",
        "-\n",
        "A",
        "a.b",
        "MAXDEPTH",
        "(5)",
        "GET",
        "(DISABLED)",
        " SHARE",
        " NOSHARE",
        "DESCR",
        "('x')",
        "WHERE",
        "(CURDEPTH GT 0)",
        "REPLACE",
        "LIKE",
        "CHLTYPE(SVRCONN) ",
        "COMPMSG",
        "RLE",
        "é",
        "\u{1F980}",
        "\0",
        "\n",
        "-1",
        "999999999999",
        "ALL ",
        "TYPE(",
        "KAINT(AUTO)",
    ];

    proptest! {
        #[test]
        fn any_line(data in prop::collection::vec(any::<u8>(), 0..200)) {
            mqsc(&data);
            script(&data);
        }

        #[test]
        fn nearly_commands(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..24)) {
            let line = pieces.concat();
            mqsc(line.as_bytes());
            script(line.as_bytes());
        }

        #[test]
        fn any_command_message(data in prop::collection::vec(any::<u8>(), 0..200)) {
            command_message(&data);
            stored_attributes(&data);
        }

        /// Valid messages with a few fields changed reach deeper than noise does.
        #[test]
        fn nearly_command_messages(
            text in ".{0,40}",
            order in prop::sample::select(&[ByteOrder::Big, ByteOrder::Little][..]),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        ) {
            let (message, _) = Message::decode(&pcf::escape_request(&text), ByteOrder::NATIVE)
                .expect("a message");
            let mut data = Vec::new();
            message.encode(&mut data, order);
            for (at, byte) in changes {
                let at = at.index(data.len());
                data[at] = byte;
            }
            command_message(&data);
        }

        #[test]
        fn nearly_stored_attributes(
            kind in prop::sample::select(&ObjectKind::ALL[..]),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        ) {
            let mut data = Vec::new();
            Attrs::defaults(kind).encode(&mut data);
            for (at, byte) in changes {
                let at = at.index(data.len());
                data[at] = byte;
            }
            stored_attributes(&data);
        }
    }
}
