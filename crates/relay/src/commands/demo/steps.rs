//! The steps of the tour. Each runs its commands, and checks that what it says is so.

use serde_json::Value;

use super::kill;
use super::stage::{DemoStage, ensure};
use crate::{CommandFailure, CommandResult, Exit};

/// One thing to see.
pub(super) struct DemoStep {
    /// What it is about, in a sentence or two.
    pub(super) intro: &'static str,
    /// Shows it. A failure says what is not as it should be.
    pub(super) run: fn(&mut DemoStage<'_>) -> CommandResult<()>,
}

/// All of them, in their order: each begins where the one before ended.
pub(super) const STEPS: &[DemoStep] = &[
    DemoStep {
        intro: "A project is set up once. What relay prints then are the instructions for your model: paste them \
               into a new chat. The project's name in them carries a key, so that nobody else's answer passes for \
               one of yours.",
        run: show_prompt,
    },
    DemoStep {
        intro: "The project gets a linter: relaycode.config.json now says \"linter\": \"sh check.sh\". What a project \
               wants to run is shown to you first, and runs only when you have said yes to exactly that.",
        run: show_trust,
    },
    DemoStep {
        intro: "An answer as a model writes it: a new file and two edits. It has the key, every edit fits in one \
               place, and the linter finds nothing: relay applies it and has no question.",
        run: show_good_answer,
    },
    DemoStep {
        intro: "This answer was written for an older version of a file. relay does not guess: it takes none of it, \
               says what is there instead, and writes a prompt with which the model can put it right.",
        run: show_stale_answer,
    },
    DemoStep {
        intro: "This one fits, but the linter finds an error in what comes out. -y says yes to ordinary questions, \
               not to that: the files are as they were.",
        run: show_gate,
    },
    DemoStep {
        intro: "What was applied is recorded. What was refused or put back left nothing.",
        run: show_log,
    },
    DemoStep {
        intro: "Somebody edits src/cart.ts by hand, and then the change of step 3 is taken back, in all of its \
               files. The later edit stays.",
        run: show_revert,
    },
    DemoStep {
        intro: "relay is killed in the middle of a change, while the linter runs. The next command that writes \
               first puts everything back; `relay recover` does only that.",
        run: show_recovery,
    },
];

const CONFIG: &str = "relaycode.config.json";
const CART: &str = "src/cart.ts";
const FORMAT: &str = "src/format.ts";
const MONEY: &str = "src/money.ts";
const RECEIPT: &str = "src/receipt.ts";

/// Lines of the prompt that are shown of its beginning.
const PROMPT_LINES: usize = 3;
/// Lines of a repair prompt that are shown: not more than a screen.
const REPAIR_LINES: usize = 24;

fn show_prompt(stage: &mut DemoStage<'_>) -> CommandResult<()> {
    stage.print_command_line(&["init"]);
    let said = stage.run_relay(&["init"], Exit::Done)?;
    stage.print(&said.err);
    let lines: Vec<&str> = said.out.lines().collect();
    let named = |line: &&str| line.starts_with("projectId: ");
    let at = lines
        .iter()
        .position(named)
        .ok_or_else(|| CommandFailure::unexpected("the prompt names no project"))?;
    stage.project_key = lines[at].trim_start_matches("projectId: ").to_string();
    // The fence above it, and as far as its own.
    let block = at.saturating_sub(1);
    let end = lines[at..].iter().position(|line| line.starts_with("```")).map_or(lines.len(), |n| at + n + 1);
    let head = PROMPT_LINES.min(block);
    stage.print_quoted(lines[..head].iter().copied());
    stage.print_omitted(block - head, " on how to write edits");
    stage.print_quoted(lines[block..end].iter().copied());
    ensure(stage.project_key.starts_with("shop."), "the project's name has no key")?;
    ensure(stage.scratch.exists(CONFIG), "there is no relaycode.config.json")
}

fn show_trust(stage: &mut DemoStage<'_>) -> CommandResult<()> {
    let config = stage.scratch.read(CONFIG)?;
    let linted = config.replace("\"linter\": \"\"", "\"linter\": \"sh check.sh\"");
    ensure(linted != config, "relaycode.config.json has no place for a linter")?;
    stage.scratch.write(CONFIG, &linted)?;
    stage.run_and_show(&["trust", "-y"], Exit::Done)?;
    Ok(())
}

fn show_good_answer(stage: &mut DemoStage<'_>) -> CommandResult<()> {
    stage.save_answer("good.md", include_str!("answers/good.md"))?;
    stage.run_and_show(&["apply", "good.md"], Exit::Done)?;
    ensure(stage.scratch.exists(MONEY), "src/money.ts is not there")?;
    ensure(stage.scratch.read(CART)?.contains("return cents(total);"), "src/cart.ts was not changed")?;
    stage.run_and_show(&["why"], Exit::Done)?;
    let record = stage.run_relay(&["show", "1", "--json"], Exit::Done)?.out;
    let record: Value = serde_json::from_str(&record).map_err(CommandFailure::unexpected)?;
    ensure(record["records"][0]["decidedBy"] == "policy", "somebody was asked")
}

fn show_stale_answer(stage: &mut DemoStage<'_>) -> CommandResult<()> {
    let before = (stage.scratch.read(CART)?, stage.scratch.read(FORMAT)?);
    stage.save_answer("stale.md", include_str!("answers/stale.md"))?;
    stage.run_and_show(&["apply", "stale.md"], Exit::Refused)?;
    let repair = ["preview", "stale.md", "--repair", "-q"];
    stage.print_command_line(&repair);
    let said = stage.run_relay(&repair, Exit::Refused)?.out;
    let lines: Vec<&str> = said.lines().collect();
    stage.print_quoted(lines.iter().take(REPAIR_LINES).copied());
    if lines.len() > REPAIR_LINES {
        stage.print_omitted(lines.len() - REPAIR_LINES, "");
    }
    ensure(said.contains("Line 2 of the file is really:"), "the repair prompt does not say what is there")?;
    let after = (stage.scratch.read(CART)?, stage.scratch.read(FORMAT)?);
    ensure(before == after, "a refused answer changed a file")
}

fn show_gate(stage: &mut DemoStage<'_>) -> CommandResult<()> {
    let before = stage.scratch.read(CART)?;
    stage.save_answer("logged.md", include_str!("answers/logged.md"))?;
    let said = stage.run_and_show(&["apply", "logged.md", "-y"], Exit::GateFailed)?;
    ensure(contains_words(&said.both, "console.log is left"), "the linter's error is not shown")?;
    ensure(stage.scratch.read(CART)? == before, "src/cart.ts was not put back")
}

fn show_log(stage: &mut DemoStage<'_>) -> CommandResult<()> {
    stage.run_and_show(&["log"], Exit::Done)?;
    // However wide the terminal is, a line each.
    let said = stage.run_relay(&["log", "--oneline"], Exit::Done)?.out;
    ensure(said.contains("5d1c2f7e"), "the change of step 3 is not in the log")?;
    ensure(said.lines().count() == 2, "there is more in the log than the setup and one change")
}

fn show_revert(stage: &mut DemoStage<'_>) -> CommandResult<()> {
    let (was, is) = ("Math.max(total, 3)", "Math.max(total, 4)");
    let edited = stage.scratch.read(CART)?.replace(was, is);
    stage.scratch.write(CART, &edited)?;
    stage.print("\n");
    stage.print_comment(&format!("{CART}:{} now says {is}", line_of(&edited, is)?));
    stage.run_and_show(&["undo"], Exit::Done)?;
    let after = stage.scratch.read(CART)?;
    ensure(!stage.scratch.exists(MONEY) && !after.contains("cents"), "the change was not taken back")?;
    stage.print_comment(&format!("{CART}:{} still says {is}", line_of(&after, is)?));
    Ok(())
}

fn show_recovery(stage: &mut DemoStage<'_>) -> CommandResult<()> {
    let before = stage.scratch.read(FORMAT)?;
    stage.save_answer("receipt.md", include_str!("answers/receipt.md"))?;
    let words = ["apply", "receipt.md"];
    stage.print_command_line(&words);
    let pid = kill::run_and_kill(stage, &words)?;
    let halfway = stage.scratch.exists(RECEIPT) && stage.scratch.read(FORMAT)? != before;
    ensure(halfway, "relay was killed, and no file was changed yet")?;
    stage.print_comment(&format!("process {pid} was killed by SIGKILL, and its linter went with it"));
    stage.print_comment(&format!("on disk now, but in no record: {FORMAT}, changed, and {RECEIPT}, new"));
    let said = stage.run_and_show(&["recover"], Exit::Done)?;
    ensure(contains_words(&said.both, "everything was put back"), "nothing was put back")?;
    ensure(stage.scratch.read(FORMAT)? == before, "src/format.ts is not as it was")?;
    ensure(!stage.scratch.exists(RECEIPT), "src/receipt.ts is still there")?;
    stage.print_comment(&format!("{FORMAT} is as it was, {RECEIPT} is gone"));
    Ok(())
}

/// Whether a text says this, wherever its lines were broken.
fn contains_words(text: &str, words: &str) -> bool {
    text.split_whitespace().collect::<Vec<_>>().join(" ").contains(words)
}

/// The number of the line that has this.
fn line_of(text: &str, part: &str) -> CommandResult<usize> {
    let at = text.lines().position(|line| line.contains(part));
    at.map(|at| at + 1)
        .ok_or_else(|| CommandFailure::unexpected("src/cart.ts does not have the edit that was made by hand"))
}
