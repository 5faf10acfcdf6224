use encoding_rs::{UTF_16BE, UTF_16LE};
use proptest::prelude::*;

use super::*;

fn read(bytes: &[u8]) -> TextFile {
    TextFile::decode_candidates(bytes).unwrap().remove(0)
}

fn keep_all(source: &TextFile) -> Vec<TextFilePiece> {
    (0..source.line_count()).map(TextFilePiece::Keep).collect()
}

fn new(text: &str, like: usize) -> TextFilePiece {
    TextFilePiece::New { text: text.into(), like }
}

fn utf16(text: &str, mark: bool, encoding: &'static Encoding) -> Vec<u8> {
    let mut bytes = Vec::new();
    if mark {
        encoding::write(encoding, "\u{FEFF}", &mut bytes).unwrap();
    }
    encoding::write(encoding, text, &mut bytes).unwrap();
    bytes
}

#[test]
fn lines_know_their_endings() {
    let source = read(b"a\r\nb\n\nc\rd\r\r\ne");
    let lines: Vec<&str> = source.lines().collect();
    assert_eq!(lines, ["a", "b", "", "c\rd\r", "e"]);
    let eols: Vec<FileLineEnding> = (0..6).map(|line| source.line_ending(line)).collect();
    use FileLineEnding::{CrLf, Lf, None};
    assert_eq!(eols, [CrLf, Lf, Lf, CrLf, None, None]);
    assert!(!source.ends_with_newline());
}

#[test]
fn carriage_returns_end_lines_only_where_there_is_no_line_feed() {
    let source = read(b"a\rb\r");
    assert_eq!(source.lines().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(source.line_ending(1), FileLineEnding::Cr);
    let pieces = [TextFilePiece::Keep(0), new("x", 0), TextFilePiece::Keep(1)];
    assert_eq!(source.rebuild(&pieces, None).unwrap(), b"a\rx\rb\r");
}

#[test]
fn the_final_newline_follows_the_file_unless_forced() {
    let open = read(b"a\r\nb");
    let appended = [TextFilePiece::Keep(0), TextFilePiece::Keep(1), new("c", 1)];
    assert_eq!(open.rebuild(&appended, None).unwrap(), b"a\r\nb\r\nc");
    assert_eq!(open.rebuild(&appended, Some(true)).unwrap(), b"a\r\nb\r\nc\r\n");
    assert_eq!(open.rebuild(&[TextFilePiece::Keep(0)], None).unwrap(), b"a");
    let closed = read(b"a\nb\n");
    assert_eq!(closed.rebuild(&[TextFilePiece::Keep(0)], None).unwrap(), b"a\n");
    assert_eq!(closed.rebuild(&[TextFilePiece::Keep(0)], Some(false)).unwrap(), b"a");
    assert_eq!(closed.rebuild(&[], None).unwrap(), b"");
    assert_eq!(closed.rebuild(&[], Some(true)).unwrap(), b"");
}

#[test]
fn an_empty_file_has_no_convention() {
    let empty = read(b"");
    assert_eq!(empty.line_count(), 0);
    assert_eq!(empty.rebuild(&[new("a", 0)], None).unwrap(), b"a\n");
    assert_eq!(empty.encode_whole("a\nb\n").unwrap(), b"a\nb\n");
    let only_mark = read(b"\xEF\xBB\xBF");
    assert_eq!(only_mark.rebuild(&[new("a", 0)], None).unwrap(), b"\xEF\xBB\xBFa\n");
}

#[test]
fn a_missing_line_is_an_error() {
    assert_eq!(read(b"a\n").rebuild(&[TextFilePiece::Keep(1)], None), Err(FileEncodeError::NoSuchLine(2)));
}

#[test]
fn utf16_is_read_with_and_without_mark() {
    for encoding in [UTF_16LE, UTF_16BE] {
        for mark in [true, false] {
            let bytes = utf16("int main;\r\nreturn 0;\r\n", mark, encoding);
            let source = read(&bytes);
            assert_eq!(source.encoding(), encoding.name());
            assert!(source.certain);
            let pieces = [TextFilePiece::Keep(0), new("// 😀", 0)];
            let expected = utf16("int main;\r\n// 😀\r\n", mark, encoding);
            assert_eq!(source.rebuild(&pieces, None).unwrap(), expected);
        }
    }
}

#[test]
fn binary_and_broken_files_are_refused() {
    let refused = |bytes: &[u8]| TextFile::decode_candidates(bytes).unwrap_err();
    assert_eq!(refused(b"a\0b"), FileDecodeError::Binary);
    assert_eq!(refused(b"a\0b\0\0c"), FileDecodeError::Binary);
    assert_eq!(refused(b"\x7FELF\x02\x01\x01\0\0\0\0\0"), FileDecodeError::Binary);
    assert_eq!(refused(b"\x89\x50\x01\x02 pixels"), FileDecodeError::Binary);
    assert_eq!(refused(b"\xEF\xBB\xBFa\xFF"), FileDecodeError::Broken("UTF-8"));
    assert_eq!(refused(b"\xFF\xFEa"), FileDecodeError::Broken("UTF-16LE"));
    assert_eq!(refused(b"\xFE\xFF\xD8\x00\x00a"), FileDecodeError::Broken("UTF-16BE"));
    assert_eq!(refused(b"\xFF\xFE\0\0a\0\0\0"), FileDecodeError::Binary);
}

const SAMPLES: &[(&str, &str)] = &[
    ("gb18030", "// 打开文件并读取配置\nint 端口 = 8080; // 默认端口号\nprintf(\"错误：无法打开\");\n"),
    ("Shift_JIS", "// ファイルを開いて設定を読み込む\nint port = 8080; // 既定のポート番号です\n"),
    ("EUC-JP", "// ファイルを開いて設定を読み込む\nint port = 8080; // 既定のポート番号です\n"),
    ("Big5", "// 開啟檔案並讀取設定，這是預設的連接埠號碼\nint port = 8080;\n"),
    ("EUC-KR", "// 파일을 열고 설정을 읽는다\nint port = 8080; // 기본 포트 번호\n"),
    ("windows-1252", "// Größe prüfen, naïve façade\nint x; // où est le café “déjà”\n"),
    ("windows-1251", "// Открыть файл и прочитать настройки\nint port; // порт по умолчанию\n"),
    ("windows-1250", "// zażółć gęślą jaźń\nint x; // wartość początkowa\n"),
    ("KOI8-R", "// Открыть файл и прочитать настройки\nint port; // порт по умолчанию\n"),
];

#[test]
fn legacy_samples_are_recognised_and_none_is_certain() {
    for (name, text) in SAMPLES {
        let encoding = encoding_rs::Encoding::for_label(name.as_bytes()).unwrap();
        let bytes = encoding.encode(text).0;
        let found = TextFile::decode_candidates(&bytes).unwrap();
        assert!(found.iter().all(|source| !source.certain));
        let place = found.iter().position(|source| source.text() == *text);
        let names: Vec<_> = found.iter().map(TextFile::encoding).collect();
        assert_eq!(place, Some(0), "{name}: {names:?}");
    }
}

#[test]
fn characters_that_the_encoding_lacks_or_bends_are_named() {
    let bytes = encoding_rs::SHIFT_JIS.encode("// ファイルを開く\n").0;
    let source = read(&bytes);
    assert_eq!(source.encoding(), "Shift_JIS");
    for (text, character) in [("ok 😀", '😀'), ("100 ¥", '¥')] {
        let encoding = "Shift_JIS";
        assert_eq!(
            source.rebuild(&[new(text, 0)], None),
            Err(FileEncodeError::Character { character, encoding })
        );
    }
    assert!(source.rebuild(&[new("開く", 0)], None).is_ok());
    assert_eq!(source.encode_whole("開く\n"), Err(FileEncodeError::Uncertain { character: '開' }));
    assert_eq!(source.encode_whole("open\n").unwrap(), b"open\n");
}

#[test]
fn a_whole_replacement_keeps_how_the_file_is_written() {
    let whole = |old: &[u8], text: &str| read(old).encode_whole(text).unwrap();
    assert_eq!(whole(b"a\r\nb\r\n", "x\ny\nz\n"), b"x\r\ny\r\nz\r\n");
    assert_eq!(whole(b"a\rb\r", "x\ny\n"), b"x\ry\r");
    assert_eq!(whole(b"a\nb", "x\ny\n"), b"x\ny");
    assert_eq!(whole(b"a", "x\n\n"), b"x\n");
    assert_eq!(whole(b"a\n", "x"), b"x");
    assert_eq!(whole(b"a\n", ""), b"");
    assert_eq!(whole(b"\xEF\xBB\xBFa\r\n", "x\n"), b"\xEF\xBB\xBFx\r\n");
    assert_eq!(whole(b"\xEF\xBB\xBFa\n", "\u{FEFF}x\n"), b"\xEF\xBB\xBFx\n");
    assert_eq!(whole(b"a\r\n", "x\r\ny\r\n"), b"x\r\ny\r\n");
    assert_eq!(whole(b"a\r\nb\nc\r\nd\n", "a\nB\nnew\nc\nd\nend\n"), b"a\r\nB\nnew\nc\r\nd\nend\n");
    let old = utf16("a\r\nb\r\n", true, UTF_16LE);
    assert_eq!(whole(&old, "é\n"), utf16("é\r\n", true, UTF_16LE));
}

#[test]
fn large_files_with_mixed_endings_keep_common_start_and_end() {
    let mut old = b"first\r\n".to_vec();
    let mut text = String::from("first\n");
    for number in 0..20_000 {
        old.extend_from_slice(format!("old {number}\n").as_bytes());
        text.push_str(&format!("new {number}\n"));
    }
    old.extend_from_slice(b"last\r\n");
    text.push_str("last\n");
    let bytes = read(&old).encode_whole(&text).unwrap();
    assert!(bytes.starts_with(b"first\r\nnew 0\n") && bytes.ends_with(b"\nlast\r\n"));
}

/// Files of every kind that can be decoded.
fn files() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof!["[a-z{} \t\r]{0,9}", "[a-zé€漢😀]{0,5}", Just(String::new())];
    let eol = prop_oneof![Just("\n"), Just("\r\n"), Just("\n")];
    let mixed = prop::collection::vec((line, eol), 0..9)
        .prop_map(|lines| lines.into_iter().map(|(line, eol)| line + eol).collect::<String>());
    let text = (mixed, 0..4usize, any::<bool>()).prop_map(|(text, style, open)| {
        let text = match style {
            0 => text.replace("\r\n", "\n"),
            1 => text.replace("\r\n", "\n").replace('\n', "\r\n"),
            2 => text.replace("\r\n", "\n").replace('\n', "\r"),
            _ => text,
        };
        match open {
            true => text.trim_end_matches(['\r', '\n']).to_owned(),
            false => text,
        }
    });
    let legacy = (0..SAMPLES.len(), any::<bool>()).prop_map(|(index, crlf)| {
        let (name, text) = SAMPLES[index];
        let text = if crlf { text.replace('\n', "\r\n") } else { text.to_owned() };
        let encoding = encoding_rs::Encoding::for_label(name.as_bytes()).unwrap();
        encoding.encode(&text).0.into_owned()
    });
    prop_oneof![
        4 => text.clone().prop_map(String::into_bytes),
        1 => text.clone().prop_map(|text| format!("\u{FEFF}{text}").into_bytes()),
        1 => text.clone().prop_map(|text| utf16(&text, true, UTF_16LE)),
        1 => text.prop_map(|text| utf16(&text, true, UTF_16BE)),
        2 => legacy,
        2 => prop::collection::vec(any::<u8>(), 0..40),
        2 => prop::collection::vec(prop_oneof![0x80..=0xFFu8, 0x20..0x7Fu8, Just(b'\n')], 0..40),
    ]
}

proptest! {
    #[test]
    fn keeping_every_line_is_the_identity(bytes in files()) {
        for source in TextFile::decode_candidates(&bytes).unwrap_or_default() {
            prop_assert_eq!(source.rebuild(&keep_all(&source), None).unwrap(), bytes.clone());
        }
    }

    #[test]
    fn replacing_one_line_changes_only_its_bytes(bytes in files(), pick in any::<prop::sample::Index>()) {
        for source in TextFile::decode_candidates(&bytes).unwrap_or_default() {
            if source.line_count() == 0 {
                continue;
            }
            let index = pick.index(source.line_count());
            let mut pieces = keep_all(&source);
            pieces[index] = new("replaced", index);
            let line = &source.lines[index];
            let mut expected = bytes[..line.raw.start].to_vec();
            encoding::write_ascii(source.encoding, "replaced", &mut expected);
            expected.extend_from_slice(&bytes[line.raw.end..]);
            prop_assert_eq!(source.rebuild(&pieces, None).unwrap(), expected);
        }
    }

    #[test]
    fn writing_a_line_again_gives_its_bytes(bytes in files()) {
        for source in TextFile::decode_candidates(&bytes).unwrap_or_default() {
            let again: Vec<TextFilePiece> =
                source.lines().enumerate().map(|(like, text)| new(text, like)).collect();
            prop_assert_eq!(source.rebuild(&again, None).unwrap(), bytes.clone());
        }
    }

    #[test]
    fn replacing_the_whole_by_itself_is_the_identity(bytes in files()) {
        for source in TextFile::decode_candidates(&bytes).unwrap_or_default() {
            if !source.certain || source.lines().any(|line| line.contains('\r')) {
                continue;
            }
            let text: String = source.lines().map(|line| format!("{line}\n")).collect();
            prop_assert_eq!(source.encode_whole(&text).unwrap(), bytes.clone());
        }
    }
}
