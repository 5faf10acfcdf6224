//! What a failure of a model means for a friend: not signed in, not reachable, or failed with its own words.

use relaycode_llm::failure::{FailureClass, ModelFailure as Refusal};
use relaycode_llm::models::keys::KeyError;
use relaycode_llm::stream::MAX_BODY_BYTES;

use crate::FriendFailure;

/// What is said of a connection that was never made, and of nothing else.
const UNREACHED_PHRASE: &str = " be reached at ";

pub(super) fn failure_from_llm(friend: &str, refusal: &Refusal) -> FriendFailure {
    let said = strip_friend_name(friend, &refusal.message_with_wait());
    let friend = friend.to_string();
    match refusal.class {
        FailureClass::Auth | FailureClass::Forbidden => {
            FriendFailure::NotSignedIn { hint: sign_in(&friend), friend, said }
        }
        // Others broke off, which is no fault of the way there.
        FailureClass::Network | FailureClass::Timeout if refusal.message.contains(UNREACHED_PHRASE) => {
            FriendFailure::Unreachable { friend, said }
        }
        FailureClass::TooLarge => FriendFailure::AnswerTooLarge { friend, most: MAX_BODY_BYTES },
        FailureClass::Aborted => FriendFailure::Cancelled { friend },
        _ => FriendFailure::Failed { friend, said },
    }
}

pub(super) fn missing_key(friend: &str, error: &KeyError) -> FriendFailure {
    let (said, hint) = match error {
        KeyError::Missing { provider, fix } => (format!("there is no key for {provider}"), fix.clone()),
        error => (error.to_string(), sign_in(friend)),
    };
    FriendFailure::NotSignedIn { friend: friend.to_string(), said, hint }
}

fn sign_in(friend: &str) -> String {
    format!("`relay keys set {friend}` stores a key")
}

/// As the rest of a sentence that has named the friend already.
pub(super) fn strip_friend_name(friend: &str, said: &str) -> String {
    let Some(rest) = said.strip_prefix(friend).and_then(|rest| rest.strip_prefix(' ')) else {
        return said.to_string();
    };
    if let Some(words) = rest.strip_prefix("failed: ") {
        return words.to_string();
    }
    match rest.strip_prefix("failed (").and_then(|rest| rest.split_once(')')) {
        Some((status, words)) => format!("{status}{words}"),
        None => format!("it {rest}"),
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
            assert_eq!(strip_friend_name("ollama", said), words);
        }
    }

    #[test]
    fn only_a_connection_that_was_never_made_is_unreachable() {
        let network = |said: &str| failure_from_llm("x", &Refusal::new(FailureClass::Network, said));
        assert!(matches!(network("x cannot be reached at h: refused"), FriendFailure::Unreachable { .. }));
        assert!(matches!(failure_from_llm("x", &Refusal::cut_off()), FriendFailure::Failed { .. }));
        let late = Refusal::new(FailureClass::Timeout, "x could not be reached at h in time");
        assert!(matches!(failure_from_llm("x", &late), FriendFailure::Unreachable { .. }));
    }
}
