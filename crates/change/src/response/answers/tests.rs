//! Several answers in one text: each row is one way in which they follow each other.

use proptest::prelude::*;

use super::*;
use crate::proposal::{EditBody, FileAction, FileEdit};
use crate::response::read;

const A: &str = "0b9b6d2e-7a55-4c8c-8f5e-1c2d3e4f5a6b";
const B: &str = "5f8e0b0e-8f0a-4f43-9c27-5d1b6a5f3c11";

fn all(text: &str) -> Vec<ParsedAnswer<'_>> {
    let answers = read_all(text, &PlanLimits::default()).unwrap();
    let joined: String = answers.iter().map(|answer| answer.text).collect();
    assert_eq!(joined, text, "nothing is lost and nothing is there twice");
    answers
}

fn file(name: &str) -> String {
    format!("```txt // \"{name}\"\nx\n```\n")
}

fn control(uuid: &str) -> String {
    format!("```yaml\nprojectId: p\nuuid: {uuid}\n```\n")
}

/// Each answer as the files it changes and the first letter of its id.
fn summaries(text: &str) -> Vec<String> {
    let tell = |answer: &ParsedAnswer<'_>| {
        let proposal = &answer.proposal;
        let files: Vec<&str> = proposal.operations.iter().map(|one| one.action.path().as_str()).collect();
        let id = proposal.control.uuid.as_deref().map_or("-", |id| if id == A { "A" } else { "B" });
        format!("{} {id}", files.join(","))
    };
    all(text).iter().map(tell).collect()
}

#[test]
fn a_control_block_ends_an_answer_if_more_follows() {
    let (a, b, one, two) = (&control(A), &control(B), &file("one"), &file("two"));
    let bare_a = &format!("\nprojectId: p\nuuid: {A}\n\n");
    let none = "```yaml\nprojectId: p\n```\n";
    for (text, wanted) in [
        ([one, a, two, b].map(String::as_str).concat(), &["one A", "two B"][..]),
        ([one, a, "That is all.\n", "```sh\nls\n```\n"].concat(), &["one A"]),
        ([one.as_str(), a, two].concat(), &["one A", "two -"]),
        ([one.as_str(), a, b].concat(), &["one A", " B"]),
        ([one.as_str(), a, two, a].concat(), &["one,two A"]),
        ([one.as_str(), none, two, none].concat(), &["one -", "two -"]),
        ([one.as_str(), two].concat(), &["one,two -"]),
        (one.clone(), &["one -"]),
        (a.clone(), &[" A"]),
        ([a.as_str(), "text\n", b].concat(), &[" A", " B"]),
        (String::new(), &[" -"]),
        ("Only words.\n".to_owned(), &[" -"]),
        // Above everything else it belongs to what is below.
        ([a.as_str(), one].concat(), &["one A"]),
        ([a.as_str(), one, b, two].concat(), &["one A", "two B"]),
        ([a.as_str(), one, a].concat(), &["one A"]),
        ([a.as_str(), one, b].concat(), &[" A", "one B"]),
        // Without a fence.
        ([one.as_str(), bare_a, two, b].concat(), &["one A", "two B"]),
        ([one.as_str(), bare_a, "Makefile:\n", "```make\nall:\n```\n", b].concat(), &["one A", "Makefile B"]),
        ([one.as_str(), a, two, "\nprojectId: p\nuuid: ", B, "\n"].concat(), &["one A", "two B"]),
        ([one.as_str(), "uuid: what is that?\n\n", two, b].concat(), &["one,two B"]),
        // A file is not a control block.
        (
            [one.as_str(), "```yaml // conf.yml\nprojectId: p\n```\n", two, a].concat(),
            &["one,conf.yml,two A"],
        ),
        ([one.as_str(), "conf.yml\n```yaml\nuuid: p\n```\n", two, a].concat(), &["one,conf.yml,two A"]),
        ([one.as_str(), "````md // r.md\n", a, two, "````\n", a].concat(), &["one,r.md A"]),
        // What is cut off after the last answer counts against that one.
        ([one.as_str(), a, "```ts // ../b\nx\n```\n"].concat(), &["one A"]),
    ] {
        assert_eq!(summaries(&text), wanted, "{text}");
    }
}

#[test]
fn lines_are_those_of_the_whole_text() {
    for ending in ["\n", "\r\n"] {
        let first = format!("\u{feff}{}{}", file("one"), control(A));
        let second = "Words.\n```ts // a.ts\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n```\n```ts // b.ts\nx\n\n```ts // c.ts\ny\n```\n```sh\nls\n```\n";
        let third = "```yaml\nprojectId: p\nuuid: none\n```\n";
        let text = [&first, second, third].concat().replace('\n', ending);
        let answers = all(&text);
        assert_eq!(answers.len(), 2);
        let ParsedAnswer { first_line, proposal, .. } = &answers[1];
        assert_eq!(*first_line, 8);
        assert_eq!(proposal.reasoning[0], "Words.");
        assert_eq!(proposal.operations[0].line, 10);
        let FileAction::Write { edit: FileEdit { body: EditBody::Hunks(hunks), .. }, .. } =
            &proposal.operations[0].action
        else {
            panic!("no hunks: {proposal:?}")
        };
        assert_eq!(hunks[0].line, 10);
        assert_eq!(proposal.unread.iter().map(|unread| unread.line).collect::<Vec<_>>(), [16, 22]);
        let reason = &proposal.unread[0].reason;
        assert!(reason.ends_with("the block on line 19"), "numbers inside of sentences too: {reason}");
        let lines: Vec<usize> = proposal.notes.iter().map(|note| note.line).collect();
        assert_eq!(lines, [26], "{:?}", proposal.notes);
    }
}

#[test]
fn limits_hold_for_each_answer() {
    let limits = PlanLimits { files: 1, ..PlanLimits::default() };
    let two = [file("one"), control(A), file("two"), control(B)].concat();
    assert_eq!(read_all(&two, &limits).unwrap().len(), 2);
    let more = [file("one"), control(A), file("two"), file("three"), control(B)].concat();
    assert_eq!(read_all(&more, &limits), Err(ResponseError::TooManyFiles { most: 1 }));
    let short = PlanLimits { text_bytes: 10, ..PlanLimits::default() };
    assert!(matches!(read_all(&two, &short), Err(ResponseError::TooLong { .. })));
    let none = "```yaml\nprojectId: p\n```\n";
    assert_eq!(read_all(&none.repeat(ANSWERS), &limits).unwrap().len(), ANSWERS);
    assert_eq!(read_all(&none.repeat(ANSWERS + 1), &limits), Err(ResponseError::TooManyAnswers));
    let bare = format!("projectId: p\nuuid: {A}\n\n{}", file("one"));
    assert_eq!(read_all(&bare.repeat(ANSWERS), &limits).unwrap().len(), 1);
    assert_eq!(read_all(&bare.repeat(ANSWERS + 1), &limits), Err(ResponseError::TooManyAnswers));
}

/// Pieces of answers, whole and damaged.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[a-c]".prop_map(|name| file(&name)),
        3 => prop::sample::select(vec![control(A), control(B), "```yaml\nprojectId: p\n```\n".to_owned()]),
        2 => prop::sample::select(vec![
            "```", "```ts", "```ts // b.ts", "````md // r.md", "````", "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE",
            "*** Begin Patch", "*** End Patch", "// START", "// END", "--- a/x", "+++ b/x", "@@ @@", "-a", "projectId: p",
            "uuid: 0b9b6d2e-7a55-4c8c-8f5e-1c2d3e4f5a6b", "", "Words.", "a.txt", "```yaml", "<source>", "</source>",
        ]).prop_map(|line| format!("{line}\n")),
        1 => "\\PC{0,12}\r?\n",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_answer_is_what_reading_its_text_gives(pieces in prop::collection::vec(piece(), 0..12)) {
        let text = pieces.concat();
        let limits = PlanLimits::default();
        let mut line = 1;
        for answer in all(&text) {
            prop_assert_eq!(answer.first_line, line);
            line += answer.text.matches('\n').count();
            // Empty lines above mean nothing and move everything down.
            let moved = "\n".repeat(answer.first_line - 1) + answer.text;
            prop_assert_eq!(&answer.proposal, &read(&moved, &limits).unwrap(), "{}", text);
        }
    }

    #[test]
    fn one_answer_is_what_reading_the_text_gives(pieces in prop::collection::vec(piece(), 0..12)) {
        let text = pieces.concat();
        let answers = all(&text);
        if let [answer] = answers.as_slice() {
            let wanted = read(&text, &PlanLimits::default()).unwrap();
            prop_assert_eq!(answer, &ParsedAnswer { text: &text, first_line: 1, proposal: wanted });
        } else {
            prop_assert!(text.contains("projectId"));
        }
    }
}

#[test]
fn edits_of_very_many_lines_are_not_read() {
    let edit = |lines: usize| {
        format!("```txt // a.txt\n<<<<<<< SEARCH\n{}=======\ny\n>>>>>>> REPLACE\n```\n", "x\n".repeat(lines))
    };
    let control = |n: usize| format!("```yaml\nprojectId: p\nuuid: 3f9c1e2a-5b77-4c1e-9a90-{n:012}\n```\n");
    let limits = PlanLimits::default();
    assert_eq!(read_all(&edit(EDIT_LINES), &limits), Err(ResponseError::TooManyLines));
    let many: String = (0..4).map(|n| edit(EDIT_LINES / 3) + &control(n)).collect();
    assert_eq!(read_all(&many, &limits), Err(ResponseError::TooManyLines));
    assert!(read_all(&edit(EDIT_LINES / 2), &limits).is_ok());
}
