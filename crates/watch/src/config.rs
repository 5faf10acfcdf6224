//! The configuration's files, watched: the project's, and the user's own. That something happened to one of them
//! rings a bell; what it means is found out by reading it.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use relaycode_project::config::{FILES, USER_FILE};

/// The files are watched, for as long as this lives.
#[derive(Debug)]
pub struct ConfigWatch {
    /// It has a thread of its own, which sleeps until something happens.
    _watcher: RecommendedWatcher,
    touched: Arc<AtomicBool>,
}

impl ConfigWatch {
    /// Begins to watch the files in `root` and in `home`; `bell` rings when something happened.
    ///
    /// # Errors
    /// Why the project's directory cannot be watched. The user's own need not exist.
    pub fn start(root: &Path, home: Option<&Path>, bell: UnixStream) -> Result<ConfigWatch, String> {
        let touched = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&touched);
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            if event.is_ok_and(|event| concerns(&event)) {
                flag.store(true, Ordering::SeqCst);
                // A full pipe rings already.
                let _ = (&bell).write(&[1]);
            }
        })
        .map_err(|error| error.to_string())?;
        watcher.watch(root, RecursiveMode::NonRecursive).map_err(|error| error.to_string())?;
        if let Some(home) = home {
            let _ = watcher.watch(home, RecursiveMode::NonRecursive);
        }
        Ok(ConfigWatch { _watcher: watcher, touched })
    }

    /// Whether something happened since this was asked last.
    pub fn touched(&self) -> bool {
        self.touched.swap(false, Ordering::SeqCst)
    }
}

/// Whether one of the files may say something else now. That it was read is no news: relay itself reads it.
fn concerns(event: &Event) -> bool {
    let named = |path: &std::path::PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        FILES.contains(&name) || name == USER_FILE
    };
    !matches!(event.kind, EventKind::Access(_)) && event.paths.iter().any(named)
}
