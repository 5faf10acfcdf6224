//! What a gate said against a change, as a text to paste back to the change's author.
//!
//! Bounded, and without secrets: commands print what they like.

use std::fmt::Write;

use relaycode_text::plural::pluralize;
use relaycode_text::redact::redact;

use super::{GateReport, StepResult};

/// New errors that are quoted.
const ERRORS: usize = 20;
/// Lines of a command's output that are quoted where no errors are known.
const LINES: usize = 30;
/// Characters of a quoted line.
const LINE_CHARS: usize = 240;

/// The text.
pub fn gate_repair_prompt(report: &GateReport) -> String {
    let failed = report.steps.iter().rev().find(|step| step.result != StepResult::Exited { code: 0 });
    let command = failed.or(report.steps.last()).map_or("the checks", |step| step.command.as_str());
    let mut out =
        format!("Your change was tried and taken back, because `{}` does not accept it", one_line(command));
    match (report.errors_before, report.errors_after) {
        (Some(before), Some(after)) => {
            let were = if before == 1 { "was" } else { "were" };
            let before = pluralize(before, "error");
            let _ = writeln!(out, ": there {were} {before} before it and {after} with it.");
        }
        _ => out += ".\n",
    }
    list_errors(&mut out, report, ("These are new:", failed.map_or("", |step| step.output.as_str())));
    out += "\nNothing of the change is in the project now. Send all of it again, with this mended; the same uuid may \
            be used.\n";
    out
}

/// What a check says of the changes of an agent's prompt, which stay, for the model; `None`: nothing that is new.
pub fn check_prompt(report: &GateReport) -> Option<String> {
    let step = report.steps.last()?;
    let count = report.errors_after.filter(|errors| *errors > 0 && report.new_count > 0)?;
    let mut out = format!(
        "(relay: the project's check `{}` {} after your changes: {}",
        one_line(&step.command),
        step.result_phrase(),
        pluralize(usize::try_from(count).unwrap_or(usize::MAX), "error")
    );
    let (end, heading) = match report.errors_before {
        Some(_) => (". Mend what your changes broke.)\n", "These are new:"),
        None => (
            "; which of them were there before is not known. Mend what your changes broke, and leave the others.)\n",
            "These are there now:",
        ),
    };
    out += end;
    list_errors(&mut out, report, (heading, &step.output));
    Some(out)
}

fn list_errors(out: &mut String, report: &GateReport, (heading, output): (&str, &str)) {
    if report.new_errors.is_empty() {
        quote_output(out, output);
    } else {
        let _ = writeln!(out, "\n{heading}\n");
        for error in report.new_errors.iter().take(ERRORS) {
            let place =
                if error.line > 0 { format!("{}:{}", error.file, error.line) } else { error.file.clone() };
            let gap = if place.is_empty() { "" } else { "  " };
            let _ = writeln!(out, "- {}{gap}{}", one_line(&place), one_line(&error.message));
        }
        let quoted = u64::try_from(report.new_errors.len().min(ERRORS)).unwrap_or(u64::MAX);
        let more = report.new_count.saturating_sub(quoted);
        if more > 0 {
            let _ = writeln!(out, "- and {more} more");
        }
    }
}

/// The end of what a command printed.
fn quote_output(out: &mut String, output: &str) {
    let lines: Vec<&str> = output.lines().filter(|line| !line.trim().is_empty()).collect();
    if lines.is_empty() {
        return;
    }
    *out += "\nIt printed, at its end:\n\n";
    for line in &lines[lines.len().saturating_sub(LINES)..] {
        // Indented text is code in every form of Markdown, whatever stands in it.
        let _ = writeln!(out, "    {}", one_line(line));
    }
}

/// A foreign line: bounded, without secrets and control characters.
fn one_line(text: &str) -> String {
    let plain: String = text.chars().filter(|c| !c.is_control() || *c == '\t').take(LINE_CHARS).collect();
    redact(&plain).into_owned()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::gate::{Diagnostic, GateStep, StepReport};

    fn report() -> GateReport {
        let step = StepReport {
            step: GateStep::Linter,
            command: "tsc --noEmit".to_string(),
            result: StepResult::Exited { code: 2 },
            took: Duration::from_secs(1),
            output: "first\n\nlast \x1b[31mline\n".to_string(),
            left_behind: 0,
        };
        GateReport {
            steps: vec![step],
            errors_before: Some(2),
            errors_after: Some(5),
            new_errors: vec![Diagnostic {
                file: "src/cart.ts".to_string(),
                line: 31,
                code: "TS2322".to_string(),
                message: "Type 'string' is not assignable to type 'number'".to_string(),
            }],
            new_count: 3,
            ..GateReport::default()
        }
    }

    #[test]
    fn new_errors_are_quoted_and_counted() {
        let text = gate_repair_prompt(&report());
        for part in [
            "`tsc --noEmit`",
            "2 errors before it and 5",
            "- src/cart.ts:31  Type",
            "- and 2 more",
            "same uuid",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn without_known_errors_the_end_of_the_output_is_quoted_and_nothing_in_it_is_obeyed() {
        let text = gate_repair_prompt(&GateReport { new_errors: Vec::new(), new_count: 0, ..report() });
        assert!(text.contains("    first\n    last [31mline\n"), "{text}");
        assert!(!text.contains('\x1b'));
    }
}
