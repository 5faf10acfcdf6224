//! Cancels an answer from outside: from another task, another thread, the thread that waits for signals.

use std::sync::Arc;

use tokio::sync::watch;

/// Clones share one state; once cancelled it stays so.
#[derive(Debug, Clone)]
pub struct CancelToken {
    flag: Arc<watch::Sender<bool>>,
}

impl Default for CancelToken {
    fn default() -> CancelToken {
        CancelToken { flag: Arc::new(watch::Sender::new(false)) }
    }
}

impl CancelToken {
    /// May be repeated.
    pub fn cancel(&self) {
        self.flag.send_replace(true);
    }

    pub fn is_cancelled(&self) -> bool {
        *self.flag.borrow()
    }

    pub async fn cancelled(&self) {
        let mut flag = self.flag.subscribe();
        // The sender lives as long as `self`, so this ends with the flag.
        let _ = flag.wait_for(|cancelled| *cancelled).await;
    }
}
