//! The technical specification of relaycode, where no other test shows a sentence of it: the forms of an answer as it
//! writes them, the fields of a record, and how a change is named and found. `docs/requirements.md` has every sentence
//! of it, with its test.

use relaycode_testkit::process::unshare_command;
use serde_json::json;

use crate::fixture::open_counter::OpenCounter;
use crate::fixture::scratch_project::{Project, edit, run, whole};
use crate::relay_snapshot;

const UUID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

/// Every form of the specification with its own examples, and the block at the end with every field.
const ANSWER: &str = r#"First the totals.

```typescript // src/utils.ts new-unified
--- src/utils.ts
+++ src/utils.ts
@@ ... @@
    function calculateTotal(items: number[]): number {
-      return items.reduce((sum, item) => {
-        return sum + item;
-      }, 0);
+      const total = items.reduce((sum, item) => {
+        return sum + item * 1.1;  // Add 10% markup
+      }, 0);
+      return Math.round(total * 100) / 100;  // Round to 2 decimal places
+    }
```

Then two places of one file.

```typescript // src/main.ts multi-search-replace
<<<<<<< SEARCH
one
=======
1
>>>>>>> REPLACE
<<<<<<< SEARCH
three
=======
3
>>>>>>> REPLACE
```

```typescript // src/components/Button.tsx
export const Button = 1;
```

```typescript // "src/components/My Component.tsx" new-unified
--- src/components/My Component.tsx
+++ src/components/My Component.tsx
@@ ... @@
 a
-b
+B
 c
```

```typescript // src/utils/old-helper.ts
//TODO: delete this file
```

```json // rename-file
{
  "from": "src/old/path/to/file.ts",
  "to": "src/new/path/to/file.ts"
}
```

```yaml
projectId: shop
uuid: 0f8fad5b-d9cb-469f-a165-70867728950e
changeSummary:
  - edit: src/utils.ts
  - edit: src/main.ts
  - edit: "src/components/My Component.tsx"
  - new: src/components/Button.tsx
  - delete: src/utils/old-helper.ts
  - rename: src/old/path/to/file.ts -> src/new/path/to/file.ts
promptSummary: "A detailed summary of my request."
gitCommitMsg: "feat: A concise, imperative git commit message."
```
"#;

/// A project that [`ANSWER`] is about.
fn project() -> Project {
    Project::new(&[
        (
            "src/utils.ts",
            "   function calculateTotal(items: number[]): number {\n      return items.reduce((sum, item) => {\n        \
             return sum + item;\n      }, 0);\n",
        ),
        ("src/main.ts", "one\ntwo\nthree\n"),
        ("src/components/My Component.tsx", "a\nb\nc\nd\n"),
        ("src/utils/old-helper.ts", "old\n"),
        ("src/old/path/to/file.ts", "moved\n"),
    ])
}

// Response format: both strategies, new, deleted and renamed files, a path with blanks, the control block. None of it
// draws a remark.
#[test]
fn format_every_form_of_the_specification_is_applied() {
    let project = project();
    let ran = project.pipe(&["apply", "-", "-y", "--json", "-q"], ANSWER.as_bytes());
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
    let value = ran.json();
    for remarks in [&value["unread"], &value["plan"]["findings"], &value["plan"]["notes"]] {
        assert_eq!(remarks, &json!([]), "{value}");
    }
    assert_eq!(
        project.text("src/utils.ts"),
        "   function calculateTotal(items: number[]): number {\n      const total = items.reduce((sum, item) => {\n        \
         return sum + item * 1.1;  // Add 10% markup\n      }, 0);\n      \
         return Math.round(total * 100) / 100;  // Round to 2 decimal places\n    }\n"
    );
    assert_eq!(project.text("src/main.ts"), "1\ntwo\n3\n");
    assert_eq!(project.text("src/components/Button.tsx"), "export const Button = 1;\n");
    assert_eq!(project.text("src/components/My Component.tsx"), "a\nB\nc\nd\n");
    assert!(!project.path("src/utils/old-helper.ts").exists());
    assert!(!project.path("src/old/path/to/file.ts").exists());
    assert_eq!(project.text("src/new/path/to/file.ts"), "moved\n");
}

// Data structures, the operations and the state file: these fields, by these names, in this order. Here more follows.
#[test]
fn state_a_record_begins_with_the_fields_of_the_specification() {
    let project = project();
    project.applied(ANSWER);
    let record = project.text(&format!(".relaycode/{UUID}.yml"));
    let (fields, more) = record.split_once("\napproved: true\n").unwrap();
    assert!(more.starts_with("version: "), "{more}");
    relay_snapshot!(fields.to_string(), @r#"
    uuid: 0f8fad5b-d9cb-469f-a165-70867728950e
    projectId: shop
    createdAt: "<time>"
    gitCommitMsg: "feat: A concise, imperative git commit message."
    promptSummary: A detailed summary of my request.
    reasoning:
      - First the totals.
      - Then two places of one file.
    operations:
      - type: write
        path: src/utils.ts
        content: |
          --- a/src/utils.ts
          +++ b/src/utils.ts
          @@ ... @@
              function calculateTotal(items: number[]): number {
          -      return items.reduce((sum, item) => {
          -        return sum + item;
          -      }, 0);
          +      const total = items.reduce((sum, item) => {
          +        return sum + item * 1.1;  // Add 10% markup
          +      }, 0);
          +      return Math.round(total * 100) / 100;  // Round to 2 decimal places
          +    }
        patchStrategy: new-unified
      - type: write
        path: src/main.ts
        content: |
          <<<<<<< SEARCH
          one
          =======
          1
          >>>>>>> REPLACE
          <<<<<<< SEARCH
          three
          =======
          3
          >>>>>>> REPLACE
        patchStrategy: multi-search-replace
      - type: write
        path: src/components/Button.tsx
        content: |
          export const Button = 1;
        patchStrategy: replace
      - type: write
        path: src/components/My Component.tsx
        content: |
          --- a/src/components/My Component.tsx
          +++ b/src/components/My Component.tsx
          @@ ... @@
           a
          -b
          +B
           c
        patchStrategy: new-unified
      - type: delete
        path: src/utils/old-helper.ts
      - type: rename
        from: src/old/path/to/file.ts
        to: src/new/path/to/file.ts
    snapshot:
      src/components/Button.tsx: null
      src/components/My Component.tsx: |
        a
        b
        c
        d
      src/main.ts: |
        one
        two
        three
      src/new/path/to/file.ts: null
      src/old/path/to/file.ts: |
        moved
      src/utils.ts: |2
           function calculateTotal(items: number[]): number {
              return items.reduce((sum, item) => {
                return sum + item;
              }, 0);
      src/utils/old-helper.ts: |
        old
    "#);
}

// Data structures, an operation has one of four strategies. The fourth is git's own diff.
#[test]
fn state_a_diff_of_git_is_recorded_as_unified() {
    let project = Project::new(&[("a.txt", "one\n")]);
    let diff = "```diff // a.txt unified\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+1\n```\n";
    let id = project.applied(diff);
    assert_eq!(project.text("a.txt"), "1\n");
    let record = project.text(&format!(".relaycode/{id}.yml"));
    assert!(record.contains("\n    patchStrategy: unified\n"), "{record}");
}

// Response, the control block: an id is expected in it. Here one is given to an answer that has none.
#[test]
fn format_an_answer_without_an_id_gets_one() {
    let project = Project::new(&[]);
    let id = project.applied(&whole("a.txt", "a\n"));
    let form: Vec<usize> = id.split('-').map(str::len).collect();
    assert_eq!((form, id.as_bytes()[14]), (vec![8, 4, 4, 4, 12], b'4'), "a random one: {id}");
    assert!(project.path(&format!(".relaycode/{id}.yml")).exists());
}

// State: the latest change is found without a look into every record.
#[test]
fn state_the_latest_change_is_found_without_reading_the_others() {
    let project = Project::new(&[]);
    for number in 0..8 {
        project.applied(&whole(&format!("{number}.txt"), "x\n"));
    }
    let opened = OpenCounter::new(&project.path(".relaycode"), ".yml");
    let [log, show] = [&["log", "-n", "1"][..], &["show", "1"]].map(|args| {
        opened.take();
        project.done(args);
        opened.take()
    });
    // Its own record at most, to look at it and to read it.
    assert!(log <= 2 && (1..=2).contains(&show), "log opened records {log} times, show {show} times");
}

// Commands, `relay revert`: by id and by number, out of the middle; what comes of it is a change of its own.
#[test]
fn cli_a_change_is_reverted_by_its_id_and_by_its_number() {
    let project = Project::new(&[("a.txt", "one\n"), ("b.txt", "two\n"), ("c.txt", "three\n")]);
    let first = project.applied(&edit("a.txt", "one", "1"));
    let second = project.applied("```text // b.txt\n//TODO: delete this file\n```\n");
    project.applied(&edit("c.txt", "three", "3"));
    let revert = |name: &str, of: &str| {
        let entries = project.log().len();
        let ran = project.relay(&["revert", name, "-y"]);
        assert_eq!(ran.code, 0, "{name}: {ran:?}");
        let log = project.log();
        assert_eq!((log.len(), &log[0]["revertOf"][0]), (entries + 1, &of.into()), "{name}");
    };
    revert(&first, &first);
    // The revert and the latest change stand above it.
    revert("3", &second);
    assert_eq!((project.text("a.txt"), project.text("b.txt")), ("one\n".into(), "two\n".into()));
    assert_eq!(project.text("c.txt"), "3\n", "what came later stays");
}

/// Renames `a.txt` onto another file system and takes it back, and says after each what is where.
const RENAME_AWAY: &str = r#"mount -t tmpfs none other || exit 99
look() { echo "$1: $(cat a.txt 2>/dev/null) | $(cat other/a.txt 2>/dev/null)"; }
"$RELAY" apply a.md -y -q 2>/dev/null; look "apply $?"
"$RELAY" revert -y -q 2>/dev/null; look "revert $?"
"#;

// Core components: a rename to another file system loses nothing. Carried out, and undone.
#[test]
fn workflow_a_rename_to_another_file_system_is_carried_out_and_undone() {
    let Some(mut command) = unshare_command(&["--mount"], "sh") else { return };
    let project = Project::new(&[("a.txt", "mine\n"), ("other/.keep", "")]);
    let answer = "```json // rename-file\n{\"from\": \"a.txt\", \"to\": \"other/a.txt\"}\n```\n";
    project.put("a.md", answer.as_bytes());
    project.surround(&mut command);
    let path = std::env::var_os("PATH").unwrap();
    command.args(["-c", RENAME_AWAY]).env("PATH", path).env("RELAY", env!("CARGO_BIN_EXE_relay"));
    let ran = run(&mut command);
    assert_eq!(ran.out, "apply 0:  | mine\nrevert 0: mine | \n", "{ran:?}");
}
