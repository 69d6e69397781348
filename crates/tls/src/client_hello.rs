//! The server name in the first message of a handshake, before OpenSSL gets it: by it certificate and CipherSpecs are
//! chosen, and OpenSSL has chosen some of them by the time it would tell.
//!
//! Invariant: nothing is decided here about whether the message is right (RFC 8446, section 4.1.2): whatever is not as
//! expected names no server, and OpenSSL refuses it in its own way.

/// Types of records, messages, extensions and names.
const HANDSHAKE: u8 = 22;
const CLIENT_HELLO: u8 = 1;
const SERVER_NAME: u16 = 0;
const HOST: u8 = 0;
/// The longest message that is waited for.
const LONGEST: usize = 64 * 1024;
/// The records that it is waited for in, at most: everything is looked at again whenever more has come.
const MOST_RECORDS: usize = 16;

/// What is known of a client's first message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Hello {
    /// It has not come completely.
    Incomplete,
    /// It is there, or is none. The server it names, if it does.
    Complete(Option<String>),
}

/// Looks at what has come on a connection from its beginning.
pub(crate) fn look(bytes: &[u8]) -> Hello {
    let mut message = Vec::new();
    let mut records = Reader(bytes);
    for _ in 0..=MOST_RECORDS {
        let Some(wanted) = missing(&message) else {
            return Hello::Complete(server_name(&message));
        };
        if wanted > LONGEST {
            return Hello::Complete(None);
        }
        match records.0.first() {
            None | Some(&HANDSHAKE) => {}
            Some(_) => return Hello::Complete(None),
        }
        match record(&mut records) {
            Some([]) => return Hello::Complete(None),
            Some(part) => message.extend_from_slice(part),
            None => return Hello::Incomplete,
        }
    }
    Hello::Complete(None)
}

/// How long the message is in all, while it is not complete.
fn missing(message: &[u8]) -> Option<usize> {
    let [kind, length @ ..] = message.get(..4).unwrap_or_default() else {
        return Some(4);
    };
    if *kind != CLIENT_HELLO {
        return None;
    }
    let length = length
        .iter()
        .fold(0, |sum, byte| sum << 8 | usize::from(*byte));
    (message.len() < 4 + length).then_some(4 + length)
}

fn record<'a>(records: &mut Reader<'a>) -> Option<&'a [u8]> {
    records.take(3)?;
    records.vector(2)
}

fn server_name(message: &[u8]) -> Option<String> {
    let mut message = Reader(message);
    let kind = message.number(1)?;
    let mut hello = Reader(message.vector(3)?);
    if kind != usize::from(CLIENT_HELLO) {
        return None;
    }
    // Version and random bytes, session, CipherSpecs, compression.
    hello.take(2 + 32)?;
    hello.vector(1)?;
    hello.vector(2)?;
    hello.vector(1)?;
    let mut extensions = Reader(hello.vector(2)?);
    while !extensions.0.is_empty() {
        let kind = extensions.number(2)?;
        let extension = extensions.vector(2)?;
        if kind == usize::from(SERVER_NAME) {
            let mut names = Reader(Reader(extension).vector(2)?);
            let kind = names.number(1)?;
            let name = names.vector(2)?;
            let is_host = kind == usize::from(HOST);
            return std::str::from_utf8(name)
                .ok()
                .filter(|_| is_host)
                .map(str::to_owned);
        }
    }
    None
}

/// Numbers, and vectors with their lengths before them.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self, bytes: usize) -> Option<usize> {
        let digits = self.take(bytes)?;
        Some(
            digits
                .iter()
                .fold(0, |sum, byte| sum << 8 | usize::from(*byte)),
        )
    }

    /// `bytes`: of its length.
    fn vector(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let length = self.number(bytes)?;
        self.take(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(bytes: usize, contents: &[u8]) -> Vec<u8> {
        let length = contents.len().to_be_bytes();
        [&length[length.len() - bytes..], contents].concat()
    }

    fn message(extensions: &[u8]) -> Vec<u8> {
        let parts = [
            vector(1, &[9; 32]),
            vector(2, &[0x13, 1]),
            vector(1, &[0]),
            vector(2, extensions),
        ];
        let body = [vec![3; 34], parts.concat()].concat();
        [vec![1], vector(3, &body)].concat()
    }

    fn records(message: &[u8], each: usize) -> Vec<u8> {
        let record = |part: &[u8]| [vec![22, 3, 1], vector(2, part)].concat();
        message.chunks(each).flat_map(record).collect()
    }

    fn naming(name: &str) -> Vec<u8> {
        let names = [vec![0], vector(2, name.as_bytes())].concat();
        [
            vec![0, 10],
            vector(2, &[1, 2]),
            vec![0, 0],
            vector(2, &vector(2, &names)),
        ]
        .concat()
    }

    #[test]
    fn the_name_is_found_in_one_record_or_many_and_not_before_all_is_there() {
        let message = message(&naming("c.chl.mq.ibm.com"));
        for each in [message.len().div_ceil(MOST_RECORDS), 50, 10_000] {
            let bytes = records(&message, each);
            for length in 0..bytes.len() {
                assert_eq!(
                    look(&bytes[..length]),
                    Hello::Incomplete,
                    "{length} of {each}"
                );
            }
            let found = Hello::Complete(Some("c.chl.mq.ibm.com".to_owned()));
            assert_eq!(look(&bytes), found);
        }
    }

    #[test]
    fn what_is_no_such_message_names_nobody() {
        let nobody = Hello::Complete(None);
        assert_eq!(look(&records(&message(&[0, 10, 0, 0]), 100)), nobody);
        assert_eq!(look(b"TSH "), nobody);
        assert_eq!(look(&[22, 3, 1, 0, 0]), nobody, "an empty record");
        assert_eq!(look(&records(&[2, 0, 0, 0], 4)), nobody, "another message");
        assert_eq!(
            look(&records(&[1, 0xFF, 0xFF, 0xFF, 0], 5)),
            nobody,
            "too long"
        );
        let message = message(&naming("name"));
        let pieces = records(&message, 1);
        // Records of six bytes, each with one of the message.
        let most = MOST_RECORDS * 6;
        assert_eq!(look(&pieces[..most]), Hello::Incomplete);
        assert_eq!(look(&pieces[..most + 6]), nobody, "too many records");
        assert_eq!(look(&pieces), nobody, "too many records");
        let bytes = records(&message, 10_000);
        for at in 0..bytes.len() {
            for byte in [0, 1, 0x7F, 0xFF] {
                let mut changed = bytes.clone();
                changed[at] = byte;
                look(&changed);
            }
        }
    }
}
