//! A door for fuzzers: whatever comes from a peer or stands in a file must neither panic nor hang.

use std::sync::LazyLock;

use crate::both_sides::both_sides;
use crate::client_hello::look;
use crate::context::{Acceptor, Connector};
use crate::development::KeyKind;
use crate::key_bags::key_bags;
use crate::machine::{Machine, Plain, Progress};
use crate::server_name::{of_channel, to_channel};
use posthaste_chlauth::{DistinguishedName, PeerPattern};

/// Both sides, with an authority of their own.
static SIDES: LazyLock<Option<(Acceptor, Connector)>> =
    LazyLock::new(|| both_sides(KeyKind::Ec, "TLS_AES_128_GCM_SHA256"));

/// SSLPEER: a pattern in the first line, a name in the others; server names; structures of files and first messages.
pub fn texts(bytes: &[u8]) {
    look(bytes);
    key_bags(bytes);
    let text = String::from_utf8_lossy(bytes);
    if let Some(channel) = to_channel(&text) {
        let named = of_channel(&channel);
        assert_eq!(to_channel(&named), Some(channel), "there and back");
    }
    let mut lines = text.lines();
    let pattern = lines.next().map(PeerPattern::parse);
    let parts = lines.filter_map(|line| line.split_once('='));
    let owned = |(kind, value): (&str, &str)| (kind.to_owned(), value.to_owned());
    let name = DistinguishedName {
        serial: "0A".to_owned(),
        parts: parts.map(owned).collect(),
    };
    if let Some(Ok(pattern)) = pattern {
        pattern.matches(&name);
    }
    assert!(!name.to_string().is_empty(), "its serial number at least");
}

/// Records: the first byte says whether they come instead of a handshake or after one, the others are what comes.
pub fn records(bytes: &[u8]) {
    let (Some((acceptor, connector)), Some((first, rest))) = (&*SIDES, bytes.split_first()) else {
        return;
    };
    let mut server = Machine::accept(acceptor);
    if first % 2 == 1 {
        let Ok(mut client) = Machine::connect(connector, "CHANNEL") else {
            return;
        };
        for _ in 0..2 {
            let agreed = client.handshake() == Ok(Progress::Done);
            assert!(agreed || !client.output().is_empty(), "it goes on");
            server.receive(client.output());
            client.output().clear();
            let _ = server.handshake();
            client.receive(server.output());
            server.output().clear();
        }
        assert_eq!(server.handshake(), Ok(Progress::Done));
    }
    for part in rest.chunks(1 + usize::from(first / 2)) {
        server.receive(part);
        if server.handshake() != Ok(Progress::Done) {
            continue;
        }
        let mut plain = [0; 4096];
        while let Ok(Plain::Bytes(_)) = server.read(&mut plain) {}
    }
    server.lost();
    let _ = server.handshake();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_before_and_after_a_handshake_are_taken() {
        assert!(SIDES.is_some());
        for first in [0, 1, 60, 61] {
            records(&[&[first][..], &[22, 3, 1, 0, 2, 1, 0], &[23; 400]].concat());
        }
        texts(b"CN=a*,OU=b\nCN=abc\nOU=b\n");
        texts(b"to2e-qmgr1.chl.mq.ibm.com");
    }
}
