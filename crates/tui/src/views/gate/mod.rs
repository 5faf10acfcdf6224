//! What the project's commands say about a change: half a line if all is well, otherwise a card.
//!
//! ```text
//! ✗ not kept: tsc --noEmit went from 2 to 5 errors            everything was put back
//!     src/cart.ts:31  Type 'string' is not assignable to type 'number'
//!     … 2 more new errors
//!   keep it anyway: `relay apply answer.md --allow gate`
//! ```

#[cfg(test)]
mod tests;

use std::fmt::Write;
use std::time::Duration;

use relaycode_door::GateReport;
use relaycode_door::gate::{Diagnostic, GateStep, StepReport, StepResult};

use crate::{Glyph, OutputStyle, PaintRole, headline_with_state, outcome, pluralize};

/// Most new errors listed before it says how many more there are.
const ERRORS: usize = 5;
/// Lines shown of a command's output if it failed without naming errors.
const LINES: usize = 5;
/// Most cells of one error message.
const MESSAGE: usize = 240;

/// The card of a change that was not kept. `state` is the state of the project, `next` what can be done
/// about it.
pub fn refused_card(report: &GateReport, state: &str, next: Option<&str>, style: &OutputStyle) -> String {
    let what = verdict_text(report, style).unwrap_or_else(|| "nobody said yes".to_string());
    let sign = style.paint(PaintRole::Bad, style.glyph(Glyph::Refused));
    let mut out = headline_with_state(style, &sign, &format!("not kept: {what}"), state);
    out += &evidence(report, style);
    if let Some(next) = next {
        out += &(style.wrap(&format!("  {}", style.safe(next)), 4) + "\n");
    }
    out
}

/// The card of a change that is on disk and waits for a yes.
pub fn pending_card(report: &GateReport, style: &OutputStyle) -> String {
    let sign = style.paint(PaintRole::Attention, "!");
    let what = verdict_text(report, style).or_else(|| passed_summary(report, style));
    let what = what.unwrap_or_else(|| "nothing checked this".to_string());
    headline_with_state(style, &sign, &what, "on disk, not kept yet") + &evidence(report, style)
}

/// `checked in 3.2 s, 2 → 2 errors`: the half line after `applied 3f9c1e2a`. `None` if no command ran.
pub fn passed_summary(report: &GateReport, style: &OutputStyle) -> Option<String> {
    if report.steps.is_empty() {
        return None;
    }
    let took: Duration = report.steps.iter().map(|step| step.took).sum();
    let mut text = format!("checked in {}", human_duration(took));
    match (report.errors_before, report.errors_after) {
        (Some(before), Some(after)) => {
            let arrow = style.glyph(Glyph::Arrow);
            text += &format!(", {before} {arrow} {}", errors(after));
        }
        (None, Some(after)) => text += &format!(", {}", errors(after)),
        _ => {}
    }
    if !report.reformatted.is_empty() {
        text += &format!(", {} reformatted", pluralize(report.reformatted.len(), "file"));
    }
    Some(text)
}

/// The objection to the change, as the rest of a sentence; safe to print. `None`: there is none.
pub fn verdict_text(report: &GateReport, style: &OutputStyle) -> Option<String> {
    if let Some(step) = report.steps.iter().find(|step| has_broken(step)) {
        return Some(format!("{} {}", command(step, style), ending(&step.result, style)));
    }
    let linter = report.steps.iter().rev().find(|step| step.step == GateStep::Linter);
    let linter = linter.map_or_else(|| "the linter".to_string(), |step| command(step, style));
    match (report.errors_before, report.errors_after) {
        (Some(before), Some(after)) if after > before => {
            Some(format!("{linter} went from {before} to {}", errors(after)))
        }
        _ if report.unclear => Some(format!("{linter} failed, and named no error that relay understands")),
        (Some(before), Some(after)) if report.new_count > 0 => {
            let arrow = style.glyph(Glyph::Arrow);
            let new = pluralize(report.new_count, "new error");
            Some(format!("{linter} has {new} ({before} {arrow} {})", errors(after)))
        }
        (None, Some(after)) if after > 0 => Some(format!("{linter} reports {}", errors(after))),
        _ => {
            let failed = last_failed(report)?;
            // A linter's exit code just means that there are errors; counted ones are no news.
            let counted = failed.step == GateStep::Linter && report.errors_after.is_some();
            (!counted && failed.step != GateStep::Baseline)
                .then(|| format!("{} {}", command(failed, style), ending(&failed.result, style)))
        }
    }
}

/// Everything the commands printed, as far as it was kept.
pub fn full_output(report: &GateReport, style: &OutputStyle) -> String {
    let mut out = String::new();
    for step in &report.steps {
        let name = step_name(step.step);
        let head = format!("{name}: {} {}", style.safe(&step.command), ending(&step.result, style));
        let _ = writeln!(out, "\n{}", style.paint(PaintRole::Strong, &style.wrap(&head, 2)));
        let text = step.output.trim_end();
        match text.is_empty() {
            true => out += &format!("{}\n", style.paint(PaintRole::Dim, "(it printed nothing)")),
            false => out += &format!("{}\n", style.block(text)),
        }
        if step.left_behind > 0 {
            let were = if step.left_behind == 1 { "was" } else { "were" };
            let processes = pluralize(step.left_behind, "process");
            let left = format!("it left {processes} behind, which {were} ended");
            let _ = writeln!(out, "{}", style.paint(PaintRole::Dim, &style.wrap(&left, 2)));
        }
    }
    out
}

/// That a command ran, how it ended and how long it took, for verbose output.
pub fn step_summary(step: &StepReport, style: &OutputStyle) -> String {
    let (name, took) = (step_name(step.step), human_duration(step.took));
    outcome::detail_line(style, &format!("{name}: {} {} in {took}", step.command, step.result_phrase()))
}

/// The last few lines of a command's output.
pub fn output_tail(output: &str, style: &OutputStyle) -> String {
    let lines: Vec<&str> = output.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines.iter().skip(lines.len().saturating_sub(LINES));
    last.map(|line| style.wrap_if_narrow(&format!("    {}", style.excerpt(line, MESSAGE)), 4) + "\n")
        .collect()
}

/// As the configuration calls it.
pub fn step_name(step: GateStep) -> &'static str {
    match step {
        GateStep::PreCommand => "preCommand",
        GateStep::Baseline => "linter, before",
        GateStep::PostCommand => "postCommand",
        GateStep::Linter => "linter",
    }
}

/// `40 ms`, `3.2 s`, `2 min 5 s`.
pub fn human_duration(took: Duration) -> String {
    let (seconds, millis) = (took.as_secs(), took.subsec_millis());
    match seconds {
        0 if millis < 100 => format!("{millis} ms"),
        0..60 => format!("{seconds}.{} s", millis / 100),
        _ => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

/// The first new errors; without any, the last lines of the command that failed.
fn evidence(report: &GateReport, style: &OutputStyle) -> String {
    let mut out = String::new();
    let listed = &report.new_errors[..report.new_errors.len().min(ERRORS)];
    for error in listed {
        let place = place(error, style);
        let message = style.clip(&error.message, MESSAGE);
        let gap = if place.is_empty() { "" } else { "  " };
        out += &(style.wrap(&format!("    {place}{gap}{message}"), 6) + "\n");
    }
    let more = report.new_count.saturating_sub(listed.len() as u64);
    if more > 0 {
        let text = match listed.is_empty() {
            true => pluralize(more, "new error"),
            false => format!("{} {}", style.glyph(Glyph::More), pluralize(more, "more new error")),
        };
        out += &format!("{}\n", style.paint(PaintRole::Dim, &style.wrap(&format!("    {text}"), 6)));
    }
    // Errors that were only counted have their words in what was printed.
    if !listed.is_empty() {
        return out;
    }
    let output = last_failed(report).map_or("", |step| step.output.as_str());
    let lines: Vec<&str> = output.lines().filter(|line| !line.trim().is_empty()).collect();
    for line in &lines[lines.len().saturating_sub(LINES)..] {
        out += &format!("    {}\n", style.excerpt(line, style.columns().saturating_sub(4)));
    }
    out
}

fn last_failed(report: &GateReport) -> Option<&StepReport> {
    report.steps.iter().rev().find(|step| step.result != StepResult::Exited { code: 0 })
}

/// `src/cart.ts:31`
fn place(error: &Diagnostic, style: &OutputStyle) -> String {
    let path = style.path(&error.file, style.columns() / 2);
    match (path.is_empty(), error.line) {
        (true, _) => String::new(),
        (false, 0) => path,
        (false, line) => format!("{path}:{line}"),
    }
}

/// A command that could not give a verdict.
fn has_broken(step: &StepReport) -> bool {
    match step.result {
        StepResult::Exited { code } => {
            code != 0 && matches!(step.step, GateStep::PreCommand | GateStep::PostCommand)
        }
        _ => step.step != GateStep::Baseline,
    }
}

fn command(step: &StepReport, style: &OutputStyle) -> String {
    style.clip(&step.command, style.columns() / 2)
}

fn ending(result: &StepResult, style: &OutputStyle) -> String {
    match result {
        StepResult::Exited { code: 0 } => "passed".to_string(),
        StepResult::Exited { code } => format!("ended with code {code}"),
        StepResult::Signalled { signal } => format!("was ended by signal {signal}"),
        StepResult::TooLong => "took too long and was ended".to_string(),
        StepResult::Silent => "was silent for too long and was ended".to_string(),
        StepResult::Stopped => "was stopped".to_string(),
        StepResult::CannotRun { text } => format!("cannot run: {}", style.clip(text, MESSAGE)),
    }
}

fn errors(number: u64) -> String {
    pluralize(number, "error")
}
