//! The volume, used by this process through the kernel. Where it cannot be mounted (no `/dev/fuse`, not root)
//! the tests say so and pass: CI runs as root, and so does the audit itself.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread;

use posthaste_env::AlignedBuf;
use tempfile::TempDir;

use super::*;

struct Site {
    // Dropped first: the folder is removed once nothing is mounted on it.
    power: PowerSupply,
    folder: TempDir,
}

fn site(seed: u64) -> Option<Site> {
    let folder = tempfile::tempdir().unwrap();
    if !Path::new("/dev/fuse").exists() || !rustix::process::geteuid().is_root() {
        // What a test prints is kept from whoever runs it, but not what is written like this.
        let why = b"SKIPPED: a volume is mounted by root, with /dev/fuse\n";
        let _ = std::io::stderr().write_all(why);
        return None;
    }
    let power = PowerSupply::mount(folder.path(), seed).unwrap();
    Some(Site { power, folder })
}

impl Site {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn sync_folder(&self) {
        File::open(self.folder.path()).unwrap().sync_all().unwrap();
    }

    fn lose_power(&self) {
        self.power.cut(1, Duration::ZERO);
        self.power.release();
        self.power.restore();
    }
}

const DSYNC: i32 = rustix::fs::OFlags::DSYNC.bits().cast_signed();

#[test]
fn what_is_synced_stays_and_what_is_not_may_go() {
    let (mut kept, mut gone, mut nameless) = (0, 0, 0);
    for seed in 0..40 {
        let Some(site) = site(seed) else { return };
        fs::write(site.path("synced"), "before").unwrap();
        File::open(site.path("synced")).unwrap().sync_all().unwrap();
        site.sync_folder();
        fs::write(site.path("nameless"), "x").unwrap();
        let mut file = OpenOptions::new().write(true).open(site.path("synced"));
        file.as_mut().unwrap().write_all(b"after!").unwrap();
        drop(file);
        site.lose_power();
        match fs::read(site.path("synced")).unwrap().as_slice() {
            b"before" => gone += 1,
            b"after!" => kept += 1,
            other => panic!("seed {seed}: {other:?}"),
        }
        nameless += usize::from(!site.path("nameless").exists());
    }
    assert!(
        kept > 0 && gone > 0 && nameless > 0,
        "{kept} {gone} {nameless}"
    );
}

#[test]
fn a_forced_write_is_durable_when_it_returns_and_torn_when_it_does_not() {
    let mut torn = 0;
    for seed in 0..20 {
        let Some(site) = site(seed) else { return };
        let mut options = OpenOptions::new();
        options
            .read(true)
            .write(true)
            .create(true)
            .custom_flags(DSYNC);
        let file = options.open(site.path("log")).unwrap();
        site.sync_folder();
        let page = |byte: u8| {
            let mut page = AlignedBuf::with_pages(1);
            page.fill(byte);
            page
        };
        file.write_all_at(&page(1), 0).unwrap();
        // Over and over, until the power goes.
        let mut bytes = [2, 1].into_iter().cycle();
        let writer =
            thread::spawn(move || bytes.find_map(|b| file.write_all_at(&page(b), 0).err()));
        site.power.cut(1, Duration::from_secs(30));
        site.power.release();
        assert!(writer.join().unwrap().is_some());
        site.power.restore();
        let found = fs::read(site.path("log")).unwrap();
        let sectors: Vec<&[u8]> = found.chunks(512).collect();
        assert_eq!(sectors.len(), 8);
        let whole = |s: &&[u8]| s.iter().all(|b| *b == 1) || s.iter().all(|b| *b == 2);
        assert!(sectors.iter().all(whole), "seed {seed}");
        torn += usize::from(sectors.iter().any(|s| s[0] != sectors[0][0]));
    }
    assert!(torn > 0);
}

#[test]
fn it_is_a_file_system_like_others() {
    let Some(site) = site(1) else { return };
    let folder = site.path("a/b");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("f"), vec![7; 100_000]).unwrap();
    fs::rename(site.path("a"), site.path("c")).unwrap();
    let file = site.path("c/b/f");
    assert_eq!(fs::read(&file).unwrap(), vec![7; 100_000]);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let metadata = fs::metadata(&file).unwrap();
    assert_eq!(
        (metadata.len(), metadata.permissions().mode() & 0o777),
        (100_000, 0o600)
    );
    File::options()
        .write(true)
        .open(&file)
        .unwrap()
        .set_len(10)
        .unwrap();
    assert_eq!(fs::read(&file).unwrap().len(), 10);
    let socket = site.path("c/s");
    let listener = UnixListener::bind(&socket).unwrap();
    UnixStream::connect(&socket).unwrap();
    drop(listener);
    let mut names: Vec<_> = fs::read_dir(site.path("c"))
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["b", "s"]);
    assert!(fs::remove_dir(site.path("c")).is_err());
    fs::remove_dir_all(site.path("c")).unwrap();
    assert!(!site.path("c").exists());
}
