//! The configuration, read again when it changes. A broken edit keeps the last good one, and says so.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use relaycode_door::Door;
use relaycode_watch::config::ConfigWatcher;

use super::WatchSession;
use crate::{CommandFailure, CommandResult, LogLevel, Project, render};

/// Editors write a file in several steps: this long nothing must have happened to it.
const SETTLE_DELAY: Duration = Duration::from_millis(100);
/// Keys that are named when they changed.
const MAX_NAMED_KEYS: usize = 3;

impl WatchSession<'_, '_> {
    /// Begins to watch the configuration, or stops, as it says itself.
    pub(super) fn watch_config(&mut self) {
        if !self.door.config().core.watch_config {
            self.config = None;
        } else if self.config.is_none()
            && let Ok(bell) = self.inbox.bell_writer()
        {
            match ConfigWatcher::start(&self.door.root, self.ctx.home.path.as_deref(), bell) {
                Ok(watch) => self.config = Some(watch),
                Err(why) => self.eprint_remark(&format!(
                    "the configuration cannot be watched ({why}): start again after a change"
                )),
            }
        }
    }

    /// Reads the configuration again, once it has come to rest after a change.
    pub(super) fn reload_if_due(&mut self) {
        if self.config.as_ref().is_some_and(ConfigWatcher::take_changed) {
            self.reload_at = Some(Instant::now() + SETTLE_DELAY);
        }
        if self.reload_at.is_some_and(|when| Instant::now() >= when) {
            self.reload_at = None;
            self.reload_config();
        }
    }

    fn reload_config(&mut self) {
        let door = match self.reopen_door() {
            Ok(door) => door,
            Err(failure) => {
                self.live.erase();
                let failure = CommandFailure { state: None, ..failure };
                let text = render::failure::failure_text(&failure, &self.ctx.console.err_style());
                self.ctx.eprint_at(LogLevel::Error, &text);
                self.eprint_remark("the configuration as it was before stays in force");
                self.config_broken = true;
                return;
            }
        };
        let before = self.door.loaded.rows();
        let now = door.loaded.rows();
        let differ = now.iter().zip(&before).filter(|(now, before)| now.value != before.value);
        let changed: Vec<String> =
            differ.map(|(now, _)| format!("{} is now {}", now.key, now.value)).collect();
        let mended = std::mem::take(&mut self.config_broken);
        if changed.is_empty() {
            if mended {
                self.print_done("the configuration can be read again, and says what is in force");
            }
            return;
        }
        self.door = door;
        let config = self.door.config();
        self.interval.store(config.watcher.clipboard_poll_interval, Ordering::Relaxed);
        self.ctx.console.level = config.core.log_level;
        let mut said = changed[..changed.len().min(MAX_NAMED_KEYS)].join(", ");
        if changed.len() > MAX_NAMED_KEYS {
            said += &format!(" and {} more", changed.len() - MAX_NAMED_KEYS);
        }
        self.print_done(&format!("the configuration was read again: {said}"));
        self.watch_config();
    }

    fn reopen_door(&mut self) -> CommandResult<Door> {
        let door = Project::open(self.ctx)?.into_door(self.ctx)?;
        if door.loaded.file.is_none() || door.root != self.door.root {
            return Err(CommandFailure::usage("the project's configuration is gone"));
        }
        Ok(door)
    }
}
