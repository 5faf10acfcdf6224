//! Random operations on a session and on a plain list agree, however often it is closed and opened in between.

use std::collections::HashMap;
use std::sync::Arc;

use relaycode_proof_crashfs::ModelFs;
use relaycode_session::format::header::TitleSource;
use relaycode_session::{EntryBody, OpenMode, Session, SessionHeader};
use relaycode_testkit::random::Random;

use crate::fixture::{NAME, answer, ids, open, path, place, user};

#[derive(Default)]
struct Plain {
    entries: Vec<(String, Option<String>)>,
    labels: HashMap<String, String>,
    leaf: Option<String>,
}

impl Plain {
    fn add(&mut self, id: String) {
        self.entries.push((id.clone(), self.leaf.clone()));
        self.leaf = Some(id);
    }

    fn path(&self) -> Vec<String> {
        let parents: HashMap<&str, &Option<String>> =
            self.entries.iter().map(|(id, parent)| (id.as_str(), parent)).collect();
        let mut path = Vec::new();
        let mut at = self.leaf.clone();
        while let Some(id) = at {
            at = parents[id.as_str()].clone();
            path.push(id);
        }
        path.reverse();
        path
    }
}

fn agree(session: &Session, plain: &Plain, what: &str) {
    let listed: Vec<String> = plain.entries.iter().map(|(id, _)| id.clone()).collect();
    assert_eq!(ids(session), listed, "{what}");
    assert_eq!(session.leaf(), plain.leaf.as_deref(), "{what}");
    assert_eq!(session.path(None), plain.path(), "{what}");
    assert_eq!(session.labels(), &plain.labels, "{what}");
    for (entry, (id, parent)) in session.entries().zip(&plain.entries) {
        let entry = entry.unwrap();
        assert_eq!((&entry.id, &entry.parent_id), (id, parent), "{what}");
    }
    assert!(session.report().is_empty(), "{what}: {:?}", session.report());
}

fn run(seed: u64) {
    let mut random = Random::new(seed);
    let (model, dir) = place();
    let mut session = Session::create(model.clone(), dir, NAME, SessionHeader::new("/p")).unwrap();
    let mut plain = Plain::default();
    plain.add(session.append_message(&user("first")).unwrap());
    for step in 0..60 {
        let what = format!("seed {seed}, step {step}");
        let any = plain.entries[random.below(plain.entries.len())].0.clone();
        match random.below(12) {
            0..=2 => plain.add(session.append_message(&user("words")).unwrap()),
            3..=4 => plain.add(session.append(answer(&"x".repeat(random.below(300)))).unwrap()),
            5 => {
                let label = format!("l{step}");
                plain.add(session.set_label(&any, Some(&label)).unwrap());
                plain.labels.insert(any, label);
            }
            6 => {
                plain.add(session.set_label(&any, None).unwrap());
                plain.labels.remove(&any);
            }
            7 => {
                session.move_to(&any).unwrap();
                plain.leaf = Some(any);
            }
            8 => {
                session.move_to_start();
                plain.leaf = None;
            }
            9 => {
                plain.leaf = Some(any.clone());
                plain.add(session.branch_with_summary(Some(&any), "left", None, None).unwrap());
            }
            10 => {
                session.set_title(&"t".repeat(1 + random.below(40)), TitleSource::User).unwrap();
                session
                    .append(EntryBody::Custom { custom_type: "x".into(), data: None })
                    .map(|id| plain.add(id))
                    .unwrap();
            }
            _ => session = closed_and_opened(session, &model, &mut random, &mut plain),
        }
        agree(&session, &plain, &what);
    }
}

fn closed_and_opened(
    session: Session,
    model: &Arc<ModelFs>,
    random: &mut Random,
    plain: &mut Plain,
) -> Session {
    drop(session);
    if random.once_in(2) && model.file(&path("20260216_abc.index")).is_some() {
        model.delete(&path("20260216_abc.index")).unwrap();
    }
    plain.leaf = plain.entries.last().map(|(id, _)| id.clone());
    open(model, OpenMode::Write)
}

#[test]
fn a_session_and_a_plain_list_agree() {
    (0..40).for_each(run);
}
