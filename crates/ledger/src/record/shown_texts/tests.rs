use std::fs;
use std::os::unix::fs::symlink;

use relaycode_change::proposal::limits::PlanLimits;
use relaycode_change::{plan, response};

use super::*;
use crate::disk::tree::ProjectTree;
use crate::log::tests::{Scratch, scratch};

const NOW: u64 = 1_800_000_000;

fn path(name: &str) -> RelPath {
    RelPath::parse(name).unwrap()
}

impl Scratch {
    fn show(&self, name: &str, text: &str, now: u64) {
        self.ledger.remember_shown(&[(path(name), text.into())], now).unwrap();
    }

    fn seen(&self, name: &str) -> Vec<String> {
        self.ledger.shown_texts().texts(&path(name))
    }

    fn contents(&self) -> usize {
        let names = fs::read_dir(self.path(".relaycode/seen")).unwrap();
        names.filter(|entry| entry.as_ref().unwrap().file_name() != LOG).count()
    }
}

#[test]
fn an_answer_to_an_older_text_is_merged_into_the_file_as_it_is_now() {
    let scratch = scratch();
    let v1 = "a\nb\nc\nd\ne\nf\ng\nh\n";
    let v2 = v1.replace("b\n", "b, by hand\n");
    scratch.show("x.txt", v1, NOW);
    fs::write(scratch.path("x.txt"), &v2).unwrap();
    // It quotes line 2 as it was.
    let answer = "```txt // x.txt search-replace\n<<<<<<< SEARCH\na\nb\nc\nd\ne\n=======\na\nb\nc\nd\nE\n>>>>>>> REPLACE\n```\n";
    let proposal = response::read(answer, &PlanLimits::default()).unwrap();
    let tree = ProjectTree::new(scratch.ledger.root(), TEXT_BYTES);
    let planned = |seen: &dyn SeenTexts| plan::plan(&proposal, &tree, seen, &PlanLimits::default());
    let plan = planned(&scratch.ledger.shown_texts()).unwrap();
    let file = &plan.files[0];
    assert_eq!(file.after.as_deref(), Some(v2.replace("e\n", "E\n").as_bytes()));
    assert_eq!(file.hunks[0].rung, "three-way");
    let without = planned(&plan::NoSeenTexts);
    assert!(without.is_err() || without.is_ok_and(|plan| plan.files[0].hunks[0].rung != "three-way"));
}

#[test]
fn the_newest_texts_come_first_and_each_once() {
    let scratch = scratch();
    assert!(scratch.seen("a").is_empty());
    assert!(!scratch.path(".relaycode/seen").exists(), "looking makes nothing");
    for number in 0..12 {
        scratch.show("a", &number.to_string(), NOW + number);
    }
    scratch.show("a", "7", NOW + 20);
    scratch.show("b", "7", NOW + 20);
    assert_eq!(scratch.seen("a"), ["7", "11", "10", "9", "8", "6", "5", "4"]);
    assert_eq!(scratch.seen("b"), ["7"]);
    assert_eq!(scratch.contents(), VERSIONS);
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &scratch.path(".relaycode/seen").metadata().unwrap().permissions(),
    );
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn what_is_no_short_text_is_not_kept() {
    let scratch = scratch();
    let most = usize::try_from(TEXT_BYTES).unwrap();
    let files = [
        (path("long"), vec![b'a'; most + 1]),
        (path("binary"), b"\xff".to_vec()),
        (path("edge"), vec![b'a'; most]),
    ];
    scratch.ledger.remember_shown(&files, NOW).unwrap();
    assert_eq!(scratch.contents(), 1);
    assert_eq!(scratch.seen("edge").len(), 1);
}

#[test]
fn texts_go_by_age_and_by_size() {
    let scratch = scratch();
    scratch.show("old", "old", NOW);
    scratch.show("young", "young", NOW + 10);
    let later = i64::try_from(NOW + SECONDS + 5).unwrap();
    scratch.ledger.collect(later, &crate::record::collect::RetentionPolicy::default()).unwrap();
    assert!(scratch.seen("old").is_empty());
    assert_eq!(scratch.seen("young"), ["young"]);
    let most = usize::try_from(TEXT_BYTES).unwrap();
    for number in 0..70u8 {
        let files = [(path(&format!("f{number}")), vec![b' ' + number; most])];
        scratch.ledger.remember_shown(&files, NOW + 100 + u64::from(number)).unwrap();
    }
    assert!(scratch.contents() as u64 * TEXT_BYTES <= ALL_BYTES + TEXT_BYTES);
    assert_eq!(scratch.seen("f69").len(), 1);
    assert!(scratch.seen("f0").is_empty());
}

#[test]
fn hostile_content_is_ignored_and_never_followed() {
    let scratch = scratch();
    scratch.show("a", "one", NOW);
    scratch.show("a", "two", NOW + 1);
    let seen = scratch.path(".relaycode/seen");
    let content = |text: &str| seen.join(Digest::of(text.as_bytes()).to_string());
    let secret = scratch.path("secret");
    fs::write(&secret, "one").unwrap();
    fs::remove_file(content("one")).unwrap();
    symlink(&secret, content("one")).unwrap();
    assert_eq!(scratch.seen("a"), ["two"], "a link");
    fs::write(content("two"), "not two").unwrap();
    assert!(scratch.seen("a").is_empty(), "other bytes");
    fs::remove_file(content("two")).unwrap();
    assert!(scratch.seen("a").is_empty(), "no bytes");
    let sealed = ShownTextEntry { time: NOW, path: "../secret".into(), text: Digest::of(b"one") };
    let json = serde_json::to_string(&sealed).unwrap();
    fs::write(seen.join(LOG), [&append_log::encode_entry(json.as_bytes())[..], b"torn"].concat()).unwrap();
    assert!(scratch.ledger.shown_texts().texts.is_empty());
    scratch.show("a", "three", NOW + 2);
    assert_eq!(scratch.seen("a"), ["three"], "a torn log is mended");
    fs::remove_file(seen.join(LOG)).unwrap();
    symlink(&secret, seen.join(LOG)).unwrap();
    assert!(scratch.seen("a").is_empty());
    scratch.show("a", "four", NOW + 3);
    assert_eq!(scratch.seen("a"), ["four"]);
    assert_eq!(fs::read_to_string(&secret).unwrap(), "one");
    fs::remove_dir_all(&seen).unwrap();
    symlink(scratch.temp.path(), &seen).unwrap();
    assert!(scratch.seen("a").is_empty());
    assert!(scratch.ledger.remember_shown(&[(path("a"), b"five".to_vec())], NOW).is_err());
    scratch.ledger.collect(0, &crate::record::collect::RetentionPolicy::default()).unwrap();
    assert!(secret.exists());
}
