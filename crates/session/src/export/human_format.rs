//! Numbers, money and times, for people.

use jiff::Timestamp;
use serde_json::Value;

/// `1234567` as `1,234,567`.
pub(super) fn group_digits(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 line`, `3 lines`.
pub(super) fn count_noun(number: usize, one: &str, many: &str) -> String {
    format!("{} {}", group_digits(number as u64), if number == 1 { one } else { many })
}

/// US dollars; `None` if it is not an amount.
pub(super) fn format_money(amount: f64) -> Option<String> {
    if !amount.is_finite() || amount <= 0.0 {
        return None;
    }
    Some(if amount < 0.1 { format!("${amount:.4}") } else { format!("${amount:.2}") })
}

/// Rounded.
pub(super) fn format_size(bytes: usize) -> String {
    match bytes {
        0..1_024 => format!("{bytes} bytes"),
        1_024..1_048_576 => format!("{} KB", bytes / 1_024),
        _ => format!("{} MB", bytes / 1_048_576),
    }
}

/// To the second, in UTC; anything that is not a time stays as it is.
pub(super) fn format_time(timestamp: &str) -> String {
    match timestamp.parse::<Timestamp>() {
        Ok(time) => time.strftime("%Y-%m-%d %H:%M:%S").to_string(),
        Err(_) => timestamp.to_owned(),
    }
}

/// The number under a key; 0 for none.
pub(super) fn number_at(object: &Value, key: &str) -> u64 {
    object.get(key).and_then(Value::as_u64).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(
            (group_digits(7), group_digits(1_234), group_digits(1_234_567)),
            ("7".into(), "1,234".into(), "1,234,567".into())
        );
        assert_eq!(count_noun(1, "line", "lines"), "1 line");
        assert_eq!(format_money(0.01234).as_deref(), Some("$0.0123"));
        assert_eq!(
            (format_money(12.0).as_deref(), format_money(0.0), format_money(f64::INFINITY)),
            (Some("$12.00"), None, None)
        );
        assert_eq!((format_size(10), format_size(2_048)), ("10 bytes".into(), "2 KB".into()));
        assert_eq!(format_time("2026-02-16T10:20:30.123Z"), "2026-02-16 10:20:30");
        assert_eq!(format_time("<b>"), "<b>");
    }
}
