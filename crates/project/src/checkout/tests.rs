//! Keys: made once, kept private, recognised exactly, and taken off again.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use tempfile::TempDir;

use super::*;

fn scene() -> (TempDir, CheckoutKeys) {
    let dir = TempDir::new().unwrap();
    fs::create_dir(dir.path().join("app")).unwrap();
    let checkout = CheckoutKeys::new(Some(&dir.path().join("home")));
    (dir, checkout)
}

fn key(text: &str) -> CheckoutKey {
    CheckoutKey(text.to_string())
}

#[test]
fn a_key_is_made_on_first_need_and_stays() {
    let (dir, checkout) = scene();
    let root = dir.path().join("app");
    assert_eq!(checkout.key(&root).unwrap(), None);
    let made = checkout.get_or_create_key(&root).unwrap();
    assert!(looks_like_a_key(made.as_str()), "{}", made.as_str());
    assert_eq!(checkout.get_or_create_key(&root).unwrap(), made);
    assert_eq!(checkout.key(&root).unwrap(), Some(made.clone()));
    assert_eq!(format!("{made:?}"), "Key(…)");
    let files: Vec<_> = fs::read_dir(dir.path().join("home/projects")).unwrap().collect();
    assert_eq!(files.len(), 1);
    let file = files[0].as_ref().unwrap();
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn another_directory_at_the_same_path_gets_a_key_of_its_own() {
    let (dir, checkout) = scene();
    let root = dir.path().join("app");
    let first = checkout.get_or_create_key(&root).unwrap();
    fs::rename(&root, dir.path().join("old")).unwrap();
    fs::create_dir(&root).unwrap();
    assert_eq!(checkout.key(&root).unwrap(), None);
    assert_ne!(checkout.get_or_create_key(&root).unwrap(), first);
}

#[test]
fn a_key_does_not_follow_an_inode_that_was_given_out_again() {
    let (dir, checkout) = scene();
    let root = dir.path().join("app");
    let first = checkout.get_or_create_key(&root).unwrap();
    let old = DirectoryRef::open(&root).unwrap().mark;
    fs::rename(&root, dir.path().join("old")).unwrap();
    fs::create_dir(&root).unwrap();
    let new = DirectoryRef::open(&root).unwrap().mark;
    let file = fs::read_dir(dir.path().join("home/projects")).unwrap().next().unwrap().unwrap().path();
    let (old, new) = (serde_json::to_value(old).unwrap(), serde_json::to_value(new).unwrap());
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace(&old["inode"].to_string(), &new["inode"].to_string())).unwrap();
    assert_eq!(checkout.key(&root).unwrap().is_none(), old["born"] != new["born"]);
    assert_ne!(checkout.get_or_create_key(&root).unwrap() == first, old["born"] != new["born"]);
}

#[test]
fn a_key_that_is_damaged_or_that_others_could_know_is_replaced() {
    let (dir, checkout) = scene();
    let root = dir.path().join("app");
    let first = checkout.get_or_create_key(&root).unwrap();
    let file = fs::read_dir(dir.path().join("home/projects")).unwrap().next().unwrap().unwrap().path();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(checkout.key(&root).unwrap_err().to_string().contains("others may read"));
    let second = checkout.get_or_create_key(&root).unwrap();
    assert_ne!(second, first);
    fs::write(&file, "not json").unwrap();
    assert!(checkout.key(&root).unwrap_err().to_string().contains("damaged"));
    assert_ne!(checkout.get_or_create_key(&root).unwrap(), second);
}

#[test]
fn without_a_home_there_is_no_key() {
    let (dir, _) = scene();
    let root = dir.path().join("app");
    assert!(CheckoutKeys::new(None).get_or_create_key(&root).is_err());
    assert!(CheckoutKeys::new(Some(&root.join("home"))).get_or_create_key(&root).is_err());
}

#[test]
fn what_an_answer_names_is_read_exactly() {
    let ours = key("abcdefghij");
    let cases = [
        ("my-app", "my-app.abcdefghij", NamedProject::WithKey),
        ("my-app", "  my-app.abcdefghij\n", NamedProject::WithKey),
        ("my-app", "my-app", NamedProject::WithoutKey),
        ("my-app", "my-app.zzzzzzzzzz", NamedProject::WithOtherKey),
        ("my-app", "my-app.abcdefghi", NamedProject::OtherProject),
        ("my-app", "my-app.abcdefghij2", NamedProject::OtherProject),
        ("my-app", "my-app.ABCDEFGHIJ", NamedProject::OtherProject),
        ("my-app", "My-app.abcdefghij", NamedProject::OtherProject),
        ("my-app", "my-app.lolololo00", NamedProject::OtherProject),
        ("my-app", "my-appabcdefghij", NamedProject::OtherProject),
        ("my-app", "other.abcdefghij", NamedProject::OtherProject),
        ("my-app", "abcdefghij", NamedProject::OtherProject),
        ("my-app", "", NamedProject::OtherProject),
        ("my.app", "my.app.abcdefghij", NamedProject::WithKey),
        ("my.app", "my", NamedProject::OtherProject),
        ("x.zzzzzzzzzz", "x.zzzzzzzzzz", NamedProject::WithoutKey),
        ("x.zzzzzzzzzz", "x.zzzzzzzzzz.abcdefghij", NamedProject::WithKey),
        ("x", "x.zzzzzzzzzz.abcdefghij", NamedProject::OtherProject),
    ];
    for (id, named, expected) in cases {
        assert_eq!(CheckoutKey::classify(id, Some(&ours), named), expected, "{id} {named}");
    }
    assert_eq!(CheckoutKey::classify("my-app", None, "my-app.abcdefghij"), NamedProject::WithOtherKey);
}

#[test]
fn no_record_or_log_gets_to_see_a_key() {
    let cases = [
        (Some("my-app"), "my-app.abcdefghij", "my-app"),
        (Some("my-app"), " my-app ", "my-app"),
        (Some("my-app"), "my-app.zzzzzzzzzz", "my-app"),
        (Some("my-app"), "other.abcdefghij", "other"),
        (Some("x.javascript"), "x.javascript", "x.javascript"),
        (Some("x.javascript"), "x.javascript.abcdefghij", "x.javascript"),
        (None, "my.app.abcdefghij", "my.app"),
        (None, "my.app", "my.app"),
        (None, ".abcdefghij", ".abcdefghij"),
        (None, "my-app.production", "my-app.production"),
    ];
    for (id, named, expected) in cases {
        assert_eq!(strip_key(id, named), expected, "{named}");
    }
}

#[test]
fn many_at_once_agree_on_one_key() {
    let (dir, checkout) = scene();
    let root = dir.path().join("app");
    let keys: Vec<CheckoutKey> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..8).map(|_| scope.spawn(|| checkout.get_or_create_key(&root))).collect();
        workers.into_iter().map(|worker| worker.join().unwrap().unwrap()).collect()
    });
    assert!(keys.iter().all(|key| *key == keys[0]));
}
