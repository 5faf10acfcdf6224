//! How many colours, and dark or light.

use super::*;

fn around(pairs: &[(&str, &str)]) -> TerminalColorEnv {
    TerminalColorEnv::from_lookup(|name| {
        pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
    })
}

#[test]
fn the_number_of_colours_follows_from_the_environment() {
    let depth = |pairs: &[(&str, &str)]| around(pairs).color_depth();
    assert_eq!(depth(&[("COLORTERM", "truecolor"), ("TERM", "linux")]), ColorDepth::TrueColor);
    assert_eq!(depth(&[("COLORTERM", "24bit"), ("TERM", "screen-256color")]), ColorDepth::TrueColor);
    assert_eq!(depth(&[("WT_SESSION", "1")]), ColorDepth::TrueColor);
    assert_eq!(depth(&[("TERM", "xterm-256color")]), ColorDepth::TrueColor);
    assert_eq!(depth(&[("TERM", "tmux-256color")]), ColorDepth::TrueColor);
    assert_eq!(depth(&[("TERM", "screen-256color")]), ColorDepth::Ansi256);
    assert_eq!(depth(&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "Apple_Terminal")]), ColorDepth::Ansi256);
    assert_eq!(depth(&[("TERM", "linux")]), ColorDepth::Ansi16);
    assert_eq!(depth(&[]), ColorDepth::Ansi16);
}

#[test]
fn no_color_and_a_dumb_terminal_have_none() {
    assert_eq!(around(&[("NO_COLOR", "1"), ("COLORTERM", "truecolor")]).color_depth(), ColorDepth::None);
    assert_eq!(around(&[("TERM", "dumb"), ("COLORTERM", "truecolor")]).color_depth(), ColorDepth::None);
    // An empty variable is none, as https://no-color.org says.
    assert_eq!(around(&[("NO_COLOR", ""), ("COLORTERM", "truecolor")]).color_depth(), ColorDepth::TrueColor);
}

#[test]
fn links_are_left_to_terminals_that_know_them() {
    assert!(around(&[("TERM", "xterm-kitty")]).has_hyperlinks());
    for pairs in
        [[("TERM", "linux")], [("TERM", "screen")], [("TERM_PROGRAM", "Apple_Terminal")], [("NO_COLOR", "1")]]
    {
        assert!(!around(&pairs).has_hyperlinks(), "{pairs:?}");
    }
}

#[test]
fn dark_or_light_follows_from_the_reply_then_the_variable_then_dark() {
    let with = |reply, variable| AppearanceSigns {
        background_reply: reply,
        color_fg_bg: variable,
        ..AppearanceSigns::default()
    };
    use TerminalAppearance::{Dark, Light};
    for (reply, appearance) in [
        ("\x1b]11;rgb:1e1e/1e1e/1e1e\x07", Dark),
        ("\x1b]11;rgb:ffff/ffff/ffff\x1b\\", Light),
        ("rgba:fdfd/f6f6/e3e3/ffff", Light),
        ("rgb:0/0/0", Dark),
        ("rgb:e/e/e", Light),
        ("rgb:00/00/ff", Dark),
    ] {
        assert_eq!(with(Some(reply), Some("0;15")).appearance(), appearance, "{reply:?}");
    }
    for (variable, appearance) in
        [("15;0", Dark), ("0;15", Light), ("0;7", Dark), ("0;default;8", Light), ("x", Dark)]
    {
        assert_eq!(with(None, Some(variable)).appearance(), appearance, "{variable}");
        assert_eq!(with(Some("rgb:zz"), Some(variable)).appearance(), appearance, "{variable}");
    }
    assert_eq!(AppearanceSigns::default().appearance(), Dark);
}

#[test]
fn where_the_reply_is_known_to_be_wrong_the_desktop_is_asked_last() {
    let mut signs = AppearanceSigns {
        background_reply: Some("rgb:0000/0000/0000"),
        system: Some(TerminalAppearance::Light),
        ..AppearanceSigns::default()
    };
    assert_eq!(signs.appearance(), TerminalAppearance::Dark);
    signs.ignores_reply = true;
    assert_eq!(signs.appearance(), TerminalAppearance::Light);
    signs.color_fg_bg = Some("15;0");
    assert_eq!(signs.appearance(), TerminalAppearance::Dark);
}
