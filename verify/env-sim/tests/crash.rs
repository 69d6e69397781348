//! What a loss of power takes and what it leaves. Small cases are tried with so many seeds that every
//! allowed outcome must appear, and no other may.

#![allow(clippy::unwrap_used, reason = "a failure here is the test's verdict")]

use std::collections::BTreeSet;
use std::path::Path;

use posthaste_env::{AlignedBuf, Env, Open, PAGE};
use posthaste_env_sim::{Rng, SECTOR, SimWorld};

fn path(name: &str) -> &Path {
    Path::new(name)
}

/// The outcomes of `seeds` worlds: each prepared (and settled), changed, crashed, and looked at.
fn outcomes<T: Ord>(
    seeds: u64,
    prepare: impl Fn(&Env),
    change: impl Fn(&Env),
    look: impl Fn(&SimWorld) -> T,
) -> BTreeSet<T> {
    (0..seeds)
        .map(|seed| {
            let world = SimWorld::new(seed);
            prepare(&world.env());
            world.disk().settle();
            assert!(world.disk().is_settled());
            change(&world.env());
            world.crash();
            assert!(world.disk().is_settled());
            look(&world)
        })
        .collect()
}

fn write(env: &Env, name: &str, how: Open, bytes: &[u8], offset: u64) {
    let mut buf = AlignedBuf::with_bytes(bytes.len());
    buf[..bytes.len()].copy_from_slice(bytes);
    let file = env.disk.open(path(name), how).unwrap();
    file.write_at(&buf[..bytes.len()], offset).unwrap();
}

/// The first byte of each sector, as text.
fn letters(world: &SimWorld, name: &str) -> Option<String> {
    let bytes = world.disk().content(path(name))?;
    for sector in bytes.chunks(SECTOR) {
        assert!(
            sector.iter().all(|byte| *byte == sector[0]),
            "half a sector"
        );
    }
    let show = |sector: &[u8]| {
        if sector[0] == 0 {
            '0'
        } else {
            char::from(sector[0])
        }
    };
    Some(bytes.chunks(SECTOR).map(show).collect())
}

fn sectors(letters: &str) -> Vec<u8> {
    letters.bytes().flat_map(|byte| [byte; SECTOR]).collect()
}

fn set<const N: usize>(items: [&str; N]) -> BTreeSet<Option<String>> {
    items
        .into_iter()
        .map(|item| Some(item.to_owned()))
        .collect()
}

#[test]
fn each_unsynced_sector_survives_or_not() {
    let found = outcomes(
        400,
        |env| write(env, "/f", Open::CREATE, &sectors("abc"), 0),
        |env| write(env, "/f", Open::READ_WRITE, &sectors("ABC"), 0),
        |world| letters(world, "/f"),
    );
    assert_eq!(
        found,
        set(["abc", "abC", "aBc", "aBC", "Abc", "AbC", "ABc", "ABC"])
    );
}

#[test]
fn an_unsynced_sector_may_hold_any_of_the_things_written_to_it() {
    let found = outcomes(
        300,
        |env| write(env, "/f", Open::CREATE, &sectors("0"), 0),
        |env| {
            for letter in ["1", "2", "3"] {
                write(env, "/f", Open::READ_WRITE, &sectors(letter), 0);
            }
        },
        |world| letters(world, "/f"),
    );
    assert_eq!(found, set(["0", "1", "2", "3"]));
}

#[test]
fn what_was_synced_survives_and_what_came_later_may_not() {
    let found = outcomes(
        200,
        |env| write(env, "/f", Open::CREATE, &sectors("ab"), 0),
        |env| {
            let file = env.disk.open(path("/f"), Open::READ_WRITE).unwrap();
            file.write_at(&sectors("A"), 0).unwrap();
            file.sync().unwrap();
            file.write_at(&sectors("B"), SECTOR as u64).unwrap();
        },
        |world| letters(world, "/f"),
    );
    assert_eq!(found, set(["Ab", "AB"]));
}

#[test]
fn a_sync_covers_the_writes_of_other_handles() {
    let found = outcomes(
        100,
        |env| write(env, "/f", Open::CREATE, &sectors("a"), 0),
        |env| {
            write(env, "/f", Open::READ_WRITE, &sectors("A"), 0);
            let other = env.disk.open(path("/f"), Open::READ_WRITE).unwrap();
            other.sync().unwrap();
        },
        |world| letters(world, "/f"),
    );
    assert_eq!(found, set(["A"]));
}

#[test]
fn a_forced_write_is_durable_when_it_returns() {
    let found = outcomes(
        200,
        |env| write(env, "/f", Open::CREATE, &sectors("aaaaaaaa"), 0),
        |env| {
            // The cached write below stays at the mercy of the crash, the forced one above it does not.
            let cached = env.disk.open(path("/f"), Open::READ_WRITE).unwrap();
            cached.write_at(&sectors("B"), 0).unwrap();
            cached.write_at(&sectors("C"), PAGE as u64).unwrap();
            write(env, "/f", Open::FORCED, &sectors("AAAAAAAA"), 0);
        },
        |world| letters(world, "/f"),
    );
    assert_eq!(found, set(["AAAAAAAA", "AAAAAAAA0", "AAAAAAAAC"]));
}

#[test]
fn a_longer_file_may_come_back_with_its_old_length_or_with_holes() {
    let found = outcomes(
        400,
        |env| write(env, "/f", Open::CREATE, &sectors("a"), 0),
        |env| write(env, "/f", Open::READ_WRITE, &sectors("BC"), SECTOR as u64),
        |world| letters(world, "/f"),
    );
    // The length may survive without the data, never the data without the length.
    assert_eq!(found, set(["a", "a00", "aB", "aB0", "a0C", "aBC"]));
}

#[test]
fn a_cut_survives_or_not_and_brings_back_what_was_there() {
    let found = outcomes(
        200,
        |env| write(env, "/f", Open::CREATE, &sectors("abc"), 0),
        |env| {
            let file = env.disk.open(path("/f"), Open::READ_WRITE).unwrap();
            file.set_len(SECTOR as u64).unwrap();
        },
        |world| letters(world, "/f"),
    );
    assert_eq!(found, set(["abc", "a"]));
    let synced = outcomes(
        50,
        |env| write(env, "/f", Open::CREATE, &sectors("abc"), 0),
        |env| {
            let file = env.disk.open(path("/f"), Open::READ_WRITE).unwrap();
            file.set_len(SECTOR as u64).unwrap();
            file.set_len(2 * SECTOR as u64).unwrap();
            file.sync().unwrap();
        },
        |world| letters(world, "/f"),
    );
    assert_eq!(synced, set(["a0"]));
}

#[test]
fn a_torn_write_leaves_any_subset_of_its_sectors() {
    let mut found = BTreeSet::new();
    for seed in 0..400 {
        let world = SimWorld::new(seed);
        write(&world.env(), "/f", Open::CREATE, &sectors("abcd"), 0);
        world.disk().settle();
        let mut rng = Rng::new(seed);
        let written = world
            .disk()
            .torn_write(path("/f"), &sectors("ABCD"), 0, &mut rng)
            .unwrap();
        world.crash();
        let left = letters(&world, "/f").unwrap();
        assert_eq!(
            left.chars().filter(char::is_ascii_uppercase).count(),
            written
        );
        found.insert(left);
    }
    assert_eq!(found.len(), 16, "{found:?}");
    let world = SimWorld::new(0);
    let mut rng = Rng::new(0);
    let torn = |offset, rng: &mut Rng| world.disk().torn_write(path("/f"), &[0; 512], offset, rng);
    assert!(torn(0, &mut rng).is_err(), "makes no file");
    write(&world.env(), "/f", Open::CREATE, b"", 0);
    assert!(torn(1, &mut rng).is_err(), "not a sector");
}

#[test]
fn with_the_power_cut_forced_writes_are_torn_and_nothing_else_happens() {
    let found = outcomes(
        1_500,
        |env| {
            write(env, "/f", Open::CREATE, &sectors("aaaaaaaa"), 0);
            write(env, "/g", Open::CREATE, &sectors("a"), 0);
        },
        |_| {},
        |world| {
            let env = world.env();
            let file = env.disk.open(path("/f"), Open::FORCED).unwrap();
            let cached = env.disk.open(path("/g"), Open::READ_WRITE).unwrap();
            world.disk().cut_power();
            assert!(world.disk().power_is_cut());
            let mut buf = AlignedBuf::with_pages(1);
            assert!(file.read_at(&mut buf, 0).is_err());
            buf.copy_from_slice(&sectors("bbbbbbbb"));
            assert!(file.write_at(&buf, 0).is_err());
            assert!(file.sync().is_err());
            assert!(cached.write_at(b"x", 0).is_err());
            assert!(cached.set_len(0).is_err());
            assert!(env.disk.open(path("/h"), Open::CREATE).is_err());
            assert!(env.disk.remove_file(path("/g")).is_err());
            assert!(env.disk.rename(path("/g"), path("/h")).is_err());
            assert!(env.disk.sync_dir(path("/")).is_err());
            assert!(env.disk.lock(path("/f")).is_err());
            world.crash();
            assert!(!world.disk().power_is_cut());
            assert_eq!(letters(world, "/g").unwrap(), "a");
            assert_eq!(world.env().disk.list(path("/")).unwrap(), ["f", "g"]);
            letters(world, "/f").unwrap()
        },
    );
    assert!(found.len() > 200, "of 256 ways: {}", found.len());
    assert!(found.contains("aaaaaaaa") && found.contains("bbbbbbbb"));
}

#[test]
fn unsynced_names_survive_as_a_prefix_of_their_directory() {
    let found = outcomes(
        300,
        |env| {
            for dir in ["/x", "/y"] {
                env.disk.create_dir_all(path(dir)).unwrap();
            }
        },
        |env| {
            for name in ["/x/1", "/y/1", "/x/2", "/y/2"] {
                env.disk.open(path(name), Open::CREATE).unwrap();
            }
        },
        |world| {
            let list = |dir| world.env().disk.list(path(dir)).unwrap().join("");
            format!("{} {}", list("/x"), list("/y"))
        },
    );
    let expected = [
        " ", " 1", " 12", "1 ", "1 1", "1 12", "12 ", "12 1", "12 12",
    ];
    assert_eq!(found, expected.map(str::to_owned).into());
}

#[test]
fn a_synced_directory_keeps_its_names_and_no_others() {
    let found = outcomes(
        200,
        |env| {
            env.disk.create_dir_all(path("/x")).unwrap();
            env.disk.create_dir_all(path("/y")).unwrap();
            env.disk.open(path("/x/old"), Open::CREATE).unwrap();
        },
        |env| {
            env.disk.open(path("/x/new"), Open::CREATE).unwrap();
            env.disk.open(path("/y/new"), Open::CREATE).unwrap();
            env.disk.remove_file(path("/x/old")).unwrap();
            env.disk.sync_dir(path("/x")).unwrap();
            env.disk.open(path("/x/late"), Open::CREATE).unwrap();
        },
        |world| {
            let list = |dir| world.env().disk.list(path(dir)).unwrap().join(" ");
            format!("{} | {}", list("/x"), list("/y"))
        },
    );
    let expected = ["new | ", "late new | ", "new | new", "late new | new"];
    assert_eq!(found, expected.map(str::to_owned).into());
}

#[test]
fn a_synced_name_is_lost_with_its_unsynced_directory() {
    let found = outcomes(
        200,
        |_| {},
        |env| {
            env.disk.create_dir_all(path("/a/b")).unwrap();
            write(env, "/a/b/f", Open::CREATE, b"x", 0);
            env.disk.sync_dir(path("/a/b")).unwrap();
        },
        |world| {
            let exists = |name| world.env().disk.exists(path(name));
            [exists("/a"), exists("/a/b"), exists("/a/b/f")]
        },
    );
    assert_eq!(
        found,
        [
            [false, false, false],
            [true, false, false],
            [true, true, true]
        ]
        .into()
    );
}

#[test]
fn a_rename_happens_whole_or_not_at_all() {
    let prepare = |env: &Env| {
        for dir in ["/x", "/y"] {
            env.disk.create_dir_all(path(dir)).unwrap();
        }
        write(env, "/x/new", Open::CREATE, b"n", 0);
        write(env, "/y/old", Open::CREATE, b"o", 0);
    };
    let look = |world: &SimWorld| {
        let content = |name| world.disk().content(path(name));
        (content("/x/new"), content("/y/old"))
    };
    let rename = |env: &Env| env.disk.rename(path("/x/new"), path("/y/old")).unwrap();
    let before = (Some(b"n".to_vec()), Some(b"o".to_vec()));
    let after = (None, Some(b"n".to_vec()));
    let found = outcomes(100, prepare, rename, look);
    assert_eq!(found, [before.clone(), after.clone()].into());
    for dir in ["/x", "/y"] {
        let sync = |env: &Env| {
            rename(env);
            env.disk.sync_dir(path(dir)).unwrap();
        };
        assert_eq!(outcomes(50, prepare, sync, look), [after.clone()].into());
    }
    // Pulled along by the sync of the other directory: what came before the rename.
    let earlier = |env: &Env| {
        env.disk.open(path("/x/1"), Open::CREATE).unwrap();
        rename(env);
        env.disk.sync_dir(path("/y")).unwrap();
    };
    let kept = outcomes(50, prepare, earlier, |world| {
        world.env().disk.exists(path("/x/1"))
    });
    assert_eq!(kept, [true].into());
}

#[test]
fn a_removed_tree_comes_back_from_the_top_down() {
    let found = outcomes(
        300,
        |env| {
            env.disk.create_dir_all(path("/a/b")).unwrap();
            env.disk.open(path("/a/b/f"), Open::CREATE).unwrap();
        },
        |env| env.disk.remove_dir_all(path("/a")).unwrap(),
        |world| {
            ["/a", "/a/b", "/a/b/f"]
                .iter()
                .filter(|name| world.env().disk.exists(path(name)))
                .count()
        },
    );
    assert_eq!(found, [0, 1, 2, 3].into());
}

#[test]
fn handles_locks_and_disks_end_with_their_program() {
    for power in [true, false] {
        let world = SimWorld::new(1);
        let old = world.env();
        let file = old.disk.open(path("/f"), Open::CREATE).unwrap();
        let held = old.disk.lock(path("/lock")).unwrap();
        assert!(old.disk.lock(path("/lock")).is_err());
        world.disk().settle();
        if power {
            world.crash();
        } else {
            world.kill();
        }
        assert!(file.write_at(b"x", 0).is_err());
        assert!(file.read_at(&mut [0], 0).is_err());
        assert!(file.sync().is_err() && file.len().is_err() && file.set_len(1).is_err());
        assert!(old.disk.open(path("/f"), Open::READ).is_err());
        assert!(old.disk.open(path("/g"), Open::CREATE).is_err());
        assert!(old.disk.list(path("/")).is_err());
        assert!(!old.disk.exists(path("/f")));
        let new = world.env();
        assert!(
            new.disk
                .open(path("/f"), Open::READ)
                .unwrap()
                .is_empty()
                .unwrap()
        );
        let again = new.disk.lock(path("/lock")).unwrap();
        drop((held, file));
        assert!(
            new.disk.lock(path("/lock")).is_err(),
            "an old lock released a new one"
        );
        drop(again);
        new.disk.lock(path("/lock")).unwrap();
    }
}

#[test]
fn a_kill_loses_nothing_the_system_has() {
    for seed in 0..50 {
        let world = SimWorld::new(seed);
        write(&world.env(), "/f", Open::CREATE, &sectors("abc"), 0);
        world.kill();
        assert_eq!(letters(&world, "/f").unwrap(), "abc");
        assert!(!world.disk().is_settled(), "still only in the page cache");
        let file = world.env().disk.open(path("/f"), Open::READ).unwrap();
        file.sync().unwrap();
        world.env().disk.sync_dir(path("/")).unwrap();
        world.disk().cut_power();
        world.kill();
        assert_eq!(letters(&world, "/f").unwrap(), "abc");
    }
}

/// Replaces `/d/current` by a new file, with or without the sync that makes it safe.
fn replace(env: &Env, sync: bool) -> std::io::Result<()> {
    let file = env.disk.open(path("/d/next"), Open::CREATE)?;
    file.write_at(&[b'n'; 3 * SECTOR], 0)?;
    if sync {
        file.sync()?;
    }
    env.disk.rename(path("/d/next"), path("/d/current"))?;
    env.disk.sync_dir(path("/d"))
}

/// Cuts the power during each operation of `replace` in turn; what `/d/current` then held.
fn replaced(sync: bool) -> BTreeSet<(bool, Vec<u8>)> {
    let mut found = BTreeSet::new();
    for seed in 0..60 {
        for cut in 1.. {
            let world = SimWorld::new(seed);
            world.env().disk.create_dir_all(path("/d")).unwrap();
            write(&world.env(), "/d/current", Open::CREATE, b"old", 0);
            world.disk().settle();
            world.disk().cut_power_after(cut);
            let finished = replace(&world.env(), sync).is_ok();
            assert_eq!(finished, !world.disk().power_is_cut());
            world.crash();
            let content = world.disk().content(path("/d/current")).unwrap();
            found.insert((finished, content));
            if finished {
                break;
            }
        }
    }
    found
}

#[test]
fn cutting_the_power_at_every_operation_tells_safe_programs_from_unsafe_ones() {
    let new = vec![b'n'; 3 * SECTOR];
    let expected = [
        (false, b"old".to_vec()),
        (false, new.clone()),
        (true, new.clone()),
    ];
    assert_eq!(replaced(true), expected.into());
    let unsafe_ends = replaced(false);
    assert!(unsafe_ends.contains(&(true, Vec::new())));
    assert!(unsafe_ends.len() > 5, "{}", unsafe_ends.len());
}

#[test]
fn operations_count_what_could_change_the_medium() {
    let world = SimWorld::new(0);
    let env = world.env();
    let count = || world.disk().operations();
    env.disk.create_dir_all(path("/d")).unwrap();
    let file = env.disk.open(path("/d/f"), Open::CREATE).unwrap();
    assert_eq!(count(), 2);
    env.disk.create_dir_all(path("/d")).unwrap();
    env.disk.open(path("/d/f"), Open::CREATE).unwrap();
    env.disk.list(path("/d")).unwrap();
    file.read_at(&mut [0; 4], 0).unwrap();
    file.len().unwrap();
    assert_eq!(count(), 2, "nothing was changed");
    file.write_at(b"x", 0).unwrap();
    file.set_len(5).unwrap();
    file.sync().unwrap();
    env.disk.rename(path("/d/f"), path("/d/g")).unwrap();
    env.disk.sync_dir(path("/d")).unwrap();
    env.disk.remove_file(path("/d/g")).unwrap();
    env.disk.remove_dir_all(path("/d")).unwrap();
    assert_eq!(count(), 9);
}
