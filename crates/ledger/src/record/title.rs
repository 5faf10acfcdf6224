//! What a change is called, wherever it is named: its author's message, else what it did. An undo is called after what it
//! undoes, a redo after what it brings back.

use crate::record::{FileRecord, Record};

/// Names of files in a title; of more only the first is named.
const NAMES: usize = 2;
/// What the title of an undo begins with.
const UNDOES: &str = "undoes: ";
/// … and of what takes an undo back.
const BRINGS_BACK: &str = "brings back: ";
/// The origin of what a recorded command did; its summary is the command line.
const RECORD_ORIGIN: &str = "record";

/// The title of a change, on one line.
pub fn title(record: &Record) -> String {
    let message = record.git_commit_msg.as_deref().and_then(first_line);
    let asked_for = record.prompt_summary.as_deref().and_then(first_line);
    match (message, asked_for, record.title.as_deref().and_then(first_line)) {
        (Some(message), ..) => message.to_string(),
        (None, Some(command), _) if record.origin == RECORD_ORIGIN => format!("run: {command}"),
        (None, Some(asked_for), _) => asked_for.to_string(),
        (None, None, Some(title)) => title.to_string(),
        (None, None, None) => match record.revert_of.as_slice() {
            [] => describe_files(record),
            [one] => format!("{UNDOES}{}", one.short()),
            [first, rest @ ..] => format!("{UNDOES}{}, {} more", first.short(), rest.len()),
        },
    }
}

/// The title of what takes these changes back, which are given newest first; `file`: only that file's part.
pub fn revert_title(records: &[Record], file: Option<&str>) -> String {
    // A group is named after its first member.
    let Some(first) = records.last() else { return String::new() };
    let title = title(first);
    let opposite = if first.revert_of.is_empty() {
        None
    } else if let Some(undone) = title.strip_prefix(UNDOES) {
        Some(format!("{BRINGS_BACK}{undone}"))
    } else {
        title.strip_prefix(BRINGS_BACK).map(|back| format!("{UNDOES}{back}"))
    };
    let part = file.map(|file| format!(" (only {file})")).unwrap_or_default();
    format!("{}{part}", opposite.unwrap_or_else(|| format!("{UNDOES}{title}")))
}

/// What the title of an undo or redo says was undone or brought back; any other title as it is.
pub fn reverted_title(title: &str) -> &str {
    title.strip_prefix(UNDOES).or_else(|| title.strip_prefix(BRINGS_BACK)).unwrap_or(title)
}

/// Whether something with that title is in again, instead of out.
pub fn brings_back(title: &str) -> bool {
    title.starts_with(BRINGS_BACK)
}

fn first_line(text: &str) -> Option<&str> {
    text.lines().map(str::trim).find(|line| !line.is_empty())
}

/// `edit src/main.rs, 2 more`
fn describe_files(record: &Record) -> String {
    let verb = |file: &FileRecord| match (&file.before, &file.after) {
        (None, _) => "add",
        (_, None) if !record.is_result_unknown(file) => "delete",
        _ if file.renamed_from.is_some() => "rename",
        _ => "edit",
    };
    let name = |file: &FileRecord| match &file.renamed_from {
        Some(old) => format!("{old} → {}", file.path),
        None => file.path.clone(),
    };
    let Some(first) = record.result.first() else { return describe_directories(record) };
    let verb_of_all = verb(first);
    let same = record.result.iter().all(|file| verb(file) == verb_of_all);
    let verb = if same { verb_of_all } else { "change" };
    format!("{verb} {}", list_names(record.result.iter().map(name)))
}

fn describe_directories(record: &Record) -> String {
    let made = record.made_directories.iter().map(|path| format!("{path}/"));
    let removed = record.removed_directories.iter().map(|removed| format!("{}/", removed.path));
    let modes = record.directory_modes.iter().map(|change| format!("{}/", change.path));
    match (made.len(), removed.len(), modes.len()) {
        (0, 0, 0) => "change no files".to_string(),
        (_, 0, 0) => format!("add {}", list_names(made)),
        (0, _, 0) => format!("delete {}", list_names(removed)),
        (0, 0, _) => format!("change the mode of {}", list_names(modes)),
        _ => format!("change {}", list_names(made.chain(removed).chain(modes))),
    }
}

/// `a, b` or `a, 2 more`
fn list_names(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    match names.as_slice() {
        [first, rest @ ..] if names.len() > NAMES => format!("{first}, {} more", rest.len()),
        _ => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TxId;
    use crate::record::{FileImage, RemovedDirectory};

    fn file(path: &str, from: Option<&str>, before: bool, after: bool) -> FileRecord {
        let image = FileImage::of(b"x", 0o644);
        FileRecord {
            path: path.into(),
            renamed_from: from.map(str::to_string),
            before: before.then_some(image),
            after: after.then_some(image),
            ..FileRecord::default()
        }
    }

    fn record(result: Vec<FileRecord>) -> Record {
        Record { version: crate::record::FORMAT, origin: "file".into(), result, ..Record::default() }
    }

    #[test]
    fn every_change_has_a_title() {
        let edit = || file("src/main.rs", None, true, true);
        let add = || file("new.rs", None, false, true);
        assert_eq!(title(&record(vec![edit()])), "edit src/main.rs");
        assert_eq!(title(&record(vec![edit(), file("b", None, true, true)])), "edit src/main.rs, b");
        assert_eq!(title(&record(vec![edit(), edit(), edit()])), "edit src/main.rs, 2 more");
        assert_eq!(title(&record(vec![add()])), "add new.rs");
        assert_eq!(title(&record(vec![file("old", None, true, false)])), "delete old");
        assert_eq!(title(&record(vec![file("b", Some("a"), true, true)])), "rename a → b");
        assert_eq!(title(&record(vec![add(), edit()])), "change new.rs, src/main.rs");
        assert_eq!(title(&record(Vec::new())), "change no files");
        let removed = vec![RemovedDirectory { path: "d".into(), mode: 0o755 }];
        assert_eq!(title(&Record { removed_directories: removed, ..record(Vec::new()) }), "delete d/");
        let said = |message: &str| Some(message.to_string());
        let named = Record { git_commit_msg: said("\n fix: typo \nmore"), ..record(vec![edit()]) };
        assert_eq!(title(&named), "fix: typo");
        let asked = Record { prompt_summary: said("a summary"), ..record(vec![edit()]) };
        assert_eq!(title(&asked), "a summary");
        let ran = Record { origin: RECORD_ORIGIN.into(), prompt_summary: said("make fmt"), ..record(vec![]) };
        assert_eq!(title(&ran), "run: make fmt");
    }

    #[test]
    fn an_undo_is_named_after_what_it_undoes_and_a_redo_after_what_it_brings_back() {
        let change = record(vec![file("a", None, true, true)]);
        let taken_back = |of: &Record, file: Option<&str>| Record {
            title: Some(revert_title(std::slice::from_ref(of), file)),
            revert_of: vec![of.uuid],
            ..Record::default()
        };
        let undo = taken_back(&change, None);
        let redo = taken_back(&undo, None);
        assert_eq!(title(&undo), "undoes: edit a");
        assert_eq!(title(&redo), "brings back: edit a");
        assert_eq!(title(&taken_back(&redo, None)), "undoes: edit a");
        assert_eq!(title(&taken_back(&change, Some("a"))), "undoes: edit a (only a)");
        assert_eq!(reverted_title("undoes: edit a"), "edit a");
        let old = Record { revert_of: vec![TxId::default(), TxId::default()], ..Record::default() };
        assert_eq!(title(&old), "undoes: 00000000, 1 more");
        // Only what takes something back has an opposite.
        let lookalike = Record { git_commit_msg: Some("undoes: x".into()), ..change };
        assert_eq!(revert_title(&[lookalike], None), "undoes: undoes: x");
    }
}
