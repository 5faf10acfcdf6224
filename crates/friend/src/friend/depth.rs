//! How deep relay stands in relays: a friend that asks relay to ask a friend is refused, or two agents could call
//! each other for ever on the user's account.

use std::ffi::OsString;

use crate::friend::friend_context::DEPTH_VARIABLES;

/// How deep relay may stand: a friend is asked from the top, and from nowhere else.
pub const MOST: u32 = 1;

/// Asked from too deep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "relay was started by an agent that relay itself asked ({depth} deep, {MOST} is the limit); nothing was sent. \
     A friend cannot ask further friends"
)]
pub struct RelayDepthError {
    /// How deep it stands.
    pub depth: u32,
}

/// What the keepers of friends are called on their command lines.
pub const KEEPER_LABEL: &str = "friend";

/// How deep relay stands: by what the environment says, or by the friends among the ancestors of this process, whichever
/// is more. A friend can drop a variable, and cannot leave its keeper. Digits and nothing else are a number, anything
/// else is 0; of several names the greatest number counts.
pub fn current_depth(variable: &dyn Fn(&str) -> Option<OsString>) -> u32 {
    let values = DEPTH_VARIABLES.iter().filter_map(|name| variable(name));
    let told = values.map(|value| parse_depth(&value)).max().unwrap_or(0);
    told.max(relaycode_exec::count_keeper_ancestors(KEEPER_LABEL).unwrap_or(0))
}

/// Whether a friend may be asked from here.
pub fn check_depth(depth: u32) -> Result<(), RelayDepthError> {
    if depth < MOST { Ok(()) } else { Err(RelayDepthError { depth }) }
}

fn parse_depth(value: &OsString) -> u32 {
    let digits = value.to_str().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    let digits = digits.unwrap_or_default().trim_start_matches('0');
    // Too many digits are a number, too, and a large one.
    if digits.is_empty() { 0 } else { digits.parse().unwrap_or(u32::MAX) }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    #[test]
    fn only_digits_are_a_depth() {
        let of = |value: &str| parse_depth(&OsString::from(value));
        for (value, depth) in [
            ("0", 0),
            ("1", 1),
            ("2", 2),
            ("007", 7),
            ("00", 0),
            ("4294967295", u32::MAX),
            ("4294967296", u32::MAX),
        ] {
            assert_eq!(of(value), depth, "{value}");
        }
        assert_eq!(of(&"9".repeat(5_000)), u32::MAX);
        for value in ["", " 1", "1 ", "1\n", "1abc", "-1", "+1", "0x1", "1.0", "1e3", "١", "one"] {
            assert_eq!(of(value), 0, "{value:?}");
        }
        assert_eq!(parse_depth(&OsString::from_vec(vec![b'1', 0xff])), 0);
    }

    #[test]
    fn the_greater_of_both_names_counts() {
        let of = |relay: Option<&str>, other: Option<&str>| {
            let (relay, other) = (relay.map(OsString::from), other.map(OsString::from));
            super::current_depth(&|name| if name == "RELAY_DEPTH" { relay.clone() } else { other.clone() })
        };
        assert_eq!(of(None, None), 0);
        assert_eq!(of(Some("0"), Some("1")), 1);
        assert_eq!(of(Some("1"), Some("junk")), 1);
        assert_eq!(of(None, Some("3")), 3);
        assert!(check_depth(0).is_ok());
        assert_eq!(check_depth(1), Err(RelayDepthError { depth: 1 }));
        assert!(check_depth(u32::MAX).is_err());
    }
}
