//! What asking a friend may cost, measured in small: `cargo xtask bench --only friends` measures it in full, in a
//! release build, against the real targets. Here the limits are wide, because tests run beside each other and
//! unoptimised: they tell a relay that loads, starts or leaves what it need not from one that does not.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::Instant;

use relaycode_testkit::process::{CLEANUP_TIMEOUT, ChildGuard, GENEROUS_TIMEOUT, poll_until};
use relaycode_testkit::process_table;
use rustix::process::Signal;

use crate::fixture::scratch_project::Project;

/// Kilobytes of relay at most.
const MEMORY_BELOW: u64 = 64 << 10;
/// The one that hears, and the one that talks with the friend.
const THREADS: u64 = 2;
const MARK: &str = "RELAY_FRIENDS_BENCH";

/// Ignores everything that can be ignored, and so do its children, which left its session.
const STUBBORN: &str = "trap '' TERM INT HUP\nsetsid sleep 600 &\nsetsid sleep 600 &";

/// A project with a codex in `bin` that answers, or, when it is told nothing to say, thinks for ever.
fn played(first: &str, answer: Option<&str>) -> Project {
    let project = Project::new(&[("a.txt", "one\n")]);
    let here = project.home().to_str().unwrap().to_string();
    let say = answer.map_or_else(
        || ":".to_string(),
        |text| {
            let item = format!(r#"{{"type":"agentMessage","id":"m","text":"{text}"}}"#);
            let ids = r#""threadId":"01a1de0c-0000-7000-8000-000000000001","turnId":"t""#;
            format!(
                r#"echo '{{"method":"item/completed","params":{{"item":{item},{ids}}}}}'
    echo '{{"method":"turn/completed","params":{{{ids},"turn":{{"id":"t","items":[{item}],"status":"completed","error":null}}}}}}'"#
            )
        },
    );
    let script = format!(
        r#"#!/bin/sh
project=$PWD
{first}
while IFS= read -r line; do
  case "$line" in
  *'"method":"initialize"'*) echo '{{"id":1,"result":{{"userAgent":"relay/0.166.0 (a player)","codexHome":"/nowhere"}}}}' ;;
  *'"method":"account/read"'*) echo '{{"id":2,"result":{{"account":null,"requiresOpenaiAuth":false}}}}' ;;
  *'"method":"config/read"'*) echo '{{"id":3,"result":{{"config":{{}}}}}}' ;;
  *'"method":"thread/start"'*)
    profile=${{line#*'"default_permissions":"'}}
    printf '{{"id":4,"result":{{"thread":{{"id":"01a1de0c-0000-7000-8000-000000000001"}},"model":"m","cwd":"%s","approvalPolicy":"on-request","approvalsReviewer":"user","sandbox":{{"type":"readOnly","networkAccess":false}},"activePermissionProfile":{{"id":"%s"}}}}}}\n' "$project" "${{profile%%'"'*}}" ;;
  *'"method":"turn/start"'*)
    echo '{{"id":5,"result":{{"turn":{{"id":"t","items":[],"status":"inProgress","error":null}}}}}}'
    while read -r word value rest; do
      case "$word" in PPid:) relay=$value ;; esac
    done <"/proc/$PPID/status"
    cat "/proc/$relay/status" >'{here}/seen.part'
    mv '{here}/seen.part' '{here}/seen'
    {say} ;;
  esac
done
"#
    );
    let bin = project.home().join("bin");
    fs::create_dir(&bin).unwrap();
    fs::write(bin.join("codex"), script).unwrap();
    fs::set_permissions(bin.join("codex"), fs::Permissions::from_mode(0o755)).unwrap();
    project
}

fn ask(project: &Project) -> Command {
    let mut command = project.command(&["ask", "--to", "codex", "what is this"]);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::iter::once(project.home().join("bin")).chain(std::env::split_paths(&path));
    command.env("PATH", std::env::join_paths(places).unwrap()).env(MARK, project.home());
    command
}

/// What the system said of relay while its friend worked.
fn value(seen: &str, name: &str) -> u64 {
    let line = seen.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.unwrap().split_whitespace().next().unwrap().parse().unwrap()
}

/// How many processes carry the project's mark.
fn running(project: &Project) -> usize {
    let mark = format!("{MARK}={}", project.home().display());
    process_table::find_processes(|given| given.has_env(&mark)).len()
}

#[test]
fn asking_a_program_takes_little_memory_no_more_threads_and_no_look_at_model_servers() {
    let project = played("", Some("It is a bird."));
    // It would be an error, if it were read.
    fs::write(project.home().join("models.yml"), "providers: [\n").unwrap();
    let output = ask(&project).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "It is a bird.");
    let seen = fs::read_to_string(project.home().join("seen")).unwrap();
    assert!(value(&seen, "VmHWM") < MEMORY_BELOW, "{seen}");
    assert!(value(&seen, "Threads") <= THREADS, "{seen}");
}

#[test]
fn nothing_is_left_soon_of_a_friend_that_is_deaf_when_the_user_breaks_it_off() {
    let project = played(STUBBORN, None);
    let mut command = ask(&project);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut relay = ChildGuard::start(&mut command).unwrap();
    let begun = || (project.home().join("seen").exists() && running(&project) >= 5).then_some(());
    assert!(poll_until(GENEROUS_TIMEOUT, begun).is_some(), "{} are running", running(&project));
    let began = Instant::now();
    relay.signal(Signal::INT);
    let gone = poll_until(GENEROUS_TIMEOUT, || (running(&project) == 0).then(|| began.elapsed()));
    assert!(gone.is_some_and(|gone| gone < CLEANUP_TIMEOUT), "{gone:?}");
    assert_eq!(relay.wait_exit(GENEROUS_TIMEOUT).and_then(|status| status.code()), Some(130));
}
