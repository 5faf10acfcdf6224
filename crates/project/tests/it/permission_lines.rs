//! Lines to try the permission engine on: written ones, and any number of others made of them.
//! `⏎` in the files is the end of a line.

use std::path::{Path, PathBuf};

use relaycode_project::access::Access;
use relaycode_project::permissions::{
    PermissionEffect, PermissionEngine, PermissionLayer, PermissionLayers, PermissionPlace,
};
use relaycode_testkit::random::Random;

pub(crate) const HOSTILE: &str = include_str!("permission_lines/hostile.txt");
/// What attackers found, and what was written to see whether it is closed.
pub(crate) const HOSTILE_FOUND: &str = include_str!("permission_lines/hostile_found.txt");
/// Options that a rule ending in `*` leaves out, for [`WIDE_RULES`].
pub(crate) const HOSTILE_OPTIONS: &str = include_str!("permission_lines/hostile_options.txt");
pub(crate) const CARRIERS: &str = include_str!("permission_lines/carriers.txt");
pub(crate) const PAYLOADS: &str = include_str!("permission_lines/payloads.txt");
pub(crate) const HARMLESS: &str = include_str!("permission_lines/harmless.txt");
pub(crate) const EVERYDAY: &str = include_str!("permission_lines/everyday.txt");
pub(crate) const HOLDOUT: &str = include_str!("permission_lines/harmless_holdout.txt");

/// What somebody who works on several kinds of projects would allow.
pub(crate) const RULES: &[&str] = &[
    "cargo *",
    "npm test *",
    "npm run *",
    "npm ls *",
    "npx tsc *",
    "pytest *",
    "python -m pytest *",
    "python3 -m pytest *",
    "make *",
    "go test *",
    "go build *",
    "go vet *",
    "tsc *",
    "git status *",
    "git diff *",
    "git log *",
    "git show *",
];

/// What somebody would allow who is tired of questions.
pub(crate) const WIDE_RULES: &[&str] = &[
    "cargo *",
    "cmake *",
    "curl * [network]",
    "docker run *",
    "gcc *",
    "git *",
    "git log *",
    "go build *",
    "go test *",
    "gradle *",
    "jest *",
    "make *",
    "mvn *",
    "mypy *",
    "ninja *",
    "node --test *",
    "npm *",
    "npm test *",
    "npx jest *",
    "perl -c *",
    "pip install * [network]",
    "prettier *",
    "pytest *",
    "python -m pytest *",
    "rsync *",
    "ruff check *",
    "sed *",
    "ssh * [outside the fence]",
    "tar *",
    "tsc *",
    "uv run pytest *",
    "vim *",
    "wget * [network]",
    "zip *",
];

/// An engine with [`RULES`] for a project at `root`.
pub(crate) fn engine(root: &Path) -> PermissionEngine {
    engine_with(RULES, root)
}

pub(crate) fn engine_with(rules: &[&str], root: &Path) -> PermissionEngine {
    let mut layers = PermissionLayers::default();
    for rule in rules {
        layers.add_text(PermissionLayer::User, PermissionEffect::Allow, rule);
    }
    assert!(layers.ignored().is_empty());
    PermissionEngine::new(
        layers,
        PermissionPlace {
            directory: root.to_path_buf(),
            root: root.to_path_buf(),
            home: Some(PathBuf::from("/home/me")),
            temporary: vec![PathBuf::from("/tmp")],
            access: Access::Ask,
            is_fenced: true,
        },
    )
}

pub(crate) fn lines(text: &str) -> Vec<String> {
    text.lines().filter(|line| !line.is_empty()).map(|line| line.replace('⏎', "\n")).collect()
}

/// How many lines a test makes: what `RELAY_LINES` says, else `usual`.
pub(crate) fn wanted_lines(usual: usize) -> usize {
    std::env::var("RELAY_LINES").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Makes lines of the written ones. The same seed and number give the same line.
pub(crate) struct LineMaker {
    pool: Vec<String>,
}

/// What stands between two lines, and behind the second.
const JOINS: &[(&str, &str)] = &[
    (" && ", ""),
    ("; ", ""),
    (" | ", ""),
    (" || ", ""),
    ("\n", ""),
    (" & ", ""),
    (" $(", ")"),
    (" \"$(", ")\""),
    (" <(", ")"),
    (" `", "`"),
    ("; (", ")"),
    ("; { ", "; }"),
];
/// What is put into a line.
pub(crate) const PIECES: &[&str] = &[
    "$(",
    ")",
    "`",
    "\"",
    "'",
    "{",
    "}",
    "<<A\n",
    "\n",
    ";",
    "&&",
    "|",
    "((",
    "))",
    "[[",
    "]]",
    "${",
    "$x",
    "\\",
    "case x in",
    "esac",
    "if",
    "fi",
    "do",
    "done",
    "<(",
    ">",
    "~",
    "*",
    "#",
    "\u{e9}",
    "=",
    "$'",
    " ",
];

impl LineMaker {
    pub(crate) fn new() -> LineMaker {
        let mut pool: Vec<String> =
            [HARMLESS, HOLDOUT, HOSTILE, HOSTILE_FOUND].into_iter().flat_map(lines).collect();
        pool.extend(lines(CARRIERS).iter().map(|carrier| carrier.replace('@', "ls -l x")));
        LineMaker { pool }
    }

    /// Up to three lines in each other or behind each other; in half of them one character is wrong.
    pub(crate) fn joined(&self, number: u64) -> String {
        let mut random = Random::of_case(18, number);
        let mut line = random.pick(&self.pool).clone();
        for _ in 0..random.below(3) {
            let (join, end) = random.pick(JOINS);
            line = format!("{line}{join}{}{end}", random.pick(&self.pool));
        }
        let mut signs: Vec<char> = line.chars().collect();
        if random.once_in(2) {
            return line;
        }
        let at = random.below(signs.len());
        match random.below(3) {
            0 => drop(signs.remove(at)),
            1 => signs
                .insert(at, *random.pick(&['"', '\'', '$', '(', ')', ';', '\\', '\n', ' ', '{', '}', '#'])),
            _ => signs[at] = signs[random.below(signs.len())],
        }
        signs.into_iter().collect()
    }

    /// A line of which parts were taken out, put in and exchanged.
    pub(crate) fn spoilt(&self, number: u64) -> String {
        let mut random = Random::of_case(19, number);
        let mut signs: Vec<char> = random.pick(&self.pool).chars().collect();
        for _ in 0..=random.below(6) {
            let at = random.below(signs.len() + 1);
            match random.below(4) {
                0 => drop(signs.splice(at..at, random.pick(PIECES).chars())),
                1 => {
                    let other: Vec<char> = random.pick(&self.pool).chars().collect();
                    let from = random.below(other.len() + 1);
                    drop(signs.splice(at..at, other[from..].iter().copied()));
                }
                2 => drop(signs.drain(at..(at + random.below(5)).min(signs.len()))),
                _ if at < signs.len() => signs[at] = char::from(random.below(127) as u8),
                _ => {}
            }
        }
        signs.into_iter().collect()
    }
}
