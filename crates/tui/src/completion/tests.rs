use proptest::prelude::*;

use super::*;
use crate::OutputStyle;
use crate::theme::{ColorDepth, Theme};

fn plain() -> ThemeStyle {
    ThemeStyle {
        output: OutputStyle { color: false, utf8: true, width: Some(80) },
        theme: Arc::new(Theme::plain()),
        depth: ColorDepth::None,
    }
}

fn completion() -> PromptCompletion {
    let mut completion = PromptCompletion::default();
    let paths = ["README.md", "src/", "src/client.rs", "src/cart.ts", "docs/my notes.md", "a\u{1b}[31m.txt"];
    completion.set_paths(paths.iter().map(ToString::to_string).collect());
    let command = |name: &str, text: &str, arguments: &[&str]| CompletionCommand {
        name: name.to_string(),
        text: text.to_string(),
        arguments: arguments.iter().map(ToString::to_string).collect(),
    };
    completion.set_commands(Arc::from([
        command("undo", "undo the last change", &[]),
        command("model", "choose a model", &["sonnet-5", "opus-5", "haiku"]),
        command("compact", "make room in the conversation", &[]),
    ]));
    completion
}

fn press(completion: &mut PromptCompletion, key: &str) -> CompletionOutcome {
    completion.handle_key(key.parse().unwrap(), &Keymap::default())
}

#[test]
fn files_are_completed_after_an_at_sign() {
    let mut completion = completion();
    completion.update("look at @cli", 12);
    insta::assert_snapshot!(completion.lines(&plain(), 40, 5).join("\n"), @"› src/client.rs");
    let accepted = press(&mut completion, "tab");
    assert_eq!(
        accepted,
        CompletionOutcome::Accept { range: 8..12, text: "@src/client.rs ".into(), submits: false }
    );
    completion.update("@", 1);
    insta::assert_snapshot!(completion.lines(&plain(), 40, 4).join("\n"), @"
    › README.md
      src/
      src/client.rs
      1 of 6
    ");
    press(&mut completion, "up");
    insta::assert_snapshot!(completion.lines(&plain(), 40, 3).join("\n"), @r"
      docs/my notes.md
    › a\u{1b}[31m.txt
      6 of 6
    ");
    completion.update("@notes", 6);
    let accepted = press(&mut completion, "enter");
    assert_eq!(
        accepted,
        CompletionOutcome::Accept { range: 0..6, text: "@\"docs/my notes.md\" ".into(), submits: false }
    );
    // A folder is gone into.
    completion.update("see @sr", 7);
    assert_eq!(
        press(&mut completion, "tab"),
        CompletionOutcome::Accept { range: 4..7, text: "@src/".into(), submits: false }
    );
    completion.update("mail a@b", 8);
    assert!(!completion.is_open());
}

#[test]
fn commands_and_their_arguments_are_completed() {
    let mut completion = completion();
    completion.update("/", 1);
    insta::assert_snapshot!(completion.lines(&plain(), 60, 8).join("\n"), @"
    › /undo             undo the last change
      /model            choose a model
      /compact          make room in the conversation
    ");
    insta::assert_snapshot!(completion.lines(&plain(), 24, 8).join("\n"), @"
    › /undo
      /model
      /compact
    ");
    completion.update("/und", 4);
    let accepted = press(&mut completion, "enter");
    assert_eq!(accepted, CompletionOutcome::Accept { range: 0..4, text: "/undo ".into(), submits: true });
    completion.update("/mo", 3);
    let accepted = press(&mut completion, "enter");
    assert_eq!(accepted, CompletionOutcome::Accept { range: 0..3, text: "/model ".into(), submits: false });
    completion.update("/model op", 9);
    assert_eq!(
        press(&mut completion, "tab"),
        CompletionOutcome::Accept { range: 7..9, text: "opus-5".into(), submits: false }
    );
    for (text, cursor) in [("say /mo", 7), ("/undo x", 7), ("\n/mo", 4), ("/nothing", 8)] {
        completion.update(text, cursor);
        assert!(!completion.is_open(), "{text}");
    }
}

#[test]
fn a_completion_that_was_closed_stays_closed_for_its_word() {
    let mut completion = completion();
    completion.update("@s", 2);
    assert_eq!(press(&mut completion, "escape"), CompletionOutcome::Changed);
    completion.update("@sr", 3);
    assert!(!completion.is_open());
    assert_eq!(press(&mut completion, "enter"), CompletionOutcome::Ignored);
    completion.update("@sr @s", 6);
    assert!(completion.is_open());
    assert_eq!(press(&mut completion, "x"), CompletionOutcome::Ignored);
}

proptest! {
    #[test]
    fn any_text_and_names_are_shown_safe_and_fit(text in any::<String>(), name in any::<String>(), at in any::<prop::sample::Index>(), width in 4_usize..60) {
        let mut completion = PromptCompletion::default();
        completion.set_paths(Arc::from([name.clone()]));
        completion.set_commands(Arc::from([CompletionCommand { name, text: text.clone(), arguments: vec![text.clone()] }]));
        for prompt in [format!("@{text}"), format!("/{text}"), "/".to_string(), "@".to_string(), text] {
            let cursor = at.index(prompt.len() + 1);
            for cursor in [cursor, prompt.len()].into_iter().filter(|at| prompt.is_char_boundary(*at)) {
                completion.update(&prompt, cursor);
                for line in completion.lines(&plain(), width, 5) {
                    prop_assert!(cells(&line) <= width, "{line:?}");
                    prop_assert!(!line.chars().any(relaycode_text::escape::is_unsafe));
                }
                if let CompletionOutcome::Accept { range, .. } = press(&mut completion, "tab") {
                    prop_assert!(prompt.get(range).is_some());
                }
            }
        }
    }
}
