//! Every key of the configuration does what it says: one test each. Keys that only `relay watch` uses are
//! read and shown, with where they come from.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::fixture::configured_project::{
    Outside, configure, configured, git, keyed, relay_git, repository, trusted, unasked,
};
use crate::fixture::scratch_project::{Project, Ran, edit, whole};
use crate::fixture::snapshot::Transcript;
use crate::relay_snapshot;

const UUID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

const FILES: &[(&str, &str)] = &[("a.txt", "one\n"), ("b.txt", "two\n")];

/// What `relay config show --json` says of a key: its value, where it comes from, and the line.
fn row(project: &Project, key: &str) -> (Value, String, u64) {
    let value = project.relay(&["config", "show", key, "--json"]).json();
    let row = &value["keys"][0];
    (row["value"].clone(), row["from"].as_str().unwrap().to_string(), row["line"].as_u64().unwrap())
}

/// The names of the rules that `apply` without a word and without a terminal stumbles over.
fn stumbles(project: &Project, answer: &str) -> Vec<String> {
    let ran = project.pipe(&["apply", "-", "--json"], answer.as_bytes());
    if ran.code == 0 {
        return Vec::new();
    }
    assert_eq!(ran.code, 13, "{ran:?}");
    let rules = ran.json()["rules"].as_array().unwrap().clone();
    rules.iter().map(|rule| rule["rule"].as_str().unwrap().to_string()).collect()
}

/// A project in which everything is in order: trusted, with a linter that is content.
fn in_order(patch: Value) -> Project {
    let mut patch = patch;
    patch["linter"] = patch.get("linter").cloned().unwrap_or(json!("true"));
    trusted(FILES, json!({"patch": patch}))
}

#[test]
fn project_id_names_the_project() {
    let project = configured(FILES, json!({}));
    assert_eq!(row(&project, "projectId"), (json!("shop"), "project".into(), 1));
    assert!(project.done(&["prompt"]).contains("projectId: shop."));
    let other = edit("a.txt", "one", "1") + "\n```yaml\nprojectId: another\n```\n";
    assert_eq!(project.apply(&other).code, 3);
}

/// What is said at a level: of an applied change with a remark, and of one that is refused.
fn said_at(level: &str, more: &[&str]) -> (Project, Ran, Ran) {
    let settings =
        json!({"core": {"logLevel": level}, "patch": {"linter": "true"}, "git": {"autoGitBranch": true}});
    let project = trusted(FILES, settings);
    let apply = |answer: &str| {
        let args: Vec<&str> = ["apply", "-", "-y"].iter().chain(more).copied().collect();
        project.pipe(&args, answer.as_bytes())
    };
    let (applied, refused) = (apply(&edit("a.txt", "one", "1")), apply(&edit("a.txt", "no such", "text")));
    assert_eq!((applied.code, refused.code), (0, 3), "{applied:?} {refused:?}");
    (project, applied, refused)
}

#[test]
fn log_level_says_how_much_relay_says() {
    let mut transcript = Transcript::default();
    for level in ["silent", "error", "warn", "info", "debug"] {
        let (project, applied, refused) = said_at(level, &[]);
        transcript.add(&format!("{level}: applied"), &applied);
        transcript.add(&format!("{level}: refused"), &refused);
        let asked = project.relay(&["log"]);
        assert_eq!(
            (asked.out.lines().count(), asked.err.as_str()),
            (1, ""),
            "{level}: what is asked for comes"
        );
        let broken = project.relay(&["show", "nothing", "--json"]);
        assert_eq!((broken.code, &broken.json()["ok"]), (2, &false.into()), "{level}: so does the object");
        assert_eq!(broken.err.is_empty(), level == "silent", "{level}: {}", broken.err);
    }
    relay_snapshot!(transcript, @"
    # silent: applied
    exit 0

    # silent: refused
    exit 3

    # error: applied
    exit 0

    # error: refused
    exit 3
    ----- stderr -----
    ✗ refused: the edit does not match                                   nothing was changed
      a.txt, edit 1 (line 2 of the answer)
        looked for   no such
        nothing in the file looks like it
      next: `... | relay preview - --repair` writes a prompt for your model

    # warn: applied
    exit 0
    ----- stderr -----
    ! no branch was made for it: <project> is not in a git repository; `git init` creates one

    # warn: refused
    exit 3
    ----- stderr -----
    ✗ refused: the edit does not match                                   nothing was changed
      a.txt, edit 1 (line 2 of the answer)
        looked for   no such
        nothing in the file looks like it
      next: `... | relay preview - --repair` writes a prompt for your model

    # info: applied
    exit 0
    ----- stdout -----
    ▸ stdin                                                                    1 file  +1 −1
        M  a.txt  +1 −1   1 exact
    ✓ applied change-1 · 1 file · checked in <duration>, 0 → 0 errors · `relay undo` undoes it
    ----- stderr -----
    ! no branch was made for it: <project> is not in a git repository; `git init` creates one

    # info: refused
    exit 3
    ----- stderr -----
    ✗ refused: the edit does not match                                   nothing was changed
      a.txt, edit 1 (line 2 of the answer)
        looked for   no such
        nothing in the file looks like it
      next: `... | relay preview - --repair` writes a prompt for your model

    # debug: applied
    exit 0
    ----- stdout -----
    ▸ stdin                                                                    1 file  +1 −1
        M  a.txt  +1 −1   1 exact
    ✓ applied change-1 · 1 file · checked in <duration>, 0 → 0 errors · `relay undo` undoes it
    ----- stderr -----
      linter, before: true succeeded in <duration>
      linter: true succeeded in <duration>
    ! no branch was made for it: <project> is not in a git repository; `git init` creates one
      admit by -y: the answer does not carry this project's key: anybody could have written it
      accept by policy: 0 errors before, 0 after

    # debug: refused
    exit 3
    ----- stderr -----
    ✗ refused: the edit does not match                                   nothing was changed
      a.txt, edit 1 (line 2 of the answer)
        looked for   no such
        nothing in the file looks like it
      next: `... | relay preview - --repair` writes a prompt for your model
    ");
}

#[test]
fn quiet_wins_over_log_level() {
    for level in ["silent", "error", "warn", "info", "debug"] {
        let (_, applied, refused) = said_at(level, &["-q"]);
        assert_eq!((applied.out.as_str(), applied.err.as_str()), ("", ""), "{level}");
        assert_eq!(refused.err.is_empty(), level == "silent", "{level}: {}", refused.err);
    }
}

#[test]
fn the_keys_of_watch_are_shown_with_where_they_come_from() {
    let project = configured(FILES, json!({}));
    let text = "{\n  \"projectId\": \"shop\",\n  \"core\": {\"enableNotifications\": false},\n  \"watcher\": {\n    \
                \"clipboardPollInterval\": 500,\n    \"bulkSize\": 7\n  }\n}\n";
    project.put("relaycode.config.json", text.as_bytes());
    std::fs::write(project.home().join("config.yml"), "core:\n  watchConfig: false\n").unwrap();
    let from = |from: &str, line: u64, value: Value| (value, from.to_string(), line);
    assert_eq!(row(&project, "core.enableNotifications"), from("project", 3, json!(false)));
    assert_eq!(row(&project, "core.watchConfig"), from("user", 2, json!(false)));
    assert_eq!(row(&project, "watcher.clipboardPollInterval"), from("project", 5, json!(500)));
    assert_eq!(row(&project, "watcher.bulkSize"), from("project", 6, json!(7)));
    assert_eq!(row(&project, "watcher.enableBulkProcessing"), from("default", 0, json!(false)));
    assert_eq!(row(&project, "watcher.bulkTimeout"), from("default", 0, json!(30_000)));
    relay_snapshot!(project.relay(&["config", "show"]), @r#"
    exit 0
    ----- stdout -----
      projectId                       "shop"                                the project, line 2
      core.logLevel                   "info"                                default
      core.enableNotifications        false                                 the project, line 3
      core.watchConfig                false                                 your config.yml, line 2
      watcher.clipboardPollInterval   500                                   the project, line 5
      watcher.preferredStrategy       "auto"                                default
      watcher.enableBulkProcessing    false                                 default
      watcher.bulkSize                7                                     the project, line 6
      watcher.bulkTimeout             30000                                 default
      patch.approvalMode              "auto"                                default
      patch.approvalOnErrorCount      0                                     default
      patch.linter                    ""                                    default
      patch.preCommand                ""                                    default
      patch.postCommand               ""                                    default
      patch.minFileChanges            0                                     default
      patch.maxFileChanges            null                                  default
      patch.commandTimeout            600                                   default
      patch.commandAccess             "full"                                default
      limits.text                     null                                  default
      limits.files                    null                                  default
      limits.file                     null                                  default
      limits.hunks                    null                                  default
      limits.total                    null                                  default
      limits.work                     null                                  default
      git.autoGitBranch               false                                 default
      git.gitBranchPrefix             "relay/"                              default
      git.gitBranchTemplate           "gitCommitMsg"                        default
      friends.default                 "codex"                               default
      friends.timeout                 600                                   default
      friends.idleTimeout             300                                   default
      permissions.deny                []                                    default
      permissions.ask                 []                                    default
      permissions.allow               []                                    default
      agent.access                    "workspace"                           default
      agent.maxTurns                  null                                  default
      agent.maxTime                   null                                  default
      agent.maxCost                   null                                  default
      agent.repeatLimit               5                                     default
      agent.parallelTools             8                                     default
      agent.steeringMode              "one-at-a-time"                       default
      agent.followUpMode              "one-at-a-time"                       default
      agent.interruptMode             "immediate"                           default
      agent.instructions              true                                  default
      agent.titles                    "auto"                                default
      agent.todo                      true                                  default
      agent.goal                      true                                  default
      agent.goalContinuations         20                                    default
      agent.checkpoint                false                                 default
      agent.check                     true                                  default
      agent.askTimeout                30                                    default
      agent.askNotify                 true                                  default
      agent.editMode                  "hashline"                            default
      agent.readDefaultLimit          3000                                  default
      agent.readHashLines             true                                  default
      agent.readSummarize             true                                  default
      agent.asyncEnabled              true                                  default
      agent.asyncMaxJobs              100                                   default
      agent.asyncPollWaitDuration     "30s"                                 default
      agent.bashAutoBackground        false                                 default
      agent.bashBackgroundAfter       60000                                 default
      agent.bashInterceptor           false                                 default
      agent.bashInterceptorRules      []                                    default
      agent.bashStartup               false                                 default
      agent.bashCi                    true                                  default
      agent.bashOutputBytes           51200                                 default
      ttsr.enabled                    true                                  default
      ttsr.interruptMode              "always"                              default
      ttsr.contextMode                "discard"                             default
      ttsr.repeatMode                 "once"                                default
      ttsr.repeatGap                  10                                    default
      compaction.enabled              true                                  default
      compaction.thresholdPercent     null                                  default
      compaction.thresholdTokens      null                                  default
      compaction.reserveTokens        16384                                 default
      compaction.keepRecentTokens     20000                                 default
      compaction.autoContinue         true                                  default
      compaction.midTurn              true                                  default
      compaction.prune                true                                  default
      compaction.promotion            true                                  default
      compaction.idleEnabled          false                                 default
      compaction.idleThresholdTokens  200000                                default
      compaction.idleTimeoutSeconds   300                                   default
      theme.dark                      "red-claw"                            default
      theme.light                     "blue-crab"                           default
      symbolPreset                    "theme"                               default
      colorBlindMode                  false                                 default
      doubleEscapeAction              "tree"                                default
      branchSummary.enabled           false                                 default
      terminal.plain                  false                                 default
      terminal.showThinking           false                                 default
    "#);
}

#[test]
fn preferred_strategy_shapes_the_prompt() {
    let forms = [("new-unified", "@@ ... @@"), ("multi-search-replace", "<<<<<<< SEARCH")];
    for (strategy, diff, search) in [
        ("auto", true, true),
        ("replace", false, false),
        ("new-unified", true, false),
        ("multi-search-replace", false, true),
    ] {
        let project = configured(FILES, json!({"watcher": {"preferredStrategy": strategy}}));
        let prompt = project.done(&["prompt"]);
        for ((name, sign), there) in forms.iter().zip([diff, search]) {
            assert_eq!(prompt.contains(sign), there, "{strategy}: {name}\n{prompt}");
        }
    }
}

#[test]
fn approval_mode_says_who_approves() {
    let project = in_order(json!({"approvalMode": "auto"}));
    let answer = |project: &Project| keyed(project, &edit("a.txt", "one", "1"), UUID, "one");
    assert_eq!(stumbles(&project, &answer(&project)), Vec::<String>::new());
    let project = in_order(json!({"approvalMode": "manual"}));
    assert_eq!(stumbles(&project, &answer(&project)), ["manual"]);
    assert_eq!(project.apply(&answer(&project)).code, 0, "`-y` is a person's word");
    // `auto` needs the key and a linter as well.
    let project = in_order(json!({}));
    let bare = edit("a.txt", "one", "1") + "\n```yaml\nprojectId: shop\n```\n";
    assert_eq!(stumbles(&project, &bare), ["no-key"]);
    assert_eq!(stumbles(&project, &edit("a.txt", "one", "1")), ["no-key"]);
    let project = trusted(FILES, json!({"patch": {"approvalMode": "auto"}}));
    assert_eq!(stumbles(&project, &answer(&project)), ["no-linter"]);
    // And trust: without it nothing of the project's counts.
    let project = configured(FILES, json!({"patch": {"linter": "true"}}));
    assert_eq!(unasked(&project, &answer(&project)).code, 7);
    assert_eq!(project.apply(&answer(&project)).code, 7, "`-y` does not stand in for it");
}

#[test]
fn approval_on_error_count_is_how_many_errors_are_fine() {
    let outside = Outside::new();
    for (allowed, code) in [(0, 5), (1, 5), (2, 0)] {
        let project = in_order(json!({"linter": outside.linter(), "approvalOnErrorCount": allowed}));
        let answer = keyed(&project, &edit("a.txt", "one", "BAD\nBAD"), UUID, "bad");
        let ran = unasked(&project, &answer);
        assert_eq!(ran.code, code, "{allowed}: {ran:?}");
        assert_eq!(project.text("a.txt") == "one\n", code == 5);
    }
    // What was bad before counts for nobody.
    let project = in_order(json!({"linter": outside.linter()}));
    project.put("a.txt", b"BAD\none\n");
    let ran = unasked(&project, &keyed(&project, &edit("a.txt", "one", "1"), UUID, "one"));
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn linter_judges_before_and_after() {
    let outside = Outside::new();
    let project = in_order(json!({"linter": outside.linter()}));
    relay_snapshot!(project.apply(&edit("a.txt", "one", "BAD")), @"
    exit 5
    ----- stdout -----
    ▸ stdin                                                                    1 file  +1 −1
        M  a.txt  +1 −1   1 exact
    ----- stderr -----
    ✗ not kept: sh <outside>/lint.sh went from 0 to 1 error  everything was put back
        a.txt:1  bad
      keep it anyway: `... | relay apply - --allow gate`
    ");
    assert_eq!(project.text("a.txt"), "one\n");
    let kept = project.pipe(&["apply", "-", "-y", "--allow", "gate"], edit("a.txt", "one", "BAD").as_bytes());
    assert_eq!(kept.code, 0, "{kept:?}");
    let fixed = project.pipe(&["apply", "-", "-y", "--json", "-q"], edit("a.txt", "BAD", "1").as_bytes());
    let gate = &fixed.json()["gate"];
    assert_eq!((&gate["errorsBefore"], &gate["errorsAfter"]), (&1.into(), &0.into()), "{gate}");
}

#[test]
fn pre_command_runs_before_and_stops_by_failing() {
    let outside = Outside::new();
    let command = outside.script("pre.sh", &format!("cp a.txt {}\n", outside.path("seen")));
    let project = trusted(FILES, json!({"patch": {"preCommand": command}}));
    project.applied(&edit("a.txt", "one", "1"));
    assert_eq!(outside.text("seen"), "one\n");
    let project = trusted(FILES, json!({"patch": {"preCommand": "false"}}));
    assert_eq!(project.apply(&edit("a.txt", "one", "1")).code, 5);
    assert_eq!(project.text("a.txt"), "one\n");
}

#[test]
fn post_command_runs_after_and_may_change_what_was_written() {
    let outside = Outside::new();
    let command = outside.script("format.sh", "sed -i s/1/uno/ a.txt\n");
    let project = trusted(FILES, json!({"patch": {"postCommand": command}}));
    project.applied(&edit("a.txt", "one", "1"));
    assert_eq!(project.text("a.txt"), "uno\n");
    project.done(&["revert"]);
    assert_eq!(project.text("a.txt"), "one\n", "what it did goes with the change");
    let project = trusted(FILES, json!({"patch": {"postCommand": format!("{command}; false")}}));
    assert_eq!(project.apply(&edit("a.txt", "one", "1")).code, 5);
    assert_eq!(project.text("a.txt"), "one\n");
}

#[test]
fn file_counts_out_of_bounds_ask_a_person() {
    let two = edit("a.txt", "one", "1") + &edit("b.txt", "two", "2");
    let one = edit("a.txt", "one", "1");
    for (key, bound, answer, asks) in [
        ("minFileChanges", 2, &one, true),
        ("minFileChanges", 2, &two, false),
        ("maxFileChanges", 1, &two, true),
        ("maxFileChanges", 1, &one, false),
    ] {
        let project = in_order(json!({key: bound}));
        let found = stumbles(&project, &keyed(&project, answer, UUID, "x"));
        assert_eq!(found, if asks { vec!["file-count"] } else { vec![] }, "{key} {bound}");
    }
    let prompt = in_order(json!({"maxFileChanges": 3})).done(&["prompt"]);
    assert!(prompt.contains("at most 3 files"), "the model is told: {prompt}");
}

#[test]
fn command_timeout_ends_a_command_that_hangs() {
    let start = Instant::now();
    let project = trusted(FILES, json!({"patch": {"postCommand": "sleep 600", "commandTimeout": 1}}));
    relay_snapshot!(project.apply(&edit("a.txt", "one", "1")), @"
    exit 5
    ----- stdout -----
    ▸ stdin                                                                    1 file  +1 −1
        M  a.txt  +1 −1   1 exact
    ----- stderr -----
    ✗ not kept: sleep 600 took too long and was ended                everything was put back
      keep it anyway: `... | relay apply - --allow gate`
    ");
    assert_eq!(project.text("a.txt"), "one\n");
    assert!(start.elapsed() < Duration::from_secs(60));
}

/// A repository with something staged, and what a change of `a.txt` leaves of it: the branch, the index,
/// what is changed in the files, and what relay said.
fn branched(settings: &Value, message: &str) -> (Project, String) {
    let project = configured(FILES, json!({"git": *settings}));
    repository(&project);
    project.put("b.txt", b"staged\n");
    git(&project, &["add", "b.txt"]);
    let head = git(&project, &["rev-parse", "HEAD"]);
    project.put("a.md", keyed(&project, &edit("a.txt", "one", "1"), UUID, message).as_bytes());
    let ran = relay_git(&project, &["apply", "a.md", "-y"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(git(&project, &["rev-parse", "HEAD"]), head, "no commit is made");
    assert_eq!(git(&project, &["diff", "--cached", "--name-only"]), "b.txt", "the index is as it was");
    assert_eq!(git(&project, &["diff", "--name-only"]), "a.txt", "and the change is in the files");
    let branch = git(&project, &["symbolic-ref", "--short", "HEAD"]);
    if branch != "main" {
        assert!(ran.out.contains(&branch), "{}", ran.out);
    }
    (project, branch)
}

#[test]
fn auto_git_branch_makes_a_branch_for_the_change() {
    assert_eq!(branched(&json!({"autoGitBranch": false}), "feat: one").1, "main");
    let (project, branch) = branched(&json!({"autoGitBranch": true}), "feat: one");
    assert!(branch.starts_with("relay/feat-"), "{branch}");
    assert_eq!(git(&project, &["rev-parse", "main"]), git(&project, &["rev-parse", "HEAD"]));
}

#[test]
fn auto_git_branch_without_a_repository_is_a_remark() {
    let project = configured(FILES, json!({"git": {"autoGitBranch": true}}));
    project.put("a.md", edit("a.txt", "one", "1").as_bytes());
    let ran = relay_git(&project, &["apply", "a.md", "-y"]);
    assert_eq!((ran.code, project.text("a.txt")), (0, "1\n".into()), "{ran:?}");
    relay_snapshot!(ran, @"
    exit 0
    ----- stdout -----
    ▸ a.md                                                                     1 file  +1 −1
        M  a.txt  +1 −1   1 exact
    ✓ applied change-1 · 1 file · `relay undo` undoes it
    ----- stderr -----
    ! no branch was made for it: <project> is not in a git repository; `git init` creates one
    ");
}

#[test]
fn git_branch_prefix_begins_its_name() {
    let settings = json!({"autoGitBranch": true, "gitBranchPrefix": "ai/of-"});
    assert!(branched(&settings, "feat: one").1.starts_with("ai/of-feat-"));
}

#[test]
fn git_branch_template_is_the_rest_of_it() {
    let settings = json!({"autoGitBranch": true, "gitBranchTemplate": "uuid"});
    assert_eq!(branched(&settings, "feat: one").1, format!("relay/{UUID}"));
    let settings = json!({"autoGitBranch": true, "gitBranchTemplate": "gitCommitMsg"});
    let (_, branch) = branched(&settings, "fix: $(touch x) the ~^: totals..");
    assert!(branch.starts_with("relay/fix") && branch.contains("totals"), "{branch}");
}

#[test]
fn older_forms_of_the_file_are_read() {
    let mut transcript = Transcript::default();
    for (name, text) in [
        ("relaycode.config.json", r#"{"projectId": "shop", "linter": "make lint", "approval": "yes"}"#),
        ("relay.config.json", r#"{"projectId": "shop", "patch": {"linter": "make lint"}}"#),
        (
            "relaycode.config.ts",
            "import { defineConfig } from 'relaycode';\n\nexport default defineConfig({\n  projectId: 'shop',\n  \
             patch: { linter: 'make lint' },\n});\n",
        ),
    ] {
        let project = Project::new(&[(name, text)]);
        assert_eq!(row(&project, "projectId").0, "shop", "{name}");
        assert_eq!(row(&project, "patch.linter").0, "make lint", "{name}");
        transcript.add(name, &project.relay(&["config", "check"]));
        let answer = "```text // x.txt\nx\n```\n\n```yaml\nprojectId: other\n```\n";
        assert_eq!(project.apply(answer).code, 3, "{name}: it counts");
    }
    relay_snapshot!(transcript, @"
    # relaycode.config.json
    exit 0
    ----- stdout -----
    ✓ relaycode.config.json can be read, with 3 remarks
    ! relaycode.config.json:1: `linter` is the older name of `patch.linter`
    ! relaycode.config.json:1: `yes` is the older word for `auto` in `patch.approvalMode`
    ! relaycode.config.json:1: `approval` is the older name of `patch.approvalMode`

    # relay.config.json
    exit 0
    ----- stdout -----
    ✓ relay.config.json can be read, with 1 remark
    ! relay.config.json: this file is now called relaycode.config.json

    # relaycode.config.ts
    exit 0
    ----- stdout -----
    ✓ relaycode.config.ts can be read, with 1 remark
    ! relaycode.config.ts: this file is read without running it; relaycode.config.json is the usual form
    ");
}

#[test]
fn a_computed_configuration_is_refused_with_its_line() {
    let text = "export default {\n  projectId: 'shop',\n  patch: { linter: process.env.LINT },\n};\n";
    let project = Project::new(&[("relaycode.config.ts", text), ("a.txt", "one\n")]);
    let mut transcript = Transcript::default();
    for args in [&["config", "show"][..], &["config", "check"], &["prompt"], &["trust"]] {
        transcript.add(&args.join(" "), &project.relay(args));
    }
    relay_snapshot!(transcript, @"
    # config show
    exit 2
    ----- stderr -----
    ✗ `process` is a name, not a value
      in relaycode.config.ts:3
      relay reads this file without running it: write the value out, or move the configuration to relaycode.config.json

    # config check
    exit 2
    ----- stderr -----
    ✗ the configuration has 1 error
      relaycode.config.ts:3:20: `process` is a name, not a value. relay reads this file without running it: write the value out, or move the configuration to relaycode.config.json

    # prompt
    exit 2
    ----- stderr -----
    ✗ `process` is a name, not a value
      in relaycode.config.ts:3
      relay reads this file without running it: write the value out, or move the configuration to relaycode.config.json

    # trust
    exit 2
    ----- stderr -----
    ✗ `process` is a name, not a value
      in relaycode.config.ts:3
      relay reads this file without running it: write the value out, or move the configuration to relaycode.config.json
    ");
    assert_eq!(project.apply(&whole("a.txt", "1\n")).code, 2);
    assert_eq!(project.text("a.txt"), "one\n");
    project.done(&["log"]);
}

#[test]
fn a_key_that_changes_is_what_counts_next() {
    let project = in_order(json!({}));
    let answer = keyed(&project, &edit("a.txt", "one", "1"), UUID, "one");
    configure(&project, json!({"patch": {"approvalMode": "manual"}}));
    assert_eq!(stumbles(&project, &answer), ["manual", "no-linter"]);
}
