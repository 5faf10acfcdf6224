//! Asking badly: what is refused before anything is sent, with which code, and in which words.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use relaycode_testkit::process::{ChildGuard, GENEROUS_TIMEOUT, poll_until};
use rustix::process::Signal;
use serde_json::json;

use crate::fixture::snapshot::Transcript;
use crate::friends::fixture::{Codex, Stage, THREAD, answering};
use crate::relay_snapshot;

#[test]
fn prompts_times_and_access_are_checked_before_anybody_is_asked() {
    let stage = Stage::answered();
    let mut transcript = Transcript::default();
    for (args, kind) in [
        (&["ask", ""][..], "prompt"),
        (&["ask", " \n\t\u{200b}"], "prompt"),
        (&["do", "", "--to", "codex"], "prompt"),
        (&["ask"], "usage"),
        (&["ask", "--what-is-this"], "usage"),
        (&["ask", "x", "--timeout", "0"], "time"),
        (&["ask", "x", "--timeout", "-1"], "time"),
        (&["ask", "x", "--timeout=-9223372036854775808"], "time"),
        (&["ask", "x", "--idle-timeout", "0"], "time"),
        (&["ask", "x", "--timeout", "abc"], "usage"),
        (&["ask", "x", "--timeout", "99999999999999999999"], "usage"),
        (&["review", "--timeout", "0"], "time"),
        (&["do", "x", "--timeout", "0"], "time"),
        (&["ask", "x", "--access", "workspace"], "usage"),
        (&["ask", "x", "--sandbox", "workspace-write"], "usage"),
        (&["ask", "x", "--sandbox", "danger-full-access"], "usage"),
        (&["review", "--access", "full"], "usage"),
        (&["ask", "x", "--access", "admin"], "usage"),
        (&["do", "x", "--access", "read-only"], "access"),
        (&["ask", "x", "--to", "codx"], "friend"),
        (&["ask", "x", "--to", "oneself"], "friend"),
        (&["ask", "x", "--to", ""], "friend"),
        (&["ask", "x", "--to", "codex,codex"], "usage"),
        (&["ask", "x", "--to", "codex, codex"], "usage"),
        (&["ask", "x", "--to", "codex,", "--timeout", "0"], "friend"),
        (&["do", "x", "--to", "codex,claude"], "usage"),
        (&["do", "x", "--session", "s"], "usage"),
        (&["ask", "x", "--to", "codex,claude", "--session", "s"], "usage"),
        (&["ask", "x", "--context", "a", "--context-file", "a.txt"], "usage"),
    ] {
        transcript.add(&format!("relay {args:?}"), &stage.fails(args, 2, kind));
    }
    relay_snapshot!(transcript, @r#"
    # relay ["ask", ""]
    exit 2
    ----- stderr -----
    ✗ the prompt is empty
      say what you want, for example `relay ask "what does this do?"`

    # relay ["ask", " \n\t\u{200b}"]
    exit 2
    ----- stderr -----
    ✗ the prompt is empty
      say what you want, for example `relay ask "what does this do?"`

    # relay ["do", "", "--to", "codex"]
    exit 2
    ----- stderr -----
    ✗ there is nothing to do: the prompt is empty; nothing was changed
      say what you want, for example `relay do "rename total to sum in src/cart.ts"`

    # relay ["ask"]
    exit 2
    ----- stderr -----
    error: the following required arguments were not provided:
      <PROMPT>

    Usage: relay ask <PROMPT>

    For more information, try '--help'.
    ----- hint -----
    `relay --help` lists the commands, `relay COMMAND --help` the options of one

    # relay ["ask", "--what-is-this"]
    exit 2
    ----- stderr -----
    error: unexpected argument '--what-is-this' found

      tip: to pass '--what-is-this' as a value, use '-- --what-is-this'

    Usage: relay ask [OPTIONS] <PROMPT>

    For more information, try '--help'.
    ----- hint -----
    `relay --help` lists the commands, `relay COMMAND --help` the options of one

    # relay ["ask", "x", "--timeout", "0"]
    exit 2
    ----- stderr -----
    ✗ time limits must be greater than zero
      `--timeout 600` gives it ten minutes

    # relay ["ask", "x", "--timeout", "-1"]
    exit 2
    ----- stderr -----
    ✗ time limits must be greater than zero
      `--timeout 600` gives it ten minutes

    # relay ["ask", "x", "--timeout=-9223372036854775808"]
    exit 2
    ----- stderr -----
    ✗ time limits must be greater than zero
      `--timeout 600` gives it ten minutes

    # relay ["ask", "x", "--idle-timeout", "0"]
    exit 2
    ----- stderr -----
    ✗ time limits must be greater than zero
      `--timeout 600` gives it ten minutes

    # relay ["ask", "x", "--timeout", "abc"]
    exit 2
    ----- stderr -----
    error: invalid value 'abc' for '--timeout <SECONDS>': give a number of seconds, such as 600

    For more information, try '--help'.
    ----- hint -----
    `relay --help` lists the commands, `relay COMMAND --help` the options of one

    # relay ["ask", "x", "--timeout", "99999999999999999999"]
    exit 2
    ----- stderr -----
    error: invalid value '99999999999999999999' for '--timeout <SECONDS>': give a number of seconds, such as 600

    For more information, try '--help'.
    ----- hint -----
    `relay --help` lists the commands, `relay COMMAND --help` the options of one

    # relay ["review", "--timeout", "0"]
    exit 2
    ----- stderr -----
    ✗ time limits must be greater than zero
      `--timeout 600` gives it ten minutes

    # relay ["do", "x", "--timeout", "0"]
    exit 2
    ----- stderr -----
    ✗ time limits must be greater than zero
      `--timeout 600` gives it ten minutes

    # relay ["ask", "x", "--access", "workspace"]
    exit 2
    ----- stderr -----
    ✗ with the access `workspace` a friend may change files
      `relay do` lets it work in a copy, and shows you what it changed

    # relay ["ask", "x", "--sandbox", "workspace-write"]
    exit 2
    ----- stderr -----
    ✗ with the access `workspace` a friend may change files
      `relay do` lets it work in a copy, and shows you what it changed

    # relay ["ask", "x", "--sandbox", "danger-full-access"]
    exit 2
    ----- stderr -----
    ✗ with the access `full` a friend may change files
      `relay do` lets it work in a copy, and shows you what it changed

    # relay ["review", "--access", "full"]
    exit 2
    ----- stderr -----
    ✗ with the access `full` a friend may change files
      `relay do` lets it work in a copy, and shows you what it changed

    # relay ["ask", "x", "--access", "admin"]
    exit 2
    ----- stderr -----
    error: invalid value 'admin' for '--access <ACCESS>': `admin` is not an access level; use read-only, ask, workspace or full

    For more information, try '--help'.
    ----- hint -----
    `relay --help` lists the commands, `relay COMMAND --help` the options of one

    # relay ["do", "x", "--access", "read-only"]
    exit 2
    ----- stderr -----
    ✗ work needs access `workspace`: with `read-only` a friend cannot change files, not even in its copy; use `relay ask`; nothing was changed
      `--access workspace` lets it change its copy

    # relay ["ask", "x", "--to", "codx"]
    exit 2
    ----- stderr -----
    ✗ there is no friend `codx`; did you mean `codex`? There are codex, claude, gemini, opencode, self, anthropic, openai, google, xai, deepseek, mistral, zai, moonshot, groq, cerebras, together, fireworks, openrouter, vercel-gateway, github-models, ollama, llama.cpp, lm-studio
      `relay friends` shows who is there, `relay models` which servers there are

    # relay ["ask", "x", "--to", "oneself"]
    exit 2
    ----- stderr -----
    ✗ there is no friend `oneself`. There are codex, claude, gemini, opencode, self, anthropic, openai, google, xai, deepseek, mistral, zai, moonshot, groq, cerebras, together, fireworks, openrouter, vercel-gateway, github-models, ollama, llama.cpp, lm-studio
      `relay friends` shows who is there, `relay models` which servers there are

    # relay ["ask", "x", "--to", ""]
    exit 2
    ----- stderr -----
    ✗ there is no friend ``. There are codex, claude, gemini, opencode, self, anthropic, openai, google, xai, deepseek, mistral, zai, moonshot, groq, cerebras, together, fireworks, openrouter, vercel-gateway, github-models, ollama, llama.cpp, lm-studio
      `relay friends` shows who is there, `relay models` which servers there are

    # relay ["ask", "x", "--to", "codex,codex"]
    exit 2
    ----- stderr -----
    ✗ codex is named twice
      name each friend once

    # relay ["ask", "x", "--to", "codex, codex"]
    exit 2
    ----- stderr -----
    ✗ codex is named twice
      name each friend once

    # relay ["ask", "x", "--to", "codex,", "--timeout", "0"]
    exit 2
    ----- stderr -----
    ✗ there is no friend ``. There are codex, claude, gemini, opencode, self, anthropic, openai, google, xai, deepseek, mistral, zai, moonshot, groq, cerebras, together, fireworks, openrouter, vercel-gateway, github-models, ollama, llama.cpp, lm-studio
      `relay friends` shows who is there, `relay models` which servers there are

    # relay ["do", "x", "--to", "codex,claude"]
    exit 2
    ----- stderr -----
    ✗ only one friend can work at a time, but several are named
      name one of them after --to

    # relay ["do", "x", "--session", "s"]
    exit 2
    ----- stderr -----
    ✗ `relay do` starts afresh each time, so it takes no --session
      `relay ask --session NAME` goes on with a conversation

    # relay ["ask", "x", "--to", "codex,claude", "--session", "s"]
    exit 2
    ----- stderr -----
    ✗ a conversation is with one friend, but several are named
      name one of them after --to, or leave --session out

    # relay ["ask", "x", "--context", "a", "--context-file", "a.txt"]
    exit 2
    ----- stderr -----
    error: the argument '--context <TEXT>' cannot be used with '--context-file <FILE>'

    Usage: relay ask --context <TEXT> <PROMPT>

    For more information, try '--help'.
    ----- hint -----
    `relay --help` lists the commands, `relay COMMAND --help` the options of one
    "#);
    let many: Vec<String> = (0..17).map(|number| format!("codex/m{number}")).collect();
    relay_snapshot!(stage.fails(&["ask", "x", "--to", &many.join(",")], 2, "usage"), @"
    exit 2
    ----- stderr -----
    ✗ 17 friends are too many to ask at once; 16 is the limit
    ");
    let long = "x".repeat(2_000);
    let said = stage.fails(&["ask", "x", "--to", &long], 2, "friend");
    assert!(said.message.len() < 1_000, "a name is shortened");
    assert!(!stage.log().contains("turn/start"), "nobody was asked");
}

#[test]
fn a_prompt_that_looks_like_an_option_stands_behind_two_hyphens() {
    let stage = Stage::answered();
    assert_eq!(stage.works(&["ask", "--", "--what is this"])["answers"][0]["text"], "Fine.");
    assert!(stage.log().contains(r"Request:\n--what is this"), "{}", stage.log());
    let called: Vec<String> =
        stage.log().lines().filter(|line| line.starts_with("called")).map(str::to_string).collect();
    assert!(called.iter().all(|call| !call.contains("what is")), "{called:?}");
}

#[test]
fn the_limit_of_the_context_is_exact_and_bad_context_is_named() {
    let stage = Stage::answered();
    let file = stage.beside("context");
    let name = file.to_str().unwrap();
    let ask = ["ask", "x", "--context-file", name];
    fs::write(&file, "x".repeat(200_000)).unwrap();
    assert_eq!(stage.works(&ask)["answers"][0]["sent"]["context"], 200_000);
    fs::write(&file, "x".repeat(200_001)).unwrap();
    relay_snapshot!(stage.fails(&ask, 3, "tooLarge"), @"
    exit 3
    ----- stderr -----
    ✗ the context is too large: 200001 bytes, 200000 at most; nothing was changed
      give it less; nothing was sent
    ");
    fs::write(&file, b"ok\xff").unwrap();
    relay_snapshot!(stage.fails(&ask, 2, "context"), @"
    exit 2
    ----- stderr -----
    ✗ <stage>/context is not text: it is not UTF-8 from byte 3 on
      nothing was sent
    ");
    fs::remove_file(&file).unwrap();
    relay_snapshot!(stage.fails(&ask, 2, "context"), @"
    exit 2
    ----- stderr -----
    ✗ there is no file <stage>/context
      nothing was sent
    ");
    fs::create_dir(&file).unwrap();
    relay_snapshot!(stage.fails(&ask, 2, "context"), @"
    exit 2
    ----- stderr -----
    ✗ <stage>/context is no file
      nothing was sent
    ");
    fs::remove_dir(&file).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &file, 0o600.into()).unwrap();
    relay_snapshot!(stage.fails(&ask, 2, "context"), @"
    exit 2
    ----- stderr -----
    ✗ <stage>/context is no file
      nothing was sent
    ");
    relay_snapshot!(stage.fails(&["ask", "x", "--context-file", "/dev/zero"], 2, "context"), @"
    exit 2
    ----- stderr -----
    ✗ /dev/zero is no file
      nothing was sent
    ");
}

#[test]
fn what_comes_on_stdin_goes_with_the_question() {
    let stage = Stage::answered();
    let notes = stage.beside("notes");
    let ask = |stdin: Stdio| {
        let ran = stage.run(stage.json(&["ask", "x"]).stdin(stdin));
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.json()["answers"][0]["sent"]["context"].clone()
    };
    fs::write(&notes, "from a file").unwrap();
    assert_eq!(ask(fs::File::open(&notes).unwrap().into()), 11);
    assert_eq!(ask(Stdio::null()), 0);
    fs::write(&notes, " \n").unwrap();
    assert_eq!(ask(fs::File::open(&notes).unwrap().into()), 0);
    // Closed altogether.
    let mut sh = Command::new("/bin/sh");
    let line = format!("exec '{}' --json ask x <&-", env!("CARGO_BIN_EXE_relay"));
    sh.args(["-c", &line]).process_group(0);
    for (name, value) in stage.command(&[]).get_envs() {
        sh.env(name, value.unwrap_or_default());
    }
    let ran = stage.run(sh.current_dir(stage.project.path("")));
    assert_eq!((ran.code, &ran.json()["answers"][0]["sent"]["context"]), (0, &json!(0)), "{ran:?}");
    // More than goes with it, and no text.
    fs::write(&notes, "x".repeat(200_001)).unwrap();
    let over = stage.json(&["ask", "x"]).stdin(fs::File::open(&notes).unwrap()).output().unwrap();
    assert_eq!(over.status.code(), Some(3), "{over:?}");
    fs::write(&notes, b"\xff").unwrap();
    relay_snapshot!(stage
        .fails_as(stage.json(&["ask", "x"]).stdin(fs::File::open(&notes).unwrap()), 2, "context"), @"
    exit 2
    ----- stderr -----
    ✗ stdin is not text: it is not UTF-8 from byte 1 on
      nothing was sent
    ");
}

#[test]
fn a_pipe_that_never_ends_is_said_and_can_be_broken_off() {
    let stage = Stage::answered();
    let err = stage.beside("waiting");
    let mut command = stage.command(&["ask", "x"]);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(fs::File::create(&err).unwrap());
    let mut relay = ChildGuard::start(&mut command).unwrap();
    let said = poll_until(GENEROUS_TIMEOUT, || {
        let said = fs::read_to_string(&err).unwrap();
        said.contains("stdin").then_some(said)
    });
    assert!(said.is_some_and(|said| said.contains("</dev/null")), "it says what it waits for");
    relay.signal(Signal::INT);
    let ended = relay.wait_exit(GENEROUS_TIMEOUT);
    assert_eq!(ended.and_then(|status| status.code()), Some(130), "{}", fs::read_to_string(&err).unwrap());
    // The time that a friend has is the time of the whole.
    let mut command = stage.json(&["ask", "x", "--timeout", "1"]);
    let mut relay =
        ChildGuard::start(command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null())).unwrap();
    assert_eq!(relay.wait_exit(GENEROUS_TIMEOUT).and_then(|status| status.code()), Some(12));
    assert!(!stage.log().contains("turn/start"));
}

#[test]
fn the_limits_of_a_difference_and_of_the_whole_prompt_are_exact() {
    let stage = Stage::answered();
    let put = |bytes: usize| stage.project.put("big.txt", format!("{}\n", "x".repeat(bytes)).as_bytes());
    stage.project.put("small.txt", b"y\n");
    let ask = ["ask", "x", "--include-diff"];
    put(290_000);
    let bytes = stage.works(&ask)["answers"][0]["sent"]["bytes"].as_u64().unwrap();
    let exact = usize::try_from(290_000 + 300_000 - bytes).unwrap();
    put(exact);
    assert_eq!(stage.works(&ask)["answers"][0]["sent"]["bytes"], 300_000);
    put(exact + 1);
    let said = stage.fails(&ask, 3, "tooLarge");
    relay_snapshot!(said, @"
    exit 3
    ----- stderr -----
    ✗ the difference is too large: 300001 bytes, 300000 at most; nothing was changed
      big.txt 299898 bytes
      small.txt 103 bytes
      `relay review` takes the paths that matter, `.gitignore` leaves new files out; nothing was sent
    ");
    assert_eq!(said.object["error"]["files"][0]["path"], "big.txt", "{said:?}");
    // The whole: a context of 200,000, a difference, and a prompt that fills it up.
    put(250_000);
    let file = stage.beside("context");
    fs::write(&file, "x".repeat(200_000)).unwrap();
    let whole = |prompt: &str| {
        ["ask", prompt, "--include-diff", "--context-file", file.to_str().unwrap()].map(str::to_string)
    };
    let words = |words: &[String]| words.to_vec();
    let go = whole("x");
    let go: Vec<&str> = go.iter().map(String::as_str).collect();
    let size = stage.works(&go)["answers"][0]["sent"]["prompt"].as_u64().unwrap();
    let fill = usize::try_from(500_000 - size).unwrap() + 1;
    for (length, fits) in [(fill, true), (fill + 1, false)] {
        let go = words(&whole(&"x".repeat(length)));
        let go: Vec<&str> = go.iter().map(String::as_str).collect();
        if fits {
            assert_eq!(stage.works(&go)["answers"][0]["sent"]["prompt"], 500_000);
        } else {
            let said = stage.fails(&go, 3, "tooLarge").says(&["500001", "500000"]);
            assert!(said.err.contains("big.txt"), "{said:?}");
        }
    }
}

#[test]
fn a_schema_that_is_none_is_named() {
    let stage = Stage::answered();
    let file = stage.beside("schema");
    let name = file.to_str().unwrap();
    let ask = ["ask", "x", "--schema", name];
    let said = stage.fails(&ask, 2, "schema");
    relay_snapshot!(said, @"
    exit 2
    ----- stderr -----
    ✗ the schema <stage>/schema cannot be read: No such file or directory (os error 2)
      `--schema` names a file with a JSON schema; nothing was sent
    ");
    assert!(said.err.contains(name), "{said:?}");
    for (text, part) in [("{", "line 1"), ("[]", "schema"), ("{\"type\": 5}", "type"), ("\"x\"", "schema")] {
        fs::write(&file, text).unwrap();
        stage.fails(&ask, 2, "schema").says(&[part]);
    }
    fs::write(&file, b"\xff").unwrap();
    relay_snapshot!(stage.fails(&ask, 2, "schema"), @"
    exit 2
    ----- stderr -----
    ✗ the schema <stage>/schema cannot be read: stream did not contain valid UTF-8
      `--schema` names a file with a JSON schema; nothing was sent
    ");
    fs::write(&file, " ".repeat((1 << 20) + 1)).unwrap();
    relay_snapshot!(stage.fails(&ask, 2, "schema"), @"
    exit 2
    ----- stderr -----
    ✗ the schema <stage>/schema cannot be read: it has more than 1048576 bytes
      `--schema` names a file with a JSON schema; nothing was sent
    ");
    stage.fails(&["ask", "x", "--schema", "/"], 2, "schema");
    fs::remove_file(&file).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &file, 0o600.into()).unwrap();
    stage.fails(&ask, 2, "schema");
    stage.fails(&["ask", "x", "--schema", "/dev/zero"], 2, "schema");
    // What is no answer by the schema is none, and is shown.
    fs::remove_file(&file).unwrap();
    fs::write(&file, r#"{"type":"object","required":["a"]}"#).unwrap();
    relay_snapshot!(stage.fails(&ask, 11, "notByTheSchema"), @"
    exit 11
    ----- stderr -----
      what it said, which is no answer to what was asked:
    Fine.
    ✗ codex's answer does not follow the schema: it is no JSON (expected value at line 1 column 1); nothing was changed
      ask again, or with a simpler schema
    ");
    assert!(!stage.log().lines().any(|line| line.contains("turn/start") && !line.contains("outputSchema")));
}

#[test]
fn the_depth_is_read_as_the_original_reads_it_and_handed_on() {
    let stage = Stage::answered();
    for name in ["RELAY_DEPTH", "PHONE_A_FRIEND_DEPTH"] {
        for value in ["1", "01", "2", "99999999999999999999"] {
            let said = stage.fails_as(stage.json(&["ask", "x"]).env(name, value), 3, "depth");
            said.says(&["nothing was sent", "cannot ask further"]);
        }
        for value in ["0", "1abc", "", " 1", "-1"] {
            let ran = stage.run(stage.json(&["ask", "x"]).env(name, value));
            assert_eq!(ran.code, 0, "{name}={value:?}: {ran:?}");
        }
    }
    stage.fails_as(stage.json(&["review"]).env("RELAY_DEPTH", "1"), 3, "depth");
    stage.fails_as(stage.json(&["do", "x"]).env("RELAY_DEPTH", "1"), 3, "depth");
    let depths: Vec<String> =
        stage.log().lines().filter(|line| line.starts_with("depth")).map(str::to_string).collect();
    assert!(!depths.is_empty() && depths.iter().all(|line| line == "depth 1 1"), "{depths:?}");
}

#[test]
fn sessions_belong_to_a_friend_in_a_project_and_bad_ones_are_refused() {
    let stage = Stage::answered();
    let ask = ["ask", "x", "--session", "birds"];
    for name in ["", ".", "..", "../x", "a/b", "-x", "a b", "a\u{1b}[2Jb", &"x".repeat(65)] {
        stage.fails(&["ask", "x", &format!("--session={name}")], 2, "badName").says(&["64"]);
    }
    assert_eq!(stage.works(&ask)["answers"][0]["session"], THREAD);
    let listed = stage.works(&["friends", "sessions"]);
    assert_eq!(listed["sessions"][0]["name"], "birds", "{listed}");
    relay_snapshot!(stage.fails(&["ask", "x", "--session", "birds", "--to", "claude"], 2, "otherFriend"), @"
    exit 2
    ----- stderr -----
    ✗ the session birds is with codex, not with claude; use another name, or `relay friends forget birds`
    ");
    let other = tempfile::TempDir::with_prefix("outside-").unwrap();
    let place = other.path().to_str().unwrap();
    // In another project it is another one, which begins now.
    assert_eq!(
        stage.works(&["-C", place, "ask", "x", "--session", "birds"])["answers"][0]["session"],
        THREAD
    );
    assert_eq!(stage.works(&["friends", "sessions"])["sessions"].as_array().unwrap().len(), 2);
    assert_eq!(stage.works(&["-C", place, "friends", "forget", "birds"])["forgotten"], true);
    // Its own friend does not know it any more: it says that another thread answers, or that there is none.
    let file = stage.project.home().join("friends/sessions/birds.json");
    let text = fs::read_to_string(&file).unwrap();
    for id in ["01a1de0c-0000-7000-8000-00000000000f", "no id", "../../x"] {
        fs::write(&file, text.replace(THREAD, id)).unwrap();
        stage.fails(&ask, 2, "noSession").says(&["codex", "birds", "relay friends forget birds"]);
    }
    // One that cannot be read is kept aside, and said.
    fs::write(&file, "{").unwrap();
    let ran = stage.run(&mut stage.json(&ask));
    assert_eq!(ran.code, 0, "{ran:?}");
    relay_snapshot!(ran.err, @"! the session birds could not be read; its file is kept as <home>/friends/sessions/birds.broken, and it begins anew");
    assert_eq!(stage.works(&["friends", "forget", "birds"])["forgotten"], true);
    relay_snapshot!(stage.fails(&["friends", "forget", "birds"], 2, "noSession"), @"
    exit 2
    ----- stderr -----
    ✗ there is no session birds
      there are none
    ");
    stage.fails(&["friends", "forget", "../x"], 2, "badName");
    stage.fails(&["friends", "forget"], 2, "usage");
}

#[test]
fn with_several_the_one_that_is_missing_is_named_and_the_other_answers() {
    let stage = Stage::answered();
    let said = stage.fails(&["ask", "x", "--to", "codex,claude"], 10, "notInstalled");
    relay_snapshot!(said, @"
    exit 10
    ----- stderr -----
    ✗ claude is not installed: there is no `claude` in PATH; nothing was changed
      install it with `npm install -g @anthropic-ai/claude-code`
    ");
    assert_eq!(said.object["answers"][0]["text"], "Fine.");
    assert_eq!(said.object["answers"][1]["error"]["kind"], "notInstalled");
    let ran = stage.relay(&["ask", "x", "--to", "claude,codex"]);
    relay_snapshot!(ran, @"
    exit 10
    ----- stdout -----
    claude
    claude is not installed: there is no `claude` in PATH

    codex · m · 0 s
    Fine.
    ----- stderr -----
    ✗ claude is not installed: there is no `claude` in PATH; nothing was changed
      install it with `npm install -g @anthropic-ai/claude-code`
    ");
}

#[test]
fn without_a_home_a_question_is_asked_and_what_needs_one_says_so() {
    let stage = Stage::answered();
    let ran = stage.run(stage.json(&["ask", "x"]).env_remove("HOME").env_remove("RELAY_HOME"));
    assert_eq!((ran.code, &ran.json()["answers"][0]["text"]), (0, &json!("Fine.")));
    // Nobody can write there, not even root.
    fs::write(stage.beside("file"), "").unwrap();
    let nowhere = stage.beside("file/home");
    let ran = stage.run(stage.json(&["ask", "x"]).env("RELAY_HOME", &nowhere));
    assert_eq!(ran.code, 0, "{ran:?}");
    let session = ["ask", "x", "--session", "s"];
    relay_snapshot!(stage.fails_as(stage.json(&session).env("RELAY_HOME", &nowhere), 2, "home"), @"
    exit 2
    ----- stderr -----
    ✗ <stage>/file/home cannot be used: Not a directory (os error 20)
    ");
    let ran = stage.run(stage.json(&session).env_remove("HOME").env_remove("RELAY_HOME"));
    assert_eq!(ran.code, 0, "{ran:?}");
    relay_snapshot!(ran.err, @"! this answer is not remembered: neither HOME nor RELAY_HOME names an absolute path, so relay has no place for its own files; set one of them");
    let ran = stage.run(stage.json(&["ask", "x"]).env("TMPDIR", &nowhere));
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn a_friend_of_the_other_kind_is_refused_in_the_same_words() {
    let stage = Stage::bare().codex(&Codex::turning(&answering("x")));
    let home = stage.project.home();
    fs::write(home.join("models.yml"), "providers: {ollama: {baseUrl: 'http://127.0.0.1:9'}}\n").unwrap();
    relay_snapshot!(stage.fails(&["ask", "x", "--to", "ollama/m"], 10, "unreachable"), @"
    exit 10
    ----- stderr -----
    ✗ ollama cannot reach its server: nobody listens at http://127.0.0.1:9. Is its server running?; nothing was changed
      look at the network and at where its configuration points
    ");
    fs::write(home.join("models.yml"), "providers: [").unwrap();
    relay_snapshot!(stage.fails(&["ask", "x", "--to", "ollama/m"], 2, "friend"), @"
    exit 2
    ----- stderr -----
    ✗ <home>/models.yml:1:12: this is not YAML that relay reads: unclosed bracket '[' at line 1, column 12; correct models.yml before a model server is asked
      `relay models` says more
    ");
    stage.works(&["ask", "x", "--to", "codex"]);
}

#[test]
fn the_help_of_do_offers_nothing_that_is_always_refused() {
    let stage = Stage::answered();
    let help = stage.project.relay(&["do", "--help"]).out;
    assert!(!help.contains("--session") && !help.contains("foreign-change"), "{help}");
}
