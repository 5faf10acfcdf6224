//! In what forms a clipboard offers text, which is preferred, and how its bytes become text.
//!
//! The same names serve X11 (targets) and Wayland (mime types). Only names are looked at here: whoever offers them
//! may lie, so the bytes are checked as well.

use super::Content;

/// Offered beside the text by what relay copies, so that a watcher knows it for its own kind's.
pub(crate) const OURS: &str = "application/x-relaycode";
/// Offered by password managers beside a secret.
pub(crate) const SECRET: &str = "x-kde-passwordManagerHint";

/// A form of text, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Form {
    /// X11's name for UTF-8.
    Utf8String,
    /// The same as a mime type.
    PlainUtf8,
    /// In no stated encoding: taken if it is UTF-8.
    Plain,
    /// X11's old one: Latin-1 by definition.
    Latin1,
}

impl Form {
    /// All of them, the best first.
    pub(crate) const ALL: [Form; 4] = [Form::Utf8String, Form::PlainUtf8, Form::Plain, Form::Latin1];

    /// What it is called on the clipboard.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Form::Utf8String => "UTF8_STRING",
            Form::PlainUtf8 => "text/plain;charset=utf-8",
            Form::Plain => "text/plain",
            Form::Latin1 => "STRING",
        }
    }

    /// The form of that name. Mime types are the same in every case of letters; a blank may follow the `;`.
    pub(crate) fn named(name: &str) -> Option<Form> {
        let same = |form: &Form| name.eq_ignore_ascii_case(form.name());
        let spaced = || name.eq_ignore_ascii_case("text/plain; charset=utf-8").then_some(Form::PlainUtf8);
        Form::ALL.into_iter().find(same).or_else(spaced)
    }

    /// The text that bytes in this form say, if it is no longer than that.
    pub(crate) fn content(self, bytes: Vec<u8>, most: usize) -> Content {
        if bytes.is_empty() {
            return Content::Empty;
        }
        let text = match self {
            // On Wayland many programs offer UTF-8 under the old name too.
            Form::Latin1 => match String::from_utf8(bytes) {
                Ok(text) => text,
                Err(not) => not.as_bytes().iter().map(|&byte| char::from(byte)).collect(),
            },
            _ => match String::from_utf8(bytes) {
                Ok(text) => text,
                Err(_) => return Content::NotUtf8,
            },
        };
        if text.len() > most { Content::TooLarge } else { Content::Text(text) }
    }
}

/// What is offered, as far as it matters here. Names of any number and length come in; this stays small.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Offered {
    /// The best form of text.
    pub(crate) text: Option<Form>,
    ours: bool,
    secret: bool,
}

impl Offered {
    /// One more name.
    pub(crate) fn add(&mut self, name: &str) {
        self.ours |= name == OURS;
        self.secret |= name == SECRET;
        if let Some(form) = Form::named(name) {
            self.text = Some(self.text.map_or(form, |best| best.min(form)));
        }
    }

    /// What is known without reading any of it; none if there is text to read.
    pub(crate) fn known(self) -> Option<Content> {
        if self.ours {
            return Some(Content::Ours);
        }
        if self.secret {
            return Some(Content::Secret);
        }
        self.text.is_none().then_some(Content::NotText)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(names: &[&str]) -> Offered {
        let mut offered = Offered::default();
        names.iter().for_each(|name| offered.add(name));
        offered
    }

    #[test]
    fn the_best_form_of_text_is_chosen_whatever_the_order() {
        assert_eq!(offered(&["STRING", "text/plain", "UTF8_STRING"]).text, Some(Form::Utf8String));
        assert_eq!(
            offered(&["text/html", "text/plain; charset=UTF-8", "STRING"]).text,
            Some(Form::PlainUtf8)
        );
    }

    #[test]
    fn what_is_ours_or_secret_or_no_text_is_known_without_reading() {
        assert_eq!(offered(&["UTF8_STRING", OURS]).known(), Some(Content::Ours));
        assert_eq!(offered(&["UTF8_STRING", SECRET]).known(), Some(Content::Secret));
        assert_eq!(offered(&["image/png", "text/html", "text/uri-list"]).known(), Some(Content::NotText));
        assert_eq!(offered(&["image/png", "text/plain"]).known(), None);
    }

    #[test]
    fn bytes_become_text_only_if_they_are_what_the_form_says() {
        assert_eq!(Form::Utf8String.content(b"a\r\nb".to_vec(), 9), Content::Text("a\r\nb".into()));
        assert_eq!(Form::Plain.content(vec![0xff, b'a'], 9), Content::NotUtf8);
        assert_eq!(Form::Latin1.content(vec![0xe9], 9), Content::Text("é".into()));
        assert_eq!(Form::Latin1.content(vec![0xe9; 5], 9), Content::TooLarge);
        assert_eq!(Form::Plain.content(Vec::new(), 9), Content::Empty);
    }
}
