//! Times: exact for records and machines, human for people.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// The time now, ISO 8601 in UTC with milliseconds.
pub(crate) fn now() -> String {
    format!("{:.3}", Timestamp::now())
}

/// The time now, in seconds since 1970.
pub(crate) fn seconds() -> i64 {
    Timestamp::now().as_second()
}

/// How long ago a recorded time is, as one says it; the text itself if it is no time.
pub(crate) fn ago(recorded: &str) -> String {
    match recorded.parse::<Timestamp>() {
        Ok(then) => since(then, Timestamp::now()),
        Err(_) => recorded.to_string(),
    }
}

/// A recorded time in the user's own time zone; the text itself if it is no time.
pub(crate) fn local(recorded: &str) -> String {
    match recorded.parse::<Timestamp>() {
        Ok(then) => then.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string(),
        Err(_) => recorded.to_string(),
    }
}

fn since(then: Timestamp, now: Timestamp) -> String {
    /// A clock that is a little ahead is no news.
    const AHEAD: SignedDuration = SignedDuration::from_mins(-2);
    let passed = now.duration_since(then);
    let (minutes, hours) = (passed.as_mins(), passed.as_hours());
    match (minutes, hours) {
        _ if passed < AHEAD => date(then),
        (..1, _) => "now".to_string(),
        (1..60, _) => format!("{minutes} min ago"),
        (_, ..24) => format!("{hours} h ago"),
        (_, 24..48) => "yesterday".to_string(),
        (_, 48..336) => format!("{} days ago", hours / 24),
        _ => date(then),
    }
}

fn date(then: Timestamp) -> String {
    then.to_zoned(TimeZone::system()).strftime("%Y-%m-%d").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_said_as_people_do() {
        let now: Timestamp = "2026-03-10T12:00:00Z".parse().unwrap();
        let cases = [
            ("2026-03-10T12:00:30Z", "now"),
            ("2026-03-10T11:59:01Z", "now"),
            ("2026-03-10T11:58:00Z", "2 min ago"),
            ("2026-03-10T10:30:00Z", "1 h ago"),
            ("2026-03-09T11:00:00Z", "yesterday"),
            ("2026-03-05T11:00:00Z", "5 days ago"),
            ("2025-12-24T12:00:00Z", "2025-12-24"),
        ];
        for (then, said) in cases {
            assert_eq!(since(then.parse().unwrap(), now), said, "{then}");
        }
        assert_eq!(ago("long ago"), "long ago");
    }

    #[test]
    fn the_time_now_has_milliseconds() {
        let text = self::now();
        assert_eq!(text.len(), "2026-03-10T12:00:00.123Z".len(), "{text}");
        assert!(text.ends_with('Z') && text.parse::<Timestamp>().is_ok());
    }
}
