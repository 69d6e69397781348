//! Checkpoint images: numbered files `checkpoint-<number>.img`, written once, complete or refused.
//!
//! ```text
//! file header   32: "PHCHKPNT", version u32, 0 u32, number u64, 0 u32, CRC-32 of the 28 bytes before
//! section       24: "SECT", kind u32, length u64, CRC-32 of the payload, CRC-32 of the 20 bytes before
//!               payload
//! trailer       32: "LAST", 0 u32, sections u64, file length u64, chain u32, CRC-32 of the 28 bytes before
//! ```
//!
//! All numbers are little-endian. The chain is the CRC-32 over the file header and all section headers in
//! order, each without its own checksum (a CRC over bytes that end with their CRC is the same for all
//! bytes, and would not notice sections that changed places). Since a section header holds its payload's
//! length and checksum, the chain covers the whole image and is cheap.
//!
//! Invariants:
//! * An image has its name only when it is complete and synced: it is written as `checkpoint-<number>.tmp`,
//!   synced, renamed, and then the directory is synced.
//! * A reader hands out a section only after its checksum was right, and says that there are no more only
//!   after the trailer agreed with what was read and nothing follows it.
//! * A reader allocates no more than the file is long.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crc32fast::Hasher;
use posthaste_env::{Disk, File, Open};

use crate::error::StoreError;
use crate::item::word;

const MAGIC: [u8; 8] = *b"PHCHKPNT";
const VERSION: u32 = 1;
const SECTION: [u8; 4] = *b"SECT";
const LAST: [u8; 4] = *b"LAST";
const FILE_HEADER: usize = 32;
const SECTION_HEADER: usize = 24;
const TRAILER: usize = 32;
/// Bytes gathered before a write, and read at a time.
const BUFFER: usize = 1 << 20;

/// File name of the image with this number.
pub fn image_name(number: u64) -> String {
    format!("checkpoint-{number}.img")
}

/// The number in the file name of a finished image.
pub fn image_number(name: &str) -> Option<u64> {
    let number = name.strip_prefix("checkpoint-")?.strip_suffix(".img")?;
    number.parse().ok()
}

fn unfinished_name(number: u64) -> String {
    format!("checkpoint-{number}.tmp")
}

/// Writes one checkpoint image, section after section.
///
/// After an error the unfinished file is removed if the file system allows it; if not, the next
/// [`remove_other_images`] does. A writer that is dropped unfinished leaves the file to that as well.
pub struct ImageWriter {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    number: u64,
    path: PathBuf,
    file: Arc<dyn File>,
    written: u64,
    buffer: Vec<u8>,
    sections: u64,
    chain: Hasher,
}

impl std::fmt::Debug for ImageWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ImageWriter")
            .field("path", &self.path)
            .field("sections", &self.sections)
            .finish_non_exhaustive()
    }
}

impl ImageWriter {
    /// Starts image `number` in `dir`.
    pub fn begin(disk: &Arc<dyn Disk>, dir: &Path, number: u64) -> Result<ImageWriter, StoreError> {
        let path = dir.join(unfinished_name(number));
        let failed = |e| StoreError::from_io(&e, "create checkpoint image", &path);
        let file = disk.open(&path, Open::CREATE).map_err(failed)?;
        file.set_len(0).map_err(failed)?;
        let header = file_header(number);
        let mut chain = Hasher::new();
        chain.update(unsealed(&header));
        Ok(ImageWriter {
            disk: Arc::clone(disk),
            dir: dir.to_owned(),
            number,
            path,
            file,
            written: 0,
            buffer: header.to_vec(),
            sections: 0,
            chain,
        })
    }

    /// Adds a section. The kind and the bytes are the caller's.
    pub fn section(&mut self, kind: u32, bytes: &[u8]) -> Result<(), StoreError> {
        let header = section_header(kind, bytes);
        self.chain.update(unsealed(&header));
        self.sections += 1;
        self.add(&header)?;
        self.add(bytes)
    }

    /// Bytes so far.
    pub fn bytes(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    /// Completes the image: after this it is durable under its name.
    pub fn finish(mut self) -> Result<(), StoreError> {
        let length = self.bytes() + TRAILER as u64;
        let chain = self.chain.clone().finalize();
        self.add(&trailer(self.sections, length, chain))?;
        self.flush()?;
        self.file.sync().map_err(|e| {
            StoreError::from_sync(&e, &self.abandon("sync checkpoint image"), &self.path)
        })?;
        let name = self.dir.join(image_name(self.number));
        self.disk
            .rename(&self.path, &name)
            .or_else(|e| self.fail(&e, "rename checkpoint image"))?;
        self.disk
            .sync_dir(&self.dir)
            .map_err(|e| StoreError::from_sync(&e, "sync directory", &self.dir))
    }

    fn add(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        if self.buffer.len() + bytes.len() > BUFFER {
            self.flush()?;
        }
        if bytes.len() > BUFFER {
            return self.write(bytes);
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        let mut buffer = std::mem::take(&mut self.buffer);
        self.write(&buffer)?;
        buffer.clear();
        self.buffer = buffer;
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        self.file
            .write_at(bytes, self.written)
            .or_else(|e| self.fail(&e, "write checkpoint image"))?;
        self.written += bytes.len() as u64;
        Ok(())
    }

    /// Reports an error, and gives the space back now: after "no room" it is wanted.
    fn fail(&self, error: &std::io::Error, act: &str) -> Result<(), StoreError> {
        Err(StoreError::from_io(error, &self.abandon(act), &self.path))
    }

    /// Removes the unfinished file; gives what was being done, and whether the file is left behind.
    fn abandon(&self, act: &str) -> String {
        match self.disk.remove_file(&self.path) {
            Ok(()) => act.to_owned(),
            Err(also) => format!("(leaving it behind: {also}) {act}"),
        }
    }
}

/// Reads a checkpoint image section by section.
pub struct ImageReader {
    file: Arc<dyn File>,
    path: PathBuf,
    length: u64,
    /// Bytes of the file that are in `window`, of which those before `next` have been taken.
    window: Vec<u8>,
    next: usize,
    /// Position in the file of the next byte to take.
    at: u64,
    sections: u64,
    chain: Hasher,
}

impl std::fmt::Debug for ImageReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ImageReader")
            .field("path", &self.path)
            .field("at", &self.at)
            .finish_non_exhaustive()
    }
}

impl ImageReader {
    /// Opens image `number` in `dir` and checks its header.
    pub fn open(disk: &Arc<dyn Disk>, dir: &Path, number: u64) -> Result<ImageReader, StoreError> {
        let path = dir.join(image_name(number));
        let file = disk
            .open(&path, Open::READ)
            .map_err(|e| StoreError::from_io(&e, "open checkpoint image", &path))?;
        ImageReader::over(file, &path, number)
    }

    pub(crate) fn over(
        file: Arc<dyn File>,
        path: &Path,
        number: u64,
    ) -> Result<ImageReader, StoreError> {
        let length = file
            .len()
            .map_err(|e| StoreError::from_io(&e, "read checkpoint image", path))?;
        let mut reader = ImageReader {
            file,
            path: path.to_owned(),
            length,
            window: Vec::new(),
            next: 0,
            at: 0,
            sections: 0,
            chain: Hasher::new(),
        };
        reader.read_header(number)?;
        Ok(reader)
    }

    fn read_header(&mut self, number: u64) -> Result<(), StoreError> {
        let header: [u8; FILE_HEADER] = self.take_array("the file header")?;
        if !header.starts_with(&MAGIC) {
            return Err(self.damaged("this is not a checkpoint image:", 0));
        }
        if !sealed(&header) {
            return Err(self.damaged("wrong file header checksum", 0));
        }
        match word(&header, 8) {
            Some(VERSION) => {}
            found => {
                return Err(StoreError::Version {
                    file: self.path.display().to_string(),
                    found: found.unwrap_or(0),
                    supported: VERSION,
                });
            }
        }
        if header != file_header(number) {
            return Err(self.damaged("the image has another number than its name", 16));
        }
        self.chain.update(unsealed(&header));
        Ok(())
    }

    /// The next section, or `None` at the end of a complete image.
    pub fn next_section(&mut self) -> Result<Option<(u32, Vec<u8>)>, StoreError> {
        let start = self.at;
        let mark = self.take(4, "a section or the trailer")?;
        if mark == LAST {
            return self.read_trailer(start).map(|()| None);
        }
        if mark != SECTION {
            return Err(self.damaged("neither a section nor the trailer", start));
        }
        let rest: [u8; SECTION_HEADER - 4] = self.take_array("a section header")?;
        let mut header = [0; SECTION_HEADER];
        for (to, from) in header.iter_mut().zip(SECTION.into_iter().chain(rest)) {
            *to = from;
        }
        let (Some(kind), Some(length), Some(crc), true) = (
            word(&header, 4),
            long(&header, 8),
            word(&header, 16),
            sealed(&header),
        ) else {
            return Err(self.damaged("wrong section header checksum", start));
        };
        self.chain.update(unsealed(&header));
        let at = self.at;
        let bytes = self.take(length, "a section")?.to_vec();
        if crc32fast::hash(&bytes) != crc {
            return Err(self.damaged("wrong section checksum", at));
        }
        self.sections += 1;
        Ok(Some((kind, bytes)))
    }

    fn read_trailer(&mut self, start: u64) -> Result<(), StoreError> {
        let rest: [u8; TRAILER - 4] = self.take_array("the trailer")?;
        let chain = self.chain.clone().finalize();
        let expected = trailer(self.sections, self.at, chain);
        if expected.get(4..) != Some(&rest[..]) {
            return Err(self.damaged("a trailer that does not fit the sections before it", start));
        }
        if self.at != self.length {
            return Err(self.damaged("bytes after the trailer", self.at));
        }
        Ok(())
    }

    fn take_array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], StoreError> {
        let at = self.at;
        let array = self.take(N as u64, what)?.first_chunk::<N>().copied();
        array.ok_or_else(|| self.damaged(what, at))
    }

    /// The next `count` bytes of the file.
    fn take(&mut self, count: u64, what: &str) -> Result<&[u8], StoreError> {
        let rest = self.length - self.at;
        let count = match usize::try_from(count) {
            Ok(small) if count <= rest => small,
            _ => return Err(self.damaged(&format!("the file ends within {what}"), self.at)),
        };
        if self.window.len() - self.next < count {
            self.refill(count, what)?;
        }
        let from = self.next;
        self.next += count;
        self.at += count as u64;
        Ok(self.window.get(from..self.next).unwrap_or(&[]))
    }

    fn refill(&mut self, count: usize, what: &str) -> Result<(), StoreError> {
        self.window.drain(..self.next);
        self.next = 0;
        let have = self.window.len();
        let from = self.at + have as u64;
        let rest = usize::try_from(self.length - from).unwrap_or(usize::MAX);
        self.window
            .resize(have + rest.min(BUFFER.max(count - have)), 0);
        let (_, target) = self.window.split_at_mut(have);
        let got = self
            .file
            .read_at(target, from)
            .map_err(|e| StoreError::from_io(&e, "read checkpoint image", &self.path))?;
        self.window.truncate(have + got);
        if self.window.len() < count {
            return Err(self.damaged(&format!("the file ends within {what}"), self.at));
        }
        Ok(())
    }

    fn damaged(&self, what: &str, offset: u64) -> StoreError {
        StoreError::damaged(&self.path, what, offset)
    }
}

/// Reads a whole image: its sections in the order they were written.
pub fn read_image(
    disk: &Arc<dyn Disk>,
    dir: &Path,
    number: u64,
) -> Result<Vec<(u32, Vec<u8>)>, StoreError> {
    let mut reader = ImageReader::open(disk, dir, number)?;
    let mut sections = Vec::new();
    while let Some(section) = reader.next_section()? {
        sections.push(section);
    }
    Ok(sections)
}

/// Removes all images except `keep`, and all that were never finished.
pub fn remove_other_images(disk: &Arc<dyn Disk>, dir: &Path, keep: u64) -> Result<(), StoreError> {
    let failed = |e| StoreError::from_io(&e, "remove old checkpoint images in", dir);
    for name in disk.list(dir).map_err(failed)? {
        let ours = name.strip_prefix("checkpoint-").and_then(|rest| {
            let (number, end) = rest.split_once('.')?;
            let number = number.parse::<u64>().ok()?;
            (end == "img" || end == "tmp").then_some((number, end == "img"))
        });
        if ours.is_some_and(|image| image != (keep, true)) {
            disk.remove_file(&dir.join(name)).map_err(failed)?;
        }
    }
    Ok(())
}

/// The bytes of a whole image.
pub(crate) fn encode_image(number: u64, sections: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let mut out = file_header(number).to_vec();
    let mut chain = Hasher::new();
    chain.update(unsealed(&out));
    for (kind, bytes) in sections {
        let header = section_header(*kind, bytes);
        chain.update(unsealed(&header));
        out.extend_from_slice(&header);
        out.extend_from_slice(bytes);
    }
    let length = out.len() + TRAILER;
    out.extend_from_slice(&trailer(
        sections.len() as u64,
        length as u64,
        chain.finalize(),
    ));
    out
}

fn file_header(number: u64) -> [u8; FILE_HEADER] {
    let version = VERSION.to_le_bytes();
    seal([&MAGIC, &version, &[0; 4], &number.to_le_bytes(), &[0; 4]])
}

fn section_header(kind: u32, bytes: &[u8]) -> [u8; SECTION_HEADER] {
    let crc = crc32fast::hash(bytes).to_le_bytes();
    let length = (bytes.len() as u64).to_le_bytes();
    seal([&SECTION, &kind.to_le_bytes(), &length, &crc, &[]])
}

fn trailer(sections: u64, length: u64, chain: u32) -> [u8; TRAILER] {
    seal([
        &LAST,
        &[0; 4],
        &sections.to_le_bytes(),
        &length.to_le_bytes(),
        &chain.to_le_bytes(),
    ])
}

/// Joins fields to a structure of `N` bytes whose last four are the checksum of those before.
fn seal<const N: usize>(fields: [&[u8]; 5]) -> [u8; N] {
    let joined = fields.concat();
    assert!(joined.len() + 4 == N, "the fields fill the structure");
    let crc = crc32fast::hash(&joined).to_le_bytes();
    let mut out = [0; N];
    for (to, from) in out.iter_mut().zip(joined.into_iter().chain(crc)) {
        *to = from;
    }
    out
}

/// The structure without its checksum.
fn unsealed(structure: &[u8]) -> &[u8] {
    structure
        .split_last_chunk::<4>()
        .map_or(structure, |(body, _)| body)
}

fn sealed(structure: &[u8]) -> bool {
    structure
        .split_last_chunk::<4>()
        .is_some_and(|(body, crc)| crc32fast::hash(body).to_le_bytes() == *crc)
}

/// The little-endian number at `at`, if the bytes reach that far.
fn long(bytes: &[u8], at: usize) -> Option<u64> {
    let field = bytes.get(at..)?.first_chunk::<8>()?;
    Some(u64::from_le_bytes(*field))
}
