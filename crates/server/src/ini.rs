//! `qm.ini`: from text to checked values, and from checked values to the configuration of a start.
//!
//! Invariants: [`RawConfig::parse`] looks at text only (no system call, no environment); every fault
//! in the text is reported, each with line and column; nothing that is not understood is skipped.

pub(crate) mod configure;
pub mod keys;
mod resolve;
pub mod stanza;
mod template;

use std::collections::BTreeMap;
use std::fmt;

use posthaste_command::{COMPONENT, messages};

use keys::{Effect, Kind};
use stanza::{Entry, Place, Stanza};

pub use resolve::{AuditSettings, SecurityPolicy, Settings, Shape};
pub use template::new_file;

/// One thing that is wrong with a configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The file, as it was named to the reader.
    pub file: String,
    /// Where.
    pub at: Place,
    /// Message number.
    pub id: &'static str,
    /// The message's inserts.
    pub inserts: Vec<String>,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place { line, column } = self.at;
        let text = messages::format(self.id, &self.inserts);
        write!(f, "{}:{line}:{column}: {}: {text}", self.file, self.id)
    }
}

impl std::error::Error for ConfigError {}

/// A value that was given.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Given {
    text: String,
    /// The number, for numeric keys.
    number: i64,
    at: Place,
}

/// The values in a file, each of the right kind and within its limits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawConfig {
    file: String,
    given: BTreeMap<(&'static str, &'static str), Given>,
    notes: Vec<ConfigError>,
    /// Stanzas of which there may be several, as they were read.
    repeated: Vec<Stanza>,
    /// What the stanza `Service` of the authorization service says.
    service: Option<SecurityPolicy>,
    /// Whether it has its `ServiceComponent`.
    component: bool,
}

/// The service that decides about authorities, as `qm.ini` calls it.
const AUTHORIZATION: &str = "AuthorizationService";

impl RawConfig {
    /// Reads a file's bytes. `file` is what messages call it.
    ///
    /// # Errors
    /// Everything that is wrong, in the order of the file.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<RawConfig, Vec<ConfigError>> {
        let (stanzas, faults) = stanza::read(bytes);
        let mut reader = Reader {
            config: RawConfig {
                file: file.to_owned(),
                ..RawConfig::default()
            },
            errors: Vec::new(),
        };
        for fault in faults {
            reader.fault(fault.at, fault.what);
        }
        for (number, stanza) in stanzas.iter().enumerate() {
            let before = stanzas.get(..number).unwrap_or_default();
            reader.stanza(stanza, before);
        }
        reader.check_service(&stanzas);
        reader.errors.sort_by_key(|error| error.at);
        match reader.errors.is_empty() {
            true => Ok(reader.config),
            false => Err(reader.errors),
        }
    }

    /// What is accepted and has no effect: one warning for each.
    pub fn notes(&self) -> &[ConfigError] {
        &self.notes
    }

    /// The text of a key, if it was given.
    pub fn text(&self, stanza: &str, key: &str) -> Option<&str> {
        let row = keys::find(stanza, key)?;
        let given = self.given.get(&(row.stanza, row.key))?;
        Some(given.text.as_str())
    }

    /// The number of a key, if it was given.
    pub fn number(&self, stanza: &str, key: &str) -> Option<i64> {
        let row = keys::find(stanza, key)?;
        let given = self.given.get(&(row.stanza, row.key))?;
        Some(given.number)
    }

    /// Where a key was given.
    fn place(&self, stanza: &str, key: &str) -> Place {
        let row = keys::find(stanza, key);
        let given = row.and_then(|row| self.given.get(&(row.stanza, row.key)));
        given.map_or(Place { line: 1, column: 1 }, |given| given.at)
    }

    /// The values as a file.
    pub fn to_text(&self) -> String {
        let mut stanzas: Vec<Stanza> = Vec::new();
        let once = |stanza: &str| !keys::REPEATED.contains(&stanza);
        for ((stanza, key), given) in self.given.iter().filter(|((stanza, _), _)| once(stanza)) {
            if stanzas.last().is_none_or(|last| last.name != *stanza) {
                stanzas.push(Stanza {
                    name: (*stanza).to_owned(),
                    at: given.at,
                    entries: Vec::new(),
                });
            }
            if let Some(last) = stanzas.last_mut() {
                last.entries.push(Entry {
                    key: (*key).to_owned(),
                    key_at: given.at,
                    value: given.text.clone(),
                    value_at: given.at,
                });
            }
        }
        stanzas.extend(self.repeated.iter().cloned());
        stanza::write(&stanzas)
    }
}

/// A value of the right kind, or what message it deserves.
enum Checked {
    Good { text: String, number: i64 },
    Wrong,
    OutOfRange { min: i64, max: i64 },
    NotHere,
}

fn in_range(value: &str, number: i64, min: i64, max: i64) -> Checked {
    match (min..=max).contains(&number) {
        true => Checked::Good {
            text: value.to_owned(),
            number,
        },
        false => Checked::OutOfRange { min, max },
    }
}

fn check(row: &keys::Key, value: &str) -> Checked {
    let good = |text: &str| Checked::Good {
        text: text.to_owned(),
        number: 0,
    };
    // Digits only: `+5`, `5 ` and `0x5` are typing errors more often than they are numbers. More
    // digits than a number has room for are out of range, not unreadable.
    let digits = !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit());
    let number = value.parse::<i64>().unwrap_or(i64::MAX);
    match row.kind {
        Kind::Int { .. } | Kind::IntOrZero { .. } if !digits => Checked::Wrong,
        Kind::IntOrZero { .. } if number == 0 => in_range(value, 0, 0, 0),
        Kind::Int { min, max } | Kind::IntOrZero { min, max } => in_range(value, number, min, max),
        Kind::Words(words) => {
            let known = words
                .iter()
                .position(|word| word.eq_ignore_ascii_case(value));
            match known {
                None => Checked::Wrong,
                Some(at) if at > 0 && row.effect == Effect::FirstWordOnly => Checked::NotHere,
                Some(at) => words.get(at).map_or(Checked::Wrong, |word| good(word)),
            }
        }
        Kind::Path => match value.starts_with('/') {
            true => good(value),
            false => Checked::Wrong,
        },
        Kind::Text => good(value),
    }
}

/// Whether a stanza is one of the two about the authorization service.
fn is_authorization(stanza: &Stanza) -> bool {
    let key = match stanza.name.to_ascii_lowercase().as_str() {
        "service" => "Name",
        "servicecomponent" => "Service",
        _ => return false,
    };
    let named = stanza.get(key);
    named.is_some_and(|name| name.eq_ignore_ascii_case(AUTHORIZATION))
}

struct Reader {
    config: RawConfig,
    errors: Vec<ConfigError>,
}

impl Reader {
    fn error(&mut self, at: Place, id: &'static str, inserts: Vec<String>) {
        let file = self.config.file.clone();
        self.errors.push(ConfigError {
            file,
            at,
            id,
            inserts,
        });
    }

    fn fault(&mut self, at: Place, what: String) {
        let inserts = vec![
            self.config.file.clone(),
            at.line.to_string(),
            at.column.to_string(),
            what,
        ];
        self.error(at, "AMQ2101E", inserts);
    }

    fn not_here(&mut self, at: Place, what: String) {
        let inserts = vec![self.config.file.clone(), at.line.to_string(), what];
        self.error(at, "AMQ2106E", inserts);
    }

    fn stanza(&mut self, stanza: &Stanza, before: &[Stanza]) {
        let same = |name: &&str| name.eq_ignore_ascii_case(&stanza.name);
        if keys::ELSEWHERE.iter().any(same) {
            return self.not_here(stanza.at, format!("stanza {}", stanza.name));
        }
        let known = keys::stanzas();
        let Some(name) = known.iter().find(|name| same(name)) else {
            let hint = format!("The stanzas that are known are {}.", known.join(", "));
            let inserts = vec![
                self.config.file.clone(),
                stanza.at.line.to_string(),
                stanza.name.clone(),
                hint,
            ];
            return self.error(stanza.at, "AMQ2102E", inserts);
        };
        let repeated = keys::REPEATED.contains(name);
        if let Some(first) = before.iter().find(|first| same(&first.name.as_str()))
            && !repeated
        {
            let what = format!("stanza {name} is on line {} already", first.at.line);
            return self.fault(stanza.at, what);
        }
        let acts = is_authorization(stanza);
        if repeated {
            self.check_twice(stanza);
            self.config.repeated.push(stanza.clone());
        }
        for entry in &stanza.entries {
            self.entry(name, entry, (repeated, acts));
        }
        if acts {
            self.authorization(stanza);
        }
    }

    /// In a stanza that may come again, too, each key is there once: or one of two names would decide whether it acts.
    fn check_twice(&mut self, stanza: &Stanza) {
        for (at, entry) in stanza.entries.iter().enumerate() {
            let mut earlier = stanza.entries[..at].iter();
            if let Some(first) = earlier.find(|first| first.key.eq_ignore_ascii_case(&entry.key)) {
                let what = format!("{} is on line {} already", entry.key, first.key_at.line);
                self.fault(entry.key_at, what);
            }
        }
    }

    /// A stanza of the authorization service.
    fn authorization(&mut self, stanza: &Stanza) {
        let entry = |key: &str| {
            let mut entries = stanza.entries.iter();
            entries.find(|entry| entry.key.eq_ignore_ascii_case(key))
        };
        if stanza.name.eq_ignore_ascii_case("Service") {
            let policy = entry("SecurityPolicy");
            let word = policy.map_or("default", |entry| entry.value.as_str());
            match (SecurityPolicy::called(word), policy) {
                (Some(policy), _) => self.config.service = Some(policy),
                (None, Some(entry)) => {
                    self.not_here(entry.value_at, format!("SecurityPolicy={word}"));
                }
                (None, None) => {}
            }
            return;
        }
        let name = entry("Name");
        match name.filter(|entry| entry.value != COMPONENT) {
            Some(other) => self.not_here(other.value_at, format!("Name={}", other.value)),
            None => self.config.component = true,
        }
    }

    /// A service without what carries it out would check nothing, and nobody would notice.
    fn check_service(&mut self, stanzas: &[Stanza]) {
        if self.config.service.is_some() && !self.config.component {
            let mut stanzas = stanzas.iter();
            let stanza = stanzas.find(|stanza| is_authorization(stanza));
            let at = stanza.map_or(Place { line: 1, column: 1 }, |stanza| stanza.at);
            let what = format!("{AUTHORIZATION} has no stanza ServiceComponent");
            self.fault(at, what);
        }
    }

    fn entry(&mut self, stanza: &str, entry: &Entry, (repeated, acts): (bool, bool)) {
        let line = entry.key_at.line.to_string();
        let Some(row) = keys::find(stanza, &entry.key) else {
            let inserts = vec![entry.key.clone(), line, self.config.file.clone()];
            return self.error(entry.key_at, "AMQ7075E", inserts);
        };
        let (text, number) = match check(row, &entry.value) {
            Checked::Good { text, number } => (text, number),
            Checked::Wrong => {
                let inserts = vec![
                    row.key.to_owned(),
                    entry.value.clone(),
                    line,
                    self.config.file.clone(),
                ];
                return self.error(entry.value_at, "AMQ7076E", inserts);
            }
            Checked::OutOfRange { min, max } => {
                let inserts = vec![
                    self.config.file.clone(),
                    line,
                    row.key.to_owned(),
                    min.to_string(),
                    max.to_string(),
                ];
                return self.error(entry.value_at, "AMQ2103E", inserts);
            }
            Checked::NotHere => {
                return self.not_here(entry.value_at, format!("{}={}", row.key, entry.value));
            }
        };
        let given = Given {
            text,
            number,
            at: entry.value_at,
        };
        let earlier = self.config.given.insert((row.stanza, row.key), given);
        if let Some(first) = earlier
            && !repeated
        {
            let what = format!("{} is on line {} already", row.key, first.at.line);
            return self.fault(entry.key_at, what);
        }
        if let Effect::None(why) = row.effect
            && !acts
        {
            self.config.notes.push(ConfigError {
                file: self.config.file.clone(),
                at: entry.key_at,
                id: "AMQ2105W",
                inserts: vec![
                    self.config.file.clone(),
                    line,
                    row.key.to_owned(),
                    why.to_owned(),
                ],
            });
        }
    }
}

#[cfg(test)]
mod tests;
