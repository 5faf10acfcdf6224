//! Text that may be longer than the screen: in the user's pager then, printed otherwise.
//!
//! The pager reads a private file, since its stdin is the terminal. What it is given is escaped already;
//! it is kept from starting other programs on its own (`LESSSECURE`, no `LESSOPEN`).

use std::ffi::OsString;
use std::path::Path;
use std::rc::Rc;

use relaycode_exec::{Job, JobEnvironment, JobOutput};
use relaycode_text::width::cells;
use relaycode_tui::{OutputStyle, StreamWidth, Terminal};

use super::{RunProgram, terminal_program_runner};
use crate::{CommandContext, CommandResult, SignalGuard, UserPrograms, process_runner};
use relaycode_exec::PrivateDir;

/// Where text is shown, and what shows it if it is long.
pub(crate) struct Pager<'a> {
    pub(crate) terminal: &'a Terminal,
    pub(crate) style: OutputStyle,
    pub(crate) programs: &'a UserPrograms,
    pub(crate) run: &'a RunProgram,
}

impl Pager<'_> {
    /// Shows what `text` makes for a look.
    pub(crate) fn show(&self, text: &dyn Fn(&OutputStyle) -> String) {
        let plain = text(&OutputStyle { color: false, ..self.style });
        let columns = self.terminal.file().columns().unwrap_or(self.style.columns());
        let fits = self.terminal.rows().is_none_or(|rows| screen_lines(&plain, columns) < rows);
        if fits || !run_pager(self, text, &plain) {
            self.terminal.write_text(&text(&self.style));
        }
    }
}

/// What a command was asked to show: printed as it comes, or at once in the user's pager where stdout is a terminal.
pub(crate) struct PagedOutput {
    terminal: Option<Terminal>,
    plain: String,
    painted: String,
}

impl PagedOutput {
    pub(crate) fn new(ctx: &CommandContext<'_>) -> PagedOutput {
        let is_for_people = !ctx.is_json() && !ctx.is_quiet();
        let terminal = is_for_people.then(|| ctx.console.out_terminal()).flatten();
        PagedOutput { terminal, plain: String::new(), painted: String::new() }
    }

    /// Shows what `text` makes for a look.
    pub(crate) fn push(&mut self, text: impl Fn(&OutputStyle) -> String, ctx: &mut CommandContext<'_>) {
        let look = ctx.style();
        if self.terminal.is_none() {
            return ctx.print(&text(&look));
        }
        if look.color {
            self.painted += &text(&look);
        }
        self.plain += &text(&OutputStyle { color: false, ..look });
    }

    /// Nothing more comes.
    pub(crate) fn finish(self, ctx: &mut CommandContext<'_>) -> CommandResult<()> {
        let PagedOutput { terminal: Some(terminal), plain, painted } = self else { return Ok(()) };
        ctx.console.flush();
        let style = ctx.style();
        let run = terminal_program_runner(process_runner()?, Rc::new(SignalGuard::acquire()?));
        let text = |look: &OutputStyle| if look.color { painted.clone() } else { plain.clone() };
        Pager { terminal: &terminal, style, programs: &UserPrograms::from_env(), run: &run }.show(&text);
        Ok(())
    }
}

/// Lines of the screen that safe, unpainted text takes.
fn screen_lines(text: &str, columns: usize) -> usize {
    text.lines().map(|line| cells(line).div_ceil(columns.max(1)).max(1)).sum()
}

/// Whether a pager showed it.
fn run_pager(pager: &Pager<'_>, text: &dyn Fn(&OutputStyle) -> String, plain: &str) -> bool {
    let Ok(scratch) = PrivateDir::new(&pager.programs.scratch_dir) else {
        return false;
    };
    for (index, words) in pager.programs.pagers.iter().enumerate() {
        // Only of `less` is it known that it shows colours and obeys nothing else.
        let is_less = words.first().is_some_and(|program| Path::new(program).ends_with("less"));
        let bytes = if is_less { text(&pager.style) } else { plain.to_string() };
        let Ok(file) = scratch.create_file(&format!("{index}.diff"), bytes.as_bytes()) else {
            return false;
        };
        let mut words = words.clone();
        words.extend(is_less.then(|| OsString::from("-R")));
        words.push(file.into_os_string());
        let job = Job {
            output: JobOutput::Terminal,
            environment: JobEnvironment {
                remove: vec!["LESSOPEN".into(), "LESSCLOSE".into()],
                set: vec![("LESSSECURE".into(), "1".into())],
                ..JobEnvironment::default()
            },
            ..Job::argv(words, scratch.path())
        };
        if (pager.run)(&job).is_ok() {
            return true;
        }
    }
    false
}
