//! The requirement of relaycode, point by point and in its order, without what is the clipboard's. Each test
//! says which point it is, and where relay's form of it is another on purpose.

use std::fs;

use serde_json::json;

use crate::fixture::configured_project::{Outside, configured, keyed, trust, trusted, unasked};
use crate::fixture::scratch_project::{Project, control, edit, whole};
use crate::relay_snapshot;
use crate::terminal_questions::Session;

const UUID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

fn record(project: &Project) -> String {
    project.text(&format!(".relaycode/{UUID}.yml"))
}

// Setup, `relay --init`. Here: `relay init`; the older spelling works, and no help speaks of it.
#[test]
fn setup_init_in_both_spellings_makes_config_state_directory_and_gitignore() {
    let mut said = String::new();
    for spelling in ["init", "--init"] {
        let project = Project::new(&[("package.json", "{\"name\": \"my-app\"}")]);
        let ran = project.relay(&[spelling]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(project.path(".relaycode").is_dir());
        assert!(project.text(".gitignore").lines().any(|line| line == ".relaycode/"));
        assert!(project.text("relaycode.config.json").contains("\"my-app\""));
        said += &ran.err;
    }
    relay_snapshot!(said, @r#"
    ✓ relaycode.config.json, .relaycode/ and .gitignore are in place for my-app
      check: none yet. Set patch.linter to a command such as "npx tsc --noEmit", and changes that pass it go in by themselves
      next: `relay prompt --copy`, give it to your model as its instructions, then `relay watch`
      (the prompt follows on stdout)
    ✓ relaycode.config.json, .relaycode/ and .gitignore are in place for my-app
      check: none yet. Set patch.linter to a command such as "npx tsc --noEmit", and changes that pass it go in by themselves
      next: `relay prompt --copy`, give it to your model as its instructions, then `relay watch`
      (the prompt follows on stdout)
    "#);
    let project = Project::new(&[]);
    assert!(!project.done(&["--help"]).contains("--init"));
    assert_eq!(project.relay(&["log", "--init"]).code, 2, "only in front");
}

// Setup, project id detection. Here also from Cargo.toml, pyproject.toml and go.mod.
#[test]
fn setup_the_project_id_comes_from_package_json_else_from_the_directory() {
    let id = |files: &[(&str, &str)]| {
        let project = Project::new(files);
        let value = project.relay(&["init", "--json", "-q"]).json();
        let name =
            project.path(".").canonicalize().unwrap().file_name().unwrap().to_str().unwrap().to_string();
        (value["projectId"].as_str().unwrap().to_string(), name)
    };
    assert_eq!(id(&[("package.json", "{\"name\": \"my-app\"}")]).0, "my-app");
    let (found, directory) = id(&[]);
    assert_eq!(found, directory);
    let (found, directory) = id(&[("package.json", "{broken")]);
    assert_eq!(found, directory);
    assert_eq!(id(&[("Cargo.toml", "[package]\nname = \"crab\"\n")]).0, "crab");
}

// Setup, the instructions for the model are printed. Here: on stdout, in relay's own words, without START and
// END, with a project id that carries the checkout's key, and every form that relay reads.
#[test]
fn setup_init_prints_the_instructions_for_the_model() {
    let project = Project::new(&[("package.json", "{\"name\": \"my-app\"}")]);
    let ran = project.relay(&["init"]);
    relay_snapshot!(ran, @r#"
    exit 0
    ----- stdout -----
    # Answers that change files

    My tool, relay, reads your answer and changes my files exactly as it says; an answer that is not exact is refused as a whole. So whenever you change files, answer in this form.

    - For each file: a sentence or two on what you change and why, then its block. One block per file, and only files that change.
    - Behind the opening fence come the language, `//` whatever the language is, the path from the project's root, and the name of the form, if it has one. A path with blanks goes in double quotes.
    - Where the content has a fence in it, make the fences around it longer: four backticks around three.
    - Write out every line. "Rest of the code", "as before" or "..." in place of lines would become part of the file.
    - Change only lines you have seen. If you have not seen a file, ask for it instead of guessing.
    - Take your earlier answers as applied, unless I say otherwise.
    - A block without a path changes nothing: use it for commands, or to show me something.

    The forms:

    - `multi-search-replace`: for changes in a few places. SEARCH holds whole lines, copied from the file character by character with their indentation, and enough of them that they occur only once in the file. Several places are several SEARCH/REPLACE pairs in the file's one block, from top to bottom. To insert, repeat a neighbouring line in both parts; to remove, leave the lines out of the second part. A line of content that looks like one of the three marker lines gets a backslash in front.
    - `new-unified`, a diff: for changes all over a file. Each line has a sign in its first column, a blank (stays), `-` (goes) or `+` (comes), and behind it the line with all of its own indentation. Give two or three lines that stay above and below each change; copy these and the ones that go exactly from the file. Each place gets a `@@ ... @@`, from top to bottom; line numbers are not needed.
    - The whole file, without a name: for a new file, or where little stays. What stands between the fences is the file, from its first line to its last.
    - `//TODO: delete this file`, alone in a block: to delete a file.
    - `rename-file` in place of the path: to rename a file. If the file changes as well, a block with its new path follows.

    Every answer that changes files ends with a block as the last one here, and nothing below it. projectId is always exactly this one, the uuid another one in every answer; changeSummary has a row for each file; gitCommitMsg is short and in the imperative. The four backticks are not part of the example:

    ````markdown
    An empty name is no name.
    ```python // "tools/check names.py" multi-search-replace
    <<<<<<< SEARCH
        return len(name) < 40
    =======
        return 0 < len(name) < 40
    >>>>>>> REPLACE
    ```

    The sum of no prices failed for want of a first value.
    ```ts // src/cart.ts new-unified
    @@ ... @@
     export function total(prices: number[]): number {
    -  return prices.reduce((sum, price) => sum + price);
    +  return prices.reduce((sum, price) => sum + price, 0);
     }
    ```

    The greeting gets a file of its own.
    ```ts // src/greet.ts
    export const greet = (name: string) => `Hello, ${name}.`;
    ```

    Nothing uses this any more.
    ```ts // src/old.ts
    //TODO: delete this file
    ```

    It is about text.
    ```json // rename-file
    { "from": "src/util.ts", "to": "src/text/util.ts" }
    ```

    ```yaml
    projectId: my-app.<key>
    uuid: (a new random uuid, version 4)
    changeSummary:
      - edit: "tools/check names.py"
      - edit: src/cart.ts
      - new: src/greet.ts
      - delete: src/old.ts
      - rename: src/util.ts -> src/text/util.ts
    promptSummary: "What I asked for, in a sentence or two."
    gitCommitMsg: "fix: take the total of an empty cart to be 0"
    ```
    ````
    ----- stderr -----
    ✓ relaycode.config.json, .relaycode/ and .gitignore are in place for my-app
      check: none yet. Set patch.linter to a command such as "npx tsc --noEmit", and changes that pass it go in by themselves
      next: `relay prompt --copy`, give it to your model as its instructions, then `relay watch`
      (the prompt follows on stdout)
    "#);
    assert_eq!(project.done(&["prompt"]), ran.out, "and again, whenever it is wanted");
}

// Configuration, all behaviour is in one file. Here: nested; the flat form of the requirement is read as well.
#[test]
fn configuration_the_file_of_the_requirement_counts_in_every_key() {
    let flat = r#"{"projectId": "your-project-name", "clipboardPollInterval": 1500, "approval": "no",
        "approvalOnErrorCount": 3, "linter": "bun tsc --noEmit", "preCommand": "a", "postCommand": "b"}"#;
    let project = Project::new(&[("relaycode.config.json", flat)]);
    let value = project.relay(&["config", "show", "--json"]).json();
    let rows = value["keys"].as_array().unwrap();
    let of = |key: &str| rows.iter().find(|row| row["key"] == key).unwrap()["value"].clone();
    assert_eq!(of("projectId"), "your-project-name");
    assert_eq!(of("watcher.clipboardPollInterval"), 1500);
    assert_eq!(of("patch.approvalMode"), "manual");
    assert_eq!(of("patch.approvalOnErrorCount"), 3);
    assert_eq!(of("patch.linter"), "bun tsc --noEmit");
    assert_eq!((of("patch.preCommand"), of("patch.postCommand")), (json!("a"), json!("b")));
}

// Data processing, code blocks for writing: every fenced block with a path in its opening line; what is between
// START and END is the file, and neither they nor the path get into it.
#[test]
fn data_blocks_are_written_without_markers_and_path_comment() {
    let project = Project::new(&[]);
    let answer = "First.\n\n```typescript // src/a.ts\n// START\n\nexport const a = 1;\n\n// END\n```\n\n\
                  Second.\n\n```python // b.py\n# START\nb = 2\n# END\n```\n\n```ts // c.ts\nc();\n```\n";
    project.applied(answer);
    assert_eq!(project.text("src/a.ts"), "export const a = 1;\n");
    assert_eq!(project.text("b.py"), "b = 2\n");
    assert_eq!(project.text("c.ts"), "c();\n", "without markers, too");
    assert_eq!(project.listing(), ["b.py", "c.ts", "src", "src/a.ts"]);
    project.applied(
        "```python // d.py\n#!/usr/bin/env python3\n# START\nd = 4\n# END\n```\n\n\
         ```ts // e.ts\n// e.ts\n// START\ne();\n// END\n```\n",
    );
    assert_eq!(project.text("d.py"), "#!/usr/bin/env python3\nd = 4\n");
    assert_eq!(project.text("e.ts"), "e();\n");
    let left = project.apply("```ts // f.ts\nf();\n// START\ng();\n```\n");
    assert_eq!((left.code, project.path("f.ts").exists()), (13, false), "{left:?}");
}

// Data processing, code blocks for deletion: only a block that is nothing but the directive.
#[test]
fn data_a_block_that_is_only_the_directive_deletes() {
    let project = Project::new(&[("old.ts", "old\n"), ("kept.ts", "kept\n")]);
    project.applied("```typescript // old.ts\n//TODO: delete this file\n```\n");
    assert!(!project.path("old.ts").exists());
    let text = "//TODO: delete this file\nkept();\n";
    project.applied(&whole("kept.ts", text));
    assert_eq!(project.text("kept.ts"), text, "among other lines it is text");
}

// Data processing, reasoning: everything that is neither a block nor the control block.
#[test]
fn data_the_reasoning_is_in_the_record() {
    let project = Project::new(&[("a.txt", "one\n")]);
    let answer = format!(
        "I looked at the file first.\n\n{}\nThat should be all.\n{}",
        edit("a.txt", "one", "1"),
        control(UUID, "feat: one")
    );
    project.applied(&answer);
    let shown = project.relay(&["show", "1", "--json"]).json();
    let reasoning = shown["records"][0]["reasoning"].to_string();
    assert!(reasoning.contains("I looked at the file first.") && reasoning.contains("That should be all."));
    assert!(!reasoning.contains("SEARCH") && !reasoning.contains("projectId"), "{reasoning}");
    assert!(record(&project).contains("I looked at the file first."));
}

// Data processing, control block: read for `projectId`, `uuid` and `changeSummary`, and then gone. Here
// `changeSummary` is compared with what the blocks do; a difference is a remark.
#[test]
fn data_the_control_block_is_understood_and_discarded() {
    let project = configured(&[("a.txt", "one\n")], json!({}));
    let answer = edit("a.txt", "one", "1")
        + &format!("\n```yaml\nprojectId: shop\nuuid: {UUID}\nchangeSummary:\n  - edit: other.txt\n```\n");
    relay_snapshot!(project.apply(&answer), @"
    exit 0
    ----- stdout -----
    ▸ stdin                                                                    1 file  +1 −1
        M  a.txt  +1 −1   1 exact
      · line 10 of the answer: changeSummary says `edit: other.txt`, but no block does that
      · line 2 of the answer: `a.txt` is changed by a block, but changeSummary does not list it
    ✓ applied 0f8fad5b · 1 file · `relay undo` undoes it
    ");
    assert_eq!(project.listing(), ["a.txt", "relaycode.config.json"], "it is no file");
    let record = record(&project);
    assert!(record.contains("projectId: shop\n") && record.starts_with("uuid: "), "{record}");
}

// Data processing, directories come with the file that needs them.
#[test]
fn data_missing_directories_are_made() {
    let project = Project::new(&[]);
    project.applied(&whole("src/new/feature/component.ts", "x();\n"));
    assert_eq!(project.text("src/new/feature/component.ts"), "x();\n");
    project.done(&["revert"]);
    assert_eq!(project.listing(), Vec::<String>::new(), "and go with it");
}

// Workflow, detect and validate: the project must be this one.
#[test]
fn workflow_another_projects_answer_is_refused() {
    let project = configured(&[("a.txt", "one\n")], json!({}));
    let answer = edit("a.txt", "one", "1") + &format!("\n```yaml\nprojectId: other\nuuid: {UUID}\n```\n");
    relay_snapshot!(project.apply(&answer), @"
    exit 3
    ----- stderr -----
    ✗ the answer is for the project `other`, and this is `shop`; nothing was changed
      go to that project, or correct `projectId` in the answer if it is meant for this one
    ");
    assert_eq!(project.text("a.txt"), "one\n");
}

// Workflow, detect and validate: the id must be new. Here: only what was committed counts as processed.
#[test]
fn workflow_an_id_that_was_processed_is_refused() {
    let project = configured(&[("a.txt", "one\n")], json!({}));
    let answer = edit("a.txt", "one", "1") + &control(UUID, "one");
    project.applied(&answer);
    project.put("a.txt", b"one\n");
    assert_eq!(project.apply(&answer).code, 8);
    assert_eq!(project.text("a.txt"), "one\n");
}

/// A project whose commands write down who they are, whether a pending file exists and what `a.txt` begins
/// with; `preCommand` adds a line to it.
fn observed(outside: &Outside) -> Project {
    let log = outside.path("log");
    let step = |name: &str, more: &str| {
        let lines = format!(
            "pending=none\nfor file in .relaycode/*.pending.yml; do [ -e \"$file\" ] && pending=pending; done\n\
             echo \"{name} $pending $(head -1 a.txt)\" >> {log}\n{more}\n"
        );
        outside.script(&format!("{name}.sh"), &lines)
    };
    let copy = format!("cp .relaycode/*.pending.yml {}", outside.path("pending"));
    trusted(
        &[("a.txt", "one\n")],
        json!({"patch": {
            "preCommand": step("preCommand", "echo 'from preCommand' >> a.txt"),
            "linter": step("linter", ""),
            "postCommand": step("postCommand", &copy),
        }}),
    )
}

// Workflow, stage: `preCommand`, the baseline, the snapshot, the plan in a pending file, in this order and before
// any file is touched; execute; then verify: `postCommand`, the linter.
#[test]
fn workflow_everything_happens_in_its_order() {
    let outside = Outside::new();
    let project = observed(&outside);
    let answer = "It is a number.\n\n".to_owned() + &edit("a.txt", "one", "1") + &control(UUID, "feat: one");
    let ran = project.apply(&answer);
    assert_eq!(ran.code, 0, "{ran:?}");
    let steps = ["preCommand none one", "linter none one", "postCommand pending 1", "linter pending 1"];
    assert_eq!(outside.text("log").lines().collect::<Vec<_>>(), steps);
    let pending = outside.text("pending");
    for part in [UUID, "- It is a number.", "type: write", "snapshot:", "approved: false"] {
        assert!(pending.contains(part), "{part:?} is missing in the plan\n{pending}");
    }
    let rules = project.relay(&["why", "--json"]).json()["decisions"][0]["rules"].as_array().unwrap().len();
    assert_eq!(rules, 2, "planned again after preCommand, it is admitted once and accepted once");
    assert!(
        pending.contains("one\n    from preCommand"),
        "the snapshot is taken after preCommand\n{pending}"
    );
}

// Workflow, stage: a `preCommand` that fails ends it, with nothing touched.
#[test]
fn workflow_a_failing_pre_command_ends_it() {
    let project = trusted(&[("a.txt", "one\n")], json!({"patch": {"preCommand": "echo sorry; exit 3"}}));
    relay_snapshot!(project.apply(&edit("a.txt", "one", "1")), @"
    exit 5
    ----- stdout -----
    ▸ stdin                                                                    1 file  +1 −1
        M  a.txt  +1 −1   1 exact
    ----- stderr -----
        sorry
    ✗ not applied: preCommand `echo sorry; exit 3` ended with code 3; nothing was changed
      fix what it reports, or change the command in the configuration
    ");
    assert_eq!((project.text("a.txt"), project.log().len()), ("one\n".into(), 0));
}

// Workflow, execute: writes, deletes and renames of one answer, all of them.
#[test]
fn workflow_every_operation_is_carried_out() {
    let project = Project::new(&[("a.txt", "one\n"), ("b.txt", "b\n"), ("c.txt", "c\n")]);
    let answer = edit("a.txt", "one", "1")
        + "```text // b.txt\n//TODO: delete this file\n```\n"
        + "```json // rename-file\n{\"from\": \"c.txt\", \"to\": \"d/c.txt\"}\n```\n"
        + &whole("e.txt", "e\n");
    project.applied(&answer);
    assert_eq!(project.listing(), ["a.txt", "d", "d/c.txt", "e.txt"]);
    assert_eq!(project.text("a.txt"), "1\n");
}

// Workflow, verify and decide: with `auto`, clean results are kept without asking. Here also: trust and the key.
#[test]
fn workflow_a_clean_change_is_approved_without_asking() {
    let outside = Outside::new();
    let project = trusted(&[("a.txt", "one\n")], json!({"patch": {"linter": outside.linter()}}));
    let ran = unasked(&project, &keyed(&project, &edit("a.txt", "one", "1"), UUID, "one"));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(record(&project).contains("decidedBy: policy"));
}

// Workflow, verify and decide: else a person is asked. Here: before anything is written if the plan itself gives
// a reason, and after the linter if its result does.
#[test]
fn workflow_what_is_not_clean_is_asked_about() {
    let outside = Outside::new();
    for (typed, code, text) in [("y\n", 0, "BAD\n"), ("n\n", 4, "one\n")] {
        let project = trusted(&[("a.txt", "one\n")], json!({"patch": {"linter": outside.linter()}}));
        project.put("a.md", keyed(&project, &edit("a.txt", "one", "BAD"), UUID, "bad").as_bytes());
        let mut session = Session::start(&project, &["apply", "a.md"], "");
        session.wait_for("went from 0 to 1 error");
        session.wait_for("keep? [y/N]");
        session.type_in(typed);
        let (ended, seen) = session.end();
        assert_eq!(ended, Some(code), "{seen}");
        assert_eq!(project.text("a.txt"), text);
    }
}

// Workflow, commit: the pending file becomes the record.
#[test]
fn workflow_approval_makes_the_pending_file_the_record() {
    let outside = Outside::new();
    let project = observed(&outside);
    let ran = project.apply(&(edit("a.txt", "one", "1") + &control(UUID, "feat: one")));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(outside.text("pending").contains(UUID), "there was one");
    assert!(!project.path(&format!(".relaycode/{UUID}.pending.yml")).exists());
    assert!(record(&project).contains("approved: true"));
}

// Workflow, rollback: a no, or a failure, restores every file exactly and leaves nothing of it behind.
#[test]
fn workflow_rejection_restores_everything_and_removes_the_pending_file() {
    let project = trusted(
        &[("a.txt", "one\r\n"), ("b.txt", "b"), ("c/c.txt", "c\n")],
        json!({"patch": {"postCommand": "false"}}),
    );
    project.put("bytes.bin", b"\x00\xff\r\nold\n");
    fs::set_permissions(project.path("b.txt"), std::os::unix::fs::PermissionsExt::from_mode(0o750)).unwrap();
    let before = project.tree();
    let answer = edit("a.txt", "one", "1")
        + "```text // b.txt\n//TODO: delete this file\n```\n"
        + "```json // rename-file\n{\"from\": \"c/c.txt\", \"to\": \"d/e/c.txt\"}\n```\n"
        + &whole("new/e.txt", "e\n")
        + &control(UUID, "all of it");
    relay_snapshot!(project.apply(&answer), @"
    exit 5
    ----- stdout -----
    ▸ all of it                                                               4 files  +2 −2
        M  a.txt                +1 −1   1 with other line endings
        D  b.txt                −1
        R  c/c.txt → d/e/c.txt
        A  new/e.txt            +1
    ----- stderr -----
    ✗ not kept: false ended with code 1                              everything was put back
      keep it anyway: `... | relay apply - --allow gate`
    ");
    assert_eq!(project.tree(), before);
    let state = fs::read_dir(project.path(".relaycode")).unwrap();
    let left = state.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(left.filter(|name| name.ends_with(".yml")).count(), 0);
}

// State: `.relaycode` holds a readable record for each change, with what a person needs to undo it by hand. Here
// also: a `.gitignore` of its own, and only for the user's eyes.
#[test]
fn state_every_change_has_a_readable_record_with_its_snapshot() {
    let project = configured(&[("a.txt", "one\ntwo\n")], json!({}));
    trust(&project);
    project.applied(&("Why.\n\n".to_string() + &edit("a.txt", "one", "1") + &control(UUID, "feat: one")));
    project.applied(&whole("b.txt", "b\n"));
    let record = record(&project);
    let order = [
        "uuid: ",
        "projectId: ",
        "createdAt: ",
        "gitCommitMsg: ",
        "reasoning:",
        "operations:",
        "snapshot:",
        "approved: true",
    ];
    let at: Vec<usize> =
        order.iter().map(|part| record.find(part).unwrap_or_else(|| panic!("{part}\n{record}"))).collect();
    assert!(at.is_sorted(), "{record}");
    assert!(record.contains("snapshot:\n  a.txt: |\n    one\n    two\n"), "{record}");
    let id = project.log()[0]["id"].as_str().unwrap().to_string();
    assert!(project.text(&format!(".relaycode/{id}.yml")).contains("b.txt: null"), "null: it was made");
    assert_eq!(project.text(".relaycode/.gitignore"), "*\n");
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &fs::metadata(project.path(".relaycode")).unwrap().permissions(),
    );
    assert_eq!(mode & 0o777, 0o700);
}
