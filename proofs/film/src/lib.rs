//! `cargo xtask record`: the recording that README shows, made by a real `relay watch` on a private
//! desktop.
//!
//! Nothing is drawn by hand: answers are copied by xclip, keys are pressed on a pseudo-terminal, and a
//! frame is what the terminal shows once a step has come to rest. Times are the script's, not the
//! machine's, so that the same program gives the same files.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a developer tool: printing is its output")]

mod cast;
mod film;
mod scene;
mod svg;

use std::fs;

use anyhow::{Context, bail};

use relaycode_testkit::checkout;

/// Where the files go, relative to the root.
const FOLDER: &str = "docs/media";
/// A page waits for its images, so this one stays small.
const SVG_BYTES: usize = 200_000;

/// Plays the session, and writes `watch.cast` and `watch.svg`.
pub fn run() -> anyhow::Result<()> {
    let relay = checkout::built_relay()?;
    let film = scene::play(&relay)?;
    let svg = svg::text(&film);
    if svg.len() >= SVG_BYTES {
        bail!("the image has {} bytes, which is more than {SVG_BYTES}: make the session shorter", svg.len());
    }
    let folder = checkout::root().join(FOLDER);
    fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
    for (name, text) in [("watch.cast", cast::text(&film)?), ("watch.svg", svg)] {
        let path = folder.join(name);
        let fresh = fs::read_to_string(&path).is_ok_and(|before| before == text);
        fs::write(&path, &text).with_context(|| format!("writing {}", path.display()))?;
        println!("  {FOLDER}/{name} {}", if fresh { "is up to date" } else { "written" });
    }
    Ok(())
}
