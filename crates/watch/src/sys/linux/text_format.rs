//! The forms in which a clipboard offers text, which one is preferred, and how its bytes become text.
//!
//! The same names serve X11 (targets) and Wayland (MIME types). Whoever offers them may lie, so the bytes
//! are checked as well.

use crate::clipboard::ClipboardContent;

/// Offered beside the text that relay copies, so that a watching relay recognises it.
pub(crate) const OWN_COPY_MARK: &str = "application/x-relaycode";
/// Offered by password managers beside a secret.
pub(crate) const SECRET_MARK: &str = "x-kde-passwordManagerHint";

/// Best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ClipboardFormat {
    /// X11's name for UTF-8.
    Utf8String,
    /// The same as a MIME type.
    PlainUtf8,
    /// No stated encoding: accepted if it is UTF-8.
    Plain,
    /// X11's old form: Latin-1 by definition.
    Latin1,
}

impl ClipboardFormat {
    /// Best first.
    pub(crate) const ALL: [ClipboardFormat; 4] = [
        ClipboardFormat::Utf8String,
        ClipboardFormat::PlainUtf8,
        ClipboardFormat::Plain,
        ClipboardFormat::Latin1,
    ];

    /// As the clipboard calls it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            ClipboardFormat::Utf8String => "UTF8_STRING",
            ClipboardFormat::PlainUtf8 => "text/plain;charset=utf-8",
            ClipboardFormat::Plain => "text/plain",
            ClipboardFormat::Latin1 => "STRING",
        }
    }

    /// MIME types ignore case; a blank may follow the `;`.
    pub(crate) fn from_name(name: &str) -> Option<ClipboardFormat> {
        let same = |form: &ClipboardFormat| name.eq_ignore_ascii_case(form.name());
        let spaced =
            || name.eq_ignore_ascii_case("text/plain; charset=utf-8").then_some(ClipboardFormat::PlainUtf8);
        ClipboardFormat::ALL.into_iter().find(same).or_else(spaced)
    }

    /// Decodes the bytes, unless the text is longer than `most`.
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

/// What is offered, as far as it matters here. Any number of names of any length may come in; this stays
/// small.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OfferedFormats {
    pub(crate) text: Option<ClipboardFormat>,
    ours: bool,
    secret: bool,
}

impl OfferedFormats {
    pub(crate) fn add_name(&mut self, name: &str) {
        self.ours |= name == OWN_COPY_MARK;
        self.secret |= name == SECRET_MARK;
        if let Some(form) = ClipboardFormat::from_name(name) {
            self.text = Some(self.text.map_or(form, |best| best.min(form)));
        }
    }

    /// What is known without reading; `None` if there is text to read.
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
