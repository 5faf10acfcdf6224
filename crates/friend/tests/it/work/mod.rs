//! A friend that works: the copy it gets, what becomes of what it does there, and what never reaches the
//! project. The friend is a function here; everything else is real.

mod fence;
mod patch_answer;
mod progress;
mod properties;
mod scratch_copy;
mod submit;

use relaycode_friend::FriendTurn;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use relaycode_change::proposal::limits::PlanLimits;
use relaycode_change::proposal::path::RelPath;
use relaycode_door::{
    ApprovalQuestion, ApprovalReply, Approver, Consent, Digest, Door, DoorEvent, Submission,
    SubmissionOrigin, SubmitOutcome,
};
use relaycode_durable::RealFs;
use relaycode_friend::friend::{Friend, FriendAbilities, FriendProbeReport, FriendSandbox, SessionSupport};
use relaycode_friend::work::scratch::{ScratchCaps, ScratchCopy, ScratchError, ScratchOptions};
use relaycode_friend::work::{WorkError, WorkOptions, WorkOutcome, work};
use relaycode_friend::{AskRequest, FriendAnswer, FriendContext, FriendFailure, TurnLimits};
use relaycode_ledger::transaction::CommitVerdict;
use relaycode_ledger::{Ledger, LedgerSettings, RevertOptions, TransactionHeader, TxId};
use relaycode_project::access::Access;
use relaycode_project::config;
use relaycode_project::git::Git;
use relaycode_testkit::git::git;

use crate::keeper_fixture;

pub(super) const NOW: &str = "2026-01-01T00:00:00Z";

/// A project and a directory of the user's.
pub(super) struct Scene {
    place: tempfile::TempDir,
}

impl Scene {
    /// A repository with one commit of `a.txt` and `src/b.rs`.
    pub(super) fn new() -> Scene {
        let scene = Scene::bare();
        scene.git(&["init", "-q", "-b", "main"]);
        scene.write("a.txt", "one\ntwo\nthree\nfour\nfive\n");
        scene.write("src/b.rs", "fn main() {}\n");
        scene.write(".gitignore", "/target/\n*.log\n");
        scene.git(&["add", "."]);
        scene.git(&["commit", "-q", "-m", "first"]);
        scene
    }

    /// A directory without a repository.
    pub(super) fn bare() -> Scene {
        let scene = Scene { place: tempfile::tempdir().unwrap() };
        fs::create_dir(scene.root()).unwrap();
        scene
    }

    pub(super) fn root(&self) -> PathBuf {
        self.place.path().canonicalize().unwrap().join("app")
    }

    pub(super) fn home(&self) -> PathBuf {
        self.place.path().canonicalize().unwrap().join("home")
    }

    pub(super) fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        write(&self.root().join(path), bytes);
    }

    pub(super) fn read(&self, path: &str) -> Option<Vec<u8>> {
        fs::read(self.root().join(path)).ok()
    }

    pub(super) fn git(&self, words: &[&str]) -> String {
        git(&self.root(), words)
    }

    pub(super) fn door(&self) -> Door {
        self.door_at(&self.root())
    }

    pub(super) fn door_at(&self, root: &Path) -> Door {
        let settings = LedgerSettings { home: Some(self.home()), ..LedgerSettings::default() };
        let ledger = Ledger::open(Arc::new(RealFs::default()), root, settings).unwrap();
        let loaded = config::load(root, Some(&self.home())).unwrap();
        Door::new(root.to_path_buf(), ledger, loaded, Some(self.home()), keeper_fixture::runner())
    }

    pub(super) fn scratch(&self) -> Result<ScratchCopy, ScratchError> {
        self.scratch_of(&self.root(), ScratchCaps::default())
    }

    pub(super) fn scratch_of(&self, root: &Path, caps: ScratchCaps) -> Result<ScratchCopy, ScratchError> {
        let runner = keeper_fixture::runner();
        let git = Git::new(&runner, root);
        ScratchCopy::create(
            &ScratchOptions { root, git: &git, home: &self.home(), caps, stop: &|| false },
            &mut |_| {},
        )
    }

    /// What a friend that does `deeds` to its copy amounts to.
    pub(super) fn work(&self, deeds: impl Fn(&Path) + Sync) -> Result<WorkOutcome, WorkError> {
        self.work_at(&self.root(), deeds)
    }

    pub(super) fn work_at(
        &self,
        root: &Path,
        deeds: impl Fn(&Path) + Sync,
    ) -> Result<WorkOutcome, WorkError> {
        let friend = Hands { deeds: &deeds, fails: false };
        self.ask(&friend, root, &working("make it better\nreally"))
    }

    pub(super) fn ask(
        &self,
        friend: &dyn Friend,
        root: &Path,
        request: &AskRequest,
    ) -> Result<WorkOutcome, WorkError> {
        self.ask_about(friend, root, request, &[])
    }

    pub(super) fn ask_about(
        &self,
        friend: &dyn Friend,
        root: &Path,
        request: &AskRequest,
        files: &[RelPath],
    ) -> Result<WorkOutcome, WorkError> {
        let world = FriendContext {
            runner: keeper_fixture::runner(),
            home: Some(self.home()),
            env_var: &|_| None,
            stop_requested: &|| false,
            depth: 0,
        };
        self.ask_in(&world, friend, root, request, files)
    }

    pub(super) fn ask_in(
        &self,
        world: &FriendContext<'_>,
        friend: &dyn Friend,
        root: &Path,
        request: &AskRequest,
        files: &[RelPath],
    ) -> Result<WorkOutcome, WorkError> {
        let options = WorkOptions { files: files.to_vec(), limits: PlanLimits::default() };
        let request = AskRequest { directory: root.to_path_buf(), ..request.clone() };
        work(friend, &request, &options, &self.door_at(root), world, &mut |_| {})
    }

    /// Takes the work through the door.
    pub(super) fn submit(&self, worked: &WorkOutcome, allow: &[&'static str]) -> SubmitOutcome {
        self.submit_at(&self.root(), worked, allow)
    }

    pub(super) fn submit_at(
        &self,
        root: &Path,
        worked: &WorkOutcome,
        allow: &[&'static str],
    ) -> SubmitOutcome {
        let consent = Consent { yes: true, allow: allow.to_vec() };
        let limits = PlanLimits { files: 20_000, file_bytes: 8 << 20, ..PlanLimits::default() };
        let submission = Submission { consent, limits, ..submission(worked) };
        self.door_at(root).submit(&submission, &mut Nobody).unwrap()
    }

    /// Takes the newest change back.
    pub(super) fn revert(&self) {
        let ledger = self.door().ledger;
        let reversal =
            ledger.plan_revert(&ledger.find_target("1").unwrap(), &RevertOptions::default()).unwrap();
        let about = TransactionHeader {
            revert_of: reversal.reverts,
            directories_to_remove: reversal.made_directories_to_remove,
            ..TransactionHeader::new(TxId::random(), "app", NOW, "revert")
        };
        let open = ledger.begin(&reversal.changes, about, &|| false).unwrap();
        open.commit(CommitVerdict::default()).unwrap();
    }
}

pub(super) fn working(prompt: &str) -> AskRequest {
    let limits = TurnLimits::new(Duration::from_secs(60), Duration::from_secs(60));
    let request = AskRequest::new(prompt, PathBuf::new(), limits);
    AskRequest { access: Access::Workspace, check_tree: true, ..request }
}

/// What goes through the door, with nothing said beforehand.
pub(super) fn submission(worked: &WorkOutcome) -> Submission<'_> {
    Submission {
        proposal: worked.proposal.as_ref().unwrap(),
        answer: Digest::of(worked.answer.text.as_bytes()),
        origin: SubmissionOrigin::Friend,
        author: Some(worked.friend.clone()),
        consent: Consent::default(),
        limits: PlanLimits::default(),
        syntax: true,
        group: None,
        now: NOW.to_string(),
    }
}

pub(super) fn write(path: &Path, bytes: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

pub(super) fn run_bit(path: &Path, runs: bool) {
    let mode = if runs { 0o755 } else { 0o644 };
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Bytes, and whether they can be run, by path.
pub(super) type Tree = BTreeMap<String, (Vec<u8>, bool)>;

/// Every ordinary file beneath a directory, with its bytes and whether it can be run; no repositories.
pub(super) fn files(root: &Path) -> Tree {
    let mut found = BTreeMap::new();
    let mut waiting = vec![root.to_path_buf()];
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(&directory).unwrap().map(Result::unwrap) {
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_string();
            if matches!(entry.file_name().to_str(), Some(".git" | ".relaycode")) {
                continue;
            }
            if kind.is_dir() {
                waiting.push(path);
            } else if kind.is_file() {
                let runs = entry.metadata().unwrap().permissions().mode() & 0o100 != 0;
                found.insert(name, (fs::read(&path).unwrap(), runs));
            }
        }
    }
    found
}

/// Everything beneath a directory, repositories included: bytes, links, modes and, if wanted, when it was written.
pub(super) fn everything(root: &Path, times: bool) -> Vec<String> {
    let mut found = Vec::new();
    let mut waiting = vec![root.to_path_buf()];
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(&directory).unwrap().map(Result::unwrap) {
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            if kind.is_dir() {
                waiting.push(path.clone());
            }
            let content = if kind.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
            let stat = fs::symlink_metadata(&path).unwrap();
            let time = times.then(|| stat.modified().unwrap());
            let content = relaycode_ledger::Digest::of(&content);
            found.push(format!("{} {:o} {time:?} {content}", path.display(), stat.permissions().mode()));
        }
    }
    found.sort();
    found
}

/// A friend with hands: a function that is given its copy.
pub(super) struct Hands<'a> {
    pub(super) deeds: &'a (dyn Fn(&Path) + Sync),
    pub(super) fails: bool,
}

const HANDS: FriendAbilities = FriendAbilities {
    reads_files: true,
    writes_files: true,
    streams: false,
    review: false,
    sessions: SessionSupport::Replayed,
    schema: false,
    sandbox: FriendSandbox::Own,
    access: &[Access::Workspace],
};

impl Friend for Hands<'_> {
    fn name(&self) -> &str {
        "codex"
    }

    fn abilities(&self) -> FriendAbilities {
        HANDS
    }

    fn probe(&self, _: &FriendContext<'_>) -> FriendProbeReport {
        FriendProbeReport::default()
    }

    fn run_prompt(&self, _: &str, turn: &mut FriendTurn<'_>) -> Result<FriendAnswer, FriendFailure> {
        (self.deeds)(&turn.request.directory);
        if self.fails {
            let friend = "codex".to_string();
            return Err(FriendFailure::Failed { friend, said: "no more tokens".to_string() });
        }
        let text = format!("I changed {}/a.txt.", turn.request.directory.display());
        Ok(FriendAnswer { text, transport: "test", ..FriendAnswer::default() })
    }
}

/// A friend without hands: an answer, and what it was asked.
pub(super) struct Voice {
    pub(super) answer: String,
    pub(super) heard: Mutex<Vec<String>>,
}

impl Friend for Voice {
    fn name(&self) -> &str {
        "ollama"
    }

    fn abilities(&self) -> FriendAbilities {
        FriendAbilities { reads_files: false, writes_files: false, access: &[Access::ReadOnly], ..HANDS }
    }

    fn probe(&self, _: &FriendContext<'_>) -> FriendProbeReport {
        FriendProbeReport::default()
    }

    fn run_prompt(&self, prompt: &str, turn: &mut FriendTurn<'_>) -> Result<FriendAnswer, FriendFailure> {
        assert_eq!(turn.request.access, Access::ReadOnly);
        self.heard.lock().unwrap().push(prompt.to_string());
        Ok(FriendAnswer { text: self.answer.clone(), transport: "test", ..FriendAnswer::default() })
    }
}

/// Nobody to ask.
pub(super) struct Nobody;

impl Approver for Nobody {
    fn name(&self) -> &'static str {
        "nobody"
    }

    fn decide(&mut self, _: &ApprovalQuestion<'_>) -> ApprovalReply {
        ApprovalReply::Unavailable
    }

    fn on_event(&mut self, _: &DoorEvent<'_>) {}

    fn stop_requested(&self) -> bool {
        false
    }
}

pub(super) fn path(text: &str) -> RelPath {
    RelPath::parse(text).unwrap()
}

pub(super) fn applied(outcome: SubmitOutcome) -> relaycode_door::AppliedChange {
    match outcome {
        SubmitOutcome::Applied(applied) => *applied,
        other => panic!("{other:?}"),
    }
}
