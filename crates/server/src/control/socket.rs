//! Unix-domain sockets in folders of any depth: the system takes paths of at most 107 bytes, so a
//! longer one is reached through a handle of its folder.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// The longest path of a socket, without the closing NUL (`sun_path` has 108 bytes).
const LONGEST: usize = 107;

/// A path that can be bound and connected to while this lives.
#[derive(Debug)]
pub struct SocketPath {
    path: PathBuf,
    /// Keeps the number in `path` meaning the folder.
    _folder: Option<File>,
}

impl SocketPath {
    /// For a socket at `path`; its folder must be there if the path is long.
    ///
    /// # Errors
    /// The folder cannot be opened.
    pub fn new(path: &Path) -> io::Result<SocketPath> {
        if path.as_os_str().len() <= LONGEST {
            return Ok(SocketPath {
                path: path.to_owned(),
                _folder: None,
            });
        }
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let folder = File::open(folder)?;
        let path = PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd())).join(name);
        Ok(SocketPath {
            path,
            _folder: Some(folder),
        })
    }

    /// The path to use.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::{UnixListener, UnixStream};

    #[test]
    fn sockets_in_deep_folders_work() {
        let folder = tempfile::tempdir().unwrap();
        for depth in [0, 3] {
            let mut below = folder.path().to_owned();
            for _ in 0..depth {
                below.push("a".repeat(60));
            }
            std::fs::create_dir_all(&below).unwrap();
            let socket = SocketPath::new(&below.join("local.sock")).unwrap();
            let listener = UnixListener::bind(socket.path()).unwrap();
            let other = SocketPath::new(&below.join("local.sock")).unwrap();
            UnixStream::connect(other.path()).unwrap();
            listener.accept().unwrap();
            assert!(below.join("local.sock").exists());
        }
        let nowhere = folder.path().join("x".repeat(100)).join("y".repeat(20));
        assert!(SocketPath::new(&nowhere).is_err());
    }
}
