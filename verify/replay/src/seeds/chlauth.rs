//! Seeds for patterns of channel authentication records.

use crate::seeds::Seeds;

/// A generic name, two patterns of addresses, two of certificates' names, and what they are tried on.
pub fn chlauth() -> Seeds {
    [
        (
            "v4",
            &b"DEV.*\n192.0.2.*\n192.0.2.1-9\nCN=app*,O=A\nOU=Large,OU=*\nDEV.APP\n192.0.2.7\nCN=app1"[..],
        ),
        (
            "v6",
            b"*.TO.*\n2001:db8:*:1\n2001:DB8::a-f\nUID=\"a, b\"\nCN=\\*x*\nA.TO.B\n2001:db8::c\n::ffff:192.0.2.1",
        ),
        ("wide", b"*\n*\n10.*.2.*\nC=GB\nDC=*,DC=com\n10.1.2.3\nC=gb"),
    ]
    .map(|(name, bytes)| (name.to_owned(), bytes.to_vec()))
    .into()
}
