//! What painted text consists of.

use proptest::prelude::*;

use super::*;

fn style(depth: ColorDepth) -> ThemeStyle {
    ThemeStyle::new(OUTPUT, Theme::built_in("red-claw").unwrap().into(), depth)
}

#[test]
fn hex_becomes_exact_or_the_nearest_of_256_or_16() {
    let mut theme = whole_theme();
    for (token, value) in
        [("error", json!("#ff8000")), ("text", json!("")), ("accent", json!(9)), ("dim", json!(244))]
    {
        theme["colors"][token] = value;
    }
    let theme = std::sync::Arc::new(loaded(&theme));
    let painted = |depth, token| ThemeStyle::new(OUTPUT, theme.clone(), depth).paint(token, "x");
    assert_eq!(painted(ColorDepth::TrueColor, ThemeToken::Error), "\x1b[38;2;255;128;0mx\x1b[39m");
    assert_eq!(painted(ColorDepth::Ansi256, ThemeToken::Error), "\x1b[38;5;208mx\x1b[39m");
    assert_eq!(painted(ColorDepth::Ansi16, ThemeToken::Error), "\x1b[93mx\x1b[39m");
    assert_eq!(painted(ColorDepth::None, ThemeToken::Error), "x");
    assert_eq!(painted(ColorDepth::TrueColor, ThemeToken::Text), "x");
    assert_eq!(painted(ColorDepth::TrueColor, ThemeToken::Dim), "\x1b[38;5;244mx\x1b[39m");
    assert_eq!(painted(ColorDepth::Ansi16, ThemeToken::Dim), "\x1b[90mx\x1b[39m");
    assert_eq!(painted(ColorDepth::TrueColor, ThemeToken::Accent), "\x1b[91mx\x1b[39m");
}

#[test]
fn a_background_ends_with_itself_and_16_colours_have_only_the_selection() {
    let painted = |depth, token| style(depth).paint_on(token, "x");
    assert_eq!(painted(ColorDepth::TrueColor, ThemeToken::UserMessageBg), "\x1b[48;2;34;36;43mx\x1b[49m");
    assert_eq!(painted(ColorDepth::Ansi256, ThemeToken::UserMessageBg), "\x1b[48;5;235mx\x1b[49m");
    assert_eq!(painted(ColorDepth::Ansi16, ThemeToken::UserMessageBg), "x");
    assert_eq!(painted(ColorDepth::Ansi16, ThemeToken::SelectedBg), "\x1b[7mx\x1b[27m");
}

#[test]
fn the_outer_look_comes_back_behind_the_inner_one() {
    let style = style(ColorDepth::Ansi256);
    let inner = style.paint(ThemeToken::Error, "b");
    assert_eq!(
        style.paint(ThemeToken::Muted, &format!("a{inner}c")),
        "\x1b[38;5;248ma\x1b[38;5;203mb\x1b[39m\x1b[38;5;248mc\x1b[39m"
    );
    assert_eq!(style.bold(&format!("a{}c", style.bold("b"))), "\x1b[1ma\x1b[1mb\x1b[22m\x1b[1mc\x1b[22m");
    // What the views of today paint ends with a reset.
    assert_eq!(style.italic("a\x1b[31mb\x1b[0mc"), "\x1b[3ma\x1b[31mb\x1b[0m\x1b[3mc\x1b[23m");
}

#[test]
fn without_colours_nothing_but_text_is_written() {
    let plain = ThemeStyle::plain(OUTPUT);
    let text = plain.bold(&plain.italic(&plain.strike(&plain.underline("x"))));
    assert_eq!(plain.link("https://example.com", &plain.paint_on(ThemeToken::SelectedBg, &text)), "x");
}

#[test]
fn a_link_is_written_for_addresses_that_can_be_trusted_with_a_terminal() {
    let style = style(ColorDepth::TrueColor);
    assert_eq!(
        style.link("https://example.com/a", "x"),
        "\x1b]8;;https://example.com/a\x1b\\x\x1b]8;;\x1b\\"
    );
    for hostile in [
        "javascript:alert(1)",
        "https://a\x1b\\b",
        "https://a b",
        "https://\u{430}pple.com",
        "ftp://a",
        "/etc",
    ] {
        assert_eq!(style.link(hostile, "x"), "x", "{hostile}");
    }
    let mut theme = Theme::built_in("red-claw").unwrap();
    theme.hyperlinks = false;
    let style = ThemeStyle::new(OUTPUT, theme.into(), ColorDepth::TrueColor);
    assert_eq!(style.link("https://example.com/a", "x"), "x");
}

#[test]
fn every_sign_has_three_forms_and_the_last_is_ascii() {
    for key in SymbolKey::ALL {
        for (preset, utf8) in [("unicode", true), ("nerd", true), ("ascii", true), ("nerd", false)] {
            let mut theme = whole_theme();
            theme["symbols"] = json!({ "preset": preset });
            let output = OutputStyle { utf8, ..OUTPUT };
            let style = ThemeStyle::new(output, loaded(&theme).into(), ColorDepth::None);
            let sign = style.symbol(*key);
            assert!(crate::cells(sign) <= 5, "{key:?} {sign}");
            assert!(sign.is_ascii() || (utf8 && preset != "ascii"), "{key:?} {sign}");
            for step in 0..40 {
                assert_eq!(crate::cells(style.spinner(step)), 1);
                assert!(style.spinner(step).is_ascii() || (utf8 && preset != "ascii"));
            }
        }
    }
}

#[test]
fn the_setting_counts_before_the_themes_set_of_signs() {
    let mut theme = whole_theme();
    let sign = |theme: Theme| {
        ThemeStyle::new(OUTPUT, theme.into(), ColorDepth::None).symbol(SymbolKey::Done).to_owned()
    };
    assert_eq!(sign(loaded(&theme)), "✓");
    theme["symbols"] = json!({ "preset": "nerd", "overrides": { "spinner": "/ \\" } });
    assert_eq!(sign(loaded(&theme)), "\u{f00c}");
    assert_eq!(sign(loaded(&theme).with_symbols(SymbolPreset::Ascii)), "ok");
    let style = ThemeStyle::new(OUTPUT, loaded(&theme).into(), ColorDepth::None);
    assert_eq!([0, 1, 2].map(|step| style.spinner(step)), ["/", "\\", "/"]);
}

#[test]
fn a_sample_shows_the_theme_at_any_width() {
    let plain = ThemeStyle::plain(OUTPUT);
    let lines = [theme_sample_lines(&plain, 60), theme_sample_lines(&plain, 20)].concat();
    let lines: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    › add retry with backoff

    I look at `src/client.rs` first; see the notes
    (https://example.com).

      rust
      fn wait(step: u32) -> Duration { /* doubles */ base() * 2u
      32.pow(step) }

    ● edit src/client.rs +31 −4
      - send(request)?
      + with_retry(|| send(request))?
    ✗ 1 test failed ! 2 warnings
    model · my-app · ⎇ main · 12 % · $0.06
    › add retry with ba…

    I look at
    `src/client.rs`
    first; see the notes
    (https://example.com
    ).

      rust
      fn wait(step: u32)
       -> Duration { /*
      doubles */ base()
      * 2u32.pow(step) }

    ● edit src/client.r…
      - send(request)?
      + with_retry(|| s…
    ✗ 1 test failed ! 2…
    model · my-app · ⎇ …
    ");
    for width in 4..120 {
        assert!(theme_sample_lines(&plain, width).iter().all(|line| crate::cells(line) <= width));
    }
}

proptest! {
    #[test]
    fn a_colour_stays_near_itself_with_256(red: u8, green: u8, blue: u8) {
        let code = ThemeColor::Rgb(red, green, blue).sgr(ColorDepth::Ansi256, false).unwrap();
        let index: u8 = code.rsplit(';').next().unwrap().parse().unwrap();
        let (r, g, b) = ThemeColor::Indexed(index).rgb().unwrap();
        let far = r.abs_diff(red).max(g.abs_diff(green)).max(b.abs_diff(blue));
        prop_assert!(index >= 16 && far <= 64, "{far}");
    }

    #[test]
    fn hex_is_read_as_it_is_written(red: u8, green: u8, blue: u8) {
        let color = ThemeColor::Rgb(red, green, blue);
        prop_assert_eq!(ThemeColor::from_hex(&color.hex().unwrap()), Some(color));
    }
}
