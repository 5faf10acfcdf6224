//! The terminal, lent to a question of the door: the screen of the conversation leaves it, the question is asked line by line, as
//! everywhere in relay, and the screen comes back.
//!
//! Invariant: one borrower at a time, and none before the screen has left.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Shared by the screen and those who ask.
#[derive(Default)]
pub(crate) struct TerminalLender {
    state: Mutex<LendState>,
    changed: Condvar,
    /// Wakes the screen.
    bell: Mutex<Option<Box<dyn Fn() + Send>>>,
}

#[derive(Default)]
struct LendState {
    waiting: usize,
    is_granted: bool,
    is_borrowed: bool,
}

/// The terminal, until it is dropped.
pub(crate) struct BorrowedTerminal {
    lender: Arc<TerminalLender>,
}

impl TerminalLender {
    /// From now on this wakes the screen.
    pub(super) fn set_bell(&self, bell: impl Fn() + Send + 'static) {
        *self.bell.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(bell));
    }

    /// Waits for the terminal.
    pub(crate) fn borrow(self: &Arc<Self>) -> BorrowedTerminal {
        let mut state = self.lock();
        state.waiting += 1;
        drop(state);
        if let Some(bell) = self.bell.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            bell();
        }
        state = self.lock();
        while state.is_borrowed || !state.is_granted {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.waiting -= 1;
        state.is_borrowed = true;
        BorrowedTerminal { lender: self.clone() }
    }

    pub(super) fn is_wanted(&self) -> bool {
        self.lock().waiting > 0
    }

    /// The screen has left: waits until nobody wants the terminal any more.
    pub(super) fn lend_until_returned(&self) {
        let mut state = self.lock();
        state.is_granted = true;
        self.changed.notify_all();
        while state.is_borrowed || state.waiting > 0 {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.is_granted = false;
    }

    fn lock(&self) -> MutexGuard<'_, LendState> {
        // Each change leaves it consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for BorrowedTerminal {
    fn drop(&mut self) {
        self.lender.lock().is_borrowed = false;
        self.lender.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn nobody_has_the_terminal_before_the_screen_has_left_and_only_one_at_a_time() {
        let lender = Arc::new(TerminalLender::default());
        let (inside, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let borrowed = lender.borrow();
                    assert!(lender.lock().is_granted);
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                    std::thread::yield_now();
                    inside.fetch_sub(1, Ordering::SeqCst);
                    drop(borrowed);
                    done.fetch_add(1, Ordering::SeqCst);
                });
            }
            while done.load(Ordering::SeqCst) < 8 {
                assert_eq!(inside.load(Ordering::SeqCst), 0);
                if lender.is_wanted() {
                    lender.lend_until_returned();
                }
                std::thread::yield_now();
            }
        });
    }
}
