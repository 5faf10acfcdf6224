//! A friend without hands: it is shown files, and answers in relay's own form.

use super::*;

fn voice(answer: &str) -> Voice {
    Voice { answer: answer.to_string(), heard: Mutex::default() }
}

#[test]
fn a_friend_without_hands_is_shown_files_and_its_answer_goes_in() {
    let scene = Scene::new();
    let friend = voice(
        "I count differently.\n\n```txt // a.txt search-replace\n<<<<<<< SEARCH\none\n=======\nONE\n>>>>>>> REPLACE\n```\n",
    );
    let worked = scene.ask_about(&friend, &scene.root(), &working("shout"), &[path("a.txt")]).unwrap();
    let prompt = friend.heard.lock().unwrap().remove(0);
    assert!(prompt.starts_with("# Answers that change files"));
    assert!(prompt.contains("The file `a.txt` is now") && prompt.contains("Request:\nshout"));
    // No copy was made.
    assert!(!scene.home().join("scratch").exists());
    // What it saw is remembered: the file may move on where the edit's text stands.
    assert!(scene.root().join(".relaycode/seen").exists());
    let done = applied(scene.submit(&worked, &[]));
    assert_eq!(done.record.origin, "ollama");
    assert_eq!(done.record.git_commit_msg.as_deref(), Some("shout"));
    assert_eq!(scene.read("a.txt").unwrap(), b"ONE\ntwo\nthree\nfour\nfive\n");
}

#[test]
fn an_answer_without_a_change_is_only_an_answer() {
    let scene = Scene::new();
    let worked = scene.ask(&voice("There is nothing to do."), &scene.root(), &working("x")).unwrap();
    assert!(worked.proposal.is_none());
    assert_eq!(worked.answer.text, "There is nothing to do.");
    // A file that cannot be shown is said before anybody is asked.
    scene.write("b.bin", [0, 1]);
    for (name, word) in [("b.bin", "binary"), ("no.txt", "does not exist"), ("src", "a directory")] {
        let friend = voice("x");
        let asked = scene.ask_about(&friend, &scene.root(), &working("x"), &[path(name)]);
        let text = asked.unwrap_err().to_string();
        assert!(text.contains(word), "{text}");
        assert!(friend.heard.lock().unwrap().is_empty());
    }
}
