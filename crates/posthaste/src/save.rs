//! `save`: every definition of a queue manager as MQSC that makes it again (manual: "dmpmqcfg").
//!
//! Invariant: a script that was written to its end can be run as it is: each command was parsed before
//! it was written, and the last line says that nothing is missing.

use std::path::Path;
use std::time::Duration;

use posthaste_command::{
    Attrs, AuthorityCommand, ChlAuthAction, ChlAuthCommand, Command, DefineForm, Object,
    ObjectKind, parse, script_of,
};
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
    let mut out = Out::new();
    out.line(&format!(
        "* Definitions of queue manager {name}, to be run by runmqsc."
    ))?;
    for text in answers.texts() {
        let script = script(text).ok_or_else(|| {
            let what = format!("this is not a definition: {text}");
            Failure::new(Exit::CommandsFailed, "AMQ6109S", &[&what])
        })?;
        out.line("")?;
        out.bytes(script.as_bytes())?;
    }
    out.line(&format!(
        "\n* {} definitions; this is the end.",
        answers.texts().len()
    ))?;
    out.flush()?;
    server.disconnect();
    Ok(Exit::Done)
}

/// One definition, laid out; `None` for what is not one.
fn script(answer: &str) -> Option<String> {
    let command = answer.strip_prefix(NUMBER)?;
    let (kind, name, given) = match parse(command) {
        // A default record that somebody has removed.
        Ok(Some(Command::ChlAuth(ChlAuthCommand::Set {
            action: ChlAuthAction::RemoveAll,
            ..
        }))) => return Some(format!("{command}\n")),
        Ok(Some(Command::Define {
            kind, name, attrs, ..
        })) => (kind, name, attrs),
        Ok(Some(Command::ChlAuth(ChlAuthCommand::Set { kind, attrs, .. }))) => {
            (kind, String::new(), attrs)
        }
        Ok(Some(Command::Alter { attrs, .. })) => (ObjectKind::Qmgr, String::new(), attrs),
        // What it grants stands on one line.
        Ok(Some(Command::Authority(AuthorityCommand::Set { .. }))) => {
            return Some(format!("{}\n", command.trim_end()));
        }
        _ => return None,
    };
    let mut attrs = Attrs::defaults(kind);
    attrs.merge(&given);
    Some(script_of(&Object { kind, name, attrs }, DefineForm::All))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_definitions_are_written() {
        let answer = "AMQ2404I: DEFINE QALIAS('A') DESCR('it''s + -') REPLACE";
        let script = script(answer).unwrap();
        assert!(script.starts_with("DEFINE QALIAS('A') +\n"), "{script}");
        assert!(script.contains("   DESCR('it''s + -') +\n"), "{script}");
        let record = "SET AUTHREC PROFILE('A.**') OBJTYPE(QUEUE) GROUP('staff') AUTHADD(GET)";
        let script = super::script(&format!("AMQ2404I: {record}"));
        assert_eq!(script, Some(format!("{record}\n")));
        for wrong in [
            "",
            "DEFINE QLOCAL(A)",
            "AMQ2404I: DELETE QLOCAL(A)",
            "AMQ2404I: FROB",
        ] {
            assert_eq!(super::script(wrong), None, "{wrong}");
        }
    }
}
