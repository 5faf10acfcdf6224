//! Where sessions are kept. Reading takes no lock: a file is replaced whole. Writing does, and adds to what is there then.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use relaycode_durable::own::{Folder, OwnError};
use relaycode_durable::{Dir, Fs, Kind, Lock, Real, Rename, atomic};
use relaycode_text::width::shown;

use super::file::{self, BROKEN, FILE_BYTES, SUFFIX};
use super::{Kept, SESSIONS, Said, Session, SessionError, TRANSCRIPT_BYTES, is_name};
use crate::friend::Sessions;
use crate::turn::Exchange;

/// The folder in the user's own directory.
const FOLDER: &str = "friends/sessions";
/// Stands for the right to write there.
const LOCK: &str = ".lock";
/// What is being written. Whoever has the lock may remove what another left.
const SCRATCH: &str = ".new";
/// Files kept aside that could not be read.
const BROKEN_MOST: usize = 10;
/// How long the lock is waited for; nobody holds it for longer than it takes to write one file.
const PATIENCE: Duration = Duration::from_secs(10);
const TICK: Duration = Duration::from_millis(5);
/// Cells of a foreign name in a message.
const SHOWN: usize = 80;

/// Where sessions are kept.
#[derive(Debug, Clone)]
pub struct Store {
    folder: Folder,
}

/// What was found under a name.
#[derive(Debug, Default)]
pub struct Found {
    /// The session; `None`: it begins now.
    pub session: Option<Session>,
    /// What a person should know, a sentence each.
    pub remarks: Vec<String>,
}

/// All sessions.
#[derive(Debug, Default)]
pub struct Listed {
    /// Those used last come first.
    pub sessions: Vec<Session>,
    /// What a person should know, a sentence each.
    pub remarks: Vec<String>,
}

impl Store {
    /// The sessions in this directory of the user's own; `None`: there is none, and none can be kept.
    pub fn open(home: Option<&Path>) -> Store {
        Store { folder: Folder::new(home, FOLDER, FILE_BYTES).secret() }
    }

    /// The session of this name, to be gone on with by `friend` in `project`. One that cannot be read is kept aside, and
    /// said.
    ///
    /// # Errors
    /// If it is with another friend or of another project, if the name is none, or the files are not the user's own.
    pub fn find(&self, name: &str, friend: &str, project: &Path) -> Result<Found, SessionError> {
        check(name)?;
        let file = file::of(name);
        let session = match self.read(&file)? {
            Read::Nothing => return Ok(Found::default()),
            Read::Session(session) => session,
            Read::Broken => {
                let remarks = self.set_aside(&file)?.into_iter().map(|to| aside(name, &to)).collect();
                return Ok(Found { session: None, remarks });
            }
        };
        fits(&session, friend, project)?;
        Ok(Found { session: Some(session), remarks: Vec::new() })
    }

    /// Adds a good answer to its session, which begins with it if there is none. What is there by now stays, also if it came
    /// from another relay meanwhile. Gives back what a person should know.
    ///
    /// # Errors
    /// Like [`Store::find`]; [`SessionError::Busy`] if nobody else may write for too long.
    pub fn save(&self, said: &Said<'_>) -> Result<Vec<String>, SessionError> {
        check(said.name)?;
        let mut remarks = Vec::new();
        if said.friend.abilities().sessions == Sessions::Own && said.answer.session.is_none() {
            let (friend, name) = (said.friend.name(), said.name);
            return Ok(vec![format!(
                "{friend} gave no id for the session {name}: this turn was not remembered"
            )]);
        }
        let file = file::of(said.name);
        let locked = self.lock()?;
        let session = match self.read(&file)? {
            Read::Session(session) => {
                fits(&session, said.friend.name(), said.project)?;
                Some(session)
            }
            Read::Nothing => None,
            Read::Broken => {
                let to = locked.set_aside(&file)?;
                remarks.push(aside(said.name, &to));
                None
            }
        };
        let session = added(session, said, &mut remarks);
        locked.write(&file, &file::written(&session))?;
        let gone = locked.keep(SUFFIX, SESSIONS, &file)?;
        locked.keep(BROKEN, BROKEN_MOST, "")?;
        if let [first, ..] = gone.as_slice() {
            let (first, more) = (first.trim_end_matches(SUFFIX), gone.len() - 1);
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
    pub fn list(&self) -> Result<Listed, SessionError> {
        let mut listed = Listed::default();
        let files = match self.folder.list() {
            Err(OwnError::NoHome) => return Ok(listed),
            files => files?,
        };
        for file in files.iter().filter(|file| file.ends_with(SUFFIX)) {
            match self.read(file) {
                Ok(Read::Session(session)) => listed.sessions.push(session),
                Ok(Read::Nothing) => {}
                Ok(Read::Broken) => {
                    let name = shown(file.trim_end_matches(SUFFIX), SHOWN);
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

    /// Forgets a session; says whether there was one. What the friend itself keeps is not touched.
    ///
    /// # Errors
    /// If the name is none, or the file cannot be removed.
    pub fn forget(&self, name: &str) -> Result<bool, SessionError> {
        check(name)?;
        if matches!(self.folder.list(), Ok(files) if files.is_empty()) {
            return Ok(false);
        }
        let _locked = self.lock()?;
        Ok(self.folder.remove(&file::of(name))?)
    }

    fn read(&self, file: &str) -> Result<Read, SessionError> {
        match self.folder.read(file) {
            Ok(None) | Err(OwnError::NoHome) => Ok(Read::Nothing),
            Ok(Some(bytes)) => Ok(file::read(file, &bytes).map_or(Read::Broken, Read::Session)),
            // Nobody wrote such a file.
            Err(OwnError::TooLarge { .. } | OwnError::NotAFile(_)) => Ok(Read::Broken),
            Err(error) => Err(error.into()),
        }
    }

    /// Keeps a file aside, unless it can be read by now: another relay may have been quicker.
    fn set_aside(&self, file: &str) -> Result<Option<PathBuf>, SessionError> {
        let locked = self.lock()?;
        match self.read(file)? {
            Read::Broken => locked.set_aside(file).map(Some),
            Read::Nothing | Read::Session(_) => Ok(None),
        }
    }

    fn lock(&self) -> Result<Locked<'_>, SessionError> {
        let fs = Real::default();
        let dir = self.folder.dir()?;
        let began = Instant::now();
        let lock = loop {
            let taken = fs.lock(&dir, LOCK).map_err(|source| self.system(LOCK, source))?;
            match taken {
                Some(lock) => break lock,
                None if began.elapsed() > PATIENCE => return Err(SessionError::Busy(PATIENCE.as_secs())),
                None => std::thread::sleep(TICK),
            }
        };
        Ok(Locked { store: self, fs, dir, _lock: lock })
    }

    fn system(&self, file: &str, source: std::io::Error) -> SessionError {
        let path = self.folder.path_of(file).unwrap_or_else(|_| file.into());
        OwnError::System { path, source }.into()
    }
}

/// What a file holds.
enum Read {
    Nothing,
    Session(Session),
    Broken,
}

/// The right to write.
struct Locked<'s> {
    store: &'s Store,
    fs: Real,
    dir: Dir,
    _lock: Lock,
}

impl Locked<'_> {
    fn write(&self, file: &str, bytes: &[u8]) -> Result<(), SessionError> {
        let written = atomic::write(&self.fs, (&self.dir, SCRATCH), (&self.dir, file), bytes);
        written.map_err(|error| {
            let _ = self.fs.remove_file(&self.dir, SCRATCH);
            self.store.system(file, error.source)
        })
    }

    /// Gives a file another name, in place of an older one of that name; says where it is.
    fn set_aside(&self, file: &str) -> Result<PathBuf, SessionError> {
        let to = format!("{}{BROKEN}", file.trim_end_matches(SUFFIX));
        let moved = self.fs.rename(&self.dir, file, &self.dir, &to, Rename::Replace);
        moved.and_then(|()| self.fs.sync_dir(&self.dir)).map_err(|source| self.store.system(file, source))?;
        Ok(self.store.folder.path_of(&to)?)
    }

    /// Keeps the newest of the files that end so, `new` among them; gives back the names of those that went.
    fn keep(&self, suffix: &str, most: usize, new: &str) -> Result<Vec<String>, SessionError> {
        let failed = |source| self.store.system(".", source);
        let files = self.fs.list(&self.dir).map_err(failed)?;
        let ours = |(name, kind): &(String, Kind)| {
            *kind == Kind::File && name.ends_with(suffix) && !name.starts_with('.')
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

/// The session with the answer added to it.
fn added(session: Option<Session>, said: &Said<'_>, remarks: &mut Vec<String>) -> Session {
    let mut session = session.unwrap_or_else(|| Session {
        name: said.name.to_string(),
        friend: said.friend.name().to_string(),
        project: said.project.to_path_buf(),
        model: None,
        created: said.at,
        used: said.at,
        turns: 0,
        kept: Kept::Replayed(Vec::new()),
    });
    session.turns = session.turns.saturating_add(1);
    session.used = session.used.max(said.at);
    if let Some(model) = &said.answer.model {
        session.model = Some(model.clone());
    }
    if let Some(id) = &said.answer.session {
        session.kept = Kept::Own(id.clone());
    }
    if let Kept::Replayed(exchanges) = &mut session.kept {
        exchanges.push(Exchange { asked: said.asked.to_string(), answered: said.answer.text.clone() });
        let went = bound(exchanges);
        if went > 0 {
            let what = if went == 1 {
                "its oldest turn was".to_string()
            } else {
                format!("its {went} oldest turns were")
            };
            let most = TRANSCRIPT_BYTES / 1_000_000;
            remarks.push(format!("the session {} is longer than {most} MB: {what} forgotten", session.name));
        }
    }
    session
}

/// Lets the oldest turns go until the rest is short enough; says how many went.
fn bound(exchanges: &mut Vec<Exchange>) -> usize {
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

fn check(name: &str) -> Result<(), SessionError> {
    if is_name(name) { Ok(()) } else { Err(SessionError::BadName(shown(name, SHOWN))) }
}

fn fits(session: &Session, friend: &str, project: &Path) -> Result<(), SessionError> {
    let name = session.name.clone();
    if session.friend != friend {
        let (friend, wanted) = (session.friend.clone(), friend.to_string());
        return Err(SessionError::OtherFriend { name, friend, wanted });
    }
    if session.project != project {
        return Err(SessionError::OtherProject { name, project: session.project.clone() });
    }
    Ok(())
}

fn aside(name: &str, to: &Path) -> String {
    format!("the session {name} could not be read; its file is kept as {}, and it begins anew", to.display())
}
