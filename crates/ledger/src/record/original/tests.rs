use super::*;

const ID: &str = "3f9c1e2a-0c4b-4c1d-9a53-0c2f5d1e7b66";

fn load(text: &str) -> LedgerResult<LoadedRecord> {
    read(text.as_bytes(), "old.yml", Some(ID.parse().unwrap()))
}

fn done(text: &str) -> (Record, bool) {
    match load(text).unwrap() {
        LoadedRecord::Record { record, undone, .. } => (*record, undone),
        LoadedRecord::Pending => panic!("pending"),
    }
}

fn after<'r>(record: &'r Record, path: &str) -> Option<&'r str> {
    match record.result.iter().find(|file| file.path == path)?.content.as_ref()? {
        RecordContent::Text(text) => Some(text),
        RecordContent::Blob { .. } => None,
    }
}

#[test]
fn the_first_layout_loads_with_what_its_edits_made() {
    let (record, undone) = done(&format!(
        "uuid: {ID}
projectId: shop
createdAt: '2025-06-25T02:07:22.838Z'
gitCommitMsg: 'fix: round prices'
promptSummary: >-
  Prices shall be
  rounded.
reasoning:
  - Done as asked.
operations:
  - type: write
    path: src/price.ts
    content: |-
      --- src/price.ts
      +++ src/price.ts
      @@ -1,3 +1,3 @@
       export const price = (n: number) => {{
      -  return n;
      +  return Math.round(n);
       }};
    patchStrategy: new-unified
  - type: write
    path: src/new.ts
    content: export const a = 1;
    patchStrategy: replace
  - type: delete
    path: src/old.ts
  - type: rename
    from: a.md
    to: b.md
snapshot:
  src/price.ts: |
    export const price = (n: number) => {{
      return n;
    }};
  src/new.ts: null
  src/old.ts: gone soon
  a.md: text
  b.md: null
approved: true
"
    ));
    assert!(!undone);
    assert_eq!((record.version, record.number, record.approved), (0, 0, true));
    assert_eq!(record.prompt_summary.as_deref(), Some("Prices shall be rounded."));
    assert_eq!(record.notes, Vec::<String>::new());
    let price = "export const price = (n: number) => {\n  return Math.round(n);\n};\n";
    assert_eq!(after(&record, "src/price.ts"), Some(price));
    assert_eq!(after(&record, "src/new.ts"), Some("export const a = 1;"));
    let old = record.result.iter().find(|file| file.path == "src/old.ts").unwrap();
    assert_eq!((old.before, old.after), (Some(FileImage::of(b"gone soon", 0o644)), None));
    let moved = record.result.iter().find(|file| file.path == "b.md").unwrap();
    assert_eq!(moved.renamed_from.as_deref(), Some("a.md"));
    assert_eq!(record.snapshot["src/new.ts"], None);
}

fn second(status: &str, path: &str, search: &str) -> String {
    format!(
        "id: 16
uuid: {ID}
projectId: shop
createdAt: '2025-09-20T07:22:22.099Z'
status: {status}
linesAdded: 1
linesRemoved: 1
linesDifference: 0
gitCommittedAt: null
gitCommitMsg:
  - 'feat: greet'
  - 'and more'
reasoning: []
operations:
  - type: write
    path: {path}
    content: |
      <<<<<<< SEARCH
      {search}
      =======
      hello
      >>>>>>> REPLACE
    patchStrategy: search-replace
snapshot:
  {path}: |
    hi
    there
approved: true
"
    )
}

#[test]
fn the_second_layout_has_a_status() {
    let (record, undone) = done(&second("committed", "a.txt", "hi"));
    assert_eq!(after(&record, "a.txt"), Some("hello\nthere\n"));
    assert_eq!(record.git_commit_msg.as_deref(), Some("feat: greet\nand more"));
    assert!(!undone);
    assert!(done(&second("undone", "a.txt", "hi")).1);
    assert_eq!(load(&second("pending", "a.txt", "hi")).unwrap(), LoadedRecord::Pending);
}

#[test]
fn what_cannot_be_worked_out_is_listed_without_its_result() {
    let (record, _) = done(&second("committed", "a.txt", "somewhere else"));
    assert!(record.notes[0].starts_with("this cannot be reverted: "), "{:?}", record.notes);
    let file = &record.result[0];
    assert_eq!((file.path.as_str(), file.after, file.content.as_ref()), ("a.txt", None, None));
    assert_eq!(file.before, Some(FileImage::of(b"hi\nthere\n", 0o644)));
}

#[test]
fn hostile_files_are_refused() {
    for path in ["../x", "/etc/passwd", ".git/hooks/pre-commit", "a/../../b", ".relaycode/x"] {
        let error = load(&second("committed", path, "hi")).unwrap_err();
        assert!(matches!(error, LedgerError::Damaged { .. }), "{path}: {error}");
    }
    for text in
        ["", "- 1", "uuid: ../../x", "uuid: 3f9c1e2a-0c4b-4c1d-9a53-0c2f5d1e7b67", "\u{0}", "&a [*a, *a]"]
    {
        assert!(load(text).is_err(), "{text}");
    }
}
