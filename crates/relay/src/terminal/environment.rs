//! What the place that relay prints to can do, as the environment says: `NO_COLOR` (not empty: no colour), `TERM`
//! (`dumb`: no colour), `LC_ALL`, `LC_CTYPE`, `LANG` (the first that is set says whether UTF-8 is understood). It is
//! read for that here and nowhere else.

use std::io::IsTerminal;

use clap::ValueEnum;
use relaycode_tui::{DiffLayout, OutputStyle, StreamWidth};

/// `--color`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set or TERM is dumb
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// How diffs are laid out, for commands that show them.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct DiffLayoutArgs {
    /// Show the diff in two columns, as wide as the terminal is
    #[arg(long)]
    pub(crate) side_by_side: bool,
}

impl DiffLayoutArgs {
    /// The layout; without a terminal there is room for two columns of usual lines.
    pub(crate) fn layout(self) -> DiffLayout {
        const USUAL: usize = 160;
        if !self.side_by_side {
            return DiffLayout::Unified;
        }
        DiffLayout::SideBySide { columns: std::io::stdout().columns().unwrap_or(USUAL) }
    }
}

/// What the environment says.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConsoleEnv {
    no_color: bool,
    pub(crate) dumb: bool,
    pub(crate) utf8: bool,
}

impl ConsoleEnv {
    /// Reads it from the process.
    pub(crate) fn from_env() -> ConsoleEnv {
        ConsoleEnv::from_lookup(|name| std::env::var_os(name).map(|v| v.to_string_lossy().into_owned()))
    }

    fn from_lookup(get: impl Fn(&str) -> Option<String>) -> ConsoleEnv {
        let set = |name: &str| get(name).filter(|value| !value.is_empty());
        let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG"));
        let locale = locale.unwrap_or_default().to_ascii_lowercase();
        ConsoleEnv {
            no_color: set("NO_COLOR").is_some(),
            dumb: set("TERM").is_some_and(|term| term == "dumb"),
            utf8: locale.contains("utf-8") || locale.contains("utf8"),
        }
    }
}

/// A variable that says something about the terminal.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// How to print to `stream`.
pub(crate) fn style_for_stream(
    stream: &(impl IsTerminal + StreamWidth),
    environment: &ConsoleEnv,
    color: ColorChoice,
) -> OutputStyle {
    let terminal = stream.is_terminal();
    OutputStyle {
        color: match color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => terminal && !environment.no_color && !environment.dumb,
        },
        utf8: environment.utf8,
        width: terminal.then(|| stream.cells()).flatten(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(set: &[(&str, &str)]) -> ConsoleEnv {
        ConsoleEnv::from_lookup(|name| {
            let found = set.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_string())
        })
    }

    #[test]
    fn the_locale_says_whether_utf8_is_understood() {
        assert!(environment(&[("LANG", "de_DE.UTF-8")]).utf8);
        assert!(environment(&[("LC_ALL", "C.utf8"), ("LANG", "C")]).utf8);
        assert!(!environment(&[("LC_ALL", "C"), ("LANG", "en_US.UTF-8")]).utf8);
        assert!(environment(&[("LC_ALL", ""), ("LANG", "en_US.UTF-8")]).utf8);
        assert!(!environment(&[]).utf8);
    }

    #[test]
    fn an_empty_no_color_means_nothing() {
        assert!(environment(&[("NO_COLOR", "1")]).no_color);
        assert!(!environment(&[("NO_COLOR", "")]).no_color);
        assert!(environment(&[("TERM", "dumb")]).dumb);
    }
}
