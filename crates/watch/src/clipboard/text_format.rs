//! In what forms a clipboard offers text, which is preferred, and how its bytes become text.
//!
//! The same names serve X11 (targets) and Wayland (mime types). Only names are looked at here: whoever offers them
//! may lie, so the bytes are checked as well.

use super::ClipboardContent;

/// Offered beside the text by what relay copies, so that a watcher knows it for its own kind's.
pub(crate) const OWN_COPY_MARK: &str = "application/x-relaycode";
/// Offered by password managers beside a secret.
pub(crate) const SECRET_MARK: &str = "x-kde-passwordManagerHint";

/// A form of text, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ClipboardFormat {
    /// X11's name for UTF-8.
    Utf8String,
    /// The same as a mime type.
    PlainUtf8,
    /// In no stated encoding: taken if it is UTF-8.
    Plain,
    /// X11's old one: Latin-1 by definition.
    Latin1,
}

impl ClipboardFormat {
    /// All of them, the best first.
    pub(crate) const ALL: [ClipboardFormat; 4] = [
        ClipboardFormat::Utf8String,
        ClipboardFormat::PlainUtf8,
        ClipboardFormat::Plain,
        ClipboardFormat::Latin1,
    ];

    /// What it is called on the clipboard.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            ClipboardFormat::Utf8String => "UTF8_STRING",
            ClipboardFormat::PlainUtf8 => "text/plain;charset=utf-8",
            ClipboardFormat::Plain => "text/plain",
            ClipboardFormat::Latin1 => "STRING",
        }
    }

    /// The form of that name. Mime types are the same in every case of letters; a blank may follow the `;`.
    pub(crate) fn from_name(name: &str) -> Option<ClipboardFormat> {
        let same = |form: &ClipboardFormat| name.eq_ignore_ascii_case(form.name());
        let spaced =
            || name.eq_ignore_ascii_case("text/plain; charset=utf-8").then_some(ClipboardFormat::PlainUtf8);
        ClipboardFormat::ALL.into_iter().find(same).or_else(spaced)
    }

    /// The text that bytes in this form say, if it is no longer than that.
    pub(crate) fn decode(self, bytes: Vec<u8>, most: usize) -> ClipboardContent {
        if bytes.is_empty() {
            return ClipboardContent::Empty;
        }
        let text = match self {
            // On Wayland many programs offer UTF-8 under the old name too.
            ClipboardFormat::Latin1 => match String::from_utf8(bytes) {
                Ok(text) => text,
                Err(not) => not.as_bytes().iter().map(|&byte| char::from(byte)).collect(),
            },
            _ => match String::from_utf8(bytes) {
                Ok(text) => text,
                Err(_) => return ClipboardContent::NotUtf8,
            },
        };
        if text.len() > most { ClipboardContent::TooLarge } else { ClipboardContent::Text(text) }
    }
}

/// What is offered, as far as it matters here. Names of any number and length come in; this stays small.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OfferedFormats {
    /// The best form of text.
    pub(crate) text: Option<ClipboardFormat>,
    ours: bool,
    secret: bool,
}

impl OfferedFormats {
    /// One more name.
    pub(crate) fn add_name(&mut self, name: &str) {
        self.ours |= name == OWN_COPY_MARK;
        self.secret |= name == SECRET_MARK;
        if let Some(form) = ClipboardFormat::from_name(name) {
            self.text = Some(self.text.map_or(form, |best| best.min(form)));
        }
    }

    /// What is known without reading any of it; none if there is text to read.
    pub(crate) fn known_content(self) -> Option<ClipboardContent> {
        if self.ours {
            return Some(ClipboardContent::OwnCopy);
        }
        if self.secret {
            return Some(ClipboardContent::Secret);
        }
        self.text.is_none().then_some(ClipboardContent::NotText)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(names: &[&str]) -> OfferedFormats {
        let mut offered = OfferedFormats::default();
        names.iter().for_each(|name| offered.add_name(name));
        offered
    }

    #[test]
    fn the_best_form_of_text_is_chosen_whatever_the_order() {
        assert_eq!(offered(&["STRING", "text/plain", "UTF8_STRING"]).text, Some(ClipboardFormat::Utf8String));
        assert_eq!(
            offered(&["text/html", "text/plain; charset=UTF-8", "STRING"]).text,
            Some(ClipboardFormat::PlainUtf8)
        );
    }

    #[test]
    fn what_is_ours_or_secret_or_no_text_is_known_without_reading() {
        assert_eq!(offered(&["UTF8_STRING", OWN_COPY_MARK]).known_content(), Some(ClipboardContent::OwnCopy));
        assert_eq!(offered(&["UTF8_STRING", SECRET_MARK]).known_content(), Some(ClipboardContent::Secret));
        assert_eq!(
            offered(&["image/png", "text/html", "text/uri-list"]).known_content(),
            Some(ClipboardContent::NotText)
        );
        assert_eq!(offered(&["image/png", "text/plain"]).known_content(), None);
    }

    #[test]
    fn bytes_become_text_only_if_they_are_what_the_form_says() {
        assert_eq!(
            ClipboardFormat::Utf8String.decode(b"a\r\nb".to_vec(), 9),
            ClipboardContent::Text("a\r\nb".into())
        );
        assert_eq!(ClipboardFormat::Plain.decode(vec![0xff, b'a'], 9), ClipboardContent::NotUtf8);
        assert_eq!(ClipboardFormat::Latin1.decode(vec![0xe9], 9), ClipboardContent::Text("é".into()));
        assert_eq!(ClipboardFormat::Latin1.decode(vec![0xe9; 5], 9), ClipboardContent::TooLarge);
        assert_eq!(ClipboardFormat::Plain.decode(Vec::new(), 9), ClipboardContent::Empty);
    }
}
