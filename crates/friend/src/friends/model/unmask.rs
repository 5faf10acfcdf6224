//! The words of a model as a person may read them: where it repeats the placeholder of a secret, the secret stands again.
//!
//! A placeholder may come in two pieces: its beginning is kept back until the rest is there. What is handed out, put
//! together, is the whole text.

use relaycode_llm::request::secrets::Secrets;

/// Bytes of the longest placeholder, without its last sign.
const LONGEST: usize = 13;

pub(super) struct SecretUnmasker<'s> {
    secrets: Option<&'s Secrets>,
    held_back: String,
}

impl<'s> SecretUnmasker<'s> {
    pub(super) fn new(secrets: Option<&'s Secrets>) -> SecretUnmasker<'s> {
        SecretUnmasker { secrets, held_back: String::new() }
    }

    /// These words come next; what can be handed out.
    pub(super) fn push(&mut self, words: String) -> String {
        let Some(secrets) = self.secrets else { return words };
        self.held_back.push_str(&words);
        let mut clear = secrets.unmask_text(&self.held_back).into_owned();
        let begins = clear.rfind('#').filter(|at| clear.len() - at <= LONGEST);
        self.held_back = begins.map(|at| clear.split_off(at)).unwrap_or_default();
        clear
    }

    /// Nothing comes any more; what is left.
    pub(super) fn finish(&mut self) -> String {
        std::mem::take(&mut self.held_back)
    }
}
