//! The signs of the conversation: each has a form in Unicode, in the fonts of "Nerd Fonts", and in ASCII.
//!
//! Signs are at most a few cells wide and hold nothing that a terminal obeys; what a theme file overrides is checked.

use std::borrow::Cow;

use relaycode_text::escape::is_unsafe;

use crate::cells;

/// Which set of signs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SymbolPreset {
    #[default]
    Unicode,
    Nerd,
    Ascii,
}

impl SymbolPreset {
    /// As settings and theme files spell it.
    pub fn parse(name: &str) -> Option<SymbolPreset> {
        match name {
            "unicode" => Some(SymbolPreset::Unicode),
            "nerd" => Some(SymbolPreset::Nerd),
            "ascii" => Some(SymbolPreset::Ascii),
            _ => None,
        }
    }
}

/// One sign, its name in theme files, and its three forms.
macro_rules! symbols {
    ($($(#[$meta:meta])* $key:ident $name:literal $unicode:literal $nerd:literal $ascii:literal,)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum SymbolKey { $($(#[$meta])* $key,)* }

        impl SymbolKey {
            /// In the order of their numbers.
            pub const ALL: &'static [SymbolKey] = &[$(SymbolKey::$key,)*];

            /// As theme files spell it.
            pub const fn name(self) -> &'static str {
                match self { $(SymbolKey::$key => $name,)* }
            }

            const fn forms(self) -> [&'static str; 3] {
                match self { $(SymbolKey::$key => [$unicode, $nerd, $ascii],)* }
            }
        }
    };
}

symbols! {
    Done "status.done" "✓" "\u{f00c}" "ok",
    /// Refused or failed.
    Refused "status.refused" "✗" "\u{f00d}" "x",
    /// Needs a look.
    Attention "status.attention" "!" "\u{f071}" "!",
    Running "status.running" "◌" "\u{f110}" "~",
    Waiting "status.waiting" "○" "\u{f10c}" "o",
    /// Before what somebody types.
    Prompt "prompt" "›" "\u{f054}" ">",
    Cursor "cursor" "▍" "▍" "_",
    /// Before a tool's line.
    Tool "tool" "●" "\u{f111}" "*",
    Thinking "thinking" "∴" "\u{f0eb}" "~",
    /// Before an item of a list.
    Bullet "md.bullet" "•" "•" "-",
    QuoteBar "md.quote" "│" "│" "|",
    Rule "md.rule" "─" "─" "-",
    ColumnBar "md.column" "│" "│" "|",
    Cross "md.cross" "┼" "┼" "+",
    TaskOpen "task.open" "☐" "\u{f096}" "[ ]",
    TaskActive "task.active" "◐" "\u{f042}" "[>]",
    TaskDone "task.done" "☑" "\u{f046}" "[x]",
    TaskDropped "task.dropped" "☒" "\u{f2d3}" "[-]",
    /// Something below can be unfolded.
    FoldClosed "fold.closed" "▸" "\u{f105}" "+",
    FoldOpen "fold.open" "▾" "\u{f107}" "-",
    /// The chosen entry of a list.
    Selected "selected" "▸" "\u{f054}" ">",
    /// An entry of a tree that others follow.
    BranchMid "tree.mid" "├─" "├─" "|-",
    BranchLast "tree.last" "└─" "└─" "`-",
    BranchLine "tree.line" "│" "│" "|",
    /// On the way to where the session stands.
    BranchActive "tree.active" "•" "•" "*",
    Arrow "arrow" "→" "→" "->",
    /// Between parts of a line.
    Dot "dot" "·" "·" "-",
    /// Something was cut.
    More "more" "…" "…" "...",
    Minus "minus" "−" "−" "-",
    Plus "plus" "+" "+" "+",
    Up "up" "↑" "↑" "^",
    Down "down" "↓" "↓" "v",
    Undo "undo" "↩" "\u{f0e2}" "<",
    Enter "enter" "⏎" "⏎" "Enter",
    GitBranch "git.branch" "⎇" "\u{e0a0}" "git",
    File "file" "▪" "\u{f15b}" "",
    Folder "folder" "▸" "\u{f07b}" "/",
    Image "image" "▣" "\u{f03e}" "image",
    Job "job" "⚙" "\u{f013}" "job",
    Queue "queue" "↳" "\u{f0ca}" ">",
    Plan "plan" "◇" "\u{f0ae}" "plan",
    Goal "goal" "◎" "\u{f140}" "goal",
    Context "context" "◔" "\u{f200}" "ctx",
    /// Filled and empty part of a bar.
    BarFull "bar.full" "█" "█" "#",
    BarEmpty "bar.empty" "░" "░" ".",
}

const SPINNER_NAME: &str = "spinner";
const UNICODE_SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const ASCII_SPINNER: [&str; 4] = ["|", "/", "-", "\\"];

/// Widest sign that a theme file may ask for.
const SYMBOL_CELLS: usize = 8;
/// Longest, in bytes, and most frames of the spinner.
const SYMBOL_BYTES: usize = 64;
const SPINNER_FRAMES: usize = 32;

/// All signs, as a theme shows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SymbolTable {
    preset: SymbolPreset,
    overrides: Vec<(SymbolKey, String)>,
    /// Empty: that of the preset.
    spinner: Vec<String>,
}

impl SymbolTable {
    pub fn of_preset(preset: SymbolPreset) -> SymbolTable {
        SymbolTable { preset, overrides: Vec::new(), spinner: Vec::new() }
    }

    #[must_use]
    pub(super) fn with_preset(self, preset: SymbolPreset) -> SymbolTable {
        SymbolTable { preset, ..self }
    }

    /// Replaces a sign (the frames of the spinner are divided by blanks); says what is wrong where it does not.
    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<(), &'static str> {
        if value.len() > SYMBOL_BYTES * SPINNER_FRAMES || value.chars().any(is_unsafe) {
            return Err("holds characters that cannot be shown");
        }
        if name == SPINNER_NAME {
            let frames: Vec<String> = value.split_whitespace().map(str::to_owned).collect();
            let width = frames.first().map_or(0, |frame| cells(frame));
            if frames.len() > SPINNER_FRAMES || frames.iter().any(|frame| cells(frame) != width) || width == 0
            {
                return Err("frames are divided by blanks and equally wide");
            }
            self.spinner = frames;
            return Ok(());
        }
        let Some(key) = SymbolKey::ALL.iter().copied().find(|key| key.name() == name) else {
            return Err("is no symbol");
        };
        if cells(value) > SYMBOL_CELLS || value.len() > SYMBOL_BYTES {
            return Err("is too wide");
        }
        self.overrides.retain(|(other, _)| *other != key);
        self.overrides.push((key, value.to_owned()));
        Ok(())
    }

    /// Without UTF-8 only what is ASCII is shown, whatever was chosen.
    pub(super) fn get(&self, key: SymbolKey, utf8: bool) -> &str {
        let own = self.overrides.iter().find(|(other, value)| *other == key && (utf8 || value.is_ascii()));
        match own {
            Some((_, value)) => value,
            None => key.forms()[if utf8 { self.preset as usize } else { SymbolPreset::Ascii as usize }],
        }
    }

    pub(super) fn spinner(&self, step: usize, utf8: bool) -> &str {
        if !self.spinner.is_empty() && (utf8 || self.spinner.iter().all(|frame| frame.is_ascii())) {
            return &self.spinner[step % self.spinner.len()];
        }
        if utf8 && self.preset != SymbolPreset::Ascii {
            UNICODE_SPINNER[step % UNICODE_SPINNER.len()]
        } else {
            ASCII_SPINNER[step % ASCII_SPINNER.len()]
        }
    }
}

/// `symbols` of a theme file: what is wrong with a name or value is a remark, since a sign that is not replaced harms
/// nobody.
pub(super) fn remark(name: &str, what: &str) -> String {
    let name: Cow<'_, str> = relaycode_text::escape::escape_line(name);
    format!("symbols.overrides.{name} {what}; the usual sign is shown")
}
