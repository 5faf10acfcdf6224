//! Changing files outside of what may be written.

use std::fs::{self, File, FileTimes, Permissions};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::time::SystemTime;

use rustix::fs::{IFlags, Mode, XattrFlags};
use rustix::mount::MountFlags;

use super::AttemptKind::SeenOutside;
use super::{Attempt, Place};

const fn seen(name: &'static str, try_it: fn(&Place) -> anyhow::Result<String>) -> Attempt {
    Attempt { name, kind: SeenOutside, try_it }
}

pub(super) const ATTEMPTS: &[Attempt] = &[
    seen("write_outside", |place| done(fs::write(place.outside("file"), "mine")?)),
    seen("create_outside", |place| done(fs::write(place.outside("new"), "mine")?)),
    seen("truncate_outside", |place| {
        done(rustix::fs::ftruncate(File::options().write(true).open(place.outside("file"))?, 0)?)
    }),
    seen("append_outside", |place| {
        done(File::options().append(true).open(place.outside("file"))?.write_all(b"mine")?)
    }),
    seen("delete_outside", |place| done(fs::remove_file(place.outside("file"))?)),
    seen("rename_outside", |place| done(fs::rename(place.outside("file"), place.outside("moved"))?)),
    seen("move_into_project", |place| done(fs::rename(place.outside("file"), place.project("stolen"))?)),
    seen("make_directory_outside", |place| done(fs::create_dir(place.outside("new"))?)),
    seen("chmod_outside", |place| {
        done(fs::set_permissions(place.outside("file"), Permissions::from_mode(0o777))?)
    }),
    seen("fchmod_outside", |place| {
        done(File::open(place.outside("file"))?.set_permissions(Permissions::from_mode(0o777))?)
    }),
    seen("chown_outside", |place| done(chown(place.outside("file"), Some(12_345), None)?)),
    seen("utime_outside", |place| {
        let now = FileTimes::new().set_modified(SystemTime::now());
        done(File::open(place.outside("file"))?.set_times(now)?)
    }),
    seen("setxattr_outside", |place| {
        done(rustix::fs::setxattr(place.outside("file"), "user.mine", b"1", XattrFlags::empty())?)
    }),
    seen("chattr_outside", |place| {
        done(rustix::fs::ioctl_setflags(File::open(place.outside("file"))?, IFlags::NODUMP)?)
    }),
    seen("symlink_then_write", |place| {
        symlink(place.outside("file"), place.project("link"))?;
        done(fs::write(place.project("link"), "mine")?)
    }),
    seen("hardlink_then_write", |place| {
        fs::hard_link(place.outside("file"), place.project("hard"))?;
        done(fs::write(place.project("hard"), "mine")?)
    }),
    seen("hardlink_out", |place| done(fs::hard_link(place.project("source"), place.outside("linked"))?)),
    seen("dotdot_write", |_| done(fs::write("../outside/file", "mine")?)),
    seen("proc_root_write", |place| {
        let file = place.outside("file");
        let file = file.strip_prefix("/")?;
        let mut worked = false;
        for process in ["self".to_owned(), "1".to_owned(), place.victim.to_string()] {
            worked |= fs::write(format!("/proc/{process}/root/{}", file.display()), "mine").is_ok();
        }
        worked |= fs::write(format!("/proc/{}/cwd/outside/file", place.victim), "mine").is_ok();
        anyhow::ensure!(worked, "none of them");
        done(())
    }),
    seen("remount_rw", |place| {
        let _ = rustix::mount::mount_remount("/", MountFlags::BIND, c"");
        let _ = rustix::mount::mount_bind(place.outside(""), place.project("into"));
        let bound = fs::write(place.project("into/file"), "mine");
        done(fs::write(place.outside("file"), "mine").or(bound)?)
    }),
    seen("stdin_opened_again", |_| done(fs::write("/proc/self/fd/0", "mine")?)),
    seen("stdin_chmod", |_| done(rustix::fs::fchmod(rustix::stdio::stdin(), Mode::from_raw_mode(0o777))?)),
    seen("stdin_chmod_by_name", |_| {
        done(fs::set_permissions("/proc/self/fd/0", Permissions::from_mode(0o777))?)
    }),
    seen("inherited_fd", |_| {
        for entry in fs::read_dir("/proc/self/fd")?.flatten() {
            let _ = fs::write(entry.path().join("escaped"), "mine");
        }
        done(())
    }),
    seen("fifo_outside", |place| {
        done(File::options().write(true).open(place.outside("fifo"))?.write_all(b"mine")?)
    }),
    seen("start_up_file", |place| done(fs::write(place.base.join("home/.bashrc"), "mine")?)),
];

fn done((): ()) -> anyhow::Result<String> {
    Ok("done".to_owned())
}
