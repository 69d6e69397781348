//! Moments as commands show them, in UTC.

use jiff::Timestamp;

/// `yyyy-mm-dd` and `hh.mm.ss` of a moment given in microseconds since 1970.
pub fn date_and_time(micros: i64) -> (String, String) {
    let moment = Timestamp::from_microsecond(micros).unwrap_or(Timestamp::UNIX_EPOCH);
    (
        moment.strftime("%Y-%m-%d").to_string(),
        moment.strftime("%H.%M.%S").to_string(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times() {
        let shown = |micros| date_and_time(micros);
        assert_eq!(shown(0), ("1970-01-01".into(), "00.00.00".into()));
        assert_eq!(
            shown(1_723_652_758_791_000),
            ("2024-08-14".into(), "16.25.58".into())
        );
        assert_eq!(
            shown(i64::MAX).0,
            "1970-01-01",
            "what is no date is the first one"
        );
    }
}
