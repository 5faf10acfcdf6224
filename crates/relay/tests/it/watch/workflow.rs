//! The workflow of the specifications: the prompt is copied, an answer is copied, the change is in, and out again.

use std::thread;

use serde_json::Value;

use super::desktop::{Desktop, on_each_desktop};
use super::{CART, CHECK, LINTER, Shop, Watch, answer, git_init, named, uuid};
use crate::fixture::keyed_project::Scene;
use crate::fixture::scratch_project::{Project, edit, whole};

on_each_desktop!(a_copied_answer_is_applied_and_undone, a_copied_prompt_stays_for_every_reader);

fn a_copied_answer_is_applied_and_undone(desktop: &Desktop) {
    let files = [
        ("src/cart.txt", "one\r\ntwo\r\nthree\r\n"),
        ("src/old.txt", "old, without an end of line"),
        ("check.sh", CHECK),
    ];
    let scene = Scene { project: Project::new(&files) };
    git_init(&scene);
    let begun = scene.relay(&["init"]);
    assert_eq!(begun.code, 0, "{begun:?}");
    let mut config: Value = serde_json::from_str(&scene.text("relaycode.config.json")).unwrap();
    config["projectId"] = "shop".into();
    config["patch"]["linter"] = LINTER.into();
    scene.configure(&config);
    scene.trust();
    let before = scene.project.tree();
    let logged = scene.project.log().len();

    let watch = Watch::start(&scene, desktop, &[], &[]);
    watch.press("p");
    watch.expect("the prompt (");
    watch.expect("is on the clipboard: give it to your model");
    let prompt = desktop.paste();
    assert_eq!(prompt.trim_end(), scene.relay(&["prompt"]).out.trim_end());

    // What a model does that was given this prompt.
    let blocks = edit("src/cart.txt", "two", "2")
        + &whole("src/deep/er/new.txt", "new\n")
        + "```text // src/old.txt\n//TODO: delete this file\n```\n";
    watch.copy(&answer(&named(&prompt), 1, "feat: count in numbers", &blocks));
    watch.expect("feat: count in numbers");
    watch.expect("3 files");
    watch.expect("M  src/cart.txt");
    watch.expect("✓ applied 00000001 · 3 files · checked in ");
    watch.expect("0 → 0 errors · u undoes it");
    assert_eq!(scene.text("src/cart.txt"), "one\r\n2\r\nthree\r\n");
    assert_eq!(scene.text("src/deep/er/new.txt"), "new\n");
    assert!(!scene.project.path("src/old.txt").exists());
    let record = scene.latest();
    assert_eq!((&record["id"], &record["origin"]), (&uuid(1).into(), &"clipboard".into()), "{record}");
    assert_eq!(record["decidedBy"], "policy", "{record}");
    assert_eq!(record["projectId"], "shop", "the key is in no record");

    watch.press("u");
    watch.expect("✓ undone: feat: count in numbers");
    watch.live("1 applied");
    assert_eq!(scene.project.tree(), before, "byte for byte, and nothing else is left");
    watch.press("l");
    watch.expect("undoes: feat: count in numbers");
    watch.expect("feat: count in numbers");
    let said = watch.leave();
    assert!(said.ends_with("✓ no longer watching: 1 applied, 1 undone"), "{said}");
    assert_eq!(scene.project.log().len(), logged + 2);
}

fn a_copied_prompt_stays_for_every_reader(desktop: &Desktop) {
    let shop = Shop::auto();
    let prompt = shop.scene.relay(&["prompt"]).out;
    let ran = shop.relay(desktop, &["prompt", "--copy"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.out, "✓ the prompt is on the clipboard: give it to your model as its instructions\n");
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| assert_eq!(desktop.paste().trim_end(), prompt.trim_end()));
        }
    });
    assert_eq!(desktop.paste().trim_end(), prompt.trim_end(), "and once more");
    assert_eq!(shop.cart(), CART);
    shop.assert_nothing_runs(desktop);
}
