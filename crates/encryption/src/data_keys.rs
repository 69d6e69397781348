//! A queue manager's data keys, and the file that has them, wrapped.
//!
//! ```text
//! # Comments, which count for nothing.
//! posthaste data keys 1
//! key 4f1a09c2 2026-11-23 <hexadecimal: salt (16), wrapped key (32), tag (16)>
//! key b7713e50 2027-02-01 ...
//! end
//! ```
//!
//! Invariants:
//! * The last key is what is sealed with; the others are kept for what was sealed before, and never leave the file.
//! * A key is wrapped by AES-256-GCM with nonce 0 and a key of its own, derived from the master key and a random salt; its
//!   identifier is bound to it.
//! * A key may be there more than once, wrapped with several master keys: so the master key is changed without a moment at
//!   which neither the old nor the new one would do.
//! * A file without its last line is none.

use posthaste_env::Entropy;

use crate::gcm::{Gcm, NONCE, TAG, Way};
use crate::key::{KEY, Key, from_hex, to_hex};

const HEAD: &str = "posthaste data keys 1";
const END: &str = "end";
const SALT: usize = 16;
/// What a key is derived for that wraps others.
const INFO: &[u8] = b"posthaste data key 1";

/// Why the data keys are not to be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DataKeysError {
    /// The file is not one, or was changed.
    #[error("line {line}: {what}")]
    Malformed {
        /// From 1.
        line: usize,
        /// What is wrong.
        what: &'static str,
    },
    /// They are wrapped with another master key, or were changed.
    #[error("data key {0:08x} is not encrypted with this key")]
    WrongKey(u32),
}

#[derive(Clone)]
struct DataKey {
    id: u32,
    made: String,
    key: Key,
}

/// The data keys of a queue manager: one at least.
#[derive(Clone)]
pub struct DataKeys {
    older: Vec<DataKey>,
    newest: DataKey,
}

impl std::fmt::Debug for DataKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.list()).finish()
    }
}

impl DataKey {
    fn new(entropy: &dyn Entropy, date: &str, taken: impl Fn(u32) -> bool) -> DataKey {
        let id = loop {
            let mut id = [0; 4];
            entropy.fill(&mut id);
            let id = u32::from_le_bytes(id);
            if !taken(id) {
                break id;
            }
        };
        let made = date.to_owned();
        let key = Key::random(entropy);
        DataKey { id, made, key }
    }

    fn wrapped(&self, master: &Key, entropy: &dyn Entropy) -> String {
        let mut salt = [0; SALT];
        entropy.fill(&mut salt);
        let gcm = Gcm::new(master.derive(&salt, INFO), Way::Seal);
        let mut out = Vec::with_capacity(KEY);
        let id = self.id.to_le_bytes();
        let tag = gcm.seal(&[0; NONCE], &id, &mut out, &[self.key.bytes()]);
        let wrapped = [&salt, out.as_slice(), &tag].concat();
        format!("key {:08x} {} {}\n", self.id, self.made, to_hex(&wrapped))
    }
}

/// A line of the file.
struct Line<'a> {
    id: u32,
    made: &'a str,
    salt: [u8; SALT],
    wrapped: [u8; KEY],
    tag: [u8; TAG],
}

/// The identifier of a data key: eight hexadecimal digits.
fn number(id: &str) -> Option<u32> {
    let digits = id.len() == 8 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    digits.then(|| u32::from_str_radix(id, 16).ok()).flatten()
}

impl<'a> Line<'a> {
    fn parse(text: &'a str) -> Option<Line<'a>> {
        let mut words = text.split(' ');
        let (Some("key"), Some(id), Some(made), Some(hex), None) = (
            words.next(),
            words.next(),
            words.next(),
            words.next(),
            words.next(),
        ) else {
            return None;
        };
        let bytes = from_hex(hex.as_bytes())?;
        let (salt, rest) = bytes.split_first_chunk()?;
        let (wrapped, tag) = rest.split_first_chunk()?;
        Some(Line {
            id: number(id)?,
            made,
            salt: *salt,
            wrapped: *wrapped,
            tag: tag.try_into().ok()?,
        })
    }

    fn unwrapped(&self, master: &Key) -> Option<Key> {
        let gcm = Gcm::new(master.derive(&self.salt, INFO), Way::Open);
        let mut key = self.wrapped;
        let id = self.id.to_le_bytes();
        let opened = gcm.open(&[0; NONCE], &id, &mut key, 0, &self.tag);
        let key = Key::taken(&mut key);
        opened.then_some(key)
    }
}

impl DataKeys {
    /// Those of a new queue manager: one. `date`: when it is made, without blanks.
    pub fn new(entropy: &dyn Entropy, date: &str) -> DataKeys {
        DataKeys {
            older: Vec::new(),
            newest: DataKey::new(entropy, date, |_| false),
        }
    }

    /// Adds one: what is sealed from the next start on is sealed with it.
    pub fn rotate(&mut self, entropy: &dyn Entropy, date: &str) {
        let new = DataKey::new(entropy, date, |id| self.find(id).is_some());
        self.older.push(std::mem::replace(&mut self.newest, new));
    }

    fn all(&self) -> impl Iterator<Item = &DataKey> {
        self.older.iter().chain([&self.newest])
    }

    /// Identifiers and dates, the oldest first.
    pub fn list(&self) -> impl Iterator<Item = (String, &str)> {
        self.all()
            .map(|key| (format!("{:08x}", key.id), key.made.as_str()))
    }

    pub(crate) fn newest(&self) -> (u32, &Key) {
        (self.newest.id, &self.newest.key)
    }

    pub(crate) fn find(&self, id: u32) -> Option<&Key> {
        self.all().find(|key| key.id == id).map(|key| &key.key)
    }

    /// The text of the file, with every key wrapped with each of these. `name`: the queue manager's, for the comment.
    pub fn write(&self, name: &str, masters: &[&Key], entropy: &dyn Entropy) -> String {
        let mut out = format!(
            "# The data keys of queue manager {name}, each encrypted with the key that qm.ini names (Encryption).\n\
             # Without this file its messages cannot be read: it belongs to every backup.\n\
             {HEAD}\n"
        );
        for key in self.all() {
            for master in masters {
                out.push_str(&key.wrapped(master, entropy));
            }
        }
        out + END + "\n"
    }

    /// Reads the file.
    ///
    /// # Errors
    /// See [`DataKeysError`].
    pub fn read(text: &str, master: &Key) -> Result<DataKeys, DataKeysError> {
        let malformed = |line, what| DataKeysError::Malformed { line, what };
        let lines = (1..).zip(text.lines());
        let mut lines = lines.filter(|(_, line)| !line.starts_with('#') && !line.is_empty());
        match lines.next() {
            Some((_, HEAD)) => {}
            other => {
                return Err(malformed(
                    other.map_or(1, |(at, _)| at),
                    "an unknown version",
                ));
            }
        }
        // In the order of the file, which says which is the newest.
        let mut found: Vec<(u32, Option<DataKey>)> = Vec::new();
        loop {
            let Some((at, text)) = lines.next() else {
                return Err(malformed(
                    text.lines().count(),
                    "the end of the file is missing",
                ));
            };
            if text == END {
                break;
            }
            let line = Line::parse(text).ok_or(malformed(at, "this is not a wrapped data key"))?;
            let (id, made) = (line.id, line.made.to_owned());
            let key = line.unwrapped(master).map(|key| DataKey { id, made, key });
            match found.iter_mut().find(|(known, _)| *known == id) {
                Some((_, known)) => *known = known.take().or(key),
                None => found.push((id, key)),
            }
        }
        let unwrapped = found.into_iter();
        let mut older = unwrapped
            .map(|(id, key)| key.ok_or(DataKeysError::WrongKey(id)))
            .collect::<Result<Vec<_>, _>>()?;
        let newest = older.pop();
        let newest = newest.ok_or(malformed(text.lines().count(), "there is no key"))?;
        Ok(DataKeys { older, newest })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn entropy() -> Arc<dyn Entropy> {
        posthaste_env::os().entropy
    }

    fn same(one: &DataKeys, other: &DataKeys) -> bool {
        let all = |keys: &DataKeys| -> Vec<_> {
            let keys = keys.all();
            keys.map(|key| (key.id, key.made.clone(), *key.key.bytes()))
                .collect()
        };
        all(one) == all(other)
    }

    fn three() -> DataKeys {
        let mut keys = DataKeys::new(&*entropy(), "2026-01-01");
        keys.rotate(&*entropy(), "2026-02-01");
        keys.rotate(&*entropy(), "2026-03-01");
        keys
    }

    #[test]
    fn they_come_back_with_the_master_key_and_with_no_other() {
        let (keys, master) = (three(), Key::random(&*entropy()));
        let text = keys.write("QM1", &[&master], &*entropy());
        assert!(same(&DataKeys::read(&text, &master).unwrap(), &keys));
        let (first, _) = keys.list().next().unwrap();
        let refused = DataKeys::read(&text, &Key::random(&*entropy())).unwrap_err();
        assert_eq!(
            refused.to_string(),
            format!("data key {first} is not encrypted with this key")
        );
        let shown = format!("{keys:?}{refused:?}{text}");
        for key in keys.all().map(|key| &key.key).chain([&master]) {
            assert!(!shown.contains(&to_hex(key.bytes())));
        }
    }

    /// While the master key is changed, the old one and the new one both do.
    #[test]
    fn they_may_be_wrapped_with_two_master_keys() {
        let keys = three();
        let [old, new] = [0; 2].map(|_| Key::random(&*entropy()));
        let text = keys.write("QM1", &[&old, &new], &*entropy());
        for master in [&old, &new] {
            assert!(same(&DataKeys::read(&text, master).unwrap(), &keys));
        }
    }

    #[test]
    fn nothing_that_was_changed_or_cut_is_believed() {
        let (keys, master) = (three(), Key::random(&*entropy()));
        let text = keys.write("QM1", &[&master], &*entropy());
        let lines: Vec<&str> = text.lines().collect();
        for cut in 0..lines.len() {
            let refused = DataKeys::read(&lines[..cut].join("\n"), &master);
            assert!(
                matches!(refused, Err(DataKeysError::Malformed { .. })),
                "{cut}"
            );
        }
        let start = text.find("key ").unwrap();
        for at in start..text.len() - END.len() - 2 {
            let mut bytes = text.clone().into_bytes();
            bytes[at] = if bytes[at] == b'0' { b'1' } else { b'0' };
            let changed = String::from_utf8(bytes).unwrap();
            if let Ok(read) = DataKeys::read(&changed, &master) {
                let dates = |keys: &DataKeys| keys.list().map(|(id, _)| id).collect::<Vec<_>>();
                assert_eq!(dates(&read), dates(&keys), "only a date may differ: {at}");
            }
        }
        // An older key that is gone is not missed here, but by the first body that needs it.
        let without = text.replacen(&format!("{}\n", lines[3]), "", 1);
        assert!(!same(&DataKeys::read(&without, &master).unwrap(), &keys));
        let (first, _) = keys.list().next().unwrap();
        let signed = text.replace(&first, &format!("+{}", &first[1..]));
        assert!(matches!(
            DataKeys::read(&signed, &master),
            Err(DataKeysError::Malformed { .. })
        ));
        let none = format!("{HEAD}\n{END}\n");
        assert!(DataKeys::read(&none, &master).is_err());
    }
}
