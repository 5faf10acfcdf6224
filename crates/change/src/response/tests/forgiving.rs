//! What people really paste: quotes, diffs without `@@`, odd markers, cut-off ends. Each row is read, or broken;
//! nothing is left out beside a good block.

use super::*;

const GOOD: &str = "```py // n.py\nn\n```\n\n";
const WRITTEN: &str = "W n.py replace \"n\\n\"";
const PATCH: &str = "*** Begin Patch\n*** Update File: a.py\n@@\n-a\n+b\n*** End Patch\n";
const DIFF: &str = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a\n+b\n";

/// Every line behind a mark.
fn marked(mark: &str, text: &str) -> String {
    text.lines().map(|line| format!("{mark}{line}\n")).collect()
}

#[test]
fn quoted_blocks_are_read_if_all_of_them_is_quoted() {
    let search = "a.py\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n";
    for (text, wanted) in [
        (GOOD, WRITTEN),
        (PATCH, "W a.py apply-patch a=>b"),
        (DIFF, "W a.py new-unified a=>b"),
        (search, "W a.py multi-search-replace a=>b"),
    ] {
        for mark in ["> ", ">", "> > ", ">> "] {
            check(&[(&marked(mark, text), &[wanted])]);
            check(&[(&format!("Hello.\n\n{}\nBye.\n", marked(mark, text)), &[wanted])]);
        }
    }
    check(&[
        (&format!("{GOOD}> ```py // a.py\n> x\ny\n```\n"), &[WRITTEN, "!5 this block is quoted", "!8"]),
        (&format!("{GOOD}> ```py // a.py\n> x\n\n"), &[WRITTEN, "!5 this block is quoted"]),
        (
            &format!("{GOOD}> *** Begin Patch\n> *** Update File: a.py\n"),
            &[WRITTEN, "!6 this part of a patch"],
        ),
        (&format!("> ```sh\n> ls\n> ```\n{GOOD}"), &[WRITTEN]),
        // A tool quotes the edit that failed.
        (
            &format!("{search}\n> This failed in a.py:\n{}", marked("> ", search).replace('\n', "  \n")),
            &["W a.py multi-search-replace a=>b"],
        ),
        (
            &format!("{search}\n> This failed:\n> <<<<<<< SEARCH\n> a\n> =======\n> ^^^ here\n"),
            &["W a.py multi-search-replace a=>b"],
        ),
        (
            &format!("{search}\n> <<<<<<< SEARCH\n> other\n> =======\n"),
            &["W a.py multi-search-replace a=>b", "!8 this SEARCH block is quoted"],
        ),
        (
            &format!("{search}\n{}", marked("> ", &search.replace("b\n", "c\n"))),
            &["W a.py multi-search-replace a=>b a=>c"],
        ),
        ("```md // a.md\n> ```py // b.py\n> x\n> ```\n```\n", &["W a.md replace \"> ```py // b.py\\n"]),
    ]);
    // Mail programs put no blank there, and the indentation stays.
    let indented = "```py // n.py\nif 1:\n    x = 1\n```\n";
    for mark in ["> ", ">", ">> ", ">>"] {
        check(&[(&marked(mark, indented), &["W n.py replace \"if 1:\\n    x = 1\\n\""])]);
    }
    let deepest = marked(&"> ".repeat(quotes::QUOTE_DEPTH), GOOD);
    check(&[(&deepest, &[WRITTEN]), (&marked("> ", &deepest), &["!1 this block is quoted"])]);
    let quoted = marked("> ", "```txt // a.txt\na\n```\n");
    let answers = read_all(&quoted, &PlanLimits::default()).unwrap();
    assert_eq!(answers[0].proposal.operations[0].line, 2);
}

#[test]
fn diffs_without_a_header_line() {
    let read = "W a.py new-unified a|c=>b|c";
    check(&[
        ("```diff // a.py\n-a\n+b\n c\n```\n", &[read]),
        ("```py // a.py\n-a\n+b\n c\n```\n", &[read]),
        ("a.py\n```diff\n-a\n+b\n c\n```\n", &[read]),
        ("Change `a.py`:\n```diff\n-a\n+b\n c\n```\n", &[read]),
        ("```diff\n# a.py\n-a\n+b\n c\n```\n", &[read]),
        (
            "```diff\n--- a/a.py\n+++ b/a.py\n-a\n+b\n...\n-c\n+d\n...\n```\n",
            &["W a.py new-unified a=>b c=>d"],
        ),
        ("```diff\n--- a/a.py\n+++ b/a.py\n@@ @@\n-a\n...\n+b\n```\n", &["W a.py new-unified a|...=>...|b"]),
        (&format!("{GOOD}Change:\n```diff\n-a\n+b\n```\n"), &[WRITTEN, "!7 the diff names no file"]),
        ("```diff // a.py\n+++ b/a.py\n-a\n+b\n```\n", &["!2 a `+++` line needs"]),
        ("a.diff\n```diff\n-a\n+b\n```\n", &["W a.diff replace"]),
        ("```yaml // a.yml\n- a\n- b\n```\n", &["W a.yml replace"]),
    ]);
}

#[test]
fn edits_on_one_line_are_unescaped() {
    let line = |text: &str| text.trim_end().replace('\n', "\\n");
    check(&[
        (
            "```py // a.py\n<<<<<<< SEARCH\\na\\n=======\\nb\\n>>>>>>> REPLACE\n```\n",
            &["W a.py multi-search-replace a=>b"],
        ),
        (&format!("```\n{}\n```\n", line(PATCH)), &["W a.py apply-patch a=>b"]),
        (&format!("```diff\n\"{}\\n\"\n```\n", line(DIFF)), &["W a.py new-unified a=>b"]),
        (
            &format!("{GOOD}```\n{}\n```\n", line(&PATCH.replace("+b", "+b(\"\n\")"))),
            &[WRITTEN, "!5 this edit stands on one line"],
        ),
        (&format!("{GOOD}{}\n", line(PATCH)), &[WRITTEN, "!5 this part of a patch"]),
        ("```py // a.py\nprint('a\\nb')\n```\n", &["W a.py replace"]),
        (&format!("```txt // a.txt replace\n{}\n```\n", line(PATCH)), &["W a.txt replace"]),
    ]);
}

#[test]
fn paths_with_blanks_where_nothing_else_can_stand() {
    let edit = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n";
    check(&[
        ("```ts:src/my file.ts\nx\n```\n", &["W src/my file.ts replace"]),
        ("```ts src/my file.ts\nx\n```\n", &["W src/my file.ts replace"]),
        ("```py\n# src/my file.py\nx\n```\n", &["W src/my file.py replace \"x\\n\""]),
        ("File: my file.py\n```py\nx\n```\n", &["W my file.py replace"]),
        (&format!("File: my file.py\n{edit}"), &["W my file.py multi-search-replace"]),
        (&format!("```\nFile: my file.py\n{edit}```\n"), &["W my file.py multi-search-replace"]),
        (&edit.replace("SEARCH", "SEARCH my file.py"), &["W my file.py multi-search-replace"]),
        (&PATCH.replace("a.py", "my file.py"), &["W my file.py apply-patch"]),
        (&DIFF.replace("a.py", "my file.py"), &["W my file.py new-unified"]),
        (&format!("```\nmy file.py\n{edit}```\n"), &["!2 this block holds edits"]),
    ]);
}

#[test]
fn patches_in_odd_spellings_and_outside_of_an_envelope() {
    let read: &[&str] = &["W a.py apply-patch a=>b"];
    let both: &[&str] = &["W n.py apply-patch n=>m", "W a.py apply-patch a=>b"];
    let part = "*** Update File: a.py\n@@\n-a\n+b\n";
    let first = "*** Begin Patch\n*** Update File: n.py\n@@\n-n\n+m\n";
    let padded = format!("{first}  {part}*** End Patch\n").replacen("*** Update", "  *** Update", 1);
    for text in [
        marked("    ", PATCH),
        format!("1. Do:\n\n{}", marked("   ", PATCH)),
        PATCH.replace("***", "**"),
        PATCH.to_lowercase(),
        PATCH.replace("*** ", "***  "),
        PATCH.replace("*** Update", "  *** Update"),
        PATCH.replace("*** Begin", " *** Begin").replace("*** End", " *** End"),
        format!("```\n{part}```\n"),
        format!("{part}*** End Patch\n"),
    ] {
        check(&[(&text, read)]);
    }
    check(&[
        (&padded, both),
        (&format!("{first}*** End Patch\n\n{part}*** End Patch\n"), both),
        (&format!("```\n{first}*** End Patch\n{part}```\n"), both),
        (&format!("{first}*** End Patch\n{part}"), &[both[0], "!7 the edit that begins here has no end"]),
        (&format!("{GOOD}*** Delete File: a.py\n"), &[WRITTEN, "!5 the edit that begins here"]),
        (&format!("```\n{first}*** End Patch\n@@\n-a\n+b\n```\n"), &["!8 this line of a patch"]),
        (&format!("{first}  {part}*** End Patch\n"), &["!6 this line may begin another file"]),
        (
            &format!("{DIFF}\nAnd also:\n\n@@ -7 +7 @@\n-g\n+h\n"),
            &["W a.py new-unified", "!9 these lines of a diff"],
        ),
        (&format!("{GOOD}1. Then:\n\n{}", marked("    ", DIFF)), &[WRITTEN, "!7 these lines of a diff"]),
        ("**Update File:** a.py\n\n@@ is a decorator\n", &[]),
    ]);
}

#[test]
fn what_is_cut_off_is_broken() {
    let git = |header: &str| format!("{GOOD}```diff\ndiff --git a/m b/m\n{header}```\n");
    for header in [
        "deleted file mode 100644\nindex 83db48f..0000000\n",
        "deleted file mode 100644\nindex 83db48f..0000000\n--- a/m\n+++ /dev/null\n",
        "deleted file mode 100644\n--- a/m\n+++ /dev/null\n",
        "new file mode 100644\nindex 0000000..83db48f\n",
        "new file mode 100644\n--- /dev/null\n+++ b/m\n",
        "old mode 100644\nnew mode 100755\nindex 83db48f..93db48f\n",
        "similarity index 90%\nrename from m\nrename to m2\n",
    ] {
        let proposal = read(&git(header));
        let unread = proposal.unread.iter().filter(|unread| unread.broken).count();
        assert_eq!((proposal.operations.len(), unread), (1, 1), "{header}: {proposal:?}");
    }
    check(&[
        (&git("deleted file mode 100644\nindex e69de29..0000000\n"), &[WRITTEN, "D m"]),
        (&git("new file mode 100644\nindex 0000000..e69de29\n"), &[WRITTEN, "W m unified"]),
        (&git("old mode 100644\nnew mode 100755\n"), &[WRITTEN, "W m unified"]),
        (&git("similarity index 100%\nrename from m\nrename to m2\n"), &[WRITTEN, "R m m2"]),
        ("--- a/a.py\n+++ b/a.py\n@@ ... @@\n-a\n+b\n", &["!1 it cannot be told where"]),
        ("--- a/a.py\n+++ b/a.py\n@@ ... @@\n-a\n+b\n\n", &["W a.py new-unified a=>b"]),
        (&format!("{GOOD}```yaml\nprojectId: p\nuuid"), &[WRITTEN, "!5 the control block has no closing"]),
        (&format!("{GOOD}```ts\nfoo\n"), &[WRITTEN, "!5 the answer ends inside"]),
        ("```ts\nfoo\n", &["?1"]),
        // The end of something that began elsewhere is a line like any other.
        ("```ts // a.ts\nfoo\n// START\nbar\n// END\n", &["!1 the closing fence of this block is missing"]),
        (
            "```md // a.md\nfoo\n\nbar\n\nbaz\n*** End Patch\n",
            &["!1 the closing fence of this block is missing"],
        ),
        ("```ts // a.ts\n// START\nfoo\n// END\n", &["W a.ts replace \"foo\\n\""]),
    ]);
}

#[test]
fn an_answer_that_ends_where_a_block_begins_is_broken() {
    let call = r#"{"name":"Edit","input":{"file_path":"n.py","old_string":"n","new_string":"m"}}"#;
    let tags = "<edit path=\"n.py\"><search>n</search><replace>m</replace></edit>";
    let search = "n.py\n<<<<<<< SEARCH\nn\n=======\nm\n>>>>>>> REPLACE";
    let heredoc = "cat > n.py <<'EOF'\nn\nEOF";
    let edits = [GOOD, PATCH, DIFF, call, tags, search, heredoc, &format!("```json\n{call}\n```")];
    for edit in edits.map(str::trim_end) {
        for end in [
            "```json",
            "```py",
            "~~~ts",
            "``",
            "`",
            "~~",
            "{",
            "{\n  \"name\": \"Edit\",",
            "[",
            "[\n  {",
            r#"{"name":"Edit","inp"#,
            r#"{"name":"Edit","input":{"file_path":"m.py","#,
            "<write_to_file>",
            "<write_to_file>\n<path>m.py</path>",
            "<edit>",
            "<edi",
            "<",
            "<edit path=\"m.py",
            "<edit path=\"m.py\">",
            "<<<<",
            "<<<<<<< SEA",
            "<<<<<<< SEARCH",
            "*** Begin Pa",
            "*** Update Fi",
            "*** Begin Patch",
            "diff --gi",
            "--- a/m.py",
            "cat <<'EO",
            "cat > m.py <<'EOF'",
            "cat > m",
            "m.py",
            "Then:",
        ] {
            for below in ["", "\n"] {
                let text = format!("{edit}\n\n{end}{below}");
                let broken = read(&text).unread.iter().any(|unread| unread.broken);
                assert!(broken, "{text}");
            }
        }
        for end in [
            "Done.",
            "[x] tested",
            "[1] a note",
            "{done}",
            "<details>a</details>",
            "<3",
            "---",
            "***",
            "- a",
            "That is `n`.",
            "**Note**",
            "{\"a\": 1}",
            "See <https://a.b>",
            "</answer>",
        ] {
            let text = format!("{edit}\n\n{end}\n");
            let proposal = read(&text);
            assert!(proposal.unread.iter().all(|unread| !unread.broken), "{text}: {proposal:?}");
        }
    }
}

#[test]
fn headers_with_a_bare_name_or_the_lines_of_a_file() {
    check(&[
        ("```sh // gradlew\nx\n```\n", &["W gradlew replace"]),
        ("```dockerfile // Dockerfile\nx\n```\n", &["W Dockerfile replace"]),
        (&format!("{GOOD}```sh // run-all\nx\n```\n"), &[WRITTEN, "!5 `run-all` may be a path"]),
        ("```sh // \"run-all\"\nx\n```\n", &["W run-all replace"]),
        (&format!("{GOOD}```ts // before\nx\n```\n"), &[WRITTEN, "?5"]),
        ("m.py\n```1:3:m.py\nx\n```\n", &["?2 this block quotes lines of `m.py`"]),
        ("```1:3:m.py\n@@ @@\n-a\n+b\n```\n", &["W m.py new-unified a=>b"]),
        ("```py // m.py:1-3\nx\n```\n", &["!1 `m.py:1-3` names some lines"]),
    ]);
}
