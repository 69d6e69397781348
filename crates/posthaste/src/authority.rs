//! `setmqaut`, `dspmqaut` and `dmpmqaut`: authority records in MQ's way (manual: "IBM MQ control commands reference").
//!
//! Invariants:
//! * Each is made of the MQSC commands about authority records, so what they change and show is what these do.
//! * What setmqaut says of a user or group is one command: all of it comes about, at once, or nothing.

use std::path::Path;
use std::time::Duration;

use posthaste_command::{authority_changes, messages, pcf};
use posthaste_server::{Exit, Failure};

use crate::cli;
use crate::connect::Target;
use crate::mqsc::{CommandServer, refused};
use crate::output::Out;

/// Seconds to wait for an answer.
const WAIT: u32 = 60;
/// Authorities in the order in which dspmqaut has them.
const ORDER: &str = "get browse put inq set connect altusr crt dlt chg dsp passid passall setid setall clr ctrl ctrlx \
                     pub sub resume system";
/// Short names of types, and the long ones that MQSC has.
const TYPES: [(&str, &str); 9] = [
    ("chl", "channel"),
    ("clcn", "clntconn"),
    ("lstr", "listener"),
    ("nl", "namelist"),
    ("prcs", "process"),
    ("q", "queue"),
    ("rqmn", "rqmname"),
    ("srvc", "service"),
    ("top", "topic"),
];

fn wrong(what: &str) -> Failure {
    Failure::new(Exit::InvalidArguments, "AMQ2402E", &[what])
}

/// What a command line said.
#[derive(Debug, Default, PartialEq)]
struct Given {
    queue_manager: Option<String>,
    profile: Option<String>,
    object_type: Option<String>,
    /// `PRINCIPAL('fred')`, `GROUP('staff')`.
    entities: Vec<String>,
    /// Whose they are, as they were written.
    names: Vec<String>,
    /// Authorities in their order, each with whether it is given or taken away.
    changes: Vec<(bool, String)>,
    /// Options without a value.
    flags: Vec<String>,
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// As the shell takes it for one word.
fn for_shell(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

impl Given {
    /// Reads a command line; `flags`: the options without a value, `grants`: whether authorities may be given and taken.
    fn read(words: &[String], flags: &[&str], grants: bool) -> Result<Given, Failure> {
        let mut given = Given::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || {
                let value = words.next().cloned();
                value.ok_or_else(|| wrong(&format!("{word} needs a value")))
            };
            match word.as_str() {
                "-m" => given.queue_manager = Some(value()?),
                "-n" => given.profile = Some(value()?),
                "-t" => given.object_type = Some(type_of(&value()?)),
                "-s" => drop(value()?),
                "-p" | "-g" => {
                    let name = value()?;
                    let kind = if word == "-p" { "PRINCIPAL" } else { "GROUP" };
                    given.entities.push(format!("{kind}({})", quoted(&name)));
                    given.names.push(name);
                }
                flag if flags.contains(&flag) => given.flags.push(flag.to_owned()),
                other => match (other.split_at_checked(1), grants) {
                    (Some((sign @ ("+" | "-"), authority)), true) => {
                        given.changes.push((sign == "+", authority.to_owned()))
                    }
                    _ => return Err(wrong(&format!("{other} is no option of this command"))),
                },
            }
        }
        Ok(given)
    }

    fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|given| given == flag)
    }

    fn connect(
        &self,
        place: Option<&Path>,
        application: &'static str,
    ) -> Result<CommandServer, Failure> {
        let reach = cli::ConnectArgs::default();
        let target = Target {
            place,
            queue_manager: self.queue_manager.as_deref(),
            reach: &reach,
            client: false,
            application,
            within: Duration::from_secs(WAIT.into()),
        };
        CommandServer::connect(&target, WAIT)
    }

    /// The parameters that name records, `named` for the profile.
    fn parameters(&self, named: &str) -> String {
        let profile = self.profile.as_deref();
        let profile = profile.map(|profile| format!(" {named}({})", quoted(profile)));
        let object_type = self.object_type.as_deref();
        let object_type = object_type.map(|word| format!(" OBJTYPE({word})"));
        profile.unwrap_or_default() + &object_type.unwrap_or_default()
    }
}

fn type_of(word: &str) -> String {
    let long = TYPES
        .iter()
        .find(|(short, _)| short.eq_ignore_ascii_case(word));
    long.map_or(word, |(_, long)| long).to_uppercase()
}

/// Sends a command that must be carried out.
fn done(server: &mut CommandServer, text: &str) -> Result<pcf::EscapeReplies, Failure> {
    let answers = server.execute(text)?;
    match answers.outcome() {
        Some(Ok(())) => Ok(answers),
        _ => Err(refused(&answers)),
    }
}

/// What an answer says in the parentheses behind a keyword.
fn value<'a>(text: &'a str, keyword: &str) -> Option<&'a str> {
    let start = text.match_indices(keyword).find_map(|(at, _)| {
        let before = text.get(..at)?.chars().next_back();
        let after = text.get(at + keyword.len()..)?.strip_prefix('(')?;
        before.is_none_or(char::is_whitespace).then_some(after)
    })?;
    start.split(')').next()
}

/// The authorities of an answer, in dspmqaut's order.
fn authorities(text: &str) -> Vec<String> {
    let listed = value(text, "AUTHLIST").unwrap_or_default().to_lowercase();
    let listed: Vec<&str> = listed.split(',').collect();
    let ordered = ORDER.split_whitespace();
    let ordered = ordered.filter(|word| listed.contains(word));
    ordered.map(str::to_owned).collect()
}

/// setmqaut.
pub(crate) fn set(place: Option<&Path>, args: &cli::Words) -> Result<Exit, Failure> {
    let given = Given::read(&args.words, &["-remove"], true)?;
    let Some(object_type) = given
        .object_type
        .as_deref()
        .filter(|_| !given.entities.is_empty())
    else {
        return Err(wrong("setmqaut needs -t and at least one -p or -g"));
    };
    let (verb, change) = match (given.has("-remove"), given.changes.is_empty()) {
        (true, true) => ("DELETE", String::new()),
        (false, false) => ("SET", authority_changes(&given.changes, object_type)),
        (true, false) => return Err(wrong("-remove goes without authorities")),
        (false, true) => return Err(wrong("setmqaut needs authorities, such as +put")),
    };
    let mut server = given.connect(place, "setmqaut")?;
    for entity in &given.entities {
        let record = given.parameters("PROFILE");
        done(
            &mut server,
            &format!("{verb} AUTHREC{record} {entity}{change}"),
        )?;
    }
    server.disconnect();
    let mut out = Out::new();
    out.line(&format!("AMQ7024I: {}", messages::format("AMQ7024I", &[])))?;
    out.flush()?;
    Ok(Exit::Done)
}

/// dspmqaut.
pub(crate) fn display(place: Option<&Path>, args: &cli::Words) -> Result<Exit, Failure> {
    let given = Given::read(&args.words, &[], false)?;
    let ([entity], [name], Some(object_type)) =
        (&given.entities[..], &given.names[..], &given.object_type)
    else {
        return Err(wrong("dspmqaut needs -t and one -p or -g"));
    };
    let mut server = given.connect(place, "dspmqaut")?;
    let object = given.parameters("OBJNAME");
    let answers = done(&mut server, &format!("DISPLAY ENTAUTH{object} {entity}"))?;
    let queue_manager = server.queue_manager();
    server.disconnect();
    let mut out = Out::new();
    let shown = match object_type.as_str() {
        "QMGR" => queue_manager.as_str(),
        _ => given.profile.as_deref().unwrap_or_default(),
    };
    out.line(&format!(
        "Entity {name} has the following authorizations for object {shown}:"
    ))?;
    for text in answers.texts() {
        for authority in authorities(text) {
            out.line(&format!("\t{authority}"))?;
        }
    }
    out.flush()?;
    Ok(Exit::Done)
}

/// dmpmqaut.
pub(crate) fn dump(place: Option<&Path>, args: &cli::Words) -> Result<Exit, Failure> {
    let given = Given::read(&args.words, &["-l", "-a", "-e", "-x"], false)?;
    if given.entities.len() > 1 {
        return Err(wrong("dmpmqaut takes one -p or -g"));
    }
    let matching = match (given.has("-e"), given.has("-x")) {
        (true, _) => " MATCH(MEMBERSHIP)",
        (false, true) => " MATCH(EXACT)",
        (false, false) => "",
    };
    let mut server = given.connect(place, "dmpmqaut")?;
    let entity = given.entities.first().map_or("", String::as_str);
    let chosen = given.parameters("PROFILE");
    let command = format!("DISPLAY AUTHREC{chosen} {entity}{matching}");
    let answers = done(&mut server, &command)?;
    let queue_manager = server.queue_manager();
    server.disconnect();
    let mut out = Out::new();
    let mut last = None;
    for (number, text) in answers.texts().iter().enumerate() {
        let of = |keyword: &str| value(text, keyword).unwrap_or_default();
        let (profile, object_type) = (of("PROFILE"), of("OBJTYPE").to_lowercase());
        let kind = of("ENTTYPE").to_lowercase();
        let authorities = authorities(text);
        if given.has("-l") {
            let line = format!("profile: {profile}, type: {object_type}");
            if last.as_ref() != Some(&line) {
                out.line(&line)?;
            }
            last = Some(line);
        } else if given.has("-a") {
            let granted: Vec<String> = match authorities.is_empty() {
                true => vec!["+none".to_owned()],
                false => authorities.iter().map(|word| format!("+{word}")).collect(),
            };
            let option = if kind == "group" { "-g" } else { "-p" };
            out.line(&format!(
                "setmqaut -m {queue_manager} -n '{profile}' -t {object_type} {option} {} {}",
                for_shell(of("ENTITY")),
                granted.join(" ")
            ))?;
        } else {
            if number > 0 {
                out.line("- - - - - - - - ")?;
            }
            for (what, is) in [
                ("profile:     ", profile),
                ("object type: ", &object_type),
                ("entity:      ", of("ENTITY")),
                ("type:        ", &kind),
                ("authority:   ", &authorities.join(", ")),
            ] {
                out.line(&format!("{what}{is}"))?;
            }
        }
    }
    out.flush()?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str, grants: bool) -> Result<Given, Failure> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        Given::read(&words, &["-l"], grants)
    }

    #[test]
    fn command_lines_are_read_as_mq_writes_them() {
        let given = read(
            "-m QM1 -n DEV.** -t q -g staff -p it's +put -get -all",
            true,
        )
        .unwrap();
        assert_eq!(given.queue_manager.as_deref(), Some("QM1"));
        assert_eq!(
            given.parameters("PROFILE"),
            " PROFILE('DEV.**') OBJTYPE(QUEUE)"
        );
        assert_eq!(given.entities, ["GROUP('staff')", "PRINCIPAL('it''s')"]);
        let changes = [(true, "put"), (false, "get"), (false, "all")];
        let changes = changes.map(|(gives, word)| (gives, word.to_owned()));
        assert_eq!(given.changes, changes);
        assert!(read("-l", false).unwrap().has("-l"));
        for wrong in ["-n", "put", "-z"] {
            assert!(read(wrong, false).is_err(), "{wrong}");
        }
    }

    #[test]
    fn values_are_found_in_answers() {
        let text = "AMQ8864I: Details.\n   PROFILE(A.**)   ENTITY(staff)\n   ENTTYPE(GROUP)  AUTHLIST(BROWSE,GET)\n";
        assert_eq!(value(text, "PROFILE"), Some("A.**"));
        assert_eq!(value(text, "ENTITY"), Some("staff"));
        assert_eq!(value(text, "TYPE"), None);
        assert_eq!(authorities(text), ["get", "browse"]);
    }
}
