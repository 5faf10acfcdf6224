//! What a failure of a model means for a friend: not signed in, not reachable, or failed with its own words.

use relaycode_llm::failure::{Class, Failure as Refusal};
use relaycode_llm::keys::KeyError;
use relaycode_llm::stream::BODY_MOST;

use crate::failure::Failure;

/// What a failure means. `begun`: it had begun to answer.
pub(super) fn meant(friend: &str, refusal: &Refusal, begun: bool) -> Failure {
    let said = own_words(friend, &refusal.told());
    let friend = friend.to_string();
    match refusal.class {
        Class::Auth | Class::Forbidden => Failure::NotSignedIn { hint: sign_in(&friend), friend, said },
        Class::Network | Class::Timeout if !begun => Failure::Unreachable { friend, said },
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
    format!("relay keys set {friend}")
}

/// Without the friend's name at the beginning: the message that they become part of has said it.
pub(super) fn own_words(friend: &str, said: &str) -> String {
    said.strip_prefix(friend).and_then(|rest| rest.strip_prefix(' ')).unwrap_or(said).to_string()
}
