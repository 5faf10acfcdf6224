//! Parts of the kernel that open others. They leave no mark outside, so the attempt says whether it was let in.

use std::fs;

use nix::sched::CloneFlags;
use rustix::fs::{CWD, FileType, Mode};
use rustix::mount::MountFlags;

use super::AttemptKind::{SaysItself, SeenOutside};
use super::{Attempt, Place, perl, system_call};

const fn says(name: &'static str, try_it: fn(&Place) -> anyhow::Result<String>) -> Attempt {
    Attempt { name, kind: SaysItself, try_it }
}

pub(super) const ATTEMPTS: &[Attempt] = &[
    says("mount_tmpfs", |place| {
        done(rustix::mount::mount("tmpfs", place.project("into"), "tmpfs", MountFlags::empty(), None)?)
    }),
    says("new_user_namespace", |_| done(nix::sched::unshare(CloneFlags::CLONE_NEWUSER)?)),
    says("new_network_namespace", |_| done(nix::sched::unshare(CloneFlags::CLONE_NEWNET)?)),
    // fork() with CLONE_NEWUSER and SIGCHLD.
    says("clone_into_namespace", |_| system_call(56, "0x10000000 | 17, 0, 0, 0, 0")),
    // The same in the newer call: flags, and the signal at the fifth place.
    says("clone3_into_namespace", |_| {
        perl(
            "my $a = pack('Q8', 0x10000000, 0, 0, 0, 17, 0, 0, 0); my $r = syscall(435, $a, 64); die \"$!\\n\" if $r < 0;",
        )
    }),
    says("enter_namespace_of_others", |place| {
        let held = fs::File::open(format!("/proc/{}/ns/uts", place.victim))?;
        done(nix::sched::setns(held, CloneFlags::CLONE_NEWUTS)?)
    }),
    says("chroot", |place| done(rustix::process::chroot(place.project(""))?)),
    says("bpf", |_| {
        // An array of one entry.
        perl(
            "my $a = pack('L5', 2, 4, 4, 1, 0) . (chr(0) x 100); my $r = syscall(321, 0, $a, 72); die \"$!\\n\" if $r < 0;",
        )
    }),
    says("io_uring_setup", |_| {
        perl("my $p = chr(0) x 120; my $r = syscall(425, 4, $p); die \"$!\\n\" if $r < 0;")
    }),
    says("keyctl", |_| system_call(250, "0, -3, 1")),
    says("add_key", |_| {
        perl(
            "my ($t, $d, $p) = (\"user\\0\", \"mine\\0\", 'x'); my $r = syscall(248, $t, $d, $p, 1, -3); die \"$!\\n\" if $r < 0;",
        )
    }),
    says("perf_event_open", |_| {
        // Counting the own task switches.
        perl(
            "my $a = pack('LLQ', 1, 112, 3) . (chr(0) x 96); my $r = syscall(298, $a, 0, -1, -1, 0); die \"$!\\n\" if $r < 0;",
        )
    }),
    says("userfaultfd", |_| system_call(323, "1")),
    says("open_by_handle_at", |place| {
        let file = place.outside("file");
        perl(&format!(
            "my $f = \"{}\\0\"; my $h = pack('L', 120) . (chr(0) x 124); my $m = pack('l', 0); \
             syscall(303, -100, $f, $h, $m, 0) == 0 or die \"$!\\n\"; open(my $d, '<', '{}') or die; \
             my $r = syscall(304, fileno($d), $h, 0); die \"$!\\n\" if $r < 0;",
            file.display(),
            place.project("").display()
        ))
    }),
    says("mknod_device", |place| {
        let (path, mode) = (place.project("disk"), Mode::from_raw_mode(0o600));
        let device = rustix::fs::stat("/dev/null")?.st_rdev;
        rustix::fs::mknodat(CWD, &path, FileType::CharacterDevice, mode, device)?;
        Ok(fs::read_to_string(path)?)
    }),
    says("kernel_module", |_| system_call(313, "0, 0, 0").or_else(unless_not_permitted)),
    says("swap_off", |_| {
        perl("my $f = \"/nowhere\\0\"; my $r = syscall(168, $f); die \"$!\\n\" if $r < 0;")
            .or_else(unless_not_permitted)
    }),
    says("set_clock", |_| system_call(227, "99, 0").or_else(unless_not_permitted)),
    Attempt {
        name: "proc_sys_write",
        kind: SeenOutside,
        try_it: |_| done(fs::write(crate::traces::KERNEL_SETTING, "11")?),
    },
    Attempt {
        name: "cgroup_write",
        kind: SaysItself,
        try_it: |_| {
            done(
                fs::create_dir("/sys/fs/cgroup/cpu/relay-fence-proof")
                    .and_then(|()| fs::remove_dir("/sys/fs/cgroup/cpu/relay-fence-proof"))?,
            )
        },
    },
];

fn done((): ()) -> anyhow::Result<String> {
    Ok("done".to_owned())
}

/// A call without sense fails whoever makes it: the question is whether it was looked at.
fn unless_not_permitted(error: anyhow::Error) -> anyhow::Result<String> {
    let said = error.to_string();
    let refused = ["not permitted", "not implemented"].iter().any(|refusal| said.contains(refusal));
    if refused { Err(error) } else { Ok(format!("looked at: {said}")) }
}
