//! What a failure of a model means for a friend: not signed in, not reachable, or failed with its own words.

use relaycode_llm::failure::{Class, Failure as Refusal};
use relaycode_llm::keys::KeyError;
use relaycode_llm::stream::BODY_MOST;

use crate::failure::Failure;

/// What is said of a connection that was never made, and of nothing else.
const NOT_REACHED: &str = " be reached at ";

/// What a failure means.
pub(super) fn meant(friend: &str, refusal: &Refusal) -> Failure {
    let said = own_words(friend, &refusal.told());
    let friend = friend.to_string();
    match refusal.class {
        Class::Auth | Class::Forbidden => Failure::NotSignedIn { hint: sign_in(&friend), friend, said },
        // Others broke off, which is no fault of the way there.
        Class::Network | Class::Timeout if refusal.message.contains(NOT_REACHED) => {
            Failure::Unreachable { friend, said }
        }
        Class::TooLarge => Failure::TooMuch { friend, most: BODY_MOST },
        Class::Aborted => Failure::Cancelled { friend },
        _ => Failure::Failed { friend, said },
    }
}

/// There is no key that can be used.
pub(super) fn no_key(friend: &str, error: &KeyError) -> Failure {
    Failure::NotSignedIn { friend: friend.to_string(), said: error.to_string(), hint: sign_in(friend) }
}

fn sign_in(friend: &str) -> String {
    format!("`relay keys set {friend}` stores a key")
}

/// As the rest of a sentence that has named the friend already.
pub(super) fn own_words(friend: &str, said: &str) -> String {
    let Some(rest) = said.strip_prefix(friend).and_then(|rest| rest.strip_prefix(' ')) else {
        return said.to_string();
    };
    match rest.strip_prefix("failed: ") {
        Some(words) => words.to_string(),
        None => match rest.strip_prefix("failed (").and_then(|rest| rest.split_once(')')) {
            Some((status, words)) => format!("{status}{words}"),
            None => format!("it {rest}"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_friend_is_said_once() {
        for (said, words) in [
            ("ollama failed: boom", "boom"),
            ("ollama failed (status 500): boom", "status 500: boom"),
            ("ollama has too much to do", "it has too much to do"),
            ("the address of ollama is none", "the address of ollama is none"),
            ("ollama2 failed", "ollama2 failed"),
        ] {
            assert_eq!(own_words("ollama", said), words);
        }
    }

    #[test]
    fn only_a_connection_that_was_never_made_is_unreachable() {
        let network = |said: &str| meant("x", &Refusal::new(Class::Network, said));
        assert!(matches!(network("x cannot be reached at h: refused"), Failure::Unreachable { .. }));
        assert!(matches!(meant("x", &Refusal::cut_off()), Failure::Failed { .. }));
        let late = Refusal::new(Class::Timeout, "x could not be reached at h in time");
        assert!(matches!(meant("x", &late), Failure::Unreachable { .. }));
    }
}
