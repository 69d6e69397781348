//! What messages are filled with.

use std::path::PathBuf;

use super::LONGEST;

use crate::measure::LabError;

/// Repeats every 57 characters, hence compresses very well, as MQ-CPH's default text does.
const PHRASE: &[u8; 57] = b"The post goes out in haste, by day, by night, by land .. ";

/// What messages are filled with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Text {
    /// A phrase, again and again.
    Repeating,
    /// Letters and digits without a pattern (`-mr`), the same in every run.
    Random,
    /// A file's bytes (`-mf`), all of them: they make the length.
    File(PathBuf),
}

/// The data of a message of `bytes` bytes.
///
/// # Errors
/// The file cannot be read, or is longer than a message may be.
pub fn body(text: &Text, bytes: usize) -> Result<Vec<u8>, LabError> {
    match text {
        Text::Repeating => Ok(PHRASE.iter().copied().cycle().take(bytes).collect()),
        Text::Random => Ok(random(bytes)),
        Text::File(path) => {
            let failed = |why: String| LabError::BadInput(format!("-mf {}: {why}", path.display()));
            let data = std::fs::read(path).map_err(|error| failed(error.to_string()))?;
            match data.len() > LONGEST {
                true => Err(failed(format!("a message has at most {LONGEST} bytes"))),
                false => Ok(data),
            }
        }
    }
}

/// A xorshift generator is pattern enough to be the same everywhere, and none to a compressor.
fn random(bytes: usize) -> Vec<u8> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";
    let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
    (0..bytes)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            LETTERS.get((state >> 58) as usize).copied().unwrap_or(b'A')
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn texts_have_their_length_and_pattern() {
        for bytes in [0, 1, 57, 58, 2048] {
            for text in [Text::Repeating, Text::Random] {
                assert_eq!(body(&text, bytes).unwrap().len(), bytes);
            }
        }
        let repeating = body(&Text::Repeating, 114).unwrap();
        assert_eq!(repeating[..57], repeating[57..]);
        let random = body(&Text::Random, 57_000).unwrap();
        let windows: HashSet<&[u8]> = random.chunks(57).collect();
        assert_eq!(windows.len(), 1000);
    }

    #[test]
    fn a_file_is_the_message() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), b"letter").unwrap();
        assert_eq!(body(&Text::File(file.path().into()), 9).unwrap(), b"letter");
        let error = body(&Text::File("/nowhere/x".into()), 9).unwrap_err();
        assert!(error.to_string().contains("-mf"), "{error}");
    }
}
