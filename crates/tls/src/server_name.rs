//! Channel names as server names in a handshake (SNI): so a server knows which channel is meant before the channel
//! protocol begins.
//!
//! Source of the encoding: the public manual of the channel protocol's clients. Upper-case letters become lower-case
//! ones, digits stay, every other byte becomes two hexadecimal digits and a hyphen; a suffix follows.

/// What all such names end in.
const SUFFIX: &str = ".chl.mq.ibm.com";
/// The longest name of a channel.
const LONGEST: usize = 20;

/// The server name of a channel.
pub fn of_channel(channel: &str) -> String {
    let mut name = String::new();
    for byte in channel.bytes() {
        match byte {
            b'A'..=b'Z' => name.push(char::from(byte.to_ascii_lowercase())),
            b'0'..=b'9' => name.push(char::from(byte)),
            other => name.push_str(&format!("{other:02x}-")),
        }
    }
    name + SUFFIX
}

/// The channel that a server name means; `None` if it means none.
pub fn to_channel(name: &str) -> Option<String> {
    let ending = name.len().checked_sub(SUFFIX.len())?;
    let (encoded, suffix) = name.split_at_checked(ending)?;
    if !suffix.eq_ignore_ascii_case(SUFFIX) {
        return None;
    }
    // Names of hosts mean the same in either case, and whoever forwards them may have changed it.
    let encoded = encoded.to_ascii_lowercase();
    let mut rest = encoded.as_bytes();
    let mut channel = String::new();
    while let Some((&first, after)) = rest.split_first() {
        let (byte, after) = match rest {
            [high, low, b'-', after @ ..] => (hexadecimal(*high, *low)?, after),
            _ if first.is_ascii_lowercase() => (first.to_ascii_uppercase(), after),
            _ if first.is_ascii_digit() => (first, after),
            _ => return None,
        };
        if !byte.is_ascii_graphic() {
            return None;
        }
        channel.push(char::from(byte));
        rest = after;
    }
    (1..=LONGEST).contains(&channel.len()).then_some(channel)
}

fn hexadecimal(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_become_server_names_and_back() {
        for (channel, name) in [
            ("DEV.APP.SVRCONN", "dev2e-app2e-svrconn.chl.mq.ibm.com"),
            ("TO.QMGR1", "to2e-qmgr1.chl.mq.ibm.com"),
            ("to.qmgr1", "74-6f-2e-71-6d-67-72-1.chl.mq.ibm.com"),
            ("A_B/C%D", "a5f-b2f-c25-d.chl.mq.ibm.com"),
            ("AB12", "ab12.chl.mq.ibm.com"),
        ] {
            assert_eq!(of_channel(channel), name);
            assert_eq!(to_channel(name).as_deref(), Some(channel));
            assert_eq!(to_channel(&name.to_uppercase()).as_deref(), Some(channel));
        }
    }

    #[test]
    fn other_server_names_are_no_channels() {
        for name in [
            "",
            "localhost",
            ".chl.mq.ibm.com",
            "a.b.chl.mq.ibm.com",
            "zz-.chl.mq.ibm.com",
            "00-.chl.mq.ibm.com",
            "ff-.chl.mq.ibm.com",
            "abcdefghijklmnopqrstu.chl.mq.ibm.com",
            "é.chl.mq.ibm.com",
        ] {
            assert_eq!(to_channel(name), None, "{name}");
        }
    }
}
