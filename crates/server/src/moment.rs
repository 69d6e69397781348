//! Moments as commands show them, in UTC.

use time::OffsetDateTime;

fn moment(micros: i64) -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(micros) * 1_000)
        .unwrap_or(OffsetDateTime::UNIX_EPOCH)
}

/// `yyyy-mm-dd` and `hh.mm.ss` of a moment given in microseconds since 1970.
pub fn date_and_time(micros: i64) -> (String, String) {
    let moment = moment(micros);
    let (year, month, day) = moment.to_calendar_date();
    let (hour, minute, second) = moment.to_hms();
    (
        format!("{year:04}-{:02}-{day:02}", u8::from(month)),
        format!("{hour:02}.{minute:02}.{second:02}"),
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
