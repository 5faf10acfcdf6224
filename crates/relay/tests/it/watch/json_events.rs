//! `--json`: one object per line on stdout, for machines.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use relaycode_testkit::process::ChildGuard;
use rustix::process::Signal;
use serde_json::Value;

use super::desktop::{Desktop, on_each_desktop};
use super::{CART, Shop, Watch, uuid};
use crate::fixture::keyed_project::{LONG, wait_until};

on_each_desktop!(machines_get_one_object_per_line, a_person_is_asked_on_the_terminal_beside_the_objects);

fn machines_get_one_object_per_line(desktop: &Desktop) {
    let shop = Shop::auto();
    let mut command = shop.command(desktop, &["watch", "--json"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut relay = ChildGuard::start(&mut command).unwrap();
    let mut lines = BufReader::new(relay.child().stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    let watching = next();
    assert_eq!((&watching["event"], &watching["projectId"]), (&"watching".into(), &"shop".into()));
    assert_eq!(watching["clipboard"], desktop.name(), "{watching}");
    desktop.copy(&shop.edits(1, "one", "1"));
    let applied = next();
    assert_eq!((&applied["event"], &applied["applied"]), (&"outcome".into(), &true.into()), "{applied}");
    assert_eq!((&applied["ok"], &applied["id"]), (&true.into(), &uuid(1).into()), "{applied}");
    desktop.copy(&shop.edits(2, "zwei", "2"));
    let refused = next();
    assert_eq!((&refused["event"], &refused["code"]), (&"outcome".into(), &3.into()), "{refused}");
    assert!(refused["repair"].as_str().unwrap().contains("zwei"), "{refused}");
    // Nobody can be asked: it is put back.
    desktop.copy(&shop.edits(3, "two", "BAD"));
    let failed = next();
    assert_eq!((&failed["event"], &failed["ok"]), (&"outcome".into(), &false.into()), "{failed}");
    assert_eq!(shop.cart(), CART.replace("one", "1"));
    relay.signal(Signal::TERM);
    assert_eq!(next()["event"], "ended");
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    for line in &rest {
        serde_json::from_str::<Value>(line).unwrap();
    }
    assert_eq!(relay.wait_exit(LONG).unwrap().code(), Some(130), "{rest:?}");
    shop.scene.assert_settled();
    shop.assert_nothing_runs(desktop);
}

fn a_person_is_asked_on_the_terminal_beside_the_objects(desktop: &Desktop) {
    let shop = Shop::manual();
    let out = shop.scene.project.home().join("out.json");
    let watch = Watch::start(&shop.scene, desktop, &["--json"], &[("OUT", out.to_str().unwrap())]);
    let objects = || -> Vec<Value> {
        let text = fs::read_to_string(&out).unwrap_or_default();
        let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        whole.map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    wait_until("it does not watch", || !objects().is_empty());
    watch.copy(&shop.edits(1, "one", "1"));
    watch.reply("apply? [y/N]", "n not now");
    wait_until("nothing came of it", || objects().len() == 2);
    watch.copy(&shop.edits(2, "two", "2"));
    watch.reply("apply? [y/N]", "y");
    wait_until("nothing came of it", || objects().len() == 3);
    watch.expect("✓ applied 00000002");
    watch.leave_unseen();
    let objects = objects();
    let events: Vec<&str> = objects.iter().map(|object| object["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["watching", "outcome", "outcome", "ended"]);
    assert_eq!((&objects[1]["code"], &objects[1]["reason"]), (&4.into(), &"not now".into()), "{objects:?}");
    assert_eq!((&objects[2]["applied"], &objects[2]["id"]), (&true.into(), &uuid(2).into()));
    assert_eq!(shop.cart(), CART.replace("two", "2"));
}
