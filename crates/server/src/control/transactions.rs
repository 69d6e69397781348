//! Units of work over the control socket: one line for each, and decisions about branches.
//!
//! Invariants: what is written is read again as it was; what cannot be read is not taken for something else. A decision is that
//! of the user whose process asks for it, by the kernel's word.

use std::io;

use posthaste_admin::{Admin, Decision, Undecided};
use posthaste_engine::{Outcome, TransactionState, TransactionStatus};
use posthaste_mqi::{Xid, hex};
use tokio::io::AsyncWriteExt;

use super::commands::issuer;
use super::{ANSWER, Decided, Door};

/// Stands where there is nothing.
const NOTHING: &str = "-";

const STATES: [(TransactionState, &str); 4] = [
    (TransactionState::Active, "active"),
    (TransactionState::Prepared, "prepared"),
    (TransactionState::Heuristic(Outcome::Committed), "committed"),
    (
        TransactionState::Heuristic(Outcome::BackedOut),
        "backed-out",
    ),
];

const DECISIONS: [(Decision, &str); 3] = [
    (Decision::Commit, "commit"),
    (Decision::BackOut, "backout"),
    (Decision::Forget, "forget"),
];

/// A decision that is asked for, as it is written.
pub(super) fn write_decision(decision: Decision, number: u64) -> String {
    let row = DECISIONS.iter().find(|(known, _)| *known == decision);
    format!("DECIDE {} {number}", row.map_or("", |(_, word)| word))
}

/// And read.
pub(super) fn read_decision(line: &str) -> Option<(Decision, u64)> {
    let (word, number) = line.strip_prefix("DECIDE ")?.split_once(' ')?;
    let (decision, _) = DECISIONS.iter().find(|(_, known)| *known == word)?;
    Some((*decision, number.parse().ok()?))
}

fn list(items: &[String]) -> String {
    match items.is_empty() {
        true => NOTHING.to_owned(),
        false => items.join(","),
    }
}

fn read_list(word: &str) -> Vec<String> {
    match word == NOTHING {
        true => Vec::new(),
        false => word.split(',').map(str::to_owned).collect(),
    }
}

fn shown(bytes: &[u8]) -> String {
    match bytes.is_empty() {
        true => NOTHING.to_owned(),
        false => hex(bytes),
    }
}

fn read_hex(word: &str) -> Option<Vec<u8>> {
    if word == NOTHING {
        return Some(Vec::new());
    }
    let pair = |at: usize| u8::from_str_radix(word.get(at..at + 2)?, 16).ok();
    (0..word.len()).step_by(2).map(pair).collect()
}

/// Numbers, state, identifier, connections and queues, divided by blanks: names of queues have none.
fn line(one: &TransactionStatus) -> String {
    let state = STATES.iter().find(|(state, _)| *state == one.state);
    let state = state.map_or(NOTHING, |(_, word)| word);
    let xid = match &one.branch {
        None => format!("{NOTHING} {NOTHING} {NOTHING}"),
        Some(xid) => format!(
            "{} {} {}",
            xid.format_id(),
            shown(xid.global()),
            shown(xid.branch())
        ),
    };
    let connections: Vec<String> = one.connections.iter().map(u64::to_string).collect();
    let (connections, queues) = (list(&connections), list(&one.queues));
    format!(
        "{} {} {state} {xid} {connections} {queues}",
        one.id, one.started
    )
}

fn read_line(line: &str) -> Option<TransactionStatus> {
    let words: Vec<&str> = line.split(' ').collect();
    let [
        id,
        started,
        state,
        format,
        global,
        branch,
        connections,
        queues,
    ] = *words
    else {
        return None;
    };
    let (state, _) = STATES.iter().find(|(_, word)| *word == state)?;
    let branch = match format {
        NOTHING => None,
        format => {
            let (global, branch) = (read_hex(global)?, read_hex(branch)?);
            Some(Xid::new(format.parse().ok()?, &global, &branch)?)
        }
    };
    let connections = read_list(connections).into_iter();
    let connections: Option<Vec<u64>> = connections.map(|number| number.parse().ok()).collect();
    Some(TransactionStatus {
        id: id.parse().ok()?,
        started: started.parse().ok()?,
        state: *state,
        branch,
        connections: connections?,
        queues: read_list(queues),
    })
}

/// All of them, as they are answered.
pub(super) fn answer(admin: &Admin) -> String {
    let all = admin.transactions();
    let lines: Vec<String> = all.iter().map(line).collect();
    format!("{}\n{}", lines.len(), lines.join("\n"))
}

/// An answer is read: first how many there are. `None`: it is not whole.
pub(super) fn read_answer(text: &str) -> Option<Vec<TransactionStatus>> {
    let mut lines = text.lines();
    let count: usize = lines.next()?.trim().parse().ok()?;
    let lines = lines.filter(|line| !line.is_empty());
    let all: Option<Vec<_>> = lines.map(read_line).collect();
    all.filter(|all| all.len() == count)
}

/// What whoever decides here is called.
const APPLICATION: &str = "rsvmqtrn";

const DONE: &str = "DONE";
const UNKNOWN: &str = "UNKNOWN";

/// Has a decision carried out, that of the user whose process asks for it, and answers it.
pub(super) async fn serve(
    stream: &mut tokio::net::UnixStream,
    decision: Decision,
    number: u64,
    door: &Door,
) -> io::Result<()> {
    let decided = match door.enter() {
        None => None,
        Some((_under_way, administration)) => {
            let who = issuer(stream, APPLICATION)?;
            // It waits for the log.
            let decide = move || administration.decide(who, number, decision);
            tokio::task::spawn_blocking(decide).await?
        }
    };
    let answer = match decided {
        None => String::new(),
        Some(Ok(())) => DONE.to_owned(),
        Some(Err(Undecided::Unknown)) => UNKNOWN.to_owned(),
        Some(Err(Undecided::Refused(why))) => why,
    };
    let line = format!("OK {answer}\n");
    tokio::time::timeout(ANSWER, stream.write_all(line.as_bytes())).await?
}

/// What came of a decision. `None`: it was not carried out, because nobody is served yet.
pub(super) fn read_decided(answer: &str) -> Option<Decided> {
    match answer {
        "" => None,
        DONE => Some(Ok(())),
        UNKNOWN => Some(Err(Undecided::Unknown)),
        why => Some(Err(Undecided::Refused(why.to_owned()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_were_written_and_what_is_cut_is_refused() {
        let own = TransactionStatus {
            id: 7,
            branch: None,
            started: -1,
            state: TransactionState::Active,
            connections: vec![1, u64::MAX],
            queues: Vec::new(),
        };
        let mut all = vec![own.clone()];
        for (state, _) in STATES {
            for (global, branch) in [(&b"\x00\xFF"[..], &b""[..]), (&[7; 64], &[8; 64])] {
                all.push(TransactionStatus {
                    branch: Xid::new(-5, global, branch),
                    state,
                    connections: Vec::new(),
                    queues: vec!["A.B".to_owned(), "C%/_".to_owned()],
                    ..own.clone()
                });
            }
        }
        for one in &all {
            let written = line(one);
            assert_eq!(read_line(&written).as_ref(), Some(one), "{written}");
            let (cut, _) = written.rsplit_once(' ').unwrap();
            assert_eq!(read_line(cut), None);
        }
        let lines: Vec<String> = all.iter().map(line).collect();
        let text = format!("{}\n{}", lines.len(), lines.join("\n"));
        assert_eq!(read_answer(&text), Some(all));
        let (cut, _) = text.rsplit_once('\n').unwrap();
        assert_eq!(read_answer(cut), None);
        assert_eq!(read_answer("0\n"), Some(Vec::new()));
        assert_eq!(read_answer(""), None);
        for (decision, _) in DECISIONS {
            let written = write_decision(decision, u64::MAX);
            assert_eq!(read_decision(&written), Some((decision, u64::MAX)));
        }
        for wrong in ["DECIDE", "DECIDE commit", "DECIDE commit x", "DECIDE x 1"] {
            assert_eq!(read_decision(wrong), None);
        }
    }
}
