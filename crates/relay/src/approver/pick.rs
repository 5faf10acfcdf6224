//! `f`: only some of the files, or only some places of a file.
//!
//! `1 3` takes these files and no others, `2.1 2.3-2.5` these places of the second, `-2` all but it.
//! What was picked becomes a new plan, which is shown and asked about again.

use relaycode_change::diff::{DiffContent, FileDiff};
use relaycode_door::{ApprovalReply, PlanRevision};
use relaycode_tui::OutputStyle;
use relaycode_tui::views::question;

use super::apply::ChangedFiles;
use super::{DialogResult, MAX_MISUNDERSTOOD, QuestionDialog, TypedLine};

/// Lets the person pick; `what` is what they typed already. `None`: everything stays as it is.
pub(super) fn ask_pick(
    asking: &mut QuestionDialog<'_>,
    files: &ChangedFiles<'_>,
    what: &str,
) -> DialogResult<Option<Vec<PlanRevision>>> {
    let places: Vec<usize> = files.diffs.iter().map(|diff| question::selectable_hunks(diff).len()).collect();
    let mut typed = Some(what.to_string()).filter(|what| !what.is_empty());
    if typed.is_none() && places == [0] {
        asking.remark("there is one place in one file: nothing to pick from");
        return Ok(None);
    }
    if typed.is_none() {
        asking.show(&|look: &OutputStyle| files.list(true, look));
    }
    loop {
        let asked = match typed.take() {
            Some(line) => Some(line),
            None => asking.read_line(&question::pick_prompt(&places, &asking.style))?,
        };
        let Some(line) = asked else { return Ok(None) };
        let said = TypedLine::parse(&line);
        if matches!(said.word.as_str(), "d" | "s") {
            files.show_diff(asking, &said.rest, said.word == "s");
            continue;
        }
        let problem = match PickSelection::parse(&line, &places) {
            Ok(picked) if picked.is_empty() => "nothing would be left of it; `n` says no to all".to_string(),
            Ok(picked) => {
                let revisions = picked.revisions(files);
                if revisions.is_empty() {
                    asking.remark("that is everything: nothing changes");
                    return Ok(None);
                }
                return Ok(Some(revisions));
            }
            Err(problem) => problem,
        };
        asking.misunderstood += 1;
        if asking.misunderstood > MAX_MISUNDERSTOOD {
            return Err(ApprovalReply::No { reason: None });
        }
        asking.remark(&problem);
    }
}

/// One place of a diff, as a diff of its own.
pub(super) fn single_hunk(diff: &FileDiff, place: usize) -> Option<FileDiff> {
    let hunk = question::selectable_hunks(diff).get(place)?.clone();
    Some(FileDiff { content: DiffContent::Text { hunks: vec![hunk], endings: None }, ..diff.clone() })
}

/// Per file, which of its places are wanted; a file that is taken whole has one.
#[derive(Debug, PartialEq, Eq)]
struct PickSelection(Vec<Vec<bool>>);

impl PickSelection {
    /// Reads what was typed; `places`: how many each file has, 0 for one that is taken whole.
    fn parse(line: &str, places: &[usize]) -> Result<PickSelection, String> {
        let words: Vec<&str> = line.split([' ', '\t', ',']).filter(|word| !word.is_empty()).collect();
        // Whoever only says what they do not want wants the rest.
        let all_but = words.iter().all(|word| word.starts_with('-'));
        let mut picked = PickSelection(places.iter().map(|count| vec![all_but; (*count).max(1)]).collect());
        for word in words {
            let (wanted, range) = match word.strip_prefix('-') {
                Some(range) => (false, range),
                None => (true, word),
            };
            picked.set_range(range, wanted).ok_or_else(|| question::unknown_pick(word, places))?;
        }
        Ok(picked)
    }

    /// Sets `2`, `2-4`, `2.1`, `2.1-2.3` or `2.1-3`.
    fn set_range(&mut self, range: &str, wanted: bool) -> Option<()> {
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        let number = |text: &str| text.parse::<usize>().ok()?.checked_sub(1);
        if let Some((file, first)) = from.split_once('.') {
            let last = match to.split_once('.') {
                Some((same, last)) if number(same) == number(file) => last,
                Some(_) => return None,
                None => to,
            };
            let places = self.0.get_mut(number(file)?)?;
            places.get_mut(number(first)?..=number(last)?).filter(|places| !places.is_empty())?.fill(wanted);
        } else {
            let files = self.0.get_mut(number(from)?..=number(to)?).filter(|files| !files.is_empty())?;
            files.iter_mut().for_each(|places| places.fill(wanted));
        }
        Some(())
    }

    fn is_empty(&self) -> bool {
        self.0.iter().flatten().all(|wanted| !wanted)
    }

    /// What has to change so that only this is carried out.
    fn revisions(&self, files: &ChangedFiles<'_>) -> Vec<PlanRevision> {
        let mut revisions = Vec::new();
        for (file, places) in files.plans.iter().zip(&self.0) {
            let wanted: Vec<usize> = (0..places.len()).filter(|index| places[*index]).collect();
            if wanted.is_empty() {
                revisions.push(PlanRevision::LeaveOut(file.path.clone()));
            } else if wanted.len() < places.len() {
                revisions.push(PlanRevision::OnlyHunks(file.path.clone(), wanted));
            }
        }
        revisions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Option<String> {
        let picked = PickSelection::parse(line, &[0, 4, 2]).ok()?;
        let file = |places: &Vec<bool>| places.iter().map(|p| if *p { '1' } else { '0' }).collect::<String>();
        Some(picked.0.iter().map(file).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn numbers_say_which_files_and_places() {
        for (line, expected) in [
            ("1 3", "1 0000 11"),
            ("1,3", "1 0000 11"),
            ("1-2", "1 1111 00"),
            ("1 2.1-2.3", "1 1110 00"),
            ("2.2-3 3.1", "0 0110 10"),
            ("-2", "1 0000 11"),
            ("-2.1 -3", "1 0111 00"),
            ("-1-2", "0 0000 11"),
            ("2 -2.4", "0 1110 00"),
            ("1.1", "1 0000 00"),
            ("-1-3", "0 0000 00"),
        ] {
            assert_eq!(read(line).as_deref(), Some(expected), "{line}");
        }
    }

    #[test]
    fn anything_else_is_not_guessed_at() {
        for line in [
            "4",
            "0",
            "2.5",
            "2.0",
            "1.2",
            "3-1",
            "2.3-2.1",
            "2.1-3.1",
            "x",
            "1 y",
            "--1",
            "-",
            "1.",
            ".1",
            "99999999999999999999",
            "1-4",
            "2.1-9",
            "2.1.1",
            "18446744073709551615",
        ] {
            assert_eq!(read(line), None, "{line}");
        }
    }
}
