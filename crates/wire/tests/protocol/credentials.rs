//! Users, passwords and tokens in the forms that clients of several versions give them.

use posthaste_mqi::ByteOrder;
use posthaste_wire::PeerMisbehaved;
use posthaste_wire::identity::Authentication;

/// CONAUTH_INFO of clients before 9.3.4, which know of no token, in both byte orders, padded or not.
#[test]
fn credentials_of_earlier_clients_are_read() {
    for order in [ByteOrder::Little, ByteOrder::Big] {
        for padding in 0..4 {
            let mut body = b"CAUT".to_vec();
            for number in [1, 1024, 256, 5, 6_u32] {
                body.extend(match order {
                    ByteOrder::Little => number.to_le_bytes(),
                    ByteOrder::Big => number.to_be_bytes(),
                });
            }
            body.extend(b"alicegeheim");
            body.extend(vec![0; padding]);
            let read = Authentication::decode(&body, order).unwrap();
            assert_eq!(
                (&read.user[..], &read.password[..]),
                (&b"alice"[..], &b"geheim"[..])
            );
            assert!(read.token.is_empty());
            // Of neither form.
            for cut in [body.len() - padding - 1, 24, 23] {
                let read = Authentication::decode(&body[..cut], order);
                assert_eq!(read, Err(PeerMisbehaved::AuthenticationMalformed));
            }
            body.extend([0; 4]);
            let read = Authentication::decode(&body, order);
            assert_eq!(read, Err(PeerMisbehaved::AuthenticationMalformed));
        }
    }
}
