//! How an answer is broken off from outside: from another task, another thread, the thread that waits for signals.

use std::sync::Arc;

use tokio::sync::watch;

/// Breaks off what was started with it. Clones are the same; once cancelled it stays so.
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
    /// Breaks it off. Again is no harm.
    pub fn cancel(&self) {
        self.flag.send_replace(true);
    }

    /// It was broken off.
    pub fn is_cancelled(&self) -> bool {
        *self.flag.borrow()
    }

    /// Waits until it is.
    pub async fn cancelled(&self) {
        let mut flag = self.flag.subscribe();
        // The sender lives as long as `self`, so this ends with the flag.
        let _ = flag.wait_for(|cancelled| *cancelled).await;
    }
}
