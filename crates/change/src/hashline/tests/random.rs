//! 10 000 random edits against a model of the file in which every line is an individual: an edit lands on the very lines that were
//! shown under its anchors and replaces none that never was, or is refused. Texts repeat on purpose, and somebody else edits the
//! file in between.

use std::collections::{HashMap, HashSet};

use relaycode_testkit::random::Random;

use super::*;

const EDITS: usize = 10_000;
/// Files begin with so many lines at most.
const LINES: usize = 60;

/// A line, and which one it is.
#[derive(Clone, PartialEq, Debug)]
struct ModelLine {
    id: usize,
    text: String,
}

struct ModelFile {
    lines: Vec<ModelLine>,
    next: usize,
    shown: ShownFile,
    /// Which line was last shown under an anchor.
    beliefs: HashMap<LineAnchor, usize>,
    /// Lines that were shown, or written by an edit.
    seen: HashSet<usize>,
    /// Somebody else changed something since.
    foreign: bool,
    /// Somebody else deletes lines, too.
    deletes: bool,
}

#[derive(Default, Debug)]
struct Count {
    right: usize,
    refused: usize,
    refused_without_cause: usize,
    stale_caught: usize,
    unseen_caught: usize,
}

impl ModelFile {
    fn new(random: &mut Random) -> ModelFile {
        let mut file = ModelFile {
            lines: Vec::new(),
            next: 0,
            shown: ShownFile::new(b"", Vec::new()),
            beliefs: HashMap::new(),
            seen: HashSet::new(),
            foreign: false,
            deletes: random.once_in(2),
        };
        for _ in 0..3 + random.below(LINES) {
            let line = file.new_line(random);
            file.lines.push(line);
        }
        file.shown = ShownFile::new(file.text().as_bytes(), lines(&file.text()));
        file
    }

    fn new_line(&mut self, random: &mut Random) -> ModelLine {
        self.next += 1;
        let texts = ["}", "", "    }", "end", "x = 1", "return;"];
        let text = match random.below(3) {
            0 => texts[random.below(texts.len())].to_string(),
            _ => format!("line {}", self.next),
        };
        ModelLine { id: self.next, text }
    }

    fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{}\n", line.text)).collect()
    }

    /// Everything is as if it had never been shown.
    fn restart(&mut self) {
        let text = self.text();
        self.shown = ShownFile::new(text.as_bytes(), lines(&text));
        self.beliefs.clear();
        self.seen.clear();
        self.foreign = false;
    }

    fn position(&self, id: usize) -> Option<usize> {
        self.lines.iter().position(|line| line.id == id)
    }

    fn read(&mut self, random: &mut Random) {
        if self.lines.is_empty() {
            return;
        }
        let text = self.text();
        if !self.shown.is(text.as_bytes()) {
            self.restart();
        }
        self.foreign = false;
        let from = random.below(self.lines.len());
        let to = (from + 1 + random.below(20)).min(self.lines.len());
        self.show(from..to);
    }

    fn show(&mut self, range: std::ops::Range<usize>) {
        for at in range.clone() {
            self.beliefs.insert(LineAnchor::of(at + 1, &self.lines[at].text), self.lines[at].id);
            self.seen.insert(self.lines[at].id);
        }
        self.shown.show(range);
    }

    /// Somebody else's edit. One who deletes adds no line that repeats another: whether `}` was replaced by `}` is nothing that
    /// a text can tell.
    fn disturb(&mut self, random: &mut Random) {
        let at = random.below(self.lines.len() + 1);
        self.foreign = true;
        let mut line = self.new_line(random);
        if self.deletes {
            line.text = format!("line {}", line.id);
        }
        match random.below(3) {
            0 if self.deletes && at < self.lines.len() => drop(self.lines.remove(at)),
            1 if self.deletes && at < self.lines.len() => self.lines[at] = line,
            _ => self.lines.insert(at, line),
        }
    }

    fn edit(&mut self, random: &mut Random, count: &mut Count) {
        let mut anchors: Vec<LineAnchor> = self.beliefs.keys().copied().collect();
        anchors.sort();
        if anchors.is_empty() {
            return self.read(random);
        }
        let first = anchors[random.below(anchors.len())];
        let last = anchors[random.below(anchors.len())];
        let (first, last) = if last.line < first.line { (last, first) } else { (first, last) };
        let new: Vec<ModelLine> = (0..random.below(3)).map(|_| self.new_line(random)).collect();
        let texts: Vec<String> = new.iter().map(|line| line.text.clone()).collect();
        let kind = random.below(4);
        let (first_at, last_at) = (self.position(self.beliefs[&first]), self.position(self.beliefs[&last]));
        let (action, expected) = match kind {
            0 | 1 if new.is_empty() => return,
            0 => (
                HashlineAction::Insert { place: InsertPlace::After(first), lines: texts },
                first_at.map(|at| at + 1..at + 1),
            ),
            1 => (
                HashlineAction::Insert { place: InsertPlace::Before(first), lines: texts },
                first_at.map(|at| at..at),
            ),
            2 => {
                (HashlineAction::Replace { first, last: first, lines: texts }, first_at.map(|at| at..at + 1))
            }
            _ if first.line == last.line => return,
            _ => {
                let range =
                    first_at.zip(last_at).filter(|(from, to)| from <= to).map(|(from, to)| from..to + 1);
                (HashlineAction::Replace { first, last, lines: texts }, range)
            }
        };
        let is_seen = |range: &std::ops::Range<usize>| {
            self.lines[range.clone()].iter().all(|line| self.seen.contains(&line.id))
        };
        let has_unseen = expected.as_ref().is_some_and(|range| !is_seen(range));
        let expected = expected.filter(is_seen);
        let before = self.text();
        let edit = HashlineEdit { line: 1, action };
        match edit_text(std::slice::from_ref(&edit), Some(&self.shown), before.as_bytes()) {
            Err(HashlineError::Unchanged) => {}
            Err(_) => {
                count.refused += 1;
                count.stale_caught += usize::from(expected.is_none() && !has_unseen);
                count.unseen_caught += usize::from(has_unseen);
                count.refused_without_cause += usize::from(expected.is_some() && !self.foreign);
                self.read(random);
            }
            Ok(result) => {
                let Some(range) = expected else {
                    panic!("an anchor was taken for another, or hidden lines replaced: {edit:?}\n{before}");
                };
                self.lines.splice(range.clone(), new.iter().cloned());
                let after = String::from_utf8(result.bytes).unwrap();
                assert_eq!(after, self.text(), "{edit:?}\n{before}");
                if self.shown.is(before.as_bytes()) {
                    self.shown.advance(&result.splices, after.as_bytes(), lines(&after));
                    self.seen.extend(new.iter().map(|line| line.id));
                } else {
                    self.restart();
                }
                let around =
                    range.start.saturating_sub(2)..(range.start + new.len() + 2).min(self.lines.len());
                self.show(around);
                count.right += 1;
            }
        }
    }
}

#[test]
fn ten_thousand_random_edits_land_on_the_lines_that_were_shown() {
    let mut count = Count::default();
    let mut seed = 0;
    while count.right + count.refused < EDITS {
        seed += 1;
        let mut random = Random::new(seed);
        let mut file = ModelFile::new(&mut random);
        file.read(&mut random);
        for _ in 0..30 {
            match random.below(10) {
                0 => file.disturb(&mut random),
                1 => file.read(&mut random),
                _ => file.edit(&mut random, &mut count),
            }
        }
    }
    println!("{count:?}");
    // Refusing everything would be right, too.
    assert!(count.right > EDITS / 2, "{count:?}");
    assert!(count.stale_caught > EDITS / 20, "{count:?}");
    assert!(count.unseen_caught > EDITS / 100, "{count:?}");
    assert_eq!(count.refused_without_cause, 0, "{count:?}");
}
