use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use crate::record::yaml::{emit, parse};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Sample {
    text: String,
    list: Vec<String>,
    maybe: Option<String>,
    map: BTreeMap<String, Option<Either>>,
    nested: Vec<Vec<String>>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Either {
    Text(String),
    Pair { blob: String, size: u64 },
}

/// Pieces that mean something to YAML, to readers of older versions of it, or to line splitters.
const PIECES: &[&str] = &[
    "\n",
    "\n",
    "\n\n",
    "\r",
    "\r\n",
    " ",
    "  ",
    "\t",
    "#",
    " #",
    ": ",
    ":",
    "- ",
    "-",
    "---",
    "...",
    "--- ",
    "null",
    "~",
    "yes",
    "No",
    "true",
    "0",
    "1",
    "1e3",
    "0x1f",
    "0644",
    ".inf",
    "1:20",
    "2001-01-01",
    "<<",
    "=",
    "'",
    "\"",
    "\\",
    "|",
    ">",
    "|2-",
    "&a",
    "*a",
    "!t",
    "%YAML 1.2",
    "@",
    "`",
    "[",
    "]",
    "{",
    "}",
    ",",
    "?",
    "? ",
    "\u{85}",
    "\u{a0}",
    "\u{2028}",
    "\u{2029}",
    "\u{feff}",
    "\u{fffe}",
    "\u{ffff}",
    "\0",
    "\u{1b}",
    "\u{7f}",
    "\u{9f}",
    "é",
    "日本",
    "😀",
    "a",
    "key",
    "fn x() {",
    "checksum: 0",
];

pub(in crate::record) fn nasty() -> impl Strategy<Value = String> {
    let pieces =
        prop::collection::vec(prop::sample::select(PIECES), 0..12).prop_map(|pieces| pieces.concat());
    let any = prop::collection::vec(any::<char>(), 0..12).prop_map(|chars| chars.into_iter().collect());
    prop_oneof![4 => pieces, 1 => any]
}

fn sample() -> impl Strategy<Value = Sample> {
    let either = prop_oneof![
        nasty().prop_map(Either::Text),
        (nasty(), any::<u64>()).prop_map(|(blob, size)| Either::Pair { blob, size }),
    ];
    (
        nasty(),
        prop::collection::vec(nasty(), 0..4),
        prop::option::of(nasty()),
        prop::collection::btree_map(nasty(), prop::option::of(either), 0..4),
        prop::collection::vec(prop::collection::vec(nasty(), 0..3), 0..3),
    )
        .prop_map(|(text, list, maybe, map, nested)| Sample { text, list, maybe, map, nested })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn what_is_written_is_read_back_exactly(sample in sample()) {
        let text = emitted(&sample);
        let back: Result<Sample, String> = parse(&text);
        prop_assert_eq!(back.as_ref(), Ok(&sample), "written as:\n{}", text);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in nasty()) {
        let _: Result<Sample, String> = parse(&text);
    }
}

#[test]
fn source_code_stays_readable() {
    let sample = Sample {
        text: "fn main() {\n\tgo();\n\n    # not a comment: ---\n}\n".into(),
        list: vec!["one line".into(), "ends without\na newline".into(), " begins with a blank\n\n\n".into()],
        maybe: None,
        map: BTreeMap::from([("src/a b.rs".into(), Some(Either::Pair { blob: "00".into(), size: 2 }))]),
        nested: vec![vec!["x".into(), "z".into()], vec![]],
    };
    let expected = "\
text: |
  fn main() {
  \tgo();
\x20\x20
      # not a comment: ---
  }
list:
  - one line
  - |-
    ends without
    a newline
  - |2+
     begins with a blank
\x20\x20\x20\x20
\x20\x20\x20\x20
maybe: null
map:
  src/a b.rs:
    blob: \"00\"
    size: 2
nested:
  - - x
    - z
  - []
";
    let text = emitted(&sample);
    assert_eq!(text, expected);
    assert_eq!(parse(&text), Ok(sample));
}

fn emitted<T: Serialize>(value: &T) -> String {
    let mut bytes = Vec::new();
    let mut put = |piece: &[u8]| {
        bytes.extend_from_slice(piece);
        Ok(())
    };
    emit(value, &mut put).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn long_texts_go_out_in_pieces_and_an_error_ends_it() {
    let values = vec!["a line of text\n".repeat(2_000); 40];
    let mut pieces = Vec::new();
    let mut put = |piece: &[u8]| {
        pieces.push(piece.to_vec());
        Ok(())
    };
    emit(&values, &mut put).unwrap();
    assert!(pieces.len() > 2 && pieces.iter().all(|piece| piece.len() < 512 * 1024));
    let text = String::from_utf8(pieces.concat()).unwrap();
    assert_eq!(parse::<Vec<String>>(&text).unwrap(), values);
    let mut calls = 0;
    let mut full = |_: &[u8]| {
        calls += 1;
        Err(std::io::ErrorKind::StorageFull.into())
    };
    assert_eq!(emit(&values, &mut full).unwrap_err().kind(), std::io::ErrorKind::StorageFull);
    assert_eq!(calls, 1);
}
