//! Limits that hold for every friend, through the binary: of time, of memory, of depth, and of what relay knows of a
//! program.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::friends::fixture::{Codex, Stage};
use crate::relay_snapshot;

/// Kilobytes that relay may have in memory, whatever a friend sends in one line.
const MOST: u64 = 300 << 10;

/// An opencode that begins a session, and then does this in place of an answer.
fn opencode(turn: &str) -> Stage {
    let script = format!(
        r#"case "$1" in --version) echo 1.18.33; exit;; acp) ;; *) exit 2;; esac
say() {{ printf '%s\n' "$1"; }}
read -r line; say '{{"id":1,"result":{{"protocolVersion":1,"agentInfo":{{"version":"1.18.33"}}}}}}'
read -r line; say '{{"id":2,"result":{{"sessionId":"s","modes":{{"currentModeId":"relay"}}}}}}'
read -r line
{turn}
say '{{"id":3,"result":{{"stopReason":"end_turn"}}}}'
read -r line"#
    );
    Stage::new().script("opencode", &script)
}

const HERON: &str = r#"say '{"method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"text":"A heron."}}}}'"#;

#[test]
fn a_time_without_end_is_a_long_time() {
    let far = i64::MAX.to_string();
    let long = ["--timeout", far.as_str(), "--idle-timeout", far.as_str()];
    let ask = |to: &'static str| [["ask", "x", "--to", to].as_slice(), &long].concat();
    assert_eq!(opencode(HERON).works(&ask("opencode"))["ok"], true);
    assert_eq!(Stage::answered().works(&ask("codex"))["ok"], true);
    let claude = "case $1 in --version) echo 2.1.325; exit;; esac
init='{\"type\":\"system\",\"subtype\":\"init\",\"tools\":[],\"permissionMode\":\"default\",\"claude_code_version\":\"2.1.325\",\"cwd\":\"'$PWD'\"}'
done='{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"A heron.\"}'
read -r line; echo '{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\",\"request_id\":\"1\",\"response\":{}}}'
read -r line; echo \"$init\"; echo \"$done\"
read -r line; echo \"$done\"; read -r line";
    assert_eq!(Stage::new().script("claude", claude).works(&ask("claude"))["ok"], true);
}

#[test]
fn one_that_runs_out_of_time_is_told_with_its_last_words() {
    let hangs = "case $1 in --version) echo 2.1.325; exit;; esac; echo 'FATAL: waiting for lock' >&2; exec sleep 1000";
    let stage = Stage::new().script("claude", hangs);
    let ask = ["ask", "x", "--to", "claude", "--timeout", "2"];
    relay_snapshot!(stage.fails(&ask, 12, "timedOut"), @"
    exit 12
    ----- stderr -----
    ✗ claude timed out after 2 s: FATAL: waiting for lock; nothing was changed
      give it longer with `--timeout SECONDS`
    ");
}

#[test]
fn one_line_does_not_fill_the_memory() {
    let values = |value: &str, bytes: usize| {
        format!(
            r#"printf '{{"method":"session/update","params":['; yes '{value},' | tr -d '\n' | head -c {bytes}; printf '0]}}\n'"#
        )
    };
    let text = r#"printf '{"method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"text":"'; head -c 31000000 /dev/zero | tr '\0' x; printf '\\n"}}}}\n'"#;
    let (many, most_that_are_read) = (31_000_000, 7 * 49_000);
    for (turn, expected) in [
        (&*values("0", many), 10),
        (&*values(r#"{"":0}"#, many), 10),
        (&*values(r#"{"":0}"#, most_that_are_read), 0),
        (text, 10),
    ] {
        let stage = opencode(&format!("{turn}\n{HERON}"));
        let mut command = stage.json(&["ask", "x", "--to", "opencode"]);
        let mut relay = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let (began, mut most) = (Instant::now(), 0);
        let code = loop {
            assert!(began.elapsed() < Duration::from_secs(60), "it ends");
            let status = std::fs::read_to_string(format!("/proc/{}/status", relay.id())).unwrap_or_default();
            let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let peak = peak.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
            most = most.max(peak.unwrap_or(0));
            if let Some(status) = relay.try_wait().unwrap() {
                break status.code();
            }
            std::thread::yield_now();
        };
        println!("{most} kB at most");
        assert_eq!(code, Some(expected), "{}", &turn[..60]);
        assert!(most < MOST, "{most} kB: {}", &turn[..60]);
    }
}

#[test]
fn one_that_does_not_read_is_not_answered_for_ever() {
    let turn = r#"n=0; while [ $n -lt 200 ]; do n=$((n + 1)); say '{"id":'$n',"method":"fs/read_text_file","params":{"path":"'$PWD'/large.txt"}}'; done; exec sleep 1000"#;
    let stage = opencode(turn);
    stage.project.put("large.txt", "x".repeat(3_000_000).as_bytes());
    relay_snapshot!(stage.fails(&["ask", "x", "--to", "opencode"], 10, "notReading"), @"
    exit 10
    ----- stderr -----
    ✗ opencode does not read what it is answered; more than 32 MiB wait for it; nothing was changed
      `relay friends --test` says whether it answers at all
    ");
}

#[test]
fn one_that_is_too_old_gets_no_prompt_by_the_other_way() {
    let once = "case $1 in app-server) exit 2;; exec) cat >>\"$LOG\"; echo '{\"type\":\"turn.completed\"}'; exit 0;; esac";
    let stage = Stage::new().codex(&Codex { version: "0.30.0", first: once.into(), ..Codex::answering("") });
    relay_snapshot!(stage.fails(&["ask", "which bird"], 10, "tooOld"), @"
    exit 10
    ----- stderr -----
    ! codex tries again: it ended with code 2 before it was done
    ✗ codex 0.30.0 is too old: relay knows 0.154.0 and later; nothing was changed
      bring it up to date; `relay friends` shows what is installed
    ");
    assert!(!stage.log().contains("which bird"), "{}", stage.log());
}

#[test]
fn a_test_is_not_made_from_below_and_one_that_is_named_has_to_be_there() {
    let stage = Stage::answered();
    let mut below = stage.json(&["friends", "codex", "--test"]);
    let asked = stage.fails_as(stage.json(&["ask", "x"]).env("RELAY_DEPTH", "1"), 3, "depth");
    let tested = stage.fails_as(below.env("RELAY_DEPTH", "1"), 3, "depth");
    assert_eq!(tested.message, asked.message);
    assert!(!stage.log().contains("turn/start"), "{}", stage.log());

    let ran = stage.run(&mut stage.json(&["friends", "claude", "--test"]));
    assert_eq!((ran.code, &ran.json()["friends"][0]["test"]["ok"]), (10, &false.into()), "{ran:?}");
    assert_eq!(ran.json()["friends"][0]["test"]["error"]["kind"], "notInstalled", "{ran:?}");
}

#[test]
fn to_forget_what_is_not_there_says_what_is() {
    let stage = Stage::answered();
    relay_snapshot!(stage.fails(&["friends", "forget", "brids"], 2, "noSession"), @"
    exit 2
    ----- stderr -----
    ✗ there is no session brids
      there are none
    ");
    for name in ["birds", "fish"] {
        stage.works(&["ask", "x", "--session", name]);
    }
    relay_snapshot!(stage.fails(&["friends", "forget", "brids"], 2, "noSession"), @"
    exit 2
    ----- stderr -----
    ✗ there is no session brids
      there are: fish, birds
    ");
    relay_snapshot!(stage.fails(&["friends", "forget", "bird"], 2, "noSession"), @"
    exit 2
    ----- stderr -----
    ✗ there is no session bird
      did you mean `birds`?
    ");
}
