//! Removes sessions that never got an answer: after a day, a few at a time, when sessions are listed or one
//! begins.
//!
//! Invariant: a session that was answered, is or once was damaged, is younger than a day, or is open
//! somewhere is never removed.

use std::path::PathBuf;

use relaycode_durable::Fs;

use crate::SessionSummary;
use crate::home::remove::remove_session_if;

/// In seconds.
pub const MAX_UNANSWERED_AGE: i64 = 24 * 60 * 60;
/// Most sessions removed at a time.
pub const SWEEP_BATCH: usize = 32;

/// Returns the removed ones. What cannot be removed stays until the next time.
pub fn sweep_unanswered(fs: &dyn Fs, sessions: &[SessionSummary], now: i64) -> Vec<PathBuf> {
    let old = |info: &&SessionSummary| {
        info.answered == Some(false)
            && info.damage.is_none()
            && now.saturating_sub(info.modified_seconds) > MAX_UNANSWERED_AGE
    };
    let mut gone = Vec::new();
    for info in sessions.iter().filter(old).take(SWEEP_BATCH) {
        // Only if it is unchanged: an answer may have come since.
        let same = |stat: &relaycode_durable::FsStat| {
            (stat.len, stat.modified) == (info.size, info.modified_seconds)
        };
        if matches!(remove_session_if(fs, &info.path, &same), Ok(true)) {
            gone.push(info.path.clone());
        }
    }
    gone
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use relaycode_durable::RealFs;

    use super::*;
    use crate::find::list::{ListScope, SessionLister};
    use crate::{HomeLayout, OpenMode, Session};

    #[test]
    fn only_old_sessions_without_an_answer_go() {
        let dir = tempfile::tempdir().unwrap();
        let (real, layout) = (RealFs::default(), HomeLayout::new(dir.path()));
        let put = |id: &str, body: &str| {
            let path = layout.session_path(Path::new("/shop"), "2026-02-16T10:20:30Z".parse().unwrap(), id);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let header =
                format!("{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"cwd\":\"/shop\"}}\n");
            fs::write(&path, header + body).unwrap();
            path
        };
        let asked = "{\"type\":\"message\",\"id\":\"a\",\"parentId\":null,\"message\":{\"role\":\"user\",\"content\":\"x\"}}\n";
        let answer = "{\"type\":\"message\",\"id\":\"b\",\"parentId\":\"a\",\"message\":{\"role\":\"assistant\",\"content\":[]}}\n";
        let failed = "{\"type\":\"message\",\"id\":\"b\",\"parentId\":\"a\",\"message\":{\"role\":\"assistant\",\"content\":[],\"stopReason\":\"error\"}}\n";
        let gone = [put("aa", asked), put("bb", &format!("{asked}{failed}"))];
        let stays = [
            put("cc", &format!("{asked}{answer}")),
            put("dd", &format!("{asked}{{\"ty")),
            put("ee", asked),
            put("ff", asked),
        ];
        let listed = SessionLister::new(&real, &layout).list(ListScope::All, true).unwrap().sessions;
        let now = listed.iter().map(|info| info.modified_seconds).max().unwrap();
        assert_eq!(sweep_unanswered(&real, &listed, now + MAX_UNANSWERED_AGE), Vec::<PathBuf>::new());
        // One is open, and one continued since it was listed.
        let fs_again: std::sync::Arc<dyn Fs> = std::sync::Arc::new(real);
        let project = real.open_root(&layout.project_dir(Path::new("/shop"))).unwrap();
        let name = stays[2].file_name().unwrap().to_str().unwrap();
        let _held = Session::open(fs_again, project, name, OpenMode::Write).unwrap();
        fs::write(&stays[3], fs::read_to_string(&stays[3]).unwrap() + answer).unwrap();
        assert_eq!(sweep_unanswered(&real, &listed, now + MAX_UNANSWERED_AGE + 1).len(), 2);
        assert!(gone.iter().all(|path| !path.exists()) && stays.iter().all(|path| path.exists()));
    }
}
