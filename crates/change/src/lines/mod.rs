//! Files as lines: decoding and encoding, which lines are which, three-way merge.

pub mod align;
pub mod merge;
pub mod text_file;
