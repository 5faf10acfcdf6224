//! Answers as people really paste them: applied as meant, or refused as a whole.

use crate::fixture::scratch_project::{Project, whole};
use crate::fixture::snapshot::Transcript;
use crate::relay_snapshot;

const CODE: &str = "def a():\n    x = 1\n    return x\n";

fn project() -> Project {
    Project::new(&[("m.py", CODE), ("n.py", "n = 1\n"), ("my file.py", CODE)])
}

#[test]
fn what_is_meant_is_applied() {
    let patch = "*** Begin Patch\n*** Update File: m.py\n@@\n-    x = 1\n+    x = 2\n*** End Patch\n";
    let quoted: String = patch.lines().map(|line| format!("> {line}\n")).collect();
    let padded: String = patch.lines().map(|line| format!("    {line}\n")).collect();
    let one_line = format!("```\n{}\n```\n", patch.trim_end().replace('\n', "\\n"));
    for answer in [
        quoted,
        padded,
        one_line,
        patch.replace("***", "**").to_lowercase(),
        "```diff\n--- a/m.py\n+++ b/m.py\n def a():\n-    x = 1\n+    x = 2\n     return x\n```\n".to_owned(),
        "```py // m.py\n<<<<<<< SEARCH\n-------\ndef a():\n    x = 1\n=======\ndef a():\n    x = 2\n>>>>>>> REPLACE\n```\n"
            .to_owned(),
    ] {
        let project = project();
        assert_eq!(project.apply(&answer).code, 0, "{answer}");
        assert_eq!(project.text("m.py"), CODE.replace('1', "2"), "{answer}");
    }
    let project = project();
    let named = "File: my file.py\n<<<<<<< SEARCH\n    x = 1\n    return x\n=======\n    x = 2\n    return x\n>>>>>>> REPLACE\n";
    assert_eq!(project.apply(named).code, 0);
    assert_eq!(project.text("my file.py"), CODE.replace('1', "2"));
    let below = "*** Begin Patch\n*** Update File: m.py\n@@ def a():\n+    y = 2\n*** End Patch\n";
    assert_eq!(project.apply(below).code, 13, "no line around it confirms the place");
    let ran = project.pipe(&["apply", "-", "-y", "--allow", "near"], below.as_bytes());
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(project.text("m.py"), CODE.replace("    x", "    y = 2\n    x"));
}

#[test]
fn nothing_is_applied_beside_a_change_that_cannot_be_read() {
    let project = project();
    let good = whole("n.py", "n = 5\n");
    let listed = "```yaml\nprojectId: p\nchangeSummary:\n  - edit: n.py\n  - edit: m.py\n```\n";
    let mut transcript = Transcript::default();
    for (what, rest) in [
        ("outside of an envelope", "*** Update File: m.py\n@@\n-    x = 1\n+    x = 5\n"),
        ("half quoted", "> ```py // m.py\n> x\n"),
        ("no file", "```diff\n-    x = 1\n+    x = 5\n```\n"),
        (
            "no hunks",
            "diff --git a/m.py b/m.py\ndeleted file mode 100644\nindex 83db48f..0000000\n--- a/m.py\n+++ /dev/null\n",
        ),
        ("bare name", "```sh // run-all\nnew\n```\n"),
        ("missing block", listed),
        ("open control block", "```yaml\nprojectId: p\n"),
    ] {
        let ran = project.pipe(&["apply", "-", "-y", "--json", "-q"], format!("{good}\n{rest}").as_bytes());
        assert_eq!((ran.code, ran.json()["unread"][0]["broken"].as_bool()), (3, Some(true)), "{what}");
        transcript.add(what, &project.pipe(&["preview", "-"], format!("{good}\n{rest}").as_bytes()));
    }
    assert_eq!((project.text("m.py"), project.text("n.py")), (CODE.to_owned(), "n = 1\n".to_owned()));
    relay_snapshot!(transcript, @r#"
    # outside of an envelope
    exit 3
    ----- stderr -----
    ✗ refused: 1 block cannot be read                                    nothing was changed
      line 5 of the answer
        the edit that begins here has no end; the answer may be cut off
      next: `... | relay preview - --repair` writes a prompt for your model

    # half quoted
    exit 3
    ----- stderr -----
    ✗ refused: 1 block cannot be read                                    nothing was changed
      line 5 of the answer
        this block is quoted, but not to its end; it cannot be read
      next: `... | relay preview - --repair` writes a prompt for your model

    # no file
    exit 3
    ----- stderr -----
    ✗ refused: 1 block cannot be read                                    nothing was changed
      line 6 of the answer
        the diff names no file; put its path into the block's header
      next: `... | relay preview - --repair` writes a prompt for your model

    # no hunks
    exit 3
    ----- stderr -----
    ✗ refused: 1 block cannot be read                                    nothing was changed
      line 5 of the answer
        it cannot be told where this diff ends; put it between fences
      next: `... | relay preview - --repair` writes a prompt for your model

    # bare name
    exit 3
    ----- stderr -----
    ✗ refused: 1 block cannot be read                                    nothing was changed
      line 5 of the answer
        `run-all` may be a path or a remark; write a path in quotes: `// "run-all"`
      next: `... | relay preview - --repair` writes a prompt for your model

    # missing block
    exit 3
    ----- stderr -----
    ✗ refused: 1 block cannot be read                                    nothing was changed
      line 6 of the answer
        changeSummary says `edit: m.py`, but no block does that; the answer may be incomplete
      next: `... | relay preview - --repair` writes a prompt for your model

    # open control block
    exit 3
    ----- stderr -----
    ✗ refused: 1 block cannot be read                                    nothing was changed
      line 5 of the answer
        the control block has no closing fence; the answer may be cut off here
      next: `... | relay preview - --repair` writes a prompt for your model
    "#);
}

#[test]
fn json_lists_what_was_not_read() {
    let project = project();
    let answer = format!("{}\n```1:3:m.py\nx\n```\n", whole("n.py", "n = 5\n"));
    let unread =
        serde_json::json!([{"line": 5, "reason": "this block quotes lines of `m.py`", "broken": false}]);
    for args in [["preview", "-", "--json"].as_slice(), &["apply", "-", "-y", "--json"]] {
        let ran = project.pipe(args, answer.as_bytes());
        assert_eq!((ran.code, &ran.json()["unread"]), (0, &unread), "{args:?}");
    }
}
