//! The lines of a file, ready to be searched on several levels of strictness. Each level maps a
//! line to a *form* (the line itself, without trailing blanks, with plain punctuation, without
//! indentation); two lines are the same on a level when their forms are. Forms are numbered once and
//! only for the levels that a search really reaches; then a search compares numbers, in time that
//! grows with the file and the hunk and never with their product.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;

use super::forms;

/// How strictly two lines are compared. Each level forgives all that the levels before it forgive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
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
    pub(crate) fn form(self, line: &str) -> Cow<'_, str> {
        match self {
            Level::Exact => Cow::Borrowed(line),
            Level::TrailingBlanks => Cow::Borrowed(line.trim_end()),
            Level::Punctuation => trimmed(forms::plain_punctuation(line), str::trim_end),
            Level::Content => trimmed(forms::plain_punctuation(line), str::trim),
            Level::Words => {
                Cow::Owned(forms::words_and_signs(&forms::plain_punctuation(line)).join(" "))
            }
        }
    }

    /// Whether two lines are the same on this level.
    pub(crate) fn same(self, a: &str, b: &str) -> bool {
        a == b || self.form(a) == self.form(b)
    }
}

fn trimmed(text: Cow<'_, str>, trim: impl Fn(&str) -> &str) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(trim(text)),
        Cow::Owned(text) => Cow::Owned(trim(&text).to_string()),
    }
}

/// The number of a form; no line of the file has [`NOWHERE`].
type Form = u32;
const NOWHERE: Form = u32::MAX;

/// The forms of some lines, numbered, and where each form stands.
struct Numbered<'a> {
    numbers: HashMap<Cow<'a, str>, Form>,
    lines: Vec<Form>,
    places: Vec<Vec<usize>>,
}

impl<'a> Numbered<'a> {
    fn new(lines: impl Iterator<Item = &'a str>, level: Level) -> Numbered<'a> {
        let mut numbered = Numbered {
            numbers: HashMap::new(),
            lines: Vec::new(),
            places: Vec::new(),
        };
        for (at, line) in lines.enumerate() {
            let next = Form::try_from(numbered.places.len()).unwrap_or(NOWHERE);
            let form = *numbered.numbers.entry(level.form(line)).or_insert(next);
            if form == next {
                numbered.places.push(Vec::new());
            }
            numbered.places[form as usize].push(at);
            numbered.lines.push(form);
        }
        numbered
    }

    fn form(&self, line: &str, level: Level) -> Form {
        self.numbers
            .get(level.form(line).as_ref())
            .copied()
            .unwrap_or(NOWHERE)
    }

    fn places(&self, form: Form) -> &[usize] {
        self.places.get(form as usize).map_or(&[], Vec::as_slice)
    }

    /// Every place where `needle` stands, line after line.
    fn find(&self, needle: &[Form]) -> Vec<usize> {
        let Some(rarest) = (0..needle.len()).min_by_key(|i| self.places(needle[*i]).len()) else {
            return Vec::new();
        };
        let seeds = self.places(needle[rarest]);
        if seeds.len().saturating_mul(needle.len()) > self.lines.len().saturating_mul(8) {
            return find_by_failure_table(&self.lines, needle);
        }
        seeds
            .iter()
            .filter_map(|seed| seed.checked_sub(rarest))
            .filter(|start| self.lines.get(*start..start + needle.len()) == Some(needle))
            .collect()
    }
}

/// Knuth, Morris and Pratt's search: linear even where everything repeats.
fn find_by_failure_table(hay: &[Form], needle: &[Form]) -> Vec<usize> {
    let mut failure = vec![0usize; needle.len()];
    let mut matched = 0;
    for i in 1..needle.len() {
        while matched > 0 && needle[i] != needle[matched] {
            matched = failure[matched - 1];
        }
        matched += usize::from(needle[i] == needle[matched]);
        failure[i] = matched;
    }
    let mut found = Vec::new();
    matched = 0;
    for (i, form) in hay.iter().enumerate() {
        while matched > 0 && *form != needle[matched] {
            matched = failure[matched - 1];
        }
        matched += usize::from(*form == needle[matched]);
        if matched == needle.len() {
            found.push(i + 1 - matched);
            matched = failure[matched - 1];
        }
    }
    found
}

/// A window of lines that agrees with a needle but for a few.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Window {
    /// The numbers of its lines in the file.
    pub(crate) lines: Vec<usize>,
    /// Which of them do not agree, as indexes into `lines`.
    pub(crate) misses: Vec<usize>,
}

/// Loose searches give up past so many places: none of them can be meant in particular.
const WINDOWS: usize = 200;

/// A file's lines, searchable.
pub struct View<'a> {
    lines: Vec<&'a str>,
    /// How many of the lines before each line end oddly; empty if none does.
    odd_before: Vec<usize>,
    levels: [OnceCell<Numbered<'a>>; 4],
    solid: OnceCell<Vec<usize>>,
    solid_contents: OnceCell<Numbered<'a>>,
    solid_words: OnceCell<Numbered<'a>>,
}

impl<'a> View<'a> {
    /// A view of lines that all end in a plain line feed.
    pub(crate) fn new(lines: Vec<&'a str>) -> View<'a> {
        View {
            lines,
            odd_before: Vec::new(),
            levels: Default::default(),
            solid: OnceCell::new(),
            solid_contents: OnceCell::new(),
            solid_words: OnceCell::new(),
        }
    }

    /// Marks which lines end in something else than a line feed: a match there is exact text but
    /// not exact bytes.
    #[must_use]
    pub(crate) fn with_odd_endings(mut self, odd: impl Iterator<Item = bool>) -> View<'a> {
        let mut count = 0;
        self.odd_before = vec![0];
        self.odd_before.extend(odd.map(|odd| {
            count += usize::from(odd);
            count
        }));
        self
    }

    /// The lines.
    pub(crate) fn lines(&self) -> &[&'a str] {
        &self.lines
    }

    /// How many lines there are.
    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Whether every line of the range ends in a plain line feed.
    pub(crate) fn is_plain(&self, start: usize, end: usize) -> bool {
        self.odd_before.get(start) == self.odd_before.get(end)
    }

    fn numbered(&self, level: Level) -> &Numbered<'a> {
        match self.levels.get(level as usize) {
            Some(cell) => cell.get_or_init(|| Numbered::new(self.lines.iter().copied(), level)),
            None => self.solid_words(),
        }
    }

    fn solid_words(&self) -> &Numbered<'a> {
        self.solid_words
            .get_or_init(|| self.number_solid(Level::Words))
    }

    fn number_solid(&self, level: Level) -> Numbered<'a> {
        Numbered::new(
            self.solid_lines().iter().map(|line| self.lines[*line]),
            level,
        )
    }

    /// The numbers of all lines that are not blank.
    pub(crate) fn solid_lines(&self) -> &[usize] {
        self.solid.get_or_init(|| {
            (0..self.lines.len())
                .filter(|i| !forms::is_blank(self.lines[*i]))
                .collect()
        })
    }

    /// Every line where `needle` begins, compared on `level` (not on words).
    pub(crate) fn find(&self, needle: &[String], level: Level) -> Vec<usize> {
        if needle.is_empty() || needle.len() > self.lines.len() {
            return Vec::new();
        }
        let numbered = self.numbered(level);
        let forms: Vec<Form> = needle
            .iter()
            .map(|line| numbered.form(line, level))
            .collect();
        if forms.contains(&NOWHERE) {
            Vec::new()
        } else {
            numbered.find(&forms)
        }
    }

    /// Every place where the lines of `needle` (none of them blank) stand in this order with
    /// nothing but blank lines between them, by content; each place as its line numbers. None if
    /// there are more than [`WINDOWS`].
    pub(crate) fn find_solid(&self, needle: &[&str]) -> Vec<Vec<usize>> {
        let numbered = self
            .solid_contents
            .get_or_init(|| self.number_solid(Level::Content));
        let forms: Vec<Form> = needle
            .iter()
            .map(|line| numbered.form(line, Level::Content))
            .collect();
        if forms.is_empty() || forms.contains(&NOWHERE) {
            return Vec::new();
        }
        let starts = numbered.find(&forms);
        if starts.len() > WINDOWS {
            return Vec::new();
        }
        let window = |start: usize| self.solid_lines()[start..start + needle.len()].to_vec();
        starts.into_iter().map(window).collect()
    }

    /// Windows of the non-blank lines whose words agree with `needle` (none blank) in all but at
    /// most `misses` lines. Seeds are the rarest lines of `needle`, one more than may miss, so that
    /// at least one of them is right. None if there are more than [`WINDOWS`].
    pub(crate) fn find_almost(&self, needle: &[&str], misses: usize) -> Vec<Window> {
        let numbered = self.solid_words();
        let forms: Vec<Form> = needle
            .iter()
            .map(|line| numbered.form(line, Level::Words))
            .collect();
        let absent = forms.iter().filter(|form| **form == NOWHERE).count();
        if absent > misses {
            return Vec::new();
        }
        let mut seeds: Vec<usize> = (0..forms.len()).filter(|i| forms[*i] != NOWHERE).collect();
        seeds.sort_by_key(|i| numbered.places(forms[*i]).len());
        // Every line that is nowhere is one of those that may miss.
        seeds.truncate(misses - absent + 1);
        let starts_of = |i: &usize| {
            numbered
                .places(forms[*i])
                .iter()
                .filter_map(|place| place.checked_sub(*i))
                .collect::<Vec<_>>()
        };
        let mut starts: Vec<usize> = seeds.iter().flat_map(starts_of).collect();
        starts.sort_unstable();
        starts.dedup();
        let mut windows = Vec::new();
        for start in starts {
            let Some(window) = numbered.lines.get(start..start + forms.len()) else {
                continue;
            };
            let missed = || (0..forms.len()).filter(|i| window[*i] != forms[*i]);
            let missing: Vec<usize> = missed().take(misses + 1).collect();
            if missing.len() <= misses {
                let lines = self.solid_lines()[start..start + forms.len()].to_vec();
                windows.push(Window {
                    lines,
                    misses: missing,
                });
            }
            if windows.len() > WINDOWS {
                return Vec::new();
            }
        }
        windows
    }

    /// Where the content of `line` stands.
    pub(crate) fn content_places(&self, line: &str) -> &[usize] {
        let numbered = self.numbered(Level::Content);
        numbered.places(numbered.form(line, Level::Content))
    }
}
