//! Watches the configuration files: the project's, and the user's. An event only rings a bell; what changed
//! is found by reading the files.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use relaycode_project::config::{PROJECT_FILES, USER_FILE};

use crate::sys::DirectoryWatcher;

/// Watches until dropped.
#[derive(Debug)]
pub struct ConfigWatcher {
    _watcher: DirectoryWatcher,
    changed: Arc<AtomicBool>,
}

impl ConfigWatcher {
    /// Watches the files in `root` and in `home`; rings `bell` on a change.
    ///
    /// # Errors
    /// If the project's directory cannot be watched. `home` need not exist.
    pub fn start(root: &Path, home: Option<&Path>, bell: UnixStream) -> Result<ConfigWatcher, String> {
        let touched = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&touched);
        let ring = move |name: &str| {
            if PROJECT_FILES.contains(&name) || name == USER_FILE {
                flag.store(true, Ordering::SeqCst);
                // A full pipe rings already.
                let _ = (&bell).write(&[1]);
            }
        };
        Ok(ConfigWatcher { _watcher: DirectoryWatcher::start(root, home, Box::new(ring))?, changed: touched })
    }

    /// Whether something changed since the last call.
    pub fn take_changed(&self) -> bool {
        self.changed.swap(false, Ordering::SeqCst)
    }
}

/// Gets the name of the file that changed.
pub(crate) type ConfigFileCallback = Box<dyn Fn(&str) + Send>;
