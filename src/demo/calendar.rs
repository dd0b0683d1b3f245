//! Days and moments of the shop, in UTC and the proleptic Gregorian calendar.
//!
//! Owns: turning seconds since 1970 into the two spellings of RFC 3339 the shop uses, and reading a date
//! back. Must never read a clock: moments are handed in.

/// Seconds of a day.
pub(super) const DAY_SECONDS: u64 = 86_400;

/// The last second of the year 9999: later moments have no four-digit year.
const LAST_SECOND: u64 = 253_402_300_799;

/// A moment as `2026-09-30T17:05:09Z`.
pub(super) fn moment(seconds: u64) -> String {
    let seconds = seconds.min(LAST_SECOND);
    let (day, rest) = (seconds / DAY_SECONDS, seconds % DAY_SECONDS);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{}T{hour:02}:{minute:02}:{second:02}Z", date(day))
}

/// The day `days` after 1970-01-01 as `2026-09-30`.
pub(super) fn date(days: u64) -> String {
    let mut left = days.min(LAST_SECOND / DAY_SECONDS);
    let mut year = 1970;
    while left >= year_days(year) {
        left -= year_days(year);
        year += 1;
    }
    let mut month = 1;
    while left >= month_days(year, month) {
        left -= month_days(year, month);
        month += 1;
    }
    format!("{year:04}-{month:02}-{:02}", left + 1)
}

/// Whether a text is a real day from 1970 on, spelled `2026-09-30`.
pub(super) fn is_date(text: &str) -> bool {
    let Some((year, rest)) = text.split_once('-') else {
        return false;
    };
    let Some((month, day)) = rest.split_once('-') else {
        return false;
    };
    let (Some(year), Some(month), Some(day)) = (digits(year, 4), digits(month, 2), digits(day, 2))
    else {
        return false;
    };
    year >= 1970 && (1..=12).contains(&month) && (1..=month_days(year, month)).contains(&day)
}

/// A number written with exactly `count` decimal digits.
fn digits(text: &str, count: usize) -> Option<u64> {
    if text.len() != count || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn year_days(year: u64) -> u64 {
    if is_leap(year) { 366 } else { 365 }
}

fn month_days(year: u64, month: u64) -> u64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments() {
        assert_eq!(moment(0), "1970-01-01T00:00:00Z");
        assert_eq!(moment(951_827_696), "2000-02-29T12:34:56Z");
        assert_eq!(moment(1_790_845_200), "2026-10-01T09:00:00Z");
        assert_eq!(moment(u64::MAX), "9999-12-31T23:59:59Z");
    }

    #[test]
    fn days_follow_each_other_without_gaps() {
        let mut previous = date(0);
        for day in 1..40_000 {
            let next = date(day);
            assert!(next > previous, "{previous} then {next}");
            assert!(is_date(&next), "{next}");
            previous = next;
        }
    }

    #[test]
    fn what_is_no_date() {
        for text in [
            "",
            "2026",
            "2026-02-29",
            "2026-13-01",
            "2026-00-10",
            "2026-04-31",
            "2026-4-1",
            "26-04-01",
            "1969-12-31",
            "2026-04-01T00:00:00Z",
            "+026-04-01",
            "2026-04-01-01",
        ] {
            assert!(!is_date(text), "{text}");
        }
        assert!(is_date("2024-02-29"));
    }
}
