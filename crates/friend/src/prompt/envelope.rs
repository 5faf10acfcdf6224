//! The form in which every friend is asked: the same words around the same parts, whoever answers.

use std::path::Path;

#[derive(Debug, Clone, Copy)]
pub struct PromptEnvelope<'a> {
    pub root: &'a Path,
    pub request: &'a str,
    pub context: Option<&'a str>,
    pub diff: Option<&'a str>,
    /// How the answer has to look; last, so that it is nearest to the answer.
    pub format: Option<&'a str>,
}

impl PromptEnvelope<'_> {
    pub fn text(&self) -> String {
        let mut text = format!(
            "You are helping another coding agent by reviewing or advising on work in a local repository.\n\
             Repository path: {}\n\
             Use the repository files for context when needed.\n\
             Respond with concise, actionable feedback.\n\
             \n\
             Request:\n\
             {}",
            self.root.display(),
            self.request.trim()
        );
        let parts =
            [("Additional Context", self.context), ("Git Diff", self.diff), ("Answer Format", self.format)];
        for (title, part) in parts {
            // Only ends of lines are taken off: a blank at the end of a difference is a line of a file.
            let part = part.unwrap_or_default().trim_end_matches(['\n', '\r']);
            if !part.is_empty() {
                text.push_str(&format!("\n\n{title}:\n{part}"));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_has_the_form_that_every_friend_knows() {
        let root = Path::new("/path/to/repo");
        let bare =
            PromptEnvelope { root, request: " Is this right?\n", context: None, diff: None, format: None };
        let head = "You are helping another coding agent by reviewing or advising on work in a local repository.\n\
                    Repository path: /path/to/repo\n\
                    Use the repository files for context when needed.\n\
                    Respond with concise, actionable feedback.\n\
                    \n\
                    Request:\n\
                    Is this right?";
        assert_eq!(bare.text(), head);
        let full = PromptEnvelope { context: Some("notes\n"), diff: Some("+a\n \n"), ..bare };
        assert_eq!(full.text(), format!("{head}\n\nAdditional Context:\nnotes\n\nGit Diff:\n+a\n "));
        let diff = PromptEnvelope { diff: Some("+a"), format: Some("JSON"), context: Some(""), ..bare };
        assert_eq!(diff.text(), format!("{head}\n\nGit Diff:\n+a\n\nAnswer Format:\nJSON"));
    }
}
