//! Answers that say two different things, or say themselves that they are not what they look like.

use super::*;

const DIFF: &str = "--- a/b.ts\n+++ b/b.ts\n@@ -1 +1 @@\n-x\n+y\n";
const PATCH: &str = "*** Begin Patch\n*** Update File: b.ts\n@@\n-x\n+y\n*** End Patch\n";
const SEARCH: &str = "<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n";

#[test]
fn a_header_and_a_block_that_name_different_files_are_refused() {
    check(&[
        (
            &format!("```diff // a.ts\n{DIFF}```\n"),
            &["!2 the block is headed `a.ts`, but its diff names `b/b.ts`"],
        ),
        (
            &format!("```ts // a.ts\n{PATCH}```\n"),
            &["!3 the block is headed `a.ts`, but its patch names `b.ts`"],
        ),
        (
            &format!("```ts // a.ts\nb.ts\n{SEARCH}```\n"),
            &["!2 the block is headed `a.ts`, but this line names `b.ts`"],
        ),
        (&format!("```diff // b.ts\n{DIFF}```\n"), &["W b.ts"]),
        (&format!("```diff // src/b.ts\n{DIFF}```\n"), &["W src/b.ts"]),
        (&format!("```ts // ./b.ts\n{PATCH}```\n"), &["W b.ts"]),
        (&format!("```diff // b.ts\n{}```\n", DIFF.replace("a/b.ts", "b.ts.orig")), &["W b.ts"]),
        (
            &format!("```diff // a.ts\n{}```\n", DIFF.replace("a/b.ts", "old").replace("b/b.ts", "new")),
            &["W a.ts"],
        ),
    ]);
}

#[test]
fn a_path_directly_above_a_block_for_another_file_is_refused() {
    check(&[
        (
            &format!("b.ts\n```ts // a.ts\n{SEARCH}```\n"),
            &["!2 the line above this block names `b.ts`, but the block is for `a.ts`"],
        ),
        (
            &format!("**a.ts**\n```diff\n{DIFF}```\n"),
            &["!2 the line above this block names `a.ts`, but the block is for `b.ts`"],
        ),
        (&format!("b.ts\n```ts // src/b.ts\n{SEARCH}```\n"), &["W src/b.ts"]),
        (&format!("src/b.ts\n```ts // b.ts\n{SEARCH}```\n"), &["W b.ts"]),
        (&format!("See b.ts\n```ts // a.ts\n{SEARCH}```\n"), &["W a.ts"]),
        (&format!("- b.ts\n```ts // a.ts\n{SEARCH}```\n"), &["W a.ts"]),
        (&format!("a.ts\nb.ts\n```ts // a.ts\n{SEARCH}```\n"), &["W a.ts"]),
        (&format!("b.ts\n\n```ts // a.ts\n{SEARCH}```\n"), &["W a.ts"]),
    ]);
}

#[test]
fn a_heredoc_that_depends_on_a_command_above_it_is_refused() {
    let heredoc = "cat > b.ts <<'EOF'\nx\nEOF\n";
    for above in [
        "mkdir -p sub && cd sub\n",
        "mkdir sub; cd sub\n",
        "test -d sub && cd sub\n",
        "cd sub || exit 1\n",
        "[ -f b.ts ] ||\n",
        "false && \\\n",
        "if false; then\n",
        "[ -f b.ts ] ||\n# comment\n",
    ] {
        let refused = |line: usize| format!("!{line} this heredoc cannot be carried out");
        let below = above.matches('\n').count() + 1;
        check(&[(&format!("```sh\n{above}{heredoc}```\n"), &[&refused(below + 1)])]);
        if !above.contains('#') {
            check(&[(&format!("{above}{heredoc}"), &[&refused(below)])]);
        }
    }
    for above in
        ["mkdir -p sub && \\\n", "mkdir -p sub &&\n", "npm ci &&\nnpm test\n", "(cd sub && npm ci)\n"]
    {
        check(&[(&format!("```sh\n{above}{heredoc}```\n"), &["W b.ts"])]);
    }
    check(&[
        (&format!("Then cd into it, if you like:\n\n{heredoc}"), &["W b.ts"]),
        (&format!("cd sub\n\n{heredoc}"), &["!3 this heredoc cannot be carried out"]),
        (
            &format!(
                "```sh\n{}{heredoc}```\n",
                heredoc.replace("'EOF'", "'EOF' && cd sub").replace("b.ts", "a.ts")
            ),
            &["!5 this heredoc cannot be carried out: a command before it changes the directory"],
        ),
    ]);
}

#[test]
fn a_block_that_is_said_to_be_old_or_a_part_is_not_the_file() {
    for (remark, broken) in [
        ("- excerpt", true),
        ("(lines 1-3)", true),
        ("(excerpt)", true),
        ("snippet", true),
        ("- old version", false),
        ("— original", false),
        ("(before)", false),
    ] {
        for text in [
            format!("```ts // src/a.ts {remark}\nx\n```\n"),
            format!("```ts:src/a.ts {remark}\nx\n```\n"),
            format!("```ts file=src/a.ts {remark}\nx\n```\n"),
            format!("```ts title=\"src/a.ts\" {remark}\nx\n```\n"),
            format!("```ts\n// src/a.ts {remark}\nx\n```\n"),
            format!("```ts\n// filepath: src/a.ts {remark}\nx\n```\n"),
            format!("```ts // src/a.ts\n// src/a.ts {remark}\nx\n```\n"),
        ] {
            let lines = summary(&read(&text));
            assert!(
                lines.len() == 1 && lines[0].starts_with(if broken { '!' } else { '?' }),
                "{text}{lines:#?}"
            );
        }
    }
    check(&[
        (&format!("```ts // src/b.ts (excerpt)\n{SEARCH}```\n"), &["W src/b.ts multi-search-replace"]),
        (
            &format!("```ts\n// src/b.ts (excerpt)\n{SEARCH}```\n"),
            &["!2 this block is said to be only a part"],
        ),
        ("```ts // src/a.ts - the cart\nx\n```\n", &["W src/a.ts replace"]),
        ("```ts // src/a.ts;\nx\n```\n", &["W src/a.ts replace"]),
        ("```ts // src/a.ts src/b.ts\nx\n```\n", &["!1 `src/a.ts src/b.ts` may be"]),
    ]);
}

#[test]
fn fewer_lines_than_line_count_says_are_cut_off() {
    let write = |count: &str| {
        format!(
            "<write_to_file>\n<path>a.ts</path>\n<content>\nx\ny\n</content>\n<line_count>{count}</line_count>\n</write_to_file>\n"
        )
    };
    check(&[
        (&write("30"), &["!1 `<line_count>` says 30 lines, but there are 2"]),
        (&write("2"), &["W a.ts replace"]),
        (&write("3"), &["W a.ts replace"]),
        (&write("1"), &["W a.ts replace"]),
        (&write("some"), &["W a.ts replace"]),
    ]);
}

#[test]
fn calls_of_unknown_tools_do_not_vanish() {
    let edit = r#"{"name":"Edit","input":{"file_path":"a.ts","old_string":"x","new_string":"y"}}"#;
    let around = |call: &str| {
        [
            format!("{edit}\n{call}\n"),
            format!("```json\n{edit}\n{call}\n```\n"),
            format!("[{edit},\n{call}]\n"),
        ]
    };
    for (call, wanted) in [
        (r#"{"name":"delete_file","input":{"path":"b.ts"}}"#, "D b.ts"),
        (r#"{"name":"move_file","input":{"source":"b.ts","destination":"c.ts"}}"#, "R b.ts c.ts"),
        (r#"{"name":"rename_file","arguments":{"old_path":"b.ts","new_path":"c.ts"}}"#, "R b.ts c.ts"),
    ] {
        for text in around(call) {
            check(&[(&text, &["W a.ts tool-calls x=>y", wanted])]);
        }
    }
    for call in [
        r#"{"command":"delete","path":"b.ts"}"#,
        r#"{"name":"regex_replace","input":{"path":"b.ts","pattern":"x","replacement":"y"}}"#,
        r#"{"name":"append_to_file","input":{"path":"b.ts","text":"y"}}"#,
        r#"{"name":"overwrite","input":{"path":"b.ts"}}"#,
    ] {
        for text in around(call) {
            let lines = summary(&read(&text));
            assert!(lines.iter().any(|line| line.starts_with('!')), "{text}{lines:#?}");
        }
    }
    let view = r#"{"name":"read_file","input":{"path":"b.ts"}}"#;
    let test = r#"{"name":"Bash","input":{"command":"npm test"}}"#;
    for call in [view, test] {
        for text in around(call) {
            check(&[(&text, &["W a.ts tool-calls x=>y"])]);
        }
    }
    let noted = |call: &str| read(&format!("```json\n{edit}\n{call}\n```\n")).notes.len();
    assert_eq!((noted(test), noted(view)), (1, 0));
    check(&[
        (r#"{"name":"delete_file","input":{"path":"b.ts"}}"#, &["D b.ts"]),
        (r#"{"name":"remove","path":"b.ts"}"#, &[]),
        ("```json\n{\"command\": \"delete\", \"path\": \"/items\"}\n```\n", &["?1"]),
        ("```json\n{\"name\": \"create-app\", \"path\": \"src\"}\n```\n", &["?1"]),
        ("```json\n{\"from\": \"a.ts\", \"to\": \"b.ts\"}\n```\n", &["?1"]),
    ]);
}
