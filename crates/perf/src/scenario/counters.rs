//! The server's counters before and after a window.
//!
//! They are a plain list of names and numbers that only grow, so that the server may count what it likes: whatever is
//! there is taken, and its growth is shown per operation.

use std::collections::BTreeMap;

use posthaste_server::Home;

use crate::measure::LabError;

/// All counters of the queue manager whose files these are.
pub(super) fn read(home: &Home) -> Result<BTreeMap<String, u64>, LabError> {
    let counters = posthaste_server::counters(home)
        .map_err(|failure| LabError::server("its counters cannot be read", &failure))?;
    // A longest time is no sum: it has no growth per operation.
    let sums = counters
        .into_iter()
        .filter(|(name, _)| !name.ends_with("slowest_ns"));
    Ok(sums.collect())
}

/// By how much each has grown; one that appeared meanwhile began at 0.
pub(super) fn grown(
    before: &BTreeMap<String, u64>,
    after: &BTreeMap<String, u64>,
) -> BTreeMap<String, u64> {
    after
        .iter()
        .map(|(name, now)| {
            let then = before.get(name).copied().unwrap_or(0);
            (name.clone(), now.saturating_sub(then))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_taken_of_whatever_is_there() {
        let map = |pairs: &[(&str, u64)]| -> BTreeMap<String, u64> {
            pairs.iter().map(|(n, v)| ((*n).to_owned(), *v)).collect()
        };
        let grown = grown(
            &map(&[("a", 3), ("gone", 1), ("reset", 9)]),
            &map(&[("a", 10), ("new", 4), ("reset", 2)]),
        );
        assert_eq!(grown, map(&[("a", 7), ("new", 4), ("reset", 0)]));
    }
}
