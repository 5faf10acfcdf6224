//! What a session promises as long as nothing goes wrong.

use std::path::Path;
use std::sync::Arc;

use relaycode_durable::{Fs, FsDir};
use relaycode_llm::Message;
use relaycode_llm::message::{AssistantMessage, UserMessage};
use relaycode_proof_crashfs::ModelFs;
use serde_json::json;

use super::*;
use crate::IndexHead;
use crate::format::entry::EntryBody;
use crate::format::header::TitleSource;

const NAME: &str = "2026-01-01T10-20-30_abc.jsonl";

fn place() -> (Arc<ModelFs>, FsDir) {
    let model = Arc::new(ModelFs::new());
    model.mkdir("s").unwrap();
    let dir = model.open_root(Path::new("/s")).unwrap();
    (model, dir)
}

fn user(text: &str) -> Message {
    Message::User(UserMessage::text(text, 1))
}

fn answer(text: &str) -> EntryBody {
    let content = json!([{ "type": "text", "text": text }]);
    EntryBody::Message {
        message: json!({ "role": "assistant", "provider": "p", "model": "m", "content": content }),
    }
}

fn begun(model: &Arc<ModelFs>, dir: &FsDir) -> Session {
    Session::create(model.clone(), dir.clone(), NAME, SessionHeader::new("/p")).unwrap()
}

fn open(model: &Arc<ModelFs>, dir: &FsDir, mode: OpenMode) -> Session {
    Session::open(model.clone(), dir.clone(), NAME, mode).unwrap()
}

fn ids(session: &Session) -> Vec<String> {
    session.rows().iter().map(|row| row.id.to_string()).collect()
}

#[test]
fn a_session_in_which_nobody_said_anything_leaves_no_file() {
    let (model, dir) = place();
    let mut session = begun(&model, &dir);
    session.append(EntryBody::ModelChange { model: "p/m".into(), role: None }).unwrap();
    session.set_title("early", TitleSource::Auto).unwrap();
    session.flush().unwrap();
    assert_eq!(session.unsaved().unwrap().entries, 1);
    assert!(!session.is_on_disk());
    assert_eq!(session.entries().count(), 1);
    drop(session);
    assert!(model.snapshot().files.is_empty());
}

#[test]
fn the_first_prompt_makes_the_file_with_all_that_came_before_it() {
    let (model, dir) = place();
    let mut session = begun(&model, &dir);
    session.append(EntryBody::ModelChange { model: "p/m".into(), role: None }).unwrap();
    session.set_title("early", TitleSource::Auto).unwrap();
    let prompt = session.append_message(&user("hello")).unwrap();
    assert!(session.is_on_disk() && session.unsaved().is_none());
    session.append(answer("hi")).unwrap();
    session.set_label(&prompt, Some("here")).unwrap();
    let (names, header) = (ids(&session), session.header().clone());
    let whole: Vec<SessionEntry> = session.entries().map(Result::unwrap).collect();
    assert_eq!(session.path(None).len(), 4);

    let (bytes, mode) = model.file(&format!("s/{NAME}")).unwrap();
    assert_eq!(mode, 0o600);
    let lines: Vec<&str> = std::str::from_utf8(&bytes).unwrap().lines().collect();
    assert_eq!(lines.len(), 5);
    assert!(lines[0].starts_with(r#"{"type":"session","version":3,"#), "{}", lines[0]);

    let same = |other: &Session| {
        assert_eq!((ids(other), other.header()), (names.clone(), &header));
        assert_eq!(other.entries().map(Result::unwrap).collect::<Vec<_>>(), whole);
        assert_eq!(other.leaf(), names.last().map(String::as_str));
        assert_eq!(other.label_of(&prompt), Some("here"));
        assert!(other.report().is_empty(), "{:?}", other.report());
    };
    same(&open(&model, &dir, OpenMode::Read));
    drop(session);
    assert!(model.file("s/2026-01-01T10-20-30_abc.index").is_some());
    let head = IndexHead::read(&*model, &dir, NAME).unwrap();
    assert!(head.matches_file(&model.stat(&dir, NAME).unwrap()));
    assert_eq!((head.header, head.facts.first_prompt.as_deref()), (header.clone(), Some("hello")));
    assert_eq!((head.facts.messages, head.facts.answers), (2, 1));
    same(&open(&model, &dir, OpenMode::Write));
}

#[test]
fn only_one_writes_and_anybody_reads() {
    let (model, dir) = place();
    let mut session = begun(&model, &dir);
    session.append_message(&user("one")).unwrap();
    let second = Session::open(model.clone(), dir.clone(), NAME, OpenMode::Write);
    assert!(matches!(second, Err(SessionError::InUse { .. })), "{second:?}");
    session.set_title("renamed", TitleSource::User).unwrap();
    assert!(
        Session::open(model.clone(), dir.clone(), NAME, OpenMode::Write).is_err(),
        "the lock follows the name"
    );
    assert!(matches!(Session::repair(model.clone(), dir.clone(), NAME), Err(SessionError::InUse { .. })));
    let mut reader = open(&model, &dir, OpenMode::Read);
    assert_eq!(reader.header().title.as_deref(), Some("renamed"));
    assert!(matches!(reader.append(answer("no")), Err(SessionError::ReadOnly { .. })));
    drop(session);
    open(&model, &dir, OpenMode::Write).append(answer("two")).unwrap();
}

#[test]
fn a_title_of_the_user_is_changed_by_the_user_alone() {
    let (model, dir) = place();
    let mut session = begun(&model, &dir);
    session.append_message(&user("one")).unwrap();
    assert!(session.set_title("guessed", TitleSource::Auto).unwrap());
    assert!(session.set_title("a  much longer\nname", TitleSource::User).unwrap());
    assert!(!session.set_title("guessed again", TitleSource::Auto).unwrap());
    session.append(answer("behind a header of another length")).unwrap();
    session.append_message(&user("two")).unwrap();
    let context = session.context().unwrap();
    assert_eq!(context.messages.len(), 3);
    drop(session);
    let session = open(&model, &dir, OpenMode::Write);
    assert_eq!(session.header().title.as_deref(), Some("a much longer name"));
    assert_eq!(session.context().unwrap(), context);
    assert_eq!(session.report(), &LoadReport::default());
}

#[test]
fn moves_change_where_the_next_entry_goes_and_nothing_else() {
    let (model, dir) = place();
    let mut session = begun(&model, &dir);
    let one = session.append_message(&user("one")).unwrap();
    let two = session.append(answer("two")).unwrap();
    let three = session.append_message(&user("three")).unwrap();
    let four = session.append(answer("four")).unwrap();

    let nowhere = session.navigate(&four).unwrap();
    assert_eq!((nowhere.moved, nowhere.prefill), (false, None));
    let left: Vec<String> =
        session.abandoned_entries(&two).unwrap().into_iter().map(|entry| entry.id).collect();
    assert_eq!(left, [three.clone(), four.clone()]);
    let again = session.navigate(&three).unwrap();
    assert_eq!((again.leaf.as_deref(), again.prefill.as_deref()), (Some(&*two), Some("three")));
    let other = session.append_message(&user("another three")).unwrap();
    assert_eq!(session.path(None), [&*one, &two, &other]);
    assert_eq!(session.children(Some(&two)), [&*three, &other]);
    let first = session.navigate(&one).unwrap();
    assert_eq!((first.leaf, session.leaf()), (None, None));
    assert!(session.context().unwrap().messages.is_empty());
    let root = session.branch_with_summary(None, "all of it", None, None).unwrap();
    assert_eq!(session.children(None), [&*one, &root]);
    assert!(
        matches!(session.entry(&root).unwrap().body, EntryBody::BranchSummary { from_id, .. } if from_id == "root")
    );
    assert!(matches!(session.move_to("nobody"), Err(SessionError::NoEntry { .. })));
    assert_eq!(session.leaf(), Some(&*root));

    let tree = session.tree();
    let shown: Vec<(usize, &str, bool)> =
        tree.nodes.iter().map(|node| (node.depth, &*node.row.id, node.on_path)).collect();
    assert_eq!(
        shown,
        [
            (0, &*one, false),
            (1, &two, false),
            (2, &three, false),
            (3, &four, false),
            (2, &other, false),
            (0, &root, true)
        ]
    );
    assert_eq!(tree.roots().collect::<Vec<_>>(), [0, 5]);
}

#[test]
fn a_fork_is_the_same_conversation_under_another_name() {
    let (model, dir) = place();
    let mut session = begun(&model, &dir);
    let one = session.append_message(&user("one")).unwrap();
    session.append(answer("two")).unwrap();
    session.set_label(&one, Some("start")).unwrap();
    model.put("s/2026-01-01T10-20-30_abc/1.bash.log", b"printed", 0o600).unwrap();
    model.put("s/2026-01-01T10-20-30_abc/deep/2.txt", b"more", 0o600).unwrap();
    let mut fork = session.fork(&dir, "fork.jsonl", SessionHeader::new("/q")).unwrap();
    assert_eq!(fork.header().parent_session.as_deref(), Some(session.id()));
    assert_eq!(ids(&fork), ids(&session));
    assert_eq!(fork.label_of(&one), Some("start"));
    assert_eq!(model.file("s/fork/1.bash.log").unwrap().0, b"printed");
    assert_eq!(model.file("s/fork/deep/2.txt").unwrap().0, b"more");
    fork.append(answer("on its own")).unwrap();
    assert_eq!((fork.len(), session.len()), (4, 3));
    let again = session.fork(&dir, "fork.jsonl", SessionHeader::new("/q"));
    assert!(matches!(again, Err(SessionError::Exists { .. })));
}

#[test]
fn a_branch_of_its_own_holds_the_way_to_it_and_its_labels() {
    let (model, dir) = place();
    let mut session = begun(&model, &dir);
    let one = session.append_message(&user("one")).unwrap();
    session.set_label(&one, Some("old")).unwrap();
    session.set_label(&one, Some("new")).unwrap();
    let two = session.append(answer("two")).unwrap();
    let three = session.append_message(&user("three")).unwrap();
    session.set_label(&three, Some("gone")).unwrap();
    let branched = session.fork_branch(&two, &dir, "branch.jsonl", SessionHeader::new("/p")).unwrap();
    assert!(branched.report().is_empty(), "{:?}", branched.report());
    assert_eq!(branched.path(None)[..2], [&*one, &two]);
    assert_eq!(branched.len(), 3);
    assert_eq!(branched.label_of(&one), Some("new"));
    assert_eq!(branched.context().unwrap().messages.len(), 2);
    assert!(matches!(
        session.fork_branch("nobody", &dir, "x.jsonl", SessionHeader::new("")),
        Err(SessionError::NoEntry { .. })
    ));
}

#[test]
fn a_branch_of_its_own_keeps_what_a_compaction_kept_from_a_label_on() {
    let (model, dir) = place();
    let mut session = begun(&model, &dir);
    let one = session.append_message(&user("one")).unwrap();
    let label = session.set_label(&one, Some("start")).unwrap();
    session.append_message(&user("two")).unwrap();
    let body = EntryBody::Compaction {
        summary: "what was".into(),
        short_summary: None,
        first_kept_entry_id: label,
        tokens_before: 1,
        details: None,
        preserve_data: None,
        from_extension: None,
    };
    let leaf = session.append(body).unwrap();
    let branch = session.fork_branch(&leaf, &dir, "branch.jsonl", SessionHeader::new("/p")).unwrap();
    let messages = |session: &Session| session.context_at(Some(&leaf)).unwrap().messages;
    assert_eq!(messages(&branch).len(), 2, "the summary and what it kept");
    assert_eq!(messages(&branch), messages(&session));
}

#[test]
fn a_session_in_memory_writes_nothing_and_can_be_forked_to_disk() {
    let (model, dir) = place();
    let before = model.snapshot().files;
    let mut session = Session::in_memory(model.clone(), dir.clone(), SessionHeader::new("/p"));
    session.append_message(&user("one")).unwrap();
    session.append(answer("two")).unwrap();
    session.flush().unwrap();
    assert!(session.unsaved().is_none() && !session.is_on_disk());
    assert_eq!(session.context().unwrap().messages.len(), 2);
    assert_eq!(model.snapshot().files, before);
    let copy = session.fork(&dir, "fork.jsonl", SessionHeader::new("/p")).unwrap();
    assert!(copy.is_on_disk());
    assert_eq!(copy.context().unwrap().messages, session.context().unwrap().messages);
}

#[test]
fn an_image_goes_to_the_store_and_comes_back_in_the_context() {
    let (model, dir) = place();
    let blobs = Arc::new(BlobStore::open(model.clone(), &dir).unwrap());
    let mut session = begun(&model, &dir).with_blobs(blobs.clone());
    let data = "QUJD".repeat(1000);
    let content = json!([{ "type": "image", "data": data, "mimeType": "image/png" }]);
    session.append(EntryBody::Message { message: json!({ "role": "user", "content": content }) }).unwrap();
    assert!(model.file(&format!("s/{NAME}")).unwrap().0.len() < 1000);
    assert_eq!(session.context().unwrap().messages[0]["content"][0]["data"], data);
    drop(session);
    let without = open(&model, &dir, OpenMode::Read).context().unwrap();
    assert_eq!((without.missing_images, &without.messages[0]["content"][0]["type"]), (1, &json!("text")));
    let with = open(&model, &dir, OpenMode::Read).with_blobs(blobs).context().unwrap();
    assert_eq!(with.messages[0]["content"][0]["data"], data);
}

#[test]
fn an_answer_is_kept_as_it_was_given() {
    let (model, dir) = place();
    let mut session = Session::in_memory(model, dir, SessionHeader::new("/p"));
    let given: AssistantMessage =
        serde_json::from_value(json!({ "content": [{ "type": "text", "text": "yes" }] })).unwrap();
    session.append_message(&user("?")).unwrap();
    session.append_message(&Message::Assistant(given.clone())).unwrap();
    assert_eq!(session.context().unwrap().to_model_messages()[1], Message::Assistant(given));
}

#[test]
fn a_session_of_a_newer_format_is_not_forked_and_nothing_is_left() {
    let (model, dir) = place();
    let mut session = begun(&model, &dir);
    session.append_message(&user("hello")).unwrap();
    session.append(answer("hi")).unwrap();
    session.flush().unwrap();
    drop(session);
    let text =
        String::from_utf8(model.snapshot().files["s/2026-01-01T10-20-30_abc.jsonl"].0.clone()).unwrap();
    let newer = text.replacen(&format!("\"version\":{VERSION}"), "\"version\":99", 1);
    assert_ne!(newer, text);
    model.put("s/2026-01-01T10-20-30_abc.jsonl", newer.as_bytes(), 0o600).unwrap();
    let before = model.snapshot().files.len();
    let session = open(&model, &dir, OpenMode::Read);
    let leaf = ids(&session).last().unwrap().clone();
    let forks = [
        session.fork(&dir, "copy.jsonl", SessionHeader::new("/p")),
        session.fork_branch(&leaf, &dir, "copy.jsonl", SessionHeader::new("/p")),
    ];
    for fork in forks {
        assert!(matches!(fork, Err(SessionError::Newer { version: 99, .. })));
    }
    assert_eq!(model.snapshot().files.len(), before);
}
