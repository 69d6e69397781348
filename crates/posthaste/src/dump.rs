//! A message as amqsbcg shows it: the descriptor field by field, the data in hexadecimal.

use std::fmt::Write as _;

use posthaste_mqi::{Chars, Md, hex};

/// Bytes of a line of the dump.
const LINE: usize = 16;

/// Text that cannot drive a terminal: what is not seen, but tabs, becomes full stops.
pub(crate) fn printable(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let shown = text.chars().map(|c| match c {
        '\t' => c,
        c if posthaste_command::is_unseen(c) => '.',
        c => c,
    });
    shown.collect()
}

/// Fixed text with a full stop for each character that cannot be shown.
fn field<const N: usize>(text: &Chars<N>) -> String {
    shown(text.as_bytes())
}

fn shown(bytes: &[u8]) -> String {
    let character = |byte: &u8| match byte {
        0 => ' ',
        byte if byte.is_ascii_graphic() || *byte == b' ' => char::from(*byte),
        _ => '.',
    };
    bytes.iter().map(character).collect()
}

/// The descriptor.
pub(crate) fn descriptor(md: &Md) -> String {
    let mut out = String::from("****Message descriptor****\n\n");
    // Writing to a String does not fail.
    let mut line = |text: String| {
        let _ = writeln!(out, "{text}");
    };
    line(format!("  StrucId  : 'MD  '  Version : {}", md.version));
    line(format!(
        "  Report   : {}  MsgType : {}",
        md.report, md.msg_type
    ));
    line(format!(
        "  Expiry   : {}  Feedback : {}",
        md.expiry, md.feedback
    ));
    line(format!(
        "  Encoding : {}  CodedCharSetId : {}",
        md.encoding, md.coded_char_set_id
    ));
    line(format!("  Format : '{}'", field(&md.format)));
    line(format!(
        "  Priority : {}  Persistence : {}",
        md.priority, md.persistence
    ));
    line(format!("  MsgId : X'{}'", hex(&md.msg_id)));
    line(format!("  CorrelId : X'{}'", hex(&md.correl_id)));
    line(format!("  BackoutCount : {}", md.backout_count));
    line(format!("  ReplyToQ       : '{}'", field(&md.reply_to_q)));
    line(format!(
        "  ReplyToQMgr    : '{}'",
        field(&md.reply_to_q_mgr)
    ));
    line("  ** Identity Context".to_owned());
    line(format!(
        "  UserIdentifier : '{}'",
        field(&md.user_identifier)
    ));
    line("  AccountingToken :".to_owned());
    line(format!("   X'{}'", hex(&md.accounting_token)));
    line(format!(
        "  ApplIdentityData : '{}'",
        field(&md.appl_identity_data)
    ));
    line("  ** Origin Context".to_owned());
    line(format!("  PutApplType    : '{}'", md.put_appl_type));
    line(format!("  PutApplName    : '{}'", field(&md.put_appl_name)));
    line(format!(
        "  PutDate  : '{}'    PutTime  : '{}'",
        field(&md.put_date),
        field(&md.put_time)
    ));
    line(format!(
        "  ApplOriginData : '{}'",
        field(&md.appl_origin_data)
    ));
    line(String::new());
    line(format!("  GroupId : X'{}'", hex(&md.group_id)));
    line(format!("  MsgSeqNumber   : '{}'", md.msg_seq_number));
    line(format!("  Offset         : '{}'", md.offset));
    line(format!("  MsgFlags       : '{}'", md.msg_flags));
    line(format!("  OriginalLength : '{}'", md.original_length));
    out
}

/// The data; `length` is that of the whole message.
pub(crate) fn data(data: &[u8], length: usize) -> String {
    let mut out = String::from("****   Message      ****\n\n");
    // Writing to a String does not fail.
    let _ = writeln!(out, " length - {} of {length} bytes\n", data.len());
    for (number, bytes) in data.chunks(LINE).enumerate() {
        let groups: Vec<String> = bytes.chunks(2).map(hex).collect();
        let _ = writeln!(
            out,
            "{:08X}:  {:<40} '{:<LINE$}'",
            number * LINE,
            groups.join(" "),
            shown(bytes)
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use posthaste_mqi::Name;

    #[test]
    fn data_is_shown_in_lines_of_sixteen() {
        let expected = "****   Message      ****\n\n length - 18 of 20 bytes\n\n\
00000000:  4865 6C6C 6F00 FF0A 3031 3233 3435 3637  'Hello ..01234567'\n\
00000010:  3839                                     '89              '\n";
        assert_eq!(data(b"Hello\0\xff\n0123456789", 20), expected);
        assert!(data(b"", 0).ends_with("length - 0 of 0 bytes\n\n"));
    }

    #[test]
    fn the_descriptor_has_every_field() {
        let md = Md {
            version: 2,
            format: Chars::new("MQSTR"),
            reply_to_q: Name::new("R.Q"),
            msg_id: [0xAB; 24],
            ..Md::default()
        };
        let shown = descriptor(&md);
        assert!(shown.contains("  StrucId  : 'MD  '  Version : 2\n"));
        assert!(shown.contains("  Format : 'MQSTR   '\n"));
        assert!(shown.contains(&format!("  MsgId : X'{}'\n", "AB".repeat(24))));
        assert!(shown.contains(&format!("  ReplyToQ       : 'R.Q{}'\n", " ".repeat(45))));
        assert_eq!(shown.lines().count(), 29);
    }
}
