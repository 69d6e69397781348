//! Dates and times as the MQ Interface writes them.

use std::cell::Cell;

use posthaste_command::{Date, Time};
use posthaste_mqi::Chars;

/// Year, month, day of a day number (days since 1970-01-01), proleptic Gregorian.
fn civil(days: i64) -> (i64, u32, u32) {
    // Years that begin in March make the leap day the last one; 719,468 days lie between
    // 0000-03-01 and 1970-01-01, 146,097 days are 400 years.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day = shifted.rem_euclid(146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = year + era * 400 + i64::from(month <= 2);
    (year, month as u32, of_month as u32)
}

fn digits(out: &mut [u8], mut value: u64) {
    for place in out.iter_mut().rev() {
        *place = b'0' + (value % 10) as u8;
        value /= 10;
    }
}

/// `PutDate` (YYYYMMDD) and `PutTime` (HHMMSSTH) of a moment, in GMT.
pub fn put_stamp(micros: i64) -> (Chars<8>, Chars<8>) {
    let (year, month, day) = civil(micros.div_euclid(86_400_000_000));
    let of_day = micros.rem_euclid(86_400_000_000) / 10_000;
    let mut date = [b'0'; 8];
    digits(&mut date[..4], year.clamp(0, 9999) as u64);
    digits(&mut date[4..6], u64::from(month));
    digits(&mut date[6..], u64::from(day));
    let mut time = [b'0'; 8];
    let seconds = of_day / 100;
    digits(&mut time[..2], (seconds / 3600) as u64);
    digits(&mut time[2..4], (seconds / 60 % 60) as u64);
    digits(&mut time[4..6], (seconds % 60) as u64);
    digits(&mut time[6..], (of_day % 100) as u64);
    (Chars::from_bytes(date), Chars::from_bytes(time))
}

/// `ALTDATE` and `ALTTIME` of a moment, in GMT.
pub fn display_stamp(micros: i64) -> (Date, Time) {
    let (year, month, day) = civil(micros.div_euclid(86_400_000_000));
    let date = Date::new(year.clamp(0, 9999) as u16, month as u8, day as u8);
    let seconds = micros.rem_euclid(86_400_000_000) / 1_000_000;
    let of_hour = (seconds / 60 % 60, seconds % 60);
    let time = Time::new((seconds / 3600) as u8, of_hour.0 as u8, of_hour.1 as u8);
    // Beyond the year 9999 the calendar here has not every day.
    (date.unwrap_or(Date::EPOCH), time.unwrap_or(Time::MIDNIGHT))
}

thread_local! {
    /// The second that was stamped last, and its stamp: thousands of puts have the same.
    static STAMPED: Cell<(i64, Chars<8>, Chars<8>)> = const {
        Cell::new((i64::MIN, Chars::BLANK, Chars::BLANK))
    };
}

/// Sets `PutDate` and `PutTime`.
pub(crate) fn stamp(md: &mut posthaste_mqi::Md, wall: i64) {
    let second = wall.div_euclid(1_000_000);
    let (last, mut date, mut time) = STAMPED.get();
    if last != second {
        (date, time) = put_stamp(wall);
        STAMPED.set((second, date, time));
    }
    let mut time = *time.as_bytes();
    digits(&mut time[6..], (wall.rem_euclid(1_000_000) / 10_000) as u64);
    (md.put_date, md.put_time) = (date, Chars::from_bytes(time));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps() {
        for (micros, date, time) in [
            (0, "19700101", "00000000"),
            (951_782_400_000_000, "20000229", "00000000"),
            (1_709_251_199_990_000, "20240229", "23595999"),
            (4_107_542_400_000_000, "21000301", "00000000"),
        ] {
            let (d, t) = put_stamp(micros);
            assert_eq!((&*d.text(), &*t.text()), (date, time));
        }
        let mut md = posthaste_mqi::Md::default();
        for micros in [
            0,
            1_709_251_199_990_000,
            1_709_251_199_000_000,
            1_709_251_200_120_000,
        ] {
            for micros in [micros, micros, micros + 9_999, micros + 10_000] {
                stamp(&mut md, micros);
                assert_eq!((md.put_date, md.put_time), put_stamp(micros), "{micros}");
            }
        }
        let shown = display_stamp(1_709_251_199_990_000);
        assert_eq!(
            (shown.0.to_string().as_str(), shown.1.to_string().as_str()),
            ("2024-02-29", "23.59.59")
        );
    }
}
