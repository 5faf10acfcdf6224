//! P9: strings that a terminal would obey, hide or reorder, for tests of everything that prints; and the
//! judge of the output.
//!
//! `RELAY_STRINGS=1000000 cargo test -p relaycode-tui -p relaycode-relay --lib --bins the_terminal_raw` runs as many as the promise says.
//! String number `n` is always the same one.

use crate::random::Random;

const SEED: u64 = 1;

/// Most of these pieces are known from attacks on terminals and on reviewers.
const PIECES: &[&str] = &[
    "\x1b[2J",
    "\x1b[31m",
    "\x1b[1A\x1b[K",
    "\x1b]0;title\x07",
    "\x1b]52;c;aGk=\x07",
    "\x1b]52;c;aGk=\x1b\\",
    "\x1b]8;;http://x\x1b\\text\x1b]8;;\x1b\\",
    "\x1bP+q544e\x1b\\",
    "\x1b_Gf=24\x1b\\",
    "\x1bc",
    "\x1b(0",
    "\x1b",
    "\x1b[",
    "\x1b[?1049h",
    "\x1b[6n",
    "\x1b[200~",
    "\u{9b}31m",
    "\u{9d}0;x\u{9c}",
    "\u{90}",
    "\u{85}",
    "\u{8d}",
    "\x00",
    "\x07",
    "\x08\x08\x08",
    "\x0b",
    "\x0c",
    "\x0e",
    "\x0f",
    "\x7f",
    "\r",
    "\r\n",
    "\n",
    "\t",
    "\x1a",
    "\u{202e}",
    "\u{202d}",
    "\u{2066}",
    "\u{2067}",
    "\u{2069}",
    "\u{200e}",
    "\u{200f}",
    "\u{61c}",
    "\u{200b}",
    "\u{200c}",
    "\u{200d}",
    "\u{2060}",
    "\u{feff}",
    "\u{ad}",
    "\u{34f}",
    "\u{180e}",
    "\u{3164}",
    "\u{115f}",
    "\u{ffa0}",
    "\u{17b4}",
    "\u{2028}",
    "\u{2029}",
    "\u{fe0f}",
    "\u{fe00}",
    "\u{e0100}",
    "\u{e01ef}",
    "\u{e0041}",
    "\u{e007f}",
    "\u{e0001}",
    "\u{fff9}",
    "\u{fffb}",
    "\u{fffc}",
    "\u{1d173}",
    "\u{1bca0}",
    "\u{206a}",
    "\u{2062}",
    "plain",
    "a b",
    "größe",
    "日本語",
    "🙂",
    "👨\u{200d}👩",
    "e\u{301}",
    "`",
    "\\",
    "\"",
    "'",
    "{}",
    "%s",
    "$(x)",
    "<b>",
    "  ",
    "/",
    "-",
    "  ! ",
    "✓ applied",
    "- [x]",
    "error: x",
    "src/a.rs:1:2: error",
    "\u{fffd}",
    "\u{10ffff}",
    "\u{e000}",
];

/// The environment may ask for more.
pub fn string_count() -> u64 {
    std::env::var("RELAY_STRINGS").ok().and_then(|text| text.parse().ok()).unwrap_or(20_000)
}

pub fn hostile_string(number: u64) -> String {
    let mut random = Random::of_case(SEED, number);
    let mut bytes = Vec::new();
    for _ in 0..=random.below(6) {
        match random.below(8) {
            // Any character at all, and bytes that are not valid.
            0 => {
                let code = u32::try_from(random.below(0x11_0000)).unwrap_or(0);
                bytes.extend(char::from_u32(code).map(String::from).unwrap_or_default().into_bytes());
            }
            1 => bytes.extend((0..random.below(6)).map(|_| random.number().to_le_bytes()[0])),
            _ => bytes.extend(random.pick(PIECES).as_bytes()),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What follows the escape character in relay's own colours.
pub const RELAY_COLOURS: [&str; 13] = [
    "[0m", "[1m", "[2m", "[31m", "[32m", "[33m", "[1;31m", "[1;32m", "[4;31m", "[4;32m", "[35m", "[36m",
    "[94m",
];

/// The first character of `text` that must not reach a terminal; line feeds, tabs and relay's own colours
/// may. Independent of the code that escapes.
pub fn find_unsafe_char(text: &str, colour: bool) -> Option<char> {
    text.char_indices().find_map(|(at, c)| {
        let code = u32::from(c);
        if (0x20..0x7f).contains(&code) || c == '\n' || c == '\t' {
            return None;
        }
        if c == '\x1b' && colour && RELAY_COLOURS.iter().any(|paint| text[at + 1..].starts_with(paint)) {
            return None;
        }
        (code < 0xa0 || is_invisible(code)).then_some(c)
    })
}

/// Unicode's default-ignorable characters, line separators and direction marks.
fn is_invisible(code: u32) -> bool {
    const RANGES: &[(u32, u32)] = &[
        (0xad, 0xad),
        (0x34f, 0x34f),
        (0x61c, 0x61c),
        (0x115f, 0x1160),
        (0x17b4, 0x17b5),
        (0x180b, 0x180f),
        (0x200b, 0x200f),
        (0x2028, 0x202e),
        (0x2060, 0x206f),
        (0x3164, 0x3164),
        (0xfe00, 0xfe0f),
        (0xfeff, 0xfeff),
        (0xffa0, 0xffa0),
        (0xfff0, 0xfffb),
        (0x1bca0, 0x1bca3),
        (0x1d173, 0x1d17a),
        (0xe0000, 0xe0fff),
    ];
    RANGES.iter().any(|(first, last)| (*first..=*last).contains(&code))
}

#[test]
fn the_judge_knows_colours_from_what_only_looks_like_them() {
    assert_eq!(find_unsafe_char("a\x1b[31mb\x1b[0m\n", true), None);
    assert_eq!(find_unsafe_char("a\x1b[31mb", false), Some('\x1b'));
    assert_eq!(find_unsafe_char("a\x1b[2J", true), Some('\x1b'));
    assert_eq!(find_unsafe_char("a\u{e0041}", true), Some('\u{e0041}'));
    let hostile =
        (0..1_000).filter(|number| find_unsafe_char(&hostile_string(*number), false).is_some()).count();
    assert!(hostile > 600, "{hostile}");
}
