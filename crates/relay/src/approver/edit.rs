//! `e`: the text that a file would have, in the user's editor. What they make of it becomes a new plan,
//! which is shown and asked about again; the project's file is not touched here.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use relaycode_change::diff::DiffContent;
use relaycode_change::plan::FilePlan;
use relaycode_change::proposal::path::RelPath;
use relaycode_door::PlanRevision;
use relaycode_exec::{ExecError, ExitReason, Job, JobOutput};

use super::apply::ChangedFiles;
use super::{DialogResult, QuestionDialog, RunProgram};
use crate::UserPrograms;
use relaycode_exec::PrivateDir;

/// Bytes of an edited text at most.
const EDITED_BYTES: u64 = 16 << 20;
/// Bytes of an extension that the private file gets as well.
const EXTENSION_BYTES: usize = 16;

/// Lets the person edit the file that `what` names, else the one they choose. `None`: nothing changes.
pub(super) fn ask_edit(
    asking: &mut QuestionDialog<'_>,
    files: &ChangedFiles<'_>,
    what: &str,
) -> DialogResult<Option<PlanRevision>> {
    let Some(index) = choose_file(asking, files, what)? else {
        return Ok(None);
    };
    let file = files.plans[index];
    let text =
        file.after.as_deref().filter(|_| !matches!(files.diffs[index].content, DiffContent::Binary { .. }));
    let Some(text) = text else {
        asking.remark(&format!("{} has no text to edit", file.path));
        return Ok(None);
    };
    match run_editor(asking, file, text) {
        Err(said) => asking.remark(&format!("{said}: nothing changes")),
        Ok(edited) if edited == text => asking.remark("the text is as it was: nothing changes"),
        Ok(edited) => return Ok(Some(PlanRevision::Text(file.path.clone(), edited))),
    }
    Ok(None)
}

fn choose_file(
    asking: &mut QuestionDialog<'_>,
    files: &ChangedFiles<'_>,
    what: &str,
) -> DialogResult<Option<usize>> {
    let mut word = what.to_string();
    if word.is_empty() {
        let editable: Vec<usize> =
            (0..files.plans.len()).filter(|index| files.plans[*index].after.is_some()).collect();
        if let [one] = editable[..] {
            return Ok(Some(one));
        }
        asking.say(&files.list(false, &asking.style));
        match asking.read_line("  edit which? its number; Enter goes back  ")? {
            Some(line) => word = line,
            None => return Ok(None),
        }
    }
    let index = files.find_file(&word);
    if index.is_none() {
        asking.remark(&format!("`{word}` is none of these"));
        let list = files.list(false, &asking.style);
        asking.say(&list);
    }
    Ok(index)
}

/// The text after the editor, or why there is none.
fn run_editor(asking: &mut QuestionDialog<'_>, file: &FilePlan, text: &[u8]) -> Result<Vec<u8>, String> {
    edit_text(&asking.setup.programs, &asking.hooks.run, &private_name(&file.path), text)
}

/// What the user makes of a text in their editor, or why that cannot be told. The file has that name.
pub(crate) fn edit_text(
    programs: &UserPrograms,
    run: &RunProgram,
    name: &str,
    text: &[u8],
) -> Result<Vec<u8>, String> {
    let cannot = |error: io::Error| format!("the text cannot be handed to an editor ({error})");
    let scratch = PrivateDir::new(&programs.scratch_dir).map_err(cannot)?;
    let path = scratch.create_file(name, text).map_err(cannot)?;
    let mut missing = Vec::new();
    for editor in &programs.editors {
        let mut words = editor.clone();
        words.push(path.clone().into_os_string());
        let job = Job { output: JobOutput::Terminal, ..Job::argv(words, scratch.path()) };
        match run(&job) {
            Ok(finished) => return edited_text(&finished.reason, &path),
            Err(ExecError::NotFound { program }) => missing.push(program),
            Err(error) => return Err(error.to_string()),
        }
    }
    Err(format!("there is no editor ({}); set VISUAL or EDITOR", missing.join(", ")))
}

fn edited_text(ended: &ExitReason, path: &Path) -> Result<Vec<u8>, String> {
    match ended {
        ExitReason::Exited(0) => read_edited(path).map_err(|error| format!("the edited text: {error}")),
        ExitReason::Exited(code) => Err(format!("the editor ended with code {code}")),
        _ => Err("the editor did not end by itself".to_string()),
    }
}

/// A name that only shares the extension: editors obey some names, and the name is a stranger's.
fn private_name(path: &RelPath) -> String {
    let plain = |extension: &&str| {
        extension.len() <= EXTENSION_BYTES && extension.chars().all(|c| c.is_ascii_alphanumeric())
    };
    match path.extension().filter(plain) {
        Some(extension) => format!("edit.{extension}"),
        None => "edit".to_string(),
    }
}

fn read_edited(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(EDITED_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > EDITED_BYTES {
        return Err(io::Error::other("it is larger than 16 MB"));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_private_file_shares_only_the_extension() {
        for (path, name) in [
            ("src/cart.ts", "edit.ts"),
            ("Makefile", "edit"),
            (".vimrc", "edit"),
            ("a.b c", "edit"),
            ("a.d.ts", "edit.ts"),
        ] {
            assert_eq!(private_name(&RelPath::parse(path).unwrap()), name, "{path}");
        }
    }
}
