//! What keeps secrets from a model: they are hidden in what it is told, and shown again in what it wants to be run.

use crate::message::ToolCall;
use crate::request::ChatRequest;

/// Hides secrets from a model.
pub trait SecretMask {
    /// Puts something else where a secret stands, before the request is made.
    fn mask_request(&self, request: &mut ChatRequest);

    /// Puts the secrets back into the arguments of a call that is whole.
    fn unmask_call(&self, call: &mut ToolCall);
}
