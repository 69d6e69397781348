//! What is certainly this program's. Configuration files name folders, and what a mistaken line names may be anybody's: before
//! a folder is removed, or taken in, it is looked at for what nobody else writes.
//!
//! Invariant: a file that another product has too (`qm.ini` of IBM MQ, `lock`) is never a sign.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use crate::layout::Home;

/// Where the two slots of a log's control file carry its magic number.
const SLOTS: [usize; 2] = [4, 4096 + 4];
const CONTROL: &[u8] = b"PHLC";
const IMAGE: &[u8] = b"PHCHKPNT";
const QUEUE: &[u8] = b"PHQF";

/// What a folder that is somebody's data is for this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Data {
    /// There is none, or one without a `qm.ini`: a disk may not be mounted.
    Absent,
    /// It has a `qm.ini` and nothing else that only this program writes.
    Foreign,
    /// A queue manager's.
    Ours,
}

/// Whether a folder is a recovery log: one of the slots is enough, for what is damaged is still ours.
pub(crate) fn is_log(folder: &Path) -> bool {
    let head = head(&folder.join("LOG.CTL"), 4096 + 8);
    let found = |at: usize| head.get(at..at + CONTROL.len()) == Some(CONTROL);
    SLOTS.into_iter().any(found)
}

/// What the folder of a queue manager is.
pub(crate) fn data(home: &Home) -> Data {
    if !home.configuration().is_file() {
        return Data::Absent;
    }
    let reserve = home.folder.join("checkpoint.reserve").is_file();
    let signs =
        || has(&home.folder, is_image, IMAGE) || has(&home.folder.join("queues"), |_| true, QUEUE);
    match reserve || signs() {
        true => Data::Ours,
        false => Data::Foreign,
    }
}

/// The name of a checkpoint image, also of one that is being written.
pub(crate) fn is_image(name: &str) -> bool {
    let number = name.strip_prefix("checkpoint-").and_then(|rest| {
        rest.strip_suffix(".img")
            .or_else(|| rest.strip_suffix(".tmp"))
    });
    number.is_some_and(is_number)
}

/// Whether text is a number as names of files have it.
pub(crate) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Whether a folder has nothing in it, or is not there.
pub(crate) fn is_empty(folder: &Path) -> bool {
    match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

fn has(folder: &Path, named: impl Fn(&str) -> bool, magic: &[u8]) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name().to_str().is_some_and(&named))
        .any(|entry| head(&entry.path(), magic.len()) == magic)
}

/// The first bytes of a regular file; none of anything else, which a read could wait for.
fn head(path: &Path, bytes: usize) -> Vec<u8> {
    let mut head = Vec::new();
    if fs::metadata(path).is_ok_and(|found| found.is_file())
        && let Ok(file) = fs::File::open(path)
    {
        // What cannot be read is no sign.
        let _ = file.take(bytes as u64).read_to_end(&mut head);
    }
    head
}
