//! A queue manager that encrypts its messages on disk: what lies there, what comes back after a kill, whose key does, and
//! how keys are renewed.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::place::{Place, Serving};

const SECRET: &str = "the vault is behind the painting";
const KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
const OTHER: &str = "ff112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

fn key_file(place: &Place, name: &str, key: &str) -> PathBuf {
    let path = place.path().join(name);
    std::fs::write(&path, format!("{key}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    path
}

fn serving(place: &Place, key: &Path) -> Serving {
    let key = key.display().to_string();
    place.serving_with("QM1", &["--port", "0", "--encrypt-with", &key])
}

fn put(place: &Place, text: &str) {
    place.fed(text, "put DEV.QUEUE.1 QM1 --persistent").good();
}

fn got(place: &Place) -> String {
    place.line("get DEV.QUEUE.1 QM1 --count 1").good().out
}

/// The files below a folder that hold a text.
fn with(folder: &Path, text: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(with(&path, text));
        } else if path.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            let mut windows = bytes.windows(text.len());
            found.extend(windows.any(|one| one == text.as_bytes()).then_some(path));
        }
    }
    found
}

/// Of all ways that a body takes to disk the engine's own test says the same (`engine/tests/sealed.rs`).
#[test]
fn no_file_tells_what_a_message_says_and_a_kill_loses_none() {
    let place = Place::new();
    let key = key_file(&place, "key", KEY);
    let first = serving(&place, &key);
    put(&place, &format!("one {SECRET}"));
    first.end();
    let second = serving(&place, &key);
    put(&place, &format!("two {SECRET}"));
    second.kill();
    assert_eq!(with(&place.data(), SECRET), Vec::<PathBuf>::new());
    assert_eq!(with(&place.data(), KEY), Vec::<PathBuf>::new());
    place.line("check QM1 --data").good();
    assert_eq!(with(&place.data(), SECRET), Vec::<PathBuf>::new());
    let third = serving(&place, &key);
    for number in ["one", "two"] {
        assert!(got(&place).contains(&format!("{number} {SECRET}")));
    }
    third.end();

    // What is looked for can be found.
    let open = Place::new();
    let plain = open.serving("QM1");
    put(&open, SECRET);
    plain.kill();
    assert!(!with(&open.data(), SECRET).is_empty());
}

#[test]
fn without_its_key_it_does_not_start_and_loses_nothing() {
    let place = Place::new();
    let key = key_file(&place, "key", KEY);
    let running = serving(&place, &key);
    put(&place, SECRET);
    running.kill();
    let home = place.home("QM1");
    let keys = home.join("encryption.keys");
    let ini = std::fs::read_to_string(home.join("qm.ini")).unwrap();
    let refused = |code: i32, id: &str| {
        for command in ["check QM1", "start QM1", "run QM1 --port 0"] {
            let text = place.line(command).failed_with(code, id);
            let text = text.err + &text.out;
            assert!(!text.contains(KEY) && !text.contains(OTHER), "{text}");
        }
    };
    let set_mode = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let set_ini = |text: &str| std::fs::write(home.join("qm.ini"), text).unwrap();

    set_mode(&key, 0o644);
    refused(62, "AMQ2009E");
    set_mode(&key, 0o600);
    std::fs::write(&key, OTHER).unwrap();
    refused(79, "AMQ2705S");
    std::fs::write(&key, "secret").unwrap();
    refused(79, "AMQ2704S");
    std::fs::remove_file(&key).unwrap();
    refused(79, "AMQ2704S");
    key_file(&place, "key", KEY);

    let line = format!("KeyFile={}", key.display());
    set_ini(&ini.replace(&line, "KeyCommand=echo locked >&2; exit 5"));
    refused(79, "AMQ2704S");
    assert!(
        place.line("check QM1").err.contains("locked")
            || place.line("check QM1").out.contains("locked")
    );
    set_ini(&ini.replace(&line, "#"));
    refused(79, "AMQ2701S");
    set_ini(&ini);

    let whole = std::fs::read(&keys).unwrap();
    std::fs::write(&keys, &whole[..whole.len() - 5]).unwrap();
    refused(79, "AMQ2705S");
    std::fs::remove_file(&keys).unwrap();
    refused(79, "AMQ2705S");
    std::fs::write(&keys, &whole).unwrap();
    set_mode(&keys, 0o600);

    let running = serving(&place, &key);
    assert!(got(&place).contains(SECRET));
    running.end();
}

#[test]
fn keys_are_renewed_and_older_messages_stay_readable() {
    let place = Place::new();
    let key = key_file(&place, "key", KEY);
    let shown = || place.line("encryption show QM1").good().out.lines().count();
    let running = serving(&place, &key);
    put(&place, "one");
    assert_eq!(shown(), 1);
    let rotated = place.line("encryption rotate QM1").good().out;
    assert!(
        rotated.lines().count() == 2 && rotated.trim_end().ends_with(", the newest"),
        "{rotated}"
    );
    running.kill();
    let running = serving(&place, &key);
    put(&place, "two");
    // While it runs: from now on the other key is the right one, and is printed by a command.
    let other = key_file(&place, "other", OTHER);
    let command = format!("cat '{}'", other.display());
    let rewrap = [
        "encryption",
        "rewrap",
        "QM1",
        "--encrypt-with-command",
        &command,
    ];
    place.run(&rewrap).good();
    put(&place, "three");
    running.kill();
    std::fs::remove_file(&key).unwrap();
    let running = place.serving("QM1");
    place.line("encryption rotate QM1").good();
    assert_eq!(shown(), 3);
    running.end();
    let running = place.serving("QM1");
    for text in ["one", "two", "three"] {
        assert_eq!(got(&place).trim_end(), text);
    }
    running.end();
    // A new key that others could read is none; nothing was being started.
    let open = key_file(&place, "open", KEY);
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o644)).unwrap();
    let open = open.display().to_string();
    let rewrap = ["encryption", "rewrap", "QM1", "--encrypt-with", &open];
    let refused = place.run(&rewrap).failed_with(62, "AMQ2009E");
    assert!(!refused.err.contains("start again"), "{refused:?}");
    // A new key that cannot be had changes nothing.
    let nothing = place.path().join("nothing").display().to_string();
    let rewrap = ["encryption", "rewrap", "QM1", "--encrypt-with", &nothing];
    place.run(&rewrap).failed_with(79, "AMQ2704S");
    place.line("check QM1").good();
}

#[test]
fn whether_messages_are_encrypted_is_decided_at_the_creation() {
    let place = Place::new();
    place.serving("QM1").end();
    let key = key_file(&place, "key", KEY);
    let run = [
        "run",
        "QM1",
        "--port",
        "0",
        "--encrypt-with",
        &key.display().to_string(),
    ];
    let refused = place.run(&run).failed_with(39, "AMQ2402E");
    assert!(
        refused.err.contains("decided when it is created"),
        "{refused:?}"
    );
    for command in ["show", "rotate", "rewrap"] {
        let mut line = vec!["encryption", command, "QM1"];
        if command == "rewrap" {
            line.extend(["--encrypt-with-command", "true"]);
        }
        let refused = place.run(&line).failed_with(39, "AMQ2706E");
        assert!(
            refused.err.contains("is not encrypted") && refused.err.contains("--encrypt-with"),
            "{refused:?}"
        );
    }
    let ini = place.home("QM1").join("qm.ini");
    let text = std::fs::read_to_string(&ini).unwrap();
    assert!(!text.contains("Encryption") && !place.home("QM1").join("encryption.keys").exists());
    // A key alone does not encrypt it.
    std::fs::write(
        &ini,
        format!("{text}\nEncryption:\n   KeyFile={}\n", key.display()),
    )
    .unwrap();
    let refused = place.line("start QM1");
    assert_eq!(refused.code, 79, "{refused:?}");
    std::fs::write(&ini, &text).unwrap();
    place.line("check QM1").good();

    // One that cannot be created leaves nothing.
    let create = |source: &str| {
        place.run(&[
            "crtmqm",
            "--lf",
            "64",
            "--encrypt-with-command",
            source,
            "QM2",
        ])
    };
    create("false").failed_with(79, "AMQ2704S");
    assert!(!place.home("QM2").exists());
    create(&format!("echo {KEY}")).good();
    place.line("check QM2").good();
    place.line("delete QM2").good();
    assert!(!place.home("QM2").exists());
}
