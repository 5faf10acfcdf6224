//! The two themes that are built in: whole, and readable.

use super::super::color::luminance;
use super::*;

/// What is behind text in a terminal that fits: from the darkest to the lightest usual background.
const DARK: [(u8, u8, u8); 2] = [(0, 0, 0), (30, 30, 30)];
const LIGHT: [(u8, u8, u8); 2] = [(255, 255, 255), (250, 250, 250)];

/// Lines and signs rather than text.
const BORDERS: [ThemeToken; 8] = [
    ThemeToken::Border,
    ThemeToken::BorderMuted,
    ThemeToken::MdCodeBlockBorder,
    ThemeToken::MdQuoteBorder,
    ThemeToken::MdHr,
    ThemeToken::StatusLineSep,
    ThemeToken::ThinkingOff,
    ThemeToken::ThinkingMinimal,
];

fn contrast(one: (u8, u8, u8), other: (u8, u8, u8)) -> f32 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

fn is_background(token: ThemeToken) -> bool {
    token.group() == "backgrounds"
}

#[test]
fn text_of_the_built_in_themes_has_a_contrast_of_four_and_a_half() {
    for (name, terminal, own_text) in
        [("red-claw", DARK, (220, 220, 220)), ("blue-crab", LIGHT, (30, 30, 30))]
    {
        let theme = Theme::built_in(name).unwrap();
        for blind in [theme.clone(), theme.clone().for_color_blind()] {
            for token in ThemeToken::ALL.into_iter().filter(|token| !is_background(*token)) {
                let text = blind.color(token).rgb().unwrap_or(own_text);
                let least = if BORDERS.contains(&token) { 3.0 } else { 4.5 };
                for behind in terminal {
                    let found = contrast(text, behind);
                    assert!(found >= least, "{name}: {} has {found:.2} on {behind:?}", token.name());
                }
            }
        }
    }
}

#[test]
fn text_stays_readable_on_the_themes_own_backgrounds() {
    for (name, own_text) in [("red-claw", (220, 220, 220)), ("blue-crab", (30, 30, 30))] {
        let theme = Theme::built_in(name).unwrap();
        for behind in ThemeToken::ALL.into_iter().filter(|token| is_background(*token)) {
            for token in ThemeToken::ALL {
                if is_background(token) || BORDERS.contains(&token) || token.group() == "modes" {
                    continue;
                }
                let text = theme.color(token).rgb().unwrap_or(own_text);
                let found = contrast(text, theme.color(behind).rgb().unwrap());
                assert!(found >= 4.0, "{name}: {} has {found:.2} on {}", token.name(), behind.name());
            }
        }
    }
}

#[test]
fn errors_warnings_and_removed_lines_are_different_colours() {
    for (name, _) in BUILT_IN_THEMES {
        let theme = Theme::built_in(name).unwrap();
        let colors =
            [ThemeToken::Error, ThemeToken::Warning, ThemeToken::ToolDiffRemoved, ThemeToken::Success]
                .map(|token| theme.color(token));
        for (at, color) in colors.iter().enumerate() {
            assert!(!colors[..at].contains(color), "{name}");
        }
    }
}

#[test]
fn the_colour_blind_mode_changes_what_was_added_and_only_exact_colours() {
    let theme = Theme::built_in("red-claw").unwrap();
    let blind = theme.clone().for_color_blind();
    for token in ThemeToken::ALL {
        let changed = theme.color(token) != blind.color(token);
        assert_eq!(changed, token == ThemeToken::ToolDiffAdded, "{}", token.name());
    }
    let (before, after) = (theme.color(ThemeToken::ToolDiffAdded), blind.color(ThemeToken::ToolDiffAdded));
    let (Some((_, _, before)), Some((red, green, after))) = (before.rgb(), after.rgb()) else { panic!() };
    assert!(after > before && after >= green && green > red);
    let indexed = loaded(&whole_theme());
    assert_eq!(indexed.clone().for_color_blind(), indexed);
}
