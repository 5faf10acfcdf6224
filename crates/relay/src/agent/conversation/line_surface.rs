//! The conversation line by line: for terminals that know no escape sequences, and for screen readers.
//!
//! ```text
//! relay 0.1.0 · my-app · scripted/m1 · workspace · /help
//!
//! › what does a.txt say?
//! ✓ read a.txt  2 lines
//! It says one and two.
//!   2.1k tokens
//! ›
//! ```
//! Ctrl-C ends what the agent does, or gives up the line that is being typed; where there is nothing, it leaves.

use std::time::{Duration, Instant};

use relaycode_llm::request::secrets::Secrets;
use relaycode_text::plural::pluralize;
use relaycode_text::width::clip_for_message;
use relaycode_tui::conversation::TurnSummary;
use relaycode_tui::editor::EditorMessage;
use relaycode_tui::{PaintRole, Terminal, WordsAnswer};

use super::line_printer::LinePrinter;
use super::surface::{ConversationSurface, SurfaceInput};
use crate::agent::open_agent::{AgentSurface, AgentWork, OpenAgent};
use crate::{CommandContext, CommandResult, SignalGuard};

/// Cells of a prompt that could be said again.
const MAX_PROMPT_CELLS: usize = 400;

pub(super) struct LineSurface {
    terminal: Terminal,
}

impl LineSurface {
    pub(super) fn new(terminal: Terminal) -> LineSurface {
        LineSurface { terminal }
    }
}

impl ConversationSurface for LineSurface {
    fn agent_surface(&self) -> AgentSurface {
        AgentSurface::Terminal
    }

    fn begin(&mut self, open: &OpenAgent, ctx: &mut CommandContext<'_>) {
        let look = ctx.console.out_style();
        let workspace = open.agent.workspace();
        let name = workspace.root().file_name().map(|name| name.to_string_lossy().into_owned());
        let parts = [
            format!("relay {}", env!("CARGO_PKG_VERSION")),
            name.unwrap_or_default(),
            open.models.first.model.selector(),
            workspace.access.to_string(),
            "/help".to_string(),
        ];
        let dot = if look.utf8 { " · " } else { " - " };
        let line = look.safe(&parts.join(dot)).into_owned();
        ctx.print_info(&format!("{}\n", look.paint(PaintRole::Dim, &line)));
    }

    fn read(
        &mut self,
        open: &OpenAgent,
        patience: Option<Duration>,
        held: &SignalGuard,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<SurfaceInput> {
        ctx.console.flush();
        ctx.console.update_width();
        let look = ctx.console.out_style();
        let sign = if look.utf8 { "\n› " } else { "\n> " };
        let began = Instant::now();
        let jobs = &open.agent.workspace().jobs;
        let is_idle = || patience.is_some_and(|time| began.elapsed() >= time);
        let is_woken = || jobs.has_unshown() || is_idle();
        Ok(match self.terminal.prompt_words(sign, &look, &|| held.stop_requested(), &is_woken) {
            WordsAnswer::Said(words) => SurfaceInput::Said(EditorMessage { words, images: Vec::new() }),
            WordsAnswer::Leave => SurfaceInput::Leave,
            WordsAnswer::Woken if jobs.has_unshown() => SurfaceInput::JobEnded,
            WordsAnswer::Woken => SurfaceInput::Idle,
        })
    }

    fn follow(
        &mut self,
        work: &AgentWork<'_>,
        secrets: Option<&Secrets>,
        held: &SignalGuard,
        ctx: &mut CommandContext<'_>,
    ) {
        let mut printer = LinePrinter::new(secrets);
        work.show_until_done(held, &mut |event| printer.print(event, ctx));
        printer.finish(ctx);
        if held.stop_requested() {
            // The terminal shows the keys that were pressed.
            ctx.console.eprint("\n");
        }
    }

    /// What is printed is printed where everything is.
    fn set_lent(&mut self, _is_lent: bool, ctx: &mut CommandContext<'_>) -> bool {
        ctx.console.flush();
        false
    }

    fn show_output(&mut self, text: &str, ctx: &mut CommandContext<'_>) {
        let text = ctx.console.out_style().block(text.trim_end()).into_owned();
        ctx.print_info(&format!("{text}\n"));
    }

    fn remark(&mut self, line: &str, ctx: &mut CommandContext<'_>) {
        let look = ctx.console.out_style();
        let line = look.paint(PaintRole::Dim, &look.safe(line));
        ctx.print_info(&format!("  {line}\n"));
    }

    /// For example `2 edits +58 -4, 21.3k tokens, $0.06, 12 % of context, /undo takes it back`.
    fn summarize(&mut self, summary: &TurnSummary, ctx: &mut CommandContext<'_>) {
        if summary.tokens == 0 {
            return;
        }
        let mut parts = Vec::new();
        if summary.edits > 0 {
            let edits = pluralize(summary.edits, "edit");
            parts.push(format!("{edits} +{} -{}", summary.added, summary.removed));
        }
        let cost = if summary.cost >= 0.005 { format!(", ${:.2}", summary.cost) } else { String::new() };
        parts.push(format!("{:.1}k tokens{cost}", summary.tokens as f64 / 1000.0));
        if let Some(percent) = summary.context_percent {
            parts.push(format!("{percent} % of context"));
        }
        if summary.is_undoable {
            parts.push("/undo takes it back".to_string());
        }
        self.remark(&parts.join(", "), ctx);
    }

    fn offer(&mut self, text: &str, ctx: &mut CommandContext<'_>) {
        ctx.print_info(&format!("  you said there: {}\n", clip_for_message(text, MAX_PROMPT_CELLS)));
    }

    fn keys_sentence(&self) -> &'static str {
        "Ctrl-C stops the agent, or gives up the line; on an empty line it leaves"
    }

    fn end(&mut self, ctx: &mut CommandContext<'_>) {
        ctx.console.flush();
    }
}
