//! What other tools print, pasted as it is.

use crate::fixture::scratch_project::Project;
use crate::relay_snapshot;

fn project() -> Project {
    Project::new(&[("a.py", "def one():\n    return add(1, 1)\n\ndef two():\n    return add(1, 2)\n")])
}

const MAIL: &str = "From 0123456789abcdef0123456789abcdef01234567 Mon Sep 17 00:00:00 2001\nFrom: A <a@b.c>\nDate: Mon, 2 Nov 2026 10:00:00 +0100\nSubject: [PATCH] Return three\n\n---\n a.py | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n\ndiff --git a/a.py b/a.py\nindex 1111111..2222222 100644\n--- a/a.py\n+++ b/a.py\n@@ -4,2 +4,2 @@\n def two():\n-    return add(1, 2)\n+    return 3\n-- \n2.43.0\n\n";

#[test]
fn a_mailed_patch_is_applied_under_its_subject() {
    let project = project();
    relay_snapshot!(project.apply(MAIL), @"
    exit 0
    ----- stdout -----
    ▸ Return three                                                             1 file  +1 −1
        M  a.py  +1 −1   1 exact
    ✓ applied change-1 · 1 file · `relay undo` undoes it
    ");
    assert_eq!(project.text("a.py"), "def one():\n    return add(1, 1)\n\ndef two():\n    return 3\n");
}

#[test]
fn a_tool_call_changes_a_part_of_a_line_and_the_same_text_twice_is_refused() {
    let project = project();
    let call = |old: &str| {
        format!(
            "{{\"name\": \"Edit\", \"input\": {{\"file_path\": \"a.py\", \"old_string\": \"{old}\", \"new_string\": \"sum\"}}}}\n"
        )
    };
    relay_snapshot!(project.apply(&call("add")), @"
    exit 3
    ----- stderr -----
    ✗ refused: the edit fits in several places                           nothing was changed
      a.py, edit 1 (line 1 of the answer)
        looked for   add
        is there 2 times, at lines 2, 5; more surrounding lines would tell which
      next: `... | relay preview - --repair` writes a prompt for your model
    ");
    relay_snapshot!(project.apply(&call("add(1, 2)")), @"
    exit 0
    ----- stdout -----
    ▸ stdin                                                                    1 file  +1 −1
        M  a.py  +1 −1   1 exact text
    ✓ applied change-1 · 1 file · `relay undo` undoes it
    ");
    assert_eq!(project.text("a.py"), "def one():\n    return add(1, 1)\n\ndef two():\n    return sum\n");
}

#[test]
fn tags_and_heredocs_write_files_and_no_command_runs() {
    let project = project();
    let answer = |command: &str| {
        format!(
            "<write_to_file>\n<path>b.py</path>\n<content>\nb = 1\n</content>\n</write_to_file>\n\n```bash\nmkdir -p src\ncat > src/c.py <<'EOF'\nc = 1\nEOF\n{command}\n```\n"
        )
    };
    relay_snapshot!(project.apply(&answer("touch ran")), @"
    exit 3
    ----- stderr -----
    ✗ refused: 1 block cannot be read                                    nothing was changed
      line 13 of the answer
        this command changes files beside a heredoc, and relay runs no command; send what it does as an edit, or without the heredoc
      next: `... | relay preview - --repair` writes a prompt for your model
    ");
    project.put("run.sh", b"touch ran\n");
    relay_snapshot!(project.apply(&answer("./run.sh")), @"
    exit 0
    ----- stdout -----
    ▸ stdin                                                                      2 files  +2
        A  b.py      +1
        A  src/c.py  +1
      · line 9 of the answer: other commands in this block were not run
    ✓ applied change-1 · 2 files · `relay undo` undoes it
    ");
    assert_eq!((project.text("b.py"), project.text("src/c.py")), ("b = 1\n".into(), "c = 1\n".into()));
    assert!(!project.path("ran").exists());
}

#[test]
fn a_heredoc_that_the_shell_would_change_is_refused() {
    relay_snapshot!(project().apply("```sh\ncat > b.sh <<EOF\necho $HOME\nEOF\n```\n"), @"
    exit 3
    ----- stderr -----
    ✗ refused: 1 block cannot be read                                    nothing was changed
      line 2 of the answer
        this heredoc cannot be carried out: the shell would change `$`, backticks and backslashes in it; put the word after `<<` in quotes
      next: `... | relay preview - --repair` writes a prompt for your model
    ");
}
