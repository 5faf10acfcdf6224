//! Times as records have them: ISO 8601, in UTC unless they say otherwise.

/// Whether `time` is not before `since`. If one of them is no time they are compared as texts.
pub(super) fn is_not_before(time: &str, since: &str) -> bool {
    match (parse_instant(time), parse_instant(since)) {
        (Some(time), Some(since)) => time >= since,
        _ => time >= since,
    }
}

/// Seconds since 1970 and nanoseconds of `2026-01-02`, `2026-01-02T03:04`, `2026-01-02T03:04:05.678Z`,
/// `2026-01-02 03:04:05+02:00`.
fn parse_instant(text: &str) -> Option<(i64, u32)> {
    let (date, rest) = text.split_at_checked(10)?;
    let mut parts = date.splitn(3, '-');
    let (year, month, day) =
        (number(parts.next()?, 4)?, number(parts.next()?, 2)?, number(parts.next()?, 2)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let midnight = days_since_epoch(year, month, day) * 86_400;
    if rest.is_empty() {
        return Some((midnight, 0));
    }
    let rest = rest.strip_prefix(['T', 't', ' '])?;
    let zone = rest.find(['Z', 'z', '+', '-']).unwrap_or(rest.len());
    let (time, zone) = rest.split_at(zone);
    let (time, fraction) = time.split_once('.').unwrap_or((time, ""));
    let mut parts = time.splitn(3, ':');
    let (hour, minute) = (number(parts.next()?, 2)?, number(parts.next()?, 2)?);
    let second = parts.next().map_or(Some(0), |text| number(text, 2))?;
    let nanos = fraction.get(..fraction.len().min(9))?;
    let nanos = format!("{nanos:0<9}").parse().ok()?;
    Some((midnight + hour * 3_600 + minute * 60 + second - offset(zone)?, nanos))
}

/// Seconds that a zone is ahead of UTC.
fn offset(zone: &str) -> Option<i64> {
    let sign = match zone.chars().next() {
        None | Some('Z' | 'z') => return (zone.len() <= 1).then_some(0),
        Some('+') => 1,
        Some(_) => -1,
    };
    let digits = zone.get(1..)?.replace(':', "");
    let (hours, minutes) = digits.split_at_checked(2)?;
    let minutes = if minutes.is_empty() { 0 } else { number(minutes, 2)? };
    Some(sign * (number(hours, 2)? * 3_600 + minutes * 60))
}

fn number(text: &str, digits: usize) -> Option<i64> {
    let all = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| all)
}

/// Days from 1970-01-01 to a day of the Gregorian calendar: years begin in March, so that a leap day
/// is the last of its year.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let in_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year.div_euclid(400) * 146_097 + in_era * 365 + in_era / 4 - in_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_compared_as_the_instants_they_are() {
        assert_eq!(parse_instant("1970-01-01"), Some((0, 0)));
        assert_eq!(parse_instant("2000-02-29T12:00:00.5Z"), Some((951_825_600, 500_000_000)));
        assert_eq!(parse_instant("2026-01-02T05:04:05+02:00"), parse_instant("2026-01-02 03:04:05Z"));
        assert_eq!(parse_instant("2026-01-01T22:34-0430"), parse_instant("2026-01-02T03:04"));
        for text in [
            "",
            "now",
            "2026-13-01",
            "2026-1-1",
            "2026-01-02T",
            "2026-01-02T25",
            "2026-01-02T03:04x",
            "é026-01-02",
        ] {
            assert_eq!(parse_instant(text), None, "{text}");
        }
        assert!(is_not_before("2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05Z"));
        assert!(!is_not_before("2026-01-02T03:04:05Z", "2026-01-02T03:04:05.678Z"));
        assert!(!is_not_before("", "2026-01-02"));
    }
}
