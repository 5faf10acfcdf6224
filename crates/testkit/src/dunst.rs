//! Notifications as a desktop gets them: dunst, on a private bus and display.
//!
//! The results are what dunst itself understood: it runs a script for every notification, which writes it
//! down. (Its history holds only closed ones, and needs `busctl` to read.)

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::bus::TestBus;
use crate::display::X11;
use crate::expect::expect_ok;
use crate::missing::{Missing, find};
use crate::process::{ChildGuard, poll_until};

/// The bus name for notifications.
const NAME: &str = "org.freedesktop.Notifications";

/// Everything is written down, also duplicates.
const CONFIG: &str = "[global]\nalways_run_script = true\nstack_duplicates = false\n\
                      [record]\nsummary = \"*\"\nscript = SCRIPT\n";

/// One file each, which appears whole.
const SCRIPT: &str = r#"#!/bin/sh
cd "${0%/*}" || exit
name=$DUNST_TIMESTAMP-$DUNST_ID
printf '%s\0' "$DUNST_APP_NAME" "$DUNST_SUMMARY" "$DUNST_BODY" "$DUNST_URGENCY" >"$name.new" &&
  mv "$name.new" "$name.notice"
"#;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DunstNotification {
    pub summary: String,
    /// The text below the title.
    pub body: String,
    pub app: String,
    /// `LOW`, `NORMAL` or `CRITICAL`.
    pub urgency: String,
}

#[derive(Debug)]
pub struct Dunst {
    /// Ends it when dropped.
    _program: ChildGuard,
    folder: TempDir,
}

impl Dunst {
    /// Starts it, and waits until the bus knows it.
    pub fn start(bus: &TestBus, display: &X11) -> Result<Dunst, Missing> {
        let mut command = Command::new(find("dunst")?);
        let folder =
            expect_ok(tempfile::Builder::new().prefix("dunst-").tempdir(), "could not make a folder");
        let path = folder.path();
        let script = path.join("record");
        expect_ok(fs::write(&script, SCRIPT), "could not write dunst's script");
        expect_ok(fs::set_permissions(&script, Permissions::from_mode(0o700)), "could not set its mode");
        let config = CONFIG.replace("SCRIPT", &script.to_string_lossy());
        expect_ok(fs::write(path.join("config"), config), "could not configure dunst");
        command.arg("-config").arg(path.join("config")).current_dir(path);
        command.env("HOME", path).env("XDG_CONFIG_HOME", path).env("XDG_CACHE_HOME", path);
        bus.surround(&mut command);
        display.surround(&mut command);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let program = expect_ok(ChildGuard::start(&mut command), "could not start dunst");
        bus.wait_for_owner(NAME);
        Ok(Dunst { _program: program, folder })
    }

    /// In order.
    pub fn notifications(&self) -> Vec<DunstNotification> {
        let files = expect_ok(fs::read_dir(self.folder.path()), "could not look for notifications");
        let mut found: Vec<((u64, u64), DunstNotification)> =
            files.filter_map(Result::ok).filter_map(|file| notice(&file.path())).collect();
        found.sort_by_key(|(order, _)| *order);
        found.into_iter().map(|(_, notice)| notice).collect()
    }

    /// Waits for the first one that is `wanted`.
    pub fn wait_for(
        &self,
        wanted: impl Fn(&DunstNotification) -> bool,
        limit: Duration,
    ) -> DunstNotification {
        let found = poll_until(limit, || self.notifications().into_iter().find(&wanted));
        let came = self.notifications();
        expect_ok(found.ok_or("not within the limit"), &format!("no such notification among {came:#?}"))
    }
}

/// Its time and number, and its content.
fn notice(file: &Path) -> Option<((u64, u64), DunstNotification)> {
    let name = file.file_name()?.to_str()?.strip_suffix(".notice")?;
    let (time, id) = name.split_once('-')?;
    let text = String::from_utf8_lossy(&fs::read(file).ok()?).into_owned();
    let mut fields = text.split('\0').map(str::to_owned);
    let (app, summary, body, urgency) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    Some(((time.parse().ok()?, id.parse().ok()?), DunstNotification { summary, body, app, urgency }))
}
