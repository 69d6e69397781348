//! New keys of TLS, which a client asks for.

use posthaste_wire::fuzzing;

use crate::pair::{Pair, action, client_offer};

#[test]
fn who_wants_new_keys_is_told_to_go_ahead_each_time() {
    let mut pair = Pair::new(&client_offer(), fuzzing::offer());
    pair.connect();
    for _ in 0..2 {
        action(&mut pair, 0, 4);
        assert!(pair.serve().unwrap().is_empty(), "nobody else hears of it");
        let answer = std::mem::take(&mut pair.to_client);
        let body: Vec<u8> = [0, 0, 5, 1, 2_u32]
            .iter()
            .flat_map(|v| v.to_be_bytes())
            .collect();
        assert!(answer.ends_with(&body), "{answer:?}");
        assert_eq!(answer.len(), 28 + body.len());
        action(&mut pair, 0, 6);
        assert!(pair.serve().unwrap().is_empty());
        assert!(
            pair.to_client.is_empty(),
            "that it has them needs no answer"
        );
    }
}
