//! P5 and P7: paths that lead out of the project, or into what no change may touch. Nothing outside,
//! nothing of git and nothing of relay's own may change, whatever a path looks like; a refusal changes
//! nothing at all.
//!
//! A case is one path, `seed.number`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use anyhow::ensure;
use relaycode_testkit::random::Random;

use super::Layer;
use crate::relay::{self, Do};
use crate::scenario::{ScenarioId, uuid};
use crate::snapshot::Snapshot;
use crate::world::World;

pub(super) struct Paths;

/// Ways out, and ways into sealed directories. `@` stands for the outside directory: no path names a real
/// place of the machine, should one come through.
const SEEDS: &[&str] = &[
    "../outside/x.txt",
    "../../x.txt",
    "a/../../outside/x.txt",
    "./../outside/x.txt",
    "a/./../../x.txt",
    "@/x.txt",
    "@/file.txt",
    "out/x.txt",
    "out/file.txt",
    "out/sub/x.txt",
    "a/out/x.txt",
    "leaf",
    "a/leaf",
    "dangling",
    "@",
    "/@/x.txt",
    "~/x.txt",
    "$HOME/x.txt",
    "C:\\x.txt",
    "C:/x.txt",
    "\\\\host\\share\\x",
    "..\\outside\\x.txt",
    "a\\..\\..\\x",
    "file:///tmp/x",
    ".git/config",
    ".git/hooks/pre-commit",
    ".GIT/config",
    ".Git/hooks/x",
    ".git./config",
    ".git /config",
    ".g\u{200c}it/config",
    ".gi\u{131}t/config",
    "GIT~1/config",
    "git~1/hooks/x",
    ".git::$INDEX_ALLOCATION/config",
    "a/.git/config",
    "a/.GIT/hooks/x",
    "\u{ff0e}git/config",
    ".git\\config",
    "./.git/config",
    "a/../.git/config",
    ".relaycode/lock",
    ".relaycode/x.yml",
    ".RELAYCODE/x.yml",
    ".relaycode./x",
    ".relaycode /x",
    "a/../.relaycode/index",
    ".relaycode/tx/x",
    "con",
    "aux.txt",
    "nul",
    "com1.txt",
    "a/prn",
    "x.txt.",
    "x.txt ",
    " x.txt",
    "a//b.txt",
    "a/",
    "/",
    ".",
    "..",
    "",
    "a/..",
    "a\u{0}b",
    "a\nb.txt",
    "a\rb.txt",
    "a\tb.txt",
    "\u{1b}[2Jx.txt",
    "\u{202e}txt.x",
    "a\u{300}.txt",
    "%2e%2e/outside/x.txt",
    "..%2foutside/x.txt",
    "\u{2025}/outside/x.txt",
    "\u{ff0e}\u{ff0e}/outside/x",
    "a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t/u/v/w/x/y/z.txt",
    "fifo",
    "directory",
    "directory/",
    "plain.txt/x",
    "hard.txt",
];

const PREFIXES: &[&str] = &[
    "",
    "",
    "",
    "./",
    "a/",
    "a/../",
    "@/",
    "/@/",
    "out/",
    "../project/",
    "a/b/../../",
    "\u{feff}",
    " ",
    "\"",
    "`",
];
const SUFFIXES: &[&str] =
    &["", "", "", "/", "/.", "/..", " ", ".", "\u{200b}", ":stream", "::$DATA", "\"", "\t", "%00", "~1"];

impl Layer for Paths {
    type Case = ScenarioId;
    type Setup = ();
    const NAME: &'static str = "paths";
    const ABOUT: &'static str =
        "hostile paths: nothing outside, in .git or in .relaycode is written; a refusal changes nothing";
    const QUICK_SECONDS: u64 = 10;

    fn cases(world: &World, (): &()) -> anyhow::Result<Vec<ScenarioId>> {
        Ok((0..world.choose(240, 2_000)).map(|number| world.scenario(number)).collect())
    }

    fn check(world: &World, (): &(), room: &Path, case: &ScenarioId) -> anyhow::Result<u64> {
        run(world, room, *case).map(|()| 1)
    }
}

/// First the seeds as they are, then variations.
fn path(random: &mut Random, number: u64, outside: &Path) -> String {
    let at = usize::try_from(number).unwrap_or(0);
    let path = match SEEDS.get(at) {
        Some(path) => (*path).to_owned(),
        None if random.once_in(12) => "x".repeat(200 + random.below(900)),
        None if random.once_in(12) => "d/".repeat(60 + random.below(600)) + "x.txt",
        None => format!("{}{}{}", random.pick(PREFIXES), random.pick(SEEDS), random.pick(SUFFIXES)),
    };
    path.replace('@', &outside.display().to_string())
}

fn run(world: &World, room: &Path, id: ScenarioId) -> anyhow::Result<()> {
    let mut random = id.random();
    let project = relay::furnish(room)?;
    let outside = room.join("outside");
    fs::create_dir_all(outside.join("sub"))?;
    fs::write(outside.join("file.txt"), b"outside\n")?;
    fs::create_dir_all(project.join(".git/hooks"))?;
    fs::write(project.join(".git/config"), b"[core]\n")?;
    fs::create_dir_all(project.join("a"))?;
    fs::create_dir_all(project.join("directory"))?;
    fs::write(project.join("plain.txt"), b"plain\n")?;
    for (link, target) in
        [("out", ""), ("a/out", ""), ("leaf", "file.txt"), ("a/leaf", "file.txt"), ("dangling", "new.txt")]
    {
        symlink(outside.join(target), project.join(link))?;
    }
    fs::hard_link(project.join("plain.txt"), outside.join("hard.txt"))?;
    fs::hard_link(project.join("plain.txt"), project.join("hard.txt"))?;
    let path = path(&mut random, id.number, &outside);
    let block = match random.below(3) {
        0 => format!("```txt // {path}\n//TODO: delete this file\n```\n"),
        1 => {
            format!("```json // rename-file\n{}\n```\n", serde_json::json!({"from": "plain.txt", "to": path}))
        }
        _ => format!("```txt // {path}\nhostile\n```\n"),
    };
    let answer = format!("{block}\n```yaml\nprojectId: torture\nuuid: {}\n```\n", uuid(&mut random));
    fs::write(room.join("answer.md"), &answer)?;
    let (far, near) = (Snapshot::of(&outside)?, Snapshot::of(&project)?);
    let git = Snapshot::of(&project.join(".git"))?;
    let ran = relay::run(&world.relay, room, &Do::Apply)?;
    let told = || format!("{path:?}: {}", ran.told());
    let now = Snapshot::of(&outside)?;
    ensure!(now == far, "OUTSIDE WAS WRITTEN by {}: {}", told(), now.differences(&far));
    ensure!(Snapshot::of(&project.join(".git"))? == git, "GIT WAS WRITTEN by {}", told());
    ensure!(ran.signal.is_none() && ran.code != Some(101), "it broke down: {}", told());
    let tree = Snapshot::of(&project)?;
    ensure!(
        ran.code == Some(0) || tree == near,
        "refused, but something changed: {}",
        tree.differences(&near)
    );
    ensure!(
        !tree.entries.keys().any(|path| path.to_string_lossy().to_lowercase().contains(".relaycode")),
        "a name that is relay's own on some file systems was made by {}",
        told()
    );
    Ok(())
}
