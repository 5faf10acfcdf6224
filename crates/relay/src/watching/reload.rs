//! The configuration, read again when it changes. A broken edit keeps the last good one, and says so.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use relaycode_door::Door;
use relaycode_project::config::LogLevel;
use relaycode_watch::config::ConfigWatch;

use super::Session;
use crate::failure::{Failure, State};
use crate::project::Project;
use crate::show;

/// Editors write a file in several steps: this long nothing must have happened to it.
const SETTLED: Duration = Duration::from_millis(100);
/// Keys that are named when they changed.
const NAMED: usize = 3;

impl Session<'_, '_> {
    /// Begins to watch the configuration, or stops, as it says itself.
    pub(super) fn watch_config(&mut self) {
        if !self.door.config().core.watch_config {
            self.config = None;
        } else if self.config.is_none()
            && let Ok(bell) = self.inbox.ringer()
        {
            match ConfigWatch::start(&self.door.root, self.context.home.path.as_deref(), bell) {
                Ok(watch) => self.config = Some(watch),
                Err(why) => {
                    let why = self.context.look().safe(&why).into_owned();
                    self.remark(&format!(
                        "the configuration cannot be watched ({why}): start again after a change"
                    ));
                }
            }
        }
    }

    /// Reads the configuration again, once it has come to rest after a change.
    pub(super) fn see_to_config(&mut self) {
        if self.config.as_ref().is_some_and(ConfigWatch::touched) {
            self.reload = Some(Instant::now() + SETTLED);
        }
        if self.reload.is_some_and(|when| Instant::now() >= when) {
            self.reload = None;
            self.read_again();
        }
    }

    fn read_again(&mut self) {
        let door = match self.opened() {
            Ok(door) => door,
            Err(failure) => {
                self.live.erase();
                let failure = Failure { state: None::<State>, ..failure };
                let text = show::failure::text(&failure, &self.context.console.err_look());
                self.context.beside(LogLevel::Error, &text);
                self.remark("the configuration as it was before stays in force");
                self.broken = true;
                return;
            }
        };
        let before = self.door.loaded.rows();
        let changed: Vec<String> = door
            .loaded
            .rows()
            .iter()
            .zip(&before)
            .filter(|(now, before)| now.value != before.value)
            .map(|(now, _)| format!("{} is now {}", now.key, now.value))
            .collect();
        let mended = std::mem::take(&mut self.broken);
        if changed.is_empty() {
            if mended {
                self.say_line("the configuration can be read again, and says what is in force");
            }
            return;
        }
        self.door = door;
        let config = self.door.config();
        self.interval.store(config.watcher.clipboard_poll_interval, Ordering::Relaxed);
        self.context.console.listen(config.core.log_level);
        let look = self.context.look();
        let mut said = changed[..changed.len().min(NAMED)].join(", ");
        if changed.len() > NAMED {
            said += &format!(" and {} more", changed.len() - NAMED);
        }
        let said = look.safe(&said).into_owned();
        self.say_line(&format!("the configuration was read again: {said}"));
        self.watch_config();
    }

    fn opened(&mut self) -> Result<Door, Failure> {
        let door = Project::open(self.context)?.door(self.context)?;
        if door.loaded.file.is_none() || door.root != self.door.root {
            return Err(Failure::usage("the project's configuration is gone"));
        }
        Ok(door)
    }
}
