//! What a person sees of `relay watch`, state by state, as snapshots that were looked at line by line.
//!
//! In colours unless the case is about their absence: `{green}✓{/}` is a green tick. Times, ids and the key stand
//! in them as fixed text of the same width.

mod snapshot;

use std::fs;
use std::time::Duration;

use relaycode_testkit::display::X11;
use relaycode_testkit::or_skip;
use relaycode_testkit::screen::TestScreen;
use serde_json::json;

use crate::fixture::scratch_project::{edit, whole};
use snapshot::Shot;

const CART: &str = "export function total(items: Item[]) {\n  let subtotal = 0;\n  for (const item of items) {\n    \
                    subtotal += item.price;\n  }\n  return subtotal;\n}\n";

/// A linter that finds an error wherever `price` is called a string.
const LINTER: &str = "grep -n 'price: string' src/*.ts | sed 's/^\\([^:]*\\):\\([0-9]*\\):.*/\\1(\\2,3): error TS2322: \
                      Type string is not assignable to type number./'; ! grep -q 'price: string' src/*.ts";

fn files() -> Vec<(&'static str, &'static str)> {
    vec![("src/cart.ts", CART), ("src/old.ts", "export const old = 1;\n")]
}

fn auto(linter: &str) -> serde_json::Value {
    json!({"projectId": "shop", "patch": {"approvalMode": "auto", "linter": linter}})
}

fn rounded() -> String {
    edit("src/cart.ts", "  return subtotal;", "  return Math.round(subtotal * 100) / 100;")
        + &whole("src/money.ts", "export type Item = { price: number };\n")
        + "```json // rename-file\n{\"from\": \"src/old.ts\", \"to\": \"src/legacy/old.ts\"}\n```\n"
}

fn near() -> String {
    edit(
        "src/cart.ts",
        "  let subtotl = 0;\n  for (const item of items) {",
        "  let subtotal = 0.0;\n  for (const item of items) {",
    )
}

fn stale() -> String {
    edit("src/cart.ts", "  return subtotal;", "  return subtotal * 2;")
        + &edit("src/cart.ts", "  const taxes = rates(items);", "  const taxes = 0;")
}

fn wrong() -> String {
    whole("src/money.ts", "export type Item = {\n  price: string,\n};\n")
}

#[test]
fn start_applied_diffs_log_and_keys() {
    let desk = or_skip!(X11::start());
    let shot = Shot::of(&files(), &auto("true")).desk(&desk).start();
    insta::assert_snapshot!(shot.settled(), @"
    relay 0.1.0 · shop · auto, true                                           p prompt · u undo · ? keys
    {dim}watching the clipboard (X11) · ? keys{/}
    ");
    desk.copy(&shot.keyed(&rounded(), "feat: round totals to cents"));
    shot.wait("✓ applied");
    shot.wait("1 applied ·");
    insta::assert_snapshot!(shot.settled(), @"
    relay 0.1.0 · shop · auto, true                                           p prompt · u undo · ? keys

    ▸ 14:02  {bold}feat: round totals to cents{/}                                                  3 files  {green}+2{/} {red}−1{/}
        M  src/cart.ts                     {green}+1{/} {red}−1{/}   {dim}1 exact{/}
        A  src/money.ts                    {green}+1{/}
        R  src/old.ts → src/legacy/old.ts
    {green}✓{/} applied 00000001 · 3 files · checked in 3.2 s, 0 → 0 errors · u undoes it
    {dim}watching the clipboard (X11) · 1 applied · ? keys{/}
    ");
    shot.press("d");
    shot.wait("+  return Math.round");
    shot.snap("diff");
    shot.press("s");
    shot.wait("│");
    shot.snap("diff_side_by_side");
    shot.press("?");
    shot.wait("show this");
    shot.snap("keys");
    shot.press("u");
    shot.wait("✓ undone");
    shot.press("l");
    shot.wait("undoes: ");
    shot.snap("log");
    shot.press("q");
    shot.wait("no longer watching");
    shot.snap("end");
}

#[test]
fn a_question_its_explanations_and_a_no() {
    let desk = or_skip!(X11::start());
    let shot = Shot::of(&files(), &auto("true")).desk(&desk).start();
    desk.copy(&shot.keyed(&near(), "refactor: say that it is a fraction"));
    shot.wait("[y/N]");
    insta::assert_snapshot!(shot.settled(), @"
    relay 0.1.0 · shop · auto, true                                           p prompt · u undo · ? keys

    ▸ 14:02  {bold}refactor: say that it is a fraction{/}                                           1 file  {green}+1{/} {red}−1{/}
        M  src/cart.ts  {green}+1{/} {red}−1{/}   {dim}1 near{/}
      {yellow}!{/} src/cart.ts line 2 says `subtotal`, the answer says `subtotl`
      apply? [y/N]  d diff · f pick · e edit · w why · ?
    ");
    shot.screen.type_keys("w\r");
    shot.wait_times("[y/N]", 2);
    insta::assert_snapshot!(shot.settled(), @"
    relay 0.1.0 · shop · auto, true                                           p prompt · u undo · ? keys

    ▸ 14:02  {bold}refactor: say that it is a fraction{/}                                           1 file  {green}+1{/} {red}−1{/}
        M  src/cart.ts  {green}+1{/} {red}−1{/}   {dim}1 near{/}
      {yellow}!{/} src/cart.ts line 2 says `subtotal`, the answer says `subtotl`
      apply? [y/N]  d diff · f pick · e edit · w why · ?  w
      relay asks because of 1 rule
        {bold}near{/}   src/cart.ts: line 2 says `let subtotal = 0;`, the answer says `let subtotl = 0;`
               `relay watch` always asks about this
      a yes counts for exactly this: baca7adab776
      apply? [y/N]  d diff · f pick · e edit · w why · ?
    ");
    shot.screen.type_keys("n the tests are missing\r");
    shot.wait("not applied");
    shot.snap("question_no");
}

#[test]
fn why_names_only_what_can_be_done_in_watch() {
    let desk = or_skip!(X11::start());
    let shot = Shot::of(&files(), &auto("true")).desk(&desk).args(&["watch", "-y"]).start();
    desk.copy(&(near() + "\n```yaml\nprojectId: shop\ngitCommitMsg: no key\n```\n"));
    shot.wait("[y/N]");
    shot.screen.type_keys("w\r");
    shot.wait_times("[y/N]", 2);
    insta::assert_snapshot!(shot.settled(), @"
    relay 0.1.0 · shop · auto, true                                           p prompt · u undo · ? keys

    ▸ 14:02  {bold}no key{/}                                                                        1 file  {green}+1{/} {red}−1{/}
        M  src/cart.ts  {green}+1{/} {red}−1{/}   {dim}1 near{/}
      {yellow}!{/} src/cart.ts line 2 says `subtotal`, the answer says `subtotl`
      {yellow}!{/} the answer does not carry this project's key: anybody could have written it
      apply? [y/N]  d diff · f pick · e edit · w why · ?  w
      relay asks because of 2 rules
        {bold}no-key{/}   the answer does not carry this project's key: anybody could have written it
                 p copies the prompt that gives your model the key
        {bold}near{/}     src/cart.ts: line 2 says `let subtotal = 0;`, the answer says `let subtotl = 0;`
                 `relay watch` always asks about this
      a yes counts for exactly this: baca7adab776
      apply? [y/N]  d diff · f pick · e edit · w why · ?
    ");
    shot.screen.type_keys("n\r");
    shot.wait("not applied");

    let manual = json!({"projectId": "shop", "patch": {"approvalMode": "manual"}});
    let shot = Shot::of(&files(), &manual).desk(&desk).start();
    desk.copy(&shot.keyed(&rounded(), "feat: round totals to cents"));
    shot.wait("[y/N]");
    shot.screen.type_keys("w\r");
    shot.wait_times("[y/N]", 2);
    insta::assert_snapshot!(shot.settled(), @"
    relay 0.1.0 · shop · manual, no linter                                    p prompt · u undo · ? keys

    ▸ 14:02  {bold}feat: round totals to cents{/}                                                  3 files  {green}+2{/} {red}−1{/}
        M  src/cart.ts                     {green}+1{/} {red}−1{/}   {dim}1 exact{/}
        A  src/money.ts                    {green}+1{/}
        R  src/old.ts → src/legacy/old.ts
      apply? [y/N]  d diff · f pick · e edit · w why · ?  w
      relay asks because of 2 rules
        {bold}manual{/}      `patch.approvalMode` is `manual`: every change is asked about
                    `relay watch -y` answers it; with `auto` and a linter relay asks only when something
                    is off
        {bold}no-linter{/}   no linter is set that could judge the result
                    `relay watch -y` answers it; set `patch.linter`, and relay can decide by itself
      a yes counts for exactly this: 844c7805b69b
      apply? [y/N]  d diff · f pick · e edit · w why · ?
    ");
}

#[test]
fn refusals() {
    let desk = or_skip!(X11::start());
    let shot = Shot::of(&files(), &auto("true")).desk(&desk).start();
    desk.copy(&shot.keyed(&stale(), "feat: taxes"));
    shot.wait("c copies");
    insta::assert_snapshot!(shot.settled(), @"
    relay 0.1.0 · shop · auto, true                                           p prompt · u undo · ? keys

    ▸ 14:02  {bold}feat: taxes{/}
    {red}✗{/} refused: 1 of 2 edits does not match                                           {dim}nothing was changed{/}
      src/cart.ts, edit 2 (line 9 of the answer)
        looked for   const taxes = rates(items);
        nearest      for (const item of items) {                                                  {dim}line 3{/}
      edit 1 fits
      c copies a repair prompt for your model; the same id may be sent again
    {dim}watching the clipboard (X11) · ? keys{/}
    ");
    shot.press("c");
    shot.wait("✓ the repair prompt");
    insta::assert_snapshot!(shot.settled(), @"
    relay 0.1.0 · shop · auto, true                                           p prompt · u undo · ? keys

    ▸ 14:02  {bold}feat: taxes{/}
    {red}✗{/} refused: 1 of 2 edits does not match                                           {dim}nothing was changed{/}
      src/cart.ts, edit 2 (line 9 of the answer)
        looked for   const taxes = rates(items);
        nearest      for (const item of items) {                                                  {dim}line 3{/}
      edit 1 fits
      c copies a repair prompt for your model; the same id may be sent again
    {green}✓{/} the repair prompt (15 lines) is on the clipboard: paste it to your model
    {dim}watching the clipboard (X11) · ? keys{/}
    ");
    let other =
        edit("src/cart.ts", "  return subtotal;", "  return 0;") + "\n```yaml\nprojectId: bank\n```\n";
    desk.copy(&other);
    shot.wait("another project");
    insta::assert_snapshot!(shot.settled(), @"
    relay 0.1.0 · shop · auto, true                                           p prompt · u undo · ? keys

    ▸ 14:02  {bold}feat: taxes{/}
    {red}✗{/} refused: 1 of 2 edits does not match                                           {dim}nothing was changed{/}
      src/cart.ts, edit 2 (line 9 of the answer)
        looked for   const taxes = rates(items);
        nearest      for (const item of items) {                                                  {dim}line 3{/}
      edit 1 fits
      c copies a repair prompt for your model; the same id may be sent again
    {green}✓{/} the repair prompt (15 lines) is on the clipboard: paste it to your model
    {dim}copied: an answer for another project{/}
    ");
}

#[test]
fn the_gate_runs_says_no_and_asks() {
    let desk = or_skip!(X11::start());
    let shot = Shot::of(&files(), &auto("true")).desk(&desk);
    let go = shot.scene.project.home().join("go");
    // Told what it waits for by a file's name, so that the line on the screen is always the same.
    shot.scene
        .project
        .put("tools/lint", format!("until test -e {}; do sleep 0.02; done\n", go.display()).as_bytes());
    shot.scene.configure(&auto("sh tools/lint"));
    let shot = shot.start();
    desk.copy(&shot.keyed(&rounded(), "feat: round totals to cents"));
    shot.wait("sh tools/lint\n");
    insta::assert_snapshot!(shot.settled(), @"
    relay 0.1.0 · shop · auto, sh tools/lint                                  p prompt · u undo · ? keys

    ▸ 14:02  {bold}feat: round totals to cents{/}                                                  3 files  {green}+2{/} {red}−1{/}
        M  src/cart.ts                     {green}+1{/} {red}−1{/}   {dim}1 exact{/}
        A  src/money.ts                    {green}+1{/}
        R  src/old.ts → src/legacy/old.ts
    / checking as it was: sh tools/lint
    ");
    fs::write(&go, "").unwrap();
    shot.wait("✓ applied");

    let shot = Shot::of(&files(), &auto(LINTER)).desk(&desk).start();
    desk.copy(&shot.keyed(&wrong(), "feat: prices are text"));
    shot.wait("keep? [y/N]");
    insta::assert_snapshot!(shot.settled(), @r"
    relay 0.1.0 · shop · auto, grep -n 'price: string' src/*.ts | sed 's/^…   p prompt · u undo · ? keys

    ▸ 14:02  {bold}feat: prices are text{/}                                                            1 file  {green}+3{/}
        A  src/money.ts  {green}+3{/}
    {yellow}!{/} grep -n 'price: string' src/*.ts | sed 's/^\([^:]… went from 0 to 1 error    {dim}on disk, not kept yet{/}
        src/money.ts:2  Type string is not assignable to type number.
      keep? [y/N]  d diff · o output · w why · ?
    ");
    shot.screen.type_keys("n\r");
    shot.wait("not kept");
    insta::assert_snapshot!(shot.settled(), @r"
    relay 0.1.0 · shop · auto, grep -n 'price: string' src/*.ts | sed 's/^…   p prompt · u undo · ? keys

    ▸ 14:02  {bold}feat: prices are text{/}                                                            1 file  {green}+3{/}
        A  src/money.ts  {green}+3{/}
    {yellow}!{/} grep -n 'price: string' src/*.ts | sed 's/^\([^:]… went from 0 to 1 error    {dim}on disk, not kept yet{/}
        src/money.ts:2  Type string is not assignable to type number.
      keep? [y/N]  d diff · o output · w why · ?  n
    {red}✗{/} not kept; everything was put back
      c copies what the check said for your model; the same id may be sent again
    {dim}watching the clipboard (X11) · ? keys{/}
    ");

    let shot = Shot::of(&files(), &auto(LINTER)).desk(&desk).args(&["watch", "-y"]).start();
    desk.copy(&shot.keyed(&wrong(), "feat: prices are text"));
    shot.wait("not kept");
    insta::assert_snapshot!(shot.settled(), @r"
    relay 0.1.0 · shop · auto, grep -n 'price: string' src/*.ts | sed 's/^…   p prompt · u undo · ? keys

    ▸ 14:02  {bold}feat: prices are text{/}                                                            1 file  {green}+3{/}
        A  src/money.ts  {green}+3{/}
    {red}✗{/} not kept: grep -n 'price: string' src/*.ts | sed 's/^\([^:]… went from 0 to 1 error
      {dim}everything was put back{/}
        src/money.ts:2  Type string is not assignable to type number.
      keep it anyway: `relay apply --allow gate` · c copies the errors for your model
    {dim}watching the clipboard (X11) · ? keys{/}
    ");
}

#[test]
fn bulk_broken_configuration_and_trust() {
    let desk = or_skip!(X11::start());
    let mut config = auto("true");
    config["watcher"] = json!({"enableBulkProcessing": true, "bulkSize": 3, "bulkTimeout": 600_000});
    let shot = Shot::of(&files(), &config).desk(&desk).start();
    desk.copy(&shot.keyed(&rounded(), "feat: round totals to cents"));
    shot.wait("1 of 3 collected");
    desk.copy(&shot.keyed(&near(), "refactor: say that it is a fraction"));
    shot.wait("2 of 3 collected");
    insta::assert_snapshot!(shot.settled(), @"
    relay 0.1.0 · shop · auto, true                                           p prompt · u undo · ? keys
    {dim}2 of 3 collected · b takes them up now{/}
    ");
    shot.press("b");
    shot.wait("[y/N]");
    shot.screen.type_keys("n\r");
    shot.wait("copies were taken up");
    shot.snap("bulk_taken");

    let shot = Shot::of(&files(), &auto("true")).desk(&desk).start();
    shot.scene.project.put("relaycode.config.json", b"{\"projectId\": \"shop\",");
    shot.wait("stays in force");
    insta::assert_snapshot!(shot.settled(), @"
    relay 0.1.0 · shop · auto, true                                           p prompt · u undo · ? keys
    {red}✗{/} the file ends inside an object: `}` is missing
      in relaycode.config.json:1
      fix the file; `relay config check` checks it again
    {yellow}!{/} the configuration as it was before stays in force
    {dim}watching the clipboard (X11) · ? keys{/}
    ");
    shot.scene.configure(&auto("make lint"));
    shot.wait("was read again");
    desk.copy(&shot.keyed(&rounded(), "feat: round totals to cents"));
    shot.wait("[y/N]");
    shot.snap("trust");
    shot.screen.type_keys("n\r");
    shot.wait("apply? [y/N]");
    shot.snap("trust_no");
}

#[test]
fn no_clipboard_no_colour_no_utf8_and_a_dumb_terminal() {
    for (name, set) in [
        ("no_clipboard", None),
        ("no_colour", Some(("NO_COLOR", "1"))),
        ("no_utf8", Some(("LC_ALL", "C"))),
        ("dumb", Some(("TERM", "dumb"))),
    ] {
        let mut shot = Shot::of(&files(), &auto("true"));
        if let Some((key, value)) = set {
            shot = shot.env(key, value);
        }
        let shot = shot.start();
        let text = shot.keyed(&rounded(), "feat: round totals to cents");
        shot.screen.paste(&text);
        shot.wait(" applied ");
        // A terminal that does not mark what is pasted could not tell it from what was typed too early.
        shot.rested();
        let text = shot.keyed(&near(), "refactor: say that it is a fraction");
        shot.screen.paste(&text);
        shot.wait("[y/N]");
        shot.snap(name);
        shot.screen.type_keys("y\r");
        shot.wait_times(" applied ", 2);
    }
}

#[test]
fn narrow() {
    for (columns, name) in [(40, "at_40"), (20, "at_20")] {
        // Without a linter: how long it took would break the lines now here, now there.
        let shot = Shot::of(&files(), &auto("")).columns(columns).start();
        let text = shot.keyed(&rounded(), "feat: round totals to cents");
        shot.screen.paste(&text);
        shot.wait("[y/N]");
        shot.screen.type_keys("y\r");
        shot.wait("✓ applied");
        let text = shot.keyed(&near(), "refactor: say that it is a fraction");
        shot.screen.paste(&text);
        shot.wait_times("[y/N]", 2);
        shot.snap(&format!("{name}_question"));
        shot.screen.type_keys("n\r");
        shot.wait("✗ not applied");
        let text = shot.keyed(&stale(), "feat: taxes");
        shot.screen.paste(&text);
        shot.wait("✗ refused");
        shot.press("l");
        shot.wait("now");
        shot.snap(&format!("{name}_refusal_and_log"));
    }
}

#[test]
fn resized_in_the_middle_of_a_question_it_stays_readable_and_the_answer_counts() {
    let shot = Shot::of(&files(), &auto("true")).start();
    let text = shot.keyed(&near(), "refactor: say that it is a fraction");
    shot.screen.paste(&text);
    shot.wait("[y/N]");
    shot.screen.type_keys("n the te");
    shot.wait("n the te");
    shot.screen.resize(40, 30);
    shot.screen.wait_for(|screen| screen.text().contains("[y/N]"), Duration::from_secs(10));
    shot.screen.type_keys("sts are");
    // Where it stands depends on the width at which it was typed.
    let echoed = |screen: &TestScreen| String::from_utf8_lossy(&screen.raw()).contains("sts are");
    shot.screen.wait_for(echoed, Duration::from_secs(10));
    shot.screen.resize(120, 30);
    shot.screen.type_keys(" missing\r");
    shot.wait("not applied");
    shot.snap("resized");
    assert!(shot.scene.text("src/cart.ts").contains("let subtotal = 0;"));
}
