//! `transactions` and `resolve` (`dspmqtrn`, `rsvmqtrn`): branches of global transactions that wait for their transaction
//! manager, and an operator's decision in its place (manual: "IBM MQ control commands reference").
//!
//! Invariant: a transaction is named by its number, in two halves as MQ shows them; no other transaction ever has it.

use std::path::Path;

use posthaste_command::messages;
use posthaste_mqi::hex;
use posthaste_server::{
    self as server, DataDir, Decision, Exit, Failure, Home, Outcome, TransactionState,
    TransactionStatus, Undecided, display_stamp, transaction_number,
};

use crate::cli;
use crate::output::{Out, say};

fn home(place: Option<&Path>, names: [&Option<String>; 2]) -> Result<Home, Failure> {
    let name = names.into_iter().find_map(Option::as_deref);
    server::find(&DataDir::find(place)?, name)
}

/// A message of the table with its number, as dspmqtrn writes it.
fn message(id: &'static str, inserts: &[String]) -> String {
    format!("{id}: {}", messages::format(id, inserts))
}

fn read_number(text: &str) -> Result<u64, Failure> {
    let halves = text.split_once(',').and_then(|(high, low)| {
        let half = |text: &str| text.trim().parse::<u32>().ok();
        Some((half(high)?, half(low)?))
    });
    let (high, low) = halves.ok_or_else(|| {
        let what = format!("{text} is not the number of a transaction, such as 0,7");
        Failure::new(Exit::InvalidArguments, "AMQ2402E", &[&what])
    })?;
    Ok(u64::from(high) << 32 | u64::from(low))
}

fn state(one: &TransactionStatus) -> &'static str {
    match one.state {
        TransactionState::Active => "ACTIVE",
        TransactionState::Prepared => "PREPARED",
        TransactionState::Heuristic(Outcome::Committed) => "COMMITTED HEURISTICALLY",
        TransactionState::Heuristic(Outcome::BackedOut) => "BACKED OUT HEURISTICALLY",
    }
}

impl cli::Transactions {
    fn everything(&self) -> bool {
        self.all || self.queues
    }

    fn wants(&self, one: &TransactionStatus) -> bool {
        let asks = self.external || self.heuristic || self.internal;
        match one.state {
            _ if self.everything() => true,
            TransactionState::Active => false,
            TransactionState::Prepared => self.external || !asks,
            TransactionState::Heuristic(_) => self.heuristic,
        }
    }

    fn show(&self, one: &TransactionStatus, out: &mut Out) -> Result<(), Failure> {
        let inserts = [transaction_number(one.id), state(one).to_owned()];
        out.line(&message("AMQ7056I", &inserts))?;
        if let Some(xid) = &one.branch {
            let (global, branch) = (xid.global(), xid.branch());
            out.line(&format!(
                "        XID: formatID {}, gtrid_length {}, bqual_length {}",
                xid.format_id(),
                global.len(),
                branch.len()
            ))?;
            out.line(&format!("             gtrid [{}]", hex(global)))?;
            out.line(&format!("             bqual [{}]", hex(branch)))?;
        }
        let (date, time) = display_stamp(one.started);
        out.line(&format!("        UOWSTDA({date}) UOWSTTI({time})"))?;
        if self.everything() {
            for connection in &one.connections {
                out.line(&format!("        CONN({connection:016X})"))?;
            }
        }
        if self.queues {
            // As MQ: the first hundred.
            for queue in one.queues.iter().take(100) {
                out.line(&format!("        OBJECT({queue})"))?;
            }
        }
        Ok(())
    }
}

pub(crate) fn display(place: Option<&Path>, args: &cli::Transactions) -> Result<Exit, Failure> {
    let home = home(place, [&args.named, &args.queue_manager])?;
    let mut found = server::transactions(&home)?;
    found.retain(|one| args.wants(one));
    if found.is_empty() {
        return Err(Failure::new(
            Exit::NoTransactions,
            "AMQ2073I",
            &[&home.name],
        ));
    }
    let mut out = Out::new();
    for one in &found {
        args.show(one, &mut out)?;
    }
    out.flush().map(|()| Exit::Done)
}

pub(crate) fn resolve(place: Option<&Path>, args: &cli::Resolve) -> Result<Exit, Failure> {
    let home = home(place, [&args.named, &args.queue_manager])?;
    let decided = [
        (&args.commit, Decision::Commit),
        (&args.back_out, Decision::BackOut),
        (&args.forget, Decision::Forget),
    ];
    let asked = decided
        .into_iter()
        .find_map(|(text, decision)| Some((text.as_ref()?, decision)));
    let Some((text, decision)) = asked else {
        // It has to be running, whatever there is to be done.
        server::transactions(&home)?;
        if let [manager, _] = &*args.manager {
            let inserts = [manager.as_str()];
            return Err(Failure::new(Exit::NoSuchManager, "AMQ2074E", &inserts));
        }
        return Ok(Exit::Done);
    };
    let number_of_it = transaction_number(read_number(text)?);
    match server::decide(&home, read_number(text)?, decision)? {
        Ok(()) => {
            let what = match decision {
                Decision::Commit => "committed",
                Decision::BackOut => "backed out",
                Decision::Forget => "forgotten",
            };
            let inserts = [number_of_it, what.to_owned()];
            say(&message("AMQ2075I", &inserts))?;
            Ok(Exit::Done)
        }
        Err(Undecided::Unknown) => {
            let inserts = [number_of_it.as_str(), &home.name];
            Err(Failure::new(Exit::UnknownTransaction, "AMQ2076E", &inserts))
        }
        Err(Undecided::Refused(why)) => {
            let inserts = [number_of_it.as_str(), &why];
            Err(Failure::new(Exit::NotResolved, "AMQ2077E", &inserts))
        }
    }
}
