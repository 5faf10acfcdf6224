//! Reading whole responses: each table row is one way in which a model writes something.

mod contradictions;
mod forgiving;
mod forms;
mod round_trip;

use super::*;

fn read(text: &str) -> Proposal {
    super::read(text, &PlanLimits::default()).unwrap()
}

/// A proposal as short lines: `W path dialect …`, `D path`, `R from to`, `! reason` (broken),
/// `? reason` (example), `# note`, `> reasoning`.
fn summary(proposal: &Proposal) -> Vec<String> {
    let mut out = Vec::new();
    for operation in &proposal.operations {
        out.push(match &operation.action {
            FileAction::Delete { path, .. } => format!("D {path}"),
            FileAction::Rename { from, to } => format!("R {from} {to}"),
            FileAction::Exact { path, .. } => format!("E {path}"),
            FileAction::Write { path, edit, .. } => {
                let body = match &edit.body {
                    EditBody::Whole { text, .. } => format!("{text:?}"),
                    EditBody::Hunks(hunks) => {
                        let hunk = |h: &crate::proposal::Hunk| {
                            format!("{}=>{}", h.before.join("|"), h.after.join("|"))
                        };
                        hunks.iter().map(hunk).collect::<Vec<_>>().join(" ")
                    }
                };
                format!("W {path} {} {body}", edit.dialect)
            }
        });
    }
    for unread in &proposal.unread {
        let sign = if unread.broken { '!' } else { '?' };
        out.push(format!("{sign}{} {}", unread.line, unread.reason));
    }
    out
}

/// Every row: the response, and how each line of the summary must begin.
fn check(rows: &[(&str, &[&str])]) {
    for (text, wanted) in rows {
        let proposal = read(text);
        let lines = summary(&proposal);
        let fits = lines.len() == wanted.len()
            && lines.iter().zip(*wanted).all(|(line, want)| line.starts_with(want));
        assert!(fits, "{text}\n--- gave {lines:#?}\nnotes {:#?}", proposal.notes);
    }
}

#[test]
fn the_contract() {
    check(&[
        ("```ts // src/a.ts\nx\n```\n", &["W src/a.ts replace \"x\\n\""]),
        ("```ts // \"src/a b.ts\"\nx\n```\n", &["W src/a b.ts replace"]),
        ("```ts // src/a.ts replace\n@@ x\n```\n", &["W src/a.ts replace \"@@ x\\n\""]),
        ("```ts // src/a.ts odd-strategy\nx\n```\n", &["W src/a.ts odd-strategy replace"]),
        (
            "```ts // src/a.ts new-unified\n--- src/a.ts\n+++ src/a.ts\n@@ ... @@\n a\n-b\n+c\n```\n",
            &["W src/a.ts new-unified a|b=>a|c"],
        ),
        (
            "```ts // src/a.ts {search-replace}\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n```\n",
            &["W src/a.ts multi-search-replace a=>b"],
        ),
        (
            "```ts // a.ts\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n```\n",
            &["W a.ts multi-search-replace a=>b"],
        ),
        ("```ts // a.ts\n//TODO: delete this file\n```\n", &["D a.ts"]),
        ("```ts // a.ts\n// START\n//TODO: delete this file\n// END\n```\n", &["D a.ts"]),
        ("```ts\n// a.ts\n//TODO: delete this file\n```\n", &["D a.ts"]),
        ("```json // rename-file\n{\"from\": \"a b.ts\", \"to\": \"c.ts\"}\n```\n", &["R a b.ts c.ts"]),
        ("```ts // a.ts\n// START\n\nx\n\n// END\n```\n", &["W a.ts replace \"x\\n\""]),
        ("```py // a.py\n# START\nx\n# END\n```\n", &["W a.py replace \"x\\n\""]),
        ("```ts // a.ts\n```\n", &["W a.ts replace \"\""]),
        ("```ts // a.ts\r\nx\r\ny\r\n```\r\n", &["W a.ts replace \"x\\ny\\n\""]),
        ("1. Do this:\n\n    ```ts // a.ts\n    x\n      y\n    ```\n", &["W a.ts replace \"x\\n  y\\n\""]),
        ("~~~ts // a.ts\nx\n```\n~~~\n", &["W a.ts replace \"x\\n```\\n\""]),
        ("```ts // a.ts\n// src/other.ts\nx\n```\n", &["W a.ts replace \"// src/other.ts\\nx\\n\""]),
    ]);
}

#[test]
fn damaged_blocks_are_broken() {
    check(&[
        ("```ts // ../a.ts\nx\n```\n", &["!1 `../a.ts` contains `..`"]),
        ("```ts // /etc/passwd\nx\n```\n", &["!1 `/etc/passwd` is absolute"]),
        ("```ts // .git/config\nx\n```\n", &["!1 `.git/config` is inside"]),
        ("```ts // My File.ts\nx\n```\n", &["!1 `My File.ts` may be a path"]),
        ("```json // rename-file\n{\"from\": \"a.ts\"}\n```\n", &["!1 a rename needs JSON"]),
        ("```json // rename-file\nfrom a to b\n```\n", &["!1 a rename needs JSON"]),
        ("```json // rename-file\n{\"from\": \"a.ts\", \"to\": \"../b.ts\"}\n```\n", &["!1 `../b.ts`"]),
        ("```ts // a.ts new-unified\nno diff at all\n```\n", &["!"]),
        ("```diff // a.ts\nno diff at all\n```\n", &["!"]),
        ("```\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n```\n", &["!"]),
        ("```ts\n//TODO: delete this file\n```\n", &["!2 this block deletes a file"]),
        (
            "```ts // a.ts\nx\n\n```ts // b.ts\ny\n```\n",
            &["W b.ts replace", "!1 this block has no closing fence"],
        ),
        ("```ts // a.ts\nx\n\n```bash\nnpm i\n```\n", &["!1 this block has no closing fence", "?4"]),
        ("```ts // a.ts\n// START\nx\n", &["!2 this block begins with START"]),
        ("a.py\n```\n<<<<<<< SEARCH\na\n=======\nb\n", &["!"]),
        (
            "```ts // a.ts\nx\n\nRun:\n\n```\nnpm i\n```\n",
            &["W a.ts", "!8 this fence opens a block that is never closed"],
        ),
        (
            "```ts // a.ts\nx\n\nRun:\n```\nls\n```\n\n```ts // b.ts\ny\n```\n",
            &["W a.ts", "W b.ts", "!7 this fence opens a block that is never closed"],
        ),
        ("a.py\n<<<<<<< SEARCH\na\n", &["!2 the edit that begins here has no end"]),
        ("*** Begin Patch\n*** Delete File: a\n", &["!1 the edit that begins here has no end"]),
        ("```diff\n@@ -1 +1 @@\n-a\n+b\n```\n", &["!"]),
    ]);
}

#[test]
fn what_names_no_file_is_an_example() {
    check(&[
        ("```bash\nnpm install\n```\n", &["?1 this ```bash block names no file"]),
        ("```\nhello\n```\n", &["?1 this block names no file"]),
        (
            "Change `src/a.ts` so:\n\n```ts\nx\n```\n",
            &["?3 this ```ts block names no file; treated as an example (the line above mentions `src/a.ts`"],
        ),
        ("### Node.js\n```js\nx\n```\n", &["?2"]),
        ("- src/a.ts\n- src/b.ts\n\n```ts\nx\n```\n", &["?4"]),
        ("```ts // a.ts\nx\n```\n```\n", &["W a.ts replace", "?4"]),
        ("src/a.ts\n```bash\nnode src/a.ts\n```\n", &["?2"]),
        ("```ts\n// a helper for and/or\nx\n```\n", &["?1"]),
        ("Use ```inline``` code.\n", &[]),
        ("typescript\nCopy code\nconst a = 1;\n", &[]),
        ("", &[]),
        ("\0\0\u{1}\u{feff}", &[]),
    ]);
}

#[test]
fn names_outside_of_the_header() {
    let whole = ["W src/a.ts replace \"x\\n\""];
    for text in [
        "src/a.ts\n```ts\nx\n```\n",
        "### `src/a.ts`\n\n```ts\nx\n```\n",
        "**src/a.ts**\n```ts\nx\n```\n",
        "File: src/a.ts\n\n\n```ts\nx\n```\n",
        "src/a.ts:\n```\nx\n```\n",
        "`src/a.ts`\n\ntypescript\nCopy code\n```ts\nx\n```\n",
        "```ts\n// src/a.ts\nx\n```\n",
        "```ts\n// src/a.ts\n\nx\n```\n",
        "```ts\n/* src/a.ts */\nx\n```\n",
        "```ts:src/a.ts\nx\n```\n",
        "```ts file=src/a.ts\nx\n```\n",
        "```ts title=\"src/a.ts\"\nx\n```\n",
        "```ts src/a.ts\nx\n```\n",
        "src/a.ts\n<source>\nx\n</source>\n",
        "<file path=\"src/a.ts\">\nx\n</file>\n",
        "<file path=\"src/a.ts\">\n```ts\nx\n```\n</file>\n",
    ] {
        check(&[(text, &whole)]);
    }
    check(&[
        (
            "```sh\n#!/bin/sh\n# bin/run.sh\nx\n```\n",
            &["W bin/run.sh replace \"#!/bin/sh\\n# bin/run.sh\\nx\\n\""],
        ),
        (
            "```ts\n// src/a.ts - the start\nx\n```\n",
            &["W src/a.ts replace \"// src/a.ts - the start\\nx\\n\""],
        ),
        ("b.ts\n```ts\n// src/a.ts\nx\n```\n", &["!2 the line above this block names `b.ts`"]),
    ]);
}

#[test]
fn search_blocks_as_other_tools_write_them() {
    let edit = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n";
    let fenced = format!("```py\n{edit}```\n");
    let wanted: &[&str] = &["W a.py multi-search-replace a=>b"];
    for text in [
        format!("a.py\n{fenced}"),
        format!("```py\na.py\n{edit}```\n"),
        format!("a.py\n{edit}"),
        format!("Now change `a.py`:\n\n{fenced}"),
        format!("a.py\n<source>python\n{edit}</source>\n"),
    ] {
        check(&[(&text, wanted)]);
    }
    check(&[
        (&format!("a.py\n```py\n{edit}"), &["!2 the closing fence of this block is missing"]),
        (&format!("a.py\n{fenced}and\n{fenced}"), &["W a.py multi-search-replace a=>b a=>b"]),
        (
            &format!("a.py\n{fenced}b.py\n{fenced}a.py\n{fenced}"),
            &["W a.py multi-search-replace a=>b a=>b", "W b.py multi-search-replace a=>b"],
        ),
        (
            &format!("a.py\n```py\n{edit}\nb.py\n{fenced}"),
            &["W a.py multi-search-replace a=>b", "W b.py multi-search-replace a=>b"],
        ),
        (
            "a.md\n```md\n<<<<<<< SEARCH\n```sh\na\n```\n=======\n```\nb\n>>>>>>> REPLACE\n```\n",
            &["W a.md multi-search-replace ```sh|a|```=>```|b"],
        ),
        (
            &format!("a.py\n```py\n<<<<<<< SEARCH\na\n```\n\nb.py\n{fenced}"),
            &["W b.py multi-search-replace a=>b", "!"],
        ),
    ]);
}

#[test]
fn patches_and_diffs_with_and_without_fences() {
    let patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-a\n+b\n*** End Patch\n";
    let diff = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a\n+b\n";
    let patched: &[&str] = &["W a.py apply-patch a=>b"];
    let text = format!("```\n{patch}```\n");
    check(&[
        (&text, patched),
        (patch, patched),
        (&format!("Apply:\n\n{patch}\nDone.\n"), patched),
        (&format!("```bash\napply_patch <<'EOF'\n{patch}EOF\n```\n"), patched),
        (&format!("```bash\ncd x\nls\napply_patch <<'EOF'\n{patch}EOF\n```\n"), patched),
        (&format!("bash -lc \"apply_patch <<'EOF'\n{patch}EOF\"\n"), patched),
        (&format!("```diff\n{diff}```\n"), &["W a.py new-unified a=>b"]),
        (&format!("Here:\n\n{diff}\nThat is it.\n"), &["W a.py new-unified a=>b"]),
        (&format!("c.py\n```diff\n{diff}```\n"), &["!2 the line above this block names `c.py`"]),
        (&format!("```diff // c.py\n{diff}```\n"), &["!2 the block is headed `c.py`"]),
        ("a.py\n```diff\n@@ @@\n-a\n+b\n```\n", &["W a.py new-unified a=>b"]),
        ("diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n", &["R a b"]),
        (
            "```diff // a.md\n@@ @@\n ```sh\n-a\n+b\n ```\n```\n",
            &["W a.md new-unified ```sh|a|```=>```sh|b|```"],
        ),
        (&format!("{diff}\n- a bullet\n"), &["W a.py new-unified a=>b"]),
    ]);
    assert_eq!(read(&format!("Do:\napply_patch <<'EOF'\n{patch}EOF\nOk.\n")).reasoning, ["Do:", "Ok."]);
}

#[test]
fn fences_inside_of_files() {
    let readme = "# A\n\n```sh\nls\n```\n\nend\n";
    let wanted = format!("W a.md replace {readme:?}");
    for text in [
        format!("````md // a.md\n{readme}````\n"),
        format!("```md // a.md\n{readme}```\n"),
        format!("~~~md // a.md\n{readme}~~~\n"),
        format!("```md // a.md\n// START\n{readme}// END\n```\n"),
        format!("a.md\n```markdown\n{readme}```\n"),
        format!("```md // a.md\n{readme}```\n\n```sh\nls\n```\n```yaml\nprojectId: x\n```\n"),
    ] {
        assert_eq!(summary(&read(&text))[0], wanted, "{text}");
    }
    check(&[
        (
            "```md // a.md\n# A\n```\nls\n```\nend\n```\n",
            &["W a.md replace \"# A\\n```\\nls\\n```\\nend\\n\""],
        ),
        ("```md // a.md\n# A\n```\n\nThen run:\n\n```\nls\n```\n", &["W a.md replace \"# A\\n\"", "?7"]),
        (
            "```py // a.py\nx = '''\n```json\n{}\n```\n'''\n```\n",
            &["W a.py replace \"x = '''\\n```json\\n{}\\n```\\n'''\\n\""],
        ),
        ("```ts // a.ts\n// START\nx\n```\ny\n// END\n```\n", &["W a.ts replace \"x\\n```\\ny\\n\""]),
    ]);
    let nested = read("```md // a.md\n# A\n```\nls\n```\nend\n```\n");
    assert!(nested.notes[0].text.contains("fences of its own"), "{:?}", nested.notes);
}

#[test]
fn a_missing_last_fence_is_noted() {
    let open = read("```ts // a.ts\nx\n\nprojectId: p\nuuid: 5f8e0b0e-8f0a-4f43-9c27-5d1b6a5f3c11\n");
    assert_eq!(summary(&open), ["W a.ts replace \"x\\n\""]);
    assert_eq!(open.control.project_id.as_deref(), Some("p"));
    assert!(open.notes[0].text.contains("closing fence"), "{:?}", open.notes);
    let fenced = read("```ts // a.ts\nx\n```yaml\nprojectId: p\n```\n");
    assert_eq!(summary(&fenced), ["W a.ts replace \"x\\n\""]);
    assert_eq!(fenced.control.project_id.as_deref(), Some("p"));
    let lone = read("```ts // a.ts\nx\n// END\n```\n");
    assert_eq!(summary(&lone), ["W a.ts replace \"x\\n// END\\n\""]);
    assert!(lone.notes[0].text.contains("no START line"), "{:?}", lone.notes);
}

#[test]
fn control_blocks() {
    let control = |text: &str| read(text).control;
    let id = "5F8E0B0E-8f0a-4f43-9c27-5d1b6a5f3c11";
    let fenced = control(&format!(
        "```yaml\nprojectId: my-app.k3y\nuuid: {id}\npromptSummary: \"a: b\"\nother: [1, {{x: y}}]\n```\n"
    ));
    assert_eq!(fenced.project_id.as_deref(), Some("my-app.k3y"));
    assert_eq!(fenced.uuid, Some(id.to_lowercase()));
    assert_eq!(fenced.prompt_summary.as_deref(), Some("a: b"));
    assert!(control(&format!("Bye.\n\nprojectId: p\nuuid: {id}\n\nAnything else?\n")).uuid.is_some());
    for message in ["feat: x\\n\\nbody", "\"feat: x\\n\\nbody\""] {
        let text = format!("```yaml\nprojectId: p\ngitCommitMsg: {message}\n```\n");
        assert!(control(&text).git_commit_msg.unwrap().starts_with("feat: x"), "{text}");
    }
    for message in
        ["|\n  feat: x\n\n  body", "\n  - \"feat: x\"\n  - \"\"\n  - body", "\n  - feat: x\n  - body"]
    {
        let text = format!("```yaml\nprojectId: p\ngitCommitMsg: {message}\n```\n");
        let said = control(&text).git_commit_msg.unwrap();
        assert!(said.starts_with("feat: x\n") && said.ends_with("body"), "{said:?}");
    }
    let rows = control(
        "```yaml\nprojectId: p\ngitCommitMsg: feat: x\nchangeSummary:\n  - edit: a.ts\n  - rename: {from: b, to: c}\n  - ... (so on)\n```\n",
    );
    assert_eq!(rows.git_commit_msg.as_deref(), Some("feat: x"));
    assert_eq!(rows.change_summary[0].path, "a.ts");
    let file = read("```yaml // config.yml\nprojectId: p\n```\n");
    assert_eq!((summary(&file).len(), file.control.present), (1, false));
    let file = read("config.yml\n```yaml\nuuid: p\n```\n");
    assert_eq!((summary(&file).len(), file.control.present), (1, false));
}

#[test]
fn a_name_is_checked_as_written_even_if_an_earlier_one_was_tidied_into_it() {
    let edit = "<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n";
    let proposal = read(&format!("./~/a.ts\n{edit}\n~/a.ts\n{edit}"));
    assert_eq!(proposal.operations.len(), 1);
    assert_eq!(proposal.operations[0].action.path().as_str(), "~/a.ts");
    assert!(proposal.unread[0].reason.contains("is absolute"), "{:?}", proposal.unread);
}

#[test]
fn blanks_that_are_quoted_in_the_summary_stay() {
    let text = "```yaml\nprojectId: p\nchangeSummary:\n  - \"new \": \" a.ts \"\n  - edit:   b.ts  \n  - new: |\n      c.ts\n```\n";
    let proposal = read(text);
    let rows: Vec<(&str, &str)> =
        proposal.control.change_summary.iter().map(|row| (row.verb.as_str(), row.path.as_str())).collect();
    assert_eq!(rows, [("new ", " a.ts "), ("edit", "b.ts"), ("new", "c.ts")]);
    assert_eq!(read(&print(&proposal)).control, proposal.control);
}

#[test]
fn control_blocks_that_are_odd_are_noted() {
    let notes = |text: &str| {
        read(text).notes.into_iter().map(|note| format!("{} {}", note.line, note.text)).collect::<Vec<_>>()
    };
    assert!(notes("```yaml\nprojectId: p\nuuid: (random)\n```\n")[0].contains("`(random)` is no uuid"));
    assert!(
        notes("```yaml\nprojectId: a\n```\n\n```yaml\nprojectId: b\n```\n")[0]
            .contains("more than one control block")
    );
    assert!(
        notes("```yaml\nprojectId: a\n}{ nonsense\n```\n")[0]
            .starts_with("3 the control block is not valid YAML")
    );
    let differing = "```ts // a.ts\nx\n```\n```ts // b.ts\n//TODO: delete this file\n```\n\n```yaml\nprojectId: p\nchangeSummary:\n  - edit: ./a.ts\n  - edit: b.ts\n  - new: c.ts\n```\n";
    let found = notes(differing);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("`edit: b.ts`"), "{found:?}");
    let missing = &read(differing).unread[0];
    assert!(missing.broken && missing.reason.contains("`new: c.ts`"), "{missing:?}");
    assert!(
        notes("```ts // a.ts\nx\n```\n```yaml\nprojectId: p\nchangeSummary: [{edit: b.ts}]\n```\n")[1]
            .contains("does not list")
    );
    let nothing = "```yaml\nprojectId: p\nchangeSummary: [{edit: b.ts}]\n```\n";
    assert!(notes(nothing)[0].contains("no block does that") && read(nothing).unread.is_empty());
    let prose = "```ts // a.ts\nx\n```\n```yaml\nprojectId: p\nchangeSummary: [{edit: a.ts}, {edit: some docs}]\n```\n";
    assert!(notes(prose)[0].contains("some docs") && read(prose).unread.is_empty());
    let bomb = format!("```yaml\nprojectId: p\na: &a [x,x]\nb: {}\n```\n", "[*a,*a]".repeat(100));
    assert_eq!(read(&bomb).control.project_id.as_deref(), Some("p"));
    let deep = format!("```yaml\nprojectId: p\na: {}\n```\n", "[".repeat(10_000));
    assert_eq!(read(&deep).control.project_id.as_deref(), Some("p"));
    let long = format!("```yaml\nprojectId: p\na: {}\n```\n", "x".repeat(control::CONTROL_BYTES));
    assert!(notes(&long)[0].contains("was not read"));
}

#[test]
fn reasoning_is_what_is_left() {
    let text = "One.\n\n```ts // a.ts\nx\n```\nTwo.\n\n```sh\nls\n```\n\nThree.\n\nsrc/b.ts\n```ts\ny\n```\nprojectId: p\n";
    let proposal = read(text);
    assert_eq!(proposal.reasoning, ["One.", "Two.\n\n```sh\nls\n```\n\nThree."]);
    assert_eq!(proposal.operations.len(), 2);
    assert!(proposal.control.present);
}

#[test]
fn hunks_of_one_file_come_together_unless_something_lies_between() {
    let edit = |path: &str| format!("```ts // {path}\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n```\n");
    let (a, whole) = (edit("a.ts"), "```ts // a.ts\nx\n```\n");
    check(&[
        (
            &format!("{a}{whole}{a}"),
            &["W a.ts multi-search-replace a=>b", "W a.ts replace", "W a.ts multi-search-replace a=>b"],
        ),
        (&format!("{whole}{whole}"), &["W a.ts replace", "W a.ts replace"]),
    ]);
}

#[test]
fn limits_are_named() {
    let limits = PlanLimits { text_bytes: 200, files: 2, hunks: 3, ..PlanLimits::default() };
    let read = |text: &str| super::read(text, &limits).unwrap_err();
    assert_eq!(read(&"x".repeat(201)), ResponseError::TooLong { bytes: 201, most: 200 });
    let block = |path: &str| format!("```ts // {path}\nx\n```\n");
    assert_eq!(
        read(&[block("a.ts"), block("b.ts"), block("c.ts")].concat()),
        ResponseError::TooManyFiles { most: 2 }
    );
    assert_eq!(read(&block("a.ts").repeat(4)), ResponseError::TooManyHunks { most: 3 });
    let wide = PlanLimits { text_bytes: usize::MAX, ..PlanLimits::default() };
    assert_eq!(super::read(&"```\n".repeat(2 * BLOCKS + 2), &wide), Err(ResponseError::TooManyBlocks));
    let many = super::read(&"```\n".repeat(2 * UNREAD_LISTED + 4), &wide).unwrap();
    assert_eq!((many.unread.len(), many.notes.len()), (UNREAD_LISTED, 1));
}
