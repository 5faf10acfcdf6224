//! The best way to lay a word's letters over a text: each letter takes a place behind the previous one's, and the places with
//! the highest score win.
//!
//! For each letter only the places that hold it are looked at, from left to right, together with the places of the letter
//! before: the best of those, less what the gap costs, is known at every step.

use super::fold_case;

const MATCH: i32 = 16;
const GAP_START: i32 = -3;
const GAP_MORE: i32 = -1;
/// Right behind the previous letter.
const CONSECUTIVE: i32 = 6;
/// The beginning of a path component, of a word, of a camel hump.
const COMPONENT_START: i32 = 9;
const WORD_START: i32 = 8;
const HUMP: i32 = 6;
/// The first letter typed is the one people choose with care.
const FIRST_FACTOR: i32 = 2;

/// Room for the computation, used again for each text.
#[derive(Debug, Default)]
pub(super) struct FuzzyAligner {
    /// Of all letters, one after another.
    places: Vec<LetterPlace>,
    /// Of a text that is not ASCII.
    chars: Vec<char>,
    starts: Vec<usize>,
}

#[derive(Debug, Clone, Copy)]
struct LetterPlace {
    at: usize,
    /// Of the best way that ends here.
    score: i32,
    /// Where the previous letter is then, in the list of all places.
    from: usize,
}

/// No way has a better score. Behind a letter a place with a bonus costs a gap, unless a sign was typed before it.
pub(super) fn best_score(letters: &[char]) -> i32 {
    let more = letters.windows(2).map(|pair| match pair[0].is_alphanumeric() {
        true => MATCH + CONSECUTIVE,
        false => MATCH + COMPONENT_START,
    });
    if letters.is_empty() { 0 } else { MATCH + COMPONENT_START * FIRST_FACTOR + more.sum::<i32>() }
}

impl FuzzyAligner {
    /// The score of the best way; the letters must occur in their order.
    pub(super) fn score(&mut self, text: &str, letters: &[char], with_case: bool) -> i32 {
        self.best_place(text, letters, with_case).map_or(0, |best| self.places[best].score)
    }

    /// The same, and adds the bytes at which the matched characters begin.
    pub(super) fn positions(
        &mut self,
        text: &str,
        letters: &[char],
        with_case: bool,
        positions: &mut Vec<usize>,
    ) -> i32 {
        let Some(best) = self.best_place(text, letters, with_case) else { return 0 };
        let mut index = best;
        for _ in letters {
            let place = self.places[index];
            positions.push(if text.is_ascii() { place.at } else { self.starts[place.at] });
            index = place.from;
        }
        self.places[best].score
    }

    /// The place of the last letter on the best way.
    fn best_place(&mut self, text: &str, letters: &[char], with_case: bool) -> Option<usize> {
        self.places.clear();
        if text.is_ascii() {
            let bytes = text.as_bytes();
            let find = |letter: char, from: usize| {
                let byte = u8::try_from(letter).ok()?;
                let found = match with_case {
                    true => memchr::memchr(byte, &bytes[from..]),
                    false => memchr::memchr2(byte, byte.to_ascii_uppercase(), &bytes[from..]),
                };
                found.map(|at| from + at)
            };
            return fill_places(&mut self.places, letters, find, |at| char::from(bytes[at]));
        }
        self.chars.clear();
        self.starts.clear();
        self.chars.extend(text.chars());
        self.starts.extend(text.char_indices().map(|(at, _)| at));
        let chars = &self.chars;
        let folded = |c: char| if with_case { c } else { fold_case(c) };
        let find = |letter: char, from: usize| {
            chars[from..].iter().position(|c| folded(*c) == letter).map(|at| from + at)
        };
        fill_places(&mut self.places, letters, find, |at| chars[at])
    }
}

/// `find` gives the next place that holds a letter, `char_at` what stands at a place.
fn fill_places(
    places: &mut Vec<LetterPlace>,
    letters: &[char],
    find: impl Fn(char, usize) -> Option<usize>,
    char_at: impl Fn(usize) -> char,
) -> Option<usize> {
    let bonus_at = |at: usize| bonus(if at == 0 { '/' } else { char_at(at - 1) }, char_at(at));
    let (first, rest) = letters.split_first()?;
    let mut next = find(*first, 0);
    while let Some(at) = next {
        places.push(LetterPlace { at, score: MATCH + bonus_at(at) * FIRST_FACTOR, from: 0 });
        next = find(*first, at + 1);
    }
    let mut row = 0..places.len();
    for letter in rest {
        let mut before = row.start;
        // The best place that is further away than the one right before, and its score less the gap from place 0.
        let mut carried: Option<(i32, usize)> = None;
        let mut next = find(*letter, places.get(row.start)?.at + 1);
        while let Some(at) = next {
            while before < row.end && places[before].at + 1 < at {
                let value = places[before].score - GAP_MORE * distance(places[before].at);
                if carried.is_none_or(|(best, _)| value > best) {
                    carried = Some((value, before));
                }
                before += 1;
            }
            let bonus = bonus_at(at);
            let far = carried.map(|(value, from)| {
                (value + GAP_MORE * (distance(at) - 2) + GAP_START + MATCH + bonus, from)
            });
            let is_beside = before < row.end && places[before].at + 1 == at;
            let beside = is_beside.then(|| (places[before].score + MATCH + bonus.max(CONSECUTIVE), before));
            if let Some((score, from)) = far.max(beside) {
                places.push(LetterPlace { at, score, from });
            }
            next = find(*letter, at + 1);
        }
        row = row.end..places.len();
    }
    // The earliest of the best.
    row.rev().max_by_key(|index| places[*index].score)
}

fn distance(places: usize) -> i32 {
    i32::try_from(places).unwrap_or(i32::MAX / 4)
}

fn bonus(before: char, c: char) -> i32 {
    match before {
        '/' | '\\' => COMPONENT_START,
        _ if !c.is_alphanumeric() => 0,
        ' ' | '_' | '-' | '.' | ':' | ',' | '@' | '#' | '(' | '[' | '"' => WORD_START,
        _ if before.is_lowercase() && c.is_uppercase() => HUMP,
        _ if !before.is_ascii_digit() && c.is_ascii_digit() => HUMP,
        _ => 0,
    }
}

/// What one letter adds when it takes the place `at` and the previous one took `last`.
#[cfg(test)]
pub(super) fn place_value(text: &[char], at: usize, last: Option<usize>) -> i32 {
    let bonus = bonus(if at == 0 { '/' } else { text[at - 1] }, text[at]);
    match last {
        None => MATCH + bonus * FIRST_FACTOR,
        Some(last) if last + 1 == at => MATCH + bonus.max(CONSECUTIVE),
        Some(last) => {
            let gap = i32::try_from(at - last - 2).unwrap_or(0);
            MATCH + bonus + GAP_START + gap * GAP_MORE
        }
    }
}
