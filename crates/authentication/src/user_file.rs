//! A queue manager's own users: a file with a line for each, `NAME:HASH`.
//!
//! Invariants: a password is in the file as an Argon2id hash with a salt of its own and nowhere else; the file is its
//! owner's alone, and one that others may read or change is not used; it is read anew for every question, so that what was
//! added or removed counts at once. A user who is not there costs as much time as one with another password.
//!
//! A change writes a new file and puts it in the place of the old one.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, fchown};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};

use crate::{Credentials, Method, Unable};

/// A longer one is taken for a mistake: so long may a password of MQCSP be (manual: "MQCSP", CSPPasswordLength).
pub const LONGEST_PASSWORD: usize = 256;
/// A longer name fits in no message descriptor (manual: "MQMD", UserIdentifier).
const LONGEST_NAME: usize = 12;
/// A longer file is a mistake.
const LONGEST_FILE: u64 = 16 * 1_024 * 1_024;
/// What others may not do with the file.
const OTHERS: u32 = 0o077;

const HEAD: &str = "# Users of this queue manager; \"posthaste users\" changes them.\n";

/// Why the file, or a user in it, is not as it should be.
#[derive(Debug, thiserror::Error)]
pub enum UserFileError {
    /// It cannot be read or written.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// Others may use it.
    #[error("{}: its permissions are {mode:03o}, and nobody but its owner may read or change it", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// Somebody else's.
    #[error("{}: it belongs to user number {owner}, and not to the one who runs the queue manager", path.display())]
    Owner {
        /// The file.
        path: PathBuf,
        /// To whom it belongs.
        owner: u32,
    },
    /// A line is not NAME:HASH.
    #[error("{}, line {line}: not a name, a colon and an Argon2 hash", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Which, from 1 on.
        line: usize,
    },
    /// Too long.
    #[error("{}: it is longer than {LONGEST_FILE} bytes", path.display())]
    Length {
        /// The file.
        path: PathBuf,
    },
    /// No such user.
    #[error("there is no user {0}")]
    Unknown(String),
    /// There is one already.
    #[error("there is a user {0} already")]
    Known(String),
    /// A name that cannot be one.
    #[error(
        "a user's name is 1 to {LONGEST_NAME} letters, digits and . _ - characters, and begins with a letter or _"
    )]
    Name,
    /// A password that cannot be one.
    #[error("a password is 1 to {LONGEST_PASSWORD} bytes long")]
    Password,
    /// The hash could not be made.
    #[error("the password could not be hashed: {0}")]
    Hash(String),
}

/// A file of users.
#[derive(Clone, Debug)]
pub struct UserFile {
    path: PathBuf,
}

/// Users and hashes, in the order of the file.
type Users = Vec<(String, String)>;

impl UserFile {
    /// The file need not be there yet.
    pub fn new(path: impl Into<PathBuf>) -> UserFile {
        UserFile { path: path.into() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The names in it, sorted; none if there is no file.
    ///
    /// # Errors
    /// It cannot be used.
    pub fn names(&self) -> Result<Vec<String>, UserFileError> {
        let users = self.read()?.unwrap_or_default();
        let mut names: Vec<String> = users.into_iter().map(|(name, _)| name).collect();
        names.sort();
        Ok(names)
    }

    /// Adds a user; the file is made if there is none.
    ///
    /// # Errors
    /// There is one of this name, name or password cannot be one, or the file cannot be used.
    pub fn add(&self, name: &str, password: &[u8]) -> Result<(), UserFileError> {
        check_name(name)?;
        let hash = hash(password)?;
        self.change(|users| {
            if users.iter().any(|(user, _)| user == name) {
                return Err(UserFileError::Known(name.to_owned()));
            }
            users.push((name.to_owned(), hash));
            Ok(())
        })
    }

    /// Gives a user another password.
    ///
    /// # Errors
    /// There is none of this name, the password cannot be one, or the file cannot be used.
    pub fn set_password(&self, name: &str, password: &[u8]) -> Result<(), UserFileError> {
        let hash = hash(password)?;
        self.change(|users| {
            let user = users.iter_mut().find(|(user, _)| user == name);
            let (_, old) = user.ok_or_else(|| UserFileError::Unknown(name.to_owned()))?;
            *old = hash;
            Ok(())
        })
    }

    /// Removes a user.
    ///
    /// # Errors
    /// There is none of this name, or the file cannot be used.
    pub fn remove(&self, name: &str) -> Result<(), UserFileError> {
        self.change(|users| {
            let before = users.len();
            users.retain(|(user, _)| user != name);
            match users.len() < before {
                true => Ok(()),
                false => Err(UserFileError::Unknown(name.to_owned())),
            }
        })
    }

    /// Reads it; none if it is not there.
    fn read(&self) -> Result<Option<Users>, UserFileError> {
        let io = |error| self.io(error);
        let file = match File::open(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(io)?,
        };
        let metadata = file.metadata().map_err(io)?;
        let (path, mode, owner) = (self.path.clone(), metadata.mode() & 0o777, metadata.uid());
        if mode & OTHERS != 0 {
            return Err(UserFileError::Open { path, mode });
        }
        let of_folder = fs::metadata(self.folder()).map_err(io)?.uid();
        if owner != rustix::process::geteuid().as_raw() && owner != of_folder {
            return Err(UserFileError::Owner { path, owner });
        }
        if metadata.len() > LONGEST_FILE {
            return Err(UserFileError::Length { path });
        }
        let mut text = String::new();
        file.take(LONGEST_FILE)
            .read_to_string(&mut text)
            .map_err(io)?;
        let mut users = Users::new();
        for (index, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let user = line
                .split_once(':')
                .filter(|(name, hash)| check_name(name).is_ok() && PasswordHash::new(hash).is_ok());
            let (name, hash) = user.ok_or_else(|| UserFileError::Line {
                path: self.path.clone(),
                line: index + 1,
            })?;
            users.push((name.to_owned(), hash.to_owned()));
        }
        Ok(Some(users))
    }

    fn change(
        &self,
        change: impl FnOnce(&mut Users) -> Result<(), UserFileError>,
    ) -> Result<(), UserFileError> {
        // Who else changes it waits; the lock is on a file that is never replaced.
        let lock_path = self.path.with_extension("lock");
        let lock = private().open(&lock_path);
        let lock = lock.and_then(|lock| self.hand_over(&lock).map(|()| lock));
        let lock = lock.map_err(|error| UserFileError::Io {
            path: lock_path,
            error,
        })?;
        lock.lock().map_err(|error| self.io(error))?;
        let mut users = self.read()?.unwrap_or_default();
        change(&mut users)?;
        let mut text = HEAD.to_owned();
        for (name, hash) in &users {
            text.push_str(&format!("{name}:{hash}\n"));
        }
        self.replace(text.as_bytes())
            .map_err(|error| self.io(error))
    }

    fn replace(&self, bytes: &[u8]) -> std::io::Result<()> {
        let new = self.path.with_extension("new");
        match fs::remove_file(&new) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = private().create_new(true).open(&new)?;
        self.hand_over(&file)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&new, &self.path)?;
        File::open(self.folder())?.sync_all()
    }

    fn folder(&self) -> &Path {
        let folder = self.path.parent();
        let named = folder.filter(|folder| !folder.as_os_str().is_empty());
        named.unwrap_or(Path::new("."))
    }

    /// Gives a file to whoever the folder belongs to, if the superuser made it: the queue manager runs as that user.
    fn hand_over(&self, file: &File) -> std::io::Result<()> {
        let (owner, made) = (fs::metadata(self.folder())?, file.metadata()?);
        match owner.uid() == made.uid() {
            true => Ok(()),
            false => fchown(file, Some(owner.uid()), Some(owner.gid())),
        }
    }

    fn io(&self, error: std::io::Error) -> UserFileError {
        UserFileError::Io {
            path: self.path.clone(),
            error,
        }
    }
}

/// How files are opened that are their owner's alone.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create(true).mode(0o600);
    options
}

fn check_name(name: &str) -> Result<(), UserFileError> {
    let first = |c: char| c.is_ascii_alphabetic() || c == '_';
    let other = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let good = name.len() <= LONGEST_NAME && name.starts_with(first) && name.chars().all(other);
    match good {
        true => Ok(()),
        false => Err(UserFileError::Name),
    }
}

fn hash(password: &[u8]) -> Result<String, UserFileError> {
    if password.is_empty() || password.len() > LONGEST_PASSWORD {
        return Err(UserFileError::Password);
    }
    let hash = Argon2::default().hash_password(password);
    hash.map(|hash| hash.to_string())
        .map_err(|error| UserFileError::Hash(error.to_string()))
}

/// The hash of a password that nobody has, for users that are not there.
fn nobodys() -> Result<&'static str, Unable> {
    static HASH: OnceLock<Option<String>> = OnceLock::new();
    let hash = HASH.get_or_init(|| hash(b"of nobody").ok());
    hash.as_deref()
        .ok_or_else(|| Unable("the system gives no random bytes".to_owned()))
}

impl Method for UserFile {
    fn check(&self, credentials: &Credentials) -> Result<Option<String>, Unable> {
        let nobodys = nobodys()?;
        let users = self.read().map_err(|error| Unable(error.to_string()))?;
        let missing = || Unable(format!("{}: there is no such file", self.path.display()));
        let users = users.ok_or_else(missing)?;
        let user = users.iter().find(|(name, _)| *name == credentials.user);
        let hash = user.map_or(nobodys, |(_, hash)| hash);
        let hash = PasswordHash::new(hash).map_err(|error| Unable(error.to_string()))?;
        // As long as Argon2 takes, whatever the answer; it compares in constant time.
        let right = Argon2::default()
            .verify_password(&credentials.secret, &hash)
            .is_ok();
        Ok(user.filter(|_| right).map(|(name, _)| name.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn check(file: &UserFile, user: &str, password: &str) -> Result<Option<String>, String> {
        let password = password.as_bytes().to_vec().into();
        let checked = file.check(&Credentials::new(user, password));
        checked.map_err(|unable| unable.0)
    }

    #[test]
    fn a_user_has_one_password_until_it_is_changed_or_he_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let file = UserFile::new(folder.path().join("users"));
        assert!(check(&file, "alice", "one").is_err(), "there is no file");
        assert_eq!(file.names().unwrap(), [""; 0]);
        file.add("alice", b"one").unwrap();
        file.add("bob", b"two").unwrap();
        assert_eq!(file.names().unwrap(), ["alice", "bob"]);
        assert_eq!(check(&file, "alice", "one").unwrap().unwrap(), "alice");
        for (user, password) in [
            ("alice", "two"),
            ("alice", "one "),
            ("Alice", "one"),
            ("nobody", "of nobody"),
            ("", ""),
        ] {
            assert_eq!(check(&file, user, password).unwrap(), None, "{user}");
        }
        file.set_password("alice", b"three").unwrap();
        assert_eq!(check(&file, "alice", "one").unwrap(), None);
        assert_eq!(check(&file, "alice", "three").unwrap().unwrap(), "alice");
        file.remove("alice").unwrap();
        assert_eq!(check(&file, "alice", "three").unwrap(), None);
        assert_eq!(check(&file, "bob", "two").unwrap().unwrap(), "bob");
        let text = fs::read_to_string(file.path()).unwrap();
        assert!(
            text.contains("bob:$argon2id$") && !text.contains("two"),
            "{text}"
        );
    }

    #[test]
    fn what_cannot_be_is_refused_and_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = UserFile::new(folder.path().join("users"));
        file.add("alice", b"one").unwrap();
        let before = fs::read(file.path()).unwrap();
        let long = [b'x'; LONGEST_PASSWORD + 1];
        for error in [
            file.add("alice", b"two"),
            file.set_password("bob", b"two"),
            file.remove("bob"),
            file.add("", b"two"),
            file.add("a:b", b"two"),
            file.add("a\nb", b"two"),
            file.add("*NOACCESS", b"two"),
            file.add("thirteen-long", b"two"),
            file.add("bob", b""),
            file.add("bob", &long),
            file.set_password("alice", b""),
        ] {
            error.expect_err("refused");
        }
        assert_eq!(fs::read(file.path()).unwrap(), before);
        file.add("bob", &long[1..]).unwrap();
    }

    #[test]
    fn a_file_that_others_may_read_or_that_is_damaged_says_nothing_about_passwords() {
        let folder = tempfile::tempdir().unwrap();
        let file = UserFile::new(folder.path().join("users"));
        file.add("alice", b"one").unwrap();
        let mode = fs::metadata(file.path()).unwrap().mode() & 0o777;
        assert_eq!(mode, 0o600);
        for mode in [0o640, 0o604, 0o660, 0o602, 0o644] {
            fs::set_permissions(file.path(), fs::Permissions::from_mode(mode)).unwrap();
            let why = check(&file, "alice", "one").unwrap_err();
            assert!(why.contains(&format!("{mode:03o}")), "{why}");
            assert!(file.add("bob", b"two").is_err());
        }
        fs::set_permissions(file.path(), fs::Permissions::from_mode(0o600)).unwrap();
        assert!(check(&file, "alice", "one").unwrap().is_some());
        for line in ["bob", "bob:secret", ":$argon2id$v=19$m=8,t=1,p=1$", "a b:c"] {
            fs::write(file.path(), format!("{HEAD}\n{line}\n")).unwrap();
            let why = check(&file, "alice", "one").unwrap_err();
            assert!(why.contains("line 3"), "{line}: {why}");
        }
    }

    #[test]
    fn a_user_who_is_not_there_takes_as_long_as_one_with_another_password() {
        let folder = tempfile::tempdir().unwrap();
        let file = UserFile::new(folder.path().join("users"));
        file.add("alice", b"one").unwrap();
        // Of this thread's own time, whatever else the machine does.
        let cpu = || {
            let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
            now.tv_sec * 1_000_000_000 + now.tv_nsec
        };
        let fastest = |user: &str| {
            let one = |_| {
                let begun = cpu();
                assert_eq!(check(&file, user, "wrong").unwrap(), None);
                cpu() - begun
            };
            (0..5).map(one).min().unwrap()
        };
        let (there, not_there) = (fastest("alice"), fastest("nobody"));
        assert!(not_there * 3 > there, "{not_there:?} against {there:?}");
        assert!(there * 3 > not_there, "{there:?} against {not_there:?}");
    }
}
