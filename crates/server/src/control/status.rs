//! `run/status`: process, start time and addresses of the process that runs a queue manager, and what of
//! its configuration nothing else tells, for people and scripts. Nothing decides by it: whether a process lives is told by its sockets and its
//! lock.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;

use parking_lot::Mutex;
use posthaste_engine::display_stamp;

use crate::compose::listeners::Running;
use crate::ini::stanza::{self, Entry, Place, Stanza};
use crate::layout::{self, Home};

const NOWHERE: Place = Place { line: 1, column: 1 };
const LOG_BUFFER_PAGES: &str = "LogBufferPages";

/// What the file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Process number.
    pub process: u32,
    /// When it was ready, UTC.
    pub started: String,
    /// `LogBufferPages` as it was at the start; 0 is the default.
    pub log_buffer_pages: Option<u32>,
    /// Listeners and where they listen.
    pub listeners: Vec<(String, SocketAddr)>,
}

/// The file of the running process; removed when dropped, if not before. It is not to be there when a successor may have made its own.
pub(crate) struct StatusFile {
    path: PathBuf,
    started: String,
    log_buffer_pages: u32,
    /// Whether it has been removed for good. One writer at a time.
    removed: Mutex<bool>,
}

impl StatusFile {
    /// Writes the file for the first time. Should the disk have no room for it, the queue manager
    /// runs all the same.
    pub(crate) fn new(home: &Home, started: i64, log_buffer_pages: u32) -> StatusFile {
        let (date, time) = display_stamp(started);
        let file = StatusFile {
            path: home.status(),
            started: format!("{date} {time}"),
            log_buffer_pages,
            removed: Mutex::new(false),
        };
        file.publish(&[]);
        file
    }

    /// Writes which listeners are running now, unless it has been removed.
    pub(crate) fn publish(&self, listeners: &[Running]) {
        let removed = self.removed.lock();
        if *removed {
            return;
        }
        let entry = |key: &str, value: String| Entry {
            key: key.to_owned(),
            key_at: NOWHERE,
            value,
            value_at: NOWHERE,
        };
        let mut entries = vec![
            entry("Pid", std::process::id().to_string()),
            entry("Started", self.started.clone()),
            entry(LOG_BUFFER_PAGES, self.log_buffer_pages.to_string()),
        ];
        for listener in listeners {
            let value = format!("{} {}", listener.plan.name, listener.address);
            entries.push(entry("Listener", value));
        }
        let stanza = Stanza {
            name: "Status".to_owned(),
            at: NOWHERE,
            entries,
        };
        // Told to nobody on purpose: the file is for information, and an old one says its age.
        let _ = layout::write_atomically(&self.path, &stanza::write(&[stanza]));
    }

    /// Removes it, for good.
    pub(crate) fn remove(&self) {
        if !std::mem::replace(&mut *self.removed.lock(), true) {
            // An old one says its age.
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl Drop for StatusFile {
    fn drop(&mut self) {
        self.remove();
    }
}

/// What the running process has written; meaningful only if there is one.
pub fn read(home: &Home) -> Option<Status> {
    let (stanzas, _) = stanza::read(&fs::read(home.status()).ok()?);
    let stanza = stanzas.first()?;
    let listeners = stanza.entries.iter().filter(|e| e.key == "Listener");
    Some(Status {
        process: stanza.get("Pid")?.parse().ok()?,
        started: stanza.get("Started")?.to_owned(),
        log_buffer_pages: stanza
            .get(LOG_BUFFER_PAGES)
            .and_then(|pages| pages.parse().ok()),
        listeners: listeners
            .filter_map(|entry| {
                let (name, address) = entry.value.split_once(' ')?;
                Some((name.to_owned(), address.parse().ok()?))
            })
            .collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::listeners::Plan;

    #[test]
    fn what_was_written_is_read_and_goes_with_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home {
            name: "QM1".to_owned(),
            folder: folder.path().to_owned(),
        };
        layout::make_private(&home.run()).unwrap();
        assert_eq!(read(&home), None);
        let running = Running {
            plan: Plan {
                name: "L1".to_owned(),
                port: 0,
                host: String::new(),
                backlog: 0,
                control: 0,
                description: String::new(),
            },
            address: "127.0.0.1:1415".parse().unwrap(),
            started: 0,
        };
        let file = StatusFile::new(&home, 0, 512);
        assert_eq!(read(&home).unwrap().listeners, []);
        file.publish(&[running]);
        let status = read(&home).unwrap();
        assert_eq!(status.process, std::process::id());
        assert_eq!(status.started, "1970-01-01 00.00.00");
        assert_eq!(status.log_buffer_pages, Some(512));
        assert_eq!(
            status.listeners,
            [("L1".to_owned(), "127.0.0.1:1415".parse().unwrap())]
        );
        file.remove();
        assert_eq!(read(&home), None);
        // What follows is a successor's.
        let next = StatusFile::new(&home, 1, 512);
        file.publish(&[]);
        drop(file);
        assert_eq!(read(&home).unwrap().started, "1970-01-01 00.00.00");
        drop(next);
        assert_eq!(read(&home), None);
    }
}
