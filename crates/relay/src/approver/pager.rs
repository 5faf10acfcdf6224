//! Text that may be longer than the screen: in the user's pager then, printed otherwise.
//!
//! The pager reads a private file, since its stdin is the terminal. What it is given is escaped already;
//! it is kept from starting other programs on its own (`LESSSECURE`, no `LESSOPEN`).

use std::ffi::OsString;
use std::path::Path;

use relaycode_exec::{Environment, Job, Output};
use relaycode_text::width::cells;
use relaycode_tui::input::Terminal;
use relaycode_tui::look::{AsStream, Look};

use super::Run;
use super::scratch::Scratch;
use crate::programs::Programs;

/// Where text is shown, and what shows it if it is long.
pub(crate) struct Pager<'a> {
    pub(crate) terminal: &'a Terminal,
    pub(crate) look: Look,
    pub(crate) programs: &'a Programs,
    pub(crate) run: &'a Run,
}

impl Pager<'_> {
    /// Shows what `text` makes for a look.
    pub(crate) fn show(&self, text: &dyn Fn(&Look) -> String) {
        let plain = text(&Look { color: false, ..self.look });
        let columns = self.terminal.file().columns().unwrap_or(self.look.columns());
        let fits = self.terminal.rows().is_none_or(|rows| lines(&plain, columns) < rows);
        if fits || !paged(self, text, &plain) {
            self.terminal.say(&text(&self.look));
        }
    }
}

/// Lines of the screen that safe, unpainted text takes.
fn lines(text: &str, columns: usize) -> usize {
    text.lines().map(|line| cells(line).div_ceil(columns.max(1)).max(1)).sum()
}

/// Whether a pager showed it.
fn paged(pager: &Pager<'_>, text: &dyn Fn(&Look) -> String, plain: &str) -> bool {
    let Ok(scratch) = Scratch::new(&pager.programs.scratch) else {
        return false;
    };
    for (index, words) in pager.programs.pagers.iter().enumerate() {
        // Only of `less` is it known that it shows colours and obeys nothing else.
        let is_less = words.first().is_some_and(|program| Path::new(program).ends_with("less"));
        let bytes = if is_less { text(&pager.look) } else { plain.to_string() };
        let Ok(file) = scratch.file(&format!("{index}.diff"), bytes.as_bytes()) else {
            return false;
        };
        let mut words = words.clone();
        words.extend(is_less.then(|| OsString::from("-R")));
        words.push(file.into_os_string());
        let job = Job {
            output: Output::Terminal,
            environment: Environment {
                remove: vec!["LESSOPEN".into(), "LESSCLOSE".into()],
                set: vec![("LESSSECURE".into(), "1".into())],
                ..Environment::default()
            },
            ..Job::argv(words, scratch.directory())
        };
        if (pager.run)(&job).is_ok() {
            return true;
        }
    }
    false
}
