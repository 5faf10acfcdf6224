//! Reads the edit language: `§PATH` begins a file, `»A`, `«A`, `≔A..B` begin an edit, the lines below are its text, verbatim.
//!
//! Every line is an operation, text of one, or an error that names its line: nothing is skipped. All anchors of an input are about
//! the files as they were before it.

use super::anchor::LineAnchor;

/// Sections of one input.
const MAX_SECTIONS: usize = 200;
/// Edits of one input.
const MAX_EDITS: usize = 2_000;
/// Characters of the input that a message quotes.
const MAX_QUOTE: usize = 80;

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HashlineInput {
    /// One per file, in the order of their first mention.
    pub sections: Vec<HashlineSection>,
    /// For the author.
    pub warnings: Vec<String>,
}

/// The edits of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HashlineSection {
    /// As written.
    pub path: String,
    /// Of the input, from 1.
    pub line: usize,
    pub edits: Vec<HashlineEdit>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HashlineEdit {
    /// Of the input, from 1.
    pub line: usize,
    pub action: HashlineAction,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HashlineAction {
    Insert {
        place: InsertPlace,
        lines: Vec<String>,
    },
    /// Both ends are replaced, too. No lines: they are deleted.
    Replace {
        first: LineAnchor,
        last: LineAnchor,
        lines: Vec<String>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InsertPlace {
    Top,
    Bottom,
    Before(LineAnchor),
    After(LineAnchor),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct HashlineSyntaxError(pub String);

/// An edit whose text is still being read.
struct OpenEdit {
    line: usize,
    operation: Operation,
    lines: Vec<String>,
}

enum Operation {
    Insert(InsertPlace),
    Replace(LineAnchor, LineAnchor),
}

/// Reads an input.
///
/// ```
/// use relaycode_change::hashline::read_sections;
/// let input = read_sections("§src/a.ts\n»4fb\nconst added = true;\n").unwrap();
/// assert_eq!(input.sections[0].path, "src/a.ts");
/// assert!(read_sections("»4fb\nno file\n").is_err());
/// ```
///
/// # Errors
/// The line that is wrong, and what would be right.
pub fn read_sections(input: &str) -> Result<HashlineInput, HashlineSyntaxError> {
    let lines = input_lines(input);
    let mut reader = SectionReader::default();
    let end = end_of_input(&lines, &mut reader.read.warnings);
    for (at, line) in lines[..end].iter().enumerate() {
        reader.read_line(at + 1, line)?;
    }
    reader.close_edit()?;
    if reader.read.sections.is_empty() {
        return Err(no_header(""));
    }
    match reader.read.sections.iter().find(|section| section.edits.is_empty()) {
        Some(section) => Err(at_line(section.line, format!("no edit follows `§{}`", section.path))),
        None => Ok(reader.read),
    }
}

/// Without their line feeds, and without the returns of an input that has them everywhere.
fn input_lines(input: &str) -> Vec<&str> {
    let input = input.strip_prefix('\u{feff}').unwrap_or(input);
    let input = input.strip_suffix('\n').unwrap_or(input);
    let lines: Vec<&str> = input.split('\n').collect();
    let (last, rest) = lines.split_last().unwrap_or((&"", &[]));
    if rest.is_empty() || !rest.iter().all(|line| line.ends_with('\r')) {
        return lines;
    }
    let bare = |line: &'_ &'_ str| line.strip_suffix('\r').unwrap_or(line).len();
    rest.iter().chain([last]).map(|line| &line[..bare(line)]).collect()
}

/// Where the input ends: at `*** Abort`, or at an end mark that nothing follows or that an opening mark asks for.
fn end_of_input(lines: &[&str], warnings: &mut Vec<String>) -> usize {
    let opened = lines.iter().find(|line| !line.trim().is_empty()).is_some_and(|line| is_begin(line));
    for (at, line) in lines.iter().enumerate() {
        let rest_is_blank = || lines[at + 1..].iter().all(|line| line.trim().is_empty());
        match line.trim() {
            "*** End Patch" if opened || rest_is_blank() => return at,
            "*** Abort" => {
                warnings
                    .push(format!("line {}: `*** Abort` ends the input; what follows was not read", at + 1));
                return at;
            }
            _ => {}
        }
    }
    lines.len()
}

fn is_begin(line: &str) -> bool {
    line.trim() == "*** Begin Patch"
}

#[derive(Default)]
struct SectionReader {
    read: HashlineInput,
    /// Which section the edits go to.
    section: Option<usize>,
    edit: Option<OpenEdit>,
    edits: usize,
}

impl SectionReader {
    fn read_line(&mut self, number: usize, line: &str) -> Result<(), HashlineSyntaxError> {
        if let Some(name) = line.strip_prefix('§') {
            return self.open_section(number, name.trim_start_matches('§').trim());
        }
        if let Some(operation) = read_operation(number, line)? {
            self.close_edit()?;
            if self.section.is_none() {
                return Err(no_header(line));
            }
            self.edits += 1;
            if self.edits > MAX_EDITS {
                return Err(at_line(
                    number,
                    format!("there are more than {MAX_EDITS} edits; send fewer at once"),
                ));
            }
            self.edit = Some(OpenEdit { line: number, operation, lines: Vec::new() });
            return Ok(());
        }
        match &mut self.edit {
            Some(edit) => edit.lines.push(line.to_string()),
            None if line.trim().is_empty() || (is_begin(line) && self.section.is_none()) => {}
            None if self.section.is_none() => return Err(no_header(line)),
            None if line.starts_with(['+', '-', '@', '=', '<', '>']) => {
                let said = "unrecognized operation; use «ANCHOR, »ANCHOR or ≔A..B, and then the new lines as they are";
                return Err(at_line(number, format!("{said}; got `{}`", quote(line))));
            }
            None => {
                let said = "text without an operation; «ANCHOR, »ANCHOR or ≔A..B has to stand above it";
                return Err(at_line(number, format!("{said}; got `{}`", quote(line))));
            }
        }
        Ok(())
    }

    fn open_section(&mut self, number: usize, name: &str) -> Result<(), HashlineSyntaxError> {
        self.close_edit()?;
        if name.is_empty() {
            return Err(at_line(number, "the header \"§\" names no file; write its path behind it"));
        }
        let sections = &mut self.read.sections;
        let known = sections.iter().position(|section| section.path == name);
        if known.is_none() && sections.len() == MAX_SECTIONS {
            return Err(at_line(
                number,
                format!("there are more than {MAX_SECTIONS} files; send fewer at once"),
            ));
        }
        self.section = Some(known.unwrap_or_else(|| {
            sections.push(HashlineSection { path: name.to_string(), line: number, edits: Vec::new() });
            sections.len() - 1
        }));
        Ok(())
    }

    fn close_edit(&mut self) -> Result<(), HashlineSyntaxError> {
        let Some(OpenEdit { line, operation, lines }) = self.edit.take() else { return Ok(()) };
        let action = match operation {
            Operation::Insert(_) if lines.is_empty() => {
                return Err(at_line(line, "» and « need at least one line of text below them"));
            }
            Operation::Insert(place) => HashlineAction::Insert { place, lines },
            Operation::Replace(first, last) => HashlineAction::Replace { first, last, lines },
        };
        if let Some(section) = self.section.and_then(|at| self.read.sections.get_mut(at)) {
            section.edits.push(HashlineEdit { line, action });
        }
        Ok(())
    }
}

fn read_operation(number: usize, line: &str) -> Result<Option<Operation>, HashlineSyntaxError> {
    let mut letters = line.chars();
    let sign = letters.next();
    let rest = letters.as_str().trim();
    match sign {
        Some('»') => Ok(Some(Operation::Insert(read_place(number, rest, InsertPlace::After)?))),
        Some('«') => Ok(Some(Operation::Insert(read_place(number, rest, InsertPlace::Before)?))),
        Some('≔') => read_range(number, rest).map(Some),
        _ => Ok(None),
    }
}

fn read_place(
    number: usize,
    text: &str,
    place: fn(LineAnchor) -> InsertPlace,
) -> Result<InsertPlace, HashlineSyntaxError> {
    match text {
        "BOF" => Ok(InsertPlace::Top),
        "EOF" => Ok(InsertPlace::Bottom),
        text => read_anchor(number, text).map(place),
    }
}

fn read_anchor(number: usize, text: &str) -> Result<LineAnchor, HashlineSyntaxError> {
    LineAnchor::parse(text).ok_or_else(|| {
        at_line(number, format!("expected a full anchor such as \"119sr\"; got \"{}\"", quote(text)))
    })
}

fn read_range(number: usize, text: &str) -> Result<Operation, HashlineSyntaxError> {
    let parts: Vec<&str> = text.split("..").collect();
    let (first, last) = match parts[..] {
        [] | [""] | ["BOF" | "EOF"] => {
            return Err(at_line(number, "a replacement names its lines: ≔A..B, or ≔A for one line"));
        }
        [one] if LineAnchor::parse(one).is_none() && one.contains(['-', ',', ' ']) => {
            return Err(at_line(
                number,
                "a replacement names its lines: ≔A..B, two full anchors with \"..\" between them",
            ));
        }
        [one] => (one, one),
        [first, last] if !first.trim().is_empty() && !last.trim().is_empty() => (first.trim(), last.trim()),
        _ => {
            return Err(at_line(number, "a range has exactly two full anchors with \"..\" between them"));
        }
    };
    let (first, last) = (read_anchor(number, first)?, read_anchor(number, last)?);
    if last.line < first.line {
        return Err(at_line(number, format!("the range {first}..{last} ends before it begins")));
    }
    if last.line == first.line && last.hash != first.hash {
        return Err(at_line(
            number,
            format!("the range {first}..{last} has two different hashes for one line"),
        ));
    }
    Ok(Operation::Replace(first, last))
}

fn no_header(got: &str) -> HashlineSyntaxError {
    HashlineSyntaxError(format!(
        "the input has to begin with \"§PATH\" on its first line that is not blank; got: `{}`. Example: \"§src/foo.ts\", and \
         then edits",
        quote(got)
    ))
}

fn at_line(number: usize, said: impl AsRef<str>) -> HashlineSyntaxError {
    HashlineSyntaxError(format!("line {number}: {}", said.as_ref()))
}

fn quote(text: &str) -> String {
    text.chars().take(MAX_QUOTE).collect()
}
