//! The screens on terminals: one that does not re-flow (`vt100`), one that does (tmux), and the bytes themselves.

mod reflow;

use proptest::prelude::*;

use super::*;
use crate::cells;

pub(super) fn traits(columns: usize, rows: usize, reflows: bool) -> ScreenTraits {
    ScreenTraits { columns, rows, reflows, utf8: true }
}

fn strings(lines: &[&str]) -> Vec<String> {
    lines.iter().map(ToString::to_string).collect()
}

/// A terminal that does not re-flow, and whose height changes as xterm's does: the cursor's line stays.
struct FixedTerminal {
    parser: vt100::Parser,
    screen: InlineScreen,
}

impl FixedTerminal {
    fn new(columns: u16, rows: u16) -> FixedTerminal {
        let screen = InlineScreen::new(traits(columns.into(), rows.into(), false));
        FixedTerminal { parser: vt100::Parser::new(rows, columns, 10_000), screen }
    }

    fn frame(&mut self, finished: &[&str], live: &[&str], cursor: Option<(usize, usize)>) -> usize {
        let bytes = self.screen.frame(&strings(finished), &strings(live), cursor);
        self.parser.process(bytes);
        bytes.len()
    }

    fn resize_terminal(&mut self, columns: u16, rows: u16) {
        let (row, column) = self.parser.screen().cursor_position();
        let over = (row + 1).saturating_sub(rows);
        if over > 0 {
            self.parser.process(format!("\x1b[999B{}", "\n".repeat(over.into())).as_bytes());
            self.parser.process(format!("\x1b[{};{}H", row - over + 1, column + 1).as_bytes());
        }
        self.parser.screen_mut().set_size(rows, columns);
    }

    fn resize(&mut self, columns: u16, rows: u16) {
        self.resize_terminal(columns, rows);
        self.screen.resize(columns.into(), rows.into());
    }

    fn text(&self) -> String {
        self.parser.screen().contents()
    }

    /// With all that has scrolled away.
    fn everything(&mut self) -> String {
        let mut lines = Vec::new();
        self.parser.screen_mut().set_scrollback(usize::MAX);
        for offset in (1..=self.parser.screen().scrollback()).rev() {
            self.parser.screen_mut().set_scrollback(offset);
            lines.extend(self.parser.screen().rows(0, 400).next());
        }
        self.parser.screen_mut().set_scrollback(0);
        lines.push(self.text());
        lines.join("\n")
    }
}

#[test]
fn finished_lines_scroll_away_and_live_lines_stay_at_the_bottom() {
    let mut terminal = FixedTerminal::new(20, 6);
    terminal.frame(&[], &["working", "> "], Some((1, 2)));
    insta::assert_snapshot!(terminal.text(), @"
    working
    >
    ");
    assert_eq!(terminal.parser.screen().cursor_position(), (1, 2));
    terminal.frame(&["one", "two"], &["working", "> a"], Some((1, 3)));
    insta::assert_snapshot!(terminal.text(), @"
    one
    two
    working
    > a
    ");
    terminal.frame(&["three", "four", "five"], &["> a"], Some((0, 3)));
    insta::assert_snapshot!(terminal.everything(), @"
    one
    two
    three
    four
    five
    > a
    ");
    assert_eq!(terminal.parser.screen().cursor_position(), (4, 3));
    let many: Vec<String> = (0..20).map(|number| format!("line {number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    terminal.frame(&many, &["status"], None);
    assert!(terminal.parser.screen().hide_cursor());
    insta::assert_snapshot!(terminal.text(), @"
    line 15
    line 16
    line 17
    line 18
    line 19
    status
    ");
    let bytes = terminal.screen.leave().to_vec();
    terminal.parser.process(&bytes);
    assert!(!terminal.parser.screen().hide_cursor() && terminal.text().ends_with("line 19"));
    assert_eq!(terminal.parser.screen().cursor_position(), (5, 0));
}

#[test]
fn only_what_differs_is_written() {
    let mut screen = InlineScreen::new(traits(80, 24, false));
    let status = "\x1b[2mworkspace, 12 % of context\x1b[0m";
    screen.frame(&[], &strings(&["The answer so far", "> text", status]), Some((1, 6)));
    let same = screen.frame(&[], &strings(&["The answer so far", "> text", status]), Some((1, 6)));
    assert_eq!(String::from_utf8_lossy(same), "");
    let moved = screen.frame(&[], &strings(&["The answer so far", "> text", status]), Some((1, 3)));
    assert_eq!(String::from_utf8_lossy(moved), "\x1b[4G");
    let typed = screen.frame(&[], &strings(&["The answer so far", "> text!", status]), Some((1, 7)));
    assert_eq!(String::from_utf8_lossy(typed), "\x1b[?2026h\x1b[?25l\x1b[7G!\x1b[8G\x1b[?25h\x1b[?2026l");
    let painted = status.replace("12", "13");
    let bytes = screen.frame(&[], &strings(&["The answer so far", "> text!", &painted]), Some((1, 7)));
    assert_eq!(
        String::from_utf8_lossy(bytes),
        "\x1b[?2026h\x1b[?25l\n\x1b[13G\x1b[2m3 % of context\x1b[0m\x1b[A\x1b[8G\x1b[?25h\x1b[?2026l"
    );
    let printed =
        screen.frame(&strings(&["done"]), &strings(&["The answer so far", "> text!", &painted]), None);
    assert_eq!(
        String::from_utf8_lossy(printed),
        "\x1b[?2026h\x1b[?25l\n\r\n\x1b[3A\x1b[Ldone\r\n\r\x1b[?2026l"
    );
}

#[test]
fn more_live_lines_than_rows_say_how_many_are_hidden_and_keep_the_cursor_in_sight() {
    let mut terminal = FixedTerminal::new(30, 5);
    let live = ["a", "b", "c", "d", "e", "f"];
    terminal.frame(&["done"], &live, Some((5, 1)));
    insta::assert_snapshot!(terminal.text(), @"
    done
    … 3 lines hidden
    d
    e
    f
    ");
    terminal.frame(&[], &live, Some((1, 0)));
    insta::assert_snapshot!(terminal.text(), @"
    done
    a
    b
    c
    … 3 lines hidden
    ");
    assert_eq!(terminal.parser.screen().cursor_position(), (2, 0));
    terminal.resize(30, 1);
    terminal.frame(&[], &live, Some((4, 0)));
    assert_eq!(terminal.text(), "e");
}

#[test]
fn a_reset_ends_everything_that_was_switched_on() {
    let mut parser = vt100::Parser::new(5, 20, 0);
    let mut full = FullScreen::new(traits(20, 5, false));
    parser.process(b"before\r\n");
    parser.process(full.enter());
    parser.process(full.frame(&strings(&["\x1b[31mpicker"]), None));
    parser.process(b"\x1b[31m\x1b[?2004h");
    assert!(parser.screen().alternate_screen());
    parser.process(full.leave());
    parser.process(RESET_TERMINAL.as_bytes());
    let screen = parser.screen();
    assert!(!screen.alternate_screen() && !screen.bracketed_paste() && !screen.hide_cursor());
    for mode in crate::input::RAW_MODE_OFF.split_inclusive(['u', 'm', 'l']) {
        assert!(RESET_TERMINAL.contains(mode), "{mode:?} stays on");
    }
    assert_eq!((screen.contents(), screen.fgcolor()), ("before".to_string(), vt100::Color::Default));
}

#[test]
fn a_full_screen_shows_its_lines_and_writes_only_differences() {
    let mut parser = vt100::Parser::new(3, 20, 0);
    let mut full = FullScreen::new(traits(20, 3, false));
    parser.process(full.enter());
    parser.process(full.frame(&strings(&["one", "two", "three", "four"]), Some((1, 3))));
    assert_eq!(parser.screen().contents(), "one\ntwo\nthree");
    assert_eq!(parser.screen().cursor_position(), (1, 3));
    let bytes = full.frame(&strings(&["one", "twin"]), None).to_vec();
    parser.process(&bytes);
    assert_eq!(parser.screen().contents(), "one\ntwin");
    assert_eq!(full.frame(&strings(&["one", "twin"]), None), b"");
    full.resize(10, 2);
    parser.screen_mut().set_size(2, 10);
    parser.process(full.frame(&strings(&["one", "a line that is too long"]), None));
    assert_eq!(parser.screen().contents(), "one\na line th");
}

#[test]
fn terminals_that_reflow_are_told_by_their_environment() {
    let cases: [(&[(&str, &str)], bool); 9] = [
        (&[("TERM", "xterm-256color")], false),
        (&[("TERM", "linux")], false),
        (&[("TERM", "screen-256color"), ("STY", "1.pts-0"), ("VTE_VERSION", "7600")], false),
        (&[("TERM", "screen-256color"), ("TMUX", "/tmp/x,1,0")], true),
        (&[("TERM", "tmux-256color")], true),
        (&[("TERM", "xterm-256color"), ("VTE_VERSION", "7600")], true),
        (&[("TERM", "xterm-kitty")], true),
        (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "iTerm.app")], true),
        (&[], false),
    ];
    for (variables, reflows) in cases {
        let env = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, v)| v.to_string());
        assert_eq!(ScreenTraits::reflows(env), reflows, "{variables:?}");
    }
}

/// What a frame or two of a conversation hand over, at random.
fn live_lines() -> impl Strategy<Value = Vec<String>> {
    let piece = prop_oneof![
        "[a-z ]{0,12}",
        "[日本é]{1,4}",
        Just("\x1b[31m".to_string()),
        Just("\x1b[1;38;5;9m".to_string()),
        Just("\x1b[0m".to_string()),
        Just("\x1b]8;;https://a.example/\x1b\\link\x1b]8;;\x1b\\".to_string()),
    ];
    proptest::collection::vec(proptest::collection::vec(piece, 0..5).prop_map(|parts| parts.concat()), 0..7)
}

proptest! {
    /// Differences bring about what drawing everything anew does: characters, colours, cursor.
    #[test]
    fn any_row_of_frames_looks_like_its_last_one(
        frames in proptest::collection::vec((live_lines(), proptest::collection::vec("[a-z]{0,9}", 0..3), any::<bool>(), 0_usize..7, 0_usize..30), 1..8)
    ) {
        let mut terminal = FixedTerminal::new(24, 6);
        let mut printed = Vec::new();
        let mut tallest = 0;
        for (live, finished, shows, row, column) in frames {
            let cursor = shows.then_some((row, column));
            terminal.parser.process(terminal.screen.frame(&finished, &live, cursor));
            printed.extend(finished);
            let mut fresh = FixedTerminal::new(24, 6);
            fresh.parser.process(fresh.screen.frame(&printed, &live, cursor));
            let (seen, fresh) = (terminal.parser.screen(), fresh.parser.screen());
            let top = |screen: &vt100::Screen| screen.cursor_position();
            tallest = tallest.max(live.len());
            if printed.len() + tallest < 6 {
                prop_assert_eq!(seen.contents_formatted(), fresh.contents_formatted());
                prop_assert_eq!(top(seen), top(fresh));
            }
            prop_assert_eq!(seen.hide_cursor(), cursor.is_none() || live.is_empty());
        }
        let all = terminal.everything();
        let mut rest = all.lines().map(str::trim_end).filter(|line| !line.is_empty());
        for line in printed.iter().filter(|line| !line.is_empty()) {
            prop_assert!(rest.any(|seen| seen == line), "{line} is missing in {all}");
        }
    }

    #[test]
    fn nothing_but_paint_and_links_passes(text in any::<String>(), more in "[\\x00-\\x20\\x7f-\\xa0\u{200b}-\u{202e}a-c\\[\\]8;m\\\\]{0,40}") {
        let mut screen = InlineScreen::new(traits(30, 4, true));
        let bytes = screen.frame(&[format!("{text}{more}")], &[format!("{more}{text}")], Some((0, 3))).to_vec();
        let text = String::from_utf8(bytes).expect("it is text");
        // What is left without paint is relay's own moves.
        let known = regex_free_strip(&text);
        prop_assert!(!known.contains('\x1b'), "{known:?}");
    }

    #[test]
    fn a_width_is_never_exceeded(lines in live_lines(), width in 1_usize..20) {
        for line in &lines {
            let rows = painted_line::split_painted(line, width, 100);
            for row in &rows {
                prop_assert!(row.cells <= width);
                prop_assert_eq!(row.cells, painted_cells(&row.text));
                prop_assert_eq!(row.cells, cells(&strip_paint(&row.text)));
            }
            if width > 1 {
                let text: String = rows.iter().map(|row| strip_paint(&row.text)).collect();
                prop_assert_eq!(text, strip_paint(line));
            }
        }
    }

    /// xterm and its like: every finished line is in the scrollback once, whatever the sizes.
    #[test]
    fn no_finished_line_is_lost_or_doubled_by_resizing_without_reflow(
        steps in proptest::collection::vec((20_u16..90, 3_u16..30, 0_usize..4, 0_usize..9, any::<bool>(), any::<bool>()), 1..30)
    ) {
        let mut terminal = FixedTerminal::new(80, 24);
        let mut count = 0;
        for (columns, rows, finished, live, is_late, has_cursor) in steps {
            terminal.resize_terminal(columns, rows);
            let finished: Vec<String> = (count..count + finished).map(|number| format!("<{number}>")).collect();
            count += finished.len();
            let live: Vec<String> = (0..live).map(|number| format!("live {number} {}", "x".repeat(60))).collect();
            let cursor = has_cursor.then_some((live.len().saturating_sub(2), 5));
            if is_late {
                // The size was changed, but relay does not know yet.
                terminal.parser.process(terminal.screen.frame(&finished, &live, cursor));
                terminal.screen.resize(columns.into(), rows.into());
            } else {
                terminal.screen.resize(columns.into(), rows.into());
                terminal.parser.process(terminal.screen.frame(&finished, &live, cursor));
            }
        }
        terminal.parser.process(terminal.screen.leave());
        let all = terminal.everything();
        for number in 0..count {
            prop_assert_eq!(all.matches(&format!("<{number}>")).count(), 1, "line {} in\n{}", number, all);
        }
    }
}

/// Removes the sequences that this module writes.
fn regex_free_strip(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\x1b') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let known = ["\x1b[?2026h", "\x1b[?2026l", "\x1b[?25h", "\x1b[?25l", "\x1b]8;;\x1b\\"];
        if let Some(sign) = known.iter().find(|sign| rest.starts_with(**sign)) {
            rest = &rest[sign.len()..];
            continue;
        }
        let end = rest[1..].find(|c: char| !matches!(c, '[' | '0'..='9' | ';' | ':')).map(|end| end + 1);
        match end {
            Some(end) if "ABGJKLm".contains(&rest[end..=end]) => rest = &rest[end + 1..],
            _ if rest.starts_with("\x1b]8;") => {
                let end =
                    rest.find("\x1b\\").map(|end| end + 2).or_else(|| rest.find('\u{7}').map(|end| end + 1));
                rest = &rest[end.unwrap_or(1)..];
            }
            _ => {
                out.push('\x1b');
                rest = &rest[1..];
            }
        }
    }
    out + rest
}
