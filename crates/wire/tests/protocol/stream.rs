//! Reads the captured streams in `tests/vectors`. The tests of the channel crate include this file too.

use std::path::Path;

/// One captured segment.
#[derive(Clone, Debug)]
pub(crate) struct Captured {
    pub(crate) file: String,
    /// Its number in the file.
    pub(crate) number: String,
    /// TCP connection in the scenario.
    pub(crate) socket: u32,
    pub(crate) from_client: bool,
    pub(crate) bytes: Vec<u8>,
}

impl Captured {
    pub(crate) fn name(&self) -> String {
        format!("{} [{}]", self.file, self.number)
    }
}

/// Every segment of every file, in order.
pub(crate) fn all() -> Vec<Captured> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wire/tests/vectors");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "hex"))
        .collect();
    files.sort();
    assert!(files.len() >= 50, "the vectors are there");
    files.iter().flat_map(|path| file(path)).collect()
}

fn file(path: &Path) -> Vec<Captured> {
    let name = path.file_stem().unwrap().to_string_lossy().into_owned();
    let mut found: Vec<Captured> = Vec::new();
    let mut open = false;
    for line in std::fs::read_to_string(path).unwrap().lines() {
        if let Some(rest) = line.strip_prefix("# [") {
            let (number, rest) = rest.split_once(']').unwrap();
            let socket = rest.split_once("sock=").unwrap().1;
            let socket = socket.split(' ').next().unwrap().parse().unwrap();
            found.push(Captured {
                file: name.clone(),
                number: number.to_owned(),
                socket,
                from_client: rest.trim_start().starts_with("C->S"),
                bytes: Vec::new(),
            });
            open = true;
        } else if line.is_empty() || line.starts_with('#') {
            open = false;
        } else if open {
            let bytes = &mut found.last_mut().unwrap().bytes;
            line.split_whitespace().for_each(|token| push(bytes, token));
        }
    }
    found
}

fn push(bytes: &mut Vec<u8>, token: &str) {
    match token.split_once('*') {
        Some((byte, count)) => {
            let byte = u8::from_str_radix(byte, 16).unwrap();
            bytes.extend(std::iter::repeat_n(byte, count.parse().unwrap()));
        }
        None => {
            for pair in token.as_bytes().chunks(2) {
                let pair = std::str::from_utf8(pair).unwrap();
                bytes.push(u8::from_str_radix(pair, 16).unwrap());
            }
        }
    }
}
