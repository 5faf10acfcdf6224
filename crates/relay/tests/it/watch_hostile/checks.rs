//! What a hostile text left behind: on the terminal, in the ledger, on the disk, in memory.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use relaycode_testkit::hostile_text;
use rustix::process::Pid;

use crate::fixture::keyed_project::Scene;

/// The first thing in what was sent to a terminal that it would obey or hide, and that is none of relay's own.
pub(super) fn unsafe_in(sent: &str) -> Option<String> {
    /// Where the live line was erased; nothing else may look like it.
    const ERASED: &str = "\x02";
    if sent.contains(ERASED) {
        return Some(format!("{ERASED:?}"));
    }
    // The terminal makes a return and a line feed of each line feed. Requests to mark what is pasted are relay's.
    let mut text = sent.replace("\r\n", "\n").replace("\x1b[?2004h", "").replace("\x1b[?2004l", "");
    while let Some(at) = text.find("\x1b]777;notify;relay: ") {
        let Some(end) = text[at..].find('\x07').map(|end| at + end) else { break };
        if let Some(c) = hostile_text::find_unsafe_char(&text[at + 2..end], false) {
            return Some(format!("{c:?} in a notice"));
        }
        text.replace_range(at..=end, "");
    }
    // The live line rests at its beginning until it is erased.
    let text = text.replace("\r\x1b[J", ERASED).replace(&format!("\r{ERASED}"), ERASED);
    let text = text.strip_suffix('\r').unwrap_or(&text).replace(ERASED, "");
    hostile_text::find_unsafe_char(&text, true).map(|c| format!("{c:?}"))
}

/// Every file of relay's own in the checkout, and in the user's directory.
pub(super) fn ledger(scene: &Scene) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for top in [scene.project.path(".relaycode"), scene.project.home().to_path_buf()] {
        for path in files(&top, usize::MAX) {
            let bytes = fs::read(&path).unwrap_or_default();
            found.insert(path, bytes);
        }
    }
    found
}

/// The marker is in no file of the project, of relay's, or of those that anybody made in the temporary directory
/// since the session began.
pub(super) fn nothing_stored(scene: &Scene, marker: &str, began: SystemTime, name: &str) {
    /// How deep others' folders are searched, and how large their files may be.
    const DEPTH: usize = 3;
    const LARGEST: u64 = 8 << 20;
    let holds = |path: &Path| {
        let bytes = fs::read(path).unwrap_or_default();
        bytes.windows(marker.len()).any(|window| window == marker.as_bytes())
    };
    for top in [scene.project.path(""), scene.project.home().to_path_buf()] {
        for path in files(&top, usize::MAX) {
            assert!(!holds(&path), "{name}: {} holds it", path.display());
        }
    }
    let fresh = |path: &Path| {
        fs::symlink_metadata(path).is_ok_and(|stat| {
            stat.is_file() && stat.len() <= LARGEST && stat.modified().is_ok_and(|when| when >= began)
        })
    };
    for path in files(&std::env::temp_dir(), DEPTH) {
        // wl-copy keeps what it is to hand out in a file: that is the clipboard itself.
        let clipboard =
            path.components().any(|part| part.as_os_str().to_string_lossy().starts_with("wl-copy-"));
        assert!(clipboard || !fresh(&path) || !holds(&path), "{name}: {} holds it", path.display());
    }
}

fn files(top: &Path, depth: usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(top) else { return found };
    for path in entries.flatten().map(|entry| entry.path()) {
        match fs::symlink_metadata(&path) {
            Ok(stat) if stat.is_dir() && depth > 1 => found.extend(files(&path, depth - 1)),
            Ok(stat) if stat.is_file() => found.push(path),
            _ => {}
        }
    }
    found
}

/// The most memory that the process ever had, in bytes.
pub(super) fn peak(pid: Pid) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", pid.as_raw_nonzero())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

#[test]
fn the_judge_knows_relays_own_from_what_only_looks_like_it() {
    let own = "\r\x1b[J\x1b[2mwatching the clipboard (X11) · ? keys\x1b[0m\r\x1b]777;notify;relay: shop: apply?;a.txt\x07\r\x1b[Jx\r\n";
    assert_eq!(unsafe_in(own), None);
    for forged in
        ["a\rb", "\x1b[2J", "\x1b]52;c;aGk=\x07", "\x1b]777;notify;relay: \x1b[2J;\x07", "\x07", "\x1b[201~"]
    {
        assert!(unsafe_in(forged).is_some(), "{forged:?}");
    }
}
