//! What commands show at terminals of usual and smaller widths: nothing is cut, nothing wraps in the middle of a word,
//! and what is longer than the screen goes through the user's pager.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use relaycode_testkit::screen::{TestScreen, on_terminal};
use serde_json::json;

use crate::fixture::keyed_project::{Scene, surround};
use crate::fixture::scratch_project::{Project, control, edit, whole};
use crate::fixture::snapshot::stable;

const ROWS: u16 = 70;
const CODE: &str = "function total(items) {\n  return items.reduce((sum, item) => sum + item.price, 0);\n}\n";

/// A session at a terminal of this width, and of how many lines.
struct Seat {
    screen: TestScreen,
}

impl Seat {
    fn start(project: &Project, args: &[&str], columns: u16, environment: &[(&str, &str)]) -> Seat {
        let mut command = on_terminal(env!("CARGO_BIN_EXE_relay"));
        project.surround(&mut command);
        surround(&mut command);
        command.args(args).env("TERM", "xterm-256color").env("NO_COLOR", "1");
        command.envs(environment.iter().copied());
        Seat { screen: TestScreen::start(command, columns, ROWS) }
    }

    /// What is on the screen once that appeared.
    #[track_caller]
    fn shows(&self, text: &str) -> String {
        self.screen.wait_for_text(text);
        stable(&self.screen.text())
    }

    /// Types a line, and waits for what comes of it.
    #[track_caller]
    fn answers(&self, line: &str, text: &str, times: usize) -> String {
        self.screen.type_keys(&format!("{line}\r"));
        let wanted = |screen: &TestScreen| (screen.text() + "\n").matches(text).count() >= times;
        self.screen.wait_for(wanted, std::time::Duration::from_secs(30));
        stable(&self.screen.text())
    }

    /// Everything that was shown, when the command ended.
    fn ended(mut self, code: i32) -> String {
        let status = self.screen.wait_exit();
        let text = self.screen.scrollback_text();
        assert_eq!(status.code(), Some(code), "{text}");
        stable(&text)
    }
}

/// Everything that a command shows at this width.
fn shown(project: &Project, args: &[&str], columns: u16) -> String {
    Seat::start(project, args, columns, &[]).ended(0)
}

/// A pager that says how many lines it was given.
fn counting_pager(project: &Project) -> String {
    let path = project.home().join("pager");
    fs::write(&path, "#!/bin/sh\necho \"paged $(wc -l < \"$1\") lines\"\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_string()
}

#[test]
fn keep_shows_the_change_that_it_is_about() {
    let lint = "grep -n BAD a.txt | sed 's/^\\([0-9]*\\):.*/a.txt:\\1:1: error: bad/'; ! grep -q BAD a.txt";
    let scene = Scene::untrusted(&[("a.txt", "one\ntwo\n")], &json!({}));
    let script = scene.project.home().join("lint");
    fs::write(&script, lint).unwrap();
    let patch = json!({"approvalMode": "auto", "linter": format!("sh {}", script.display())});
    scene.configure(&json!({"projectId": "shop", "patch": patch}));
    scene.trust();
    let args = scene.answer(&(edit("a.txt", "two", "BAD") + &scene.keyed("feat: worse")), &[]);
    let seat = Seat::start(&scene.project, &args, 110, &[]);
    insta::assert_snapshot!(seat.shows("keep? [y/N]"), @"
    ▸ feat: worse                                                                                    1 file  +1 −1
        M  a.txt  +1 −1   1 exact
    ! sh <home>/lint went from 0 to 1 error  on disk, not kept yet
        a.txt:2  bad
      keep? [y/N]  d diff · o output · w why · ?
    ");
    insta::assert_snapshot!(seat.answers("y", "undoes it", 1), @"
    ▸ feat: worse                                                                                    1 file  +1 −1
        M  a.txt  +1 −1   1 exact
    ! sh <home>/lint went from 0 to 1 error  on disk, not kept yet
        a.txt:2  bad
      keep? [y/N]  d diff · o output · w why · ?  y
    ✓ applied change-1 · 1 file · checked in <duration>, 0 → 1 error · `relay undo` undoes it
    ");
    seat.ended(0);
}

#[test]
fn picking_names_only_what_there_is() {
    let long: String = (1..=30).map(|number| format!("{number}\n")).collect();
    let project = Project::new(&[("a.txt", "one\n"), ("b.txt", "b\n"), ("c.txt", &long)]);
    let two_files = edit("a.txt", "one", "1") + &edit("b.txt", "b", "B");
    project.put("two.md", two_files.as_bytes());
    project.put("one.md", edit("a.txt", "one", "1").as_bytes());
    let places = edit("c.txt", "3\n4", "3\nfour") + &edit("c.txt", "28\n29", "28\ntwenty-nine");
    project.put("places.md", (two_files + &places).as_bytes());

    let seat = Seat::start(&project, &["apply", "two.md"], 80, &[]);
    seat.shows("apply? [y/N]");
    seat.answers("f", "Enter: back", 1);
    insta::assert_snapshot!(seat.answers("1.2", "Enter: back", 2), @"
    ▸ two.md                                                          2 files  +2 −2
        M  a.txt  +1 −1   1 exact
        M  b.txt  +1 −1   1 exact
      apply? [y/N]  d diff · f pick · e edit · w why · ?  f
        1  M  a.txt   +1 −1
        2  M  b.txt   +1 −1
      which? `1`, all but `-2`, `d 1` shows it, Enter: back  1.2
    ! `1.2` is none of these: 1 to 2
      which? `1`, all but `-2`, `d 1` shows it, Enter: back
    ");
    seat.answers("", "apply? [y/N]", 2);
    seat.answers("n", "not applied", 1);
    seat.ended(4);

    let seat = Seat::start(&project, &["apply", "one.md"], 80, &[]);
    seat.shows("apply? [y/N]");
    insta::assert_snapshot!(seat.answers("f", "apply? [y/N]", 2), @"
    ▸ one.md                                                           1 file  +1 −1
        M  a.txt  +1 −1   1 exact
      apply? [y/N]  d diff · f pick · e edit · w why · ?  f
    ! there is one place in one file: nothing to pick from
      apply? [y/N]  d diff · f pick · e edit · w why · ?
    ");
    seat.answers("n", "not applied", 1);
    seat.ended(4);

    let seat = Seat::start(&project, &["apply", "places.md"], 60, &[]);
    seat.shows("apply? [y/N]");
    seat.answers("f", "Enter: back", 1);
    insta::assert_snapshot!(seat.answers("9", "Enter: back", 2), @"
    ▸ places.md                                   3 files  +4 −4
        M  a.txt  +1 −1   1 exact
        M  b.txt  +1 −1   1 exact
        M  c.txt  +2 −2   2 exact
      apply? [y/N]  d diff · f pick · e edit · w why · ?  f
        1  M  a.txt   +1 −1
        2  M  b.txt   +1 −1
        3  M  c.txt   +2 −2
             3.1    line 4     +1 −1   four
             3.2    line 29    +1 −1   twenty-nine
      which?
        `1 3`, all but `-2`, place `3.2`, `d 3.2` shows it,
        Enter: back  9
    ! `9` is none of these: 1 to 3, places such as 3.2
      which?
        `1 3`, all but `-2`, place `3.2`, `d 3.2` shows it,
        Enter: back
    ");
    seat.answers("", "apply? [y/N]", 2);
    // Once, not for each file.
    insta::assert_snapshot!(seat.answers("s", "apply? [y/N]", 3), @"
    ▸ places.md                                   3 files  +4 −4
        M  a.txt  +1 −1   1 exact
        M  b.txt  +1 −1   1 exact
        M  c.txt  +2 −2   2 exact
      apply? [y/N]  d diff · f pick · e edit · w why · ?  f
        1  M  a.txt   +1 −1
        2  M  b.txt   +1 −1
        3  M  c.txt   +2 −2
             3.1    line 4     +1 −1   four
             3.2    line 29    +1 −1   twenty-nine
      which?
        `1 3`, all but `-2`, place `3.2`, `d 3.2` shows it,
        Enter: back  9
    ! `9` is none of these: 1 to 3, places such as 3.2
      which?
        `1 3`, all but `-2`, place `3.2`, `d 3.2` shows it,
        Enter: back
      apply? [y/N]  d diff · f pick · e edit · w why · ?  s

    unified: side by side needs 80 columns, there are 60

    --- a/a.txt
    +++ b/a.txt
    @@ -1,1 +1,1 @@
    -one
    +1

    --- a/b.txt
    +++ b/b.txt
    @@ -1,1 +1,1 @@
    -b
    +B

    --- a/c.txt
    +++ b/c.txt
    @@ -1,7 +1,7 @@
     1
     2
     3
    -4
    +four
     5
     6
     7
    @@ -26,5 +26,5 @@
     26
     27
     28
    -29
    +twenty-nine
     30
      apply? [y/N]  d diff · f pick · e edit · w why · ?
    ");
    seat.answers("n too early", "not applied", 1);
    let text = seat.ended(4);
    let last = text.lines().skip(text.lines().count() - 3).collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(last, @"
    ✗ not applied; nothing was changed
    The change was not applied: too early. Please send a new
    version of it; the same id may be used.
    ");
}

#[test]
fn models_fit_80_and_60_columns() {
    let project = Project::new(&[]);
    for columns in [60, 80, 120] {
        let text = shown(&project, &["models", "--all", "--no-discover"], columns);
        let longest = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(longest <= columns.into(), "{columns}: {text}");
        let first = text.lines().take(4).collect::<Vec<_>>().join("\n");
        match columns {
            60 => insta::assert_snapshot!(first, @"
            anthropic  no key
              claude-opus-5-5
                1M · $4 / $20 · thinks, images
              claude-fable-5-1
            "),
            80 => insta::assert_snapshot!(first, @"
              model                       reads  $ per 1M in / out  can
            anthropic  no key
              claude-opus-5-5                1M  $4 / $20           thinks, images
              claude-fable-5-1               1M  $10 / $50          thinks, images
            "),
            _ => insta::assert_snapshot!(first, @"
            model                                 reads  $ per 1M in / out  can             key
            anthropic/claude-opus-5-5                1M  $4 / $20           thinks, images  no key
            anthropic/claude-fable-5-1               1M  $10 / $50          thinks, images  no key
            anthropic/claude-sonnet-5-5              1M  $2 / $10           thinks, images  no key
            "),
        }
    }
}

#[test]
fn blame_leaves_room_for_the_code_at_80_and_60_columns() {
    let project = Project::new(&[("cart.js", CODE)]);
    let uuid = "0f8fad5b-d9cb-469f-a165-70867728950e";
    let change = edit("cart.js", "function total(items) {", "export function total(items) {");
    project.applied(&(change + &control(uuid, "feat: let others use the total of the cart")));
    project.applied(&edit("cart.js", "}", "} // total"));
    for columns in [60, 80, 120] {
        let text = shown(&project, &["blame", "cart.js"], columns);
        match columns {
            60 => insta::assert_snapshot!(text, @"
            0f8fad5b  1  export function total(items) {
                      2    return items.reduce((sum, item) => sum + item
            .price, 0);
            change-1  3  } // total

            0f8fad5b  now  feat: let others use the total of the cart
            change-1  now  edit cart.js
            "),
            80 => insta::assert_snapshot!(text, @"
            0f8fad5b  1  export function total(items) {
                      2    return items.reduce((sum, item) => sum + item.price, 0);
            change-1  3  } // total

            0f8fad5b  now  feat: let others use the total of the cart
            change-1  now  edit cart.js
            "),
            _ => insta::assert_snapshot!(text, @"
            0f8fad5b  feat: let othe…  1  export function total(items) {
                                       2    return items.reduce((sum, item) => sum + item.price, 0);
            change-1  edit cart.js     3  } // total
            "),
        }
    }
    insta::assert_snapshot!(shown(&project, &["blame", "cart.js:3"], 60), @"
    3  } // total
      change     change-1, now, from stdin
      title      edit cart.js
      `relay show change-1` shows all of it
    ");
}

#[test]
fn what_is_longer_than_the_screen_goes_through_the_pager() {
    let project = Project::new(&[("a.txt", "one\n")]);
    let long: String = (1..=100).map(|number| format!("{number}\n")).collect();
    project.put("long.md", whole("long.txt", &long).as_bytes());
    project.put("short.md", whole("short.txt", "one\n").as_bytes());
    let pager = counting_pager(&project);
    let run = |args: &[&str]| Seat::start(&project, args, 80, &[("PAGER", &pager)]).ended(0);
    insta::assert_snapshot!(run(&["preview", "long.md"]), @"paged 107 lines");
    insta::assert_snapshot!(run(&["preview", "short.md"]), @"
    ▸ short.md                                                            1 file  +1
        A  short.txt  +1
      `relay apply` would ask: no-config

    --- /dev/null
    +++ b/short.txt
    @@ -0,0 +1,1 @@
    +one
    ");
    insta::assert_snapshot!(run(&["apply", "long.md", "--dry-run", "--diff"]), @"paged 107 lines");
    project.done(&["apply", "-y", "-q", "long.md"]);
    insta::assert_snapshot!(run(&["show", "--diff"]), @"paged 110 lines");
    insta::assert_snapshot!(run(&["undo", "--dry-run"]), @"paged 106 lines");
    insta::assert_snapshot!(run(&["blame", "long.txt"]), @"paged 102 lines");
    // Whoever wants no words, or an object, gets no pager.
    assert!(!run(&["show", "--diff", "-q"]).contains("paged"));
    assert!(!run(&["show", "--diff", "--json"]).contains("paged"));
}

#[test]
fn a_title_is_shown_whole_at_80_columns() {
    let project = Project::new(&[("a.txt", "one\n")]);
    let uuid = "0f8fad5b-d9cb-469f-a165-70867728950e";
    let title = "feat: keep fractions, and use at() for the last item of the shopping cart";
    project.put("a.md", (edit("a.txt", "one", "1") + &control(uuid, title)).as_bytes());
    insta::assert_snapshot!(shown(&project, &["preview", "a.md", "--no-diff"], 80), @"
    ▸ feat: keep fractions, and use at() for the last item of the shopping cart
      1 file  +1 −1
        M  a.txt  +1 −1   1 exact
      `relay apply` would ask: no-config
    ");
}
