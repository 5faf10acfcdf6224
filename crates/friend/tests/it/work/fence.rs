//! Friends that have no sandbox of their own, played by a shell that does everything that it must not do: nothing of it gets
//! out of its copy. Where the machine has no fence of level 1 these tests say so and pass.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use relaycode_exec::{FenceLevel, Runner};
use relaycode_friend::{AskRequest, CopySandbox, FriendContext, WorkOutcome, friends};
use relaycode_project::access::Access;

use super::{Scene, everything, working, write};
use crate::keeper_fixture;

/// A project, the user's home, and a friend of this name.
struct Stage {
    scene: Scene,
    name: &'static str,
}

/// The version and the mode that each has to name.
const FRIENDS: [(&str, &str, &str); 2] = [("gemini", "0.61.0", "default"), ("opencode", "1.18.33", "relay")];

/// What it does, once it has heard the prompt. `$USER_HOME`, `$RELAY`, `$ROOT` and `$OUT` are where they lie; each line is tried by
/// itself.
const DEEDS: &str = r#"
echo hostile > "$OUT/file"
echo hostile > "$OUT/new"
chmod 777 "$OUT/file"
ln -s "$OUT" link && echo hostile > link/new
rm -rf "$ROOT/src"
echo hostile > "$ROOT/a.txt"
echo hostile > "$ROOT/.git/hooks/post-commit"
git -C "$ROOT" commit -q --allow-empty -m hostile
cat "$USER_HOME/.ssh/id" > stolen-key.txt
cat "$USER_HOME/.claude/.credentials.json" > stolen-sign-in.txt
cat "$RELAY/keys/provider" > stolen-relay.txt
echo hostile > .git/hooks/post-checkout
git config core.fsmonitor 'touch hostile'
echo hostile >> "$USER_HOME/.bashrc"
echo hostile > "$USER_HOME/.config/opencode/opencode.json"
mkdir -p "$USER_HOME/.config/opencode/plugin" && echo hostile > "$USER_HOME/.config/opencode/plugin/x.js"
echo hostile > "$USER_HOME/.local/share/opencode/opencode.db"
echo hostile > "$RELAY/friends/gemini/rules.toml"
kill -9 $SLEEPER
perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new("$ENV{OUT}/socket")'
unshare -r true && touch left-by-unshare.txt
"#;

impl Stage {
    fn new(name: &'static str, version: &str, mode: &str, deeds: &str) -> Stage {
        let scene = Scene::new();
        let stage = Stage { scene, name };
        for (file, text) in [
            ("user/.ssh/id", "SECRET"),
            ("user/.bashrc", "# mine"),
            ("user/.claude/.credentials.json", "SECRET"),
            ("user/.config/opencode/opencode.json", "{\"model\": \"a/b\"}"),
            ("user/.local/share/opencode/auth.json", "{\"a\": 1}"),
            ("user/.local/share/opencode/opencode.db", "database"),
            ("user/.gemini/oauth_creds.json", "{\"a\": 1}"),
            ("home/keys/provider", "SECRET"),
            ("out/file", "mine"),
        ] {
            write(&stage.place().join(file), text);
        }
        let script = format!(
            r#"#!/bin/sh
[ "$1" = --version ] && echo {version} && exit
say() {{ printf '%s\n' "$1"; }}
hear() {{ IFS= read -r heard; }}
hear; say '{{"id":1,"result":{{"protocolVersion":1,"agentInfo":{{"version":"{version}"}}}}}}'
hear; say '{{"id":2,"result":{{"sessionId":"s","modes":{{"currentModeId":"{mode}"}}}}}}'
hear
USER_HOME='{place}/user' RELAY='{place}/home' ROOT='{place}/app' OUT='{place}/out' SLEEPER={pid}
export OUT
while IFS= read -r deed; do (eval "$deed") 2>>complaints.log; done <<'END'
{deeds}
END
say '{{"method":"session/update","params":{{"update":{{"sessionUpdate":"agent_message_chunk","content":{{"text":"Done."}}}}}}}}'
say '{{"id":3,"result":{{"stopReason":"end_turn"}}}}'
hear
"#,
            place = stage.place().display(),
            pid = std::process::id(),
        );
        for (program, script) in [(name, script.as_str()), ("node", "#!/bin/sh\n")] {
            let file = stage.place().join("bin").join(program);
            write(&file, script);
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        }
        stage
    }

    fn place(&self) -> PathBuf {
        self.scene.root().parent().unwrap().to_path_buf()
    }

    fn work(&self, access: Access, runner: Runner) -> WorkOutcome {
        let place = self.place();
        let path =
            std::env::join_paths([&place.join("bin"), Path::new("/usr/bin"), Path::new("/bin")]).unwrap();
        let variable = |name: &str| -> Option<OsString> {
            match name {
                "PATH" => Some(path.clone()),
                "HOME" => Some(place.join("user").into()),
                "GEMINI_API_KEY" => Some("k".into()),
                _ => None,
            }
        };
        let world = FriendContext {
            runner,
            home: Some(self.scene.home()),
            env_var: &variable,
            stop_requested: &|| false,
            depth: 0,
        };
        let friend = friends::find_program_friend(self.name).unwrap();
        let request = AskRequest { access, ..working("make it better") };
        self.scene.ask_in(&world, friend, &self.scene.root(), &request, &[]).unwrap()
    }

    /// What of its work is proposed, by path.
    fn proposed(worked: &WorkOutcome) -> Vec<String> {
        let Some(proposal) = &worked.proposal else { return Vec::new() };
        let mut paths: Vec<String> =
            proposal.operations.iter().map(|operation| operation.action.path().to_string()).collect();
        paths.sort();
        paths
    }
}

#[test]
fn a_hostile_friend_gets_nothing_out_of_its_copy() {
    for (name, version, mode) in FRIENDS {
        let deeds = format!("{DEEDS}\necho better > a.txt\necho new > src/new.rs\ncat .git/HEAD > head.txt");
        let stage = Stage::new(name, version, mode, &deeds);
        let socket = UnixListener::bind(stage.place().join("out/socket")).unwrap();
        socket.set_nonblocking(true).unwrap();
        let look =
            || ["app", "user", "out", "home/keys"].map(|name| everything(&stage.place().join(name), true));
        // opencode is given its directories, where it has none.
        let _ = fs::create_dir_all(stage.place().join("user/.cache/opencode"));
        let _ = fs::create_dir_all(stage.place().join("user/.local/state/opencode"));
        let before = look();
        let worked = stage.work(Access::Workspace, keeper_fixture::runner());
        if worked.sandbox != CopySandbox::Fence(FenceLevel::Namespaces) {
            println!("skipped: {:?}", worked.sandbox);
            return;
        }
        assert_eq!(look(), before, "{name}");
        assert!(socket.accept().is_err(), "{name}");
        assert_eq!(
            Stage::proposed(&worked),
            ["a.txt", "head.txt", "src/new.rs", "stolen-key.txt", "stolen-relay.txt", "stolen-sign-in.txt"],
            "{name}: {worked:#?}"
        );
        let stolen = format!("{:?}", worked.proposal);
        assert!(!stolen.contains("SECRET") && worked.tree_check.changes.is_empty(), "{stolen}");
        let rules =
            fs::read_to_string(stage.scene.home().join("friends/gemini/rules.toml")).unwrap_or_default();
        assert!(!rules.contains("hostile"), "{name}");
    }
}

#[test]
fn a_renewed_sign_in_stays_and_everything_else_that_it_keeps_goes_with_the_turn() {
    let renewed = |path: &str| {
        let deeds = format!("echo renewed > \"{path}\"\necho better > a.txt\ncat \"{path}\" > seen.txt");
        let (name, version, mode) = if path.contains("gemini") { FRIENDS[0] } else { FRIENDS[1] };
        let stage = Stage::new(name, version, mode, &deeds);
        let worked = stage.work(Access::Workspace, keeper_fixture::runner());
        let real = path.replace("$USER_HOME", "user").replace("$RELAY/friends/gemini", "user");
        let kept = fs::read_to_string(stage.place().join(real)).unwrap();
        assert_eq!(Stage::proposed(&worked), ["a.txt", "seen.txt"]);
        (kept, worked.sandbox)
    };
    for (path, stays) in [
        ("$USER_HOME/.local/share/opencode/auth.json", true),
        // By the link that relay put there.
        ("$RELAY/friends/gemini/.gemini/oauth_creds.json", true),
        ("$USER_HOME/.local/share/opencode/opencode.db", false),
        ("$USER_HOME/.config/opencode/opencode.json", false),
    ] {
        let (kept, sandbox) = renewed(path);
        // At level 2 all of them stay.
        if sandbox == CopySandbox::Fence(FenceLevel::Namespaces) {
            assert_eq!(kept == "renewed\n", stays, "{path}: {kept}");
        }
    }
}

#[test]
fn with_full_access_and_where_there_is_no_fence_it_runs_without_one_and_that_is_said() {
    let (name, version, mode) = FRIENDS[1];
    let deeds = "echo hostile > \"$OUT/new\"\necho better > a.txt";
    let stage = Stage::new(name, version, mode, deeds);
    assert_eq!(stage.work(Access::Full, keeper_fixture::runner()).sandbox, CopySandbox::None);
    assert!(stage.place().join("out/new").exists());

    let stage = Stage::new(name, version, mode, deeds);
    let keeper = stage.place().join("bin/keeper");
    let real = keeper_fixture::keeper();
    write(&keeper, format!("#!/bin/sh\n[ \"$1\" = __fence ] && exit 1\nexec '{}' \"$@\"\n", real.display()));
    fs::set_permissions(&keeper, fs::Permissions::from_mode(0o755)).unwrap();
    let worked = stage.work(Access::Workspace, Runner::new(keeper));
    assert!(matches!(&worked.sandbox, CopySandbox::NoFence(why) if !why.is_empty()), "{:?}", worked.sandbox);
    assert!(stage.place().join("out/new").exists());
}
