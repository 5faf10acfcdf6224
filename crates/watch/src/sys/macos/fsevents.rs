//! Changes in directories as macOS tells them, through a library.

use std::path::Path;

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::config::ConfigFileCallback;

/// Two directories that are watched, for as long as this lives.
#[derive(Debug)]
pub(crate) struct DirectoryWatcher {
    /// It has a thread of its own.
    _watcher: RecommendedWatcher,
}

impl DirectoryWatcher {
    pub(crate) fn start(root: &Path, home: Option<&Path>, ring: ConfigFileCallback) -> Result<Self, String> {
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            // That a file was read is no news: relay itself reads it.
            let Ok(Event { kind, paths, .. }) = event else { return };
            if !matches!(kind, EventKind::Access(_)) {
                let names = paths.iter().filter_map(|path| path.file_name()?.to_str());
                names.for_each(&ring);
            }
        })
        .map_err(|error| error.to_string())?;
        watcher.watch(root, RecursiveMode::NonRecursive).map_err(|error| error.to_string())?;
        if let Some(home) = home {
            let _ = watcher.watch(home, RecursiveMode::NonRecursive);
        }
        Ok(DirectoryWatcher { _watcher: watcher })
    }
}
