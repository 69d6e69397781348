//! `dspmqver`: what is installed here, in the lines that scripts written for MQ look for.

use posthaste_server::{DataDir, Exit, Failure, VRMF};

use crate::cli::Version;
use crate::output::Out;

/// The component that is here: the server. MQ's others have other bits.
const SERVER: u32 = 1;

/// A line: its bit in `-f`, its name, and what it says.
type Field = (u32, &'static str, String);

pub(crate) fn show(place: Option<&std::path::Path>, args: &Version) -> Result<Exit, Failure> {
    if args.components.is_some_and(|asked| asked & SERVER == 0) {
        let what = "of MQ's components only the server (1) is in this release";
        return Err(Failure::bad_parameter(what));
    }
    let data = DataDir::find(place)?;
    let data = data.root().display().to_string();
    let mut out = Out::new();
    for (_, name, value) in chosen(fields(data), args) {
        out.line(&match args.no_names {
            true => value,
            false => format!("{:<13}{value}", format!("{name}:")),
        })?;
    }
    out.flush()?;
    Ok(Exit::Done)
}

/// Those that were asked for; without a word about it all.
fn chosen(fields: Vec<Field>, args: &Version) -> impl Iterator<Item = Field> {
    let asked = args.fields.unwrap_or(u32::MAX);
    fields.into_iter().filter(move |(bit, ..)| asked & bit != 0)
}

fn fields(data: String) -> Vec<Field> {
    let system = rustix::system::uname();
    let word = |word: &std::ffi::CStr| word.to_string_lossy().into_owned();
    let (sysname, release) = (word(system.sysname()), word(system.release()));
    let program = std::env::current_exe().unwrap_or_default();
    let folder = program.parent().unwrap_or(std::path::Path::new(""));
    let level: String = VRMF.split('.').take(3).collect();
    let machine = word(system.machine());
    vec![
        (1, "Name", "Posthaste".to_owned()),
        (2, "Version", VRMF.to_owned()),
        (4, "Level", env!("CARGO_PKG_VERSION").to_owned()),
        (8, "BuildType", build().to_owned()),
        (
            16,
            "Platform",
            format!("Posthaste for {sysname} ({machine})"),
        ),
        (32, "Mode", format!("{}-bit", usize::BITS)),
        (64, "O/S", format!("{sysname} {release}")),
        (256, "InstName", "Installation1".to_owned()),
        (512, "InstDesc", String::new()),
        (1024, "Primary", "N/A".to_owned()),
        (128, "InstPath", folder.display().to_string()),
        (2048, "DataPath", data),
        (4096, "MaxCmdLevel", level),
        (8192, "LicenseType", "Open source".to_owned()),
    ]
}

fn build() -> &'static str {
    match cfg!(debug_assertions) {
        true => "Development",
        false => "Production",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_field_has_a_bit_of_its_own() {
        let all = fields("/d".to_owned());
        let bits = all.iter().fold(0, |bits, (bit, ..)| bits | bit);
        assert_eq!(bits, (1 << all.len()) - 1);
        let asked = |fields| Version {
            fields,
            components: None,
            no_names: false,
            all: false,
            installations: false,
            verbose: false,
        };
        let names = |fields| -> Vec<&str> {
            chosen(self::fields(String::new()), &asked(fields))
                .map(|(_, name, _)| name)
                .collect()
        };
        assert_eq!(names(Some(2)), ["Version"]);
        assert_eq!(names(Some(4 + 4096)), ["Level", "MaxCmdLevel"]);
        assert_eq!(names(None).len(), all.len());
    }
}
