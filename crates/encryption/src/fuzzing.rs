//! Fuzz target: the file of data keys.
//!
//! Invariant: the random bytes of its seeds are the same in every run.

use std::sync::atomic::{AtomicU8, Ordering};

use posthaste_env::Entropy;

use crate::data_keys::{DataKeys, DataKeysError};
use crate::key::Key;

/// Counts where others draw.
#[derive(Default)]
struct Counted(AtomicU8);

impl Entropy for Counted {
    fn fill(&self, out: &mut [u8]) {
        for byte in out {
            *byte = self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The master key of every seed.
fn master(entropy: &dyn Entropy) -> Key {
    Key::random(entropy)
}

/// A file with so many data keys, wrapped with the master key of the target, or with another one besides.
pub fn file(keys: usize, rewrapped: bool) -> String {
    let entropy = Counted::default();
    let master = master(&entropy);
    let other = Key::random(&entropy);
    let mut made = DataKeys::new(&entropy, "2026-01-01");
    for _ in 1..keys {
        made.rotate(&entropy, "2026-02-01");
    }
    let masters: &[&Key] = match rewrapped {
        true => &[&other, &master],
        false => &[&master],
    };
    made.write("QM1", masters, &entropy)
}

/// Whatever the file holds: no panic; what is wrong is said of a line that is there, or of the one behind it; and what is read
/// is the same when it was written and read again.
///
/// # Panics
/// If it is not so.
pub fn data_keys(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let entropy = Counted::default();
    let master = master(&entropy);
    match DataKeys::read(&text, &master) {
        Err(DataKeysError::Malformed { line, .. }) => assert!(line <= text.lines().count() + 1),
        Err(DataKeysError::WrongKey(id)) => {
            assert!(text.to_lowercase().contains(&format!("{id:08x}")))
        }
        Ok(keys) => {
            let again = DataKeys::read(&keys.write("QM1", &[&master], &entropy), &master);
            let listed = |keys: &DataKeys| -> Vec<(String, String)> {
                let list = keys.list();
                list.map(|(id, made)| (id, made.to_owned())).collect()
            };
            let Ok(again) = again else {
                panic!("what was written is read");
            };
            assert_eq!(listed(&keys), listed(&again));
            assert_eq!(keys.newest().1.bytes(), again.newest().1.bytes());
        }
    }
}
