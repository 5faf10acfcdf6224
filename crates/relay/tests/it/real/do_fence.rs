//! `relay do` with friends that have no sandbox of their own: the real programs work in relay's fence, and a script that one of
//! them wrote and ran there as the project's check reaches nothing outside of the copy.

use relaycode_exec::{FenceLevel, probe_fence};
use relaycode_friend::{FriendSandbox, friends};
use relaycode_testkit::directory_tree::read_tree;
use relaycode_testkit::model::ScriptedTurn;
use serde_json::json;

use super::fixture::{Stage, each};

/// Those that have none.
fn fenced() -> impl Iterator<Item = &'static str> {
    let fenced = friends::ALL.iter().filter(|friend| friend.abilities().sandbox == FriendSandbox::Fence);
    fenced.map(|friend| friend.name())
}

/// What the friend's own directories are beside what is looked at.
const LOOKED_AT: [&str; 3] = [".ssh", ".config/other", "outside"];

/// A script that writes, reads and plants, each by itself. It is run in the copy.
fn deeds(stage: &Stage) -> String {
    let (home, project) = (stage.scratch.home(), stage.scratch.project());
    let (home, project) = (home.display(), project.display());
    format!(
        "echo ran > ran.txt\n\
         cat '{home}/.ssh/id' > stolen.txt\n\
         cat '{home}/relay/keys/provider' >> stolen.txt\n\
         echo hostile > '{home}/outside/new.txt'\n\
         echo hostile > '{home}/outside/old.txt'\n\
         chmod 777 '{home}/outside/old.txt'\n\
         echo hostile > '{project}/old.txt'\n\
         echo hostile > '{project}/.git/hooks/post-commit'\n\
         echo hostile > .git/hooks/post-commit\n\
         echo hostile > '{home}/.claude/settings.json'\n\
         echo hostile > '{home}/.gemini/settings.json'\n\
         mkdir -p '{home}/.config/opencode/plugin' && echo hostile > '{home}/.config/opencode/plugin/x.js'\n\
         exit 0\n"
    )
}

#[test]
fn what_a_fenced_friend_runs_reaches_nothing_outside_of_its_copy() {
    each(fenced(), |stage| {
        let name = stage.name;
        let level = probe_fence(env!("CARGO_BIN_EXE_relay").as_ref(), &std::env::temp_dir()).level;
        if level == FenceLevel::Open {
            println!("skipped: no fence here");
            return;
        }
        for (file, text) in [
            (".ssh/id", "SECRET"),
            ("relay/keys/provider", "SECRET"),
            ("outside/old.txt", "mine"),
            (".config/other/x", "mine"),
        ] {
            stage.put_home(file, text);
        }
        stage.put("check.sh", "test ! -e deeds.sh || sh deeds.sh 2>/dev/null\n");
        stage.put(
            "relaycode.config.json",
            &json!({"projectId": "shop", "patch": {"linter": "sh check.sh", "approvalMode": "manual"}})
                .to_string(),
        );
        stage.run(&["trust", "-y"]).ends(name, 0);
        let agent = stage.agent();
        stage.says([
            agent.write_file_turn(ScriptedTurn::text("I write."), "deeds.sh", &deeds(stage)),
            agent.shell_call_turn(ScriptedTurn::text("I check."), "sh check.sh"),
            ScriptedTurn::text("I made it better."),
        ]);
        let home = stage.scratch.home();
        let look = || (stage.tree(), LOOKED_AT.map(|place| read_tree(&home.join(place), &[])));
        let before = look();
        // Nobody says yes to the change, so that the check does not run for the user.
        let ran = stage.run(&["do", "Make it better.", "--to", name, "--run-check", "--json"]).ends(name, 13);
        let told = ran.json();
        assert_eq!(
            told["sandbox"],
            json!({"kind": "fence", "level": level.number(), "why": null}),
            "{ran:#?}"
        );
        // Gemini does not say which command it asks about, so that it may not run it.
        let has_run = name != "gemini";
        assert_eq!(told["friend"]["declined"] == json!([]), has_run, "{name}: {ran:#?}");
        let kept = std::fs::read_to_string(told["kept"].as_str().unwrap()).unwrap();
        assert_eq!(kept.contains("+++ b/ran.txt"), has_run, "{name}: {kept}");
        assert!(!kept.contains("SECRET"), "{name}: {kept}");
        if level != FenceLevel::Namespaces {
            return;
        }
        assert_eq!(look(), before, "{name}: {ran:#?}");
        for settings in [".claude/settings.json", ".gemini/settings.json", ".config/opencode/plugin/x.js"] {
            let text = std::fs::read_to_string(home.join(settings)).unwrap_or_default();
            assert!(!text.contains("hostile"), "{name}: {settings}");
        }
        println!("{name}: {:?}", ran.took);
    });
}
