//! The whole new text of a file, as it is.

use super::{Dialect, DialectBlock, DialectError};
use crate::proposal::{EditBody, FileAction, FileEdit, Operation};

pub(super) struct WholeFileDialect;

const NAME: &str = "replace";

impl Dialect for WholeFileDialect {
    fn name(&self) -> &'static str {
        NAME
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["whole-file"]
    }

    fn description(&self) -> &'static str {
        "The block is the whole new text of the file, for new files and for small ones."
    }

    fn recognises(&self, _text: &str) -> bool {
        true
    }

    fn read(&self, block: &DialectBlock<'_>) -> Result<Vec<Operation>, DialectError> {
        Ok(vec![Operation {
            line: block.line,
            action: FileAction::Write {
                path: block.headed_path()?,
                edit: FileEdit {
                    dialect: NAME,
                    body: EditBody::Whole { text: block.text.to_owned(), must_be_new: false },
                    seen: None,
                },
                mode: None,
            },
        }])
    }

    fn print(&self, action: &FileAction) -> String {
        match action {
            FileAction::Write { edit: FileEdit { body: EditBody::Whole { text, .. }, .. }, .. } => {
                text.clone()
            }
            _ => String::new(),
        }
    }
}
