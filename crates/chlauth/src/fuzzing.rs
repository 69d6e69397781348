//! A door for fuzzers: patterns come from commands and files, and must neither panic nor hang.

use core::net::IpAddr;

use crate::address::AddressPattern;
use crate::pattern::Pattern;
use crate::peer_name::{DistinguishedName, PeerPattern};

/// Lines: a generic name, two patterns of addresses, two of certificates' names; then what they are tried on.
pub fn patterns(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.lines();
    let mut next = || lines.next().unwrap_or_default();
    let name = Pattern::new(next());
    assert_eq!(
        Pattern::new(name.text()).specificity(&name),
        std::cmp::Ordering::Equal
    );
    let addresses = [next(), next()].map(AddressPattern::parse);
    if let [Ok(a), Ok(b)] = &addresses {
        assert_eq!(a.specificity(b), b.specificity(a).reverse());
        assert_eq!(a.conflicts(b), b.conflicts(a));
        assert_eq!(AddressPattern::parse(&a.to_string()).as_ref(), Ok(a));
    }
    let peers = [next(), next()].map(PeerPattern::parse);
    if let [Ok(a), Ok(b)] = &peers {
        assert_eq!(a.specificity(b), b.specificity(a).reverse());
    }
    for line in lines {
        name.matches(line);
        if let Ok(address) = line.parse::<IpAddr>() {
            for pattern in addresses.iter().flatten() {
                pattern.matches(address);
            }
        }
        let (kind, value) = line.split_once('=').unwrap_or_default();
        let peer = DistinguishedName {
            serial: "0A".to_owned(),
            parts: vec![(kind.to_owned(), value.to_owned())],
        };
        for pattern in peers.iter().flatten() {
            pattern.matches(&peer);
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_kind_of_line_is_taken() {
        super::patterns(b"A.*\n10.*\n10.0.0.1-5\nCN=a*\nO=b\nA.B\n10.0.0.2\n::1\nCN=abc\n");
        super::patterns(b"\n\n\n\n");
    }
}
