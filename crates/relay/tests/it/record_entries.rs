//! `relay record` and `relay revert` of what is not just the bytes of a file: links, empty directories, permission bits,
//! several names. What cannot be brought back is said, and the exit code is 6.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use crate::fixture::scratch_project::{Project, Ran, run};
use crate::relay_snapshot;

/// Every entry but relay's own: its kind and permission bits, and its bytes or where it leads.
type Entries = BTreeMap<String, (u32, Vec<u8>)>;

fn entries(project: &Project) -> Entries {
    let root = project.path("");
    let mut found = Entries::new();
    let mut open = vec![root.clone()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
            if name.starts_with(".relaycode") || name == ".git" {
                continue;
            }
            let stat = fs::symlink_metadata(&path).unwrap();
            let held = if stat.is_symlink() {
                fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
            } else if stat.is_file() {
                fs::read(&path).unwrap()
            } else {
                Vec::new()
            };
            found.insert(name, (stat.mode(), held));
            if stat.is_dir() {
                open.push(path);
            }
        }
    }
    found
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn project() -> Project {
    let project = Project::new(&[("a.txt", "one\n"), ("sub/b.txt", "b\n"), ("tool", "#!/bin/sh\n")]);
    symlink("a.txt", project.path("link")).unwrap();
    symlink("nowhere", project.path("sub/broken")).unwrap();
    fs::create_dir_all(project.path("empty/inner")).unwrap();
    mode(&project.path("empty/inner"), 0o750);
    mode(&project.path("tool"), 0o4755);
    project
}

fn record(project: &Project, line: &str) -> Ran {
    let mut command = project.command(&["record", "--", "sh", "-c", line]);
    command.env("PATH", std::env::var_os("PATH").unwrap());
    run(&mut command)
}

/// Records this, reverts it, and reverts that: everything is as it was each time.
fn comes_back(line: &str) {
    let project = project();
    let was = entries(&project);
    let ran = record(&project, line);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("✓ recorded ") && !ran.err.contains("not undoable"), "{line}: {ran:?}");
    let is = entries(&project);
    assert_ne!(is, was, "{line}");
    let said = project.done(&["undo"]);
    assert_eq!(entries(&project), was, "{line}: {said}");
    let said = project.done(&["redo"]);
    assert_eq!(entries(&project), is, "{line}, again: {said}");
}

#[test]
fn a_link_that_was_removed_comes_back() {
    comes_back("rm link sub/broken");
}

#[test]
fn a_link_that_was_made_goes_and_one_that_leads_elsewhere_leads_back() {
    comes_back("ln -s tool new; ln -sfn sub link; ln -s ../a.txt sub/up");
}

#[test]
fn a_link_that_got_another_name_has_its_old_one() {
    comes_back("mv link sub/moved");
}

#[test]
fn a_file_that_became_a_link_is_a_file_again_and_the_other_way_round() {
    comes_back("ln -sf tool a.txt; rm link; echo text > link");
}

#[test]
fn a_directory_that_became_a_link_is_a_directory_again_and_the_other_way_round() {
    comes_back("mv sub real; ln -s real sub; rm link; mkdir link; echo x > link/inside");
}

#[test]
fn an_empty_directory_that_was_removed_comes_back() {
    comes_back("rmdir empty/inner empty");
}

#[test]
fn an_empty_directory_that_was_made_goes() {
    comes_back("mkdir -p new/deep");
}

#[test]
fn a_directory_gets_the_permission_bits_back_that_it_had() {
    comes_back("chmod 700 sub; chmod 1777 empty; chmod 2755 empty/inner");
}

#[test]
fn a_directory_that_nobody_may_enter_is_open_again() {
    comes_back("echo x >> sub/b.txt; chmod 000 sub");
}

#[test]
fn a_program_gets_its_setuid_bit_back() {
    comes_back("chmod u-s tool");
    comes_back("echo more >> tool; chmod 755 tool");
    comes_back("rm tool");
    comes_back("chmod g+s,+t a.txt");
}

#[test]
fn a_new_file_with_several_names_is_no_reason_for_an_alarm() {
    comes_back("echo new > new; ln new new2; ln a.txt a2.txt");
}

#[test]
fn what_a_revert_cannot_bring_back_is_named_and_ends_with_6() {
    let project = project();
    let ran = record(&project, "echo two >> a.txt; mkfifo pipe");
    relay_snapshot!(ran, @"
    exit 0
    ----- stderr -----
    backed up 3 files, 16 bytes in <duration>
    ✓ recorded change-1 · 1 file +1 · `relay revert <id>` undoes it
    ! changed while it ran, not undoable: pipe was made: it is a special file
    ");
    let ran = project.relay(&["revert"]);
    assert_eq!((ran.code, project.text("a.txt").as_str()), (6, "one\n"), "{ran:?}");
    relay_snapshot!(ran, @"
    exit 6
    ----- stdout -----
    ✓ undone: run: sh -c 'echo two >> a.txt; mkfifo pipe'
    ! not brought back: pipe was made: it is a special file
      `relay redo` brings it back
    ");
    // The other way there is nothing that could not be done.
    project.done(&["redo"]);
    assert_eq!(project.text("a.txt"), "one\ntwo\n");
    let ran = project.relay(&["undo", "--json"]);
    assert_eq!((ran.code, ran.json()["unrestored"].as_array().unwrap().len()), (6, 1), "{ran:?}");
}

#[test]
fn a_link_that_was_led_elsewhere_since_is_a_conflict() {
    let project = project();
    record(&project, "rm link; ln -s tool link");
    fs::remove_file(project.path("link")).unwrap();
    symlink("sub", project.path("link")).unwrap();
    let was = entries(&project);
    relay_snapshot!(project.relay(&["revert"]), @"
    exit 6
    ----- stderr -----
    ! link is not what change-1 left there, and links cannot be merged; move it away first; nothing was changed
      fix that and try again; `--file PATH` takes back only that file
    ");
    assert_eq!(entries(&project), was);
}

#[test]
fn a_directory_in_whose_place_something_stands_is_named() {
    let project = project();
    record(&project, "rmdir empty/inner; echo x >> a.txt");
    project.put("empty/inner", b"mine\n");
    let ran = project.relay(&["revert"]);
    assert_eq!((ran.code, project.text("empty/inner").as_str()), (6, "mine\n"), "{ran:?}");
    relay_snapshot!(ran, @"
    exit 6
    ----- stdout -----
    ✓ undone: run: sh -c 'rmdir empty/inner; echo x >> a.txt'
    ! not brought back: empty/inner/ was removed, and something else stands there now
      `relay redo` brings it back
    ");
    assert_eq!(project.text("a.txt"), "one\n");
}

#[test]
fn directories_alone_are_shown_and_logged() {
    let project = project();
    let ran = record(&project, "rmdir empty/inner; mkdir new; chmod 700 sub");
    relay_snapshot!(ran, @"
    exit 0
    ----- stderr -----
    backed up 3 files, 16 bytes in <duration>
    ✓ recorded change-1 · 3 directories · `relay revert <id>` undoes it
    ");
    relay_snapshot!(project.relay(&["show", "1"]), @"
    exit 0
    ----- stdout -----
    change-1  run: sh -c 'rmdir empty/inner; mkdir new; chmod 700 sub'               0 files
        A  new/
        D  empty/inner/
        M  sub/  0755 → 0700
      id         change-1-…
      when       <time>, now
      from       record
      group      change-1-…
      yes by     user
      asked for  sh -c 'rmdir empty/inner; mkdir new; chmod 700 sub'
      notes
        it ended with exit code 0 after <duration>
    ");
}
