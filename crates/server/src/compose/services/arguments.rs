//! The text of a service's attributes made ready for use: inserts filled in, arguments taken apart
//! (manual: "Replaceable inserts on service definitions", "Additional environment variables").

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use posthaste_admin::ComponentError;

/// The file of more variables for the programs of services.
const FILE: &str = "service.env";

/// What `service.env` adds to the environment of the programs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Variables(BTreeMap<String, String>);

impl Variables {
    /// Those of some folders, of which the last one wins.
    pub(super) fn read(folders: [&Path; 2]) -> Result<Variables, ComponentError> {
        let mut all = Variables::default();
        for folder in folders {
            let path = folder.join(FILE);
            let failed = |why: String| ComponentError::CannotStart {
                program: path.display().to_string(),
                why,
            };
            match std::fs::read_to_string(&path) {
                Ok(text) => all.add(&text).map_err(failed)?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(failed(error.to_string())),
            }
        }
        Ok(all)
    }

    /// Adds what lines of `NAME=VALUE` say; a line that begins with `#` says nothing.
    fn add(&mut self, text: &str) -> Result<(), String> {
        for (at, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let pair = line.split_once('=').filter(|(name, _)| !name.is_empty());
            let (name, value) = pair.ok_or(format!("line {} is not NAME=VALUE", at + 1))?;
            if line.contains('\0') {
                return Err(format!("line {} has a null character", at + 1));
            }
            self.0.insert(name.to_owned(), value.to_owned());
        }
        Ok(())
    }

    /// All of them, by name.
    pub(super) fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = self.0.iter();
        all.map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// What the text of an attribute may ask for between plus signs.
pub(super) struct Inserts<'a> {
    pub(super) queue_manager: &'a str,
    pub(super) service: &'a str,
    /// The folder of all queue managers.
    pub(super) data: &'a Path,
    /// The queue manager's.
    pub(super) home: &'a Path,
    /// Where a program is to be stopped: its process, or 0.
    pub(super) server: Option<u32>,
    pub(super) variables: &'a Variables,
}

impl Inserts<'_> {
    /// The text with its inserts. `++` is a plus sign; what nobody knows stays as it is.
    pub(super) fn filled(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('+') {
            out.push_str(before);
            let insert = after.split_once('+');
            match insert.and_then(|(name, tail)| Some((self.value(name)?, tail))) {
                Some((value, tail)) => {
                    out.push_str(&value);
                    rest = tail;
                }
                None => {
                    out.push('+');
                    rest = after;
                }
            }
        }
        out.push_str(rest);
        out
    }

    fn value(&self, name: &str) -> Option<String> {
        match name {
            "" => Some("+".to_owned()),
            "QMNAME" | "MQ_Q_MGR_NAME" => Some(self.queue_manager.to_owned()),
            "MQ_SERVICE_NAME" => Some(self.service.to_owned()),
            "MQ_SERVER_PID" => self.server.map(|pid| pid.to_string()),
            "MQ_DATA_PATH" => Some(folder(self.data)),
            "MQ_Q_MGR_DATA_PATH" => Some(folder(self.home)),
            "MQ_Q_MGR_DATA_NAME" => {
                let name = self.home.file_name()?;
                Some(name.to_string_lossy().into_owned())
            }
            "MQ_INSTALL_PATH" => {
                let program = std::env::current_exe().ok()?;
                // Where there is a folder `bin` with the program.
                Some(folder(program.parent()?.parent()?))
            }
            variable => self.variables.0.get(variable).cloned(),
        }
    }
}

/// A folder, with the slash that what follows an insert counts on.
fn folder(path: &Path) -> String {
    let path = path.display().to_string();
    format!("{}/", path.trim_end_matches('/'))
}

/// The arguments in a text: blanks separate, double quotes hold together.
pub(super) fn split(text: &str) -> Vec<String> {
    let mut arguments = Vec::new();
    let mut argument: Option<String> = None;
    let mut quoted = false;
    for letter in text.chars() {
        match letter {
            '"' => {
                quoted = !quoted;
                argument.get_or_insert_default();
            }
            ' ' | '\t' if !quoted => arguments.extend(argument.take()),
            letter => argument.get_or_insert_default().push(letter),
        }
    }
    arguments.extend(argument);
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inserts_are_filled_in() {
        let mut variables = Variables::default();
        variables.add("SITE=north\nMONTH = 11").unwrap();
        let inserts = Inserts {
            queue_manager: "QM.1",
            service: "S",
            data: Path::new("/data"),
            home: Path::new("/data/qmgrs/QM!1/"),
            server: Some(7),
            variables: &variables,
        };
        for (text, expected) in [
            ("", ""),
            ("-m +QMNAME+", "-m QM.1"),
            ("+MQ_Q_MGR_NAME+/+MQ_SERVICE_NAME+", "QM.1/S"),
            ("+MQ_SERVER_PID+", "7"),
            ("1++2", "1+2"),
            ("+NO_SUCH_INSERT+", "+NO_SUCH_INSERT+"),
            ("a+b", "a+b"),
            ("+NOT+QMNAME+", "+NOTQM.1"),
            ("+SITE+", "north"),
            ("+PATH+", "+PATH+"),
            ("+MQ_DATA_PATH+x", "/data/x"),
            ("+MQ_Q_MGR_DATA_PATH+errors", "/data/qmgrs/QM!1/errors"),
            ("+MQ_Q_MGR_DATA_NAME+", "QM!1"),
        ] {
            assert_eq!(inserts.filled(text), expected, "{text}");
        }
        let installed = inserts.filled("+MQ_INSTALL_PATH+bin");
        assert!(Path::new(&installed).is_absolute(), "{installed}");
        let starting = Inserts {
            server: None,
            ..inserts
        };
        assert_eq!(starting.filled("+MQ_SERVER_PID+"), "+MQ_SERVER_PID+");
    }

    #[test]
    fn variables_are_those_of_both_files() {
        let place = tempfile::tempdir().unwrap();
        let folders = ["a", "b"].map(|name| place.path().join(name));
        let [first, second] = folders.each_ref().map(|folder| folder.as_path());
        let read = || Variables::read([first, second]);
        assert_eq!(read(), Ok(Variables::default()));
        for folder in [first, second] {
            std::fs::create_dir(folder).unwrap();
        }
        std::fs::write(first.join(FILE), "# all\nA=1\nB=x=y\n\n").unwrap();
        std::fs::write(second.join(FILE), "A= 2 \nC=").unwrap();
        let found = read().unwrap();
        let found: Vec<_> = found.all().collect();
        assert_eq!(found, [("A", " 2 "), ("B", "x=y"), ("C", "")]);
        for wrong in ["A", "=x", "A=1\nB", "A=\0"] {
            std::fs::write(second.join(FILE), wrong).unwrap();
            assert!(matches!(read(), Err(ComponentError::CannotStart { .. })));
        }
    }

    #[test]
    fn arguments_are_taken_apart() {
        for (text, expected) in [
            ("", &[][..]),
            ("  a  b ", &["a", "b"]),
            ("-f \"a b\" c", &["-f", "a b", "c"]),
            ("x\"y z\"w \"\"", &["xy zw", ""]),
            ("\"left open", &["left open"]),
        ] {
            assert_eq!(split(text), expected, "{text}");
        }
    }
}
