//! SIGKILL while entries are appended: a session that goes through several kills, each at a different
//! moment.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use relaycode_durable::{Fs, RealFs};
use relaycode_session::file::load_report::LoadIssueKind;
use relaycode_session::{OpenMode, Session};
use relaycode_testkit::random::Random;

use crate::scenario::ScenarioId;

use super::talk::title;
use super::{NAME, Place, Said, said};

/// Kills of one session.
pub(crate) const ROUNDS: usize = 5;
/// It is killed after at most this many acknowledgements and microseconds.
const HEARD_MOST: usize = 40;
const MICROSECONDS_MOST: usize = 4_000;
/// Microseconds that a process needs to begin.
const START_MOST: usize = 12_000;

/// What a session must hold.
#[derive(Default)]
struct Known {
    said: Vec<Said>,
    /// How many entries the session had when it got its title.
    titled: Option<usize>,
}

/// Runs one session through its kills.
pub(crate) fn run(room: &Path, id: ScenarioId) -> anyhow::Result<u64> {
    let mut random = id.random();
    let mut known = Known::default();
    for round in 1..=ROUNDS {
        killed(room, &mut random, &mut known).with_context(|| format!("kill {round}"))?;
        judge(room, &mut known)
            .with_context(|| format!("after kill {round}, {} entries acknowledged", known.said.len()))?;
    }
    Ok(ROUNDS as u64)
}

/// Starts the process, listens, and kills it.
fn killed(room: &Path, random: &mut Random, known: &mut Known) -> anyhow::Result<()> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(["--seed", &random.number().to_string(), "--append"])
        .arg(room)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut lines = BufReader::new(child.stdout.take().context("no output")?).lines();
    // One in six dies before it printed anything: while the file is created, or opened.
    let enough = if random.once_in(6) { 0 } else { 1 + random.below(HEARD_MOST) };
    let wait = random.below(if enough == 0 { START_MOST } else { MICROSECONDS_MOST });
    let mut heard = Vec::new();
    while heard.len() < enough {
        match lines.next() {
            Some(line) => heard.push(line?),
            None => break,
        }
    }
    std::thread::sleep(Duration::from_micros(wait as u64));
    child.kill()?;
    let ended = child.wait_with_output()?;
    // What it printed before it died; the last line may be cut, and then nothing was acknowledged.
    heard.extend(lines.map_while(Result::ok));
    if ended.status.code().is_some() {
        bail!("it ended by itself: {}", String::from_utf8_lossy(&ended.stderr));
    }
    for line in &heard {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["entry", id, print] => known.said.push(Said { id: id.to_owned(), print: print.parse()? }),
            ["title", entries] => known.titled = Some(entries.parse()?),
            _ => bail!("it said `{line}`"),
        }
    }
    Ok(())
}

/// Everything acknowledged is there, in order and whole; at most one more; the index agrees with the file;
/// and the session continues.
fn judge(room: &Path, known: &mut Known) -> anyhow::Result<()> {
    let fs = Arc::new(RealFs::default());
    let place = Place::new(fs.clone(), fs.open_root(room)?)?;
    if let Some(session) = place.open(OpenMode::Read)? {
        let have = said(&session)?;
        ensure!(
            have.starts_with(&known.said),
            "{} entries were acknowledged and {} are there, but not the same",
            known.said.len(),
            have.len()
        );
        ensure!(have.len() <= known.said.len() + 1, "more than one entry that nobody acknowledged");
        let torn = |what: &LoadIssueKind| {
            matches!(what, LoadIssueKind::TornTail) || (have.is_empty() && *what == LoadIssueKind::NoHeader)
        };
        ensure!(
            session.report().issues.iter().all(|oddity| torn(&oddity.kind)),
            "the file is damaged: {:?}",
            session.report()
        );
        if let Some(entries) = known.titled {
            let now = session.header().title.clone().unwrap_or_default();
            let of = now.split(' ').next().and_then(|number| number.parse::<usize>().ok());
            ensure!(of.is_some_and(|of| of >= entries), "the title was `{}` and is `{now}`", title(entries));
        }
        same_without_index(room, &session)?;
        known.said = have;
    } else {
        ensure!(
            known.said.is_empty(),
            "there is no file, but {} entries were acknowledged",
            known.said.len()
        );
    }
    let new = place.goes_on(&known.said)?;
    known.said.push(new);
    let session = place.open(OpenMode::Read)?.context("the session is gone")?;
    ensure!(session.report().is_empty(), "the torn end is still there: {:?}", session.report());
    same_without_index(room, &session)
}

/// A session that was opened with its index equals one read from the file.
fn same_without_index(room: &Path, session: &Session) -> anyhow::Result<()> {
    let fs = Arc::new(RealFs::default());
    let bare = room.join("bare");
    fs::create_dir_all(&bare)?;
    fs::copy(room.join(NAME), bare.join(NAME))?;
    let fresh = Session::open(fs.clone(), fs.open_root(&bare)?, NAME, OpenMode::Read)?;
    ensure!(fresh.rows() == session.rows(), "the index and the file disagree about entries");
    ensure!(fresh.header() == session.header(), "the index and the file disagree about the header");
    ensure!(fresh.facts() == session.facts(), "the index and the file disagree about the facts");
    ensure!(fresh.labels() == session.labels(), "the index and the file disagree about labels");
    ensure!(fresh.report() == session.report(), "the index and the file disagree about damage");
    ensure!(fresh.leaf() == session.leaf(), "the index and the file disagree about the leaf");
    fs::remove_dir_all(&bare)?;
    Ok(())
}
