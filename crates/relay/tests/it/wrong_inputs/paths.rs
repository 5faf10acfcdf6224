//! Files that an answer may not change, and names that no file has.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use super::{project, typed};
use crate::fixture::scratch_project::{edit, whole};
use crate::fixture::snapshot::Transcript;
use crate::relay_snapshot;

#[test]
fn names_that_lead_out_of_the_project_or_into_what_is_not_its_own() {
    let project = project();
    let mut transcript = Transcript::default();
    for path in [
        "/etc/passwd",
        "../outside.txt",
        "~/.bashrc",
        "C:\\x.txt",
        ".git/config",
        ".relaycode/lock",
        "aux.txt",
        "src/",
    ] {
        transcript.add(path, &project.apply(&whole(path, "x\n")));
    }
    relay_snapshot!(transcript, @r"
    # /etc/passwd
    exit 3
    ----- stderr -----
    ✗ refused: 1 block cannot be read                                    nothing was changed
      line 1 of the answer
        `/etc/passwd` is absolute; paths are relative to the project
      next: `... | relay preview - --repair` writes a prompt for your model

    # ../outside.txt
    exit 3
    ----- stderr -----
    ✗ refused: 1 block cannot be read                                    nothing was changed
      line 1 of the answer
        `../outside.txt` contains `..`; paths stay inside the project
      next: `... | relay preview - --repair` writes a prompt for your model

    # ~/.bashrc
    exit 3
    ----- stderr -----
    ✗ refused: 1 block cannot be read                                    nothing was changed
      line 1 of the answer
        `~/.bashrc` is absolute; paths are relative to the project
      next: `... | relay preview - --repair` writes a prompt for your model

    # C:\x.txt
    exit 3
    ----- stderr -----
    ✗ refused: 1 block cannot be read                                    nothing was changed
      line 1 of the answer
        `C:\\x.txt` names a Windows drive or stream; paths are relative to the project
      next: `... | relay preview - --repair` writes a prompt for your model

    # .git/config
    exit 3
    ----- stderr -----
    ✗ refused: 1 block cannot be read                                    nothing was changed
      line 1 of the answer
        `.git/config` is inside `.git`, which changes may not touch
      next: `... | relay preview - --repair` writes a prompt for your model

    # .relaycode/lock
    exit 3
    ----- stderr -----
    ✗ refused: 1 block cannot be read                                    nothing was changed
      line 1 of the answer
        `.relaycode/lock` is inside `.relaycode`, which changes may not touch
      next: `... | relay preview - --repair` writes a prompt for your model

    # aux.txt
    exit 3
    ----- stderr -----
    ✗ refused: 1 block cannot be read                                    nothing was changed
      line 1 of the answer
        `aux.txt` uses a name that Windows reserves for a device
      next: `... | relay preview - --repair` writes a prompt for your model

    # src/
    exit 3
    ----- stderr -----
    ✗ refused: 1 change does not fit the project                         nothing was changed
      src (line 2 of the answer)
        this is a directory, not a file
      next: `... | relay preview - --repair` writes a prompt for your model
    ");
}

#[test]
fn files_that_cannot_be_changed() {
    let project = project();
    symlink("a.txt", project.path("link.txt")).unwrap();
    symlink("/etc", project.path("etc")).unwrap();
    fs::hard_link(project.path("a.txt"), project.path("twin.txt")).unwrap();
    project.put("fixed.txt", b"one\n");
    fs::set_permissions(project.path("fixed.txt"), Permissions::from_mode(0o444)).unwrap();
    project.put("image.png", b"\x89PNG\r\n\x1a\n\0\0");
    let mut transcript = Transcript::default();
    for (what, answer) in [
        ("a link to a file", edit("link.txt", "one", "1")),
        ("below a link to a directory", whole("etc/new.txt", "x\n")),
        ("a file with two names", edit("twin.txt", "one", "1")),
        ("a read-only file", edit("fixed.txt", "one", "1")),
        ("a directory", whole("src", "x\n")),
        ("below a file", whole("a.txt/new.txt", "x\n")),
        ("an edit of an image", edit("image.png", "one", "1")),
    ] {
        transcript.add(what, &project.apply(&answer));
    }
    relay_snapshot!(transcript, @"
    # a link to a file
    exit 3
    ----- stderr -----
    ✗ refused: 1 change does not fit the project                         nothing was changed
      link.txt (line 2 of the answer)
        this is a symbolic link, not a file
      next: `... | relay preview - --repair` writes a prompt for your model

    # below a link to a directory
    exit 3
    ----- stderr -----
    ✗ refused: 1 change does not fit the project                         nothing was changed
      etc/new.txt (line 2 of the answer)
        this path leads through a symbolic link
      next: `... | relay preview - --repair` writes a prompt for your model

    # a file with two names
    exit 3
    ----- stderr -----
    ✗ twin.txt has 2 hard links, and changing it would break the link; nothing was changed
      make it a separate file first: copy it, then move the copy over it

    # a read-only file
    exit 3
    ----- stderr -----
    ✗ fixed.txt is read-only; nothing was changed
      make it writable first (`chmod u+w`)

    # a directory
    exit 3
    ----- stderr -----
    ✗ refused: 1 change does not fit the project                         nothing was changed
      src (line 2 of the answer)
        this is a directory, not a file
      next: `... | relay preview - --repair` writes a prompt for your model

    # below a file
    exit 3
    ----- stderr -----
    ✗ refused: 1 change does not fit the project                         nothing was changed
      a.txt/new.txt (line 2 of the answer)
        this path leads through a file
      next: `... | relay preview - --repair` writes a prompt for your model

    # an edit of an image
    exit 3
    ----- stderr -----
    ✗ refused: 1 file cannot be edited as text                           nothing was changed
      image.png (line 2 of the answer)
        the file is binary, so no text in it can be found and replaced; a whole-file replacement, a deletion or a rename would work
      next: `... | relay preview - --repair` writes a prompt for your model
    ");
}

#[test]
fn files_for_a_prompt_that_cannot_be_sent() {
    let project = project();
    project.put("image.png", b"\x89PNG\r\n\x1a\n\0\0");
    let lines = [
        "prompt missing.txt",
        "prompt ../elsewhere.txt",
        "prompt /etc/hostname",
        "prompt image.png",
        "prompt *.zig",
    ];
    relay_snapshot!(typed(&project, &lines), @"
    # relay prompt missing.txt
    exit 2
    ----- stderr -----
    ✗ there is no file missing.txt
      name files, directories or globs of the project

    # relay prompt ../elsewhere.txt
    exit 2
    ----- stderr -----
    ✗ ../elsewhere.txt is not in the project
      name a file inside the project's directory

    # relay prompt /etc/hostname
    exit 2
    ----- stderr -----
    ✗ /etc/hostname is not in the project
      name a file inside the project's directory

    # relay prompt image.png
    exit 2
    ----- stderr -----
    ✗ image.png is binary, and a prompt is text
      leave it out

    # relay prompt *.zig
    exit 2
    ----- stderr -----
    ✗ no file matches `*.zig`
      put a glob in quotes, so that relay expands it
    ");
}
