//! JSON themes: what they may hold, and what is said about those that cannot be used.

use super::*;

#[test]
fn every_token_of_the_specification_is_there_in_its_group() {
    let mut groups: Vec<(&str, usize)> = Vec::new();
    for token in ThemeToken::ALL {
        match groups.last_mut() {
            Some((group, count)) if *group == token.group() => *count += 1,
            _ => groups.push((token.group(), 1)),
        }
    }
    assert_eq!(
        groups,
        [
            ("text and borders", 11),
            ("backgrounds", 7),
            ("messages and tools", 5),
            ("Markdown", 10),
            ("diffs and code", 12),
            ("modes", 8),
            ("status line", 13),
        ]
    );
    for (number, token) in ThemeToken::ALL.iter().enumerate() {
        assert_eq!(*token as usize, number);
        assert_eq!(loaded(&whole_theme()).color(*token), ThemeColor::Indexed(number as u8 + 20));
    }
}

#[test]
fn a_colour_is_hex_a_number_a_variable_or_the_terminals_own() {
    let mut theme = whole_theme();
    theme["vars"] = json!({ "one": "two", "two": "three", "three": "#0A0b0C", "grey": 240, "none": "" });
    for (token, value) in
        [("accent", "one"), ("border", "grey"), ("text", ""), ("dim", "none"), ("error", "#FF0001")]
    {
        theme["colors"][token] = json!(value);
    }
    let theme = loaded(&theme);
    assert_eq!(theme.color(ThemeToken::Accent), ThemeColor::Rgb(10, 11, 12));
    assert_eq!(theme.color(ThemeToken::Border), ThemeColor::Indexed(240));
    assert_eq!(theme.color(ThemeToken::Text), ThemeColor::Default);
    assert_eq!(theme.color(ThemeToken::Dim), ThemeColor::Default);
    assert_eq!(theme.color(ThemeToken::Error), ThemeColor::Rgb(255, 0, 1));
}

#[test]
fn missing_colours_are_told_together_by_group() {
    let mut theme = whole_theme();
    let colors = theme["colors"].as_object_mut().unwrap();
    for token in ["accent", "dim", "mdCode", "statusLineCost"] {
        colors.remove(token);
    }
    theme["name"] = json!(7);
    insta::assert_snapshot!(read(&theme).unwrap_err(), @r"
    the theme mine cannot be used
      these colours are missing in colors:
        text and borders: accent, dim
        Markdown: mdCode
        status line: statusLineCost
      name: is a text
    ");
}

#[test]
fn wrong_values_are_told_with_their_place() {
    let mut theme = whole_theme();
    theme["vars"] = json!({ "a": "b", "b": "c", "c": "a", "short": "#fff", "list": [1], "lost": "nowhere", "a\u{1b}[2J": 300 });
    theme["colors"]["accent"] = json!("a");
    theme["colors"]["border"] = json!("missing");
    theme["colors"]["text"] = json!(256);
    theme["colors"]["dim"] = json!(1.5);
    theme["colors"]["error"] = json!(null);
    theme["export"] = json!({ "pageBg": "#12345g" });
    theme["symbols"] = json!({ "preset": "emoji" });
    insta::assert_snapshot!(read(&theme).unwrap_err(), @r#"
    the theme mine cannot be used
      vars.a: the variables lead in a circle: b -> c -> a -> b
      vars.b: the variables lead in a circle: c -> a -> b -> c
      vars.c: the variables lead in a circle: a -> b -> c -> a
      vars.short: #fff is not of the form #RRGGBB
      vars.list: a colour is #RRGGBB, a number from 0 to 255, the name of a variable, or ""
      vars.lost: there is no variable nowhere in vars
      vars.a\u{1b}[2J: 300 is not between 0 and 255
      colors.accent: the variables lead in a circle: a -> b -> c -> a
      colors.border: there is no variable missing in vars
      colors.error: a colour is #RRGGBB, a number from 0 to 255, the name of a variable, or ""
      colors.dim: 1.5 is not between 0 and 255
      colors.text: 256 is not between 0 and 255
      and 2 more
    "#);
}

#[test]
fn name_and_colors_are_required_and_the_rest_is_not() {
    insta::assert_snapshot!(read(&json!([])).unwrap_err(), @r"
    the theme mine cannot be used
      : a theme is an object { … }
    ");
    let mut theme = whole_theme();
    theme.as_object_mut().unwrap().remove("name");
    insta::assert_snapshot!(read(&theme).unwrap_err(), @r"
    the theme mine cannot be used
      name: is missing
    ");
    assert!(matches!(
        read(&json!({ "name": "mine" })).unwrap_err(),
        ThemeError::Invalid { missing, .. } if missing.len() == ThemeToken::ALL.len()
    ));
    insta::assert_snapshot!(
        read_theme("mine", "{\"name\": ").unwrap_err(),
        @"the theme mine is not JSON: EOF while parsing a value at line 1 column 9"
    );
}

#[test]
fn what_relay_does_not_know_is_passed_over_with_a_remark() {
    let mut theme = whole_theme();
    theme["$schema"] = json!("https://example.com/theme.json");
    theme["colors"]["sparkles"] = json!(1);
    theme["symbols"] = json!({ "overrides": {
        "nothing": "x", "prompt": "➜", "md.bullet": "\u{1b}[2J", "tool": "far too wide a sign", "arrow": 4, "spinner": "a bb",
    } });
    let found = read(&theme).unwrap();
    insta::assert_snapshot!(found.remarks.join("\n"), @r"
    colors.sparkles is no colour of relay
    symbols.overrides.nothing is no symbol; the usual sign is shown
    symbols.overrides.md.bullet holds characters that cannot be shown; the usual sign is shown
    symbols.overrides.tool is too wide; the usual sign is shown
    symbols.overrides.arrow is no text; the usual sign is shown
    symbols.overrides.spinner frames are divided by blanks and equally wide; the usual sign is shown
    ");
    let style = ThemeStyle::new(OUTPUT, found.theme.into(), ColorDepth::None);
    assert_eq!(style.symbol(SymbolKey::Prompt), "➜");
    assert_eq!(style.symbol(SymbolKey::Bullet), "•");
}

#[test]
fn colours_of_an_exported_page_follow_from_the_theme_where_it_names_none() {
    let mut theme = whole_theme();
    let number = |token: ThemeToken| Some(ThemeColor::Indexed(token as u8 + 20));
    let found = loaded(&theme).export_colors();
    assert_eq!(found.page, number(ThemeToken::StatusLineBg));
    assert_eq!(found.card, number(ThemeToken::UserMessageBg));
    theme["vars"] = json!({ "paper": "#ffffff" });
    theme["export"] = json!({ "pageBg": "paper" });
    let found = loaded(&theme).export_colors();
    assert_eq!(found.page, Some(ThemeColor::Rgb(255, 255, 255)));
    assert_eq!(found.info, number(ThemeToken::CustomMessageBg));
    assert_eq!(found.page.unwrap().hex().as_deref(), Some("#ffffff"));
}
