//! Where things are: the folder that holds queue managers, and the folder of one of them.
//!
//! ```text
//! <data>/mqs.ini                    which queue managers there are, and the default one
//! <data>/errors/AMQERR01.LOG        what concerns no queue manager, or one that cannot be found
//! <data>/qmgrs/<QM>/qm.ini          configuration
//!                   lock            held by the process that runs it
//!                   queues/         queue files
//!                   checkpoint-*    what restart begins with
//!                   errors/         AMQERR01.LOG to AMQERR03.LOG
//!                   run/            sockets, and the status of the running process
//! <data>/log/<QM>/                  recovery log
//! ```
//!
//! Invariants: a queue manager's name never makes a path leave its folder ([`folder_name`]); every
//! folder made here is private to its owner.

pub(crate) mod deletion;
pub(crate) mod ours;
pub(crate) mod private;
pub(crate) mod registry;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt as _};
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::failure::exit::Exit;

/// The longest name of a queue manager.
const NAME_LENGTH: usize = 48;

/// Whether text is a queue manager's name (manual: "Rules for naming IBM MQ objects").
pub fn valid_name(name: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'/' | b'_' | b'%');
    !name.is_empty() && name.len() <= NAME_LENGTH && name.bytes().all(allowed)
}

/// Checks a queue manager's name.
///
/// # Errors
/// It is not one.
pub fn check_name(name: &str) -> Result<(), Failure> {
    match valid_name(name) {
        true => Ok(()),
        false => Err(bad_name(Exit::BadParameter, name)),
    }
}

/// The failure that says what is wrong in a name.
pub(crate) fn bad_name(exit: Exit, name: &str) -> Failure {
    let allowed = |c: &char| valid_name(c.encode_utf8(&mut [0; 4]));
    let why = match name.chars().find(|c| !allowed(c)) {
        Some(wrong) => format!("{wrong:?} is not allowed in it"),
        None if name.is_empty() => "The name is missing".to_owned(),
        None => format!("It has {} characters", name.len()),
    };
    Failure::new(exit, "AMQ7048E", &[name, &why])
}

/// The name as one component of a path: a full stop becomes `!` and a slash `&`, as MQ has it, so
/// that neither `..` nor `a/b` means anything to the file system.
pub(crate) fn folder_name(name: &str) -> String {
    name.replace('.', "!").replace('/', "&")
}

/// The folder that holds queue managers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataDir {
    root: PathBuf,
    chosen: bool,
}

impl DataDir {
    /// The folder named on the command line, or by `POSTHASTE_DATA`, or the user's own.
    ///
    /// # Errors
    /// Nothing says where it is, or the working folder is gone.
    pub fn find(named: Option<&Path>) -> Result<DataDir, Failure> {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let (root, chosen) = choose(named, variable)
            .ok_or_else(|| Failure::bad_parameter("no folder for queue managers is known: neither --data-dir nor POSTHASTE_DATA, XDG_DATA_HOME or HOME is set"))?;
        let root = std::path::absolute(&root).map_err(|error| Failure::io(&root, &error))?;
        Ok(DataDir { root, chosen })
    }

    /// The folder at a path.
    pub fn at(root: impl Into<PathBuf>) -> DataDir {
        DataDir {
            root: root.into(),
            chosen: true,
        }
    }

    /// Its path.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether somebody said where it is, as opposed to the user's own folder.
    pub fn is_chosen(&self) -> bool {
        self.chosen
    }

    /// `mqs.ini`.
    pub fn registry(&self) -> PathBuf {
        self.root.join("mqs.ini")
    }

    /// Error log folder for what concerns no queue manager.
    pub fn errors(&self) -> PathBuf {
        self.root.join("errors")
    }

    /// Where a new queue manager's data goes: below `chosen` (`-md`), or below this folder.
    pub fn new_data(&self, name: &str, chosen: Option<&Path>) -> PathBuf {
        let below = chosen.map_or_else(|| self.root.join("qmgrs"), Path::to_owned);
        below.join(folder_name(name))
    }

    /// Where a new queue manager's recovery log goes: below `chosen` (`-ld`), or below this folder.
    pub fn new_log(&self, name: &str, chosen: Option<&Path>) -> PathBuf {
        let below = chosen.map_or_else(|| self.root.join("log"), Path::to_owned);
        below.join(folder_name(name))
    }

    /// Makes the folder, private, if it is not there.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn make(&self) -> Result<(), Failure> {
        make_private(&self.root)
    }
}

fn choose(
    named: Option<&Path>,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Option<(PathBuf, bool)> {
    if let Some(named) = named {
        return Some((named.to_owned(), true));
    }
    if let Some(data) = variable("POSTHASTE_DATA") {
        return Some((data.into(), true));
    }
    // The base-directory specification: a relative path is ignored.
    let own = variable("XDG_DATA_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute());
    let home = || variable("HOME").map(|home| Path::new(&home).join(".local").join("share"));
    own.or_else(home)
        .map(|path| (path.join("posthaste"), false))
}

/// Makes a folder and those above it, private to the owner; nothing to do when it is there.
///
/// # Errors
/// It cannot be made, or something else has its name.
pub(crate) fn make_private(folder: &Path) -> Result<(), Failure> {
    make_private_folder(folder).map_err(|error| Failure::io(folder, &error))
}

/// The same for whoever says of which folder.
///
/// # Errors
/// The system's.
pub(crate) fn make_private_folder(folder: &Path) -> io::Result<()> {
    let missing = folder.ancestors().take_while(|folder| !folder.exists());
    let missing: Vec<&Path> = missing.collect();
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)?;
    missing.iter().try_for_each(|folder| sync_above(folder))
}

/// Whether two names are of one thing that is there.
pub(crate) fn is_same(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| fs::metadata(path).map(|it| (it.dev(), it.ino())).ok();
    let found = place(one);
    found.is_some() && found == place(other)
}

/// Makes the name of a file or folder durable, or that it is gone.
///
/// # Errors
/// Whatever the file system says.
pub(crate) fn sync_above(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(above) if above.as_os_str().is_empty() => fs::File::open(".")?.sync_all(),
        Some(above) => fs::File::open(above)?.sync_all(),
        None => Ok(()),
    }
}

/// The files of one queue manager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    /// The queue manager's name.
    pub name: String,
    /// Its data folder.
    pub folder: PathBuf,
}

impl Home {
    /// `qm.ini`.
    pub fn configuration(&self) -> PathBuf {
        self.folder.join("qm.ini")
    }

    /// Error logs.
    pub fn errors(&self) -> PathBuf {
        self.folder.join("errors")
    }

    /// Where keys and certificates are if SSLKEYR does not say otherwise, without its ending.
    pub fn key_repository(&self) -> PathBuf {
        self.folder.join("ssl").join("key")
    }

    /// The queue manager's own users, for AUTHENMD(USERFILE).
    pub fn users(&self) -> PathBuf {
        self.folder.join("users")
    }

    /// The password that the queue manager has at a directory (LDAPUSER).
    pub fn directory_password(&self) -> PathBuf {
        self.folder.join("ldap.sth")
    }

    /// The passwords of the users that were made with it.
    pub fn first_passwords(&self) -> PathBuf {
        self.folder.join("first-passwords")
    }

    /// The data keys of an encrypted queue manager, wrapped.
    pub fn encryption_keys(&self) -> PathBuf {
        self.folder.join("encryption.keys")
    }

    /// What belongs to the running process.
    pub fn run(&self) -> PathBuf {
        self.folder.join("run")
    }

    /// Held by the process that runs the queue manager.
    pub fn lock(&self) -> PathBuf {
        self.folder.join("lock")
    }

    /// There while the queue manager is being created, and after that only if the creation failed.
    pub fn unfinished(&self) -> PathBuf {
        self.folder.join("creating")
    }

    /// Held by the process that serves, and there from the first time on.
    pub(crate) fn process(&self) -> PathBuf {
        self.run().join("process")
    }

    /// Whether it has served, so that there may be messages.
    pub(crate) fn has_been_started(&self) -> bool {
        self.process().exists()
    }

    /// How the last run ended; absent after a crash and while running.
    pub fn ended(&self) -> PathBuf {
        self.folder.join("ended")
    }

    /// The socket that local applications connect to.
    pub fn applications(&self) -> PathBuf {
        self.run().join("local.sock")
    }

    /// The socket that takes requests to end.
    pub fn control(&self) -> PathBuf {
        self.run().join("control.sock")
    }

    /// Process, addresses and start time of the running process.
    pub fn status(&self) -> PathBuf {
        self.run().join("status")
    }
}

/// Writes a file so that after any crash it is either the old or the new one, readable by the owner
/// only.
///
/// # Errors
/// Whatever the file system says; the old file is then still there.
pub(crate) fn write_atomically(path: &Path, text: &str) -> io::Result<()> {
    use std::io::Write as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    let folder = path
        .parent()
        .ok_or_else(|| io::Error::other("a file needs a folder"))?;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", std::process::id()));
    let fresh = folder.join(name);
    let written = (|| {
        // What a crash has left there, or somebody has laid there: a link would lead to a file of another name.
        match fs::remove_file(&fresh) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&fresh)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&fresh, path)?;
        fs::File::open(folder)?.sync_all()
    })();
    if written.is_err() {
        // It may not exist; the error that matters is the first one.
        let _ = fs::remove_file(&fresh);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn names() {
        for good in ["QM1", "a", "A.B/C_D%", &"X".repeat(48), "..", "/"] {
            assert!(valid_name(good), "{good}");
        }
        for bad in ["", " ", "QM 1", "QM-1", &"X".repeat(49), "Ä", "A\0", "*"] {
            assert!(!valid_name(bad), "{bad}");
            assert_eq!(check_name(bad).unwrap_err().id, "AMQ7048E");
        }
    }

    #[test]
    fn a_name_is_one_component_of_a_path() {
        let data = DataDir::at("/d");
        for name in ["..", "/", "A/B", "../../etc", ".", "/etc/passwd"] {
            assert!(valid_name(name));
            let folder = data.new_data(name, None);
            assert_eq!(folder.parent(), Some(Path::new("/d/qmgrs")), "{name}");
            assert_eq!(folder.components().count(), 4, "{name}");
        }
        // Different names have different folders: neither ! nor & can be in a name.
        assert_ne!(folder_name("A.B"), folder_name("A/B"));
        assert_eq!(
            data.new_log("Q.1", Some(Path::new("/mnt/log"))),
            Path::new("/mnt/log/Q!1")
        );
    }

    #[test]
    fn the_folder_is_chosen_in_order() {
        let variables = |set: &'static [(&'static str, &'static str)]| {
            move |name: &str| {
                let found = set.iter().find(|(key, _)| *key == name);
                found.map(|(_, value)| OsString::from(value))
            }
        };
        let all: &[(&str, &str)] = &[
            ("POSTHASTE_DATA", "/p"),
            ("XDG_DATA_HOME", "/x"),
            ("HOME", "/h"),
        ];
        type Row<'a> = (
            Option<&'a str>,
            &'static [(&'static str, &'static str)],
            Option<(&'a str, bool)>,
        );
        let rows: &[Row<'_>] = &[
            (Some("/n"), all, Some(("/n", true))),
            (None, all, Some(("/p", true))),
            (
                None,
                &[("XDG_DATA_HOME", "/x"), ("HOME", "/h")],
                Some(("/x/posthaste", false)),
            ),
            (
                None,
                &[("XDG_DATA_HOME", "relative"), ("HOME", "/h")],
                Some(("/h/.local/share/posthaste", false)),
            ),
            (
                None,
                &[("HOME", "/h")],
                Some(("/h/.local/share/posthaste", false)),
            ),
            (None, &[], None),
        ];
        for (named, set, expected) in rows {
            let found = choose(named.map(Path::new), variables(set));
            let expected = expected.map(|(path, chosen)| (PathBuf::from(path), chosen));
            assert_eq!(found, expected, "{set:?}");
        }
    }

    #[test]
    fn files_are_replaced_as_a_whole_and_private() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("a/b");
        make_private(&below).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&below), 0o700);
        let file = below.join("f");
        write_atomically(&file, "one").unwrap();
        write_atomically(&file, "two").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "two");
        assert_eq!(mode(&file), 0o600);
        assert_eq!(
            fs::read_dir(&below).unwrap().count(),
            1,
            "nothing is left over"
        );
        // A link in the place of the new file is not followed.
        let other = folder.path().join("other");
        fs::write(&other, "another's").unwrap();
        let fresh = below.join(format!("f.{}", std::process::id()));
        std::os::unix::fs::symlink(&other, &fresh).unwrap();
        write_atomically(&file, "three").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "three");
        assert_eq!(fs::read_to_string(&other).unwrap(), "another's");
        assert!(!fresh.is_symlink());
        let nowhere = folder.path().join("f/g");
        assert!(write_atomically(&nowhere, "x").is_err());
        fs::write(folder.path().join("file"), "").unwrap();
        let refused = make_private(&folder.path().join("file/below")).unwrap_err();
        assert_eq!((refused.id, refused.exit), ("AMQ2008E", Exit::Unusable));
    }
}
