//! The log's configuration: the `Log` stanza of `qm.ini`, in the log's own terms.
//!
//! Invariant: [`LogConfig::check`] has passed before any other code uses the numbers.

use crate::LogError;
use crate::limits;

/// How long extents are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Retention {
    /// An extent is used again once restart no longer needs it (`LogType=CIRCULAR`).
    #[default]
    Circular,
}

/// When the writer starts a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WritePolicy {
    /// Take whatever is there, one write in flight, never wait. For comparison measurements.
    pub plain: bool,
    /// Most writes in flight on a slow device, 1 to 4.
    pub max_flights: u8,
}

impl Default for WritePolicy {
    fn default() -> Self {
        Self {
            plain: false,
            max_flights: limits::MAX_FLIGHTS as u8,
        }
    }
}

/// Shape and behaviour of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogConfig {
    /// `LogFilePages`: 4 KiB pages of an extent, 64 to 65,535. Fixed when the log is made.
    pub file_pages: u32,
    /// `LogPrimaryFiles`: extents that always exist, 2 to 510.
    pub primary_files: u32,
    /// `LogSecondaryFiles`: extents made when the primaries do not suffice, 1 to 509.
    pub secondary_files: u32,
    /// `LogBufferPages`: pages that may wait to be written before appenders are held back,
    /// 18 to 4,096; 0 = 4,096.
    pub buffer_pages: u32,
    /// How long extents are kept.
    pub retention: Retention,
    /// When the writer starts a write.
    pub writes: WritePolicy,
}

impl Default for LogConfig {
    fn default() -> Self {
        Self {
            file_pages: 4096,
            primary_files: 3,
            secondary_files: 2,
            buffer_pages: 0,
            retention: Retention::Circular,
            writes: WritePolicy::default(),
        }
    }
}

/// The part of the configuration that says how large the log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) file_pages: u32,
    pub(crate) primary: u32,
    pub(crate) secondary: u32,
}

impl Shape {
    /// Bytes of one extent.
    pub(crate) fn extent_bytes(self) -> u64 {
        u64::from(self.file_pages) * limits::PAGE as u64
    }

    pub(crate) fn total(self) -> u64 {
        u64::from(self.primary) + u64::from(self.secondary)
    }

    /// Bytes of all extents the log may have.
    pub(crate) fn capacity(self) -> u64 {
        self.total() * self.extent_bytes()
    }

    /// Bytes that only essential records may use; whole pages.
    pub(crate) fn reserve(self) -> u64 {
        let share = (self.capacity() / limits::RESERVE_SHARE).min(limits::RESERVE_MOST);
        share - share % limits::PAGE as u64
    }

    /// Number of the extent that holds `lsn`.
    pub(crate) fn extent_of(self, lsn: u64) -> u64 {
        lsn / self.extent_bytes()
    }

    pub(crate) fn check(self) -> Result<(), LogError> {
        in_range("LogFilePages", self.file_pages, &limits::FILE_PAGES)?;
        in_range("LogPrimaryFiles", self.primary, &limits::PRIMARY)?;
        in_range("LogSecondaryFiles", self.secondary, &limits::SECONDARY)?;
        let all = self.total();
        if all > u64::from(limits::ALL_FILES) {
            return Err(LogError::BadConfig(format!(
                "LogPrimaryFiles and LogSecondaryFiles together are {all}, more than {}",
                limits::ALL_FILES
            )));
        }
        Ok(())
    }
}

impl LogConfig {
    /// Refuses what is out of range.
    pub fn check(&self) -> Result<(), LogError> {
        self.shape().check()?;
        if self.buffer_pages != 0 {
            in_range("LogBufferPages", self.buffer_pages, &limits::BUFFER_PAGES)?;
        }
        let flights = 1..=limits::MAX_FLIGHTS as u32;
        in_range(
            "writes in flight",
            u32::from(self.writes.max_flights),
            &flights,
        )
    }

    pub(crate) fn shape(&self) -> Shape {
        Shape {
            file_pages: self.file_pages,
            primary: self.primary_files,
            secondary: self.secondary_files,
        }
    }

    /// Pages that may wait to be written: what `buffer_pages` stands for.
    pub fn buffer_pages_in_force(&self) -> u32 {
        match self.buffer_pages {
            0 => limits::DEFAULT_BUFFER_PAGES,
            pages => pages,
        }
    }

    /// Bytes that may wait to be written.
    pub(crate) fn buffer_bytes(&self) -> u64 {
        u64::from(self.buffer_pages_in_force()) * limits::PAGE as u64
    }
}

fn in_range(name: &str, value: u32, range: &std::ops::RangeInclusive<u32>) -> Result<(), LogError> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(LogError::BadConfig(format!(
        "{name} is {value}, it must be {} to {}",
        range.start(),
        range.end()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        let base = LogConfig::default();
        assert!(base.check().is_ok());
        #[rustfmt::skip]
        let rows: &[(u32, u32, u32, u32, u8, &str)] = &[
            (63, 3, 2, 0, 4, "LogFilePages"),
            (65_536, 3, 2, 0, 4, "LogFilePages"),
            (64, 1, 2, 0, 4, "LogPrimaryFiles"),
            (64, 511, 2, 0, 4, "LogPrimaryFiles"),
            (64, 3, 0, 0, 4, "LogSecondaryFiles"),
            (64, 3, 510, 0, 4, "LogSecondaryFiles"),
            (64, 300, 212, 0, 4, "together"),
            (64, 3, 2, 17, 4, "LogBufferPages"),
            (64, 3, 2, 4_097, 4, "LogBufferPages"),
            (64, 3, 2, 0, 0, "writes in flight"),
            (64, 3, 2, 0, 5, "writes in flight"),
            (64, 2, 1, 18, 1, ""),
            (65_535, 510, 1, 4_096, 4, ""),
        ];
        for &(file_pages, primary_files, secondary_files, buffer_pages, max_flights, fault) in rows
        {
            let config = LogConfig {
                file_pages,
                primary_files,
                secondary_files,
                buffer_pages,
                writes: WritePolicy {
                    plain: false,
                    max_flights,
                },
                ..base.clone()
            };
            match config.check() {
                Ok(()) => assert_eq!(fault, "", "{config:?} was accepted"),
                Err(LogError::BadConfig(text)) => {
                    assert!(!fault.is_empty() && text.contains(fault), "{text}")
                }
                Err(other) => panic!("{other}"),
            }
        }
    }
}
