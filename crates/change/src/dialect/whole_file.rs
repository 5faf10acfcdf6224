//! The whole new text of a file, as it is.

use super::{Block, Dialect, DialectError};
use crate::proposal::{Action, Body, Edit, Operation};

/// The whole new text of a file.
pub(super) struct WholeFile;

const NAME: &str = "replace";

impl Dialect for WholeFile {
    fn name(&self) -> &'static str {
        NAME
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["whole-file"]
    }

    fn about(&self) -> &'static str {
        "The block is the whole new text of the file, for new files and for small ones."
    }

    fn recognises(&self, _text: &str) -> bool {
        true
    }

    fn read(&self, block: &Block<'_>) -> Result<Vec<Operation>, DialectError> {
        Ok(vec![Operation {
            line: block.line,
            action: Action::Write {
                path: block.headed_path()?,
                edit: Edit {
                    dialect: NAME,
                    body: Body::Whole { text: block.text.to_owned(), must_be_new: false },
                    seen: None,
                },
                mode: None,
            },
        }])
    }

    fn print(&self, action: &Action) -> String {
        match action {
            Action::Write { edit: Edit { body: Body::Whole { text, .. }, .. }, .. } => text.clone(),
            _ => String::new(),
        }
    }
}
