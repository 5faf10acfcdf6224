//! What every view is made of: the style of one stream, text that knows its width, narrow terminals, times.

pub mod clock;
pub(crate) mod narrow;
pub mod style;
pub(crate) mod styled_text;
