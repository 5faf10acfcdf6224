//! A random walk of apply, record, undo, redo, revert and own edits through the binary, against the simplest model of undo
//! there is: two stacks. Everything in a walk follows from its seed.
//!
//! What must hold: undo and then redo gives the same bytes; undo of everything gives the bytes of the beginning, but for the
//! user's own lines; a step that is refused changes nothing; no line of the user's own is ever lost; and the log
//! says what the two stacks say.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::random::Random;

/// Lines of every file at the beginning.
const LINES: usize = 24;
const NAMES: [&str; 5] = ["a.txt", "b.txt", "c/d.txt", "c/e.txt", "f.txt"];
/// How lines of the user's own begin.
const OWN: &str = "own ";
/// Exit codes of what was refused: it does not fit, or somebody has to decide.
const REFUSED: [i32; 3] = [3, 6, 13];

/// How the binary is run in the project: its arguments and its input; the exit code and what it printed.
pub type RunRelay<'r> = &'r dyn Fn(&[&str], &str) -> (i32, String);

/// What happened on a walk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UndoWalkCount {
    pub changes: usize,
    pub undone: usize,
    pub redone: usize,
    pub reverted: usize,
    pub refused: usize,
}

/// Files with their bytes.
type WalkTree = BTreeMap<String, Vec<u8>>;
type WalkResult<T> = Result<T, String>;

/// A walk in one project.
pub struct UndoWalk<'r> {
    random: Random,
    root: PathBuf,
    relay: RunRelay<'r>,
    /// Changes that are in, and changes that undo took out, by their ids.
    done: Vec<String>,
    undone: Vec<String>,
    own_lines: Vec<String>,
    was_refused: bool,
    told: Vec<String>,
    count: UndoWalkCount,
}

impl<'r> UndoWalk<'r> {
    /// A walk in the empty directory `root`.
    pub fn new(random: Random, root: &Path, relay: RunRelay<'r>) -> UndoWalk<'r> {
        UndoWalk {
            random,
            root: root.to_path_buf(),
            relay,
            done: Vec::new(),
            undone: Vec::new(),
            own_lines: Vec::new(),
            was_refused: false,
            told: Vec::new(),
            count: UndoWalkCount::default(),
        }
    }

    /// Walks so many steps, then back to the beginning and forth again.
    ///
    /// # Errors
    /// What does not hold, and the steps that led there.
    pub fn run(mut self, steps: usize) -> WalkResult<UndoWalkCount> {
        match self.walk(steps) {
            Ok(()) => Ok(self.count),
            Err(said) => Err(format!("{said}\n  after {}", self.told.join("\n  then  "))),
        }
    }

    fn walk(&mut self, steps: usize) -> WalkResult<()> {
        for name in NAMES {
            if !self.random.once_in(4) {
                let text: String = (0..LINES).map(|line| format!("{name} {line}\n")).collect();
                self.write(name, text.as_bytes())?;
            }
        }
        let first = self.tree()?;
        for step in 0..steps {
            match self.random.below(10) {
                0..=2 => self.apply(step)?,
                3 => self.record(step)?,
                4 => self.own_edit(step)?,
                5 | 6 => _ = self.undo()?,
                7 | 8 => _ = self.redo()?,
                _ => self.revert()?,
            }
            self.check()?;
        }
        self.there_and_back()?;
        while self.undo()? {}
        self.check()?;
        if !self.was_refused {
            let now = without_own_lines(&self.tree()?);
            ensure(now == first, || {
                format!("undo of everything is not the beginning: {}", different(&now, &first))
            })?;
        }
        Ok(())
    }

    fn apply(&mut self, step: usize) -> WalkResult<()> {
        let Some(answer) = self.answer(step)? else { return Ok(()) };
        self.change(
            &["apply", "-", "-y", "--allow", "fragment,placeholder", "--json", "-q"],
            &answer,
            "apply",
        )
    }

    fn record(&mut self, step: usize) -> WalkResult<()> {
        let name = *self.random.pick(&NAMES);
        let line = format!("mkdir -p c; echo 'recorded {step}' >> {name}");
        self.change(&["record", "--json", "-q", "--", "/bin/sh", "-c", &line], "", "record")
    }

    /// What becomes a change, unless it is refused.
    fn change(&mut self, args: &[&str], input: &str, what: &str) -> WalkResult<()> {
        let before = self.tree()?;
        let (code, out) = (self.relay)(args, input);
        let Some(id) = self.accepted(what, code, &out, &before)? else { return Ok(()) };
        self.told.push(format!("{what} {}", &id[..8]));
        self.done.push(id);
        self.undone.clear();
        self.count.changes += 1;
        Ok(())
    }

    /// The id of what was recorded; `None` if it was refused, and then nothing may have changed.
    fn accepted(
        &mut self,
        what: &str,
        code: i32,
        out: &str,
        before: &WalkTree,
    ) -> WalkResult<Option<String>> {
        if REFUSED.contains(&code) {
            let now = self.tree()?;
            ensure(now == *before, || format!("{what} was refused and changed {}", different(&now, before)))?;
            self.told.push(format!("{what}: refused with {code}"));
            self.was_refused = true;
            self.count.refused += 1;
            return Ok(None);
        }
        ensure(code == 0, || format!("{what} ended with {code}: {out}"))?;
        let value: Value = serde_json::from_str(out).map_err(|error| format!("{what}: {error}: {out}"))?;
        value["id"].as_str().map(|id| Some(id.to_string())).ok_or_else(|| format!("{what} has no id: {out}"))
    }

    /// An answer with one or two blocks. It touches no line of the user's own.
    fn answer(&mut self, step: usize) -> WalkResult<Option<String>> {
        let tree = self.tree()?;
        let mut answer = String::new();
        let mut names: Vec<&str> = NAMES.to_vec();
        for part in 0..1 + self.random.below(2) {
            let name = names.remove(self.random.below(names.len()));
            let Some(bytes) = tree.get(name) else {
                answer += &format!("```text // {name} replace\nmade {step}.{part}\nend {step}.{part}\n```\n");
                continue;
            };
            let text = String::from_utf8_lossy(bytes).into_owned();
            let lines: Vec<&str> = text.lines().collect();
            let theirs: Vec<&&str> = lines.iter().filter(|line| !line.starts_with(OWN)).collect();
            let free = names.iter().position(|name| !tree.contains_key(*name));
            match (self.random.below(6), free) {
                (0, _) if theirs.len() == lines.len() && tree.len() > 3 => {
                    answer += &format!("```text // {name}\n//TODO: delete this file\n```\n");
                }
                (1, Some(at)) => {
                    let to = names.remove(at);
                    answer +=
                        &format!("```json // rename-file\n{{\"from\": \"{name}\", \"to\": \"{to}\"}}\n```\n");
                }
                _ if theirs.is_empty() => {}
                _ => {
                    let line = theirs[self.random.below(theirs.len())];
                    let after = if self.random.once_in(2) { String::new() } else { format!("\n{line}") };
                    answer += &format!(
                        "```text // {name} search-replace\n<<<<<<< SEARCH\n{line}\n=======\nchange {step}.{part}{after}\n\
                         >>>>>>> REPLACE\n```\n"
                    );
                }
            }
        }
        Ok((!answer.is_empty()).then_some(answer))
    }

    fn own_edit(&mut self, step: usize) -> WalkResult<()> {
        let tree = self.tree()?;
        let names: Vec<&String> = tree.keys().collect();
        if names.is_empty() {
            return Ok(());
        }
        let name = names[self.random.below(names.len())].clone();
        let text = String::from_utf8_lossy(&tree[&name]).into_owned();
        let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_string).collect();
        let line = format!("{OWN}{step}\n");
        lines.insert(self.random.below(lines.len() + 1), line.clone());
        self.write(&name, lines.concat().as_bytes())?;
        self.told.push(format!("own edit in {name}"));
        self.own_lines.push(line);
        Ok(())
    }

    fn undo(&mut self) -> WalkResult<bool> {
        let Some(id) = self.done.last().cloned() else { return self.expect_nothing("undo") };
        if !self.take_back("undo", &["undo", "--json", "-q"])? {
            return Ok(false);
        }
        self.done.pop();
        self.undone.push(id);
        self.count.undone += 1;
        Ok(true)
    }

    fn redo(&mut self) -> WalkResult<bool> {
        let Some(id) = self.undone.last().cloned() else { return self.expect_nothing("redo") };
        if !self.take_back("redo", &["redo", "--json", "-q"])? {
            return Ok(false);
        }
        self.undone.pop();
        self.done.push(id);
        self.count.redone += 1;
        Ok(true)
    }

    /// There is nothing to do, and it is said so.
    fn expect_nothing(&mut self, step: &str) -> WalkResult<bool> {
        let (code, out) = (self.relay)(&[step, "--json", "-q"], "");
        ensure(code == 2, || format!("{step} of nothing ended with {code}: {out}"))?;
        Ok(false)
    }

    fn take_back(&mut self, what: &str, args: &[&str]) -> WalkResult<bool> {
        let before = self.tree()?;
        let dry: Vec<&str> = args.iter().copied().chain(["--dry-run"]).collect();
        let (dry_code, _) = (self.relay)(&dry, "");
        ensure(self.tree()? == before, || format!("{what} --dry-run changed something"))?;
        let (code, out) = (self.relay)(args, "");
        ensure(code == dry_code, || format!("{what} ended with {code}, its dry run with {dry_code}: {out}"))?;
        let Some(id) = self.accepted(what, code, &out, &before)? else { return Ok(false) };
        self.told.push(format!("{what} {}", &id[..8]));
        Ok(true)
    }

    /// Any entry that is in, by its id.
    fn revert(&mut self) -> WalkResult<()> {
        let entries = self.log()?;
        let entries: Vec<&Value> = entries.iter().filter(|entry| entry["undone"] == false).collect();
        if entries.is_empty() {
            return Ok(());
        }
        let entry = entries[self.random.below(entries.len())];
        let id = entry["id"].as_str().unwrap_or_default().to_string();
        let before = self.tree()?;
        let (code, out) = (self.relay)(&["revert", &id, "--json", "-q"], "");
        let nothing = out.contains("\"reverted\":false") && code == 0;
        if nothing {
            return ensure(self.tree()? == before, || "a revert of nothing changed something".to_string());
        }
        let Some(new) = self.accepted("revert", code, &out, &before)? else { return Ok(()) };
        self.told.push(format!("revert {} as {}", &id[..8], &new[..8]));
        self.done.push(new);
        self.undone.clear();
        self.count.reverted += 1;
        Ok(())
    }

    /// The log and the files say what the model says.
    fn check(&self) -> WalkResult<()> {
        let entries = self.log()?;
        let change = entries.iter().find(|entry| {
            entry["undone"] == false && !["undo", "redo"].iter().any(|step| entry["origin"] == *step)
        });
        let newest = change.and_then(|entry| entry["id"].as_str());
        let wanted = self.done.last().map(String::as_str);
        ensure(newest == wanted, || format!("undo would take back {newest:?}, not {wanted:?}"))?;
        for entry in &entries {
            let title = entry["summary"].as_str().unwrap_or_default();
            ensure(!title.is_empty(), || format!("{} has no title", entry["id"]))?;
        }
        let tree = self.tree()?;
        for line in &self.own_lines {
            let stands = tree
                .values()
                .any(|bytes| String::from_utf8_lossy(bytes).split_inclusive('\n').any(|other| other == line));
            ensure(stands, || format!("{line:?} is lost"))?;
        }
        Ok(())
    }

    /// Undo and redo are the identity, however far one goes.
    fn there_and_back(&mut self) -> WalkResult<()> {
        let mut trees = vec![self.tree()?];
        while self.undo()? {
            trees.push(self.tree()?);
        }
        trees.pop();
        for tree in trees.iter().rev() {
            if !self.redo()? {
                return ensure(!self.own_lines.is_empty(), || "redo was refused".to_string());
            }
            let now = self.tree()?;
            ensure(now == *tree, || format!("redo is not as before the undo: {}", different(&now, tree)))?;
        }
        Ok(())
    }

    fn log(&self) -> WalkResult<Vec<Value>> {
        let (code, out) = (self.relay)(&["log", "--json", "-q", "-n", "500"], "");
        ensure(code == 0, || format!("log ended with {code}: {out}"))?;
        let value: Value = serde_json::from_str(&out).map_err(|error| error.to_string())?;
        Ok(value["entries"].as_array().cloned().unwrap_or_default())
    }

    fn write(&self, name: &str, bytes: &[u8]) -> WalkResult<()> {
        let path = self.root.join(name);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| fs::write(&path, bytes)).map_err(|error| format!("{name}: {error}"))
    }

    fn tree(&self) -> WalkResult<WalkTree> {
        let mut tree = WalkTree::new();
        for name in NAMES {
            match fs::read(self.root.join(name)) {
                Ok(bytes) => _ = tree.insert(name.to_string(), bytes),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(format!("{name}: {error}")),
            }
        }
        Ok(tree)
    }
}

fn without_own_lines(tree: &WalkTree) -> WalkTree {
    let strip = |bytes: &[u8]| -> Vec<u8> {
        let text = String::from_utf8_lossy(bytes);
        text.split_inclusive('\n').filter(|line| !line.starts_with(OWN)).collect::<String>().into()
    };
    tree.iter().map(|(name, bytes)| (name.clone(), strip(bytes))).collect()
}

fn different(now: &WalkTree, wanted: &WalkTree) -> String {
    let names = NAMES.iter().filter(|name| now.get(**name) != wanted.get(**name));
    names.copied().collect::<Vec<_>>().join(", ")
}

fn ensure(holds: bool, said: impl FnOnce() -> String) -> WalkResult<()> {
    if holds { Ok(()) } else { Err(said()) }
}
