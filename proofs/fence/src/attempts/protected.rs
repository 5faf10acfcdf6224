//! Changing what is read-only inside the project: what git or relay would believe later.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use super::AttemptKind::SeenOutside;
use super::{Attempt, Place};

const fn seen(name: &'static str, try_it: fn(&Place) -> anyhow::Result<String>) -> Attempt {
    Attempt { name, kind: SeenOutside, try_it }
}

pub(super) const ATTEMPTS: &[Attempt] = &[
    seen("hook_write", |place| done(fs::write(place.project(".git/hooks/pre-commit"), "mine")?)),
    seen("hook_create", |place| done(fs::write(place.project(".git/hooks/post-checkout"), "mine")?)),
    seen("hook_chmod", |place| {
        let executable = Permissions::from_mode(0o777);
        done(fs::set_permissions(place.project(".git/hooks/pre-commit"), executable)?)
    }),
    seen("hook_delete", |place| done(fs::remove_dir_all(place.project(".git/hooks"))?)),
    seen("git_config_write", |place| done(fs::write(place.project(".git/config"), "mine")?)),
    seen("git_config_replace", |place| {
        fs::write(place.project(".git/config.lock"), "mine")?;
        done(fs::rename(place.project(".git/config.lock"), place.project(".git/config"))?)
    }),
    seen("git_config_command", |place| {
        let status = std::process::Command::new("git")
            .args(["config", "core.hooksPath", "/tmp/mine"])
            .current_dir(place.project(""))
            .status()?;
        anyhow::ensure!(status.success(), "{status}");
        done(())
    }),
    seen("relaycode_write", |place| done(fs::write(place.project(".relaycode/lock"), "mine")?)),
    seen("relaycode_rename", |place| {
        fs::rename(place.project(".relaycode"), place.project("old"))?;
        done(fs::create_dir(place.project(".relaycode"))?)
    }),
    seen("rename_over_hook_dir", |place| {
        fs::create_dir(place.project("hooks"))?;
        fs::write(place.project("hooks/pre-commit"), "mine")?;
        fs::rename(place.project(".git/hooks"), place.project(".git/old"))?;
        done(fs::rename(place.project("hooks"), place.project(".git/hooks"))?)
    }),
    seen("rename_git_away", |place| {
        fs::rename(place.project(".git"), place.project("git"))?;
        fs::create_dir_all(place.project(".git/hooks"))?;
        done(fs::write(place.project(".git/hooks/pre-commit"), "mine")?)
    }),
    seen("rename_project_away", |place| {
        fs::rename(place.project(""), place.base.join("temp/project"))?;
        done(fs::create_dir_all(place.project(".git/hooks"))?)
    }),
];

fn done((): ()) -> anyhow::Result<String> {
    Ok("done".to_owned())
}
