//! Trust: what it is bound to, what makes it void, and that its two halves live apart.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use tempfile::TempDir;

use super::*;

/// Does something to a file that makes it worthless.
type Spoil = fn(&PathBuf);

const NOW: &str = "2026-01-02T03:04:05Z";

struct Scene {
    dir: TempDir,
    trust: TrustStore,
}

impl Scene {
    fn new() -> Scene {
        let dir = TempDir::new().unwrap();
        fs::create_dir(dir.path().join("app")).unwrap();
        let trust = TrustStore::new(Some(&dir.path().join("home")));
        Scene { dir, trust }
    }

    fn root(&self) -> PathBuf {
        self.dir.path().join("app")
    }

    fn state(&self, wants: &TrustRequest) -> TrustState {
        self.trust.state(&self.root(), wants)
    }

    fn file(&self) -> PathBuf {
        let mut files = fs::read_dir(self.dir.path().join("home/trust")).unwrap();
        let file = files.next().unwrap().unwrap().path();
        assert!(files.next().is_none(), "one file per project, and nothing left beside it");
        file
    }

    fn why(&self, wants: &TrustRequest) -> String {
        match self.state(wants) {
            TrustState::Unavailable { why } => why,
            other => panic!("{other:?}"),
        }
    }
}

fn rows(rows: &[(&str, &str)]) -> Vec<(String, String)> {
    rows.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
}

fn linter(line: &str) -> TrustRequest {
    TrustRequest { commands: rows(&[("linter", line)]), ..TrustRequest::default() }
}

fn trusted() -> TrustState {
    TrustState::Trusted { since: NOW.to_string() }
}

#[test]
fn what_only_became_stricter_is_still_trusted() {
    let wants = |commands: &[(&str, &str)], settings: &[(&str, &str)]| TrustRequest {
        commands: rows(commands),
        settings: rows(settings),
        git: Vec::new(),
    };
    let commands = [("linter", "tsc"), ("postCommand", "make fmt")];
    let settings = [
        ("patch.approvalMode", "auto"),
        ("patch.approvalOnErrorCount", "5"),
        ("patch.minFileChanges", "2"),
        ("patch.maxFileChanges", "null"),
    ];
    let granted = wants(&commands, &settings);
    for stricter in [
        wants(&commands[..1], &settings),
        wants(&commands, &settings[1..]),
        wants(&commands, &[]),
        wants(&commands, &[("patch.approvalOnErrorCount", "4")]),
        wants(&commands, &[("patch.minFileChanges", "3")]),
        wants(&commands, &[("patch.maxFileChanges", "1000")]),
    ] {
        assert!(stricter.is_covered_by(&granted), "{stricter:?}");
        assert_eq!(granted.is_covered_by(&stricter), granted == stricter, "{stricter:?}");
    }
    for laxer in [
        wants(&[("linter", "tsc --noEmit")], &settings),
        wants(&[("preCommand", "tsc")], &settings),
        wants(&commands, &[("patch.approvalOnErrorCount", "6")]),
        wants(&commands, &[("patch.minFileChanges", "1")]),
        wants(&commands, &[("patch.approvalMode", "always")]),
    ] {
        assert!(!laxer.is_covered_by(&granted), "{laxer:?}");
    }
    let limited = wants(&commands, &[("patch.maxFileChanges", "10")]);
    assert!(!wants(&commands, &[("patch.maxFileChanges", "null")]).is_covered_by(&limited));
}

#[test]
fn exactly_what_was_granted_is_trusted_and_nothing_else() {
    let scene = Scene::new();
    let wants = TrustRequest { settings: rows(&[("patch.approvalMode", "auto")]), ..linter("tsc") };
    assert_eq!(scene.state(&TrustRequest::default()), TrustState::NothingToTrust);
    assert_eq!(scene.state(&wants), TrustState::NeverAsked);
    scene.trust.grant(&scene.root(), &wants, NOW).unwrap();
    assert_eq!(scene.state(&wants), trusted());
    assert!(scene.state(&wants).allows());
    let and = |row| TrustRequest { commands: rows(&[("linter", "tsc"), row]), ..wants.clone() };
    for other in
        [linter("tsc; rm -rf ~"), linter(""), and(("preCommand", "tsc")), and(("linter", "tsc --noEmit"))]
    {
        assert_eq!(scene.state(&other), TrustState::Changed { before: wants.clone() });
        assert!(!scene.state(&other).allows());
    }
    assert_eq!(scene.state(&TrustRequest::default()), TrustState::NothingToTrust);
    assert!(scene.trust.revoke(&scene.root()).unwrap());
    assert!(!scene.trust.revoke(&scene.root()).unwrap());
    assert_eq!(scene.state(&wants), TrustState::NeverAsked);
}

#[test]
fn what_git_runs_and_what_the_config_names_are_trusted_apart() {
    let scene = Scene::new();
    let both = TrustRequest { git: rows(&[("pre-commit", "1234")]), ..linter("tsc") };
    scene.trust.grant(&scene.root(), &both, NOW).unwrap();
    assert_eq!(scene.trust.git_state(&scene.root(), &both), TrustState::NeverAsked);
    scene.trust.grant_git(&scene.root(), &both, NOW).unwrap();
    let hook = TrustRequest { git: rows(&[("pre-commit", "5678")]), ..both.clone() };
    assert_eq!(scene.state(&hook), trusted());
    let before = TrustRequest { git: both.git.clone(), ..TrustRequest::default() };
    assert_eq!(scene.trust.git_state(&scene.root(), &hook), TrustState::Changed { before });
    let command = TrustRequest { commands: rows(&[("linter", "other")]), ..both };
    assert_eq!(scene.trust.git_state(&scene.root(), &command), trusted());
    assert_eq!(scene.state(&command), TrustState::Changed { before: linter("tsc") });
    assert_eq!(scene.trust.git_state(&scene.root(), &linter("tsc")), TrustState::NothingToTrust);
}

#[test]
fn another_directory_at_the_same_path_is_not_trusted_and_a_link_to_it_is() {
    let scene = Scene::new();
    scene.trust.grant(&scene.root(), &linter("tsc"), NOW).unwrap();
    let link = scene.dir.path().join("link");
    symlink(scene.root(), &link).unwrap();
    assert_eq!(scene.trust.state(&link, &linter("tsc")), trusted());
    fs::rename(scene.root(), scene.dir.path().join("moved")).unwrap();
    assert_eq!(scene.trust.state(&scene.dir.path().join("moved"), &linter("tsc")), TrustState::NeverAsked);
    fs::create_dir(scene.root()).unwrap();
    assert_eq!(scene.state(&linter("tsc")), TrustState::NeverAsked);
    assert!(matches!(
        scene.trust.state(&scene.dir.path().join("gone"), &linter("tsc")),
        TrustState::Unavailable { .. }
    ));
}

#[test]
fn the_file_is_private_and_says_in_plain_words_what_is_trusted() {
    let scene = Scene::new();
    scene.trust.grant(&scene.root(), &linter("bun tsc --noEmit"), NOW).unwrap();
    let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(scene.file()), 0o600);
    assert_eq!(mode(scene.dir.path().join("home/trust")), 0o700);
    assert_eq!(mode(scene.dir.path().join("home")), 0o700);
    let text = fs::read_to_string(scene.file()).unwrap();
    assert!(text.contains("bun tsc --noEmit") && text.contains(NOW) && text.contains("/app\""), "{text}");
}

#[test]
fn a_damaged_large_or_foreign_file_is_not_trusted_and_a_grant_replaces_it() {
    let wants = linter("tsc");
    let spoil: [(&str, Spoil); 6] = [
        ("damaged", |file| fs::write(file, "{}").unwrap()),
        ("damaged", |file| {
            let text = fs::read_to_string(file).unwrap().replace("tsc", "sh evil");
            fs::write(file, text).unwrap();
        }),
        ("too large", |file| fs::write(file, vec![b' '; FILE_BYTES as usize + 1]).unwrap()),
        ("others may change", |file| {
            fs::set_permissions(file, fs::Permissions::from_mode(0o620)).unwrap();
        }),
        ("others may change", |file| {
            fs::set_permissions(file, fs::Permissions::from_mode(0o602)).unwrap();
        }),
        ("not a regular file", |file| {
            let real = file.with_file_name("../real");
            fs::rename(file, &real).unwrap();
            symlink(&real, file).unwrap();
        }),
    ];
    for (why, spoil) in spoil {
        let scene = Scene::new();
        scene.trust.grant(&scene.root(), &wants, NOW).unwrap();
        spoil(&scene.file());
        assert!(scene.why(&wants).contains(why), "{}", scene.why(&wants));
        assert!(!scene.state(&wants).allows());
        scene.trust.grant(&scene.root(), &wants, NOW).unwrap();
        assert_eq!(scene.state(&wants), trusted());
    }
}

#[test]
fn a_file_that_belongs_to_somebody_else_is_not_trusted() {
    if !rustix::process::geteuid().is_root() {
        return; // Only root can give a file away.
    }
    let scene = Scene::new();
    scene.trust.grant(&scene.root(), &linter("tsc"), NOW).unwrap();
    std::os::unix::fs::chown(scene.file(), Some(12_345), None).unwrap();
    assert!(scene.why(&linter("tsc")).contains("somebody else"));
}

#[test]
fn a_directory_that_others_may_change_is_not_used() {
    let scene = Scene::new();
    scene.trust.grant(&scene.root(), &linter("tsc"), NOW).unwrap();
    for folder in ["home/trust", "home"] {
        let path = scene.dir.path().join(folder);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(scene.why(&linter("tsc")).contains("others may change"));
        assert!(scene.trust.grant(&scene.root(), &linter("tsc"), NOW).is_err());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    }
    assert_eq!(scene.state(&linter("tsc")), trusted());
}

#[test]
fn without_a_home_or_with_one_inside_the_project_nothing_is_trusted() {
    let scene = Scene::new();
    let inside = scene.root().join("own");
    for (home, why) in [(None, "RELAY_HOME"), (Some(inside.as_path()), "inside the project")] {
        let trust = TrustStore::new(home);
        let error = trust.grant(&scene.root(), &linter("tsc"), NOW).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
        assert!(matches!(trust.state(&scene.root(), &linter("tsc")), TrustState::Unavailable { .. }));
        assert_eq!(trust.state(&scene.root(), &TrustRequest::default()), TrustState::NothingToTrust);
    }
    assert!(!inside.exists());
}

#[test]
fn rows_that_only_look_alike_have_different_digests() {
    let one = TrustRequest { commands: rows(&[("a", "b"), ("c", "d")]), ..TrustRequest::default() };
    let others = [
        TrustRequest { commands: rows(&[("a", "b\nc"), ("", "d")]), ..TrustRequest::default() },
        TrustRequest { commands: rows(&[("a", "bc"), ("", "d")]), ..TrustRequest::default() },
        TrustRequest { settings: one.commands.clone(), ..TrustRequest::default() },
        TrustRequest { git: one.commands.clone(), ..TrustRequest::default() },
    ];
    for other in others {
        assert_ne!(digest(&one), digest(&other));
        assert_ne!(one.canonical_text(), other.canonical_text());
    }
}
