//! P6: poisoned repositories, and every command of relay in them, with a log of every program that is
//! started. Without trust that is relay itself and a hardened git, and nothing else; with trust it is
//! exactly what was trusted.
//!
//! A case is `poison:root`, `poison:sub`, `poison:root-y`, `poison:sub-y`, or `trusted:FORM`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Context, bail, ensure};

use super::{Layer, Setup, shuffled};
use crate::execs::{self, Allowed, Exec};
use crate::poisons::{self, Ground};
use crate::strace;
use crate::world::World;

pub(super) struct Poisoned;

/// Where relay is started, and whether it is told yes.
const VARIANTS: &[&str] = &["root", "sub", "root-y", "sub-y"];

/// The forms of the configuration that can be trusted.
const FORMS: &[&str] = &["json", "flat", "older", "ts", "hooks"];

/// Every command, in an order in which the later ones find something. `-y` stands for the variant's yes,
/// `A` for the answer, `F` for a file of the project.
const COMMANDS: &[&str] = &[
    "config",
    "config check",
    "config schema",
    "doctor",
    "log",
    "prompt",
    "prompt F",
    "prompt --copy",
    "preview",
    "preview A",
    "preview A --repair --json",
    "apply",
    "apply A --dry-run",
    "apply A -y",
    "apply A -y --allow near,guarded,hidden,syntax,placeholder,mass-deletion,gate",
    "log --json",
    "log --oneline --file F",
    "show --diff",
    "why",
    "blame F",
    "trust",
    "trust --json",
    "watch -y",
    "git commit -y",
    "git commit -y --with-edits -m message",
    "revert -y",
    "revert -y --markers",
    "recover",
    "recover --keep",
    "init",
    "config show --json",
    "trust",
    "apply A -y",
    "git commit -y",
    "demo --auto",
    "completions bash",
];

impl Setup for Allowed {
    fn new(world: &World, _: &Path) -> anyhow::Result<Allowed> {
        Allowed::new(&world.relay)
    }
}

impl Layer for Poisoned {
    type Case = String;
    type Setup = Allowed;
    const NAME: &'static str = "poison";
    const ABOUT: &'static str =
        "poisoned repositories x every command, under a log of programs: nothing runs that was not trusted";
    const QUICK_SECONDS: u64 = 15;

    fn missing(_: &World) -> Option<String> {
        strace::missing()
    }

    fn cases(world: &World, _: &Allowed) -> anyhow::Result<Vec<String>> {
        let variants = |poison: &poisons::Poison| {
            let name = poison.name;
            VARIANTS.iter().map(move |variant| format!("{name}:{variant}"))
        };
        let mut cases = shuffled(poisons::all().into_iter().flat_map(variants).collect(), world.seed);
        // The programs that must run come first: they show that the log sees what is started.
        cases.splice(0..0, FORMS.iter().map(|form| format!("trusted:{form}")));
        Ok(cases)
    }

    fn check(world: &World, allowed: &Allowed, room: &Path, case: &String) -> anyhow::Result<u64> {
        run(world, allowed, room, case)
    }

    fn note(_: &World, _: &Allowed, _: &[String]) -> Option<String> {
        let (poisons, variants, commands) = (poisons::all().len(), VARIANTS.len(), COMMANDS.len());
        Some(format!("{poisons} poisons, {variants} variants, {commands} commands each"))
    }
}

fn run(world: &World, allowed: &Allowed, room: &Path, case: &str) -> anyhow::Result<u64> {
    let (name, variant) = case.split_once(':').with_context(|| format!("`{case}` is no case"))?;
    if name == "trusted" {
        return trusted(world, allowed, room, variant);
    }
    let poison = poisons::all().into_iter().find(|poison| poison.name == name);
    let poison = poison.with_context(|| format!("there is no poison `{name}`"))?;
    ensure!(VARIANTS.contains(&variant), "there is no variant `{variant}`");
    let ground = Ground::prepare(room, &world.relay)?;
    (poison.spread)(&ground).context("the poison cannot be spread")?;
    ensure!(!ground.mark().exists(), "spreading the poison ran it already");
    let place = Place::of(&ground, poison.path, variant);
    for line in COMMANDS {
        let execs = place.run(world, line)?;
        for exec in &execs {
            if !(line.starts_with("demo") && is_of_the_tour(exec, &ground.room)) {
                allowed.judge(exec).with_context(|| format!("`relay {line}`"))?;
            }
        }
        if ground.mark().exists() {
            bail!("`relay {line}` RAN THE POISON: {}", fs::read_to_string(ground.mark())?);
        }
    }
    Ok(COMMANDS.len() as u64)
}

/// The tour has its own project and gate, far from the poison: a shell script and what that needs.
fn is_of_the_tour(exec: &Exec, room: &Path) -> bool {
    let path = Path::new(&exec.path);
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    ["sh", "grep", "sed", "sleep"].contains(&name) && !path.starts_with(room)
}

/// Where relay is started.
struct Place<'g> {
    ground: &'g Ground,
    path: String,
    below: bool,
    yes: bool,
}

impl<'g> Place<'g> {
    fn of(ground: &'g Ground, path: &str, variant: &str) -> Place<'g> {
        let own = std::env::var("PATH").unwrap_or_default();
        Place {
            ground,
            path: path.replace('@', &own),
            below: variant.starts_with("sub"),
            yes: variant.ends_with("-y"),
        }
    }

    /// Runs relay; returns what it started, without relay itself.
    fn run(&self, world: &World, line: &str) -> anyhow::Result<Vec<Exec>> {
        let room = &self.ground.room;
        let directory =
            if self.below { self.ground.project.join("sub") } else { self.ground.project.clone() };
        let word = |word: &str| match word {
            "A" => Some(room.join("answer.md").display().to_string()),
            "F" if self.below => Some("b.txt".to_owned()),
            "F" => Some("a.txt".to_owned()),
            "-y" if !self.yes => None,
            word => Some(word.to_owned()),
        };
        let words: Vec<String> = line.split(' ').filter_map(word).collect();
        let (execs, ran) = execs::logged(&world.relay, room, &directory, &self.path, &words)?;
        let code = ran.code.with_context(|| format!("`relay {line}`: {}", ran.told()))?;
        ensure!(code < 101, "`relay {line}` broke down: {}", ran.told());
        ensure!(!execs.is_empty(), "the log is empty: {}", ran.told());
        Ok(execs)
    }
}

/// A project whose commands are trusted: exactly they run, in order, and nothing else; and what is changed
/// afterwards does not.
fn trusted(world: &World, allowed: &Allowed, room: &Path, form: &str) -> anyhow::Result<u64> {
    let ground = Ground::prepare(room, &world.relay)?;
    let ran = room.join("ran");
    let place = Place::of(&ground, "@", "root-y");
    let command = |word: &str| format!("echo {word} >> {}", ran.display());
    let said = || fs::read_to_string(&ran).unwrap_or_default().replace('\n', " ");
    if form == "hooks" {
        return trusted_hook(world, &ground, &place, &command("hook"), &said);
    }
    let (pre, lint, post) = (command("pre"), command("lint"), command("post"));
    let nested = format!(
        r#"{{"projectId": "app", "patch": {{"preCommand": "{pre}", "linter": "{lint}", "postCommand": "{post}"}}}}"#
    );
    let (name, text) = match form {
        "json" => ("relaycode.config.json", nested),
        "older" => ("relay.config.json", nested),
        "ts" => ("relaycode.config.ts", format!("export default {nested};\n")),
        "flat" => (
            "relaycode.config.json",
            format!(
                r#"{{"projectId": "app", "preCommand": "{pre}", "linter": "{lint}", "postCommand": "{post}"}}"#
            ),
        ),
        _ => bail!("there is no form `{form}`"),
    };
    fs::write(ground.project.join(name), &text)?;
    place.run(world, "apply A -y")?;
    ensure!(said().is_empty(), "before it was trusted there ran {}", said());
    place.run(world, "trust -y")?;
    ensure!(said().is_empty(), "trusting ran {}", said());
    let execs = place.run(world, "apply A -y")?;
    ensure!(said() == "pre lint post lint ", "there ran {:?}", said());
    let shells: Vec<&Exec> = execs.iter().filter(|exec| allowed.judge(exec).is_err()).collect();
    let wanted = [&pre, &lint, &post, &lint];
    ensure!(shells.len() == wanted.len(), "other programs were started: {shells:?}");
    for (exec, line) in shells.iter().zip(wanted) {
        ensure!(exec.path == "/bin/sh" && exec.words == ["/bin/sh", "-c", "--", line.as_str()], "{exec:?}");
    }
    place.run(world, "revert -y")?;
    ensure!(said() == "pre lint post lint ", "a revert ran something: {:?}", said());
    fs::write(ground.project.join(name), text.replace("echo lint", "echo other"))?;
    let again = poisons::ANSWER.replace("000000000001", "000000000002");
    fs::write(room.join("answer.md"), again)?;
    place.run(world, "apply A -y")?;
    ensure!(said() == "pre lint post lint ", "what changed since then ran: {:?}", said());
    Ok(5)
}

fn trusted_hook(
    world: &World,
    ground: &Ground,
    place: &Place<'_>,
    line: &str,
    said: &dyn Fn() -> String,
) -> anyhow::Result<u64> {
    let hook = ground.project.join(".git/hooks/pre-commit");
    let write = |line: &str| -> anyhow::Result<()> {
        fs::create_dir_all(ground.project.join(".git/hooks"))?;
        fs::write(&hook, format!("#!/bin/sh\n{line}\n"))?;
        Ok(fs::set_permissions(&hook, fs::Permissions::from_mode(0o755))?)
    };
    write(line)?;
    place.run(world, "apply A -y")?;
    place.run(world, "git commit -y")?;
    ensure!(said().is_empty(), "a hook ran that was not trusted");
    write("exit 0")?;
    place.run(world, "trust -y")?;
    write(line)?;
    place.run(world, "git commit -y")?;
    ensure!(said().is_empty(), "a hook ran that changed since it was trusted");
    place.run(world, "trust -y")?;
    ensure!(said().is_empty(), "trusting a hook ran it");
    place.run(world, "git commit -y")?;
    ensure!(said() == "hook ", "the trusted hook did not run once: {:?}", said());
    Ok(4)
}
