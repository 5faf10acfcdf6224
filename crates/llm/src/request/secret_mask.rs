//! Keeps secrets from a model: they are hidden in what it reads, and restored in what it wants to run.

use crate::{message::ToolCall, request::ChatRequest};

/// Hides secrets from a model.
pub trait SecretMask {
    /// Replaces secrets before the request is made.
    fn mask_request(&self, request: &mut ChatRequest);

    /// Restores the secrets in the arguments of a complete call.
    fn unmask_call(&self, call: &mut ToolCall);
}
