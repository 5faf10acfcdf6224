//! Colour, characters, and what a hostile answer cannot do to a terminal.

use relaycode_text::escape::is_unsafe;

use crate::fixture::scratch_project::{Project, Ran, edit, run, whole};
use crate::relay_snapshot;

fn project() -> Project {
    let project = Project::new(&[("a.txt", "one\ntwo\nthree\n")]);
    project.put("a.md", edit("a.txt", "two", "2 → zwei").as_bytes());
    project
}

#[test]
fn colour_is_for_terminals_or_on_request() {
    let project = project();
    let plain = project.relay(&["preview", "a.md"]);
    assert!(!plain.out.contains('\x1b'), "not a terminal: {plain:?}");
    let always = project.relay(&["preview", "a.md", "--color", "always"]);
    assert!(always.out.contains("\x1b[32m+2"), "{always:?}");
    let never = run(project.command(&["--color=never", "preview", "a.md"]).env("NO_COLOR", "1"));
    assert!(!never.out.contains('\x1b'));
}

#[test]
fn without_utf8_the_output_is_ascii() {
    let project = project();
    let ascii = run(project.command(&["preview", "a.md"]).env("LC_ALL", "C"));
    assert!(ascii.out.is_ascii(), "{}", ascii.out);
    relay_snapshot!(ascii, @r"
    exit 0
    ----- stdout -----
    > a.md                                                                     1 file  +1 -1
        M  a.txt  +1 -1   1 exact
      `relay apply` would ask: no-config

    --- a/a.txt
    +++ b/a.txt
    @@ -1,3 +1,3 @@
     one
    -two
    +2 \u{2192} zwei
     three
    ");
    for (name, value) in [("LANG", "de_DE.ISO-8859-1"), ("LC_CTYPE", "POSIX")] {
        let ran = run(project.command(&["preview", "a.md"]).env(name, value));
        assert_eq!(ran.out, ascii.out, "{name}={value}");
    }
}

fn assert_tame(ran: &Ran) {
    for text in [&ran.out, &ran.err] {
        let raw = text.chars().find(|c| is_unsafe(*c) && !matches!(c, '\n' | '\t'));
        assert_eq!(raw, None, "{text:?}");
    }
}

#[test]
fn a_hostile_answer_cannot_speak_to_the_terminal() {
    let project = Project::new(&[("a.txt", "x\u{1b}]0;y\u{7}\nfile \u{202e}text\r\nz\n")]);
    let evil = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}\u{200b}\u{9b}31m";
    let answers = [
        edit("a.txt", "z", evil),
        edit("a.txt", &format!("no {evil} here"), evil),
        edit("a.txt", "file text", evil),
        edit(&format!("{evil}.txt"), "z", "y"),
        whole("new.txt", &format!("{evil}\n")),
        whole(&format!("dir/{evil}"), "x\n"),
        format!("{evil}\n```{evil}\n{evil}\n```\n"),
        whole("a.txt", "x\n")
            + &format!(
                "\n```yaml\nprojectId: {evil}\nuuid: {evil}\ngitCommitMsg: \"{evil}\"\nchangeSummary:\n  - edit: {evil}\n```\n"
            ),
        format!("*** Begin Patch\n*** Update File: {evil}\n@@ {evil}\n-{evil}\n*** End Patch\n"),
    ];
    for answer in &answers {
        for flags in [&[][..], &["--repair"], &["--json", "--text"]] {
            let mut args = vec!["preview", "-"];
            args.extend(flags);
            assert_tame(&project.pipe(&args, answer.as_bytes()));
        }
    }
    assert_tame(&project.relay(&["preview", "no\u{1b}[2Jfile\u{202e}.md"]));
    assert_tame(&project.relay(&["preview", "-", "-C", "no\u{1b}[2Jdir"]));
}

#[test]
fn a_hostile_record_cannot_speak_to_the_terminal() {
    let evil = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}\u{200b}\u{9b}31m";
    let project = Project::new(&[("a.txt", "one\ntwo\n")]);
    let answer = format!("{evil}\n\n")
        + &edit("a.txt", "two", evil)
        + &format!(
            "\n```yaml\nprojectId: \"x{evil}\"\ngitCommitMsg: \"{evil}\"\npromptSummary: \"{evil}\"\n```\n"
        );
    project.put(".git/HEAD", b"ref: refs/heads/main\n");
    assert_tame(&project.apply(&answer));
    project.put(".git/HEAD", "ref: refs/heads/\u{202e}\u{9b}31m\n".as_bytes());
    let named = evil.to_string();
    for args in [
        &["log"][..],
        &["log", "--json"],
        &["show", "--diff"],
        &["show", "--diff", "--json"],
        &["show", &named],
        &["revert", "--file", &named],
        &["revert"],
        &["revert", "-y"],
        &["log"],
    ] {
        assert_tame(&project.relay(args));
    }
    project.put("a.txt", format!("one\n{evil}{evil}\n").as_bytes());
    assert_tame(&project.relay(&["revert", "-y"]));
    assert_tame(&project.relay(&["revert", "-y", "--markers"]));
}

#[test]
fn without_utf8_the_ledger_is_ascii_too() {
    let project = project();
    project.applied(&edit("a.txt", "two", "2"));
    project.done(&["revert"]);
    for args in [&["log"][..], &["show", "2", "--diff"], &["redo"], &["recover"]] {
        let ran = run(project.command(args).env("LC_ALL", "C"));
        assert!(ran.code == 0 && ran.out.is_ascii(), "{args:?}: {}", ran.out);
    }
}
