//! Files and patches that shell commands write: `cat <<'EOF' > path`, `tee path <<EOF`, `git apply <<'EOF'`. They are
//! read into the dialects that they wrap; no command is run.
//!
//! What the shell would change on the way is refused: variables in a text whose delimiter is not quoted, paths in
//! another directory, commands inside of loops or behind a condition.

mod shell;

use super::{Dialect, DialectBlock, DialectError, by_name, checked_path, detect};
use crate::proposal::{EditBody, FileAction, FileEdit, Hunk, Operation};
use shell::{
    HeredocCommand, HeredocTarget, changes_files, find_hindrance, find_hindrance_in_prose, goes_on,
    parse_heredoc,
};

pub(super) struct HeredocsDialect;

pub(crate) const NAME: &str = "heredocs";

impl Dialect for HeredocsDialect {
    fn name(&self) -> &'static str {
        NAME
    }

    fn description(&self) -> &'static str {
        "Shell commands that write files or patches: `cat <<'EOF' > path`, `tee path <<'EOF'`, `git apply <<'EOF'`."
    }

    fn recognises(&self, text: &str) -> bool {
        text.contains("<<") && !text.trim_start().starts_with("#!") && commands(text).any(|at| at.writes())
    }

    fn read(&self, block: &DialectBlock<'_>) -> Result<Vec<Operation>, DialectError> {
        let mut operations = Vec::new();
        let mut hindrance = None;
        let mut hangs = None;
        for step in commands(block.text) {
            let line = block.line + step.line;
            if changes_files(step.text) {
                let reason = "this command changes files beside a heredoc, and relay runs no command; \
                              send what it does as an edit, or without the heredoc";
                return Err(DialectError::at(line, reason));
            }
            let Some(heredoc) =
                step.heredoc.as_ref().filter(|heredoc| heredoc.target != HeredocTarget::Other)
            else {
                hindrance = hindrance.or(step.hindrance());
                if !step.text.starts_with('#') {
                    hangs = goes_on(step.text).then_some("it depends on the command above it");
                }
                continue;
            };
            let reason = match (&heredoc.target, hindrance.or(hangs).or(step.hindrance())) {
                (HeredocTarget::Refused(reason), _) => *reason,
                (_, Some(reason)) => reason,
                _ if !step.closed => "its last line is missing; the answer may be cut off",
                _ if !heredoc.verbatim && step.body.contains(['$', '`', '\\']) => {
                    "the shell would change `$`, backticks and backslashes in it; put the word after `<<` in quotes"
                }
                _ => {
                    operations.append(&mut step.operations(line, heredoc)?);
                    hindrance = find_hindrance(step.text);
                    hangs = None;
                    continue;
                }
            };
            return Err(DialectError::at(line, format!("this heredoc cannot be carried out: {reason}")));
        }
        Ok(operations)
    }

    fn remark(&self, text: &str) -> Option<String> {
        let others = |step: &ShellStep<'_>| match &step.heredoc {
            Some(heredoc) => heredoc.target == HeredocTarget::Other || heredoc.has_others,
            None => !step.is_harmless(),
        };
        let count = commands(text).filter(others).count();
        (count > 0).then(|| "other commands in this block were not run".to_owned())
    }

    /// `read` only yields what other dialects write.
    fn print(&self, _action: &FileAction) -> String {
        String::new()
    }
}

/// The end of a heredoc that stands in a text without a fence.
pub(crate) struct HeredocEnd {
    delimiter: String,
    drops_tabs: bool,
    /// The command is understood; otherwise the line may be prose.
    pub(crate) certain: bool,
}

impl HeredocEnd {
    /// For a line that begins a heredoc which changes a file.
    pub(crate) fn of(line: &str) -> Option<HeredocEnd> {
        let HeredocCommand { target, delimiter, drops_tabs, .. } = parse_heredoc(line)?;
        let changes = !matches!(target, HeredocTarget::Other | HeredocTarget::Envelope);
        let certain = !matches!(target, HeredocTarget::Refused(_));
        changes.then_some(HeredocEnd { delimiter, drops_tabs, certain })
    }

    pub(crate) fn is(&self, line: &str) -> bool {
        self.delimiter == if self.drops_tabs { line.trim_start_matches('\t') } else { line }
    }
}

/// Whether a block begins with such a command, or with one that prepares it.
pub(crate) fn begins_heredoc(text: &str) -> bool {
    let first = commands(text).find(|step| step.heredoc.is_some() || !step.is_harmless());
    first.is_some_and(|step| step.writes())
}

/// Why a heredoc without a fence cannot be carried out, by the lines above it, the nearest one first.
pub(crate) fn hindrance_above<'t>(lines: impl Iterator<Item = &'t str>) -> Option<String> {
    let mut directly = true;
    let found = lines.take(LINES_ABOVE).find_map(|line| {
        directly &= !line.trim().is_empty();
        find_hindrance_in_prose(line, directly)
    });
    found.map(|reason| format!("this heredoc cannot be carried out: {reason}"))
}

/// Most lines above a heredoc that are looked at.
const LINES_ABOVE: usize = 64;

/// One line of a script, with its heredoc.
struct ShellStep<'a> {
    /// From 0.
    line: usize,
    text: &'a str,
    heredoc: Option<HeredocCommand>,
    body: &'a str,
    /// The heredoc has its last line.
    closed: bool,
}

/// The lines of a script that are not blank and not in a heredoc.
fn commands(text: &str) -> impl Iterator<Item = ShellStep<'_>> {
    let mut lines = text.split_inclusive('\n').enumerate();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let (line, command) = lines.next()?;
            at += command.len();
            if command.trim().is_empty() {
                continue;
            }
            let command = command.trim_end();
            let heredoc = parse_heredoc(command);
            let (start, mut end, mut closed) = (at, at, heredoc.is_none());
            if let Some(heredoc) = &heredoc {
                for (_, inside) in lines.by_ref() {
                    at += inside.len();
                    let bare = inside.trim_end_matches('\n');
                    if heredoc.delimiter
                        == if heredoc.drops_tabs { bare.trim_start_matches('\t') } else { bare }
                    {
                        closed = true;
                        break;
                    }
                    end = at;
                }
            }
            return Some(ShellStep { line, text: command, heredoc, body: &text[start..end], closed });
        }
    })
}

impl ShellStep<'_> {
    fn writes(&self) -> bool {
        let target = self.heredoc.as_ref().map(|heredoc| &heredoc.target);
        target.is_some_and(|target| !matches!(target, HeredocTarget::Other | HeredocTarget::Envelope))
    }

    fn is_harmless(&self) -> bool {
        self.text.starts_with('#') || self.text.starts_with("mkdir ")
    }

    /// Why nothing below this line (this one included) is certain.
    fn hindrance(&self) -> Option<&'static str> {
        if self.writes() {
            let indented = "it is indented, so it may be part of another command";
            return self.text.starts_with([' ', '\t']).then_some(indented);
        }
        let in_function = self.text.ends_with('{') && self.heredoc.is_none();
        find_hindrance(self.text).or(in_function.then_some("it may stand inside of a function"))
    }

    fn operations(&self, line: usize, heredoc: &HeredocCommand) -> Result<Vec<Operation>, DialectError> {
        let body = match heredoc.drops_tabs {
            true => self.body.split_inclusive('\n').map(|line| line.trim_start_matches('\t')).collect(),
            false => self.body.to_owned(),
        };
        let write = |path: &str, dialect, body| {
            let (path, edit) = (checked_path(line, path)?, FileEdit { dialect, body, seen: None });
            Ok(Vec::from([Operation { line, action: FileAction::Write { path, edit, mode: None } }]))
        };
        let block = DialectBlock { path: None, text: &body, line: line + 1 };
        match &heredoc.target {
            HeredocTarget::Write(path) => {
                write(path, detect("").name(), EditBody::Whole { text: body, must_be_new: false })
            }
            HeredocTarget::Append(_) if body.is_empty() => {
                Err(DialectError::at(line, "this heredoc appends nothing"))
            }
            HeredocTarget::Append(path) => {
                let after = body.split_terminator('\n').map(str::to_owned).collect();
                let hunk = Hunk { line, after, kept: Some(Vec::new()), at_end: true, ..Hunk::default() };
                write(path, "apply-patch", EditBody::Hunks(Vec::from([hunk])))
            }
            HeredocTarget::Patch(level) => {
                let operations = read_as("unified", &block)?;
                match other_name(&body, *level, &operations) {
                    Some(name) => Err(DialectError::at(
                        line,
                        format!("the level `-p` of this command means `{name}`, and the patch another file"),
                    )),
                    None => Ok(operations),
                }
            }
            HeredocTarget::Envelope => read_as("apply-patch", &block),
            HeredocTarget::Other | HeredocTarget::Refused(_) => Ok(Vec::new()),
        }
    }
}

fn read_as(dialect: &str, block: &DialectBlock<'_>) -> Result<Vec<Operation>, DialectError> {
    by_name(dialect).map_or(Ok(Vec::new()), |dialect| dialect.read(block))
}

/// A file that the command would change with this level, and the operations do not.
fn other_name(patch: &str, level: Option<usize>, operations: &[Operation]) -> Option<String> {
    let names =
        patch.lines().filter_map(|line| line.strip_prefix("+++ ").or_else(|| line.strip_prefix("--- ")));
    let names = names
        .map(|name| name.split('\t').next().unwrap_or(name).trim_end())
        .filter(|name| *name != "/dev/null");
    let stripped = names.map(|name| match level {
        None => name.rsplit('/').next().unwrap_or(name),
        Some(level) => name.splitn(level + 1, '/').nth(level).unwrap_or(name),
    });
    let mut others = stripped.filter(|name| {
        !operations.iter().any(|operation| match &operation.action {
            FileAction::Rename { from, to } => from.as_str() == *name || to.as_str() == *name,
            action => action.path().as_str() == *name,
        })
    });
    others.next().map(|name| name.chars().take(80).collect::<String>().escape_debug().to_string())
}
