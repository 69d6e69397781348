//! Units of work that are branches of global transactions (XA): the audit is their transaction manager, which remembers
//! what it has decided and comes back after every kill.
//!
//! Invariants:
//! * A branch whose prepare was answered is in doubt until it is told to commit or to roll back, whatever is killed.
//! * One that the audit has told to commit is committed, at the latest by [`recover`]; one whose prepare it has no answer
//!   of is rolled back there. So of no branch that was to be prepared it stays open what became of it.
//! * One that is not found any more (XAER_NOTA) was backed out by the queue manager, unasked, as work that is lost is: the
//!   backout counts that this leaves are promised to nobody.
//! * Only connections that nobody cuts work on branches: a call on one that is cut may still be on its way then.

use std::collections::BTreeSet;

use posthaste_client::{Address, ClientError, Connection};
use posthaste_mqi::Xid;
use posthaste_mqi::xa::*;

use super::{Link, Open, Over, Road, Role, Worker};
use crate::history::{Branch, Ending, History, Stamp, Unit, UnitId};
use crate::stage::{Stage, connect};
use crate::violation::{Broken, Violation};

/// Of the audit's identifiers.
const FORMAT: i32 = 0x4155_4454;
/// How many identifiers are asked for at a time: few, so that there is more than one time.
const CHUNK: u32 = 3;

fn xid_of(run: u64, unit: UnitId) -> Option<Xid> {
    let mut branch = unit.worker.to_be_bytes().to_vec();
    branch.extend_from_slice(&unit.number.to_be_bytes());
    Xid::new(FORMAT, &run.to_be_bytes(), &branch)
}

fn unit_of(run: u64, xid: &Xid) -> Option<UnitId> {
    let (worker, number) = xid.branch().split_first_chunk()?;
    let ours = xid.format_id() == FORMAT && xid.global() == run.to_be_bytes();
    ours.then_some(UnitId {
        worker: u32::from_be_bytes(*worker),
        number: u32::from_be_bytes(number.try_into().ok()?),
    })
}

impl Worker<'_> {
    /// What a verb returned.
    fn returned(&mut self, call: &str, result: Result<i32, ClientError>) -> Result<i32, Over> {
        match result {
            // It ends.
            Ok(XAER_RMFAIL) if self.stage.killed() => Err(Over),
            Ok(returned) => Ok(returned),
            Err(error) => {
                self.broke(call, &error);
                Err(Over)
            }
        }
    }

    /// A verb returned what it may not.
    fn unexpected(&mut self, call: &str, returned: i32) -> Over {
        let text = format!("connection {}: {call} returned {returned}", self.number);
        let complaint = Violation::new(Broken::Unexpected, text);
        self.history.complaints.push(complaint);
        Over
    }

    /// Makes the unit of work that begins a branch, now and then.
    pub(super) fn start_branch(
        &mut self,
        link: &mut Link,
        id: UnitId,
    ) -> Result<Option<Xid>, Over> {
        if !matches!(self.road, Road::Sound(_)) || !self.chance(35) {
            return Ok(None);
        }
        let Some(xid) = xid_of(self.stage.run, id) else {
            return Ok(None);
        };
        if !link.coordinated {
            let opened = link.connection.xa_open(TMNOFLAGS);
            match self.returned("xa_open", opened)? {
                XA_OK => link.coordinated = true,
                other => return Err(self.unexpected("xa_open", other)),
            }
        }
        let started = link.connection.xa_start(&xid, TMNOFLAGS);
        match self.returned("xa_start", started)? {
            XA_OK => Ok(Some(xid)),
            other => Err(self.unexpected("xa_start", other)),
        }
    }

    fn note(&mut self, open: &Open, branch: Branch, ending: Ending) {
        if let Some(unit) = self.history.units.get_mut(open.at) {
            unit.branch = Some(branch);
            unit.ending = ending;
        }
    }

    /// The end of the work, and a commit in one phase or two.
    pub(super) fn commit_branch(
        &mut self,
        link: &mut Link,
        open: &Open,
        xid: &Xid,
    ) -> Result<(), Over> {
        let called = self.stage.tick();
        let ended = link.connection.xa_end(xid, TMSUCCESS);
        match self.returned("xa_end", ended)? {
            XA_OK if self.rng.coin() => self.one_phase(link, open, xid, called),
            XA_OK => self.two_phases(link, open, xid, called),
            XA_RBROLLBACK => self.roll_back(link, open, xid),
            other => Err(self.unexpected("xa_end", other)),
        }
    }

    fn one_phase(
        &mut self,
        link: &mut Link,
        open: &Open,
        xid: &Xid,
        called: Stamp,
    ) -> Result<(), Over> {
        let committed = link.connection.xa_commit(xid, TMONEPHASE);
        let replied = self.stage.tick();
        match self.returned("xa_commit", committed) {
            Ok(XA_OK) => self.end(open, Ending::Committed { called, replied }),
            // The log is full.
            Ok(XA_RBROLLBACK | XA_RBTRANSIENT) => self.end(open, Ending::BackedOut { replied }),
            Ok(XAER_NOTA) => self.end(open, Ending::Lost),
            Ok(other) => return Err(self.unexpected("xa_commit", other)),
            Err(Over) => {
                self.end(open, Ending::InDoubt { called });
                return Err(Over);
            }
        }
        Ok(())
    }

    fn two_phases(
        &mut self,
        link: &mut Link,
        open: &Open,
        xid: &Xid,
        called: Stamp,
    ) -> Result<(), Over> {
        let in_doubt = Ending::InDoubt { called };
        self.note(open, Branch::Preparing, in_doubt);
        let prepared = link.connection.xa_prepare(xid, TMNOFLAGS);
        let prepared = self.returned("xa_prepare", prepared)?;
        let replied = self.stage.tick();
        match prepared {
            XA_OK => {}
            // Nothing was put, and nothing got.
            XA_RDONLY => {
                self.end(open, Ending::Committed { called, replied });
                return Ok(());
            }
            XA_RBROLLBACK => {
                self.end(open, Ending::BackedOut { replied });
                return Ok(());
            }
            XAER_NOTA => {
                self.end(open, Ending::Lost);
                return Ok(());
            }
            // The log is full.
            XAER_RMERR => return self.roll_back(link, open, xid),
            other => return Err(self.unexpected("xa_prepare", other)),
        }
        self.note(open, Branch::Prepared, in_doubt);
        // Nobody drains what comes back when it is recovered.
        if self.role != Role::Drainer && self.chance(15) {
            return Ok(());
        }
        self.note(open, Branch::Committing, in_doubt);
        loop {
            let committed = link.connection.xa_commit(xid, TMNOFLAGS);
            match self.returned("xa_commit", committed)? {
                XA_OK => break,
                // The log is full.
                XA_RETRY if !self.stage.over() => {}
                XA_RETRY => return Err(Over),
                other => return Err(self.unexpected("xa_commit", other)),
            }
        }
        let replied = self.stage.tick();
        self.end(open, Ending::Committed { called, replied });
        Ok(())
    }

    /// The end of the work, and a rollback.
    pub(super) fn back_branch_out(
        &mut self,
        link: &mut Link,
        open: &Open,
        xid: &Xid,
    ) -> Result<(), Over> {
        let flags = [TMSUCCESS, TMFAIL][self.rng.index(2)];
        let ended = link.connection.xa_end(xid, flags);
        match self.returned("xa_end", ended)? {
            XA_OK | XA_RBROLLBACK => self.roll_back(link, open, xid),
            other => Err(self.unexpected("xa_end", other)),
        }
    }

    fn roll_back(&mut self, link: &mut Link, open: &Open, xid: &Xid) -> Result<(), Over> {
        let rolled_back = link.connection.xa_rollback(xid, TMNOFLAGS);
        let replied = self.stage.tick();
        match self.returned("xa_rollback", rolled_back)? {
            XA_OK => self.end(open, Ending::BackedOut { replied }),
            XAER_NOTA => self.end(open, Ending::Lost),
            other => return Err(self.unexpected("xa_rollback", other)),
        }
        Ok(())
    }
}

/// The transaction manager that has come back.
struct Coordinator<'a> {
    stage: &'a Stage,
    connection: Connection,
    complaints: Vec<Violation>,
}

impl Coordinator<'_> {
    fn check(&mut self, what: &str, returned: i32, expected: i32) {
        if returned != expected {
            let text = format!("{what} returned {returned}");
            let complaint = Violation::new(Broken::Unexpected, text);
            self.complaints.push(complaint);
        }
    }

    /// The branches in doubt, asked for in chunks.
    fn in_doubt(&mut self) -> Result<BTreeSet<UnitId>, ClientError> {
        let (mut found, mut flags) = (BTreeSet::new(), TMSTARTRSCAN);
        loop {
            let (returned, some) = self.connection.xa_recover(CHUNK, flags)?;
            let count = u32::try_from(some.len()).unwrap_or(u32::MAX);
            self.check("xa_recover", returned, count.cast_signed());
            for xid in &some {
                match unit_of(self.stage.run, xid) {
                    Some(id) => _ = found.insert(id),
                    None => self.check(&format!("xa_recover: {xid}, a stranger,"), 1, 0),
                }
            }
            if count < CHUNK {
                return Ok(found);
            }
            flags = TMNOFLAGS;
        }
    }

    /// Sees to the end of a branch; `there`: it is in doubt.
    fn decide(&mut self, unit: &mut Unit, branch: Branch, there: bool) -> Result<(), ClientError> {
        let (Ending::InDoubt { called }, Some(xid)) =
            (unit.ending, xid_of(self.stage.run, unit.id))
        else {
            return Ok(());
        };
        let commits = match branch {
            Branch::Preparing => false,
            // It had not decided.
            Branch::Prepared => unit.id.number.is_multiple_of(2),
            Branch::Committing => true,
        };
        if there {
            let (what, returned) = match commits {
                true => ("commit", self.connection.xa_commit(&xid, TMNOFLAGS)?),
                false => ("rollback", self.connection.xa_rollback(&xid, TMNOFLAGS)?),
            };
            self.check(&format!("xa_{what} of {}", unit.id), returned, XA_OK);
        } else if branch == Branch::Prepared {
            let text = format!("unit of work {} was prepared, and is not in doubt", unit.id);
            let complaint = Violation::new(Broken::Lost, text);
            self.complaints.push(complaint);
        }
        let replied = self.stage.tick();
        unit.ending = match commits {
            true => Ending::Committed { called, replied },
            false if there => Ending::BackedOut { replied },
            // It never was prepared: the restart has undone it, which counts as no backout.
            false => Ending::Lost,
        };
        Ok(())
    }
}

/// The transaction manager comes back: it asks for the branches in doubt, and decides about each as it has decided before.
/// How many there were.
///
/// # Errors
/// A call failed.
pub(crate) fn recover(
    stage: &Stage,
    address: &Address,
    history: &mut History,
) -> Result<u64, ClientError> {
    let mut back = Coordinator {
        stage,
        connection: connect(address, "audit-recover")?,
        complaints: Vec::new(),
    };
    let opened = back.connection.xa_open(TMNOFLAGS)?;
    back.check("xa_open", opened, XA_OK);
    let mut there = back.in_doubt()?;
    let recovered = there.len() as u64;
    for unit in &mut history.units {
        // One that has ended is not to be there.
        if let (Some(branch), Ending::InDoubt { .. }) = (unit.branch, unit.ending) {
            let in_doubt = there.remove(&unit.id);
            back.decide(unit, branch, in_doubt)?;
        }
    }
    for id in there {
        back.check(&format!("xa_recover: {id}, which had ended,"), 1, 0);
    }
    let whole = TMSTARTRSCAN | TMENDRSCAN;
    let (left, _) = back.connection.xa_recover(CHUNK, whole)?;
    back.check("xa_recover after all were decided", left, 0);
    let closed = back.connection.xa_close(TMNOFLAGS)?;
    back.check("xa_close", closed, XA_OK);
    back.connection.disconnect()?;
    history.complaints.extend(back.complaints);
    Ok(recovered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_name_units_of_work_of_their_run() {
        let id = UnitId {
            worker: 7,
            number: u32::MAX,
        };
        let xid = xid_of(9, id).unwrap();
        assert_eq!(unit_of(9, &xid), Some(id));
        assert_eq!(unit_of(8, &xid), None);
        let strange = Xid::new(1, xid.global(), xid.branch()).unwrap();
        assert_eq!(unit_of(9, &strange), None);
    }
}
