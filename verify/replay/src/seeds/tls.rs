//! Seeds for TLS: patterns with names, server names, first messages.

use crate::seeds::Seeds;

/// Texts, and records with the byte that says how they come.
pub fn tls() -> Seeds {
    [
        (
            "pattern",
            &b"CN=app*,OU=Large,OU=Small;O=\"A, B\"\nO=A, B\nOU=Large\nOU=Small\nCN=app1"[..],
        ),
        ("pattern_serial", b"SERIALNUMBER=0A*,CN=\\*x*\nCN=*xyz"),
        ("server_name", b"to2e-qmgr1.chl.mq.ibm.com"),
        ("hello", &[2, 22, 3, 1, 0, 8, 1, 0, 0, 4, 3, 3, 0, 0]),
        ("alert", &[1, 21, 3, 3, 0, 2, 1, 0]),
        (
            "data",
            &[
                61, 23, 3, 3, 0, 20, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
            ],
        ),
        (
            "store",
            &[
                0x30, 0x0E, 2, 1, 3, 0x30, 9, 6, 2, 0x2A, 1, 0xA0, 3, 4, 1, 0,
            ],
        ),
    ]
    .map(|(name, bytes)| (name.to_owned(), bytes.to_vec()))
    .into()
}
