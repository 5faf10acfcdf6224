//! The lines of a file, searchable on several levels of strictness. Each level maps a line to a *form* (the
//! line itself, without trailing blanks, with plain punctuation, without indentation); two lines are equal
//! on a level if their forms are. Forms are numbered once and only for the levels that a search reaches;
//! then a search compares numbers, in time that grows with the file and the hunk and never with their
//! product.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;

use super::indentation::IndentationKind;
use super::normalize;
use crate::proposal::work_budget::WorkBudget;

/// How strictly two lines are compared. Each level forgives everything that the levels before it forgive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MatchLevel {
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

impl MatchLevel {
    pub(crate) fn normalize(self, line: &str) -> Cow<'_, str> {
        match self {
            MatchLevel::Exact => Cow::Borrowed(line),
            MatchLevel::TrailingBlanks => Cow::Borrowed(line.trim_end()),
            MatchLevel::Punctuation => trimmed(normalize::plain_punctuation(line), str::trim_end),
            MatchLevel::Content => trimmed(normalize::plain_punctuation(line), str::trim),
            MatchLevel::Words => {
                Cow::Owned(normalize::words_and_signs(&normalize::plain_punctuation(line)).join(" "))
            }
        }
    }

    pub(crate) fn lines_equal(self, a: &str, b: &str) -> bool {
        a == b || self.normalize(a) == self.normalize(b)
    }
}

fn trimmed(text: Cow<'_, str>, trim: impl Fn(&str) -> &str) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(trim(text)),
        Cow::Owned(text) => Cow::Owned(trim(&text).to_string()),
    }
}

/// No line of the file has [`UNKNOWN_FORM`].
type LineFormId = u32;
const UNKNOWN_FORM: LineFormId = u32::MAX;

/// The numbered forms of lines on one level.
struct LineForms<'a> {
    level: MatchLevel,
    numbers: HashMap<Cow<'a, str>, LineFormId>,
}

impl<'a> LineForms<'a> {
    fn new(level: MatchLevel) -> LineForms<'a> {
        LineForms { level, numbers: HashMap::new() }
    }

    fn add(&mut self, line: &'a str) -> LineFormId {
        let next = LineFormId::try_from(self.numbers.len()).unwrap_or(UNKNOWN_FORM);
        *self.numbers.entry(self.level.normalize(line)).or_insert(next)
    }

    fn form_of(&self, line: &str) -> LineFormId {
        self.numbers.get(self.level.normalize(line).as_ref()).copied().unwrap_or(UNKNOWN_FORM)
    }
}

/// Forms in the order of lines, and where each occurs.
struct FormSequence {
    lines: Vec<LineFormId>,
    /// The places of form `f` are `places[starts[f]..starts[f + 1]]`.
    starts: Vec<usize>,
    places: Vec<usize>,
}

impl FormSequence {
    fn new(lines: Vec<LineFormId>) -> FormSequence {
        let forms = lines.iter().max().map_or(0, |most| *most as usize + 1);
        let mut starts = vec![0; forms + 1];
        for form in &lines {
            starts[*form as usize + 1] += 1;
        }
        for form in 0..forms {
            starts[form + 1] += starts[form];
        }
        let mut next = starts.clone();
        let mut places = vec![0; lines.len()];
        for (at, form) in lines.iter().enumerate() {
            places[next[*form as usize]] = at;
            next[*form as usize] += 1;
        }
        FormSequence { lines, starts, places }
    }

    fn places(&self, form: LineFormId) -> &[usize] {
        match (self.starts.get(form as usize), self.starts.get(form as usize + 1)) {
            (Some(start), Some(end)) => &self.places[*start..*end],
            _ => &[],
        }
    }

    /// The first places where `needle` stands, line after line, at most `most`.
    fn find(&self, needle: &[LineFormId], most: usize, budget: &WorkBudget) -> Vec<usize> {
        let Some(rarest) = (0..needle.len()).min_by_key(|i| self.places(needle[*i]).len()) else {
            return Vec::new();
        };
        let seeds = self.places(needle[rarest]);
        if seeds.len().saturating_mul(needle.len()) > self.lines.len().saturating_mul(8) {
            let affordable = budget.draw(self.lines.len());
            return if affordable { find_by_failure_table(&self.lines, needle, most) } else { Vec::new() };
        }
        if !budget.draw(seeds.len()) {
            return Vec::new();
        }
        seeds
            .iter()
            .filter_map(|seed| seed.checked_sub(rarest))
            .filter(|start| self.lines.get(*start..start + needle.len()) == Some(needle))
            .take(most)
            .collect()
    }
}

/// Most places of one hunk that are told apart, and most of all hunks of a file together: what occurs more often is
/// meant nowhere in particular, unless the author names its line.
const PLACES: usize = 10_000;
const PLACES_OF_ALL: usize = 200_000;
/// However many hunks there are.
const LEAST_PLACES: usize = 100;

/// Knuth, Morris and Pratt's search: linear even where everything repeats.
fn find_by_failure_table(hay: &[LineFormId], needle: &[LineFormId], most: usize) -> Vec<usize> {
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
            if found.len() == most {
                break;
            }
            matched = failure[matched - 1];
        }
    }
    found
}

/// A window of lines that agrees with a needle in all but a few.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LineWindow {
    /// Their numbers in the file.
    pub(crate) lines: Vec<usize>,
    /// Which of them do not agree, as indexes into `lines`.
    pub(crate) misses: Vec<usize>,
}

/// Steps for numbering a line, for looking one up, and for looking at a place where a window may begin.
const FORM_STEPS: usize = 12;
const LOOKUP_STEPS: usize = 8;
const WINDOW_STEPS: usize = 4;
/// For each line of a window, as long as a hunk may belong there.
const WINDOW_BYTES: usize = size_of::<Option<usize>>();

/// Loose searches give up past this many places: none of them can be meant in particular.
const WINDOWS: usize = 200;

pub struct LineIndex<'a> {
    lines: Vec<&'a str>,
    /// What every search draws from.
    budget: &'a WorkBudget,
    /// Most places of a hunk.
    places: usize,
    /// Of all lines together.
    bytes: usize,
    /// How many of the lines before each line have an odd ending; empty if none has.
    odd_before: Vec<usize>,
    traits: OnceCell<LineTraits>,
    levels: [OnceCell<(LineForms<'a>, FormSequence)>; 5],
    solid: OnceCell<Vec<usize>>,
    letters: OnceCell<Vec<usize>>,
    indentation_kind: OnceCell<Option<IndentationKind>>,
    solid_contents: OnceCell<FormSequence>,
    solid_words: OnceCell<(LineForms<'a>, FormSequence)>,
    /// See [`LineIndex::text`].
    text: OnceCell<(String, Vec<usize>)>,
}

/// How many bytes of a line are not blank.
pub(crate) fn letter_count(line: &str) -> usize {
    line.bytes().filter(|byte| !byte.is_ascii_whitespace()).count()
}

/// Traits of some lines, by which a level that would forgive nothing there can be skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LineTraits {
    trailing_blanks: bool,
    not_ascii: bool,
    indentation: bool,
}

impl LineTraits {
    fn of<S: AsRef<str>>(lines: &[S]) -> LineTraits {
        let any = |has: &dyn Fn(&str) -> bool| lines.iter().any(|line| has(line.as_ref()));
        LineTraits {
            trailing_blanks: any(&|line| line.ends_with(char::is_whitespace)),
            not_ascii: any(&|line| !line.is_ascii()),
            indentation: any(&|line| line.starts_with(char::is_whitespace)),
        }
    }

    /// The strictest level that forgives as much as `level` among lines like these.
    fn strictest_level(self, other: LineTraits, level: MatchLevel) -> MatchLevel {
        match level {
            MatchLevel::Content if self.indentation || other.indentation => MatchLevel::Content,
            MatchLevel::Content | MatchLevel::Punctuation if self.not_ascii || other.not_ascii => {
                MatchLevel::Punctuation
            }
            MatchLevel::Exact | MatchLevel::Words => level,
            _ if self.trailing_blanks || other.trailing_blanks => MatchLevel::TrailingBlanks,
            _ => MatchLevel::Exact,
        }
    }
}

impl<'a> LineIndex<'a> {
    /// For lines that all end in a plain line feed.
    pub(crate) fn new(lines: Vec<&'a str>, budget: &'a WorkBudget) -> LineIndex<'a> {
        LineIndex {
            bytes: lines.iter().map(|line| line.len()).sum(),
            lines,
            budget,
            places: PLACES,
            odd_before: Vec::new(),
            traits: OnceCell::new(),
            levels: Default::default(),
            solid: OnceCell::new(),
            letters: OnceCell::new(),
            indentation_kind: OnceCell::new(),
            solid_contents: OnceCell::new(),
            solid_words: OnceCell::new(),
            text: OnceCell::new(),
        }
    }

    /// All lines as one text, each with a line feed, and where each begins; the text's end comes last.
    pub(crate) fn text(&self) -> &(String, Vec<usize>) {
        self.text.get_or_init(|| {
            let mut text = String::with_capacity(self.lines.iter().map(|line| line.len() + 1).sum());
            let mut starts = Vec::with_capacity(self.lines.len() + 1);
            for line in &self.lines {
                starts.push(text.len());
                text.push_str(line);
                text.push('\n');
            }
            starts.push(text.len());
            (text, starts)
        })
    }

    /// How all indented lines are indented, if they agree.
    pub(super) fn indentation_kind(&self) -> Option<IndentationKind> {
        *self.indentation_kind.get_or_init(|| IndentationKind::common(&self.lines))
    }

    /// Marks which lines end in something other than a line feed: a match there is exact text but not exact
    /// bytes.
    #[must_use]
    pub(crate) fn with_odd_endings(mut self, odd: impl Iterator<Item = bool> + Clone) -> LineIndex<'a> {
        if !odd.clone().any(|odd| odd) {
            return self;
        }
        let mut count = 0;
        self.odd_before = vec![0];
        self.odd_before.extend(odd.map(|odd| {
            count += usize::from(odd);
            count
        }));
        self
    }

    /// For so many hunks, which share the memory for their places.
    #[must_use]
    pub(crate) fn for_hunks(mut self, hunks: usize) -> LineIndex<'a> {
        self.places = (PLACES_OF_ALL / hunks.max(1)).clamp(LEAST_PLACES, PLACES);
        self
    }

    pub(crate) fn budget(&self) -> &'a WorkBudget {
        self.budget
    }

    /// Whether a search that found so many places may have left others out.
    pub(crate) fn is_cut(&self, places: usize) -> bool {
        places >= self.places
    }

    pub(crate) fn lines(&self) -> &[&'a str] {
        &self.lines
    }

    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Of all lines together, without their endings.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Whether every line of the range ends in a plain line feed.
    pub(crate) fn has_plain_endings(&self, start: usize, end: usize) -> bool {
        self.odd_before.get(start) == self.odd_before.get(end)
    }

    /// The numbers of all lines that are not blank.
    pub(crate) fn solid_lines(&self) -> &[usize] {
        self.solid
            .get_or_init(|| (0..self.lines.len()).filter(|i| !normalize::is_blank(self.lines[*i])).collect())
    }

    /// How many bytes of each solid line are not blank.
    pub(crate) fn solid_letters(&self) -> &[usize] {
        let letters = |line: &usize| letter_count(self.lines[*line]);
        self.letters.get_or_init(|| self.solid_lines().iter().map(letters).collect())
    }

    fn forms_at(&self, level: MatchLevel) -> &(LineForms<'a>, FormSequence) {
        self.levels[level as usize].get_or_init(|| {
            self.budget.draw(self.lines.len() * FORM_STEPS);
            let mut forms = LineForms::new(level);
            // Equal lines often follow each other; checking the last one is cheaper than a search.
            let mut last = ("", UNKNOWN_FORM);
            let mut number = |line: &'a str| {
                if last.1 == UNKNOWN_FORM || last.0 != line {
                    last = (line, forms.add(line));
                }
                last.1
            };
            let lines = self.lines.iter().map(|line| number(line)).collect();
            (forms, FormSequence::new(lines))
        })
    }

    fn solid_contents(&self) -> &FormSequence {
        self.solid_contents.get_or_init(|| {
            let (_, contents) = self.forms_at(MatchLevel::Content);
            FormSequence::new(self.solid_lines().iter().map(|line| contents.lines[*line]).collect())
        })
    }

    /// The words of the solid lines. Lines of the same content have the same words, so only one of each is
    /// split.
    fn solid_words(&self) -> &(LineForms<'a>, FormSequence) {
        self.solid_words.get_or_init(|| {
            let contents = self.solid_contents();
            let mut forms = LineForms::new(MatchLevel::Words);
            let mut words: HashMap<LineFormId, LineFormId> = HashMap::new();
            let pairs = contents.lines.iter().zip(self.solid_lines());
            let lines = pairs.map(|(content, line)| {
                *words.entry(*content).or_insert_with(|| forms.add(self.lines[*line]))
            });
            let sequence = FormSequence::new(lines.collect());
            (forms, sequence)
        })
    }

    /// The lines where `needle` begins, compared on `level`: of too many those nearest to line `near` (from 1), or the
    /// first ones, see [`is_cut`](LineIndex::is_cut).
    pub(crate) fn find(&self, needle: &[String], level: MatchLevel, near: Option<usize>) -> Vec<usize> {
        if needle.is_empty() || needle.len() > self.lines.len() {
            return Vec::new();
        }
        let traits = self.traits.get_or_init(|| LineTraits::of(&self.lines));
        let (forms, sequence) = self.forms_at(traits.strictest_level(LineTraits::of(needle), level));
        let Some(wanted) = self.known_forms(forms, needle) else { return Vec::new() };
        let most = near.map_or(self.places, |_| usize::MAX);
        let mut starts = sequence.find(&wanted, most, self.budget);
        if let Some(spare) = starts.len().checked_sub(self.places) {
            let middle = near.map_or(0, |near| starts.partition_point(|start| start + 1 < near));
            let skipped = middle.saturating_sub(self.places / 2).min(spare);
            starts = starts[skipped..skipped + self.places].to_vec();
        }
        starts
    }

    /// Every place where the lines of `needle` (none of them blank) stand in this order with only blank
    /// lines between them, by content; each place as its line numbers. Empty if there are more than
    /// [`WINDOWS`].
    pub(crate) fn find_solid(&self, needle: &[&str]) -> Vec<Vec<usize>> {
        let (forms, _) = self.forms_at(MatchLevel::Content);
        let Some(wanted) = self.known_forms(forms, needle).filter(|wanted| !wanted.is_empty()) else {
            return Vec::new();
        };
        let starts = self.solid_contents().find(&wanted, WINDOWS + 1, self.budget);
        if starts.len() > WINDOWS || !self.keep_windows(starts.len(), needle.len()) {
            return Vec::new();
        }
        let window = |start: usize| self.solid_lines()[start..start + needle.len()].to_vec();
        starts.into_iter().map(window).collect()
    }

    /// Windows of the non-blank lines whose words agree with `needle` (none blank) in all but at most
    /// `misses` lines. Seeds are the rarest lines of `needle`, one more than may miss, so that at least one
    /// of them is right. Empty if there are more than [`WINDOWS`].
    pub(crate) fn find_nearly(&self, needle: &[&str], misses: usize) -> Vec<LineWindow> {
        let (contents, _) = self.forms_at(MatchLevel::Content);
        let known = needle.iter().filter(|line| contents.form_of(line) != UNKNOWN_FORM).count();
        // If hardly a line is known, splitting the file into words is not worth it.
        if known * 4 < needle.len() {
            return Vec::new();
        }
        let (forms, sequence) = self.solid_words();
        let wanted: Vec<LineFormId> = needle.iter().map(|line| forms.form_of(line)).collect();
        let mut seeds: Vec<usize> = (0..wanted.len()).filter(|i| wanted[*i] != UNKNOWN_FORM).collect();
        let Some(may_miss) = misses.checked_sub(wanted.len() - seeds.len()) else { return Vec::new() };
        seeds.sort_by_key(|i| sequence.places(wanted[*i]).len());
        seeds.truncate(may_miss + 1);
        let starts_of = |i: &usize| {
            let at = *i;
            sequence.places(wanted[at]).iter().filter_map(move |place| place.checked_sub(at))
        };
        let count: usize = seeds.iter().map(|i| sequence.places(wanted[*i]).len()).sum();
        if !self.budget.draw(count * WINDOW_STEPS + needle.len()) {
            return Vec::new();
        }
        let mut starts: Vec<usize> = seeds.iter().flat_map(starts_of).collect();
        starts.sort_unstable();
        starts.dedup();
        let mut windows = Vec::new();
        for start in starts {
            let Some(window) = sequence.lines.get(start..start + wanted.len()) else { continue };
            let missed: Vec<usize> =
                (0..wanted.len()).filter(|i| window[*i] != wanted[*i]).take(misses + 1).collect();
            if missed.len() > misses {
                continue;
            }
            if windows.len() == WINDOWS || !self.keep_windows(1, needle.len()) {
                return Vec::new();
            }
            let lines = self.solid_lines()[start..start + wanted.len()].to_vec();
            windows.push(LineWindow { lines, misses: missed });
        }
        windows
    }

    /// The forms of all lines, if the file has them all.
    fn known_forms<S: AsRef<str>>(&self, forms: &LineForms<'_>, lines: &[S]) -> Option<Vec<LineFormId>> {
        let mut found = Vec::new();
        for line in lines {
            let form = Some(forms.form_of(line.as_ref())).filter(|form| *form != UNKNOWN_FORM);
            found.extend(form.filter(|_| self.budget.draw(LOOKUP_STEPS)));
            form?;
        }
        (found.len() == lines.len()).then_some(found)
    }

    /// Whether so many windows of so many lines may be kept.
    fn keep_windows(&self, windows: usize, lines: usize) -> bool {
        windows == 0
            || (self.budget.draw(windows * lines) && self.budget.keep(windows * lines * WINDOW_BYTES))
    }

    /// Where the content of `line` occurs.
    pub(crate) fn content_places(&self, line: &str) -> &[usize] {
        let (forms, sequence) = self.forms_at(MatchLevel::Content);
        sequence.places(forms.form_of(line))
    }
}
