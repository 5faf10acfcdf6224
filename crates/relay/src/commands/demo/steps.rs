//! The steps of the tour. Each runs its commands, and checks that what it says is so.

use serde_json::Value;

use crate::failure::{Exit, Failure};

use super::killed;
use super::stage::{Stage, holds, unlike};

/// One thing to see.
pub(super) struct Step {
    /// What it is about, in a sentence or two.
    pub(super) says: &'static str,
    /// Shows it. A failure says what is not as it should be.
    pub(super) run: fn(&mut Stage<'_>) -> Result<(), Failure>,
}

/// All of them, in their order: each begins where the one before ended.
pub(super) const STEPS: &[Step] = &[
    Step {
        says: "A project is set up once. What relay prints then are the instructions for your model: paste them \
               into a new chat. The project's name in them carries a key, so that nobody else's answer passes for \
               one of yours.",
        run: prompt,
    },
    Step {
        says: "The project gets a linter: relaycode.config.json now says \"linter\": \"sh check.sh\". What a project \
               wants to run is shown to you first, and runs only when you have said yes to exactly that.",
        run: trust,
    },
    Step {
        says: "An answer as a model writes it: a new file and two edits. It has the key, every edit fits in one \
               place, and the linter finds nothing: relay applies it and has no question.",
        run: good,
    },
    Step {
        says: "This answer was written for an older version of a file. relay does not guess: it takes none of it, \
               says what is there instead, and writes a prompt with which the model can put it right.",
        run: stale,
    },
    Step {
        says: "This one fits, but the linter finds an error in what comes out. -y says yes to ordinary questions, \
               not to that: the files are as they were.",
        run: gate,
    },
    Step { says: "What was applied is recorded. What was refused or put back left nothing.", run: log },
    Step {
        says: "Somebody edits src/cart.ts by hand, and then the change of step 3 is taken back, in all of its \
               files. The later edit stays.",
        run: revert,
    },
    Step {
        says: "relay is killed in the middle of a change, while the linter runs. The next command that writes \
               first puts everything back; `relay recover` does only that.",
        run: recovery,
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

fn prompt(stage: &mut Stage<'_>) -> Result<(), Failure> {
    stage.types(&["init"]);
    let said = stage.runs(&["init"], Exit::Done)?;
    stage.print(&said.err);
    let lines: Vec<&str> = said.out.lines().collect();
    let named = |line: &&str| line.starts_with("projectId: ");
    let at = lines.iter().position(named).ok_or_else(|| unlike("the prompt names no project"))?;
    stage.named = lines[at].trim_start_matches("projectId: ").to_string();
    // The fence above it, and as far as its own.
    let block = at.saturating_sub(1);
    let end = lines[at..].iter().position(|line| line.starts_with("```")).map_or(lines.len(), |n| at + n + 1);
    let head = PROMPT_LINES.min(block);
    stage.quotes(lines[..head].iter().copied());
    stage.leaves_out(block - head, " on how to write edits");
    stage.quotes(lines[block..end].iter().copied());
    holds(stage.named.starts_with("shop."), "the project's name has no key")?;
    holds(stage.scratch.has(CONFIG), "there is no relaycode.config.json")
}

fn trust(stage: &mut Stage<'_>) -> Result<(), Failure> {
    let config = stage.scratch.read(CONFIG)?;
    let linted = config.replace("\"linter\": \"\"", "\"linter\": \"sh check.sh\"");
    holds(linted != config, "relaycode.config.json has no place for a linter")?;
    stage.scratch.write(CONFIG, &linted)?;
    stage.shows(&["trust", "-y"], Exit::Done)?;
    Ok(())
}

fn good(stage: &mut Stage<'_>) -> Result<(), Failure> {
    stage.saves("good.md", include_str!("answers/good.md"))?;
    stage.shows(&["apply", "good.md"], Exit::Done)?;
    holds(stage.scratch.has(MONEY), "src/money.ts is not there")?;
    holds(stage.scratch.read(CART)?.contains("return cents(total);"), "src/cart.ts was not changed")?;
    stage.shows(&["why"], Exit::Done)?;
    let record = stage.runs(&["show", "1", "--json"], Exit::Done)?.out;
    let record: Value = serde_json::from_str(&record).map_err(Failure::unexpected)?;
    holds(record["records"][0]["decidedBy"] == "policy", "somebody was asked")
}

fn stale(stage: &mut Stage<'_>) -> Result<(), Failure> {
    let before = (stage.scratch.read(CART)?, stage.scratch.read(FORMAT)?);
    stage.saves("stale.md", include_str!("answers/stale.md"))?;
    stage.shows(&["apply", "stale.md"], Exit::Refused)?;
    let repair = ["preview", "stale.md", "--repair", "-q"];
    stage.types(&repair);
    let said = stage.runs(&repair, Exit::Refused)?.out;
    let lines: Vec<&str> = said.lines().collect();
    stage.quotes(lines.iter().take(REPAIR_LINES).copied());
    if lines.len() > REPAIR_LINES {
        stage.leaves_out(lines.len() - REPAIR_LINES, "");
    }
    holds(said.contains("Line 2 of the file is really:"), "the repair prompt does not say what is there")?;
    let after = (stage.scratch.read(CART)?, stage.scratch.read(FORMAT)?);
    holds(before == after, "a refused answer changed a file")
}

fn gate(stage: &mut Stage<'_>) -> Result<(), Failure> {
    let before = stage.scratch.read(CART)?;
    stage.saves("logged.md", include_str!("answers/logged.md"))?;
    let said = stage.shows(&["apply", "logged.md", "-y"], Exit::GateFailed)?;
    holds(says(&said.both, "console.log is left"), "the linter's error is not shown")?;
    holds(stage.scratch.read(CART)? == before, "src/cart.ts was not put back")
}

fn log(stage: &mut Stage<'_>) -> Result<(), Failure> {
    stage.shows(&["log"], Exit::Done)?;
    // However wide the terminal is, a line each.
    let said = stage.runs(&["log", "--oneline"], Exit::Done)?.out;
    holds(said.contains("5d1c2f7e"), "the change of step 3 is not in the log")?;
    holds(said.lines().count() == 2, "there is more in the log than the setup and one change")
}

fn revert(stage: &mut Stage<'_>) -> Result<(), Failure> {
    let (was, is) = ("Math.max(total, 3)", "Math.max(total, 4)");
    let edited = stage.scratch.read(CART)?.replace(was, is);
    stage.scratch.write(CART, &edited)?;
    stage.print("\n");
    stage.says(&format!("{CART}:{} now says {is}", line_of(&edited, is)?));
    stage.shows(&["revert"], Exit::Done)?;
    let after = stage.scratch.read(CART)?;
    holds(!stage.scratch.has(MONEY) && !after.contains("cents"), "the change was not taken back")?;
    stage.says(&format!("{CART}:{} still says {is}", line_of(&after, is)?));
    Ok(())
}

fn recovery(stage: &mut Stage<'_>) -> Result<(), Failure> {
    let before = stage.scratch.read(FORMAT)?;
    stage.saves("receipt.md", include_str!("answers/receipt.md"))?;
    let words = ["apply", "receipt.md"];
    stage.types(&words);
    let pid = killed::in_the_middle(stage, &words)?;
    let halfway = stage.scratch.has(RECEIPT) && stage.scratch.read(FORMAT)? != before;
    holds(halfway, "relay was killed, and no file was changed yet")?;
    stage.says(&format!("process {pid} was killed by SIGKILL, and its linter went with it"));
    stage.says(&format!("on disk now, but in no record: {FORMAT}, changed, and {RECEIPT}, new"));
    let said = stage.shows(&["recover"], Exit::Done)?;
    holds(says(&said.both, "everything was put back"), "nothing was put back")?;
    holds(stage.scratch.read(FORMAT)? == before, "src/format.ts is not as it was")?;
    holds(!stage.scratch.has(RECEIPT), "src/receipt.ts is still there")?;
    stage.says(&format!("{FORMAT} is as it was, {RECEIPT} is gone"));
    Ok(())
}

/// Whether a text says this, wherever its lines were broken.
fn says(text: &str, words: &str) -> bool {
    text.split_whitespace().collect::<Vec<_>>().join(" ").contains(words)
}

/// The number of the line that has this.
fn line_of(text: &str, part: &str) -> Result<usize, Failure> {
    let at = text.lines().position(|line| line.contains(part));
    at.map(|at| at + 1).ok_or_else(|| unlike("src/cart.ts does not have the edit that was made by hand"))
}
