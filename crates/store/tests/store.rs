//! Queue files and checkpoint images on a fake disk that counts calls, runs out of room and breaks bytes,
//! and once on the real one.

#![allow(clippy::unwrap_used)]

mod fake_disk;

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fake_disk::FakeDisk;
use posthaste_env::{Disk, Open};
use posthaste_store::{
    BLOCK, ImageWriter, Place, QueueFile, Reserve, StoreError, image_name, read_image,
    remove_other_images,
};

const Q: &str = "/qm/queues/q1";

fn fake() -> (Arc<FakeDisk>, Arc<dyn Disk>) {
    let fake = Arc::new(FakeDisk::default());
    let disk: Arc<dyn Disk> = fake.clone();
    (fake, disk)
}

fn payload(n: usize) -> Vec<u8> {
    (0..n).map(|i| (i * 31 + n) as u8).collect()
}

/// Stores the same bytes so many times.
fn written(file: &QueueFile, bytes: &[u8], count: usize) -> Vec<Place> {
    (0..count).map(|_| file.write(&[bytes]).unwrap()).collect()
}

fn damaged(result: Result<impl std::fmt::Debug, StoreError>) -> (String, u64) {
    match result {
        Err(StoreError::Damaged { what, block }) => (what, block),
        other => panic!("expected damage, got {other:?}"),
    }
}

#[test]
fn written_items_are_read_back() {
    let (_, disk) = fake();
    let file = QueueFile::create(&disk, Path::new(Q)).unwrap();
    let sizes = [0, 1, 495, 496, 497, 2300, 4080, 4081, 70_000, 3_000_000];
    let places: Vec<Place> = sizes
        .iter()
        .map(|n| {
            let bytes = payload(*n);
            let (a, b) = bytes.split_at(n / 3);
            file.write(&[a, &[], b]).unwrap()
        })
        .collect();
    for (place, n) in places.iter().zip(sizes) {
        assert_eq!(place.length as usize, n);
        assert_eq!(file.read(place.block).unwrap(), payload(n));
    }
}

#[test]
fn one_write_for_an_item() {
    let (fake, disk) = fake();
    let file = QueueFile::create(&disk, Path::new(Q)).unwrap();
    let before = fake.writes();
    file.write(&[&payload(10), &payload(5000)]).unwrap();
    assert_eq!(fake.writes() - before, 1);
}

#[test]
fn holes_are_filled_before_the_file_grows() {
    let (_, disk) = fake();
    let file = QueueFile::create(&disk, Path::new(Q)).unwrap();
    let bytes = payload(2300);
    let first = written(&file, &bytes, 409);
    let blocks = file.file_blocks();
    for place in first.iter().step_by(2) {
        file.free(*place);
    }
    let again = written(&file, &bytes, 205);
    assert_eq!(file.file_blocks(), blocks, "the holes are enough");
    for place in again {
        assert_eq!(file.read(place.block).unwrap(), bytes);
    }
}

#[test]
fn freed_blocks_are_used_again() {
    let (_, disk) = fake();
    let file = QueueFile::create(&disk, Path::new(Q)).unwrap();
    for n in 0..10_000 {
        let place = file.write(&[&payload(n % 5000)]).unwrap();
        assert_eq!(file.used_blocks(), u64::from(place.blocks()));
        file.free(place);
    }
    assert_eq!(file.used_blocks(), 0);
    assert!(file.file_blocks() <= 4096, "{}", file.file_blocks());
}

#[test]
fn restart_reserves_and_finds_everything() {
    let (_, disk) = fake();
    let file = QueueFile::create(&disk, Path::new(Q)).unwrap();
    let bytes: Vec<Vec<u8>> = (0..500).map(|n| payload(n * 7)).collect();
    let mut places: Vec<Place> = bytes.iter().map(|b| file.write(&[b]).unwrap()).collect();
    file.sync().unwrap();
    drop(file);
    let keep: Vec<usize> = (0..500).filter(|n| n % 3 != 0).collect();
    let file = QueueFile::open(&disk, Path::new(Q)).unwrap();
    for n in keep.iter().rev() {
        file.reserve(places[*n]).unwrap();
    }
    for _ in 0..300 {
        places.push(file.write(&[&payload(300)]).unwrap());
    }
    for n in &keep {
        assert_eq!(file.read(places[*n].block).unwrap(), bytes[*n]);
    }
    let used = file.used_blocks();
    let live = keep.iter().copied().chain(500..800);
    file.rebuild(live.map(|n| places[n])).unwrap();
    assert_eq!(file.used_blocks(), used);
}

#[test]
fn places_that_cannot_be_are_refused() {
    let (_, disk) = fake();
    let file = QueueFile::create(&disk, Path::new(Q)).unwrap();
    let place = |block, length| Place { block, length };
    file.reserve(place(10, 2300)).unwrap();
    for (bad, word) in [
        (place(0, 1), "outside"),
        (place(u32::MAX, 1), "outside"),
        (place(1 << 31, 1), "outside"),
        (place(14, 1), "twice"),
        (place(6, 2300), "twice"),
        (place(10, 2300), "twice"),
    ] {
        let (what, block) = damaged(file.reserve(bad));
        assert!(what.contains(word) && what.contains(Q), "{what}");
        assert_eq!(block, u64::from(bad.block));
    }
    assert_eq!(file.used_blocks(), 5);
    file.reserve(place(15, 1)).unwrap();
    let twice = [place(3, 1), place(3, 1)];
    damaged(file.rebuild(twice.into_iter()));
}

#[test]
fn no_room_leaks_nothing() {
    let (fake, disk) = fake();
    let file = QueueFile::create(&disk, Path::new(Q)).unwrap();
    fake.set_room(40 * BLOCK as u64);
    let bytes = payload(2300);
    let mut places = Vec::new();
    let error = loop {
        match file.write(&[&bytes]) {
            Ok(place) => places.push(place),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, StoreError::Full), "{error}");
    assert!(places.len() >= 5, "{}", places.len());
    assert_eq!(file.used_blocks(), 5 * places.len() as u64);
    for place in &places {
        assert_eq!(file.read(place.block).unwrap(), bytes);
    }
    // Where the last write ended the file system has no room, but it has where an item was.
    file.free(places[2]);
    assert_eq!(file.write(&[&bytes]).unwrap(), places[2]);
    file.free(places[3]);
    assert_eq!(file.write(&[&bytes]).unwrap(), places[3]);
    fake.set_room(u64::MAX);
    assert_eq!(written(&file, &bytes, 100).len(), 100);
}

#[test]
fn no_room_for_a_longer_file_is_full_too() {
    let (fake, disk) = fake();
    let file = QueueFile::create(&disk, Path::new(Q)).unwrap();
    fake.refuse_extension(true);
    assert!(matches!(file.write(&[b"x"]), Err(StoreError::Full)));
    assert_eq!(file.used_blocks(), 0);
    fake.refuse_extension(false);
    assert_eq!(file.write(&[b"x"]).unwrap().block, 1);
}

#[test]
fn damage_is_recognised() {
    let (fake, disk) = fake();
    let file = QueueFile::create(&disk, Path::new(Q)).unwrap();
    let a = file.write(&[&payload(2300)]).unwrap();
    let b = file.write(&[&payload(9000)]).unwrap();
    // One changed byte.
    fake.flip(Path::new(Q), u64::from(a.block) * 512 + 1000);
    let (what, block) = damaged(file.read(a.block));
    assert!(what.contains("checksum") && what.contains(Q), "{what}");
    assert_eq!(block, u64::from(a.block));
    // The bytes of one item where another should be.
    let bytes = fake.bytes(Path::new(Q));
    let from = b.block as usize * BLOCK;
    let to = u64::from(b.end() as u32) * BLOCK as u64;
    let real = disk.open(Path::new(Q), Open::READ_WRITE).unwrap();
    real.write_at(&bytes[from..from + 18 * BLOCK], to).unwrap();
    let (what, _) = damaged(file.read(b.end() as u32));
    assert!(what.contains("another place"), "{what}");
    // Not an item at all, a place past the end, a file that has become short.
    damaged(file.read(b.block + 1));
    damaged(file.read(4_000_000));
    real.set_len((from + 600) as u64).unwrap();
    damaged(file.read(b.block));
}

#[test]
fn sync_makes_the_name_durable_once_and_reports_failure() {
    let (fake, disk) = fake();
    let file = QueueFile::create(&disk, Path::new(Q)).unwrap();
    assert_eq!(fake.dir_syncs(), 0);
    file.sync().unwrap();
    file.sync().unwrap();
    assert_eq!(fake.dir_syncs(), 1);
    fake.fail_sync(Some(ErrorKind::Other));
    assert!(matches!(file.sync(), Err(StoreError::Sync(_))));
}

/// After a failed sync the pages may be gone from memory, whatever the reason was: it is never "full, try
/// again".
#[test]
fn a_failed_sync_is_never_taken_for_a_full_disk() {
    for kind in [ErrorKind::StorageFull, ErrorKind::QuotaExceeded] {
        let (fake, disk) = fake();
        fake.fail_dir_sync(Some(kind));
        let file = QueueFile::create(&disk, Path::new(Q)).unwrap();
        file.write(&[b"x"]).unwrap();
        assert!(matches!(file.sync(), Err(StoreError::Sync(e)) if e.kind() == kind));
        let image = write_image(&disk, 1, &sample());
        assert!(matches!(image, Err(StoreError::Sync(_))), "{image:?}");
        fake.fail_dir_sync(None);
        fake.fail_sync(Some(kind));
        assert!(matches!(file.sync(), Err(StoreError::Sync(_))));
        let image = write_image(&disk, 2, &sample());
        assert!(matches!(image, Err(StoreError::Sync(_))), "{image:?}");
    }
}

#[test]
fn shrink_gives_the_free_end_back() {
    let (fake, disk) = fake();
    let file = QueueFile::create(&disk, Path::new(Q)).unwrap();
    let bytes = payload(2300);
    let places: Vec<Place> = (0..5000).map(|_| file.write(&[&bytes]).unwrap()).collect();
    let long = fake.bytes(Path::new(Q)).len();
    for place in &places[10..] {
        file.free(*place);
    }
    file.shrink().unwrap();
    let short = fake.bytes(Path::new(Q)).len();
    assert!(short <= 1 << 20 && short < long / 8, "{long} -> {short}");
    assert_eq!(file.file_blocks() * BLOCK as u64, short as u64);
    for place in &places[..10] {
        assert_eq!(file.read(place.block).unwrap(), bytes);
    }
    // A restart from an older image may still name a place beyond the end, and free it while replaying.
    let file = QueueFile::open(&disk, Path::new(Q)).unwrap();
    file.reserve(places[4999]).unwrap();
    damaged(file.read(places[4999].block));
    file.free(places[4999]);
    file.reserve(places[0]).unwrap();
    file.shrink().unwrap();
    assert_eq!(file.read(places[0].block).unwrap(), bytes);
    // Placement turns to the front, so that the end can become free.
    assert_eq!(file.write(&[&bytes]).unwrap().block, places[1].block);
}

#[test]
fn a_drained_file_gives_its_room_back_and_keeps_what_is_in_it() {
    let (fake, disk) = fake();
    let path = Path::new(Q);
    let file = QueueFile::create(&disk, path).unwrap();
    let bytes = payload(2300);
    let places: Vec<Place> = (0..5000).map(|_| file.write(&[&bytes]).unwrap()).collect();
    let full = fake.held(path);
    assert!(!file.has_much_to_give_back());
    // Every hundredth stays, the last one too: nothing can be cut off.
    let (kept, gone): (Vec<usize>, Vec<usize>) = (0..5000).partition(|n| n % 100 == 99);
    let much: Vec<bool> = gone.iter().map(|n| file.free(places[*n])).collect();
    let first = much.iter().position(|much| *much);
    let released = 5 * (first.unwrap() as u64 + 1);
    assert!(
        released >= 2048 && released >= (25_000 - released) / 4 && released < 6000,
        "worth its while after {released} blocks"
    );
    file.give_back(false).unwrap();
    let some = fake.held(path);
    file.give_back(true).unwrap();
    let all = fake.held(path);
    // A page at either side of what is kept.
    assert!(
        all <= some && all < kept.len() as u64 * 3 * 4096,
        "{full} {some} {all}"
    );
    assert_eq!(file.released_blocks(), 0);
    for n in &kept {
        assert_eq!(file.read(places[*n].block).unwrap(), bytes);
    }
    let again: Vec<Place> = (0..4950).map(|_| file.write(&[&bytes]).unwrap()).collect();
    assert!(fake.held(path) <= full + 4096);
    for place in again.iter().chain(kept.iter().map(|n| &places[*n])) {
        assert_eq!(file.read(place.block).unwrap(), bytes);
    }
}

/// Holes that are too small, or a file system that has none: what cannot be given back is not worth trying each time,
/// and is given back as soon as its neighbours are free too.
#[test]
fn what_was_passed_over_is_not_much_again() {
    for solid in [false, true] {
        let (fake, disk) = fake();
        fake.refuse_holes(solid);
        let file = QueueFile::create(&disk, Path::new(Q)).unwrap();
        let bytes = payload(2300);
        let places: Vec<Place> = (0..5000).map(|_| file.write(&[&bytes]).unwrap()).collect();
        let much = (0..4000).step_by(2).filter(|n| file.free(places[*n]));
        assert!(much.count() > 0 && file.has_much_to_give_back());
        file.give_back(false).unwrap();
        let passed_over = file.released_blocks();
        assert!(passed_over > 0 && !file.has_much_to_give_back());
        assert!(!file.free(places[4001]));
        let more = (1..4000).step_by(2).filter(|n| file.free(places[*n]));
        assert!(more.count() > 0 && file.has_much_to_give_back());
        file.give_back(false).unwrap();
        assert_eq!(file.released_blocks() < passed_over, !solid);
        // With everything gone the end is cut off, holes or not.
        let last = (4000..5000)
            .filter(|n| *n != 4001)
            .map(|n| file.free(places[n]));
        assert!(last.last().unwrap());
        file.give_back(false).unwrap();
        assert!(fake.held(Path::new(Q)) <= 1 << 20);
    }
}

/// The file system's own tables have no room for another hole: what could not be given back is the next time.
#[test]
fn room_that_could_not_be_given_back_is_given_back_later() {
    let (fake, disk) = fake();
    let path = Path::new(Q);
    let file = QueueFile::create(&disk, path).unwrap();
    let bytes = payload(2300);
    let places: Vec<Place> = (0..5000).map(|_| file.write(&[&bytes]).unwrap()).collect();
    let kept = [0, 1200, 2400, 4999];
    for n in (0..5000).filter(|n| !kept.contains(n)) {
        file.free(places[n]);
    }
    let free = file.released_blocks();
    fake.allow_holes(Some(3));
    file.give_back(true).unwrap();
    assert!(file.released_blocks() > free / 2 && fake.held(path) > 1 << 20);
    fake.allow_holes(None);
    file.give_back(true).unwrap();
    assert!(fake.held(path) <= 8 * 4096, "{}", fake.held(path));
    assert_eq!(file.check_space(), Ok(()));
    for n in kept {
        assert_eq!(file.read(places[n].block).unwrap(), bytes);
    }
}

/// Places are freed under the lock of a queue, which must not wait for the disk.
#[test]
fn nobody_who_frees_a_place_waits_while_the_file_changes_its_length() {
    let (fake, disk) = fake();
    let file = Arc::new(QueueFile::create(&disk, Path::new(Q)).unwrap());
    let bytes = payload(2300);
    let mut places: Vec<Place> = (0..5000).map(|_| file.write(&[&bytes]).unwrap()).collect();
    let later = places.split_off(2000);
    for place in later {
        file.free(place);
    }
    for longer in [false, true] {
        let (done, freed) = std::sync::mpsc::channel();
        let (other, place) = (file.clone(), places.pop().unwrap());
        fake.on_set_len(move || {
            let free = std::thread::spawn(move || {
                other.free(place);
                done.send(()).unwrap();
            });
            freed.recv_timeout(Duration::from_secs(60)).unwrap();
            free.join().unwrap();
        });
        if longer {
            let much = payload(4 << 20);
            file.write(&[&much]).unwrap();
        } else {
            file.shrink().unwrap();
        }
        assert_eq!(file.check_space(), Ok(()));
    }
    for place in &places {
        assert_eq!(file.read(place.block).unwrap(), bytes);
    }
}

#[test]
fn what_a_crash_left_free_is_given_back_after_it() {
    let (fake, disk) = fake();
    let path = Path::new(Q);
    let file = QueueFile::create(&disk, path).unwrap();
    let bytes = payload(2300);
    let places: Vec<Place> = (0..2000).map(|_| file.write(&[&bytes]).unwrap()).collect();
    drop(file);
    let file = QueueFile::open(&disk, path).unwrap();
    file.rebuild([places[0], places[1999]].into_iter()).unwrap();
    assert!(file.has_much_to_give_back());
    file.give_back(true).unwrap();
    assert!(fake.held(path) <= 6 * 4096, "{}", fake.held(path));
    assert_eq!(file.read(places[0].block).unwrap(), bytes);
    assert_eq!(file.read(places[1999].block).unwrap(), bytes);
}

#[test]
fn a_file_system_without_holes_gets_the_end_back_alone() {
    let (fake, disk) = fake();
    fake.refuse_holes(true);
    let path = Path::new(Q);
    let file = QueueFile::create(&disk, path).unwrap();
    let bytes = payload(2300);
    let places: Vec<Place> = (0..2000).map(|_| file.write(&[&bytes]).unwrap()).collect();
    for n in (0..1000).chain(1001..2000) {
        file.free(places[n]);
    }
    file.give_back(true).unwrap();
    file.give_back(true).unwrap();
    let held = fake.held(path);
    assert!((1000 * 2560..1 << 22).contains(&held), "{held}");
    assert_eq!(file.read(places[1000].block).unwrap(), bytes);
}

#[test]
fn a_reserve_takes_what_there_is_and_gives_it_up_piece_by_piece() {
    const MIB: u64 = 1 << 20;
    let (fake, disk) = fake();
    fake.set_room(3 * MIB + MIB / 2);
    let path = Path::new("/qm/checkpoint.reserve");
    let reserve = Reserve::new(&disk, Path::new("/qm"));
    assert!(reserve.make(2 * MIB).unwrap());
    assert_eq!((reserve.held(), fake.held(path)), (2 * MIB, 2 * MIB));
    assert!(!reserve.make(4 * MIB).unwrap(), "there is no room for all");
    assert!(reserve.held() >= 3 * MIB && reserve.held() <= fake.held(path));
    let file = QueueFile::create(&disk, Path::new(Q));
    assert!(file.is_ok() || matches!(file, Err(StoreError::Full)));
    assert!(reserve.spend(MIB, 0).unwrap());
    assert!(reserve.spend(9 * MIB, MIB).unwrap());
    assert_eq!(reserve.held(), MIB);
    assert!(
        !reserve.spend(1, MIB).unwrap(),
        "nothing beyond what is kept"
    );
    // A restart finds what is left, and makes the rest.
    let reserve = Reserve::new(&disk, Path::new("/qm"));
    assert!(reserve.make(MIB).unwrap());
    assert_eq!((reserve.held(), fake.held(path)), (MIB, MIB));
    fake.set_room(u64::MAX);
    assert!(reserve.make(8 * MIB).unwrap());
    // And what is kept without need goes back.
    assert!(reserve.make(5 * MIB).unwrap());
    assert_eq!(reserve.held(), 8 * MIB);
    assert!(reserve.make(MIB).unwrap());
    assert_eq!((reserve.held(), fake.held(path)), (MIB, MIB));
}

#[test]
fn files_that_are_not_ours_are_refused() {
    let (_, disk) = fake();
    let path = Path::new(Q);
    let put = |bytes: &[u8]| {
        let file = disk.open(path, Open::CREATE).unwrap();
        file.set_len(0).unwrap();
        file.write_at(bytes, 0).unwrap();
    };
    put(b"DEFINE QLOCAL(A)");
    damaged(QueueFile::open(&disk, path));
    put(&[0; 4096]);
    QueueFile::open(&disk, path).unwrap();
    put(&[]);
    let file = QueueFile::open(&disk, path).unwrap();
    let place = file.write(&[b"first"]).unwrap();
    drop(file);
    let file = QueueFile::open(&disk, path).unwrap();
    assert_eq!(file.read(place.block).unwrap(), b"first");
    let missing = QueueFile::open(&disk, Path::new("/none"));
    assert!(matches!(missing, Err(StoreError::Io(e)) if e.kind() == std::io::ErrorKind::NotFound));
}

#[test]
fn threads_share_a_file() {
    let (_, disk) = fake();
    let file = Arc::new(QueueFile::create(&disk, Path::new(Q)).unwrap());
    let workers: Vec<_> = (0..4usize)
        .map(|worker| {
            let file = Arc::clone(&file);
            std::thread::spawn(move || {
                let mut held: Vec<(Place, usize)> = Vec::new();
                for n in 0..2000usize {
                    let size = worker * 1000 + n % 777;
                    held.push((file.write(&[&payload(size)]).unwrap(), size));
                    if held.len() > 20 {
                        let (place, size) = held.swap_remove(n % 20);
                        assert_eq!(file.read(place.block).unwrap(), payload(size));
                        file.free(place);
                    }
                }
                held.iter().map(|(p, _)| u64::from(p.blocks())).sum::<u64>()
            })
        })
        .collect();
    let held: u64 = workers.into_iter().map(|w| w.join().unwrap()).sum();
    assert_eq!(file.used_blocks(), held);
}

fn sample() -> Vec<(u32, Vec<u8>)> {
    vec![
        (1, payload(100)),
        (7, Vec::new()),
        (7, payload(3_000_000)),
        (2, payload(1_048_576)),
        (u32::MAX, payload(1)),
    ]
}

fn write_image(
    disk: &Arc<dyn Disk>,
    number: u64,
    sections: &[(u32, Vec<u8>)],
) -> Result<(), StoreError> {
    let mut writer = ImageWriter::begin(disk, Path::new("/qm"), number)?;
    for (kind, bytes) in sections {
        writer.section(*kind, bytes)?;
    }
    writer.finish()
}

#[test]
fn images_are_read_back() {
    let (fake, disk) = fake();
    for sections in [Vec::new(), sample()] {
        write_image(&disk, 5, &sections).unwrap();
        assert_eq!(read_image(&disk, Path::new("/qm"), 5).unwrap(), sections);
    }
    assert_eq!(fake.dir_syncs(), 2);
    assert_eq!(disk.list(Path::new("/qm")).unwrap(), [image_name(5)]);
    let many: Vec<(u32, Vec<u8>)> = (0..200_000)
        .map(|n| (n, payload(n as usize % 50)))
        .collect();
    let (reads, writes) = (fake.reads(), fake.writes());
    write_image(&disk, 6, &many).unwrap();
    assert_eq!(read_image(&disk, Path::new("/qm"), 6).unwrap(), many);
    assert!(fake.reads() - reads < 20 && fake.writes() - writes < 20);
}

#[test]
fn an_image_has_its_name_only_when_complete() {
    let (_, disk) = fake();
    let mut writer = ImageWriter::begin(&disk, Path::new("/qm"), 1).unwrap();
    writer.section(1, &payload(2_000_000)).unwrap();
    assert!(writer.bytes() > 2_000_000);
    let missing = read_image(&disk, Path::new("/qm"), 1);
    assert!(matches!(missing, Err(StoreError::Io(e)) if e.kind() == std::io::ErrorKind::NotFound));
    drop(writer);
    write_image(&disk, 2, &sample()).unwrap();
    write_image(&disk, 3, &sample()).unwrap();
    disk.open(Path::new("/qm/checkpoint-x.img"), Open::CREATE)
        .unwrap();
    remove_other_images(&disk, Path::new("/qm"), 3).unwrap();
    let left = disk.list(Path::new("/qm")).unwrap();
    assert_eq!(left, ["checkpoint-3.img", "checkpoint-x.img"]);
}

fn replace(disk: &Arc<dyn Disk>, number: u64, bytes: &[u8]) {
    let path = Path::new("/qm").join(image_name(number));
    let file = disk.open(&path, Open::CREATE).unwrap();
    file.set_len(0).unwrap();
    file.write_at(bytes, 0).unwrap();
}

fn small_image() -> (Arc<dyn Disk>, Vec<u8>) {
    let (fake, disk) = fake();
    let sections = [(1, payload(70)), (2, Vec::new()), (3, payload(9))];
    write_image(&disk, 8, &sections).unwrap();
    let bytes = fake.bytes(&Path::new("/qm").join(image_name(8)));
    (disk, bytes)
}

#[test]
fn every_torn_image_is_refused() {
    let (disk, bytes) = small_image();
    for cut in 0..bytes.len() {
        replace(&disk, 8, &bytes[..cut]);
        let (what, _) = damaged(read_image(&disk, Path::new("/qm"), 8));
        assert!(
            what.contains("checkpoint-8.img") && what.contains("byte"),
            "{what}"
        );
        // The same with zeros where the rest was not written.
        let mut zeros = bytes[..cut].to_vec();
        zeros.resize(bytes.len(), 0);
        if zeros != bytes {
            replace(&disk, 8, &zeros);
            damaged(read_image(&disk, Path::new("/qm"), 8));
        }
    }
    let mut longer = bytes.clone();
    longer.push(0);
    replace(&disk, 8, &longer);
    assert!(
        damaged(read_image(&disk, Path::new("/qm"), 8))
            .0
            .contains("after the trailer")
    );
    replace(&disk, 8, &bytes);
    read_image(&disk, Path::new("/qm"), 8).unwrap();
}

#[test]
fn every_changed_byte_of_an_image_is_noticed() {
    let (disk, bytes) = small_image();
    for at in 0..bytes.len() {
        let mut bad = bytes.clone();
        bad[at] ^= 0x40;
        replace(&disk, 8, &bad);
        damaged(read_image(&disk, Path::new("/qm"), 8));
    }
    // A section taken out, and two sections changed round, with all their own checksums right.
    let (first, second, third) = (32..126, 126..150, 150..183);
    for order in [vec![&first, &third], vec![&first, &third, &second]] {
        let mut bad = bytes[..32].to_vec();
        for range in order {
            bad.extend_from_slice(&bytes[range.clone()]);
        }
        bad.extend_from_slice(&bytes[183..]);
        replace(&disk, 8, &bad);
        assert!(
            damaged(read_image(&disk, Path::new("/qm"), 8))
                .0
                .contains("trailer")
        );
    }
}

#[test]
fn another_number_or_version_is_refused() {
    let (disk, bytes) = small_image();
    replace(&disk, 9, &bytes);
    assert!(
        damaged(read_image(&disk, Path::new("/qm"), 9))
            .0
            .contains("another number")
    );
    let mut newer = bytes;
    newer[8] = 3;
    let crc = crc32fast::hash(&newer[..28]).to_le_bytes();
    newer[28..32].copy_from_slice(&crc);
    replace(&disk, 8, &newer);
    let error = read_image(&disk, Path::new("/qm"), 8).unwrap_err();
    assert!(matches!(
        error,
        StoreError::Version {
            found: 3,
            supported: 1,
            ..
        }
    ));
    assert!(error.to_string().contains("format version 3"), "{error}");
}

#[test]
fn a_failed_image_leaves_no_file() {
    let (fake, disk) = fake();
    write_image(&disk, 1, &sample()).unwrap();
    fake.set_room(1_000_000);
    assert!(matches!(
        write_image(&disk, 2, &sample()),
        Err(StoreError::Full)
    ));
    fake.set_room(u64::MAX);
    fake.fail_sync(Some(ErrorKind::Other));
    assert!(matches!(
        write_image(&disk, 3, &sample()),
        Err(StoreError::Sync(_))
    ));
    assert_eq!(disk.list(Path::new("/qm")).unwrap(), [image_name(1)]);
    fake.fail_sync(None);
    assert_eq!(read_image(&disk, Path::new("/qm"), 1).unwrap(), sample());
}

#[test]
fn fuzz_entry_points_take_any_bytes() {
    let (_, image) = small_image();
    let mut seed = 1u64;
    let mut next = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        seed >> 33
    };
    posthaste_store::fuzzing::image(&image);
    for round in 0..2000 {
        let mut bytes = image.clone();
        let at = next() as usize % bytes.len();
        bytes[at] = next() as u8;
        bytes.truncate(next() as usize % (2 * bytes.len()));
        posthaste_store::fuzzing::image(&bytes);
        let noise: Vec<u8> = (0..next() % 200).map(|_| next() as u8).collect();
        posthaste_store::fuzzing::image(&noise);
        posthaste_store::fuzzing::stored_item(&noise);
        if round % 20 == 0 {
            posthaste_store::fuzzing::free_space(&noise);
        }
    }
    let (fake, disk) = fake();
    let file = QueueFile::create(&disk, Path::new(Q)).unwrap();
    file.write(&[&payload(77)]).unwrap();
    posthaste_store::fuzzing::stored_item(&fake.bytes(Path::new(Q))[512..]);
}

#[test]
fn the_real_disk_does_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let disk = posthaste_env::os().disk;
    let path = dir.path().join("q");
    let file = QueueFile::create(&disk, &path).unwrap();
    let bytes = payload(2300);
    let places = written(&file, &bytes, 1000);
    file.sync().unwrap();
    let file = QueueFile::open(&disk, &path).unwrap();
    file.rebuild(places.iter().copied()).unwrap();
    for place in &places {
        assert_eq!(file.read(place.block).unwrap(), bytes);
    }
    for place in places.iter().skip(1) {
        file.free(*place);
    }
    file.shrink().unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 1 << 20);

    let mut writer = ImageWriter::begin(&disk, dir.path(), 3).unwrap();
    for (kind, bytes) in sample() {
        writer.section(kind, &bytes).unwrap();
    }
    writer.finish().unwrap();
    remove_other_images(&disk, dir.path(), 3).unwrap();
    assert_eq!(read_image(&disk, dir.path(), 3).unwrap(), sample());
}
