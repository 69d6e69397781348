//! One put and one get, as the benches count them.

use bytes::Bytes;
use posthaste_engine::Session;
use posthaste_env::block_on;
use posthaste_mqi::constants::{MQGMO_SYNCPOINT, MQPMO_SYNCPOINT};
use posthaste_mqi::{Gmo, Hobj, Md, Pmo};

/// Bytes of a message.
pub(crate) const SIZE: usize = 2048;

/// Puts a message and gets it; in syncpoint, each in a unit of work of its own.
pub(crate) fn put_get(s: &Session, queue: Hobj, persistence: i32, sync: bool, data: Bytes) {
    let mut md = Md {
        persistence,
        ..Md::default()
    };
    let mut pmo = Pmo {
        options: if sync { MQPMO_SYNCPOINT } else { 0 },
        ..Pmo::default()
    };
    block_on(s.put(queue, &mut md, &mut pmo, data)).unwrap();
    if sync {
        block_on(s.commit()).unwrap();
    }
    let mut gmo = Gmo {
        options: if sync { MQGMO_SYNCPOINT } else { 0 },
        ..Gmo::default()
    };
    block_on(s.get(queue, &mut Md::default(), &mut gmo, SIZE)).unwrap();
    if sync {
        block_on(s.commit()).unwrap();
    }
}
