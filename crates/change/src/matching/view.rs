//! The lines of a file, ready to be searched on several levels of strictness. Each level maps a
//! line to a *form* (the line itself, without trailing blanks, with plain punctuation, without
//! indentation); two lines are the same on a level when their forms are. Forms are hashed once and
//! only for the levels that a search really reaches; every hit is checked against the text, so a
//! hash collision cannot become a match.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::forms;

/// How strictly two lines are compared. Each level forgives all that the levels before it forgive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Every character.
    Exact,
    /// All but blanks at the end of the line.
    TrailingBlanks,
    /// Quotes, dashes and blanks in their plain form, composed characters.
    Punctuation,
    /// All but the indentation.
    Content,
    /// All but blanks that do not keep two words apart.
    Words,
}

impl Level {
    /// The form of `line` on this level.
    pub fn form(self, line: &str) -> Cow<'_, str> {
        match self {
            Level::Exact => Cow::Borrowed(line),
            Level::TrailingBlanks => Cow::Borrowed(line.trim_end()),
            Level::Punctuation => match forms::plain_punctuation(line) {
                Cow::Borrowed(text) => Cow::Borrowed(text.trim_end()),
                Cow::Owned(text) => Cow::Owned(text.trim_end().to_string()),
            },
            Level::Content => match forms::plain_punctuation(line) {
                Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
                Cow::Owned(text) => Cow::Owned(text.trim().to_string()),
            },
            Level::Words => {
                Cow::Owned(forms::words_and_signs(&forms::plain_punctuation(line)).join(" "))
            }
        }
    }

    /// Whether two lines are the same on this level.
    pub fn same(self, a: &str, b: &str) -> bool {
        a == b || self.form(a) == self.form(b)
    }

    fn hash(self, line: &str) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.form(line).hash(&mut hasher);
        hasher.finish()
    }
}

/// Hashes of all lines on one level, and where each stands.
struct Hashed {
    keys: Vec<u64>,
    places: HashMap<u64, Vec<usize>>,
}

impl Hashed {
    fn new(keys: Vec<u64>) -> Hashed {
        let mut places: HashMap<u64, Vec<usize>> = HashMap::with_capacity(keys.len());
        for (place, key) in keys.iter().enumerate() {
            places.entry(*key).or_default().push(place);
        }
        Hashed { keys, places }
    }

    fn count(&self, key: u64) -> usize {
        self.places.get(&key).map_or(0, Vec::len)
    }

    /// Every place where `needle` stands, line after line.
    fn find(&self, needle: &[u64]) -> Vec<usize> {
        let Some(rarest) = (0..needle.len()).min_by_key(|i| self.count(needle[*i])) else {
            return Vec::new();
        };
        let Some(seeds) = self.places.get(&needle[rarest]) else {
            return Vec::new();
        };
        if seeds.len().saturating_mul(needle.len()) > self.keys.len().saturating_mul(8) {
            return find_by_failure_table(&self.keys, needle);
        }
        seeds
            .iter()
            .filter_map(|seed| seed.checked_sub(rarest))
            .filter(|start| self.keys.get(*start..start + needle.len()) == Some(needle))
            .collect()
    }
}

/// Knuth, Morris and Pratt's search: linear even where everything repeats.
fn find_by_failure_table(hay: &[u64], needle: &[u64]) -> Vec<usize> {
    let mut failure = vec![0usize; needle.len()];
    let mut matched = 0;
    for i in 1..needle.len() {
        while matched > 0 && needle[i] != needle[matched] {
            matched = failure[matched - 1];
        }
        if needle[i] == needle[matched] {
            matched += 1;
        }
        failure[i] = matched;
    }
    let mut found = Vec::new();
    matched = 0;
    for (i, key) in hay.iter().enumerate() {
        while matched > 0 && *key != needle[matched] {
            matched = failure[matched - 1];
        }
        if *key == needle[matched] {
            matched += 1;
        }
        if matched == needle.len() {
            found.push(i + 1 - matched);
            matched = failure[matched - 1];
        }
    }
    found
}

/// The lines of a file that have something on them, with their numbers.
struct Solid {
    lines: Vec<usize>,
    hashed: Hashed,
}

/// A file's lines, searchable.
pub struct View<'a> {
    lines: Vec<&'a str>,
    odd_endings: Vec<bool>,
    levels: [OnceCell<Hashed>; 4],
    words: OnceCell<Hashed>,
    solid: OnceCell<Solid>,
}

impl<'a> View<'a> {
    /// A view of lines that all end in a plain line feed.
    pub fn new(lines: Vec<&'a str>) -> View<'a> {
        View {
            lines,
            odd_endings: Vec::new(),
            levels: Default::default(),
            words: OnceCell::new(),
            solid: OnceCell::new(),
        }
    }

    /// Marks which lines end in something else than a line feed, or stand behind a byte order
    /// mark: such a match is exact text but not exact bytes.
    #[must_use]
    pub fn with_odd_endings(mut self, odd: Vec<bool>) -> View<'a> {
        self.odd_endings = odd;
        self
    }

    /// The lines.
    pub fn lines(&self) -> &[&'a str] {
        &self.lines
    }

    /// How many lines there are.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Whether the file's bytes in this range are what its lines with `\n` between them would be.
    pub fn is_plain(&self, start: usize, end: usize) -> bool {
        self.odd_endings
            .get(start..end.min(self.odd_endings.len()))
            .is_none_or(|odd| !odd.contains(&true))
    }

    fn hashed(&self, level: Level) -> &Hashed {
        self.levels[level as usize]
            .get_or_init(|| Hashed::new(self.lines.iter().map(|line| level.hash(line)).collect()))
    }

    fn solid(&self) -> &Solid {
        self.solid.get_or_init(|| {
            let lines: Vec<usize> = (0..self.lines.len())
                .filter(|i| !forms::is_blank(self.lines[*i]))
                .collect();
            let keys = &self.hashed(Level::Content).keys;
            let hashed = Hashed::new(lines.iter().map(|i| keys[*i]).collect());
            Solid { lines, hashed }
        })
    }

    /// Every line where `needle` begins, compared on `level`.
    pub fn find(&self, needle: &[String], level: Level) -> Vec<usize> {
        if needle.is_empty() || needle.len() > self.lines.len() {
            return Vec::new();
        }
        let keys: Vec<u64> = needle.iter().map(|line| level.hash(line)).collect();
        let mut found = self.hashed(level).find(&keys);
        found.retain(|start| {
            needle
                .iter()
                .zip(&self.lines[*start..])
                .all(|(a, b)| level.same(a, b))
        });
        found
    }

    /// Every place where the lines of `needle` (none of them blank) stand in this order with
    /// nothing but blank lines between them, by content; each place as its line numbers.
    pub fn find_solid(&self, needle: &[&str]) -> Vec<Vec<usize>> {
        if needle.is_empty() {
            return Vec::new();
        }
        let solid = self.solid();
        let keys: Vec<u64> = needle
            .iter()
            .map(|line| Level::Content.hash(line))
            .collect();
        let found = solid.hashed.find(&keys);
        let places = found
            .into_iter()
            .map(|start| solid.lines[start..start + needle.len()].to_vec());
        places
            .filter(|place| {
                place
                    .iter()
                    .zip(needle)
                    .all(|(i, line)| Level::Content.same(self.lines[*i], line))
            })
            .collect()
    }

    /// The numbers of all lines that are not blank.
    pub fn solid_lines(&self) -> &[usize] {
        &self.solid().lines
    }

    /// Windows of the non-blank lines whose words agree with `needle` (none blank) in all but at most
    /// `misses` lines, as starts into [`Self::solid_lines`]. Seeds are the rarest lines of
    /// `needle`: one more than may miss, so that at least one of them is right.
    pub fn find_almost(&self, needle: &[&str], misses: usize) -> Vec<usize> {
        let hashed = self.words.get_or_init(|| {
            Hashed::new(
                self.solid_lines()
                    .iter()
                    .map(|line| Level::Words.hash(self.lines[*line]))
                    .collect(),
            )
        });
        let keys: Vec<u64> = needle.iter().map(|line| Level::Words.hash(line)).collect();
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.sort_by_key(|i| hashed.count(keys[*i]));
        let mut starts: Vec<usize> = order
            .iter()
            .filter(|i| hashed.count(keys[**i]) > 0)
            .take(misses + 1)
            .flat_map(|i| {
                hashed.places[&keys[*i]]
                    .iter()
                    .filter_map(|place| place.checked_sub(*i))
            })
            .collect();
        starts.sort_unstable();
        starts.dedup();
        starts.retain(|start| {
            let Some(window) = hashed.keys.get(*start..start + keys.len()) else {
                return false;
            };
            let mut missed = 0;
            window.iter().zip(&keys).all(|(a, b)| {
                missed += usize::from(a != b);
                missed <= misses
            })
        });
        starts
    }

    /// For every line of `needle` the places where its content stands, blank lines left out.
    pub fn content_places(&self, line: &str) -> &[usize] {
        self.hashed(Level::Content)
            .places
            .get(&Level::Content.hash(line))
            .map_or(&[], Vec::as_slice)
    }
}
