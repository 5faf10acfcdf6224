//! Where sessions are kept. Reading takes no lock: a file is replaced whole. Writing does, and adds to what is there then.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use FriendSessionFile::{Corrupt, Missing, Valid};
use relaycode_durable::private_files::{PrivateFileError, PrivateFolder};
use relaycode_durable::{Fs, FsDir, FsKind, FsLock, RealFs, RenameMode, atomic};
use relaycode_text::width::clip_for_message;

use super::file::{BROKEN, FILE_BYTES, SUFFIX};
use super::{
    FriendSession, FriendSessionError, FriendSessionState, FriendSessionUpdate, SESSIONS, TRANSCRIPT_BYTES,
    file, is_session_name,
};
use crate::{PromptExchange, SessionSupport};

const FOLDER: &str = "friends/sessions";
const LOCK: &str = ".lock";
/// What is being written. Whoever has the lock may remove what another left.
const TEMP_FILE: &str = ".new";
/// Files kept aside that could not be read.
const BROKEN_MOST: usize = 10;
/// How long the lock is waited for; nobody holds it for longer than it takes to write one file.
const PATIENCE: Duration = Duration::from_secs(10);
const TICK: Duration = Duration::from_millis(5);
/// Cells of a foreign name in a message.
const SHOWN: usize = 80;

#[derive(Debug, Clone)]
pub struct FriendSessionStore {
    folder: PrivateFolder,
}

#[derive(Debug, Default)]
pub struct FriendSessionLookup {
    /// The session; `None`: it begins now.
    pub session: Option<FriendSession>,
    pub remarks: Vec<String>,
}

#[derive(Debug, Default)]
pub struct FriendSessionList {
    /// Those used last come first.
    pub sessions: Vec<FriendSession>,
    pub remarks: Vec<String>,
}

impl FriendSessionStore {
    /// The sessions in this directory of the user's own; `None`: there is none, and none can be kept.
    pub fn open(home: Option<&Path>) -> FriendSessionStore {
        FriendSessionStore { folder: PrivateFolder::new(home, FOLDER, FILE_BYTES).into_secret() }
    }

    /// The session of this name, to be gone on with by `friend` in `project`. One that cannot be read is kept aside, and
    /// said.
    ///
    /// # Errors
    /// If it is with another friend, if the name is none, or the files are not the user's own.
    pub fn find(
        &self,
        name: &str,
        friend: &str,
        project: &Path,
    ) -> Result<FriendSessionLookup, FriendSessionError> {
        check_name(name)?;
        let file = self.file_of(name, project)?;
        let mut found = FriendSessionLookup::default();
        match self.read(&file)? {
            Missing => {}
            Valid(session) => {
                check_friend(&session, friend)?;
                found.session = Some(session);
            }
            Corrupt => found.remarks.extend(self.quarantine(&file)?.map(|to| quarantine_remark(name, &to))),
        }
        Ok(found)
    }

    /// Adds a good answer to its session, which begins with it if there is none. What is there by now stays, also if it came
    /// from another relay meanwhile. Gives back what a person should know.
    ///
    /// # Errors
    /// Like [`FriendSessionStore::find`]; [`FriendSessionError::Busy`] if nobody else may write for too long.
    pub fn save(&self, said: &FriendSessionUpdate<'_>) -> Result<Vec<String>, FriendSessionError> {
        check_name(said.name)?;
        let mut remarks = Vec::new();
        if said.friend.abilities().sessions == SessionSupport::Own && said.answer.session.is_none() {
            let (friend, name) = (said.friend.name(), said.name);
            let remark = format!("{friend} gave no id for the session {name}: this turn was not remembered");
            return Ok(vec![remark]);
        }
        let locked = self.lock()?;
        let file = self.file_of(said.name, said.project)?;
        let mut session = None;
        match self.read(&file)? {
            Valid(found) => {
                check_friend(&found, said.friend.name())?;
                session = Some(found);
            }
            Missing => {}
            Corrupt => remarks.push(quarantine_remark(said.name, &locked.quarantine(&file)?)),
        }
        let session = with_update(session, said, &mut remarks);
        locked.write(&file, &file::to_json(&session))?;
        let gone = locked.prune(SUFFIX, SESSIONS, &file)?;
        locked.prune(BROKEN, BROKEN_MOST, "")?;
        if let [first, ..] = gone.as_slice() {
            let (first, more) = (file::name_in_file(first), gone.len() - 1);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            remarks.push(format!(
                "more than {SESSIONS} sessions are not kept: {first}{more} went, unused for longest"
            ));
        }
        Ok(remarks)
    }

    /// All sessions. Those that cannot be read are named, and left where they are.
    ///
    /// # Errors
    /// If the folder is not the user's own or cannot be read.
    pub fn list(&self) -> Result<FriendSessionList, FriendSessionError> {
        let mut listed = FriendSessionList::default();
        let files = match self.folder.list() {
            Err(PrivateFileError::NoHome) => return Ok(listed),
            files => files?,
        };
        for file in files.iter().filter(|file| file.ends_with(SUFFIX)) {
            match self.read(file) {
                Ok(Valid(session)) => listed.sessions.push(session),
                Ok(Missing) => {}
                Ok(Corrupt) => {
                    let name = clip_for_message(file::name_in_file(file), SHOWN);
                    listed.remarks.push(format!(
                        "the session {name} cannot be read; `relay friends forget {name}` removes it"
                    ));
                }
                Err(error) => listed.remarks.push(error.to_string()),
            }
        }
        listed.sessions.sort_by(|a, b| b.used.cmp(&a.used).then_with(|| a.name.cmp(&b.name)));
        Ok(listed)
    }

    /// Forgets the session of this name in `project`, or the only one of this name elsewhere; says whether there was one. What
    /// the friend itself keeps is not touched.
    ///
    /// # Errors
    /// If the name is none, several other projects have such a session, or the file cannot be removed.
    pub fn forget(&self, name: &str, project: &Path) -> Result<bool, FriendSessionError> {
        check_name(name)?;
        if matches!(self.folder.list(), Ok(files) if files.is_empty()) {
            return Ok(false);
        }
        let _locked = self.lock()?;
        let own = self.file_of(name, project)?;
        if self.folder.remove(&own)? {
            return Ok(true);
        }
        let same =
            |file: &&String| file.ends_with(SUFFIX) && file::name_in_file(file).eq_ignore_ascii_case(name);
        let files = self.folder.list()?;
        match files.iter().filter(same).collect::<Vec<_>>().as_slice() {
            [] => Ok(false),
            [one] => Ok(self.folder.remove(one)?),
            several => {
                let project = |file: &&String| match self.read(file) {
                    Ok(Valid(session)) => Some(session.project),
                    _ => None,
                };
                let projects = several.iter().filter_map(project).collect();
                Err(FriendSessionError::OtherProjects { name: name.to_string(), projects })
            }
        }
    }

    /// The file of a session in a project. The first project that uses a name has the plain one.
    fn file_of(&self, name: &str, project: &Path) -> Result<String, FriendSessionError> {
        let (plain, own) = (file::file_name(name), file::project_file_name(name, project));
        if !matches!(self.read(&own)?, Missing) {
            return Ok(own);
        }
        match self.read(&plain)? {
            Valid(session) if session.project != project => Ok(own),
            _ => Ok(plain),
        }
    }

    fn read(&self, file: &str) -> Result<FriendSessionFile, FriendSessionError> {
        match self.folder.read(file) {
            Ok(None) | Err(PrivateFileError::NoHome) => Ok(Missing),
            Ok(Some(bytes)) => Ok(file::from_json(file, &bytes).map_or(Corrupt, Valid)),
            // Nobody wrote such a file.
            Err(PrivateFileError::TooLarge { .. } | PrivateFileError::NotAFile(_)) => Ok(Corrupt),
            Err(error) => Err(error.into()),
        }
    }

    /// Keeps a file aside, unless it can be read by now: another relay may have been quicker.
    fn quarantine(&self, file: &str) -> Result<Option<PathBuf>, FriendSessionError> {
        let locked = self.lock()?;
        match self.read(file)? {
            Corrupt => locked.quarantine(file).map(Some),
            Missing | Valid(_) => Ok(None),
        }
    }

    fn lock(&self) -> Result<FriendStoreLock<'_>, FriendSessionError> {
        let fs = RealFs::default();
        let dir = self.folder.open_or_make()?;
        let began = Instant::now();
        let lock = loop {
            let taken = fs.try_lock(&dir, LOCK).map_err(|source| self.system_error(LOCK, source))?;
            if let Some(lock) = taken {
                break lock;
            }
            if began.elapsed() > PATIENCE {
                return Err(FriendSessionError::Busy(PATIENCE.as_secs()));
            }
            std::thread::sleep(TICK);
        };
        Ok(FriendStoreLock { store: self, fs, dir, _lock: lock })
    }

    fn system_error(&self, file: &str, source: std::io::Error) -> FriendSessionError {
        let path = self.folder.path_of(file).unwrap_or_else(|_| file.into());
        PrivateFileError::System { path, source }.into()
    }
}

enum FriendSessionFile {
    Missing,
    Valid(FriendSession),
    Corrupt,
}

struct FriendStoreLock<'s> {
    store: &'s FriendSessionStore,
    fs: RealFs,
    dir: FsDir,
    _lock: FsLock,
}

impl FriendStoreLock<'_> {
    fn write(&self, file: &str, bytes: &[u8]) -> Result<(), FriendSessionError> {
        let written = atomic::write(&self.fs, (&self.dir, TEMP_FILE), (&self.dir, file), bytes);
        written.map_err(|error| {
            let _ = self.fs.remove_file(&self.dir, TEMP_FILE);
            self.store.system_error(file, error.source)
        })
    }

    /// Gives a file another name, in place of an older one of that name; says where it is.
    fn quarantine(&self, file: &str) -> Result<PathBuf, FriendSessionError> {
        let to = format!("{}{BROKEN}", file.trim_end_matches(SUFFIX));
        let moved = self.fs.rename(&self.dir, file, &self.dir, &to, RenameMode::Replace);
        let moved = moved.and_then(|()| self.fs.sync_dir(&self.dir));
        moved.map_err(|source| self.store.system_error(file, source))?;
        Ok(self.store.folder.path_of(&to)?)
    }

    /// Keeps the newest of the files that end so, `new` among them; gives back the names of those that went.
    fn prune(&self, suffix: &str, most: usize, new: &str) -> Result<Vec<String>, FriendSessionError> {
        let failed = |source| self.store.system_error(".", source);
        let files = self.fs.list(&self.dir).map_err(failed)?;
        let ours = |(name, kind): &(String, FsKind)| {
            *kind == FsKind::File && name.ends_with(suffix) && !name.starts_with('.')
        };
        let mut files: Vec<String> = files.into_iter().filter(ours).map(|(name, _)| name).collect();
        if files.len() <= most {
            return Ok(Vec::new());
        }
        files.sort_by_cached_key(|name| {
            let written = self.fs.stat(&self.dir, name).map_or(i64::MIN, |stat| stat.modified);
            (name == new, written)
        });
        files.truncate(files.len() - most);
        for name in &files {
            self.fs.remove_file(&self.dir, name).map_err(failed)?;
        }
        self.fs.sync_dir(&self.dir).map_err(failed)?;
        Ok(files)
    }
}

fn with_update(
    session: Option<FriendSession>,
    said: &FriendSessionUpdate<'_>,
    remarks: &mut Vec<String>,
) -> FriendSession {
    let mut session = session.unwrap_or_else(|| FriendSession {
        name: said.name.to_string(),
        friend: said.friend.name().to_string(),
        project: said.project.to_path_buf(),
        model: None,
        created: said.at,
        used: said.at,
        turns: 0,
        state: FriendSessionState::Transcript(Vec::new()),
    });
    session.turns = session.turns.saturating_add(1);
    session.used = session.used.max(said.at);
    if let Some(model) = &said.answer.model {
        session.model = Some(model.clone());
    }
    if let Some(id) = &said.answer.session {
        session.state = FriendSessionState::FriendId(id.clone());
    }
    if let FriendSessionState::Transcript(exchanges) = &mut session.state {
        exchanges.push(PromptExchange { asked: said.prompt.to_string(), answered: said.answer.text.clone() });
        let went = trim_transcript(exchanges);
        if went > 0 {
            let many = format!("its {went} oldest turns were");
            let what = if went == 1 { "its oldest turn was" } else { &many };
            let most = TRANSCRIPT_BYTES / 1_000_000;
            remarks.push(format!("the session {} is longer than {most} MB: {what} forgotten", session.name));
        }
    }
    session
}

/// Lets the oldest turns go until the rest is short enough; says how many went.
fn trim_transcript(exchanges: &mut Vec<PromptExchange>) -> usize {
    let mut room = TRANSCRIPT_BYTES;
    let fitting = exchanges.iter().rev().take_while(|exchange| {
        let fits = exchange.len() <= room;
        room = room.saturating_sub(exchange.len());
        fits
    });
    let went = exchanges.len() - fitting.count();
    exchanges.drain(..went);
    went
}

fn check_name(name: &str) -> Result<(), FriendSessionError> {
    match is_session_name(name) {
        true => Ok(()),
        false => Err(FriendSessionError::BadName(clip_for_message(name, SHOWN))),
    }
}

fn check_friend(session: &FriendSession, friend: &str) -> Result<(), FriendSessionError> {
    if session.friend != friend {
        let (name, friend, wanted) = (session.name.clone(), session.friend.clone(), friend.to_string());
        return Err(FriendSessionError::OtherFriend { name, friend, wanted });
    }
    Ok(())
}

fn quarantine_remark(name: &str, to: &Path) -> String {
    format!("the session {name} could not be read; its file is kept as {}, and it begins anew", to.display())
}
