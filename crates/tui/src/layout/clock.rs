//! Times: exact for records and machines, human for people.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, Timestamp, Zoned, civil};

/// ISO 8601 in UTC with milliseconds.
pub fn now_utc() -> String {
    format!("{:.3}", Timestamp::now())
}

pub fn unix_seconds() -> i64 {
    Timestamp::now().as_second()
}

/// In local time: `14:02`.
pub fn time_of_day() -> String {
    Zoned::now().strftime("%H:%M").to_string()
}

/// `2 min ago`; the text itself if it is not a time.
pub fn ago(recorded: &str) -> String {
    match recorded.parse::<Timestamp>() {
        Ok(then) => elapsed_text(then, Timestamp::now()),
        Err(_) => recorded.to_string(),
    }
}

/// In local time; the text itself if it is not a time.
pub fn local(recorded: &str) -> String {
    match recorded.parse::<Timestamp>() {
        Ok(then) => then.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string(),
        Err(_) => recorded.to_string(),
    }
}

/// Parses a time as people write it (`2h`, `3 days`, `yesterday`, `2026-03-01`, an exact one); returns ISO
/// 8601 in UTC.
pub fn parse_time(text: &str) -> Result<String, String> {
    let now = Zoned::now();
    let said = || format!("`{text}` is not a time such as 2h, 3d, yesterday or 2026-03-01");
    let word = text.trim();
    let then = match word {
        "now" => now,
        "today" => now.start_of_day().map_err(|_| said())?,
        "yesterday" => now.yesterday().and_then(|day| day.start_of_day()).map_err(|_| said())?,
        _ => {
            if let Ok(exact) = word.parse::<Timestamp>() {
                exact.to_zoned(TimeZone::UTC)
            } else if let Ok(date) = word.parse::<civil::DateTime>() {
                date.to_zoned(now.time_zone().clone()).map_err(|_| said())?
            } else {
                let span: Span = word.trim_end_matches("ago").trim().parse().map_err(|_| said())?;
                now.checked_sub(span.abs()).map_err(|_| said())?
            }
        }
    };
    Ok(format!("{:.3}", then.timestamp()))
}

fn elapsed_text(then: Timestamp, now: Timestamp) -> String {
    /// A clock that is slightly ahead does not matter.
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
            assert_eq!(elapsed_text(then.parse().unwrap(), now), said, "{then}");
        }
        assert_eq!(ago("long ago"), "long ago");
    }

    #[test]
    fn times_are_understood_as_people_give_them() {
        for text in ["2h", "3d", "3 days", "2 hours ago", "yesterday", "today", "1w"] {
            let then: Timestamp = parse_time(text).unwrap().parse().unwrap();
            assert!(then < Timestamp::now(), "{text}");
        }
        assert_eq!(parse_time("2026-03-01T12:00:00Z").unwrap(), "2026-03-01T12:00:00.000Z");
        assert!(parse_time("2026-03-01").unwrap().starts_with("2026-0"));
        for text in ["", "soon", "2026-13-01", "3 parsecs"] {
            assert!(parse_time(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_time_now_has_milliseconds() {
        let text = self::now_utc();
        assert_eq!(text.len(), "2026-03-10T12:00:00.123Z".len(), "{text}");
        assert!(text.ends_with('Z') && text.parse::<Timestamp>().is_ok());
    }
}
