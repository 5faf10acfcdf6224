//! Which theme counts now: a slot for dark and one for light terminals, a preview that persists nothing, and a reload
//! that keeps the last good theme while a file is broken or away.

use std::sync::Arc;

use super::store::{DEFAULT_DARK, DEFAULT_LIGHT, ThemeStamp};
use super::{SymbolPreset, TerminalAppearance, Theme, ThemeError, ThemeStore};

/// As in the user's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThemeSettings {
    /// `theme.dark`
    pub dark: String,
    /// `theme.light`
    pub light: String,
    /// `symbolPreset`: before that of the theme.
    pub symbol_preset: Option<SymbolPreset>,
    /// `colorBlindMode`
    pub color_blind: bool,
}

impl Default for ThemeSettings {
    fn default() -> ThemeSettings {
        ThemeSettings {
            dark: DEFAULT_DARK.to_owned(),
            light: DEFAULT_LIGHT.to_owned(),
            symbol_preset: None,
            color_blind: false,
        }
    }
}

/// One of the two slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThemeSlot {
    Dark,
    Light,
}

impl ThemeSlot {
    pub fn of(appearance: TerminalAppearance) -> ThemeSlot {
        match appearance {
            TerminalAppearance::Dark => ThemeSlot::Dark,
            TerminalAppearance::Light => ThemeSlot::Light,
        }
    }

    /// The key of the settings that keeps it.
    pub fn setting(self) -> &'static str {
        match self {
            ThemeSlot::Dark => "theme.dark",
            ThemeSlot::Light => "theme.light",
        }
    }
}

/// The theme that counts, and how it came about.
#[derive(Debug, Clone)]
pub struct ThemeSelection {
    store: ThemeStore,
    settings: ThemeSettings,
    appearance: TerminalAppearance,
    hyperlinks: bool,
    chosen: Arc<Theme>,
    stamp: Option<ThemeStamp>,
    /// Shown instead, while somebody looks around.
    preview: Option<Arc<Theme>>,
    /// What was passed over in the file.
    remarks: Vec<String>,
}

impl ThemeSelection {
    /// The theme of the slot. One that cannot be used is replaced by the one that is built in, and the error told.
    pub fn new(
        store: ThemeStore,
        settings: ThemeSettings,
        appearance: TerminalAppearance,
        hyperlinks: bool,
    ) -> (ThemeSelection, Option<ThemeError>) {
        let mut selection = ThemeSelection {
            store,
            settings,
            appearance,
            hyperlinks,
            chosen: Arc::new(Theme::plain()),
            stamp: None,
            preview: None,
            remarks: Vec::new(),
        };
        let error = selection.choose();
        (selection, error)
    }

    /// What to paint with now.
    pub fn theme(&self) -> &Arc<Theme> {
        self.preview.as_ref().unwrap_or(&self.chosen)
    }

    pub fn settings(&self) -> &ThemeSettings {
        &self.settings
    }

    pub fn slot(&self) -> ThemeSlot {
        ThemeSlot::of(self.appearance)
    }

    pub fn store(&self) -> &ThemeStore {
        &self.store
    }

    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// Shows a theme without choosing it; the settings stay. On an error what is shown stays, too.
    pub fn preview(&mut self, name: &str) -> Result<(), ThemeError> {
        self.preview = Some(Arc::new(self.load(name)?));
        Ok(())
    }

    /// Back to the theme that was chosen.
    pub fn end_preview(&mut self) {
        self.preview = None;
    }

    /// Chooses a theme for a slot: what the caller has to write into the settings. A theme that cannot be used is not
    /// chosen; the built-in one of the slot takes its place until another choice.
    pub fn choose_for(&mut self, slot: ThemeSlot, name: &str) -> Result<(&'static str, String), ThemeError> {
        self.preview = None;
        if let Err(error) = self.store.load(name) {
            if slot == self.slot() {
                self.fall_back();
            }
            return Err(error);
        }
        match slot {
            ThemeSlot::Dark => self.settings.dark = name.to_owned(),
            ThemeSlot::Light => self.settings.light = name.to_owned(),
        }
        // Read again, lest a file changed in between be half chosen.
        match self.choose().filter(|_| slot == self.slot()) {
            Some(error) => Err(error),
            None => Ok((slot.setting(), name.to_owned())),
        }
    }

    /// New settings, from wherever they came.
    pub fn set_settings(&mut self, settings: ThemeSettings) -> Option<ThemeError> {
        self.settings = settings;
        self.preview = None;
        self.choose()
    }

    /// The terminal's background is another one now. `true` if another theme counts because of that.
    pub fn set_appearance(&mut self, appearance: TerminalAppearance) -> bool {
        if appearance == self.appearance {
            return false;
        }
        self.appearance = appearance;
        self.choose();
        true
    }

    /// Reads the user's theme again if its file changed. `Ok(true)` if it looks different now; on an error, or while
    /// the file is away, the last good theme stays.
    pub fn reload(&mut self) -> Result<bool, ThemeError> {
        let name = self.slot_name();
        let Some(stamp) = self.store.stamp(&name).filter(|stamp| Some(*stamp) != self.stamp) else {
            return Ok(false);
        };
        self.stamp = Some(stamp);
        let theme = Arc::new(self.load(&name)?);
        let changed = theme != self.chosen;
        self.chosen = theme;
        Ok(changed)
    }

    fn slot_name(&self) -> String {
        match self.slot() {
            ThemeSlot::Dark => self.settings.dark.clone(),
            ThemeSlot::Light => self.settings.light.clone(),
        }
    }

    fn choose(&mut self) -> Option<ThemeError> {
        let name = self.slot_name();
        self.stamp = self.store.stamp(&name);
        match self.load(&name) {
            Ok(theme) => {
                self.chosen = Arc::new(theme);
                None
            }
            Err(error) => {
                self.fall_back();
                Some(error)
            }
        }
    }

    fn fall_back(&mut self) {
        let name = match self.slot() {
            ThemeSlot::Dark => DEFAULT_DARK,
            ThemeSlot::Light => DEFAULT_LIGHT,
        };
        self.chosen = Arc::new(self.load(name).unwrap_or_else(|_| Theme::plain()));
    }

    fn load(&mut self, name: &str) -> Result<Theme, ThemeError> {
        let loaded = self.store.load(name)?;
        self.remarks = loaded.remarks;
        let mut theme = loaded.theme;
        if let Some(preset) = self.settings.symbol_preset {
            theme = theme.with_symbols(preset);
        }
        if self.settings.color_blind {
            theme = theme.for_color_blind();
        }
        theme.hyperlinks = self.hyperlinks;
        Ok(theme)
    }
}
