//! P8: what is shown, approved, applied and recorded is one thing, and has one digest. Whatever changes
//! between the question and the yes is not part of that yes: it is asked about again.
//!
//! `RELAY_CHANGES=1000 cargo test -p relaycode-door --test it changed_meanwhile` runs as many of each as the promise says.
//! A failure names its seed and number.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::sync::Arc;

use relaycode_change::plan::Plan;
use relaycode_change::proposal::Proposal;
use relaycode_change::proposal::limits::PlanLimits;
use relaycode_change::response;
use relaycode_door::{
    ApprovalQuestion, ApprovalReply, Approver, Consent, Door, DoorError, DoorEvent, Submission,
    SubmissionOrigin, SubmitOutcome, plan_digest,
};
use relaycode_durable::RealFs;
use relaycode_exec::Runner;
use relaycode_ledger::{Digest, Ledger, LedgerSettings};
use relaycode_project::config;
use relaycode_testkit::directory_tree::read_tree;
use relaycode_testkit::random::Random;

const SEED: u64 = 1;

/// How many of each kind; the environment may ask for more.
fn count() -> u64 {
    std::env::var("RELAY_CHANGES").ok().and_then(|text| text.parse().ok()).unwrap_or(150)
}

/// A project and an answer for it.
struct Scene {
    place: tempfile::TempDir,
    proposal: Proposal,
    text: String,
    /// Files that the answer changes, deletes or moves.
    there: Vec<String>,
    /// Names that it needs to be free.
    free: Vec<String>,
}

impl Scene {
    fn new(random: &mut Random) -> Scene {
        let place = tempfile::tempdir().unwrap();
        let (mut there, mut free, mut text) = (Vec::new(), Vec::new(), String::new());
        let folders = ["", "src/", "src/deep/", "lib/"];
        for number in 0..=random.below(6) {
            let path = format!("{}f{number}.txt", random.pick(&folders));
            let file = place.path().join(&path);
            match random.below(4) {
                0 => {
                    free.push(format!("{}new{number}/c.txt", random.pick(&folders)));
                    text +=
                        &format!("```txt // {}\nfresh {}\n```\n\n", free[free.len() - 1], random.number());
                    continue;
                }
                1 => text += &format!("```txt // {path}\n//TODO: delete this file\n```\n\n"),
                2 => {
                    free.push(format!("{}to{number}.txt", random.pick(&folders)));
                    let to = &free[free.len() - 1];
                    let pair = format!("{{\"from\": \"{path}\", \"to\": \"{to}\"}}");
                    text += &format!("```json // rename-file\n{pair}\n```\n\n");
                }
                _ => text += &format!("```txt // {path}\nchanged {}\n```\n\n", random.number()),
            }
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, format!("before {}\nmore\n", random.number())).unwrap();
            there.push(path);
        }
        fs::write(place.path().join("bystander.txt"), "mine\n").unwrap();
        text += &format!("```yaml\nprojectId: app\nuuid: {}\n```\n", uuid(random));
        let answers = response::read_all(&text, &PlanLimits::default()).unwrap();
        let proposal = answers.into_iter().next().unwrap().proposal;
        Scene { place, proposal, text, there, free }
    }

    fn root(&self) -> PathBuf {
        self.place.path().canonicalize().unwrap()
    }

    fn door(&self) -> Door {
        let root = self.root();
        let ledger = Ledger::open(Arc::new(RealFs::default()), &root, LedgerSettings::default()).unwrap();
        let loaded = config::load(&root, None).unwrap();
        Door::new(root, ledger, loaded, None, Runner::new("/no/keeper".into()))
    }

    fn submission(&self) -> Submission<'_> {
        Submission {
            proposal: &self.proposal,
            answer: Digest::of(self.text.as_bytes()),
            origin: SubmissionOrigin::File,
            author: None,
            consent: Consent::default(),
            limits: PlanLimits::default(),
            syntax: false,
            group: None,
            now: "2026-01-01T00:00:00Z".to_string(),
        }
    }

    /// Changes something that the plan rests on; says what.
    fn disturb(&self, random: &mut Random) -> String {
        let root = self.root();
        loop {
            let target = |list: &[String], random: &mut Random| -> Option<PathBuf> {
                (!list.is_empty()).then(|| root.join(random.pick(list)))
            };
            let kind = random.below(12);
            let file = if kind < 8 { target(&self.there, random) } else { target(&self.free, random) };
            let Some(file) = file else { continue };
            let parent = file.parent().unwrap().to_path_buf();
            match kind {
                0 | 1 => {
                    let mut bytes = fs::read(&file).unwrap();
                    let at = random.below(bytes.len());
                    bytes[at] ^= 1;
                    fs::write(&file, bytes).unwrap();
                }
                2 => {
                    let longer = fs::read_to_string(&file).unwrap() + "a line of somebody else\n";
                    fs::write(&file, longer).unwrap();
                }
                3 => fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap(),
                4 => fs::remove_file(&file).unwrap(),
                // The same bytes, behind a link.
                5 => {
                    fs::rename(&file, root.join("elsewhere.txt")).unwrap();
                    symlink(root.join("elsewhere.txt"), &file).unwrap();
                }
                6 => {
                    fs::remove_file(&file).unwrap();
                    fs::create_dir(&file).unwrap();
                }
                // The same tree, behind a link.
                7 => {
                    if parent == root {
                        continue;
                    }
                    fs::rename(&parent, root.join("moved")).unwrap();
                    symlink(root.join("moved"), &parent).unwrap();
                }
                8 | 9 => {
                    fs::create_dir_all(&parent).unwrap();
                    fs::write(&file, "somebody was here first\n").unwrap();
                }
                10 => {
                    fs::create_dir_all(&parent).unwrap();
                    symlink("/nowhere/at/all", &file).unwrap();
                }
                _ => {
                    if parent == root || parent.exists() {
                        continue;
                    }
                    let above = parent.parent().unwrap();
                    fs::create_dir_all(above).unwrap();
                    fs::create_dir(root.join("other")).unwrap();
                    symlink(root.join("other"), &parent).unwrap();
                }
            }
            return format!("{kind} on {}", file.strip_prefix(&root).unwrap().display());
        }
    }
}

fn uuid(random: &mut Random) -> String {
    let number = random.number();
    format!("{:08x}-{:04x}-4abc-8abc-{:012x}", number >> 32, number & 0xffff, random.number() >> 16)
}

/// Says yes to the first plan, after something happened; and no to everything else.
struct Slow<'a> {
    meanwhile: Option<Box<dyn FnOnce() + 'a>>,
    yes: fn(&ApprovalQuestion<'_>) -> ApprovalReply,
    digests: Vec<Digest>,
    plans: Vec<Plan>,
}

impl<'a> Slow<'a> {
    fn new(meanwhile: impl FnOnce() + 'a, yes: fn(&ApprovalQuestion<'_>) -> ApprovalReply) -> Slow<'a> {
        Slow { meanwhile: Some(Box::new(meanwhile)), yes, digests: Vec::new(), plans: Vec::new() }
    }
}

impl Approver for Slow<'_> {
    fn name(&self) -> &'static str {
        "test"
    }

    fn decide(&mut self, question: &ApprovalQuestion<'_>) -> ApprovalReply {
        let ApprovalQuestion::Apply { plan, digest, .. } = question else {
            return ApprovalReply::No { reason: None };
        };
        self.digests.push(*digest);
        self.plans.push((*plan).clone());
        match self.meanwhile.take() {
            Some(meanwhile) => {
                meanwhile();
                (self.yes)(question)
            }
            None => ApprovalReply::No { reason: None },
        }
    }

    fn on_event(&mut self, _: &DoorEvent<'_>) {}

    fn stop_requested(&self) -> bool {
        false
    }
}

#[test]
fn p8_what_changes_between_the_question_and_the_yes_is_not_applied() {
    for number in 0..count() {
        let mut random = Random::of_case(SEED, number);
        let scene = Scene::new(&mut random);
        let (door, root) = (scene.door(), scene.root());
        let mut left = BTreeMap::new();
        let mut what = String::new();
        let mut approver = Slow::new(
            || {
                what = scene.disturb(&mut random);
                left = read_tree(&root, &[".relaycode"]);
            },
            |question| question.yes(),
        );
        let outcome = door.submit(&scene.submission(), &mut approver);
        let asked = approver.digests.len();
        drop(approver);
        let told = format!("case {SEED}.{number}, {what}, asked {asked} times");
        match outcome {
            Ok(SubmitOutcome::Declined { put_back: false, .. }) => assert_eq!(asked, 2, "{told}"),
            // What is there now does not fit any more, or is what the answer wants.
            Ok(SubmitOutcome::Refused(_) | SubmitOutcome::AlreadyIn { .. }) => {}
            other => panic!("{told}: {other:?}"),
        }
        assert_eq!(read_tree(&root, &[".relaycode"]), left, "{told}: the tree is not as it was left");
        assert_eq!(door.ledger.log_page(0, 1).unwrap().total, 0, "{told}: there is a record");
    }
}

#[test]
fn p8_a_yes_to_something_else_is_none() {
    for number in 0..count().min(200) {
        let mut random = Random::of_case(SEED, number);
        let scene = Scene::new(&mut random);
        let (door, before) = (scene.door(), read_tree(&scene.root(), &[".relaycode"]));
        let mut approver = Slow::new(|| {}, |_| ApprovalReply::Yes { digest: Digest::of(b"something else") });
        let outcome = door.submit(&scene.submission(), &mut approver);
        assert!(matches!(outcome, Err(DoorError::OtherDigest { .. })), "{outcome:?}");
        assert_eq!(read_tree(&scene.root(), &[".relaycode"]), before);
    }
}

#[test]
fn p8_what_is_shown_approved_applied_and_recorded_has_one_digest() {
    for number in 0..count() {
        let mut random = Random::of_case(SEED + 1, number);
        let scene = Scene::new(&mut random);
        let door = scene.door();
        let submission = scene.submission();
        let previewed = door.preview(&submission, &door.tree(&submission.limits)).unwrap();
        let mut approver = Slow::new(|| {}, |question| question.yes());
        let outcome = door.submit(&submission, &mut approver).unwrap();
        let SubmitOutcome::Applied(applied) = outcome else { panic!("{outcome:?}") };
        let told = format!("case {}.{number}", SEED + 1);
        assert_eq!(approver.digests, [applied.digest], "{told}");
        assert_eq!(plan_digest(&approver.plans[0]), applied.digest, "{told}");
        assert_eq!(previewed.digest, applied.digest, "{told}");
        assert_eq!(applied.record.plan, Some(applied.digest), "{told}");
        let read = door.ledger.record(applied.record.uuid).unwrap();
        assert_eq!(read.plan, Some(applied.digest), "{told}");
        // And it is what stands on disk.
        for file in &applied.plan.files {
            let there = fs::read(scene.root().join(file.path.as_str())).ok();
            assert_eq!(there, file.after, "{told}");
        }
    }
}
