//! What `relay preview` shows and how it ends.

use std::fs;
use std::process::Stdio;

use crate::fixture::scratch_project::{Project, edit, run, whole};
use crate::relay_snapshot;

const CART: &str = "function total(items) {\n\tlet sum = 0;\n\tfor (const item of items) {\n\t\tsum += item.price;\n\t}\n\treturn sum;\n}\n";

fn cart() -> Project {
    Project::new(&[("src/cart.js", CART)])
}

#[test]
fn a_plan_is_shown_and_nothing_is_written() {
    let project = cart();
    let answer = edit("src/cart.js", "\treturn sum;", "\treturn round(sum);")
        + &whole("src/round.js", "export const round = Math.round;\n")
        + "\n```yaml\nprojectId: shop\nuuid: 0f8fad5b-d9cb-469f-a165-70867728950e\ngitCommitMsg: \"feat: round\"\n```\n";
    relay_snapshot!(project.preview(&answer), @"
    exit 0
    ----- stdout -----
    ▸ feat: round                                                             2 files  +2 −1
        M  src/cart.js   +1 −1   1 exact
        A  src/round.js  +1
      `relay apply` would ask: no-config

    --- a/src/cart.js
    +++ b/src/cart.js
    @@ -3,5 +3,5 @@
     	for (const item of items) {
     		sum += item.price;
     	}
    -	return sum;
    +	return round(sum);
     }

    --- /dev/null
    +++ b/src/round.js
    @@ -0,0 +1,1 @@
    +export const round = Math.round;
    ");
    assert_eq!(fs::read_to_string(project.path("src/cart.js")).unwrap(), CART);
    assert!(!project.path("src/round.js").exists());
}

#[test]
fn the_alias_the_directory_and_the_flags_work() {
    let project = cart();
    let answer = edit("src/cart.js", "\treturn sum;", "\treturn 1;");
    project.put("answers/a.md", answer.as_bytes());
    relay_snapshot!(project.relay(&["plan", "answers/a.md", "--no-diff"]), @"
    exit 0
    ----- stdout -----
    ▸ answers/a.md                                                             1 file  +1 −1
        M  src/cart.js  +1 −1   1 exact
      `relay apply` would ask: no-config
    ");
    let src = edit("cart.js", "\treturn sum;", "\treturn 1;");
    project.put("answers/b.md", src.as_bytes());
    let ran = project.relay(&["preview", "answers/b.md", "-C", "src"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let ran = project.relay(&["preview", "answers/b.md", "-C", "src", "-q"]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""));
    let ran = project.relay(&["preview", "answers/b.md"]);
    assert_eq!(ran.code, 3, "beneath the root there is no cart.js: {ran:?}");
}

#[test]
fn json_has_the_whole_plan() {
    let project = cart();
    let answer = edit("src/cart.js", "return sum;", "return round(sum);");
    let ran = project.pipe(&["preview", "-", "--json", "--text"], answer.as_bytes());
    assert_eq!(ran.code, 0, "{ran:?}");
    // People read stderr.
    relay_snapshot!(ran.err, @"
    ▸ stdin                                                                    1 file  +1 −1
        M  src/cart.js  +1 −1   1 re-indented
      ! src/cart.js line 6: the edit fits line 6 but for its layout, and is too short to tell whether that line is meant (near)
      `relay apply` would ask: no-config, near
    ");
    let value = ran.json();
    assert_eq!(value["ok"], true);
    assert_eq!(value["code"], 0);
    assert_eq!(value["command"], "preview");
    assert!(value["project"].is_string());
    assert_eq!(value["proposal"]["operations"][0]["type"], "write");
    let file = &value["plan"]["files"][0];
    assert_eq!(file["path"], "src/cart.js");
    assert_eq!(file["change"], "modified");
    assert_eq!((file["added"].as_u64(), file["removed"].as_u64()), (Some(1), Some(1)));
    assert_eq!(file["hunks"][0]["state"], "applied");
    assert_eq!(file["diff"]["content"], "text");
    assert_eq!(file["diff"]["hunks"][0]["lines"][3]["kind"], "removed");
    let text = CART.replace("return sum", "return round(sum)");
    assert_eq!(file["text"], text);
    let (_, plain) = project.json(&answer);
    assert!(plain["plan"]["files"][0].get("text").is_none(), "only on request");
}

#[test]
fn content_that_is_no_utf8_comes_as_base64() {
    let project = Project::new(&[]);
    project.put("latin.txt", b"caf\xe9\nold\n");
    let answer = edit("latin.txt", "old", "new");
    let ran = project.pipe(&["preview", "-", "--json", "--text", "-q"], answer.as_bytes());
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.json()["plan"]["files"][0]["base64"], "Y2Fm6QpuZXcK");
}

#[test]
fn what_is_already_in_is_said_and_is_no_failure() {
    let project = cart();
    let short = edit("src/cart.js", "\treturn total;", "\treturn sum;");
    relay_snapshot!(project.preview(&short), @"
    exit 0
    ----- stdout -----
    ▸ stdin                                                                          0 files
        =  src/cart.js     1 already in
      ! src/cart.js line 6: the old text of the edit is not in the file; the new text stands on line 6, but may belong to something else (near)
      `relay apply` would ask: near
    ");
    relay_snapshot!(project.preview(&whole("src/cart.js", CART)), @"
    exit 0
    ----- stdout -----
    ▸ stdin                                                                          0 files
        =  src/cart.js     already in
    ✓ everything is already in
    ");
    let (code, value) = project.json(&whole("src/cart.js", CART));
    assert_eq!((code, &value["plan"]["files"][0]["change"]), (0, &"unchanged".into()));
}

#[test]
fn a_refusal_names_the_place_and_the_next_step() {
    let project = cart();
    let answer = edit("src/cart.js", "\tlet sum = 0;", "\tlet sum = 1;")
        + &edit("src/cart.js", "\tfor (const entry of list(items)) {\n\t\tcount(entry.amount);", "x");
    project.put("my answer.md", answer.as_bytes());
    relay_snapshot!(project.relay(&["preview", "my answer.md"]), @"
    exit 3
    ----- stderr -----
    ✗ refused: 1 of 2 edits does not match                               nothing was changed
      src/cart.js, edit 2 (line 9 of the answer)
        looked for   for (const entry of list(items)) {
        nearest      for (const item of items) {                                      line 3
      edit 1 fits
      next: `relay preview 'my answer.md' --repair` writes a prompt for your model
    ");
}

#[test]
fn a_repair_prompt_is_all_there_is_on_stdout() {
    let project = cart();
    let answer = edit("src/cart.js", "\treturn sums(all);\n}", "x");
    project.put("a.md", answer.as_bytes());
    relay_snapshot!(project.relay(&["preview", "a.md", "--repair"]), @"
    exit 3
    ----- stdout -----
    Your answer could not be applied, and nothing was changed. These parts of it do not work:

    ## src/cart.js, edit 1 of 1, line 2 of your answer
    The file does not have this text. The first line that differs:
    ```
    	return sums(all);
    ```
    Line 4 of the file is really:
    ```
    		sum += item.price;
    ```
    The nearest text of the file, with its line numbers:
    ```
    4 | 		sum += item.price;
    5 | 	}
    ```

    Answer in the same format as before, with the failing parts corrected. Copy what is to be replaced exactly from the file, without line numbers. The same uuid may be used again.
    ----- stderr -----
    ✗ refused: the edit does not match                                   nothing was changed
      src/cart.js, edit 1 (line 2 of the answer)
        looked for   return sums(all);
        nearest      sum += item.price;                                               line 4
    ");
    let ran = project.relay(&["preview", "a.md", "--repair", "-q"]);
    assert_eq!(ran.err, "");
    let good = edit("src/cart.js", "\treturn sum;", "\treturn 1;");
    let ran = project.pipe(&["preview", "-", "--repair", "-q"], good.as_bytes());
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "nothing to repair");
}

#[test]
fn json_has_every_reason_of_a_refusal() {
    let project = cart();
    let (code, value) = project.json(&edit("src/cart.js", "no such text at all here", "x"));
    assert_eq!(code, 3);
    assert_eq!(value["ok"], false);
    assert_eq!(value["code"], 3);
    assert_eq!(value["command"], "preview");
    for field in ["kind", "message", "hint", "where"] {
        assert!(value["error"].get(field).is_some(), "{field}: {value}");
    }
    assert_eq!(value["refusals"][0]["kind"], "notFound");
    assert_eq!(value["refusals"][0]["path"], "src/cart.js");
    assert!(value["repair"].as_str().unwrap().contains("src/cart.js"));
}

#[test]
fn a_place_that_is_not_certain_is_refused_with_the_places() {
    let project = Project::new(&[("a.txt", "x\nsame\ny\nsame\nz\n")]);
    relay_snapshot!(project.preview(&edit("a.txt", "same", "other")), @"
    exit 3
    ----- stderr -----
    ✗ refused: the edit fits in several places                           nothing was changed
      a.txt, edit 1 (line 2 of the answer)
        looked for   same
        is there 2 times, at lines 2, 4; more surrounding lines would tell which
      next: `... | relay preview - --repair` writes a prompt for your model
    ");
}

#[test]
fn a_new_syntax_error_is_pointed_out() {
    let project = cart();
    let answer = edit("src/cart.js", "\treturn sum;", "\treturn sum;\n}}}");
    relay_snapshot!(project.preview(&answer), @"
    exit 0
    ----- stdout -----
    ▸ stdin                                                                       1 file  +1
        M  src/cart.js  +1   1 exact
      ! src/cart.js line 7: does not parse as JavaScript: `}}}` (syntax)
      `relay apply` would ask: no-config, syntax

    --- a/src/cart.js
    +++ b/src/cart.js
    @@ -4,4 +4,5 @@
     		sum += item.price;
     	}
     	return sum;
    +}}}
     }
    ");
    let (_, value) = project.json(&answer);
    assert_eq!(value["plan"]["findings"][0]["kind"], "syntax");
    relay_snapshot!(project.pipe(&["preview", "-", "--no-syntax"], answer.as_bytes()), @"
    exit 0
    ----- stdout -----
    ▸ stdin                                                                       1 file  +1
        M  src/cart.js  +1   1 exact
      `relay apply` would ask: no-config

    --- a/src/cart.js
    +++ b/src/cart.js
    @@ -4,4 +4,5 @@
     		sum += item.price;
     	}
     	return sum;
    +}}}
     }
    ");
}

#[test]
fn findings_are_shown_but_do_not_stop_a_preview() {
    let project = cart();
    let answer = whole("src/cart.js", "// ... rest of the code\nlet x\u{200b} = 1;\n");
    relay_snapshot!(project.preview(&answer), @r"
    exit 0
    ----- stdout -----
    ▸ stdin                                                                    1 file  +2 −7
        M  src/cart.js  +2 −7
      ! src/cart.js line 1: `// ... rest of the code` seems to stand for code that was left out (placeholder)
      ! src/cart.js line 2: a hidden character comes in: U+200B zero-width space (hidden)
      `relay apply` would ask: no-config, placeholder, hidden

    --- a/src/cart.js
    +++ b/src/cart.js
    @@ -1,7 +1,2 @@
    -function total(items) {
    -	let sum = 0;
    -	for (const item of items) {
    -		sum += item.price;
    -	}
    -	return sum;
    -}
    +// ... rest of the code
    +let x\u{200b} = 1;
    ");
}

#[test]
fn wrong_usage_ends_with_2_and_says_what_to_do() {
    let project = cart();
    relay_snapshot!(project.relay(&["preview", "missing.md"]), @"
    exit 2
    ----- stderr -----
    ✗ there is no file missing.md
      name the file that holds the answer, or `-` to read it from a pipe
    ");
    relay_snapshot!(project.relay(&["preview", "src"]), @"
    exit 2
    ----- stderr -----
    ✗ src is a directory, not an answer
      name the file that holds the answer, or `-` to read it from a pipe
    ");
    relay_snapshot!(project.relay(&["preview", "-", "-C", "nowhere"]), @"
    exit 2
    ----- stderr -----
    ✗ the directory nowhere cannot be used: No such file or directory (os error 2)
      give the project's directory with `-C DIR`
    ");
    for args in [&["preview"][..], &["frobnicate"], &["preview", "-", "--limit", "bytes=1"], &[]] {
        let ran = project.relay(args);
        assert_eq!(ran.code, 2, "{args:?}: {ran:?}");
        assert!(!ran.err.is_empty());
    }
}

#[test]
fn failures_are_json_too_where_it_was_asked_for() {
    let project = cart();
    let ran = project.relay(&["preview", "missing.md", "--json"]);
    let value = ran.json();
    assert_eq!((ran.code, &value["code"]), (2, &2.into()));
    assert_eq!(value["error"]["kind"], "usage");
    assert_eq!(value["error"]["where"], "missing.md");
    let ran = project.relay(&["preview", "--json", "--no-such-flag"]);
    assert_eq!((ran.code, &ran.json()["ok"]), (2, &false.into()));
}

#[test]
fn limits_are_named_and_can_be_raised() {
    let project = cart();
    let long = "words ".repeat(200) + "\n" + &edit("src/cart.js", "return sum;", "return 1;");
    relay_snapshot!(project.pipe(&["preview", "-", "--limit", "text=1000"], long.as_bytes()), @"
    exit 3
    ----- stderr -----
    ✗ the answer is longer than the limit `text` (1000 bytes); nothing was changed
      in stdin
      raise it with `--limit text=8M`, or with `limits.text` in the configuration, if the answer really is that large
    ");
    let ran = project.pipe(&["preview", "-", "--limit", "text=4k"], long.as_bytes());
    assert_eq!(ran.code, 0, "{ran:?}");
    relay_snapshot!(project.pipe(&["preview", "-", "--limit", "file=10"], long.as_bytes()), @"
    exit 3
    ----- stderr -----
    ✗ refused: 1 change does not fit the project                         nothing was changed
      src/cart.js (line 3 of the answer)
        src/cart.js cannot be read: it has 106 bytes, and the limit `file` is 10; raise it with `--limit file=1M`
      next: `... | relay preview - --repair` writes a prompt for your model
    ");
    let two = whole("a.txt", "1\n") + &whole("b.txt", "2\n");
    relay_snapshot!(project.pipe(&["preview", "-", "--limit", "files=1"], two.as_bytes()), @"
    exit 3
    ----- stderr -----
    ✗ the answer changes more files than the limit `files` allows, which is 1; nothing was changed
      raise it with `--limit files=5000`, or with `limits.files` in the configuration, if the answer really is that large
    ");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let project = Project::new(&[]);
    let many: String = (0..60_000).map(|n| format!("line {n}\n")).collect();
    project.put("a.md", whole("big.txt", &many).as_bytes());
    let mut child =
        project.command(&["preview", "a.md"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(output.stderr, b"");
}

#[test]
fn the_version_and_help_are_there() {
    let project = Project::new(&[]);
    let ran = project.relay(&["--version"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "relay 0.1.0\n"));
    let ran = project.relay(&["preview", "--help"]);
    assert!(ran.code == 0 && ran.out.contains("--repair"), "{ran:?}");
    let ran = run(&mut project.command(&["--help"]));
    assert!(ran.code == 0 && ran.out.contains("preview"), "{ran:?}");
}
