//! What stands at protected names after a command of which such things are set aside: it comes first into the record, and what has
//! no place there is moved away.

use super::*;

fn is_protected(path: &str) -> bool {
    path.split('/').any(|name| name == ".hook")
}

fn ledger(project: &Project) -> Ledger {
    let settings = LedgerSettings { is_protected, ..LedgerSettings::default() };
    Ledger::open(Arc::new(RealFs::default()), project.dir.path(), settings).unwrap()
}

fn begin_fenced(recording: &mut Recording<'_>) {
    let about = about();
    let scope = CommandScope {
        about: &about,
        ignored: &|| vec!["ignored/".to_string()],
        is_ignored_stale: false,
        doomed: &[],
        sets_aside: true,
    };
    let mut progress = SecureProgress { see: &mut |_, _| {}, stop: &|| false };
    recording.begin(&scope, &mut progress).unwrap();
}

/// Things that no record holds, at protected names.
fn misuse(project: &Project) {
    fs::create_dir_all(project.path("sub")).unwrap();
    fs::write(project.path("sub/.hook"), "echo EVIL\n").unwrap();
    fs::File::options().write(true).open(project.path("sub/.hook")).unwrap().set_len(FILE_BYTES + 1).unwrap();
    fs::remove_file(project.path("old/.hook")).unwrap();
    drop(std::os::unix::net::UnixListener::bind(project.path("old/.hook")).unwrap());
    fs::File::create(project.path("large")).unwrap().set_len(FILE_BYTES + 1).unwrap();
}

fn assert_moved(project: &Project, moved: &[(String, String, bool)]) {
    let [old, made] = moved else { panic!("{moved:?}") };
    assert_eq!((old.0.as_str(), old.2, made.0.as_str(), made.2), ("old/.hook", true, "sub/.hook", false));
    assert_eq!(fs::metadata(project.path(&made.1)).unwrap().len(), FILE_BYTES + 1);
    assert!(fs::symlink_metadata(project.path(&old.1)).is_ok());
    assert!(!project.path("sub/.hook").exists() && fs::symlink_metadata(project.path("old/.hook")).is_err());
}

#[test]
fn what_stands_at_a_protected_name_and_fits_no_record_is_moved_away() {
    let project = Project::new(&[("old/.hook", b"mine\n", 0o644)]);
    let ledger = ledger(&project);
    let mut recording = ledger.open_recording();
    begin_fenced(&mut recording);
    misuse(&project);
    let outcome = recording.finish(RecordingEnd::default(), &Vec::new).unwrap();
    let moved = outcome.moved_away.iter().map(|one| (one.path.clone(), one.place.clone(), one.was_there));
    assert_moved(&project, &moved.collect::<Vec<_>>());
    let left: Vec<&str> = outcome.omissions.iter().map(|left| left.path.as_str()).collect();
    assert_eq!(left, ["old/.hook", "sub/.hook", "large"], "they are named first");
    assert!(why(&outcome.omissions, "sub/.hook").contains("; it was moved to .relaycode/away/"));
    // What was there before comes back.
    let record = outcome.committed.unwrap().record;
    recording.settle();
    revert(&ledger, record.uuid);
    assert_eq!(fs::read(project.path("old/.hook")).unwrap(), b"mine\n");
}

#[test]
fn a_relay_that_died_moves_it_away_when_the_next_one_comes() {
    let project = Project::new(&[("old/.hook", b"mine\n", 0o644)]);
    let ledger = ledger(&project);
    let mut recording = ledger.open_recording();
    begin_fenced(&mut recording);
    misuse(&project);
    drop(recording);
    ledger.recover(RecoveryMode::Automatic).unwrap();
    assert!(!project.path("sub/.hook").exists() && fs::symlink_metadata(project.path("old/.hook")).is_err());
    assert_eq!(fs::read_dir(project.path(".relaycode/away")).unwrap().count(), 2);
}

#[test]
fn nothing_is_moved_away_after_a_command_of_which_nothing_is_set_aside() {
    let project = Project::new(&[("old/.hook", b"mine\n", 0o644)]);
    let ledger = ledger(&project);
    let recording = secure(&ledger, &[]);
    misuse(&project);
    let outcome = adopt(recording);
    assert!(outcome.moved_away.is_empty() && project.path("sub/.hook").exists());
}

#[test]
fn protected_names_come_first_into_a_record_that_has_too_much() {
    let project = Project::new(&[("a", b"one\n", 0o644)]);
    let ledger = ledger(&project);
    let mut recording = ledger.open_recording();
    begin_fenced(&mut recording);
    // Each may be kept, and not all of them.
    let bytes = vec![0; usize::try_from(FILE_BYTES).unwrap()];
    for number in 0..=ADOPTED_BYTES / FILE_BYTES {
        project.put(&format!("a{number}"), &bytes);
    }
    project.put("ignored/large", &bytes);
    project.put("ignored/.hook", b"x\n");
    project.put("z/.hook", b"z\n");
    let outcome = recording.finish(RecordingEnd::default(), &|| vec!["ignored/".to_string()]).unwrap();
    assert!(!outcome.omissions.is_empty());
    let paths: Vec<String> =
        outcome.committed.unwrap().record.result.into_iter().map(|file| file.path).collect();
    assert!(
        paths.contains(&"z/.hook".to_string()) && paths.contains(&"ignored/.hook".to_string()),
        "{paths:?}"
    );
}
