//! Every kind of fault can be made to happen, does what it says, and is seen by the program as it should be.

#![allow(clippy::unwrap_used, reason = "a failure here is the test's verdict")]

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use posthaste_env::{AlignedBuf, Env, File, Open, PAGE};
use posthaste_env_sim::{Area, Fault, Rng, SECTOR, SimWorld};

const EIO: Option<i32> = Some(5);
const ENOSPC: Option<i32> = Some(28);

/// A world with a settled three-page file `/d/f` of `a`, `b` and `c`, and its handle.
fn world(seed: u64, how: Open) -> (SimWorld, Env, Arc<dyn File>) {
    let world = SimWorld::new(seed);
    let env = world.env();
    env.disk.create_dir_all("/d".as_ref()).unwrap();
    let file = env.disk.open(path(), Open::CREATE).unwrap();
    file.write_at(&pages("abc"), 0).unwrap();
    world.disk().settle();
    let file = env.disk.open(path(), how).unwrap();
    (world, env, file)
}

fn path() -> &'static Path {
    Path::new("/d/f")
}

fn pages(letters: &str) -> AlignedBuf {
    let mut buf = AlignedBuf::with_pages(letters.len());
    for (page, letter) in buf.chunks_mut(PAGE).zip(letters.bytes()) {
        page.fill(letter);
    }
    buf
}

fn code<T>(result: std::io::Result<T>) -> Option<i32> {
    match result {
        Ok(_) => panic!("expected an error"),
        Err(error) => error.raw_os_error(),
    }
}

fn content(world: &SimWorld) -> Vec<u8> {
    world.disk().content(path()).unwrap()
}

/// One letter a page; `?` for a mixture.
fn letters(bytes: &[u8]) -> String {
    let show = |page: &[u8]| match page.iter().all(|byte| *byte == page[0]) {
        true => char::from(page[0]),
        false => '?',
    };
    bytes.chunks(PAGE).map(show).collect()
}

#[test]
fn each_order_strikes_once_and_is_reported() {
    type Operation = fn(&Env, &dyn File) -> std::io::Result<()>;
    let rows: &[(Fault, i32, Operation)] = &[
        (Fault::OpenError, 13, |env, _| {
            env.disk.open(path(), Open::READ).map(|_| ())
        }),
        (Fault::OpenError, 13, |env, _| {
            env.disk.lock(path()).map(|_| ())
        }),
        (Fault::ReadError, 5, |_, file| {
            file.read_at(&mut [0; 10], 0).map(|_| ())
        }),
        (Fault::WriteError, 5, |_, file| file.write_at(b"xyz", 0)),
        (Fault::WriteError, 5, |_, file| file.set_len(5)),
        (Fault::SyncError, 5, |_, file| file.sync()),
        (Fault::NameError, 5, |env, _| {
            env.disk.open("/d/g".as_ref(), Open::CREATE).map(|_| ())
        }),
        (Fault::NameError, 5, |env, _| {
            env.disk.create_dir_all("/d/e".as_ref())
        }),
        (Fault::NameError, 5, |env, _| {
            env.disk.rename(path(), "/d/g".as_ref())
        }),
        (Fault::NameError, 5, |env, _| {
            env.disk.rename("/d/g".as_ref(), path())
        }),
        (Fault::NameError, 5, |env, _| {
            env.disk.sync_dir("/d".as_ref())
        }),
        (Fault::NameError, 5, |env, _| env.disk.remove_file(path())),
        (Fault::NameError, 5, |env, _| {
            env.disk.remove_dir_all("/d/e".as_ref())
        }),
    ];
    let (world, env, file) = world(1, Open::READ_WRITE);
    let held: Vec<_> = rows
        .iter()
        .map(|(fault, errno, operation)| {
            world.disk().order(*fault, Area::Under("/d".into()), 0);
            assert_eq!(world.disk().outstanding(), 1);
            assert_eq!(code(operation(&env, &*file)), Some(*errno), "{fault:?}");
            assert_eq!(world.disk().outstanding(), 0);
            operation(&env, &*file).unwrap();
            *fault
        })
        .collect();
    let struck: Vec<Fault> = world.disk().struck().iter().map(|one| one.fault).collect();
    assert_eq!(struck, held);
    assert!(
        world
            .disk()
            .struck()
            .iter()
            .all(|one| one.path.starts_with("/d"))
    );
}

#[test]
fn areas_and_skips_choose_the_victim() {
    let areas = [
        (Area::Any, true, true),
        (Area::Path("/d/f".into()), true, false),
        (Area::Under("/d".into()), true, true),
        (Area::Under("/other".into()), false, false),
        (Area::Named("g".into()), false, true),
    ];
    for (area, first, second) in areas {
        assert_eq!(area.contains(path()), first, "{area:?}");
        assert_eq!(area.contains("/d/g2".as_ref()), second, "{area:?}");
    }
    let (world, env, file) = world(1, Open::READ_WRITE);
    let other = env.disk.open("/d/g".as_ref(), Open::CREATE).unwrap();
    world
        .disk()
        .order(Fault::WriteError, Area::Path(path().into()), 2);
    let mut results = Vec::new();
    for _ in 0..4 {
        other.write_at(b"x", 0).unwrap();
        results.push(file.write_at(b"x", 7).is_ok());
    }
    assert_eq!(results, [true, true, false, true]);
    let struck = world.disk().struck();
    assert_eq!((struck[0].fault, struck[0].offset), (Fault::WriteError, 7));
}

#[test]
fn chances_strike_as_often_as_they_say_and_can_be_taken_back() {
    let (world, _env, file) = world(3, Open::READ_WRITE);
    let failures = |world: &SimWorld| {
        let before = world.disk().struck().len();
        let failed = (0..2_000).filter(|_| file.sync().is_err()).count();
        assert_eq!(world.disk().struck().len() - before, failed);
        failed
    };
    world
        .disk()
        .set_chance(Fault::SyncError, Area::Any, 100_000);
    assert!((150..250).contains(&failures(&world)));
    world.disk().set_chance(Fault::SyncError, Area::Any, 0);
    assert_eq!(failures(&world), 0);
    world
        .disk()
        .set_chance(Fault::SyncError, Area::Any, 1_000_000);
    assert_eq!(failures(&world), 2_000);
    world.disk().clear_faults();
    assert_eq!(failures(&world), 0);
}

#[test]
fn a_failed_write_may_have_written_any_of_its_sectors() {
    for how in [Open::READ_WRITE, Open::FORCED] {
        let mut found = BTreeSet::new();
        for seed in 0..200 {
            let (world, _env, file) = world(seed, how);
            world.disk().order(Fault::WriteError, Area::Any, 0);
            assert_eq!(code(file.write_at(&pages("X"), PAGE as u64)), EIO);
            let bytes = content(&world);
            assert_eq!(letters(&bytes[..PAGE]), "a");
            assert_eq!(letters(&bytes[2 * PAGE..]), "c");
            for sector in bytes.chunks(SECTOR) {
                assert!(sector.iter().all(|byte| *byte == sector[0]));
            }
            found.insert(letters(&bytes));
        }
        assert_eq!(found, ["abc", "aXc", "a?c"].map(str::to_owned).into());
    }
}

#[test]
fn after_a_failed_sync_data_may_be_lost_though_the_next_sync_succeeds() {
    let mut found = BTreeSet::new();
    for seed in 0..300 {
        let (world, _env, file) = world(seed, Open::READ_WRITE);
        file.write_at(&pages("X")[..SECTOR], 0).unwrap();
        file.write_at(&pages("X")[..SECTOR], PAGE as u64).unwrap();
        world.disk().order(Fault::SyncError, Area::Any, 0);
        assert_eq!(code(file.sync()), EIO);
        file.sync().unwrap();
        let mut seen = [0; 1];
        file.read_at(&mut seen, 0).unwrap();
        assert_eq!(seen, *b"X", "readers go on seeing it");
        let durable = world.disk().durable(path()).unwrap();
        world.crash();
        let bytes = content(&world);
        assert_eq!(
            bytes, durable,
            "nothing was left to chance after the second sync"
        );
        found.insert([char::from(bytes[0]), char::from(bytes[PAGE])]);
    }
    assert_eq!(
        found,
        [['a', 'b'], ['a', 'X'], ['X', 'b'], ['X', 'X']].into()
    );
}

#[test]
fn data_lost_by_a_failed_sync_is_safe_once_written_anew() {
    for seed in 0..50 {
        let (world, _env, file) = world(seed, Open::READ_WRITE);
        file.write_at(b"X", 0).unwrap();
        world.disk().order(Fault::SyncError, Area::Any, 0);
        assert!(file.sync().is_err());
        file.write_at(b"Y", 0).unwrap();
        file.sync().unwrap();
        world.crash();
        assert_eq!(content(&world)[0], b'Y');
    }
}

#[test]
fn a_failed_directory_sync_may_have_kept_the_first_few_names() {
    let mut found = BTreeSet::new();
    for seed in 0..200 {
        let (world, env, _file) = world(seed, Open::READ_WRITE);
        for name in ["/d/1", "/d/2", "/d/3"] {
            env.disk.open(name.as_ref(), Open::CREATE).unwrap();
        }
        world.disk().order(Fault::NameError, Area::Any, 0);
        assert_eq!(code(env.disk.sync_dir("/d".as_ref())), EIO);
        let durable = |name: &str| world.disk().durable(name.as_ref()).is_some();
        found.insert(["/d/1", "/d/2", "/d/3"].map(durable));
    }
    assert_eq!(
        found,
        [
            [false, false, false],
            [true, false, false],
            [true, true, false],
            [true, true, true]
        ]
        .into()
    );
}

#[test]
fn a_lost_write_is_acknowledged_and_leaves_the_old_data() {
    for seed in 0..20 {
        let (world, _env, file) = world(seed, Open::FORCED);
        world.disk().order(Fault::LostWrite, Area::Any, 0);
        file.write_at(&pages("X"), PAGE as u64).unwrap();
        assert_eq!(letters(&content(&world)), "abc", "forced: at once");
        world.disk().order(Fault::LostWrite, Area::Any, 0);
        file.write_at(&pages("X"), 3 * PAGE as u64).unwrap();
        assert_eq!(letters(&content(&world)), "abc\0", "the length is kept");
    }
    for seed in 0..20 {
        let (world, _env, file) = world(seed, Open::READ_WRITE);
        world.disk().order(Fault::LostWrite, Area::Any, 0);
        file.write_at(&pages("X"), PAGE as u64).unwrap();
        file.sync().unwrap();
        assert_eq!(letters(&content(&world)), "aXc", "cached: seen for now");
        world.crash();
        assert_eq!(letters(&content(&world)), "abc");
    }
}

#[test]
fn a_rewrite_is_lost_only_where_something_like_it_is_left() {
    let (world, _env, file) = world(1, Open::READ_WRITE);
    let disk = world.disk();
    disk.order(Fault::LostRewrite, Area::Any, 0);
    let begins = |text: &str| [b"a".repeat(12), text.as_bytes().to_vec()].concat();
    for like in [begins("").repeat(400), b"X".to_vec().repeat(PAGE)] {
        file.write_at(&like[..PAGE], 0).unwrap();
        assert_eq!(disk.outstanding(), 1, "the same, or nothing like it");
    }
    file.write_at(&begins("old"), 2 * PAGE as u64).unwrap();
    file.sync().unwrap();
    file.write_at(&begins("new"), 2 * PAGE as u64).unwrap();
    assert_eq!(disk.outstanding(), 0);
    file.sync().unwrap();
    world.crash();
    assert_eq!(content(&world)[2 * PAGE..][..15], begins("old"));
}

#[test]
fn a_misdirected_write_destroys_the_page_beside() {
    let mut found = BTreeSet::new();
    for seed in 0..40 {
        let (world, _env, file) = world(seed, Open::FORCED);
        world.disk().order(Fault::MisdirectedWrite, Area::Any, 0);
        file.write_at(&pages("X"), PAGE as u64).unwrap();
        found.insert(letters(&content(&world)));
    }
    assert_eq!(found, ["Xbc", "abX"].map(str::to_owned).into());
    // At the edges only one side is left.
    for (at, result) in [(0, "aXc"), (2, "aXc")] {
        for seed in 0..10 {
            let (world, _env, file) = world(seed, Open::FORCED);
            world.disk().order(Fault::MisdirectedWrite, Area::Any, 0);
            file.write_at(&pages("X"), at * PAGE as u64).unwrap();
            assert_eq!(letters(&content(&world)), result);
        }
    }
    let mut found = BTreeSet::new();
    for seed in 0..40 {
        let (world, _env, file) = world(seed, Open::READ_WRITE);
        world.disk().order(Fault::MisdirectedWrite, Area::Any, 0);
        file.write_at(&pages("X"), PAGE as u64).unwrap();
        file.sync().unwrap();
        assert_eq!(letters(&content(&world)), "aXc", "cached: seen for now");
        world.crash();
        found.insert(letters(&content(&world)));
    }
    assert_eq!(found, ["Xbc", "abX"].map(str::to_owned).into());
}

#[test]
fn a_full_disk_takes_what_fits() {
    for how in [Open::READ_WRITE, Open::FORCED] {
        let (world, env, file) = world(5, how);
        world.disk().set_free(Some(2 * PAGE as u64 + 100));
        assert_eq!(
            env.disk.free_bytes("/d".as_ref()).unwrap(),
            2 * PAGE as u64 + 100
        );
        file.write_at(&pages("ABC"), 0).unwrap();
        let full = file.write_at(&pages("1234"), 2 * PAGE as u64).unwrap_err();
        assert_eq!(full.kind(), ErrorKind::StorageFull);
        assert_eq!(
            letters(&content(&world)),
            "AB123",
            "as much as there was room for"
        );
        assert!(file.write_at(&pages("x"), 5 * PAGE as u64).is_err());
        file.write_at(&pages("X"), 0).unwrap();
        file.set_len(4 * PAGE as u64).unwrap();
        file.sync().unwrap();
        assert_eq!(
            env.disk.free_bytes("/d".as_ref()).unwrap(),
            PAGE as u64 + 100
        );
        file.write_at(&pages("5"), 4 * PAGE as u64).unwrap();
        let other = env.disk.open("/d/g".as_ref(), Open::CREATE).unwrap();
        assert!(other.write_at(b"x", 0).is_err());
        env.disk.remove_file(path()).unwrap();
        assert!(other.write_at(b"x", 0).is_err(), "removed but open");
        drop(file);
        other.write_at(b"x", 0).unwrap();
        world.disk().set_free(None);
        assert!(env.disk.free_bytes("/d".as_ref()).unwrap() > 1 << 30);
    }
}

#[test]
fn room_is_taken_before_it_is_needed_and_given_back() {
    let (world, env, file) = world(1, Open::READ_WRITE);
    let free = || env.disk.free_bytes("/d".as_ref()).unwrap();
    let page = PAGE as u64;
    world.disk().set_free(Some(3 * page));
    file.allocate(5 * page).unwrap();
    assert_eq!((file.len().unwrap(), free()), (5 * page, page));
    // What has room can be written when there is none.
    let other = env.disk.open("/d/other".as_ref(), Open::CREATE).unwrap();
    assert_eq!(code(other.allocate(2 * page)), ENOSPC);
    assert_eq!((other.len().unwrap(), free()), (page, 0));
    file.write_at(&pages("de"), 3 * page).unwrap();
    assert_eq!(code(other.write_at(b"x", 2 * page)), ENOSPC);
    file.sync().unwrap();

    file.punch(page, 2 * page).unwrap();
    assert_eq!((file.len().unwrap(), free()), (5 * page, 2 * page));
    let content = content(&world);
    assert_eq!(letters(&content), "a\0\0de");
    // Until it is synced the medium may have what was there, which takes the room again.
    assert_eq!(letters(&world.disk().durable(path()).unwrap()), "abcde");
    file.sync().unwrap();
    assert_eq!(letters(&world.disk().durable(path()).unwrap()), "a\0\0de");
    let uneven = file.punch(1, page).unwrap_err();
    assert_eq!(uneven.kind(), ErrorKind::InvalidInput);
}

#[test]
fn a_full_disk_can_be_ordered_for_every_kind_of_call() {
    let (world, env, file) = world(1, Open::READ_WRITE);
    let named = env.disk.open("/d/new".as_ref(), Open::READ);
    assert!(named.is_err());
    for (fault, expected) in [(Fault::DiskFull, ENOSPC), (Fault::QuotaUsedUp, Some(122))] {
        let order = || world.disk().order(fault, Area::Any, 0);
        order();
        assert_eq!(code(file.write_at(b"x", 0)), expected);
        order();
        assert_eq!(code(file.sync()), expected);
        order();
        assert_eq!(code(file.set_len(9)), expected);
        order();
        assert_eq!(code(file.allocate(1 << 20)), expected);
        order();
        let made = env.disk.open("/d/new".as_ref(), Open::CREATE);
        assert_eq!(code(made), expected);
        assert!(!env.disk.exists("/d/new".as_ref()));
        // Taking a name away needs no room.
        order();
        env.disk.rename(path(), "/d/g".as_ref()).unwrap();
        env.disk.rename("/d/g".as_ref(), path()).unwrap();
        world.disk().clear_faults();
    }
}

#[test]
fn a_hole_takes_no_space_until_it_is_written() {
    let (world, env, file) = world(5, Open::READ_WRITE);
    world.disk().set_free(Some(PAGE as u64));
    file.set_len(100 * PAGE as u64).unwrap();
    assert_eq!(env.disk.free_bytes("/d".as_ref()).unwrap(), PAGE as u64);
    file.write_at(b"x", 50 * PAGE as u64).unwrap();
    assert_eq!(env.disk.free_bytes("/d".as_ref()).unwrap(), 0);
    assert!(file.write_at(b"x", 60 * PAGE as u64).is_err());
    file.write_at(b"y", 50 * PAGE as u64 + 7).unwrap();
}

#[test]
fn rot_flips_one_bit_of_what_is_durable() {
    let mut offsets = BTreeSet::new();
    let mut rng = Rng::new(1);
    for seed in 0..100 {
        let (world, _env, _file) = world(seed, Open::READ);
        let before = content(&world);
        let offset = world.disk().rot(path(), &mut rng).unwrap().unwrap() as usize;
        let after = content(&world);
        let changed: Vec<usize> = (0..after.len())
            .filter(|at| before[*at] != after[*at])
            .collect();
        assert_eq!(changed, [offset]);
        assert_eq!((before[offset] ^ after[offset]).count_ones(), 1);
        offsets.insert(offset / PAGE);
    }
    assert_eq!(offsets, [0, 1, 2].into());
    let (world, env, file) = world(0, Open::READ_WRITE);
    world.disk().rot_at(path(), PAGE as u64, 0xFF).unwrap();
    assert_eq!(content(&world)[PAGE], !b'b');
    // Under a cached write the medium rots unseen, and the next sync heals it.
    file.write_at(b"X", 0).unwrap();
    world.disk().rot_at(path(), 0, 1).unwrap();
    assert_eq!(content(&world)[0], b'X');
    file.sync().unwrap();
    assert_eq!(world.disk().durable(path()).unwrap()[0], b'X');
    let empty = Path::new("/d/empty");
    env.disk.open(empty, Open::CREATE).unwrap();
    assert_eq!(world.disk().rot(empty, &mut rng).unwrap(), None);
    assert!(world.disk().rot("/d/none".as_ref(), &mut rng).is_err());
}

#[test]
fn a_file_can_come_back_short() {
    let (world, _env, file) = world(0, Open::READ_WRITE);
    file.write_at(b"X", 2 * PAGE as u64).unwrap();
    world.disk().cut(path(), PAGE as u64 + 10).unwrap();
    assert_eq!(file.len().unwrap(), PAGE as u64 + 10);
    world.crash();
    assert_eq!(content(&world).len(), PAGE + 10);
    assert!(world.disk().cut("/none".as_ref(), 0).is_err());
}
