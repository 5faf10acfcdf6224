//! `relay log` at a terminal: the changes with their diffs, and what can be done with them.

use relaycode_ledger::{Ledger, LogFilter};
use relaycode_tui::log_browser::{LogBrowser, LogBrowserRow, LogDiff, LogOutcome};
use relaycode_tui::views::log::LogRow;

use super::{ScreenSession, ScreenView};
use crate::commands::log::log_rows;
use crate::commands::run_line;
use crate::commands::show::record_plans;
use crate::{CommandContext, CommandResult, SignalGuard};

/// Changes that are loaded at once.
const PAGE: usize = 200;

/// Shows the changes until the user closes them. `false`: there is no terminal for that.
pub(crate) fn browse_log(
    ledger: &Ledger,
    filter: &LogFilter,
    ctx: &mut CommandContext<'_>,
) -> CommandResult<bool> {
    let held = SignalGuard::acquire()?;
    let Some(mut session) = ScreenSession::open(&held, ctx)? else { return Ok(false) };
    let (rows, total) = load(ledger, filter, 0)?;
    let mut browser = LogBrowser::new(rows, total);
    loop {
        let mut view = LoadedLog { browser: &mut browser, ledger, filter };
        let words: Vec<String> = match session.show(&mut view) {
            None | Some(LogOutcome::Closed | LogOutcome::Quit) => return Ok(true),
            Some(LogOutcome::Undo) => vec!["undo".to_string()],
            Some(LogOutcome::Redo) => vec!["redo".to_string()],
            Some(LogOutcome::Revert { id }) => vec!["revert".to_string(), id],
            Some(LogOutcome::Commit { ids }) => {
                ["git", "commit"].map(str::to_string).into_iter().chain(ids).collect()
            }
            Some(LogOutcome::Ignored | LogOutcome::Changed) => continue,
        };
        // It prints and asks as ever, below what stood there.
        drop(session);
        if let Err(failure) = run_line(&words, ctx) {
            ctx.console.report_failure(&failure, "", false);
        }
        ctx.console.flush();
        let Some(next) = ScreenSession::open(&held, ctx)? else { return Ok(true) };
        session = next;
        let (rows, total) = load(ledger, filter, 0)?;
        browser.set_rows(rows, total);
    }
}

fn load(ledger: &Ledger, filter: &LogFilter, skip: usize) -> CommandResult<(Vec<LogBrowserRow>, usize)> {
    let (rows, total) = log_rows(ledger, filter, skip, PAGE)?;
    let row = |row: LogRow| LogBrowserRow { row, paths: Vec::new() };
    Ok((rows.into_iter().map(row).collect(), total))
}

/// The browser, which gets what it wants before it is drawn.
struct LoadedLog<'a> {
    browser: &'a mut LogBrowser,
    ledger: &'a Ledger,
    filter: &'a LogFilter,
}

impl ScreenView for LoadedLog<'_> {
    type Outcome = LogOutcome;

    fn press(&mut self, key: relaycode_tui::input::KeyPress) -> Option<LogOutcome> {
        self.browser.press(key)
    }

    fn insert_text(&mut self, text: &str) {
        self.browser.insert_text(text);
    }

    fn draw(&mut self, style: &relaycode_tui::theme::ThemeStyle, width: usize, height: usize) -> Vec<String> {
        if let Some(skip) = self.browser.wants_more()
            && let Ok((rows, _)) = load(self.ledger, self.filter, skip)
        {
            self.browser.add_rows(rows);
        }
        if let Some(id) = self.browser.wants_diff().map(str::to_string) {
            let diff = read_diff(self.ledger, &id);
            self.browser.set_diff(&id, diff);
        }
        self.browser.lines(style, width, height)
    }
}

fn read_diff(ledger: &Ledger, name: &str) -> LogDiff {
    let mut diff = LogDiff::default();
    let ids = match ledger.find_target(name) {
        Ok(target) => target.ids(),
        Err(error) => return LogDiff { note: error.to_string(), ..diff },
    };
    for id in ids {
        match record_plans(ledger, id) {
            Ok(plans) => diff.files.extend(plans),
            Err(failure) => diff.note = failure.message,
        }
    }
    diff
}
