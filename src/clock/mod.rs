//! The time of day: the one place that asks the system for it.
//!
//! Owns: [`now`], and how a time is written. Rules take a time as an argument and are tested with any; only
//! the code that wires them asks here. Must never hold a rule. (How long something took is measured with
//! `Instant`, anywhere.)

use std::time::{SystemTime, UNIX_EPOCH};

/// The time of day, as the system has it.
pub fn now() -> SystemTime {
    SystemTime::now()
}

/// A time as RFC 3339 writes it, in UTC to the second; times before 1970 are written as 1970.
pub fn rfc3339(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = since.as_secs();
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Year, month and day of a count of days since 1970-01-01, by years that begin in March: then the day that
/// leap years have more is the last of its year.
fn civil(days: u64) -> (u64, u64, u64) {
    const DAYS_OF_400_YEARS: u64 = 146_097;
    // Days from 0000-03-01 to 1970-01-01.
    let days = days + 719_468;
    let (era, day) = (days / DAYS_OF_400_YEARS, days % DAYS_OF_400_YEARS);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // From March on, five months have 153 days.
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times_are_written_as_the_calendar_has_them() {
        let written = |seconds| rfc3339(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(written(0), "1970-01-01T00:00:00Z");
        assert_eq!(written(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(written(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(written(1_709_251_199), "2024-02-29T23:59:59Z");
        assert_eq!(written(1_735_689_599), "2024-12-31T23:59:59Z");
        assert_eq!(written(4_107_542_400), "2100-03-01T00:00:00Z");
        assert_eq!(rfc3339(UNIX_EPOCH - Duration::from_secs(9)), written(0));
    }

    /// Every day of 400 years follows the one before it.
    #[test]
    fn days_follow_each_other() {
        let leap = |year: u64| {
            year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
        };
        let mut before = civil(0);
        for days in 1..146_097 {
            let (year, month, day) = before;
            let last = match month {
                2 => 28 + u64::from(leap(year)),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            let next = match (month, day) {
                (12, 31) => (year + 1, 1, 1),
                (month, day) if day == last => (year, month + 1, 1),
                _ => (year, month, day + 1),
            };
            assert_eq!(civil(days), next);
            before = next;
        }
    }
}
