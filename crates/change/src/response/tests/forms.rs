//! Notations of other tools, pasted as they are.

use super::*;

const HASH: &str = "0123456789abcdef0123456789abcdef01234567";

fn mail(number: usize, path: &str) -> String {
    format!(
        "From {HASH} Mon Sep 17 00:00:00 2001\nFrom: A <a@b.c>\nDate: Mon, 2 Nov 2026 10:00:00 +0100\nSubject: [PATCH {number}/2] Change {path}\n in one place\n\nBecause.\n---\n {path} | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n\ndiff --git a/{path} b/{path}\nindex 111..222 100644\n--- a/{path}\n+++ b/{path}\n@@ -1,2 +1,2 @@\n-a\n+b\n c\n-- \n2.43.0\n\n"
    )
}

#[test]
fn the_signature_of_a_mailed_patch_is_no_deletion() {
    let both = mail(1, "a.py") + &mail(2, "b.py");
    let wanted: &[&str] = &["W a.py unified a|c=>b|c", "W b.py unified a|c=>b|c"];
    for text in [
        both.clone(),
        both.replace("-- \n", "--\n"),
        format!("```\n{both}```\n"),
        format!("```diff\n{both}```\n"),
    ] {
        let text = text.as_str();
        check(&[(text, wanted)]);
        assert_eq!(read(text).control.git_commit_msg.as_deref(), Some("Change a.py in one place"), "{text}");
    }
    let controlled = format!("{both}\n```yaml\nprojectId: p\ngitCommitMsg: mine\n```\n");
    assert_eq!(read(&controlled).control.git_commit_msg.as_deref(), Some("mine"));
    let file = read(&format!("```text // a.mbox\n{}```\n", both.replace("diff --git", "diff")));
    assert_eq!(file.control.git_commit_msg, None, "a file is no mail");
    let printed = print(&read(&both));
    assert_eq!(read(&printed).control, read(&both).control, "{printed}");
}

#[test]
fn commits_as_git_prints_them() {
    let commit = |path: &str| {
        format!(
            "commit {HASH} (HEAD -> main)\nAuthor: A <a@b.c>\nDate:   Mon Nov 2 10:00:00 2026 +0100\n\n    Change {path}\n\n    Because.\n\ndiff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-a\n+b\n\n"
        )
    };
    let log = commit("a.py") + &commit("b.py");
    for text in [log.clone(), format!("```\n{log}```\n")] {
        check(&[(&text, &["W a.py unified a=>b", "W b.py unified a=>b"])]);
        assert_eq!(read(&text).control.git_commit_msg.as_deref(), Some("Change a.py"), "{text}");
    }
}

#[test]
fn encoded_mails_are_refused() {
    let encoded = mail(1, "a.py").replace("Date:", "Content-Transfer-Encoding: quoted-printable\nDate:");
    let base64 = format!(
        "From {HASH} Mon Sep 17 00:00:00 2001\nSubject: x\nContent-Transfer-Encoding: base64\n\nZGlmZiAtLWdpdA==\n"
    );
    check(&[
        (&encoded, &["W a.py unified a|c=>b|c", "!3 this mail is encoded"]),
        (&format!("```\n{encoded}```\n"), &["!4 this mail is encoded"]),
        (&base64, &["!3 this mail is encoded"]),
        (&format!("```\n{base64}```\n"), &["!4 this mail is encoded"]),
    ]);
}

#[test]
fn calls_of_editing_tools_in_json() {
    let edit: &[&str] = &["W a.py tool-calls x=>y"];
    for call in [
        r#"{"command": "str_replace", "path": "a.py", "old_str": "x", "new_str": "y"}"#,
        r#"{"file_path": "a.py", "old_string": "x", "new_string": "y", "replace_all": false}"#,
        r#"{"name": "Edit", "input": {"file_path": "a.py", "old_string": "x", "new_string": "y"}}"#,
        r#"{"type": "tool_use", "id": "t1", "name": "MultiEdit", "input": {"file_path": "a.py", "edits": [{"old_string": "x", "new_string": "y"}]}}"#,
        r#"{"tool": "edit", "arguments": "{\"path\": \"a.py\", \"old_str\": \"x\", \"new_str\": \"y\"}"}"#,
        r#"{"type": "function", "function": {"name": "edit", "arguments": "{\"path\": \"a.py\", \"old_str\": \"x\", \"new_str\": \"y\"}"}}"#,
        r#"{"edits": [{"file": "a.py", "search": "x", "replace": "y"}]}"#,
        r#"[{"command": "view", "path": "a.py"}, {"filePath": "a.py", "oldString": "x", "newString": "y"}]"#,
        "{\n  \"path\": \"a.py\",\n  \"edits\": [\n    {\n      \"oldText\": \"x\",\n      \"newText\": \"y\"\n    }\n  ]\n}",
    ] {
        for text in [
            format!("```json\n{call}\n```\n"),
            format!("```\n{call}\n```\n"),
            format!("So:\n\n{call}\n\nDone.\n"),
        ] {
            check(&[(&text, edit)]);
        }
    }
    let line = r#"{"path": "a.py", "old_str": "x", "new_str": "y"}"#;
    let other = r#"{"path": "b.py", "old_str": "x", "new_str": "y"}"#;
    let nameless = r#"{"old_str": "x", "new_str": "y"}"#;
    check(&[
        (&format!("{line}\n{line}\n"), &["W a.py tool-calls x=>y x=>y"]),
        (&format!("```jsonl\n{line}\n{other}\n```\n"), &["W a.py tool-calls", "W b.py tool-calls"]),
        (&format!("a.py\n```json\n{nameless}\n```\n"), edit),
        (&format!("```py // a.py\n{nameless}\n```\n"), edit),
        (&format!("```py // b.py\n{line}\n```\n"), &["!2 the block is headed `b.py`"]),
        (r#"{"command": "create", "path": "a.py", "file_text": "x\n"}"#, &["W a.py tool-calls \"x\\n\""]),
        (
            r#"{"command": "create", "path": "a.py", "file_text": "x\r\ny\r\r\nz"}"#,
            &["W a.py tool-calls \"x\\ny\\nz\""],
        ),
        (
            r#"{"name": "Write", "input": {"file_path": "a.py", "content": "x"}}"#,
            &["W a.py tool-calls \"x\""],
        ),
        (
            r#"{"command": "insert", "path": "a.py", "insert_line": 3, "insert_text": "x\n"}"#,
            &["W a.py tool-calls =>x"],
        ),
    ]);
}

#[test]
fn json_that_is_no_call_is_what_it_was() {
    let call = r#"{"path": "a.py", "old_str": "x", "new_str": "y"}"#;
    check(&[
        (
            "```json // package.json\n{\"name\": \"x\", \"type\": \"module\"}\n```\n",
            &["W package.json replace"],
        ),
        (&format!("```json // calls.json\n{call}\n```\n"), &["W calls.json replace"]),
        (&format!("calls.json\n```json\n{call}\n```\n"), &["W calls.json replace"]),
        (&format!("````md // README.md\n```json\n{call}\n```\n````\n"), &["W README.md replace"]),
        (&format!("```md // README.md\n{call}\n```\n"), &["W README.md replace"]),
        ("```json\n{\"path\": \"/api\", \"content\": \"x\"}\n```\n", &["?1"]),
        ("```json\n{\"search\": \"a\", \"replace\": \"b\"}\n```\n", &["?1"]),
        (&format!("```text\nThe tool takes\n{call}\n```\n"), &["?1"]),
        (&format!("Write `{call}` to do so.\n"), &[]),
        ("{\"command\": \"view\", \"path\": \"a.py\"}\n", &[]),
    ]);
}

#[test]
fn damaged_calls_are_broken() {
    check(&[
        (
            "```json\n{\"path\": \"a.py\", \"old_str\": \"x\", \"new_str\": \"y\n```\n",
            &["!2 this tool call is not valid JSON"],
        ),
        (
            "{\"path\": \"a.py\", \"old_str\": \"x\", \"new_str\": \"y\"",
            &["!1 the tool call that begins here has no end"],
        ),
        (
            "{\"path\": \"a.py\", \"old_str\": \"x\", \"new_str\": \"y\", \"mode\": 1}\n",
            &["!1 this tool call cannot be read"],
        ),
        (
            "{\"path\": \"/abs/a.py\", \"old_str\": \"x\", \"new_str\": \"y\"}\n",
            &["!1 `/abs/a.py` is absolute"],
        ),
        ("{\"command\": \"undo_edit\", \"path\": \"a.py\"}\n", &["!1 `undo_edit` cannot"]),
        (
            "{\"command\": \"str_replace\", \"path\": \"a.py\", \"new_str\": \"y\"}\n",
            &["!1 this tool call has no `old_str`"],
        ),
        ("```json\n{\"old_str\": \"x\", \"new_str\": \"y\"}\n```\n", &["!2 the block names no file"]),
        (
            "{\"path\": \"a.py\", \"old_str\": \"x\", \"new_str\": \"y\", \"expected_replacements\": 2}\n",
            &["!1 this tool call"],
        ),
    ]);
}

#[test]
fn edits_between_tags() {
    let lines: &[&str] = &["W a.py multi-search-replace x=>y"];
    let whole: &[&str] = &["W a.py replace \"x\\n\""];
    let search = "<<<<<<< SEARCH\n:start_line:1\n-------\nx\n=======\ny\n>>>>>>> REPLACE\n";
    let pair = "<search>\nx\n</search>\n<replace>\ny\n</replace>\n";
    for (text, wanted) in [
        ("<write_to_file>\n<path>a.py</path>\n<content>\nx\n</content>\n<line_count>1</line_count>\n</write_to_file>\n".to_owned(), whole),
        ("<create_file path=\"a.py\"><content>\nx\n</content></create_file>\n".to_owned(), whole),
        ("<file>\n<path>a.py</path>\n<content>\nx\n</content>\n</file>\n".to_owned(), whole),
        (format!("<apply_diff>\n<path>a.py</path>\n<diff>\n{search}</diff>\n</apply_diff>\n"), lines),
        (format!("<replace_in_file>\n<path>a.py</path>\n<diff>\n{search}</diff>\n</replace_in_file>\n"), lines),
        (format!("<edit path=\"a.py\">\n{pair}</edit>\n"), lines),
        (format!("<edit>\n<file>a.py</file>\n{pair}</edit>\n"), lines),
        (format!("a.py\n{pair}"), lines),
        (format!("```py // a.py\n{pair}```\n"), lines),
        (format!("<file path=\"a.py\">\n{pair}</file>\n"), lines),
        ("<str_replace>\n<path>a.py</path>\n<old_str>x</old_str>\n<new_str>y</new_str>\n</str_replace>\n".to_owned(), &["W a.py tool-calls x=>y"]),
    ] {
        check(&[(&text, wanted), (&format!("First:\n\n{text}\nDone.\n"), wanted)]);
    }
    check(&[
        (&format!("a.py\n{pair}{pair}"), &["W a.py multi-search-replace x=>y x=>y"]),
        (
            &format!("<edit path=\"a.py\">\n{pair}</edit>\n<edit path=\"b.py\">\n{pair}</edit>\n"),
            &["W a.py", "W b.py"],
        ),
        (
            "<write_to_file><path>a.html</path><content>\n<p>&amp;</p>\n```\n</content>\n</write_to_file>\n",
            &["W a.html replace \"<p>&amp;</p>\\n```\\n\""],
        ),
        (
            "<write_to_file><path>a.xml</path><content>\n<a></content>\n</a>\n</content>\n</write_to_file>\n",
            &["W a.xml replace \"<a></content>\\n</a>\\n\""],
        ),
    ]);
}

#[test]
fn damaged_tags_are_broken_and_others_are_text() {
    check(&[
        ("<write_to_file>\n<path>a.py</path>\n<content>\nx\n", &["!1 the edit that begins here has no end"]),
        ("```\n<write_to_file>\n<path>a.py</path>\n<content>\nx\n```\n", &["!4 `</content>` is missing"]),
        ("<edit path=\"a.py\">\n<search>\nx\n</search>\n</edit>\n", &["!1 an edit has either"]),
        (
            "<write_to_file>\n<path>a.py</path>\n<content>\na &lt; b\n</content>\n</write_to_file>\n",
            &["!4 this text has `&lt;`"],
        ),
        (
            "<edit path=\"a.py\">\n<search>\nx\n</search>\n<change>\ny\n</change>\n</edit>\n",
            &["!2 `</search>` is missing, or something follows it"],
        ),
        ("<search>\nx\n</search>\n<replace>\ny\n</replace>\n", &["!1 the block names no file"]),
        ("```html // a.html\n<search>\n</search>\n<replace></replace>\n```\n", &["W a.html replace"]),
        (
            "```md // a.md\n<write_to_file>\n<path>b</path>\n<content>\n</content>\n</write_to_file>\n```\n",
            &["W a.md replace"],
        ),
        ("```html\n<search>\n<form></form>\n</search>\n```\n", &["?1"]),
        ("<edit>\n```py // a.py\nx\n```\n</edit>\n", &["W a.py replace"]),
        ("Use <edit> for that.\n<edit>\n", &[]),
    ]);
}

#[test]
fn heredocs_write_files_and_patches() {
    let whole: &[&str] = &["W a.py replace \"x\\n\""];
    for command in [
        "cat <<'EOF' > a.py",
        "cat > a.py <<EOF",
        "tee a.py <<'EOF' > /dev/null",
        "mkdir -p src && cat > a.py << \"EOF\"",
    ] {
        let script = format!("{command}\nx\nEOF\n");
        for text in [
            format!("```bash\n{script}```\n"),
            format!("```\n{script}```\n"),
            format!("Run:\n\n{script}\nDone.\n"),
            format!("```sh\nmkdir -p src\n{script}```\n"),
        ] {
            check(&[(&text, whole)]);
            assert!(read(&text).notes.is_empty(), "{text}");
        }
    }
    let diff = "--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-a\n+b\n";
    let append = read("```sh\ncat >> a.py <<'EOF'\nx\nEOF\nnpm test\n```\n");
    assert_eq!(summary(&append), ["W a.py apply-patch =>x"]);
    assert_eq!(append.notes[0].text, "other commands in this block were not run");
    check(&[
        (&format!("```sh\ngit apply <<'EOF'\n{diff}EOF\n```\n"), &["W src/a.py unified a=>b"]),
        (&format!("patch -p1 <<'EOF'\n{diff}EOF\n"), &["W src/a.py unified a=>b"]),
        (&format!("```sh\npatch -p0 <<'EOF'\n{diff}EOF\n```\n"), &["!2 the level `-p`"]),
        (&format!("```sh\npatch <<'EOF'\n{diff}EOF\n```\n"), &["!2 the level `-p`"]),
        ("```sh\ncat > a.py <<-'EOF'\n\tx\n\tEOF\n```\n", whole),
        ("cat > a.py <<'EOF'\n```\nx\nEOF\n", &["W a.py replace \"```\\nx\\n\""]),
        (
            "```sh\ncat > a.py <<EOF\n$HOME\nEOF\n```\n",
            &["!2 this heredoc cannot be carried out: the shell would change"],
        ),
        ("```sh\ncat > a.py <<'EOF'\n$HOME\nEOF\n```\n", &["W a.py replace \"$HOME\\n\""]),
        (
            "```sh\ncd src\ncat > a.py <<'EOF'\nx\nEOF\n```\n",
            &["!3 this heredoc cannot be carried out: a command before it"],
        ),
        ("```sh\nfor i in 1 2; do\ncat > a.py <<'EOF'\nx\nEOF\ndone\n```\n", &["!3 this heredoc"]),
        (
            "```sh\ncat > a.py <<'EOF'\nx\n```\n",
            &["!2 this heredoc cannot be carried out: its last line is missing"],
        ),
        ("cat > a.py <<'EOF'\nx\n", &["!1 the edit that begins here has no end"]),
        (
            "```sh\ncat > a.py.new <<'EOF'\nx\nEOF\nmv a.py.new a.py\n```\n",
            &["!5 this command changes files"],
        ),
        (
            "```sh\nexit 0\ncat > a.py <<'EOF'\nx\nEOF\n```\n",
            &["!3 this heredoc cannot be carried out: a command before it ends"],
        ),
        ("```sh\ncat > a.py <<'EOF'\nx\nEOF\nexit 0\n```\n", whole),
        ("```sh\ncat > /etc/a <<'EOF'\nx\nEOF\n```\n", &["!2 `/etc/a` is absolute"]),
    ]);
}

#[test]
fn scripts_and_explanations_are_no_heredocs() {
    let script = "cat > a.py <<'EOF'\nx\nEOF\n";
    check(&[
        (&format!("```sh // setup.sh\n{script}```\n"), &["W setup.sh replace"]),
        (&format!("setup.sh\n```sh\n{script}```\n"), &["W setup.sh replace"]),
        (&format!("```sh\n# bin/setup.sh\n{script}```\n"), &["W bin/setup.sh replace"]),
        (&format!("```sh\n# a.py\n{script}```\n"), &["W a.py replace \"x\\n\""]),
        (&format!("```sh\n#!/bin/sh\n{script}```\n"), &["?1"]),
        (&format!("```text\nRun this:\n{script}```\n"), &["?1"]),
        (&format!("````md // README.md\n```sh\n{script}```\n````\n"), &["W README.md replace"]),
        ("```sh\nnpm install\npython <<'EOF'\nx\nEOF\n```\n", &["?1"]),
        ("cat <<EOF > a.py is how a file is written.\n", &[]),
    ]);
}

#[test]
fn hostile_forms_are_read_in_linear_time() {
    for line in [
        "<search></search>",
        "<search>",
        "<edit><search>",
        "cat > a <<E",
        "{\"edits\":[",
        "[{\"edits\":[",
        "{\"path\":\"a\",",
        "{\"arguments\":{",
        "<file><path>",
        "{\"old_str\":\"a\",\"path\":\"b\"",
        "Subject: [PATCH] x",
    ] {
        let text = format!("{line}\n").repeat(50_000);
        let start = std::time::Instant::now();
        let _ = super::super::read(&text, &PlanLimits::default());
        assert!(start.elapsed().as_secs() < 20, "{line}: {:?}", start.elapsed());
    }
}

#[test]
fn forms_have_limits() {
    let wrapped = |count: usize| {
        let call = r#"{"path": "a.py", "old_str": "x", "new_str": "y"}"#;
        format!("{}{call}{}\n", r#"{"input": "#.repeat(count), "}".repeat(count))
    };
    let named = |count: usize| {
        format!("{{\"path\": \"{}\", \"old_str\": \"x\", \"new_str\": \"y\"}}\n", "a/".repeat(count))
    };
    let many = "cat > a.py <<'END'\n".repeat(20);
    check(&[
        (&wrapped(4), &["W a.py tool-calls"]),
        (&wrapped(5), &["!1 this tool call cannot be read: calls are nested too deeply"]),
        (&named(2_049), &["!1 this tool call has a name of more than 4096 bytes"]),
    ]);
    assert_eq!(summary(&read(&many)).len(), 20);
}

#[test]
fn start_and_end_frame_the_content_also_below_a_path_or_shebang_line() {
    check(&[
        ("```ts // src/a.ts\n// src/a.ts\n// START\n\nx\n\n// END\n```\n", &["W src/a.ts replace \"x\\n\""]),
        (
            "```sh // run.sh\n#!/bin/sh\n# START\n\nx\n\n# END\n```\n",
            &["W run.sh replace \"#!/bin/sh\\nx\\n\""],
        ),
        (
            "```sh // run.sh\n#!/bin/sh\n# run.sh\n# START\nx\n# END\n```\n",
            &["W run.sh replace \"#!/bin/sh\\nx\\n\""],
        ),
        ("```ts\n// src/a.ts\n// START\nx\n// END\n```\n", &["W src/a.ts replace \"x\\n\""]),
        ("```ts // src/a.ts\n// START\nx\n// END\n```\n", &["W src/a.ts replace \"x\\n\""]),
        // Not a frame: something else stands above it, or it does not end.
        (
            "```ts // a.ts\ny\n// START\nx\n// END\n```\n",
            &["W a.ts replace \"y\\n// START\\nx\\n// END\\n\""],
        ),
        ("```ts // a.ts\n// a.ts\n// START\nx\n```\n", &["W a.ts replace \"// a.ts\\n// START\\nx\\n\""]),
    ]);
}
