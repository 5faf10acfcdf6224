//! What keeps secrets from a model: they are hidden in what it is told, and shown again in what it wants to be run.

use crate::message::ToolCall;
use crate::request::Request;

/// Hides secrets from a model.
pub trait Veil {
    /// Puts something else where a secret stands, before the request is made.
    fn hide(&self, request: &mut Request);

    /// Puts the secrets back into the arguments of a call that is whole.
    fn show(&self, call: &mut ToolCall);
}
