//! The configuration's files, watched: the project's, and the user's own. That something happened to one of them
//! rings a bell; what it means is found out by reading it.
//!
//! On Linux the kernel is asked for changes alone. The library that serves the other systems would also tell each time
//! a file is opened, and so wake relay whenever anybody reads in the project's directory.

#[cfg_attr(not(target_os = "linux"), path = "elsewhere.rs")]
mod inotify;

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use relaycode_project::config::{PROJECT_FILES, USER_FILE};

/// The files are watched, for as long as this lives.
#[derive(Debug)]
pub struct ConfigWatcher {
    _watcher: inotify::DirectoryWatcher,
    changed: Arc<AtomicBool>,
}

impl ConfigWatcher {
    /// Begins to watch the files in `root` and in `home`; `bell` rings when something happened.
    ///
    /// # Errors
    /// Why the project's directory cannot be watched. The user's own need not exist.
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
        Ok(ConfigWatcher {
            _watcher: inotify::DirectoryWatcher::start(root, home, Box::new(ring))?,
            changed: touched,
        })
    }

    /// Whether something happened since this was asked last.
    pub fn take_changed(&self) -> bool {
        self.changed.swap(false, Ordering::SeqCst)
    }
}

/// Hears the name of a file that something happened to.
type ConfigFileCallback = Box<dyn Fn(&str) + Send>;
