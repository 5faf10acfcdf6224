//! What every view is built from: the style of a stream, text that knows its width, narrow terminals,
//! times.

pub mod clock;
pub(crate) mod narrow;
pub mod style;
pub(crate) mod styled_text;
