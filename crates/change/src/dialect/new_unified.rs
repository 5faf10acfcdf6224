//! A diff of one file, as chat models write it: headers are optional, `@@ ... @@` will do, and numbers are
//! only hints.

use super::diff::{files, lines, print};
use super::opening::opening_lines;
use super::{Dialect, DialectBlock, DialectError};
use crate::proposal::{FileAction, Operation};

pub(super) struct NewUnifiedDialect;

const NAME: &str = "new-unified";

impl Dialect for NewUnifiedDialect {
    fn name(&self) -> &'static str {
        NAME
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["standard-diff"]
    }

    fn description(&self) -> &'static str {
        "A unified diff of one file, in which line numbers may be left out (`@@ ... @@`)."
    }

    fn recognises(&self, text: &str) -> bool {
        let mut lines = opening_lines(text);
        let Some(first) = lines.next() else {
            return false;
        };
        if first.starts_with("--- ") {
            return lines.next().is_some_and(|line| line.starts_with("+++ "));
        }
        lines::parse_hunk_header(first).is_some() && lines.any(|line| line.starts_with(['+', '-']))
    }

    fn read(&self, block: &DialectBlock<'_>) -> Result<Vec<Operation>, DialectError> {
        let mut files = files::read(block)?.into_iter();
        let Some(mut file) = files.next() else {
            return Ok(Vec::new());
        };
        for mut more in files {
            if !more.continues_file(&file) {
                return Err(DialectError::at(
                    more.line(),
                    "this block is about one file, but its diff names another one here; give each file a block of its own",
                ));
            }
            file.hunks_mut().append(more.hunks_mut());
        }
        file.into_operations(block.path.as_ref(), NAME)
    }

    fn print(&self, action: &FileAction) -> String {
        print::print_action(action)
    }
}
