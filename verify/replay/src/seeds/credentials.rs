//! Seeds for credentials: bodies of CONAUTH_INFO and USERID_DATA in both byte orders, and tokens behind keys.

use crate::seeds::Seeds;

/// CONAUTH_INFO with these lengths, each once as the most there may be, and then this.
fn csp(kind: u32, lengths: [u32; 3], little: bool, texts: &[u8]) -> Vec<u8> {
    let number = |n: u32| match little {
        true => n.to_le_bytes(),
        false => n.to_be_bytes(),
    };
    let [user, password, token] = lengths;
    let numbers = [kind, user, password, user, password, token, token];
    let numbers = numbers.into_iter().flat_map(number);
    b"CAUT"
        .iter()
        .copied()
        .chain(numbers)
        .chain(texts.iter().copied())
        .collect()
}

fn userid(user: &str, password: &str, long: &str) -> Vec<u8> {
    format!("UID {user:<12}{password:<12}{long:<64}")
        .into_bytes()
        .into_iter()
        .chain([0; 40])
        .collect()
}

/// What a client says of who it is.
pub fn credentials() -> Seeds {
    let set = r#"{"keys":[{"kty":"EC","crv":"P-256","kid":"1","x":"AQ","y":"AQ"},{"kty":"RSA","n":"AQ","e":"AQAB"}]}"#;
    let pem = "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----\n";
    let token = "eyJhbGciOiJFUzI1NiIsImtpZCI6IjEifQ.eyJzdWIiOiJhcHAxIiwiZXhwIjoxfQ.AAAA";
    [
        ("csp_big", csp(1, [5, 5, 0], false, b"aliceright")),
        ("csp_little", csp(1, [5, 5, 0], true, b"aliceright")),
        ("csp_token", csp(2, [0, 0, 9], false, b"abc.def.g")),
        ("csp_token_little", csp(2, [0, 0, 9], true, b"abc.def.g")),
        ("csp_nothing", csp(1, [0, 0, 0], false, b"")),
        (
            "csp_longer_than_it_is",
            csp(2, [0, 0, 8_192], false, b"abc"),
        ),
        ("userid", userid("ALICE", "right", "alice")),
        ("userid_nothing", userid("", "", "")),
        ("token_set", format!("{set}\0{token}").into_bytes()),
        ("token_pem", format!("{pem}\0{token}").into_bytes()),
        ("token_claims", b"\0eyJzdWIiOiJhcHAxIiwiZXhwIjoxfQ".to_vec()),
    ]
    .map(|(name, bytes)| (name.to_owned(), bytes))
    .into()
}
