//! What is said of a question beside its answer: what goes along and what does not, what was changed, and the state
//! that the project is in.

use std::fs;
use std::io::Write;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::time::Duration;

use relaycode_testkit::model::{Script, ScriptedServer, ScriptedTurn};
use relaycode_testkit::process::{ChildGuard, poll_until};
use relaycode_testkit::screen::{TestScreen, on_terminal};
use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fixture::configured_project::configure;
use crate::friends::fixture::{Codex, Stage, THREAD, answering};
use crate::relay_snapshot;

fn verdict(word: &str) -> String {
    answering(&json!({"schemaVersion": 1, "verdict": word, "summary": "s", "findings": []}).to_string())
}

/// A codex that does this, and then comes to a verdict.
fn judging(work: &str, word: &str) -> Stage {
    Stage::new().codex(&Codex::turning(&format!("{work}\n{}", verdict(word))))
}

#[test]
fn what_an_abstaining_reviewer_changed_and_got_is_told() {
    let stage = judging("echo meddled >a.txt", "abstain");
    let ran = stage.run_changing(&mut stage.json(&["review", "--verdict"]));
    let said = ran.json();
    assert_eq!((ran.code, &said["error"]["kind"]), (11, &json!("abstained")), "{ran:?}");
    assert_eq!(said["changed"][0]["path"], "a.txt", "{said}");
    assert_eq!(said["error"]["state"], Value::Null, "{said}");
    assert_eq!(said["answers"][0]["sent"]["files"], 1, "{said}");
    relay_snapshot!(ran.err, @r#"
      for codex: what was committed since main (there is a branch of that name, and no origin/HEAD): 1 commit, 1 file, 103 bytes
      what it said, which is no answer to what was asked:
    {"schemaVersion":1,"verdict":"abstain","summary":"s","findings":[]}
    ! 1 file changed while it ran; it was not allowed to, so this may be your own work:
      a.txt  changed
    ✗ codex gave no verdict: it abstained: s
      no verdict is no pass; ask another friend
    "#);
    // One who changed nothing is believed only after a look.
    let stage = judging("true", "abstain");
    let failed = stage.fails(&["review", "--verdict"], 11, "abstained");
    assert_eq!(failed.object["error"]["state"], "unchanged", "{failed:?}");
}

#[test]
fn a_project_that_was_moved_away_is_no_pass() {
    for (args, work) in [
        (&["review", "--verdict"][..], verdict("ship")),
        (&["ask", "x"], answering("Fine.")),
        (&["review", "--verdict", "--no-tree-check"], verdict("ship")),
    ] {
        let stage = Stage::new().codex(&Codex::turning(&format!("mv \"$PWD\" \"$PWD.away\"\n{work}")));
        symlink("/bin/mv", stage.bin("mv")).unwrap();
        let root = stage.project.path("").canonicalize().unwrap();
        let ran = stage.run_changing(&mut stage.json(args));
        fs::rename(format!("{}.away", root.display()), &root).unwrap();
        let said = ran.json();
        if args.contains(&"--no-tree-check") {
            assert_eq!((ran.code, &said["changed"]), (0, &json!([])), "{ran:?}");
            continue;
        }
        assert_eq!((ran.code, &said["ok"], &said["code"]), (6, &json!(false), &json!(6)), "{ran:?}");
        assert_eq!(said["changed"][0]["kind"], "removed", "{said}");
        assert!(ran.err.contains("changed while it ran"), "{ran:?}");
    }
}

#[test]
fn files_that_are_left_out_of_a_difference_are_named() {
    let stage = Stage::answered();
    stage.project.put(".env", b"KEY=1\n");
    let ran = stage.run(&mut stage.json(&["ask", "x", "--include-diff"]));
    let sent = &ran.json()["answers"][0]["sent"];
    assert_eq!((ran.code, &sent["leftOut"][0]["path"]), (0, &json!(".env")), "{ran:?}");
    relay_snapshot!(ran.err, @"
      for codex: the last commit, because nothing that can be sent is uncommitted: 1 file, 103 bytes
    ! .env is not in it: by its name it holds secrets
    ");
    assert!(!stage.log().contains("KEY=1"));
    stage.project.put("new.txt", b"new\n");
    let ran = stage.relay(&["review", "--uncommitted"]);
    relay_snapshot!(ran, @"
    exit 0
    ----- stdout -----
    Fine.
    ----- stderr -----
      for codex: what was committed since main (there is a branch of that name, and no origin/HEAD), and the uncommitted work: 1 commit, 2 files, 1 of them new to git, 202 bytes
    ! .env is not in it: by its name it holds secrets
    ");
    fs::remove_file(stage.project.path("new.txt")).unwrap();
    stage.git(&["checkout", "-q", "main"]);
    let failed = stage.fails(&["review"], 3, "nothing");
    relay_snapshot!(failed, @"
    exit 3
    ----- stderr -----
    ✗ there is nothing to review: nothing was committed since main (there is a branch of that name, and no origin/HEAD), and nothing that can be sent is uncommitted: not .env (by its name it holds secrets); nothing was changed
      `--base REF` compares with something else; nothing was sent
    ");
    assert!(!failed.message.contains("nothing is uncommitted"), "{failed:?}");
}

#[test]
fn what_codexs_own_review_sees_of_uncommitted_work_is_said() {
    let stage = Stage::answered();
    stage.project.put("new.txt", b"new\n");
    let ran = stage.run(&mut stage.json(&["review"]));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.json()["answers"][0]["sent"]["workLeftOut"], true, "{ran:?}");
    relay_snapshot!(ran.err, @"
      for codex: no difference; it compares with main (there is a branch of that name, and no origin/HEAD) by itself
    ! there is uncommitted work: its own review sees edits of files that git knows, and no new files
    ");
    assert!(stage.log().contains("review/start"));
    // As a prompt it is another thing.
    let ran = stage.relay(&["review", "--prompt", "Look."]);
    relay_snapshot!(ran, @"
    exit 0
    ----- stdout -----
    Fine.
    ----- stderr -----
      for codex: what was committed since main (there is a branch of that name, and no origin/HEAD): 1 commit, 1 file, 103 bytes
    ! uncommitted work is not in it; `--uncommitted` sends it, too
    ");
}

#[test]
fn a_base_that_codex_cannot_compare_with_is_known_before_it_is_asked() {
    let stage = Stage::answered();
    let commit = stage.git(&["rev-parse", "main"]);
    for base in ["HEAD~1", commit.trim()] {
        let ran = stage.relay(&["review", "--base", base]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(ran.err.contains("neither") && !ran.err.contains("failed"), "{ran:?}");
    }
    let log = stage.log();
    assert!(log.contains("turn/start") && !log.contains("review/start"), "{log}");
}

#[test]
fn the_base_is_said_before_the_answer_and_where_the_difference_is_too_large() {
    let stage = Stage::answered();
    let ran = stage.run(&mut stage.json(&["review", "--stream"]));
    let first: Value = serde_json::from_str(ran.out.lines().next().unwrap()).unwrap();
    assert_eq!(first["event"], "sending", "{ran:?}");
    assert!(first["text"].as_str().unwrap().contains("compares with main"), "{first}");
    let ran = stage.relay(&["review", "--prompt", "Look."]);
    let said = "for codex: what was committed since main (there is a branch of that name, and no origin/HEAD): 1 commit, 1 file, ";
    let flat = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(ran.code == 0 && flat.contains(said.trim_end()), "{ran:?}");
    stage.project.put("big.txt", "x".repeat(300_001).as_bytes());
    stage.git(&["add", "big.txt"]);
    stage.git(&["commit", "-q", "-m", "big"]);
    let failed = stage.fails(&["review", "--prompt", "Look."], 3, "tooLarge");
    assert_eq!(failed.object["error"]["state"], "unchanged", "{failed:?}");
    failed.says(&["the difference since main (", "too large"]);
}

#[test]
fn a_model_server_is_reminded_of_the_whole_prompt() {
    let stage = Stage::new();
    let server = ScriptedServer::start(
        Script::any([ScriptedTurn::text("Fine."), ScriptedTurn::text("Still fine.")]).models(["m"]),
    );
    let models = stage.project.home().join("models.yml");
    fs::write(models, format!("providers: {{ollama: {{baseUrl: '{}'}}}}\n", server.url())).unwrap();
    let go = ["--to", "ollama/m", "--session", "s"];
    let first = ["review", "--context", "bear in mind"];
    stage.works(&[&first[..], &go].concat());
    stage.works(&[&["ask", "and now?"][..], &go].concat());
    let turns = server.turns();
    let last = turns.last().unwrap().to_json().to_string();
    assert_eq!(turns.len(), 2);
    for part in ["+two", "bear in mind", "Review the following changes", "Fine.", "and now?"] {
        assert!(last.contains(part), "`{part}` in {last}");
    }
}

#[test]
fn ollamas_own_variable_says_where_its_server_is() {
    let stage = Stage::new();
    let server = ScriptedServer::start(Script::any([ScriptedTurn::text("Fine.")]).models(["m"]));
    let mut command = stage.json(&["ask", "x", "--to", "ollama/m"]);
    command.env("OLLAMA_HOST", server.url().strip_prefix("http://").unwrap());
    let ran = stage.run(&mut command);
    assert_eq!(ran.json()["answers"][0]["text"], "Fine.", "{ran:?}");
    assert_eq!(server.turns().len(), 1);
}

#[test]
fn the_key_of_the_checkout_does_not_get_into_a_session() {
    let stage = Stage::new();
    configure(&stage.project, json!({}));
    let named = stage.project.relay(&["prompt", "--json", "-q"]).json()["projectId"].to_string();
    let key = named.trim_matches('"').strip_prefix("shop.").unwrap().to_string();
    let answer = format!("projectId: shop.{key}, as you said");
    let server = ScriptedServer::start(Script::any([ScriptedTurn::text(&answer)]).models(["m"]));
    let models = stage.project.home().join("models.yml");
    fs::write(models, format!("providers: {{ollama: {{baseUrl: '{}'}}}}\n", server.url())).unwrap();
    let asked = format!("answer for shop.{key}");
    let said = stage.works(&["ask", &asked, "--to", "ollama/m", "--session", "s"]);
    assert_eq!(said["answers"][0]["text"], answer, "whoever asked sees it");
    let saved = fs::read_to_string(stage.project.home().join("friends/sessions/s.json")).unwrap();
    assert!(!saved.contains(&key), "{saved}");
    assert!(saved.contains("answer for shop.") && saved.contains(", as you said"), "{saved}");
}

#[test]
fn a_schema_is_looked_for_where_the_user_points_to() {
    let stage = Stage::new().codex(&Codex::answering(r#"{"a":1}"#));
    stage.project.put("below/form.json", br#"{"type":"object","required":["a"]}"#);
    let said = stage.works(&["-C", "below", "ask", "x", "--schema", "form.json"]);
    assert_eq!(said["answers"][0]["value"], json!({"a": 1}));
    stage.fails(&["ask", "x", "--schema", "form.json"], 2, "schema");
}

#[test]
fn a_failure_says_the_state_of_the_project_if_somebody_looked() {
    let stage = Stage::new().codex(&Codex::turning("exit 1"));
    let failed = stage.fails(&["ask", "x"], 10, "friendFailed");
    assert_eq!(failed.object["error"]["state"], "unchanged", "{failed:?}");
    assert_eq!(failed.object["answers"][0]["error"]["state"], "unchanged", "{failed:?}");
    relay_snapshot!(failed.err, @"
    ! codex tries again: it ended with code 1 before it was done
    ! codex is asked in another way: app-server does not work (it ended with code 1 before it was done); exec is used
    ✗ codex failed: it ended with code 9 before it was done; nothing was changed
      `relay friends --test` says whether it answers at all
    ");
    let failed = stage.fails(&["ask", "x", "--no-tree-check"], 10, "friendFailed");
    assert_eq!(failed.object["error"]["state"], Value::Null, "{failed:?}");
    relay_snapshot!(failed.err, @"
    ! codex tries again: it ended with code 1 before it was done
    ! codex is asked in another way: app-server does not work (it ended with code 1 before it was done); exec is used
    ✗ codex failed: it ended with code 9 before it was done
      `relay friends --test` says whether it answers at all
    ");
    let failed = stage.fails(&["ask", "x", "--to", "codex,claude"], 10, "friendFailed");
    assert_eq!(failed.object["error"]["state"], "unchanged", "{failed:?}");
}

#[test]
fn an_interrupt_says_the_state_of_the_project() {
    let stage = Stage::new().codex(&Codex::turning("sleep 1000"));
    let (out, err) = (stage.beside("said"), stage.beside("told"));
    let mut command = stage.json(&["ask", "x"]);
    command.stdin(Stdio::null()).stdout(fs::File::create(&out).unwrap());
    let mut relay = ChildGuard::start(command.stderr(fs::File::create(&err).unwrap())).unwrap();
    assert!(
        poll_until(Duration::from_secs(20), || stage.log().contains("turn/start").then_some(())).is_some()
    );
    relay.signal(Signal::INT);
    assert_eq!(relay.wait_exit(Duration::from_secs(20)).and_then(|status| status.code()), Some(130));
    let said: Value = serde_json::from_str(&fs::read_to_string(&out).unwrap()).unwrap();
    assert_eq!(said["error"]["state"], "unchanged", "{said}");
    assert!(fs::read_to_string(&err).unwrap().contains("nothing was changed"));
}

#[test]
fn too_many_new_files_are_named_by_their_directories() {
    let stage = Stage::answered();
    fs::create_dir_all(stage.project.path("web/modules")).unwrap();
    for number in 0..10_001 {
        fs::write(stage.project.path(&format!("web/modules/{number}")), "").unwrap();
    }
    let ran = stage.run_changing(&mut stage.json(&["ask", "x", "--include-diff"]));
    let said = ran.json();
    let text = |name: &str| said["error"][name].as_str().unwrap().to_string();
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(text("message").contains("web/modules/ (10001)"), "{said}");
    assert!(text("hint").contains(".gitignore"), "{said}");
    stage.project.put(".gitignore", b"modules/\n");
    stage.works(&["ask", "x", "--include-diff"]);
}

#[test]
fn a_socket_on_stdin_is_read_like_a_pipe_unless_nothing_comes() {
    let stage = Stage::answered();
    let ask = |args: &[&str], stdin: UnixStream| {
        let ran = stage.run(stage.json(args).stdin(Stdio::from(OwnedFd::from(stdin))));
        assert_eq!(ran.code, 0, "{ran:?}");
        (ran.json()["answers"][0]["sent"]["context"].clone(), ran.err)
    };
    let (theirs, mut ours) = UnixStream::pair().unwrap();
    ours.write_all(b"from a socket").unwrap();
    ours.shutdown(Shutdown::Write).unwrap();
    assert_eq!(ask(&["ask", "x"], theirs).0, 13);
    // Closed without a word.
    let (theirs, ours) = UnixStream::pair().unwrap();
    drop(ours);
    assert_eq!(ask(&["ask", "x"], theirs).0, 0);
    // Left open, as programs do that never write.
    let (theirs, ours) = UnixStream::pair().unwrap();
    let (context, err) = ask(&["ask", "x"], theirs);
    assert!(context == 0 && err.contains("stdin is a socket"), "{err}");
    drop(ours);
    // Not looked at if something else goes along.
    let (theirs, ours) = UnixStream::pair().unwrap();
    let (context, err) = ask(&["ask", "x", "--context", "abc"], theirs);
    assert!(context == 3 && !err.contains("socket"), "{err}");
    drop(ours);
}

#[test]
fn no_time_is_refused_by_every_command() {
    let stage = Stage::answered();
    for args in [&["ask", "x"][..], &["review"], &["do", "x"]] {
        for limit in ["--timeout", "--idle-timeout"] {
            stage.fails(&[args, &[limit, "0"]].concat(), 2, "time").says(&["greater than zero"]);
        }
    }
    assert!(!stage.log().contains("thread/"));
}

#[test]
fn at_a_terminal_the_words_appear_as_they_come() {
    let place = TempDir::with_prefix("go-").unwrap();
    let go = place.path().join("go");
    let delta = json!({"method": "item/agentMessage/delta", "params": {"threadId": THREAD, "itemId": "m", "delta": "A heron"}});
    let item = json!({"type": "agentMessage", "id": "m", "text": "A heron, I think."});
    let item = json!({"method": "item/completed", "params": {"threadId": THREAD, "item": item}});
    let end =
        json!({"method": "turn/completed", "params": {"threadId": THREAD, "turn": {"status": "completed"}}});
    let turn = format!(
        "cat <<'END'\n{}\n{delta}\nEND\nuntil [ -e '{}' ]; do sleep 0.02; done\ncat <<'END'\n{item}\n{end}\nEND\n",
        json!({"id": 5, "result": {"turn": {"id": "t"}}}),
        go.display(),
    );
    let stage = Stage::new().codex(&Codex::turning(&turn));
    let mut command = on_terminal(env!("CARGO_BIN_EXE_relay"));
    stage.surround(&mut command);
    command.args(["ask", "Which bird is it?"]).env("NO_COLOR", "1");
    let mut screen = TestScreen::start(command, 80, 24);
    screen.wait_for_line("A heron");
    assert!(screen.try_exit_status().is_none(), "{}", screen.scrollback_text());
    fs::write(&go, "").unwrap();
    assert!(screen.wait_exit().success(), "{}", screen.scrollback_text());
    assert_eq!(screen.scrollback_text().matches("A heron").count(), 1, "{}", screen.scrollback_text());
}
