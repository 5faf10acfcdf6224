//! Conversations of random shape against a model with a tiny window, as the agent's own test has them: none fails for lack of room,
//! none loops, what must not be lost is there afterwards. A case is some of them, run by that test.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use relaycode_testkit::checkout;

use super::{Case, Layer, Setup};
use crate::world::World;

pub(super) struct Conversations;

/// Conversations: in a quick run, and in a full one.
const COUNT: (u64, u64) = (20, 2_000);
/// Of one case.
const BLOCK: u64 = 20;
const TEST: &str =
    "compaction::simulation::no_conversation_of_random_shape_fails_for_lack_of_room_or_loses_what_must_stay";
/// Which ones the test tries.
const RANGE: &str = "RELAY_CONVERSATIONS";

/// The numbers of conversations, the second not among them: `20..40`.
pub(super) struct ConversationRange(u64, u64);

impl Case for ConversationRange {
    fn spec(&self) -> String {
        format!("{}..{}", self.0, self.1)
    }

    fn parse(spec: &str) -> anyhow::Result<ConversationRange> {
        let form = || format!("a case is two numbers like `20..40`, not `{spec}`");
        let (from, to) = spec.split_once("..").with_context(form)?;
        let number = |text: &str| text.parse::<u64>().with_context(form);
        Ok(ConversationRange(number(from)?, number(to)?))
    }
}

/// The program with the agent's tests.
pub(super) struct AgentTests(PathBuf);

impl Setup for AgentTests {
    fn new(_: &World, _: &Path) -> anyhow::Result<AgentTests> {
        Ok(AgentTests(checkout::built_test("relaycode-agent", "it")?))
    }
}

impl Layer for Conversations {
    type Case = ConversationRange;
    type Setup = AgentTests;
    const NAME: &'static str = "context";
    const ABOUT: &'static str =
        "random conversations, tiny windows: none fails for lack of room, loops, or loses what must stay";
    const QUICK_SECONDS: u64 = 60;

    fn cases(world: &World, _: &AgentTests) -> anyhow::Result<Vec<ConversationRange>> {
        // Each seed has conversations of its own.
        let first = (world.seed - 1) * COUNT.1;
        let blocks = world.choose(COUNT.0, COUNT.1) / BLOCK;
        Ok((0..blocks).map(|at| ConversationRange(first + at * BLOCK, first + (at + 1) * BLOCK)).collect())
    }

    fn check(_: &World, tests: &AgentTests, room: &Path, range: &ConversationRange) -> anyhow::Result<u64> {
        let mut command = Command::new(&tests.0);
        command.args(["--exact", TEST]).env(RANGE, range.spec()).env("TMPDIR", room);
        let ran = command.output().context("cannot run the agent's tests")?;
        let said = String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
        ensure!(ran.status.success() && said.contains("1 passed"), "{said}");
        Ok(range.1 - range.0)
    }
}
