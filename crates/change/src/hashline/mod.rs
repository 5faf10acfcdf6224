//! Edits that name lines by number and hash, as relay's own agent writes them: `»41th` inserts below line 41, `≔4fb..5dm`
//! replaces lines 4 to 5.
//!
//! Unlike a [`dialect`](crate::dialect), which quotes the old text and can be read without the file, these edits mean
//! nothing without what their author was shown. So they are no dialect: [`read_sections`] reads them, [`ShownFile`] knows what
//! was shown and which line that is today, and [`edit_text`] makes the bytes, which go to the planner as an exact change.
//!
//! The invariant: an anchor stands for the very line that was shown under it. Where that line has changed, or where it cannot be
//! told for certain where it went, nothing is edited, and the report shows what stands there now.

mod anchor;
mod edit;
mod sections;
mod shown;
mod stale;
#[cfg(test)]
mod tests;

pub use anchor::{HASH_COUNT, LineAnchor, LineHash, format_line, strip_anchors};
pub use edit::{HashlineError, HashlineResult, edit_text};
pub use sections::{
    HashlineAction, HashlineEdit, HashlineInput, HashlineSection, HashlineSyntaxError, InsertPlace,
    read_sections,
};
pub use shown::{LineSplice, MAX_GENERATIONS, ShownFile};
pub use stale::{STALE_CONTEXT, StaleReport};
