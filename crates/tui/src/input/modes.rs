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
/// Focus and colour scheme are told; keys come with their modifiers, in kitty's way or in xterm's.
const RAW_MODE_ON: &str = "\x1b[?1004h\x1b[?2031h\x1b[>4;2m\x1b[>1u";
pub(crate) const RAW_MODE_OFF: &str = "\x1b[<u\x1b[>4m\x1b[?2031l\x1b[?1004l";

/// How many listeners changed the modes, and the original ones.
#[derive(Debug)]
pub(super) struct ModeSwitcher {
    file: Rc<File>,
    /// A dumb terminal would print the request.
    bracketed_paste: bool,
    original: RefCell<Option<Termios>>,
    listeners: Cell<usize>,
    /// Those of the listeners that want every key.
    raw_listeners: Cell<usize>,
    /// What was switched on has to be switched off: the kitty protocol counts.
    is_raw: Cell<bool>,
}

/// While this lives, keys come one by one.
#[derive(Debug)]
pub struct CbreakGuard {
    modes: Rc<ModeSwitcher>,
}

/// While this lives, every key comes with its modifiers, Ctrl-C and Ctrl-Z, too.
#[derive(Debug)]
pub struct RawGuard {
    modes: Rc<ModeSwitcher>,
}

/// While this lives, the terminal has its original modes.
#[derive(Debug)]
pub struct LendGuard {
    modes: Rc<ModeSwitcher>,
}

impl ModeSwitcher {
    pub(super) fn new(file: Rc<File>, marks: bool) -> ModeSwitcher {
        ModeSwitcher {
            file,
            bracketed_paste: marks,
            original: RefCell::default(),
            listeners: Cell::new(0),
            raw_listeners: Cell::new(0),
            is_raw: Cell::new(false),
        }
    }

    fn apply_modes(&self) {
        // A terminal without modes cannot be read either: that is reported then.
        let Ok(usual) = tcgetattr(&*self.file) else { return };
        let mut ours = usual.clone();
        // Ctrl-C keeps its meaning: it reaches relay also when nobody listens.
        ours.local_modes -= LocalModes::ICANON | LocalModes::ECHO | LocalModes::IEXTEN;
        let wants_raw = self.raw_listeners.get() > 0;
        ours.local_modes.set(LocalModes::ISIG, !wants_raw && usual.local_modes.contains(LocalModes::ISIG));
        ours.input_modes -= InputModes::ICRNL | InputModes::INLCR | InputModes::IXON;
        ours.special_codes[SpecialCodeIndex::VMIN] = 1;
        ours.special_codes[SpecialCodeIndex::VTIME] = 0;
        if self.original.borrow().is_none() {
            *self.original.borrow_mut() = Some(usual);
        }
        let _ = tcsetattr(&*self.file, OptionalActions::Now, &ours);
        self.write(PASTE_MODE_ON);
        if self.is_raw.replace(wants_raw) != wants_raw {
            self.write(if wants_raw { RAW_MODE_ON } else { RAW_MODE_OFF });
        }
    }

    /// Whether somebody changed the modes while relay was stopped; restores relay's.
    pub(super) fn reapply_if_changed(&self) -> bool {
        let canonical = |modes: Termios| modes.local_modes.contains(LocalModes::ICANON);
        let changed = self.listeners.get() > 0 && tcgetattr(&*self.file).is_ok_and(canonical);
        if changed {
            self.apply_modes();
        }
        changed
    }

    fn restore(&self) {
        if self.is_raw.replace(false) {
            self.write(RAW_MODE_OFF);
        }
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
        modes.apply_modes();
    }
    CbreakGuard { modes: Rc::clone(modes) }
}

/// The modes before come back when the guard is dropped.
pub(super) fn enter_raw(modes: &Rc<ModeSwitcher>) -> RawGuard {
    modes.listeners.set(modes.listeners.get() + 1);
    modes.raw_listeners.set(modes.raw_listeners.get() + 1);
    modes.apply_modes();
    RawGuard { modes: Rc::clone(modes) }
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
        self.modes.apply_modes();
    }
}

impl RawGuard {
    /// A program that ran while relay was stopped may have changed the modes.
    pub fn reapply(&self) {
        self.modes.apply_modes();
    }
}

impl ModeSwitcher {
    fn drop_listener(&self) {
        let left = self.listeners.get() - 1;
        self.listeners.set(left);
        if left == 0 {
            self.restore();
            self.original.borrow_mut().take();
        }
    }
}

impl Drop for CbreakGuard {
    fn drop(&mut self) {
        self.modes.drop_listener();
    }
}

impl Drop for RawGuard {
    fn drop(&mut self) {
        self.modes.raw_listeners.set(self.modes.raw_listeners.get() - 1);
        if self.modes.listeners.get() > 1 {
            // Somebody else listens on, without every key.
            self.modes.restore();
            self.modes.apply_modes();
        }
        self.modes.drop_listener();
    }
}

impl Drop for LendGuard {
    fn drop(&mut self) {
        if self.modes.listeners.get() > 0 {
            self.modes.apply_modes();
        }
    }
}
