//! What of the file system is there, and what of it can be written. Everything is read-only but for what the order names.
//!
//! The kernel's call that does this to a whole tree at once has no safe wrapper, so each mount is changed by its own, from the
//! kernel's list of them. What cannot be reached by its name is left: the command has no other way to it. Directories above a
//! protected name become mounts too: whoever could rename them would make another `.git/hooks` in their place.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CString, OsString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::io::Errno;
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount, mount_bind,
    mount_bind_recursive, mount_change, mount_remount, move_mount, open_tree,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::{Step, StepError, devices};
use crate::fence::{FenceLayer, JobFence};

/// Places for temporary files, which become the command's own directory.
const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];

/// Processes and threads of a command at the same time. Counted by the user in the new namespace, which does not hold root, and by
/// the numbers that the namespace gives out.
const MAX_PROCESSES: u64 = 4_096;

/// The kernel since which a namespace has numbers of its own for processes.
const OWN_NUMBERS: (u32, u32) = (6, 14);

/// Where programs look up who knows the names of hosts. Mostly a link to what a service keeps.
const NAME_SERVERS: &str = "/etc/resolv.conf";

const CLONE_TREE: OpenTreeFlags =
    OpenTreeFlags::OPEN_TREE_CLONE.union(OpenTreeFlags::OPEN_TREE_CLOEXEC).union(OpenTreeFlags::AT_RECURSIVE);

/// Arranges them, and says what was to be protected and could not be: it does not exist, or is a link.
pub(super) fn arrange(spec: &JobFence) -> Result<Vec<OsString>, StepError> {
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).step("keep mounts to itself")?;
    // Held before the layers are mounted: what is written for good may lie in the directory of one.
    let mut trees = BTreeMap::new();
    for path in spec.directories.iter().chain([&PathBuf::from(&spec.temp)]) {
        let (path, tree) = HeldTree::clone_from(path).step(format!("hold {}", path.display()))?;
        trees.insert(path, tree);
    }
    // A layer that cannot be leaves its directory as it is, and read-only.
    let layers = spec.layers_in_use().iter().filter(|layer| mount_layer(layer).is_ok());
    let layers = layers.map(|layer| PathBuf::from(&layer.directory)).collect::<Vec<_>>();
    for path in layers.iter().chain(&spec.visible) {
        // What is not there cannot be seen.
        let Ok((path, tree)) = HeldTree::clone_from(path) else { continue };
        // The machine's `/tmp` as a whole would be in place of the command's own.
        if layers.contains(&path)
            || TEMPORARY.iter().any(|place| path.starts_with(place) && path != Path::new(place))
        {
            trees.entry(path).or_insert(tree);
        }
    }
    // It may lie in the machine's own `/tmp`, too.
    let kept = hold_kept(spec)?;
    // Held before the first is made: the directory itself mostly lies in the machine's own `/tmp`.
    let temporary: Vec<(&str, OwnedFd)> = TEMPORARY
        .into_iter()
        .filter(|place| Path::new(place).is_dir())
        .map(|place| Ok((place, open_tree(CWD, Path::new(&spec.temp), CLONE_TREE).step("make a /tmp")?)))
        .collect::<Result<_, StepError>>()?;
    for (place, tree) in &temporary {
        attach(tree, Path::new(place)).step("make a /tmp")?;
    }
    for (path, held) in &trees {
        held.make_place(path).step(format!("find {}", path.display()))?;
        attach(&held.tree, path).step(format!("mount {}", path.display()))?;
    }
    devices::replace_dev()?;
    let hidden = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("proc", "/proc", "proc", hidden, None).step("make a /proc")?;

    let writable: Vec<PathBuf> = canonical(&spec.writable());
    bound_processes();
    let mut unprotected = Vec::new();
    let mut protected = Vec::new();
    let mut ancestors = BTreeSet::new();
    for path in &spec.read_only {
        match real_name(path, &spec.directories) {
            Some(real) => {
                protect(&real, &writable, &mut ancestors).step(format!("protect {}", path.display()))?;
                protected.push(real);
            }
            None => unprotected.push(path.clone().into_os_string()),
        }
    }
    for path in canonical(&spec.masked) {
        let is_inside = writable.iter().any(|place| path.starts_with(place));
        mask(&path, is_inside).step(format!("mask {}", path.display()))?;
        protected.push(path);
    }
    for (path, tree) in &kept {
        if path.symlink_metadata().is_err() {
            // What it lies in is masked.
            path.parent().map_or(Ok(()), std::fs::create_dir_all).step(format!("find {}", path.display()))?;
            std::fs::write(path, "").step(format!("find {}", path.display()))?;
        }
        attach(tree, path).step(format!("keep {}", path.display()))?;
    }
    seal(&writable, &protected)?;
    Ok(unprotected)
}

/// Mounts a tree that was cloned before at a place.
pub(super) fn attach(tree: &OwnedFd, at: &Path) -> io::Result<()> {
    Ok(move_mount(tree.as_fd(), "", CWD, at, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?)
}

/// The directory with what differs from it, which is kept elsewhere.
fn mount_layer(layer: &FenceLayer) -> io::Result<()> {
    let kept_in = Path::new(&layer.kept_in);
    let (upper, work) = (kept_in.join("upper"), kept_in.join("work"));
    let mut options = b"userxattr".to_vec();
    for (name, path) in [("lowerdir", Path::new(&layer.directory)), ("upperdir", &upper), ("workdir", &work)]
    {
        let path = path.as_os_str().as_bytes();
        if path.iter().any(|byte| b",:\\\"".contains(byte)) {
            // They have a meaning of their own there.
            return Err(io::ErrorKind::InvalidInput.into());
        }
        options.extend([b",", name.as_bytes(), b"=", path].concat());
    }
    std::fs::create_dir_all(&upper)?;
    std::fs::create_dir_all(&work)?;
    let options = CString::new(options)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    Ok(mount("overlay", Path::new(&layer.directory), "overlay", flags, options.as_c_str())?)
}

/// A directory or a file that is held while `/tmp` goes, to be mounted again.
struct HeldTree {
    tree: OwnedFd,
    is_file: bool,
}

impl HeldTree {
    /// With its real name. By these the outer come before the inner.
    fn clone_from(path: &Path) -> io::Result<(PathBuf, HeldTree)> {
        let path = path.canonicalize()?;
        let tree = open_tree(CWD, &path, CLONE_TREE)?;
        let is_file = !path.is_dir();
        Ok((path, HeldTree { tree, is_file }))
    }

    /// Makes where it is mounted, if that was beneath the old `/tmp`.
    fn make_place(&self, path: &Path) -> io::Result<()> {
        if path.symlink_metadata().is_ok() {
            return Ok(());
        }
        if !self.is_file {
            return std::fs::create_dir_all(path);
        }
        path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        std::fs::write(path, "")
    }
}

/// What stays where everything around it is masked: sockets that the command may use, and where the network has its names from.
fn hold_kept(spec: &JobFence) -> Result<Vec<(PathBuf, OwnedFd)>, StepError> {
    if spec.sockets.is_empty() {
        return Ok(Vec::new());
    }
    let names = [PathBuf::from(NAME_SERVERS)];
    let names = if spec.network { canonical(&names) } else { Vec::new() };
    let held = spec.sockets.iter().map(|path| (path.clone(), path.canonicalize()));
    let held = held.chain(names.into_iter().map(|path| (path.clone(), Ok(path))));
    held.map(|(path, real)| {
        let real = real.step(format!("find {}", path.display()))?;
        let tree = open_tree(CWD, &real, CLONE_TREE).step(format!("hold {}", path.display()))?;
        Ok((real, tree))
    })
    .collect()
}

/// Sees to it that the command does not take all numbers that the machine has for processes. Where the kernel cannot, there is no bound.
fn bound_processes() {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut parts = release.split(|c: char| !c.is_ascii_digit()).map_while(|part| part.parse::<u32>().ok());
    if parts.next().zip(parts.next()).is_some_and(|version| version >= OWN_NUMBERS) {
        // Before that release it was one setting for the machine, which root could change from in here.
        let _ = std::fs::write("/proc/sys/kernel/pid_max", MAX_PROCESSES.to_string());
    }
    let now = getrlimit(Resource::Nproc);
    let least = |limit: Option<u64>| Some(limit.map_or(MAX_PROCESSES, |limit| limit.min(MAX_PROCESSES)));
    let _ = setrlimit(Resource::Nproc, Rlimit { current: least(now.current), maximum: least(now.maximum) });
}

/// Those that exist, by their real names.
fn canonical(paths: &[PathBuf]) -> Vec<PathBuf> {
    paths.iter().filter_map(|path| path.canonicalize().ok()).collect()
}

/// What a protected path is really called, if it exists and is no link. A link, also one on the way from the directory it
/// lies in, can be replaced whatever is mounted on what it points to.
fn real_name(path: &Path, directories: &[PathBuf]) -> Option<PathBuf> {
    let within = directories.iter().filter(|directory| path.starts_with(directory));
    let real = match within.max_by_key(|directory| directory.as_os_str().len()) {
        Some(directory) => directory.canonicalize().ok()?.join(path.strip_prefix(directory).ok()?),
        None => path.to_owned(),
    };
    // Without a slash at its end, which joining nothing leaves.
    let real: PathBuf = real.components().collect();
    (real.canonicalize().ok()? == real).then_some(real)
}

/// Makes it a mount, and each directory between it and the writable one it lies in.
fn protect(path: &Path, writable: &[PathBuf], ancestors: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    let root =
        writable.iter().filter(|root| path.starts_with(root)).max_by_key(|root| root.as_os_str().len());
    // Outside of them everything is read-only.
    let Some(root) = root.filter(|root| *root != path) else { return Ok(()) };
    let between: Vec<&Path> = path.ancestors().skip(1).take_while(|above| *above != root).collect();
    for above in between.into_iter().rev() {
        if ancestors.insert(above.to_owned()) {
            mount_bind_recursive(above, above)?;
        }
    }
    Ok(mount_bind_recursive(path, path)?)
}

/// Puts nothing over it. Inside of what can be written it is nothing that git knows of: `git clean` and `git stash -u` would fail at
/// removing an empty directory.
fn mask(path: &Path, is_inside: bool) -> io::Result<()> {
    if path.is_dir() {
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        mount("tmpfs", path, "tmpfs", flags, c"mode=0700,size=4k")?;
        return if is_inside { std::fs::write(path.join(".gitignore"), "*\n") } else { Ok(()) };
    }
    // A device that later may not be one: it cannot even be opened.
    Ok(mount_bind("/dev/null", path)?)
}

/// Makes every mount read-only, without devices and without programs that change the user, except where that is needed.
fn seal(writable: &[PathBuf], protected: &[PathBuf]) -> Result<(), StepError> {
    let list = std::fs::read("/proc/self/mountinfo").step("list mounts")?;
    for entry in list.split(|byte| *byte == b'\n').filter_map(MountEntry::parse) {
        let flags = entry.sealed_flags(writable, protected) | MountFlags::BIND;
        match mount_remount(&entry.path, flags, c"") {
            // Not to be reached by its name: beneath another mount, or in a directory that is closed to this user.
            Ok(()) | Err(Errno::NOENT | Errno::NOTDIR | Errno::INVAL | Errno::ACCESS) => {}
            Err(error) => return Err(error).step(format!("seal {}", entry.path.display())),
        }
    }
    Ok(())
}

/// A line of the kernel's list.
#[derive(Debug, PartialEq, Eq)]
struct MountEntry {
    path: PathBuf,
    flags: MountFlags,
}

impl MountEntry {
    /// Number, parent, device, root, place, options, and more.
    fn parse(line: &[u8]) -> Option<MountEntry> {
        let mut fields = line.split(|byte| *byte == b' ').skip(4);
        let path = PathBuf::from(OsString::from_vec(unescape(fields.next()?)));
        let mut flags = MountFlags::empty();
        for option in fields.next()?.split(|byte| *byte == b',') {
            flags |= match option {
                b"ro" => MountFlags::RDONLY,
                b"nosuid" => MountFlags::NOSUID,
                b"nodev" => MountFlags::NODEV,
                b"noexec" => MountFlags::NOEXEC,
                b"noatime" => MountFlags::NOATIME,
                b"nodiratime" => MountFlags::NODIRATIME,
                b"relatime" => MountFlags::RELATIME,
                b"nosymfollow" => MountFlags::NOSYMFOLLOW,
                _ => MountFlags::empty(),
            };
        }
        Some(MountEntry { path, flags })
    }

    /// What it has already stays: a flag that was set outside cannot be taken away.
    fn sealed_flags(&self, writable: &[PathBuf], protected: &[PathBuf]) -> MountFlags {
        let is = |names: &[&str]| names.iter().any(|name| self.path == Path::new(name));
        let within = |places: &[PathBuf]| places.iter().any(|place| self.path.starts_with(place));
        let (node, own) = (is(&devices::NODES), is(&devices::OWN));
        let open = node || own || is(&TEMPORARY) || (within(writable) && !within(protected));
        let mut flags = self.flags | MountFlags::NOSUID;
        if !open {
            flags |= MountFlags::RDONLY;
        }
        if !node && self.path != Path::new("/dev/pts") {
            flags |= MountFlags::NODEV;
        }
        flags
    }
}

/// Blanks and the like are written as a backslash and three octal digits.
fn unescape(field: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, behind)) = rest.split_first() {
        let digits = behind.get(..3).filter(|_| *first == b'\\');
        let code = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|code| u8::from_str_radix(code, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &behind[3..];
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_list_is_read_with_its_blanks_and_flags() {
        let line =
            b"36 35 98:0 /mnt1 /a\\040b\\134c rw,noexec,noatime shared:1 - ext3 /dev/root rw,errors=continue";
        let flags = MountFlags::NOEXEC | MountFlags::NOATIME;
        assert_eq!(MountEntry::parse(line), Some(MountEntry { path: "/a b\\c".into(), flags }));
        assert_eq!(MountEntry::parse(b""), None);
    }

    #[test]
    fn only_what_is_named_stays_writable() {
        let (writable, protected) = (["/p".into()], ["/p/.git/hooks".into()]);
        let flags = |path: &str| {
            let entry = MountEntry { path: path.into(), flags: MountFlags::empty() };
            entry.sealed_flags(&writable, &protected)
        };
        for open in ["/p", "/p/.git", "/tmp", "/dev/shm", "/dev/null"] {
            assert!(!flags(open).contains(MountFlags::RDONLY), "{open}");
        }
        for closed in ["/", "/pp", "/p/.git/hooks", "/p/.git/hooks/x", "/proc", "/dev", "/sys"] {
            assert!(flags(closed).contains(MountFlags::RDONLY | MountFlags::NODEV), "{closed}");
        }
        assert!(flags("/p").contains(MountFlags::NOSUID | MountFlags::NODEV));
    }
}
