//! Files as lines: decoding and encoding, aligning, three-way merge.

pub mod align;
pub mod merge;
pub mod text_file;
