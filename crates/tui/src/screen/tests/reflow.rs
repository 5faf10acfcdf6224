//! On tmux, which re-flows: a pane shows what is written to a pipe.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use relaycode_testkit::missing::{Missing, find};
use relaycode_testkit::or_skip;

use super::super::*;
use super::traits;

struct ReflowTerminal {
    tmux: PathBuf,
    folder: tempfile::TempDir,
    pipe: Option<File>,
    /// A server that ends must not be met again.
    opened: usize,
    synced: usize,
}

/// Numbers from a seed.
struct SmallRandom(u64);

impl SmallRandom {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

impl ReflowTerminal {
    fn start() -> Result<ReflowTerminal, Missing> {
        let tmux = find("tmux")?;
        let folder = tempfile::tempdir().expect("a folder");
        Ok(ReflowTerminal { tmux, folder, pipe: None, opened: 0, synced: 0 })
    }

    fn tmux(&self, arguments: &[&str]) -> String {
        let output = Command::new(&self.tmux)
            .args(["-f", "/dev/null", "-S"])
            .arg(self.socket())
            .args(arguments)
            .env("TERM", "xterm-256color")
            .env("LC_ALL", "C.UTF-8")
            .env_remove("TMUX")
            .stdin(Stdio::null())
            .output()
            .expect("tmux runs");
        assert!(output.status.success(), "tmux {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join(format!("socket{}", self.opened))
    }

    /// An empty terminal.
    fn open(&mut self, columns: usize, rows: usize) {
        self.opened += 1;
        let pipe = self.folder.path().join("pipe");
        let _ = std::fs::remove_file(&pipe);
        let made = Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs");
        assert!(made.success());
        let show = format!("stty raw -echo; exec cat '{}'", pipe.display());
        let (columns, rows) = (columns.to_string(), rows.to_string());
        self.tmux(&["new-session", "-d", "-s", "t", "-x", &columns, "-y", &rows, &show]);
        self.pipe = Some(OpenOptions::new().write(true).open(&pipe).expect("the pipe opens"));
    }

    fn resize(&self, columns: usize, rows: usize) {
        self.tmux(&["resize-window", "-t", "t", "-x", &columns.to_string(), "-y", &rows.to_string()]);
    }

    fn write(&mut self, bytes: &[u8]) {
        self.pipe.as_mut().expect("it is open").write_all(bytes).expect("the pipe takes it");
    }

    fn everything(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-t", "t", "-S", "-"])
    }

    fn wait_for(&self, sign: &str) -> String {
        let until = Instant::now() + Duration::from_secs(30);
        loop {
            let text = self.everything();
            if text.contains(sign) {
                return text;
            }
            assert!(Instant::now() < until, "no {sign} in\n{text}");
        }
    }

    /// Until everything that was written is on the screen.
    fn sync(&mut self) {
        self.synced += 1;
        let title = format!("title{}", self.synced);
        self.write(format!("\x1b]2;{title}\x07").as_bytes());
        let until = Instant::now() + Duration::from_secs(30);
        while self.tmux(&["display-message", "-p", "-t", "t", "#{pane_title}"]).trim() != title {
            assert!(Instant::now() < until, "tmux does not answer");
        }
    }

    fn close(&mut self) {
        self.pipe = None;
        let _ = Command::new(&self.tmux)
            .arg("-S")
            .arg(self.socket())
            .arg("kill-server")
            .stderr(Stdio::null())
            .status();
    }
}

impl Drop for ReflowTerminal {
    fn drop(&mut self) {
        self.close();
    }
}

/// Without wide characters: tmux 3.3 loses the cursor's row when it joins lines that broke before one.
///
/// 200 runs of resizes in the middle of a stream, in bursts, known to relay at once or too late.
#[test]
fn resizing_while_streaming_leaves_every_line_exactly_once_in_tmux() {
    let mut terminal = or_skip!(ReflowTerminal::start());
    let seeds = 200;
    for seed in 1..=seeds {
        let mut random = SmallRandom(0x9e37_79b9_7f4a_7c15 ^ (seed << 17));
        let (mut columns, mut rows) = (20 + random.below(100), 4 + random.below(30));
        terminal.open(columns, rows);
        let mut screen = InlineScreen::new(traits(columns, rows, true));
        let mut count = 0;
        for _ in 0..6 {
            for _ in 0..random.below(4) {
                (columns, rows) = (20 + random.below(100), 4 + random.below(30));
                terminal.resize(columns, rows);
            }
            // Frames that are drawn, or arrive, before relay knows the new size.
            let late = random.below(3);
            let mut is_settled = false;
            for part in 0..late + 1 + random.below(3) {
                if part == late {
                    screen.resize(columns, rows);
                    if random.below(3) > 0 {
                        terminal.sync();
                        screen.settle();
                        is_settled = true;
                    }
                }
                let finished: Vec<String> = (0..random.below(5))
                    .map(|_| {
                        count += 1;
                        format!("\x1b[32m<{count}:\x1b[0m{}:{count}>", "some text ".repeat(random.below(12)))
                    })
                    .collect();
                let mut live: Vec<String> =
                    (0..random.below(8)).map(|_| format!("live {}", "~".repeat(random.below(70)))).collect();
                live.push("last".to_string());
                if random.below(2) == 0 {
                    live.insert(0, String::new());
                }
                let cursor = Some((random.below(live.len()), random.below(20)));
                terminal.write(screen.frame(&finished, &live, cursor));
                if std::mem::take(&mut is_settled) {
                    // The size stays until this one has arrived: that is what settling is for.
                    terminal.sync();
                }
            }
        }
        terminal.sync();
        terminal.write(screen.leave());
        terminal.write(b"END");
        let text = terminal.wait_for("END");
        let joined: String = text.lines().collect();
        for number in 1..=count {
            for sign in [format!("<{number}:"), format!(":{number}>")] {
                assert_eq!(joined.matches(&sign).count(), 1, "seed {seed}, {sign} in\n{text}");
            }
        }
        terminal.close();
    }
}

#[test]
fn a_narrower_and_a_wider_tmux_leave_nothing_of_the_live_lines_behind() {
    let mut terminal = or_skip!(ReflowTerminal::start());
    for columns in [21, 30, 40, 71, 120] {
        terminal.open(80, 24);
        let mut screen = InlineScreen::new(traits(80, 24, true));
        let live: Vec<String> = (0..4).map(|number| format!("live {number} {}", "日x".repeat(20))).collect();
        let live = [vec![String::new()], live].concat();
        // A full screen: tmux pushes the top of one with room below into its scrollback, however much room there is.
        let finished: Vec<String> = (0..30).map(|number| format!("line {number}")).collect();
        terminal.write(screen.frame(&finished, &live, Some((4, 66))));
        terminal.wait_for("live 3");
        for columns in [columns, 80] {
            terminal.resize(columns, 24);
            screen.resize(columns, 24);
            screen.settle();
            let shown = live
                .iter()
                .map(|line| if line.is_empty() { String::new() } else { format!("{columns} {line}") });
            terminal.write(screen.frame(&[], &shown.collect::<Vec<_>>(), Some((2, 10))));
            terminal.wait_for(&format!("{columns} live 3"));
        }
        terminal.write(screen.frame(&["three".to_string()], &["END".to_string()], None));
        let text = terminal.wait_for("END");
        let expected: String = finished.iter().map(|line| format!("{line}\n")).collect();
        assert_eq!(text.trim_end(), format!("{expected}\n\nthree\nEND"), "at {columns}");
        terminal.close();
    }
}
