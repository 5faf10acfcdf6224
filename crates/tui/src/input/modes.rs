//! The terminal's modes: while relay listens, keys come one by one without echo, and pasted text is marked;
//! at any other time the terminal is as it was.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::Write;
use std::rc::Rc;

use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};

const PASTE_MODE_ON: &str = "\x1b[?2004h";
const PASTE_MODE_OFF: &str = "\x1b[?2004l";

/// How many listeners changed the modes, and the original ones.
#[derive(Debug)]
pub(super) struct ModeSwitcher {
    file: Rc<File>,
    /// A dumb terminal would print the request.
    bracketed_paste: bool,
    original: RefCell<Option<Termios>>,
    listeners: Cell<usize>,
}

/// While this lives, keys come one by one.
#[derive(Debug)]
pub struct CbreakGuard {
    modes: Rc<ModeSwitcher>,
}

/// While this lives, the terminal has its original modes.
#[derive(Debug)]
pub struct LendGuard {
    modes: Rc<ModeSwitcher>,
}

impl ModeSwitcher {
    pub(super) fn new(file: Rc<File>, marks: bool) -> ModeSwitcher {
        ModeSwitcher { file, bracketed_paste: marks, original: RefCell::default(), listeners: Cell::new(0) }
    }

    fn apply_cbreak(&self) {
        // A terminal without modes cannot be read either: that is reported then.
        let Ok(usual) = tcgetattr(&*self.file) else { return };
        let mut ours = usual.clone();
        // Ctrl-C keeps its meaning: it reaches relay also when nobody listens.
        ours.local_modes -= LocalModes::ICANON | LocalModes::ECHO | LocalModes::IEXTEN;
        ours.input_modes -= InputModes::ICRNL | InputModes::INLCR | InputModes::IXON;
        ours.special_codes[SpecialCodeIndex::VMIN] = 1;
        ours.special_codes[SpecialCodeIndex::VTIME] = 0;
        if self.original.borrow().is_none() {
            *self.original.borrow_mut() = Some(usual);
        }
        let _ = tcsetattr(&*self.file, OptionalActions::Now, &ours);
        self.write(PASTE_MODE_ON);
    }

    /// Whether somebody changed the modes while relay was stopped; restores relay's.
    pub(super) fn reapply_if_changed(&self) -> bool {
        let canonical = |modes: Termios| modes.local_modes.contains(LocalModes::ICANON);
        let changed = self.listeners.get() > 0 && tcgetattr(&*self.file).is_ok_and(canonical);
        if changed {
            self.apply_cbreak();
        }
        changed
    }

    fn restore(&self) {
        self.write(PASTE_MODE_OFF);
        if let Some(usual) = self.original.borrow().as_ref() {
            let _ = tcsetattr(&*self.file, OptionalActions::Now, usual);
        }
    }

    fn write(&self, text: &str) {
        if self.bracketed_paste {
            let _ = (&*self.file).write_all(text.as_bytes());
        }
    }
}

/// The original modes come back when the last guard is dropped.
pub(super) fn enter_cbreak(modes: &Rc<ModeSwitcher>) -> CbreakGuard {
    if modes.listeners.replace(modes.listeners.get() + 1) == 0 {
        modes.apply_cbreak();
    }
    CbreakGuard { modes: Rc::clone(modes) }
}

/// Restores the original modes while somebody else has the terminal.
pub(super) fn lend(modes: &Rc<ModeSwitcher>) -> LendGuard {
    if modes.listeners.get() > 0 {
        modes.restore();
    }
    LendGuard { modes: Rc::clone(modes) }
}

impl CbreakGuard {
    /// A program that ran while relay was stopped may have changed the modes.
    pub fn reapply(&self) {
        self.modes.apply_cbreak();
    }
}

impl Drop for CbreakGuard {
    fn drop(&mut self) {
        let left = self.modes.listeners.get() - 1;
        self.modes.listeners.set(left);
        if left == 0 {
            self.modes.restore();
            self.modes.original.borrow_mut().take();
        }
    }
}

impl Drop for LendGuard {
    fn drop(&mut self) {
        if self.modes.listeners.get() > 0 {
            self.modes.apply_cbreak();
        }
    }
}
