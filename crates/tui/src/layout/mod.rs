//! What every view is built from: the style of a stream, text that knows its width, narrow terminals,
//! times.

pub mod clock;
pub(crate) mod conversation_symbol;
pub(crate) mod narrow;
pub(crate) mod span_line;
pub mod style;
pub(crate) mod styled_text;
