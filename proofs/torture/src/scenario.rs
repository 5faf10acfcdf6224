//! Scenarios: a project tree and an answer that changes it, determined by a seed and a number.
//!
//! Each mixes what real answers do (change, create, delete, rename, rename and edit) over difficult files:
//! programs, CRLF, no final newline, empty files, binary files, private files, attributes, links nearby.
//! Some have more files than are synced one by one, some revert a change.

use std::fmt;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::str::FromStr;

use anyhow::Context;
use relaycode_testkit::random::Random;

use super::snapshot::set_attribute;

/// What is run on the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The answer is applied.
    Apply,
    /// The answer was applied, and is undone.
    Undo,
    /// The answer was applied and undone, and is brought back.
    Redo,
}

/// A tree and an answer.
#[derive(Debug, Clone)]
pub(super) struct Scenario {
    pub(super) kind: Kind,
    pub(super) files: Vec<Seeded>,
    pub(super) answer: String,
}

/// A file of the tree before.
#[derive(Debug, Clone)]
pub(super) struct Seeded {
    pub(super) path: String,
    pub(super) bytes: Vec<u8>,
    pub(super) mode: u32,
    pub(super) attribute: bool,
}

/// What a file's bytes look like.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Flavour {
    Plain,
    Crlf,
    NoFinalNewline,
    Empty,
    /// Not UTF-8; such files are only moved or removed.
    Bytes,
}

const DIRECTORIES: &[&str] = &["", "src/", "src/deep/", "lib/", "docs/a/b/"];
const NEW_DIRECTORIES: &[&str] = &["", "src/", "new/", "new/inner/", "other/very/deep/tree/"];
const WORDS: &[&str] = &[
    "amber", "birch", "cedar", "dune", "ember", "fern", "grove", "heath", "iris", "juniper", "kelp", "larch",
];

/// What decides everything random in a scenario or a case: `seed.number`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ScenarioId {
    pub(super) seed: u64,
    pub(super) number: u64,
}

impl ScenarioId {
    /// The source of its randomness.
    pub(super) fn random(self) -> Random {
        Random::of_case(self.seed, self.number)
    }
}

impl fmt::Display for ScenarioId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.seed, self.number)
    }
}

impl FromStr for ScenarioId {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<ScenarioId> {
        let parts = text.split_once('.');
        let (seed, number) = parts.with_context(|| format!("`{text}` is no scenario (seed.number)"))?;
        Ok(ScenarioId { seed: seed.parse()?, number: number.parse()? })
    }
}

impl Scenario {
    /// The scenario that the seed and the number decide.
    pub(super) fn new(id: ScenarioId) -> Scenario {
        let (mut random, index) = (id.random(), id.number);
        let kind = match index % 6 {
            2 => Kind::Undo,
            5 if index % 12 == 5 => Kind::Redo,
            5 => Kind::Undo,
            _ => Kind::Apply,
        };
        // Every seventh is long enough that its syncs are batched.
        let count = if index % 7 == 4 { 20 + random.below(8) } else { 1 + random.below(12) };
        let mut scenario = Scenario { kind, files: Vec::new(), answer: String::new() };
        scenario.answer.push_str("Here is the change.\n\n");
        let mut deletions = 0;
        for number in 0..count {
            // The first change of every scenario always has an effect.
            let what = if number == 0 { 0 } else { random.below(10) };
            match what {
                0..=3 => scenario.modify(&mut random, number),
                4..=5 => scenario.create(&mut random, number),
                6 if deletions < 6 => {
                    deletions += 1;
                    scenario.delete(&mut random, number);
                }
                7 => scenario.rename(&mut random, number),
                8 => scenario.rename_and_edit(&mut random, number),
                _ => scenario.swap(&mut random, number),
            }
        }
        for number in 0..2 {
            scenario.file(&mut random, &format!("src/bystander{number}.txt"), Flavour::Plain);
        }
        scenario.answer.push_str(&format!(
            "```yaml\nprojectId: torture\nuuid: {}\ngitCommitMsg: \"test: scenario {}\"\n```\n",
            uuid(&mut random),
            id
        ));
        scenario
    }

    fn file(&mut self, random: &mut Random, path: &str, flavour: Flavour) -> Vec<u8> {
        let bytes = content(random, flavour);
        let mode = *random.pick(&[0o644, 0o644, 0o644, 0o755, 0o600, 0o640]);
        let attribute = random.once_in(6);
        self.files.push(Seeded { path: path.to_owned(), bytes: bytes.clone(), mode, attribute });
        bytes
    }

    fn modify(&mut self, random: &mut Random, number: usize) {
        let flavours =
            [Flavour::Plain, Flavour::Plain, Flavour::Crlf, Flavour::NoFinalNewline, Flavour::Empty];
        let path = format!("{}change{number}.txt", random.pick(DIRECTORIES));
        let flavour = *random.pick(&flavours);
        self.file(random, &path, flavour);
        self.write(&path, &text(random, "changed"));
    }

    fn create(&mut self, random: &mut Random, number: usize) {
        let path = format!("{}fresh{number}.txt", random.pick(NEW_DIRECTORIES));
        let text = text(random, "fresh");
        self.write(&path, &text);
    }

    fn delete(&mut self, random: &mut Random, number: usize) {
        let flavour = *random.pick(&[Flavour::Plain, Flavour::Bytes, Flavour::Empty, Flavour::Crlf]);
        // Sometimes alone in its directory: the directory must come back too.
        let folder =
            if random.once_in(3) { format!("gone{number}/") } else { (*random.pick(DIRECTORIES)).to_owned() };
        let path = format!("{folder}drop{number}.dat");
        self.file(random, &path, flavour);
        self.write(&path, "//TODO: delete this file\n");
    }

    fn rename(&mut self, random: &mut Random, number: usize) {
        let flavour = *random.pick(&[Flavour::Plain, Flavour::Bytes, Flavour::NoFinalNewline]);
        let from = format!("{}old{number}.dat", random.pick(DIRECTORIES));
        let to = format!("{}moved{number}.dat", random.pick(NEW_DIRECTORIES));
        self.file(random, &from, flavour);
        self.move_block(&from, &to);
    }

    fn rename_and_edit(&mut self, random: &mut Random, number: usize) {
        let from = format!("{}was{number}.txt", random.pick(DIRECTORIES));
        let to = format!("{}became{number}.txt", random.pick(NEW_DIRECTORIES));
        let flavour = *random.pick(&[Flavour::Plain, Flavour::Crlf, Flavour::NoFinalNewline]);
        self.file(random, &from, flavour);
        self.move_block(&from, &to);
        let text = text(random, "edited");
        self.write(&to, &text);
    }

    /// Two files get each other's content: a mixed tree would hold one of them twice.
    fn swap(&mut self, random: &mut Random, number: usize) {
        let (one, two) = (format!("src/left{number}.txt"), format!("lib/right{number}.txt"));
        let first = self.file(random, &one, Flavour::Plain);
        let second = self.file(random, &two, Flavour::Plain);
        self.write(&one, &String::from_utf8_lossy(&second));
        self.write(&two, &String::from_utf8_lossy(&first));
    }

    fn write(&mut self, path: &str, text: &str) {
        self.answer.push_str(&format!("```txt // {path}\n{text}```\n\n"));
    }

    fn move_block(&mut self, from: &str, to: &str) {
        self.answer.push_str(&format!(
            "```json // rename-file\n{{\"from\": \"{from}\", \"to\": \"{to}\"}}\n```\n\n"
        ));
    }

    /// Writes the tree before into the empty directory `root`.
    pub(super) fn plant(&self, root: &Path) -> anyhow::Result<()> {
        for file in &self.files {
            let path = root.join(&file.path);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(&path, &file.bytes).with_context(|| format!("cannot write {}", path.display()))?;
            fs::set_permissions(&path, fs::Permissions::from_mode(file.mode))?;
            if file.attribute {
                set_attribute(&path, "user.note", file.path.as_bytes());
            }
        }
        symlink("src/bystander0.txt", root.join("link"))?;
        fs::create_dir_all(root.join("empty"))?;
        Ok(())
    }
}

/// A version-4 UUID from the seed.
pub(super) fn uuid(random: &mut Random) -> String {
    let (high, low) = (random.number(), random.number());
    format!(
        "{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xfff,
        low >> 48 & 0xfff,
        low & 0xffff_ffff_ffff
    )
}

/// Some lines that say which case they belong to.
fn text(random: &mut Random, mark: &str) -> String {
    let mut text = format!("{mark} {:x}\n", random.number());
    for _ in 0..random.below(12) {
        text.push_str(&format!("{} {} {}\n", random.pick(WORDS), random.pick(WORDS), random.below(1000)));
    }
    text
}

/// The bytes of a file before.
pub(super) fn content(random: &mut Random, flavour: Flavour) -> Vec<u8> {
    match flavour {
        Flavour::Plain => text(random, "before").into_bytes(),
        Flavour::Crlf => text(random, "before").replace('\n', "\r\n").into_bytes(),
        Flavour::NoFinalNewline => text(random, "before").trim_end().as_bytes().to_vec(),
        Flavour::Empty => Vec::new(),
        Flavour::Bytes => {
            let mut bytes = vec![0xff, 0x00, 0xc3, b'\n'];
            bytes.extend((0..random.below(200)).map(|_| random.number().to_le_bytes()[0]));
            bytes
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn numbered(number: u64) -> Scenario {
        Scenario::new(ScenarioId { seed: 1, number })
    }

    #[test]
    fn the_same_number_gives_the_same_scenario_and_all_kinds_come() {
        let mut seen = BTreeSet::new();
        for index in 0..40 {
            let scenario = numbered(index);
            assert_eq!(scenario.answer, numbered(index).answer);
            seen.insert(format!("{:?}", scenario.kind));
            let paths: BTreeSet<&str> = scenario.files.iter().map(|file| file.path.as_str()).collect();
            assert_eq!(paths.len(), scenario.files.len(), "no path comes twice in {index}");
        }
        assert_eq!(seen.len(), 3);
        assert!((0..40).any(|index| numbered(index).answer.matches("```").count() > 40));
    }
}
