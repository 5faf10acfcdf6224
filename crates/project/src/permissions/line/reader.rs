//! Goes through a parsed line.

use super::LineReading;
use crate::permissions::PermissionPlace;

/// What a line for a shell would do.
pub fn read_line(line: &str, place: &PermissionPlace) -> LineReading {
    let _ = (line, place);
    LineReading { unclear: vec!["not read yet".to_string()], ..LineReading::default() }
}

/// What a program with these arguments would do, without a shell.
pub fn read_arguments(words: &[String], place: &PermissionPlace) -> LineReading {
    let _ = (words, place);
    LineReading { unclear: vec!["not read yet".to_string()], ..LineReading::default() }
}
