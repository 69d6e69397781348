//! What a check comes to, and how it is shown to people and to programs.
//!
//! Invariant: whoever is warned is told what was found, why it matters and what to type.

use serde::Serialize;

/// What a check comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    Pass,
    Warn,
    /// It cannot be told here, or does not matter here.
    Skip,
}

/// A check's outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) status: Status,
    pub(crate) found: String,
    pub(crate) remedy: Option<String>,
}

impl Verdict {
    pub(crate) fn pass(found: impl Into<String>) -> Verdict {
        Verdict {
            status: Status::Pass,
            found: found.into(),
            remedy: None,
        }
    }

    pub(crate) fn warn(found: impl Into<String>, remedy: impl Into<String>) -> Verdict {
        Verdict {
            status: Status::Warn,
            found: found.into(),
            remedy: Some(remedy.into()),
        }
    }

    pub(crate) fn skip(found: impl Into<String>) -> Verdict {
        Verdict {
            status: Status::Skip,
            found: found.into(),
            remedy: None,
        }
    }

    /// The same with what to type to find out.
    pub(crate) fn with_remedy(mut self, remedy: impl Into<String>) -> Verdict {
        self.remedy = Some(remedy.into());
        self
    }
}

/// A check that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    pub(crate) section: &'static str,
    pub(crate) check: &'static str,
    pub(crate) status: Status,
    pub(crate) found: String,
    pub(crate) why: &'static str,
    pub(crate) remedy: Option<String>,
}

impl Finding {
    pub(crate) fn new(
        section: &'static str,
        check: &'static str,
        why: &'static str,
        verdict: Verdict,
    ) -> Finding {
        Finding {
            section,
            check,
            status: verdict.status,
            found: verdict.found,
            why,
            remedy: verdict.remedy,
        }
    }

    /// The finding for people: one line, and for a warning why and what to do.
    pub(crate) fn shown(&self) -> String {
        let word = match self.status {
            Status::Pass => "PASS",
            Status::Warn => "WARN",
            Status::Skip => "SKIP",
        };
        let mut out = format!("{word}  {:<22}{}\n", self.check, self.found);
        if self.status == Status::Warn {
            out.push_str(&format!("        why: {}\n", self.why));
        }
        if let Some(remedy) = &self.remedy {
            out.push_str(&format!("        do:  {remedy}\n"));
        }
        out
    }
}

/// How many of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Summary {
    pub(crate) pass: usize,
    pub(crate) warn: usize,
    pub(crate) skip: usize,
}

impl Summary {
    pub(crate) fn of(findings: &[Finding]) -> Summary {
        let count = |status| findings.iter().filter(|f| f.status == status).count();
        Summary {
            pass: count(Status::Pass),
            warn: count(Status::Warn),
            skip: count(Status::Skip),
        }
    }

    pub(crate) fn shown(&self) -> String {
        format!(
            "{} checks: {} passed, {} warn, {} skipped.",
            self.pass + self.warn + self.skip,
            self.pass,
            self.warn,
            self.skip
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_says_why_and_what_to_do() {
        let shown = |verdict| Finding::new("s", "log size", "It matters.", verdict).shown();
        assert_eq!(
            shown(Verdict::pass("big")),
            "PASS  log size              big\n"
        );
        assert_eq!(
            shown(Verdict::warn("small", "make it big")),
            "WARN  log size              small\n        why: It matters.\n        do:  make it big\n"
        );
        assert_eq!(
            shown(Verdict::skip("unknown").with_remedy("look")),
            "SKIP  log size              unknown\n        do:  look\n"
        );
    }

    #[test]
    fn findings_are_counted() {
        let finding = |verdict| Finding::new("s", "c", "w", verdict);
        let all = [
            finding(Verdict::pass("")),
            finding(Verdict::warn("", "")),
            finding(Verdict::pass("")),
            finding(Verdict::skip("")),
        ];
        let summary = Summary::of(&all);
        assert_eq!((summary.pass, summary.warn, summary.skip), (2, 1, 1));
        assert_eq!(summary.shown(), "4 checks: 2 passed, 1 warn, 1 skipped.");
    }
}
