//! Finding, choosing and reloading themes.

use std::fs;
use std::path::Path;

use super::*;

struct ThemeFolder {
    directory: tempfile::TempDir,
}

impl ThemeFolder {
    fn new() -> ThemeFolder {
        ThemeFolder { directory: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn store(&self) -> ThemeStore {
        ThemeStore::new(Some(self.path().to_owned()))
    }

    /// A theme whose accent is this number of the 256.
    fn write(&self, name: &str, accent: u8) {
        let mut theme = whole_theme();
        theme["colors"]["accent"] = json!(accent);
        // Of another length each time, so that it is seen as changed within the clock's tick.
        theme["note"] = json!("x".repeat(usize::from(accent)));
        fs::write(self.path().join(format!("{name}.json")), theme.to_string()).unwrap();
    }

    fn selection(&self, dark: &str) -> (ThemeSelection, Option<ThemeError>) {
        let settings = ThemeSettings { dark: dark.to_owned(), ..ThemeSettings::default() };
        ThemeSelection::new(self.store(), settings, TerminalAppearance::Dark, true)
    }
}

fn accent(selection: &ThemeSelection) -> ThemeColor {
    selection.theme().color(ThemeToken::Accent)
}

#[test]
fn built_in_themes_come_first_and_the_users_are_listed_with_them() {
    let folder = ThemeFolder::new();
    folder.write("mine", 1);
    folder.write("red-claw", 2);
    folder.write("another", 3);
    fs::write(folder.path().join("notes.txt"), "").unwrap();
    fs::write(folder.path().join(".hidden.json"), "").unwrap();
    assert_eq!(folder.store().available(), ["another", "blue-crab", "mine", "red-claw"]);
    assert_eq!(ThemeStore::default().available(), ["blue-crab", "red-claw"]);
    assert_ne!(
        folder.store().load("red-claw").unwrap().theme.color(ThemeToken::Accent),
        ThemeColor::Indexed(2)
    );
    assert_eq!(folder.store().load("mine").unwrap().theme.name, "mine");
}

#[test]
fn a_theme_that_is_not_there_is_not_found() {
    let folder = ThemeFolder::new();
    fs::create_dir(folder.path().join("folder.json")).unwrap();
    fs::write(folder.path().join("huge.json"), vec![b' '; 300 << 10]).unwrap();
    let error = |name: &str| folder.store().load(name).unwrap_err().to_string();
    assert_eq!(error("neon"), "Theme not found: neon");
    assert_eq!(error("../neon"), "Theme not found: ../neon");
    assert_eq!(error("a\x1b[2J"), "Theme not found: a\\u{1b}[2J");
    assert_eq!(error(""), "Theme not found: ");
    assert_eq!(error("folder"), "the theme folder cannot be read: it is not a file");
    assert_eq!(error("huge"), "the theme huge cannot be read: it has more than 256 kB");
}

#[test]
fn the_defaults_are_the_two_built_in_themes() {
    let settings = ThemeSettings::default();
    assert_eq!((settings.dark.as_str(), settings.light.as_str()), ("red-claw", "blue-crab"));
    assert_eq!((settings.symbol_preset, settings.color_blind), (None, false));
    let (mut selection, error) =
        ThemeSelection::new(ThemeStore::default(), settings, TerminalAppearance::Light, true);
    assert_eq!((selection.theme().name.as_str(), error), ("blue-crab", None));
    assert!(selection.set_appearance(TerminalAppearance::Dark));
    assert!(!selection.set_appearance(TerminalAppearance::Dark));
    assert_eq!(selection.theme().name, "red-claw");
}

#[test]
fn settings_decide_signs_and_the_colour_blind_mode() {
    let settings = ThemeSettings {
        symbol_preset: Some(SymbolPreset::Ascii),
        color_blind: true,
        ..ThemeSettings::default()
    };
    let (selection, _) =
        ThemeSelection::new(ThemeStore::default(), settings, TerminalAppearance::Dark, false);
    let style = ThemeStyle::new(OUTPUT, selection.theme().clone(), ColorDepth::TrueColor);
    assert_eq!(style.symbol(SymbolKey::Done), "ok");
    assert!(!style.has_links());
    let usual = Theme::built_in("red-claw").unwrap();
    assert_ne!(selection.theme().color(ThemeToken::ToolDiffAdded), usual.color(ThemeToken::ToolDiffAdded));
}

#[test]
fn looking_at_a_theme_keeps_nothing_and_choosing_it_does() {
    let folder = ThemeFolder::new();
    folder.write("mine", 77);
    fs::write(folder.path().join("broken.json"), "{}").unwrap();
    let (mut selection, _) = folder.selection("red-claw");
    let before = selection.settings().clone();
    selection.preview("mine").unwrap();
    assert_eq!(accent(&selection), ThemeColor::Indexed(77));
    // An error changes nothing of what is seen.
    selection.preview("broken").unwrap_err();
    assert_eq!(accent(&selection), ThemeColor::Indexed(77));
    selection.end_preview();
    assert_eq!((selection.theme().name.as_str(), selection.settings()), ("red-claw", &before));

    let setting = selection.choose_for(ThemeSlot::Dark, "mine").unwrap();
    assert_eq!(setting, ("theme.dark", "mine".to_owned()));
    assert_eq!(accent(&selection), ThemeColor::Indexed(77));
    // The other slot does not change what is seen in this one.
    let setting = selection.choose_for(ThemeSlot::Light, "red-claw").unwrap();
    assert_eq!(setting, ("theme.light", "red-claw".to_owned()));
    assert_eq!(accent(&selection), ThemeColor::Indexed(77));
}

#[test]
fn a_theme_that_cannot_be_used_leaves_the_built_in_one() {
    let folder = ThemeFolder::new();
    let (selection, error) = folder.selection("neon");
    assert_eq!(
        (selection.theme().name.as_str(), error),
        ("red-claw", Some(ThemeError::NotFound("neon".into())))
    );
    folder.write("mine", 5);
    let (mut selection, _) = folder.selection("mine");
    selection.choose_for(ThemeSlot::Dark, "neon").unwrap_err();
    assert_eq!(selection.theme().name, "red-claw");
    assert_eq!(selection.settings().dark, "mine");
}

#[test]
fn a_file_that_changes_is_read_again_and_errors_keep_the_last_good_theme() {
    let folder = ThemeFolder::new();
    folder.write("mine", 10);
    let (mut selection, _) = folder.selection("mine");
    assert_eq!(selection.reload(), Ok(false));
    folder.write("mine", 11);
    assert_eq!(selection.reload(), Ok(true));
    assert_eq!(accent(&selection), ThemeColor::Indexed(11));

    fs::write(folder.path().join("mine.json"), "{ \"name\": ").unwrap();
    selection.reload().unwrap_err();
    assert_eq!(accent(&selection), ThemeColor::Indexed(11));
    // Told once, not at every look.
    assert_eq!(selection.reload(), Ok(false));

    fs::remove_file(folder.path().join("mine.json")).unwrap();
    assert_eq!(selection.reload(), Ok(false));
    assert_eq!(accent(&selection), ThemeColor::Indexed(11));
    folder.write("mine", 12);
    assert_eq!(selection.reload(), Ok(true));
    assert_eq!(accent(&selection), ThemeColor::Indexed(12));
}

#[test]
fn a_built_in_theme_is_not_watched_even_if_a_file_has_its_name() {
    let folder = ThemeFolder::new();
    let (mut selection, _) = folder.selection("red-claw");
    folder.write("red-claw", 3);
    assert_eq!(folder.store().stamp("red-claw"), None);
    assert_eq!(selection.reload(), Ok(false));
}
