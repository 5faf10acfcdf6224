use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::message::{TextContent, ToolResultMessage, UserMessage};

const SEED: [u8; 32] = [7; 32];

fn plain(content: &str) -> SecretEntry {
    SecretEntry { pattern: SecretPattern::Plain(content.into()), mode: SecretMode::Obfuscate }
}

fn secrets(contents: &[&str]) -> Secrets {
    Secrets::new(&contents.iter().map(|content| plain(content)).collect::<Vec<_>>(), SEED)
}

fn user(text: &str) -> Message {
    Message::User(UserMessage::text(text, 0))
}

#[test]
fn a_secret_is_a_stable_placeholder_and_comes_back() {
    let one = secrets(&["hunter2hunter2", "tr0ub4dor&3xyz"]);
    let hidden = one.mask_text("a hunter2hunter2 b tr0ub4dor&3xyz").into_owned();
    assert!(!hidden.contains("hunter2") && !hidden.contains("dor&3"), "{hidden}");
    assert_eq!(hidden.matches('#').count(), 4);
    assert_eq!(one.unmask_text(&hidden), "a hunter2hunter2 b tr0ub4dor&3xyz");
    // Another process, another order: the same.
    let two = secrets(&["tr0ub4dor&3xyz", "hunter2hunter2"]);
    assert_eq!(two.mask_text("a hunter2hunter2 b tr0ub4dor&3xyz"), hidden);
    let other = Secrets::new(&[plain("hunter2hunter2")], [8; 32]);
    assert!(
        !hidden.contains(other.mask_text("hunter2hunter2").as_ref()),
        "another user, another placeholder"
    );
}

#[test]
fn the_longest_counts_and_what_overlaps_leaves_nothing_over() {
    let secrets = secrets(&["abcdefgh", "abcdefgh-long", "efgh-longer"]);
    for text in
        ["abcdefgh-long", "abcdefgh-longer", "xxabcdefghyy", "abcdefgh-long efgh-longer", "abcdefghabcdefgh"]
    {
        let hidden = secrets.mask_text(text).into_owned();
        for part in ["abcdefgh", "efgh", "-long", "er"] {
            assert!(!hidden.contains(part), "{text}: {hidden}");
        }
        assert_eq!(secrets.unmask_text(&hidden), text);
    }
}

#[test]
fn every_text_of_a_request_is_hidden_and_images_and_signatures_are_not() {
    let secrets = secrets(&["sekrit-value-1"]);
    let call = json!({"command": "echo sekrit-value-1", "sekrit-value-1": [{"x": "sekrit-value-1"}]});
    let call = ToolCall {
        id: "t".into(),
        name: "bash".into(),
        arguments: call.as_object().unwrap().clone(),
        thought_signature: Some("sekrit-value-1".into()),
    };
    let assistant = json!({"role": "assistant", "content": [
        {"type": "text", "text": "sekrit-value-1"},
        {"type": "thinking", "thinking": "sekrit-value-1", "thinkingSignature": "s"},
        {"type": "thinking", "thinking": "sekrit-value-1"},
    ]});
    let Message::Assistant(mut assistant) = serde_json::from_value(assistant).unwrap() else {
        panic!("role")
    };
    assistant.content.push(AssistantContent::ToolCall(call));
    let result = ToolResultMessage {
        tool_call_id: "t".into(),
        tool_name: "bash".into(),
        content: vec![
            UserContent::Text(TextContent { text: "out sekrit-value-1".into(), text_signature: None }),
            UserContent::Image(crate::message::ImageContent {
                data: "sekrit-value-1".into(),
                mime_type: "image/png".into(),
            }),
        ],
        details: None,
        is_error: false,
        timestamp: 0,
    };
    let mut request = ChatRequest {
        system: Some("sekrit-value-1".into()),
        messages: vec![user("sekrit-value-1"), Message::Assistant(assistant), Message::ToolResult(result)],
        ..ChatRequest::default()
    };
    secrets.mask_request(&mut request);
    let shown = format!("{request:?}");
    // The signed thinking, the signature and the image.
    assert_eq!(shown.matches("sekrit-value-1").count(), 3, "{shown}");
    let Message::Assistant(assistant) = &mut request.messages[1] else { panic!("role") };
    let Some(AssistantContent::ToolCall(call)) = assistant.content.last_mut() else { panic!("no call") };
    secrets.unmask_call(call);
    assert_eq!(call.arguments["command"], "echo sekrit-value-1");
    assert_eq!(call.arguments["sekrit-value-1"][0]["x"], "sekrit-value-1");
}

#[test]
fn what_the_conversation_says_by_itself_is_never_a_placeholder() {
    let one = secrets(&["sekrit-value-1"]);
    let name = one.mask_text("sekrit-value-1").into_owned();
    let mut request =
        ChatRequest { messages: vec![user(&format!("{name} and sekrit-value-1"))], ..ChatRequest::default() };
    one.mask_request(&mut request);
    let Message::User(message) = &request.messages[0] else { panic!("role") };
    let UserContent::Text(text) = &message.content[0] else { panic!("kind") };
    assert!(text.text.starts_with(&format!("{name} and #")) && !text.text.ends_with(&name), "{}", text.text);
    assert_eq!(one.unmask_text(&text.text), format!("{name} and sekrit-value-1"));
}

#[test]
fn a_placeholder_that_is_cut_is_left_as_it_is() {
    let secrets = secrets(&["sekrit-value-1"]);
    let name = secrets.mask_text("sekrit-value-1").into_owned();
    for cut in 1..name.len() {
        assert_eq!(secrets.unmask_text(&name[..cut]), &name[..cut]);
    }
    assert_eq!(secrets.unmask_text(&format!("#{name}#{name}")), "#sekrit-value-1#sekrit-value-1");
}

#[test]
fn patterns_and_replacement_for_good() {
    let text = "- {type: regex, content: '/acme-[0-9a-f]{4}/i', mode: replace}\n\
                - {content: hunter2hunter2, mode: replace, replacement: '[gone]'}\n\
                - {type: regex, content: 'tok_\\w+', flags: g}\n";
    let secrets = Secrets::new(&parse(text).unwrap(), SEED);
    let hidden = secrets.mask_text("ACME-01fe hunter2hunter2 tok_abc").into_owned();
    assert!(hidden.starts_with("********* [gone] #"), "{hidden}");
    assert_eq!(secrets.unmask_text(&hidden), "********* [gone] tok_abc");
}

#[test]
fn a_bad_secrets_file_says_where_and_never_what() {
    for (text, line, said) in [
        ("- content: x\n- {type: regex, content: 'sekrit('}\n", 2, "pattern"),
        ("- {type: regex, content: 'a*'}\n", 1, "nothing at all"),
        ("- {type: regex, content: '((a{1000}){1000}){1000}'}\n", 1, "too large"),
        ("- {content: sekrit, mode: shred}\n", 1, "`mode`"),
        ("- {content: 12345678}\n", 1, "between quotes"),
        ("- {contents: sekrit}\n", 1, "no setting"),
        ("a: sekrit\n", 1, "a list"),
        ("- {content: '/sekrit/q', type: regex}\n", 1, "flag"),
    ] {
        let error = parse(text).unwrap_err();
        assert_eq!(error.line, line, "{text}: {error}");
        assert!(error.message.contains(said) && !error.to_string().contains("sekrit"), "{error}");
    }
    assert!(parse("").unwrap().is_empty());
}

#[test]
fn variables_are_known_by_their_names() {
    for name in ["OPENAI_API_KEY", "GITHUB_TOKEN", "db_password", "AWS_SECRET_ACCESS_KEY", "NPM_AUTH"] {
        assert!(is_secret_name(name), "{name}");
    }
    for name in ["PATH", "PWD", "SSH_AUTH_SOCK", "KEYBOARD", "AWS_ACCESS_KEY_ID", "MONKEY", "TOKENIZERS"] {
        assert!(!is_secret_name(name), "{name}");
    }
    let key = ApiKey::new("sk-0123456789").unwrap();
    let found = entries_from_environment(
        [("A_TOKEN", "12345678"), ("B_TOKEN", "short"), ("HOME", "/home/somebody")],
        [&key],
    );
    assert_eq!(found.len(), 2);
}

#[test]
fn the_seed_is_made_once_and_private() {
    let home = tempfile::tempdir().unwrap();
    let own = UserDirectory::new(Some(home.path()), None);
    let first = load_seed(&own).unwrap();
    assert_eq!(load_seed(&own).unwrap(), first);
    assert_ne!(first, [0; 32]);
}

#[test]
fn hostile_text_takes_linear_time() {
    let long = "a".repeat(4096);
    let secrets = secrets(&[&long, "aaaaaaaa", "aaaaaaab"]);
    let start = std::time::Instant::now();
    let text = "a".repeat(1 << 20);
    let hidden = secrets.mask_text(&text).into_owned();
    assert!(!hidden.contains("aaaaaaaa"));
    assert_eq!(secrets.unmask_text(&hidden), text);
    let signs = "#".repeat(1 << 20);
    assert_eq!(secrets.unmask_text(&signs), signs);
    assert!(start.elapsed() < std::time::Duration::from_secs(20), "{:?}", start.elapsed());
}

proptest! {
    #[test]
    fn showing_what_was_hidden_gives_back_what_it_was(text in "[ab#A-C0-9é ]{0,60}", parts in prop::collection::vec("[abA#é]{2,6}", 1..5)) {
        let secrets = secrets(&parts.iter().map(String::as_str).collect::<Vec<_>>());
        let mut request = ChatRequest { messages: vec![user(&text)], ..ChatRequest::default() };
        secrets.mask_request(&mut request);
        let Message::User(message) = &request.messages[0] else { panic!("role") };
        let UserContent::Text(hidden) = &message.content[0] else { panic!("kind") };
        prop_assert_eq!(secrets.unmask_text(&hidden.text), text);
    }
}
