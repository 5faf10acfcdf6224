//! Removes a session with everything that belongs to it: the index, the files beside it, what a repair or a
//! migration kept of it. Blobs stay: others may refer to them, and finding out would mean reading every
//! session.
//!
//! Invariant: nobody writes it meanwhile, and the session itself goes last, so that after a crash the
//! removal can be repeated.

use std::io;
use std::path::Path;

use relaycode_durable::{Fs, FsDir, FsKind, FsStat};

use crate::SessionError;
use crate::file::file_stem;
use crate::file::session_file::lock_session_file;
use crate::session::has_artifacts;

/// Deepest directory beside a session.
const MAX_DEPTH: usize = 16;

/// Removes a session and what belongs to it.
///
/// # Errors
/// [`SessionError::InUse`] if somebody has it open for writing. After any other error the session is still
/// there.
pub fn remove_session(fs: &dyn Fs, path: &Path) -> Result<(), SessionError> {
    remove_session_if(fs, path, &|_| true).map(drop)
}

/// Removes it only if the file is the expected one; returns whether it did.
pub(crate) fn remove_session_if(
    fs: &dyn Fs,
    path: &Path,
    meant: &dyn Fn(&FsStat) -> bool,
) -> Result<bool, SessionError> {
    let shown = path.display().to_string();
    let failed = |doing| SessionError::io(&shown, doing);
    let name = path.file_name().and_then(|name| name.to_str()).ok_or(io::ErrorKind::InvalidInput);
    let name = name.map_err(|kind| failed("remove")(kind.into()))?;
    let above = path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let dir = fs.open_root(above).map_err(failed("open the directory of"))?;
    let _nobody_writes = lock_session_file(fs, &dir, name)?;
    if !meant(&fs.stat(&dir, name).map_err(failed("look at"))?) {
        return Ok(false);
    }
    for (entry, kind) in fs.list(&dir).map_err(failed("list the files of"))? {
        if is_own(name, &entry, kind) {
            remove_entry(fs, &dir, &entry, kind, 0).map_err(failed("remove the files of"))?;
        }
    }
    fs.remove_file(&dir, name).map_err(failed("remove"))?;
    Ok(true)
}

/// Whether a file beside a session belongs to it: only names that this crate gives, nothing that merely
/// begins the same. A session that a person copied somewhere lies among files of theirs.
fn is_own(session: &str, entry: &str, kind: FsKind) -> bool {
    if kind == FsKind::Dir {
        return entry == file_stem(session) && has_artifacts(session);
    }
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let entry = entry.strip_suffix(".part").unwrap_or(entry);
    if let Some(number) = entry.strip_prefix(session).and_then(|rest| rest.strip_prefix(".before-repair-")) {
        return is_number(number);
    }
    let Some(rest) = entry.strip_prefix(file_stem(session)) else { return false };
    // `.v<version>.bak`, `.v<version>.<number>.bak`
    let is_old = |rest: &str| {
        let numbers = rest.strip_prefix(".v").and_then(|rest| rest.strip_suffix(".bak"));
        numbers.is_some_and(|numbers| numbers.split('.').count() <= 2 && numbers.split('.').all(is_number))
    };
    // The half-made files of a crash have names that a person may use, too.
    let is_half = has_artifacts(session) && matches!(rest, ".index-new" | ".rewrite" | ".new");
    matches!(rest, ".index" | ".damaged") || is_half || is_old(rest)
}

fn remove_entry(fs: &dyn Fs, at: &FsDir, name: &str, kind: FsKind, depth: usize) -> io::Result<()> {
    if kind != FsKind::Dir {
        return fs.remove_file(at, name);
    }
    if depth == MAX_DEPTH {
        return Err(io::Error::other("its directories are too deep"));
    }
    let dir = fs.open_dir(at, name)?;
    for (entry, kind) in fs.list(&dir)? {
        remove_entry(fs, &dir, &entry, kind, depth + 1)?;
    }
    fs.remove_dir(at, name)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use relaycode_durable::RealFs;

    use super::*;
    use crate::{OpenMode, Session};

    const HEADER: &str = "{\"type\":\"session\",\"version\":3,\"id\":\"a\",\"cwd\":\"/\"}\n";

    #[test]
    fn all_that_is_its_own_goes_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let name = "2026-02-16T10-20-30-000Z_aa.jsonl";
        let stem = "2026-02-16T10-20-30-000Z_aa";
        fs::create_dir_all(dir.path().join(stem).join("deep/er")).unwrap();
        fs::write(dir.path().join(stem).join("deep/er/file"), "x").unwrap();
        for (file, text) in [
            (name.to_string(), HEADER),
            (format!("{stem}.index"), "x"),
            (format!("{name}.before-repair-1"), "x"),
            (format!("{stem}.v1.bak"), "x"),
            (format!("{stem}.v2.2.bak"), "x"),
            (format!("{stem}.v2.bak.part"), "x"),
            (format!("{stem}.damaged"), "x"),
        ] {
            fs::write(dir.path().join(file), text).unwrap();
        }
        for other in
            [format!("{stem}bb.jsonl"), "blob".to_string(), "2026-02-16T10-20-30-000Z_ab.jsonl".into()]
        {
            fs::write(dir.path().join(other), HEADER).unwrap();
        }
        remove_session(&RealFs::default(), &dir.path().join(name)).unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3);
        assert!(matches!(
            remove_session(&RealFs::default(), &dir.path().join(name)),
            Err(SessionError::Missing { .. })
        ));
    }

    #[test]
    fn files_of_the_user_beside_a_session_stay_whatever_they_are_called() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("talk")).unwrap();
        let others = [
            "talk/notes",
            "talk.new",
            "talk.md",
            "talk.html",
            "talk.old.jsonl",
            "talk.jsonl.gz",
            "talk.v1.txt",
            "talk.va.bak",
        ];
        others.iter().for_each(|other| fs::write(dir.path().join(other), "mine").unwrap());
        fs::write(dir.path().join("talk.jsonl"), HEADER).unwrap();
        fs::write(dir.path().join("talk.index"), "x").unwrap();
        remove_session(&RealFs::default(), &dir.path().join("talk.jsonl")).unwrap();
        assert!(!dir.path().join("talk.jsonl").exists() && !dir.path().join("talk.index").exists());
        for other in others {
            assert!(dir.path().join(other).exists(), "{other}");
        }
    }

    #[test]
    fn one_that_somebody_writes_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("aa.jsonl");
        fs::write(&path, HEADER).unwrap();
        let real: Arc<dyn Fs> = Arc::new(RealFs::default());
        let held =
            Session::open(real.clone(), real.open_root(dir.path()).unwrap(), "aa.jsonl", OpenMode::Write)
                .unwrap();
        assert!(matches!(remove_session(&*real, &path), Err(SessionError::InUse { .. })));
        assert!(path.exists());
        drop(held);
        remove_session(&*real, &path).unwrap();
        assert!(!path.exists());
    }
}
