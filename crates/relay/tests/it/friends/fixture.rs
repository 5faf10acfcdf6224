//! Friends without any of their programs: a bin directory with shell scripts that play them, and the binary run with
//! nothing else in PATH. Every run is checked for what holds whatever happens: the project as it was, no process
//! left, and no more memory than is promised.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use relaycode_testkit::git::git;
use relaycode_testkit::hostile_text::find_unsafe_char;
use relaycode_testkit::process::{GENEROUS_TIMEOUT, poll_until};
use relaycode_testkit::process_table::{ProcessStart, find_processes};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fixture::scratch_project::{Project, Ran};
use crate::fixture::snapshot::{SnapshotSource, section, stable};

/// The thread of the codex that is played.
pub(crate) const THREAD: &str = "01a1de0c-0000-7000-8000-000000000001";
/// More than anything here takes, on a machine with much to do.
const LONGEST: Duration = Duration::from_secs(90);
/// In the environment of relay and of everybody whom it starts.
const MARK: &str = "RELAY_FRIENDS_STAGE";
/// Kilobytes that relay may have in memory.
const MEMORY: u64 = 100 << 10;
/// Programs that the players and relay need.
const TOOLS: &[&str] = &[
    "sh", "git", "cat", "sed", "sleep", "head", "tr", "setsid", "rm", "mkdir", "touch", "env", "kill",
    "chmod", "yes", "ln",
];

/// A project, and what is in PATH.
pub(crate) struct Stage {
    pub(crate) project: Project,
    place: TempDir,
}

impl Stage {
    /// A git repository with a commit on `main` and one on `work`, and nobody to ask.
    pub(crate) fn new() -> Stage {
        let stage = Stage::bare();
        stage.git(&["init", "-q", "-b", "main"]);
        stage.git(&["add", "a.txt"]);
        stage.git(&["commit", "-q", "-m", "first"]);
        stage.git(&["checkout", "-q", "-b", "work"]);
        stage.project.put("a.txt", b"two\n");
        stage.git(&["commit", "-q", "-a", "-m", "second"]);
        stage
    }

    /// A directory that is no repository.
    pub(crate) fn bare() -> Stage {
        let stage = Stage {
            project: Project::new(&[("a.txt", "one\n")]),
            place: TempDir::with_prefix("stage-").unwrap(),
        };
        for below in ["bin", "home", "tmp"] {
            fs::create_dir(stage.place.path().join(below)).unwrap();
        }
        let path = std::env::var_os("PATH").unwrap();
        for tool in TOOLS {
            let found =
                std::env::split_paths(&path).map(|folder| folder.join(tool)).find(|file| file.is_file());
            symlink(found.unwrap_or_else(|| panic!("{tool}")), stage.bin(tool)).unwrap();
        }
        stage
    }

    /// With a codex that answers "Fine.".
    pub(crate) fn answered() -> Stage {
        Stage::new().codex(&Codex::answering("Fine."))
    }

    /// A place beside the project.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    pub(crate) fn bin(&self, name: &str) -> PathBuf {
        self.beside("bin").join(name)
    }

    pub(crate) fn script(self, name: &str, script: &str) -> Stage {
        let log = self.beside("log");
        let text = format!("#!/bin/sh\nLOG='{}'\n{script}\n", log.display());
        fs::write(self.bin(name), text).unwrap();
        fs::set_permissions(self.bin(name), fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    pub(crate) fn codex(self, codex: &Codex) -> Stage {
        let script = codex.script();
        self.script("codex", &script)
    }

    /// What the players wrote down.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.beside("log")).unwrap_or_default()
    }

    pub(crate) fn git(&self, words: &[&str]) -> String {
        git(&self.project.path(""), words)
    }

    /// `relay` with nothing in PATH but what stands on the stage.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.project.command(args);
        self.surround(&mut command);
        command
    }

    /// Gives a command the directory and the environment of the stage.
    pub(crate) fn surround(&self, command: &mut Command) {
        self.project.surround(command);
        command
            .env("PATH", self.beside("bin"))
            .env("HOME", self.beside("home"))
            .env("TMPDIR", self.beside("tmp"))
            .env(MARK, self.place.path())
            .env("RELAY_CEILING_DIRECTORIES", self.project.path("").parent().unwrap());
    }

    /// Runs it, and checks what holds whatever happens.
    pub(crate) fn run(&self, command: &mut Command) -> Ran {
        let before = self.project.tree();
        let ran = self.run_changing(command);
        let after = self.project.tree();
        let other: Vec<&String> =
            before.keys().chain(after.keys()).filter(|path| before.get(*path) != after.get(*path)).collect();
        assert_eq!(other, Vec::<&String>::new(), "the project is as it was: {command:?} {ran:?}");
        ran
    }

    /// The same for one that may change the project.
    pub(crate) fn run_changing(&self, command: &mut Command) -> Ran {
        let began = Instant::now();
        let (out, err) = (self.beside("out"), self.beside("err"));
        let (to_out, to_err) = (fs::File::create(&out).unwrap(), fs::File::create(&err).unwrap());
        let mut child = command.stdout(Stdio::from(to_out)).stderr(Stdio::from(to_err)).spawn().unwrap();
        let mut most = 0;
        let status = poll_until(LONGEST, || {
            most = most.max(peak(child.id()));
            child.try_wait().unwrap()
        });
        if status.is_none() {
            child.kill().unwrap();
        }
        let code = child.wait().unwrap().code().unwrap_or(-1);
        let read = |path: &Path| String::from_utf8(fs::read(path).unwrap()).unwrap();
        let ran = Ran { code, out: read(&out), err: read(&err) };
        assert!(status.is_some(), "it ends: {command:?} {ran:?}");
        let took = began.elapsed();
        let words: Vec<_> = command.get_args().collect();
        println!(
            "--- {words:?} → {code}, {} ms, {most} kB\n{}{}",
            took.as_millis(),
            cut(&ran.err),
            cut(&ran.out)
        );
        assert!(most < MEMORY, "{most} kB: {words:?}");
        self.nothing_left(&ran);
        for text in [&ran.out, &ran.err] {
            assert_eq!(find_unsafe_char(text, false), None, "{words:?}: {text:?}");
        }
        ran
    }

    pub(crate) fn relay(&self, args: &[&str]) -> Ran {
        self.run(&mut self.command(args))
    }

    /// Runs it with `--json`: it has to fail with this code and kind, and to say so to people, too.
    pub(crate) fn fails(&self, args: &[&str], code: i32, kind: &str) -> Failed {
        self.fails_as(&mut self.json(args), code, kind)
    }

    pub(crate) fn fails_as(&self, command: &mut Command, code: i32, kind: &str) -> Failed {
        Failed::of(self.run(command), code, kind)
    }

    /// The command for machines.
    pub(crate) fn json(&self, args: &[&str]) -> Command {
        let args: Vec<&str> = std::iter::once("--json").chain(args.iter().copied()).collect();
        self.command(&args)
    }

    /// It has to go well; what it says to machines.
    pub(crate) fn works(&self, args: &[&str]) -> Value {
        let ran = self.run(&mut self.json(args));
        assert_eq!(ran.code, 0, "{args:?}: {ran:?}");
        ran.json()
    }

    /// Nobody who was started here still runs.
    fn nothing_left(&self, ran: &Ran) {
        let mark = format!("{MARK}={}", self.place.path().display());
        let mut left = Vec::new();
        let gone = poll_until(GENEROUS_TIMEOUT, || {
            left = find_processes(|given| given.has_env(&mark));
            left.is_empty().then_some(())
        });
        let words = |pid| String::from_utf8_lossy(&ProcessStart::of_pid(pid).arguments).replace('\0', " ");
        let left: Vec<String> = left.into_iter().map(words).collect();
        assert!(gone.is_some(), "{left:?} still run: {ran:?}");
    }
}

/// A failure as both kinds of readers get it.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) object: Value,
    pub(crate) message: String,
    pub(crate) hint: String,
    pub(crate) err: String,
}

impl Failed {
    fn of(ran: Ran, code: i32, kind: &str) -> Failed {
        assert_eq!(ran.code, code, "{ran:?}");
        let object = ran.json();
        assert_eq!((&object["ok"], &object["code"]), (&json!(false), &json!(code)), "{ran:?}");
        assert_eq!(object["error"]["kind"], kind, "{ran:?}");
        let text = |name: &str| object["error"][name].as_str().unwrap_or_default().to_string();
        let (message, hint) = (text("message"), text("hint"));
        assert!(!message.is_empty(), "{ran:?}");
        assert!(ran.err.contains(message.split_whitespace().next().unwrap()), "said to people, too: {ran:?}");
        Failed { message, hint, err: ran.err, object }
    }

    /// What is said has all of these in it, in the message or in what to do next.
    pub(crate) fn says(self, parts: &[&str]) -> Failed {
        let said = format!("{} | {}", self.message, self.hint);
        for part in parts {
            assert!(said.contains(part), "`{part}` in `{said}`");
        }
        self
    }
}

/// What people read of it, and what only machines do.
impl SnapshotSource for Failed {
    fn snapshot(&self) -> String {
        let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut text = format!("exit {}\n{}", self.object["code"], section("stderr", &self.err));
        for (name, said) in [("message", &self.message), ("hint", &self.hint)] {
            if !flat(&self.err).contains(&flat(said)) {
                text += &section(name, &format!("{said}\n"));
            }
        }
        stable(&text)
    }
}

/// A codex that is played: its app-server, in the language of the shell.
pub(crate) struct Codex {
    /// Before anything is read.
    pub(crate) first: String,
    pub(crate) version: &'static str,
    pub(crate) account: &'static str,
    pub(crate) writes: bool,
    /// When the prompt has come, in the directory that it works in.
    pub(crate) turn: String,
}

impl Codex {
    pub(crate) fn turning(turn: &str) -> Codex {
        Codex {
            first: String::new(),
            version: "0.166.0",
            account: r#"{"account":null,"requiresOpenaiAuth":false}"#,
            writes: false,
            turn: turn.to_string(),
        }
    }

    pub(crate) fn answering(text: &str) -> Codex {
        Codex::turning(&answering(text))
    }

    /// One that works in a copy: does this there, and says "Done.".
    pub(crate) fn working(work: &str) -> Codex {
        Codex { writes: true, ..Codex::turning(&format!("{work}\n{}", answering("Done."))) }
    }

    fn script(&self) -> String {
        let sandbox = match self.writes {
            false => r#"{"type":"readOnly","networkAccess":false}"#,
            true => {
                r#"{"type":"workspaceWrite","writableRoots":[],"networkAccess":false,"excludeTmpdirEnvVar":true,"excludeSlashTmp":true}"#
            }
        };
        let echo = format!(
            r#"{{"id":4,"result":{{"thread":{{"id":"{THREAD}"}},"model":"m","cwd":"%s","approvalPolicy":"on-request","approvalsReviewer":"user","sandbox":{sandbox},"activePermissionProfile":{{"id":"%s"}}}}}}"#
        );
        format!(
            r#"echo "called $*" >>"$LOG"
echo "depth $RELAY_DEPTH $PHONE_A_FRIEND_DEPTH" >>"$LOG"
case "$1" in
--version) echo 'codex-cli {version}'; exit 0 ;;
login) exit 0 ;;
mcp) echo '[]'; exit 0 ;;
esac
{first}
case "$1" in exec) exit 9 ;; esac
while IFS= read -r line; do
  printf '%s\n' "$line" >>"$LOG"
  case "$line" in
  *'"method":"initialize"'*) echo '{{"id":1,"result":{{"userAgent":"relay/{version} (x)","codexHome":"/nowhere"}}}}' ;;
  *'"method":"account/read"'*) echo '{{"id":2,"result":{account}}}' ;;
  *'"method":"config/read"'*) echo '{{"id":3,"result":{{"config":{{}}}}}}' ;;
  *'"method":"thread/'*)
    profile=${{line#*'"default_permissions":"'}}
    printf '{echo}\n' "$PWD" "${{profile%%'"'*}}" ;;
  *'"method":"turn/start"'* | *'"method":"review/start"'*)
    {turn} ;;
  esac
done
"#,
            version = self.version,
            first = self.first,
            account = self.account,
            turn = self.turn,
        )
    }
}

/// A turn of one whole message.
pub(crate) fn answering(text: &str) -> String {
    let item = json!({"type": "agentMessage", "id": "m", "text": text});
    let review = json!({"type": "exitedReviewMode", "id": "r", "review": text});
    let lines = [
        json!({"id": 5, "result": {"turn": {"id": "t"}}}),
        json!({"method": "item/completed", "params": {"threadId": THREAD, "item": item}}),
        json!({"method": "item/completed", "params": {"threadId": THREAD, "item": review}}),
        json!({"method": "turn/completed", "params": {"threadId": THREAD, "turn": {"status": "completed"}}}),
    ];
    lines.map(|line| format!("cat <<'END'\n{line}\nEND\n")).concat()
}

/// The most that a process had in memory, in kB: of relay, without its keepers and its friends.
fn peak(pid: u32) -> u64 {
    let Ok(status) = fs::read_to_string(format!("/proc/{pid}/status")) else { return 0 };
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

fn cut(text: &str) -> String {
    text.chars().take(3_000).collect()
}
