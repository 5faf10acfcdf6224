//! The output of `git diff`: several files, renames, modes, new and deleted files.

use super::diff::{files, mail, print};
use super::opening::opening_lines;
use super::{Dialect, DialectBlock, DialectError};
use crate::proposal::{FileAction, Operation};

pub(super) struct UnifiedDialect;

const NAME: &str = "unified";

impl Dialect for UnifiedDialect {
    fn name(&self) -> &'static str {
        NAME
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["git-diff"]
    }

    fn description(&self) -> &'static str {
        "The output of `git diff`, `git show` or `git format-patch` over one or several files, with renames and modes."
    }

    fn recognises(&self, text: &str) -> bool {
        let mut lines = opening_lines(text);
        let Some(first) = lines.next() else {
            return false;
        };
        if first.starts_with("diff --git ") || first.starts_with("diff --cc ") {
            return true;
        }
        if mail::begins_mail(first) {
            return lines.any(|line| line.starts_with("diff --git "))
                || mail::read_headers(text.split('\n')).encoded.is_some();
        }
        if !first.starts_with("--- ") && !first.starts_with("Index: ") {
            return false;
        }
        let mut pairs = 0;
        let mut above = first;
        for line in lines {
            pairs += usize::from(above.starts_with("--- ") && line.starts_with("+++ "));
            above = line;
        }
        pairs > 1 || (pairs == 1 && first.starts_with("Index: "))
    }

    fn read(&self, block: &DialectBlock<'_>) -> Result<Vec<Operation>, DialectError> {
        let files = files::read(block)?;
        let headed = block.path.as_ref().filter(|_| files.len() == 1);
        if let Some(path) = &block.path
            && !files.iter().any(|file| file.is_headed(path))
            && headed.is_none()
        {
            let reason = format!("the block is headed `{path}`, but its diff names other files");
            return Err(DialectError::at(block.line, reason));
        }
        let mut operations = Vec::new();
        for file in files {
            operations.append(&mut file.into_operations(headed, NAME)?);
        }
        Ok(operations)
    }

    fn print(&self, action: &FileAction) -> String {
        print::print_action(action)
    }
}
