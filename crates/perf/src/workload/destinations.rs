//! The queues of applications: a prefix and a number that goes round, as MQ-CPH has it.
//!
//! Invariant: destinations that [`Destinations::check`] has passed name a queue for every application.

use crate::measure::LabError;

/// Characters of a queue's name.
const LONGEST_NAME: usize = 48;
/// Digits of the number that follows a prefix.
const MOST_DIGITS: usize = 10;

/// Queue names: a prefix and a number that goes round robin over the applications.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destinations {
    /// What the names begin with.
    pub prefix: String,
    /// The first number (`-db`); 0 is 1, or what `max` and `count` leave.
    pub base: u32,
    /// The last number (`-dx`); 0 leaves it to `count`, or is none.
    pub max: u32,
    /// How many numbers (`-dn`); 0 leaves it to `max`. With both others it is the number that the first
    /// application takes. All three 0: the prefix is the name.
    pub count: u32,
}

/// Where numbers begin and where they go round.
struct Numbers {
    base: u64,
    /// What the first application is ahead of `base`.
    before: u64,
    /// How many; none goes on without end.
    count: Option<u64>,
}

impl Destinations {
    /// One queue.
    pub fn one(name: &str) -> Destinations {
        Destinations {
            prefix: name.to_owned(),
            base: 0,
            max: 0,
            count: 0,
        }
    }

    /// `prefix1` to `prefixN`.
    pub fn numbered(prefix: &str, count: u32) -> Destinations {
        Destinations {
            prefix: prefix.to_owned(),
            base: 1,
            max: 0,
            count,
        }
    }

    /// The numbers, or `None` where the prefix is the whole name.
    fn numbers(&self) -> Result<Option<Numbers>, String> {
        let Destinations {
            base, max, count, ..
        } = *self;
        let from = |base: u32, count: Option<u32>| {
            Ok(Some(Numbers {
                base: u64::from(base),
                before: 0,
                count: count.map(u64::from),
            }))
        };
        match (base, max, count) {
            (0, 0, 0) => Ok(None),
            (base, max, _) if max > 0 && max < base => Err(format!(
                "the numbers of {}... end (-dx {max}) before they begin (-db {base})",
                self.prefix
            )),
            (base @ 1.., max @ 1.., first @ 1..) => match (base..=max).contains(&first) {
                true => Ok(Some(Numbers {
                    base: u64::from(base),
                    before: u64::from(first - base),
                    count: Some(u64::from(max - base) + 1),
                })),
                false => Err(format!(
                    "with -db {base} and -dx {max}, -dn is the number to begin with: from {base} to {max}, not {first}"
                )),
            },
            // So many that end there.
            (0, max @ 1.., count @ 1..) => match max.checked_sub(count - 1) {
                Some(base) => from(base, Some(count)),
                None => Err(format!(
                    "{count} numbers (-dn) that end with {max} (-dx) would begin below 0"
                )),
            },
            (base, 0, 0) => from(base, None),
            (base, 0, count) => from(base.max(1), Some(count)),
            (base, max, _) => from(base.max(1), Some(max - base.max(1) + 1)),
        }
    }

    /// The queue of application `index`, counted from 0.
    pub fn name(&self, index: u32) -> String {
        match self.numbers() {
            Ok(Some(numbers)) => {
                let place = numbers.before + u64::from(index);
                let place = numbers.count.map_or(place, |count| place % count.max(1));
                format!("{}{}", self.prefix, numbers.base + place)
            }
            _ => self.prefix.clone(),
        }
    }

    pub(super) fn check(&self) -> Result<(), LabError> {
        let (what, longest) = match self.numbers().map_err(LabError::BadInput)? {
            None => ("name", LONGEST_NAME),
            Some(_) => ("prefix", LONGEST_NAME - MOST_DIGITS),
        };
        match (1..=longest).contains(&self.prefix.len()) {
            true => Ok(()),
            false => Err(LabError::BadInput(format!(
                "a queue's {what} has 1 to {longest} characters, not \"{}\"",
                self.prefix
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queues(base: u32, max: u32, count: u32) -> Destinations {
        Destinations {
            prefix: "Q".to_owned(),
            base,
            max,
            count,
        }
    }

    #[test]
    fn numbers_go_round_as_in_mq_cph() {
        for ((base, max, count), expected) in [
            ((0, 0, 0), "Q Q Q Q"),
            // One of them.
            ((5, 0, 0), "Q5 Q6 Q7 Q8"),
            ((0, 3, 0), "Q1 Q2 Q3 Q1"),
            ((0, 0, 3), "Q1 Q2 Q3 Q1"),
            // Two of them.
            ((1, 3, 0), "Q1 Q2 Q3 Q1"),
            ((5, 5, 0), "Q5 Q5 Q5 Q5"),
            ((5, 0, 2), "Q5 Q6 Q5 Q6"),
            ((1, 0, 3), "Q1 Q2 Q3 Q1"),
            ((0, 2, 2), "Q1 Q2 Q1 Q2"),
            ((0, 9, 2), "Q8 Q9 Q8 Q9"),
            ((0, 2, 3), "Q0 Q1 Q2 Q0"),
            // All three: the last is the number to begin with.
            ((1, 3, 2), "Q2 Q3 Q1 Q2"),
            ((1, 3, 3), "Q3 Q1 Q2 Q3"),
            ((1, 3, 1), "Q1 Q2 Q3 Q1"),
        ] {
            let queues = queues(base, max, count);
            queues.check().unwrap();
            let names: Vec<String> = (0..4).map(|index| queues.name(index)).collect();
            assert_eq!(
                names.join(" "),
                expected,
                "-db {base} -dx {max} -dn {count}"
            );
        }
        let most = queues(u32::MAX, 0, u32::MAX);
        assert_eq!(most.name(1), "Q4294967296");
        assert_eq!(Destinations::numbered("R", 2).name(3), "R2");
        assert_eq!(Destinations::one("R").name(3), "R");
    }

    #[test]
    fn contradictory_destinations_are_refused() {
        for (base, max, count, word) in [
            (5, 3, 0, "-dx 3"),
            (1, 3, 4, "from 1 to 3, not 4"),
            (2, 3, 1, "from 2 to 3, not 1"),
            (0, 2, 4, "below 0"),
        ] {
            let error = queues(base, max, count).check().unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
        assert!(Destinations::one("").check().is_err());
        let longest = Destinations::one(&"X".repeat(48));
        assert!(longest.check().is_ok(), "a queue's whole name");
        assert!(Destinations::one(&"X".repeat(49)).check().is_err());
        assert!(Destinations::numbered(&"X".repeat(39), 2).check().is_err());
    }
}
