//! All schedules of a scenario with at most so many actions: threads run in turn until they wait, and at up to
//! that many points another goes on, or the power fails.
//!
//! Invariant: `complete` is true only if every such schedule was run.

use crate::scenario::{Failure, Report, Run, Scenario};
use crate::schedule::{Action, Plan};

/// What an exhaustive search came to.
#[derive(Debug)]
pub struct Exhausted {
    /// Sums over the schedules.
    pub report: Report,
    /// Whether all of them were run.
    pub complete: bool,
    /// The first that failed.
    pub failure: Option<(Plan, Failure)>,
}

struct Search<'a> {
    scenario: &'a Scenario,
    like: Run,
    going: &'a mut dyn FnMut() -> bool,
    found: Exhausted,
}

/// Runs all schedules of `scenario` with at most `bound` actions, while `going` says so. `like` gives the rest of
/// each run.
pub fn exhaust(
    scenario: &Scenario,
    like: &Run,
    bound: usize,
    going: &mut dyn FnMut() -> bool,
) -> Exhausted {
    let mut search = Search {
        scenario,
        like: like.clone(),
        going,
        found: Exhausted {
            report: Report::default(),
            complete: true,
            failure: None,
        },
    };
    search.from(&mut Vec::new(), bound);
    search.found
}

impl Search<'_> {
    /// Runs `actions`, and everything that begins with them; false when the search is over.
    fn from(&mut self, actions: &mut Vec<(u64, Action)>, more: usize) -> bool {
        if !(self.going)() {
            self.found.complete = false;
            return false;
        }
        let plan = Plan::Given(actions.clone());
        let run = Run {
            plan: plan.clone(),
            ..self.like.clone()
        };
        let mut options = Vec::new();
        match self.scenario.run_watched(&run, &mut options) {
            Ok(report) => {
                self.found.report.totals.add(&report.totals);
                self.found.report.calls += report.calls;
                self.found.report.delivered += report.delivered;
            }
            Err(failure) => {
                self.found.complete = false;
                self.found.failure = Some((plan, failure));
                return false;
            }
        }
        if more == 0 {
            return true;
        }
        let mut crashed_at = 0;
        for (at, thread) in options {
            actions.push((at, Action::Preempt(thread)));
            let on = self.from(actions, more - 1);
            actions.pop();
            // The power fails once at each point, whoever else could go on there. Nothing comes after that.
            let on = on
                && (crashed_at == at || {
                    crashed_at = at;
                    actions.push((at, Action::Crash));
                    let on = self.from(actions, 0);
                    actions.pop();
                    on
                });
            if !on {
                return false;
            }
        }
        true
    }
}
