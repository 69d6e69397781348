//! `save`: every definition of a queue manager as MQSC that makes it again (manual: "dmpmqcfg").
//!
//! Invariant: a script that was written to its end can be run as it is: each command was parsed before
//! it was written, and the last line says that nothing is missing.

use std::path::Path;
use std::time::Duration;

use posthaste_command::{
    Attrs, AuthorityCommand, ChlAuthAction, ChlAuthCommand, Command, DefineForm, Object,
    ObjectKind, generic_matches, parse, script_of, whole_mqsc_of,
};
use posthaste_mqi::constants::MQCACH_CHANNEL_NAME;
use posthaste_server::{Exit, Failure};

use crate::cli;
use crate::connect::Target;
use crate::mqsc::{CommandServer, refused};
use crate::output::Out;

/// What stands before each command in the answer.
const NUMBER: &str = "AMQ2404I: ";

pub(crate) fn save(place: Option<&Path>, args: &cli::Save) -> Result<Exit, Failure> {
    let name = args.queue_manager.as_deref().or(args.named.as_deref());
    let target = Target {
        place,
        queue_manager: name,
        reach: &args.reach,
        client: args.client,
        application: "dmpmqcfg",
        within: Duration::from_secs(args.wait.into()),
    };
    let mut server = CommandServer::connect(&target, args.wait)?;
    let name = server.queue_manager();
    let answers = server.execute("SAVE QMGR")?;
    if answers.outcome() != Some(Ok(())) {
        return Err(refused(&answers));
    }
    let mut written = 0;
    let mut out = Out::new();
    out.line(&format!(
        "* Definitions of queue manager {name}, to be run by runmqsc."
    ))?;
    for text in answers.texts() {
        let definition = Definition::read(text).ok_or_else(|| {
            let what = format!("this is not a definition: {text}");
            Failure::new(Exit::CommandsFailed, "AMQ6109S", &[&what])
        })?;
        if !definition.is_meant(args, &name) {
            continue;
        }
        if args.layout == cli::Layout::Mqsc {
            out.line("")?;
        }
        out.bytes(definition.script(args.layout).as_bytes())?;
        written += 1;
    }
    out.line(&format!("\n* {written} definitions; this is the end."))?;
    out.flush()?;
    server.disconnect();
    Ok(Exit::Done)
}

/// A definition as the queue manager answers it.
struct Definition<'a> {
    /// The command that makes it, on one line.
    command: &'a str,
    part: cli::Exported,
    /// What the type of its object is called; none: it is of the queue manager as a whole.
    types: &'static [&'static str],
    name: String,
    /// What it is laid out from; none: it stays on its line.
    object: Option<Object>,
}

impl<'a> Definition<'a> {
    /// `None` for what is not one.
    fn read(answer: &'a str) -> Option<Definition<'a>> {
        let command = answer.strip_prefix(NUMBER)?.trim_end();
        let of = |part, types, name, object| {
            Some(Definition {
                command,
                part,
                types,
                name,
                object,
            })
        };
        let whole = |kind, name: &str, given: &Attrs| {
            let mut attrs = Attrs::defaults(kind);
            attrs.merge(given);
            let name = name.to_owned();
            Some(Object { kind, name, attrs })
        };
        match parse(command).ok()?? {
            Command::Define {
                kind, name, attrs, ..
            } => {
                let part = match kind {
                    ObjectKind::Sub => cli::Exported::Sub,
                    _ => cli::Exported::Object,
                };
                let object = whole(kind, &name, &attrs);
                of(part, kind.object_type().names(), name, object)
            }
            Command::Alter { kind, attrs, .. } => {
                let object = whole(ObjectKind::Qmgr, "", &attrs);
                let types = kind.object_type().names();
                of(cli::Exported::Object, types, String::new(), object)
            }
            Command::ChlAuth(ChlAuthCommand::Set {
                kind,
                action,
                attrs,
            }) => {
                let name = attrs.text(MQCACH_CHANNEL_NAME).to_owned();
                // A default record that somebody has removed stands as it is.
                let object = match action {
                    ChlAuthAction::RemoveAll => None,
                    _ => whole(kind, "", &attrs),
                };
                of(cli::Exported::Chlauth, &[], name, object)
            }
            // What it grants stands on one line.
            Command::Authority(AuthorityCommand::Set { record, .. }) => {
                let (types, name) = (record.object_type.names(), record.profile.text());
                of(cli::Exported::Authrec, types, name.to_owned(), None)
            }
            _ => None,
        }
    }

    /// Whether it is one of those that are asked for. The queue manager's own name is that of its attributes.
    fn is_meant(&self, args: &cli::Save, queue_manager: &str) -> bool {
        let name = match self.name.is_empty() {
            true => queue_manager,
            false => &self.name,
        };
        let of_type = |word: &str| match word {
            "all" => true,
            // Both ends of a client's channel.
            "channel" => self
                .types
                .iter()
                .any(|it| ["channel", "clntconn"].contains(it)),
            word => self.types.contains(&word),
        };
        (args.exported == cli::Exported::All || args.exported == self.part)
            && of_type(&args.object_type)
            && generic_matches(&args.name, name)
    }

    /// As a script has it.
    fn script(&self, layout: cli::Layout) -> String {
        match &self.object {
            None => format!("{}\n", self.command),
            Some(object) => match layout {
                cli::Layout::Mqsc => script_of(object, DefineForm::All),
                cli::Layout::OneLine => format!("{}\n", whole_mqsc_of(object)),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_definitions_are_written() {
        let answer = "AMQ2404I: DEFINE QALIAS('A') DESCR('it''s + -') REPLACE";
        let script = |answer: &str, layout| Some(Definition::read(answer)?.script(layout));
        let one_line = script(answer, cli::Layout::OneLine).unwrap();
        assert!(one_line.starts_with("DEFINE QALIAS('A') "), "{one_line}");
        assert!(one_line.contains(" DESCR('it''s + -') "), "{one_line}");
        assert_eq!(one_line.lines().count(), 1, "{one_line}");
        let script = |answer: &str| script(answer, cli::Layout::Mqsc);
        let laid_out = script(answer).unwrap();
        assert!(laid_out.starts_with("DEFINE QALIAS('A') +\n"), "{laid_out}");
        assert!(laid_out.contains("   DESCR('it''s + -') +\n"), "{laid_out}");
        let record = "SET AUTHREC PROFILE('A.**') OBJTYPE(QUEUE) GROUP('staff') AUTHADD(GET)";
        let record_script = script(&format!("AMQ2404I: {record}"));
        assert_eq!(record_script, Some(format!("{record}\n")));
        for wrong in [
            "",
            "DEFINE QLOCAL(A)",
            "AMQ2404I: DELETE QLOCAL(A)",
            "AMQ2404I: FROB",
        ] {
            assert_eq!(script(wrong), None, "{wrong}");
        }
    }
}
