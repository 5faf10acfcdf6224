//! Power cuts while entries are appended, on a model disk that forgets everything it may: whatever was
//! flushed is there after any of them, its images too, and the session continues.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, ensure};
use relaycode_durable::Fs;
use relaycode_proof_crashfs::{CrashBounds, ModelFs};
use relaycode_session::OpenMode;

use crate::scenario::ScenarioId;

use super::talk::{Done, Talk};
use super::{Place, Said, said};

/// Steps of a session.
const STEPS: usize = 24;
/// From ten bytes to 2.5 kB: order matters here, not size.
const DOUBLINGS: usize = 8;

/// Runs a session and every power cut in it. Returns the number of judged disks.
pub(crate) fn run(id: ScenarioId) -> anyhow::Result<u64> {
    let model = Arc::new(ModelFs::new());
    model.mkdir("s")?;
    let place = at(&model)?;
    model.mark_all_durable();
    let mut talk = Talk { random: id.random(), doublings: DOUBLINGS };
    let mut session = place.open_or_begin()?;
    let mut all = Vec::new();
    // What must be there after this many operations.
    let mut promised: Vec<(usize, Vec<Said>)> = Vec::new();
    for _ in 0..STEPS {
        match talk.step(&mut session)? {
            Done::Entry(said) => all.push(said),
            Done::Flushed | Done::Title(_) => promised.push((model.operations(), all.clone())),
            Done::Moved => {}
            Done::Close => {
                drop(session);
                session = place.open_or_begin()?;
            }
        }
    }
    session.flush()?;
    promised.push((model.operations(), all));
    drop(session);
    let (mut judged, mut wrong) = (0, None);
    let bounds = CrashBounds { writes: 40, changes: 40, pairs: 40, random: 8, seed: id.seed };
    model.all_crash_images(&bounds, &mut |image, what| {
        if wrong.is_some() {
            return;
        }
        let done = what.operations();
        let must = promised.iter().rfind(|(operations, _)| *operations <= done).map(|(_, said)| &said[..]);
        wrong = judge(image, must.unwrap_or_default()).with_context(|| what.to_string()).err();
        judged += 1;
    });
    match wrong {
        Some(error) => Err(error),
        None => Ok(judged),
    }
}

/// An image is durable before the entry that names it: every entry that is there has its images.
fn judge(image: ModelFs, must: &[Said]) -> anyhow::Result<()> {
    let place = at(&Arc::new(image))?;
    let have = match place.open(OpenMode::Read)? {
        Some(session) => said(&session)?,
        None => Vec::new(),
    };
    ensure!(
        have.starts_with(must),
        "{} entries were flushed, and of the {} that are there not all are the same",
        must.len(),
        have.len()
    );
    place.goes_on(&have).map(|_| ())
}

fn at(model: &Arc<ModelFs>) -> anyhow::Result<Place> {
    let dir = model.open_root(Path::new("/s"))?;
    Ok(Place::new(model.clone(), dir)?)
}
