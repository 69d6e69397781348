//! Seeds that are pieces of files: a log, a checkpoint image and a queue file are made in a temporary
//! folder by the code that makes real ones, and cut.

use std::fmt::Display;
use std::path::Path;

use posthaste_env::{block_on, os};
use posthaste_recovery_log::{Class, LogConfig, create, drive, open};
use posthaste_store::{ImageWriter, QueueFile};

use super::{LONGEST, Seeds};

const PAGE: usize = 4096;

fn must<T, E: Display>(what: &str, result: Result<T, E>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("{what}: {error}"),
    }
}

fn read(path: &Path) -> Vec<u8> {
    must(&path.display().to_string(), std::fs::read(path))
}

/// Seeds of `log_pages`: pages with one short record, with the middle of a long one, and padded; the slots
/// of the control file; record headers with their LSNs.
pub fn log() -> Seeds {
    let folder = must("temporary folder", tempfile::tempdir());
    let env = os();
    let config = LogConfig {
        file_pages: 64,
        primary_files: 2,
        secondary_files: 1,
        ..LogConfig::default()
    };
    must(
        "create",
        create(&*env.disk, folder.path(), &config, &mut |_, _| {}),
    );
    let mut restart = must("open", open(&env, folder.path(), &config));
    while must("read", restart.next()).is_some() {}
    let (log, writer) = must("finish", restart.finish());
    // All records are appended before the writer starts, so that they are always laid out the same.
    let long = vec![0x5A; 6_000];
    let records: [&[&[u8]]; 4] = [
        &[b"short"],
        &[b"in ", b"parts"],
        &[&long],
        &[b"after a long one"],
    ];
    let mut starts = Vec::new();
    let mut end = log.appended();
    for parts in records {
        let appended = must("append", log.append(Class::Ordinary, parts));
        starts.push(appended.start.0);
        end = appended.end;
    }
    let driver = must("drive", drive(&env, &log, writer));
    must("force", block_on(log.force(end)));
    log.shut_down();
    assert!(driver.join().is_ok(), "the log writer panicked");

    let extent = read(&folder.path().join("active").join("S0000000.LOG"));
    let control = read(&folder.path().join("LOG.CTL"));
    let mut seeds = Seeds::new();
    for (name, page) in ["page-first", "page-middle", "page-last"]
        .into_iter()
        .zip(extent.chunks(PAGE))
    {
        seeds.push((name.to_owned(), page.to_vec()));
    }
    for (name, slot) in ["control-slot-1", "control-slot-2"]
        .into_iter()
        .zip(control.chunks(PAGE))
    {
        seeds.push((name.to_owned(), slot.to_vec()));
    }
    for start in starts {
        let mut seed = start.to_le_bytes().to_vec();
        let at = must("offset", usize::try_from(start));
        seed.extend_from_slice(extent.get(at..at + 8).unwrap_or(&[]));
        seeds.push((format!("record-{start}"), seed));
    }
    seeds
}

/// Seeds of `image`: an empty and a filled image, a stored item, steps of the free-space map.
pub fn store() -> Seeds {
    let folder = must("temporary folder", tempfile::tempdir());
    let disk = os().disk;
    let mut seeds = Seeds::new();
    for (name, number, sections) in [("image-empty", 1, 0), ("image-three-sections", 7, 3)] {
        let mut writer = must("begin", ImageWriter::begin(&disk, folder.path(), number));
        for section in 0..sections {
            must(
                "section",
                writer.section(section, &vec![b'a'; 100 * section as usize]),
            );
        }
        must("finish", writer.finish());
        let file = folder.path().join(posthaste_store::image_name(number));
        seeds.push((name.to_owned(), read(&file)));
    }
    let path = folder.path().join("QUEUE");
    let queue = must("create", QueueFile::create(&disk, &path));
    let place = must("write", queue.write(&[b"head ", b"and body of a message"]));
    must("sync", queue.sync());
    let at = must("offset", usize::try_from(place.block)) * 512;
    let file = read(&path);
    seeds.push((
        "item".to_owned(),
        file.get(at..at + 512).unwrap_or(&[]).to_vec(),
    ));
    let steps: Vec<u8> = (0..200u32)
        .flat_map(|step| {
            let [a, b, c, d] = (step * 37 % 29).to_le_bytes();
            [(step % 5) as u8, a, b, c, d]
        })
        .collect();
    seeds.push(("free-space".to_owned(), steps));
    assert!(seeds.iter().all(|(_, bytes)| bytes.len() <= LONGEST));
    seeds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_the_same_every_time() {
        assert_eq!(log(), log());
        assert_eq!(store(), store());
    }
}
