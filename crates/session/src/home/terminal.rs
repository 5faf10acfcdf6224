//! Breadcrumbs: which session each terminal had last, so that "continue" in one terminal does not take
//! another's.
//!
//! A file of two lines, the directory and the session's path, named after the terminal. Best effort:
//! without one the newest session is taken.

use std::io;
use std::path::{Path, PathBuf};

use relaycode_durable::{Fs, atomic};
use sha2::{Digest, Sha256};

use crate::HomeLayout;
use crate::home::layout::{TERMINALS_DIR, same_directory};

/// Most bytes of a breadcrumb.
const MAX_BYTES: u64 = 16 * 1024;
/// Most characters of a terminal's name in a file name.
const MAX_ID: usize = 100;

/// What identifies a terminal, as found by the caller.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TerminalHints {
    /// The terminal's device, `/dev/pts/3`.
    pub tty: Option<String>,
    /// `KITTY_WINDOW_ID`
    pub kitty_window_id: Option<String>,
    /// `TMUX_PANE`
    pub tmux_pane: Option<String>,
    /// `TERM_SESSION_ID`
    pub term_session_id: Option<String>,
    /// `WT_SESSION`
    pub wt_session: Option<String>,
}

/// Safe as a file name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerminalId(String);

/// The last session of a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerminalBreadcrumb {
    /// The directory it was about.
    pub cwd: PathBuf,
    pub session: PathBuf,
}

impl TerminalId {
    /// The device first, then what programs say; `None` if nothing identifies it.
    pub fn from_hints(surroundings: &TerminalHints) -> Option<TerminalId> {
        let TerminalHints { tty, kitty_window_id, tmux_pane, term_session_id, wt_session } = surroundings;
        let named =
            [("kitty", kitty_window_id), ("tmux", tmux_pane), ("term", term_session_id), ("wt", wt_session)];
        let from_tty = tty.iter().map(|path| path.trim_start_matches("/dev/").to_string());
        let from_programs = named.iter().filter_map(|(kind, value)| {
            let value = value.as_deref()?.trim();
            (!value.is_empty()).then(|| format!("{kind}-{value}"))
        });
        let name = from_tty.chain(from_programs).find(|name| !name.trim().is_empty())?;
        Some(TerminalId(breadcrumb_file_name(&name)))
    }

    /// The name of its breadcrumb.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Replaces what a file name cannot have; a hash distinguishes equal results.
fn breadcrumb_file_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '%') { c } else { '-' };
    let plain: String = name.chars().map(plain).take(MAX_ID).collect();
    // `pts/3` is the everyday case and needs none.
    if plain.len() == name.len() && plain == name.replace('/', "-") && !plain.starts_with('-') {
        return plain;
    }
    let hash: String = Sha256::digest(name.as_bytes())[..4].iter().map(|b| format!("{b:02x}")).collect();
    format!("t{plain}-{hash}")
}

impl TerminalBreadcrumb {
    /// `None` if there is no readable one.
    pub fn read(fs: &dyn Fs, layout: &HomeLayout, terminal: &TerminalId) -> Option<TerminalBreadcrumb> {
        let dir = fs.open_root(&layout.terminals_dir()).ok()?;
        let (bytes, _) = fs.read(&dir, terminal.as_str(), MAX_BYTES).ok()?;
        let text = String::from_utf8(bytes).ok()?;
        let mut lines = text.lines();
        let (cwd, session) = (lines.next()?, lines.next()?);
        (!cwd.is_empty() && !session.is_empty())
            .then(|| TerminalBreadcrumb { cwd: PathBuf::from(cwd), session: PathBuf::from(session) })
    }

    /// Whole or not at all. A path that does not fit on a line is not kept.
    ///
    /// # Errors
    /// Nothing depends on it.
    pub fn write(&self, fs: &dyn Fs, layout: &HomeLayout, terminal: &TerminalId) -> io::Result<()> {
        let is_line = |text: &&str| !text.contains(['\n', '\r']);
        let Some(cwd) = self.cwd.to_str().filter(is_line) else { return Ok(()) };
        let Some(session) = self.session.to_str().filter(is_line) else { return Ok(()) };
        let dir = layout.create_dir(fs, TERMINALS_DIR)?;
        let scratch = format!(".{}.{}.tmp", terminal.as_str(), std::process::id());
        let text = format!("{cwd}\n{session}\n");
        atomic::write(fs, (&dir, &scratch), (&dir, terminal.as_str()), text.as_bytes())
            .map_err(|error| error.source)
    }

    pub fn is_about(&self, cwd: &Path) -> bool {
        same_directory(cwd, &self.cwd.to_string_lossy())
    }
}

#[cfg(test)]
mod tests {
    use relaycode_durable::RealFs;

    use super::*;

    fn id(tty: Option<&str>, tmux: Option<&str>) -> Option<String> {
        let surroundings = TerminalHints {
            tty: tty.map(str::to_string),
            tmux_pane: tmux.map(str::to_string),
            ..TerminalHints::default()
        };
        TerminalId::from_hints(&surroundings).map(|id| id.0)
    }

    #[test]
    fn the_device_names_a_terminal_before_programs_do() {
        assert_eq!(id(Some("/dev/pts/3"), Some("%1")).as_deref(), Some("pts-3"));
        assert_eq!(id(None, Some("%1")).as_deref(), Some("tmux-%1"));
        assert_eq!((id(None, None), id(Some(""), Some(" "))), (None, None));
    }

    #[test]
    fn a_hostile_name_stays_one_file_name() {
        let name = id(None, Some("../../etc/passwd\n\x1b[0m")).unwrap();
        assert!(!name.contains(['/', '.', '\n', '\x1b']), "{name}");
        assert_ne!(id(None, Some("a b")), id(None, Some("a.b")));
        assert!(id(None, Some(&"x".repeat(5000))).unwrap().len() < 200);
    }

    #[test]
    fn a_breadcrumb_comes_back_and_a_broken_one_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let (fs, layout) = (RealFs::default(), HomeLayout::new(dir.path()));
        let terminal = TerminalId("pts-3".into());
        assert_eq!(TerminalBreadcrumb::read(&fs, &layout, &terminal), None);
        let crumb = TerminalBreadcrumb { cwd: "/shop".into(), session: "/h/s.jsonl".into() };
        crumb.write(&fs, &layout, &terminal).unwrap();
        crumb.write(&fs, &layout, &terminal).unwrap();
        assert_eq!(TerminalBreadcrumb::read(&fs, &layout, &terminal), Some(crumb.clone()));
        assert!(crumb.is_about(Path::new("/shop/")) && !crumb.is_about(Path::new("/shop2")));
        std::fs::write(layout.terminals_dir().join("pts-3"), [0xff, b'\n']).unwrap();
        assert_eq!(TerminalBreadcrumb::read(&fs, &layout, &terminal), None);
        let odd = TerminalBreadcrumb { cwd: "/a\nb".into(), session: "/h/s.jsonl".into() };
        odd.write(&fs, &layout, &terminal).unwrap();
        assert_eq!(TerminalBreadcrumb::read(&fs, &layout, &terminal), None);
    }
}
