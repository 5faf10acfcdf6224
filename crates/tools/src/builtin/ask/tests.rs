//! Each row of the tool's inputs, modes, limits and errors.

use std::time::Duration;

use serde_json::{Value, json};

use crate::fixture::{TestProject, text_of};
use crate::host::HostAnswer;
use crate::tool::ToolError;

/// A project whose person answers so.
fn answering(answers: impl IntoIterator<Item = HostAnswer>) -> TestProject {
    let project = TestProject::new(&[]);
    project.host.answers.lock().unwrap().extend(answers);
    project
}

fn options(chosen: &[usize]) -> HostAnswer {
    HostAnswer::Options { chosen: chosen.to_vec() }
}

fn said(text: &str) -> HostAnswer {
    HostAnswer::Text { text: text.into() }
}

fn colour(more: Value) -> Value {
    let mut question = json!({"id": "colour", "question": "Which colour?", "options": [{"label": "red"}, {"label": "blue"}]});
    let (Value::Object(fields), Value::Object(more)) = (&mut question, more) else { unreachable!() };
    fields.extend(more);
    question
}

fn ask(project: &TestProject, questions: &[Value]) -> (String, Value) {
    let output = project.call("ask", json!({ "questions": questions })).unwrap();
    (text_of(&output), output.details.unwrap())
}

#[test]
fn one_question_one_option() {
    let project = answering([options(&[1])]);
    let (text, details) = ask(&project, &[colour(json!({"recommended": 1}))]);
    assert_eq!(text, "User selected: blue");
    let expected = json!({"question": "Which colour?", "options": ["red", "blue"], "multi": false, "selectedOptions": ["blue"]});
    assert_eq!(details, expected);
    let asked = &project.host.questions.lock().unwrap()[0];
    assert_eq!(asked.options, ["red", "blue (Recommended)", "Other (type your own)"]);
    assert_eq!((asked.default, asked.deadline), (Some(1), Some(Duration::from_secs(30))));
}

#[test]
fn several_options_and_words_of_the_users_own() {
    let project = answering([options(&[1, 0, 2]), said(" green ")]);
    let (text, details) = ask(&project, &[colour(json!({"multi": true, "recommended": 0}))]);
    assert_eq!(text, "User selected: blue, red\nUser provided custom input: green");
    assert_eq!(
        (&details["selectedOptions"], &details["customInput"]),
        (&json!(["blue", "red"]), &json!("green"))
    );
    let questions = project.host.questions.lock().unwrap();
    assert_eq!(questions[0].options[0], "red", "nothing is marked where several can be chosen");
    assert!(questions[1].options.is_empty() && questions[1].deadline.is_none());
}

#[test]
fn an_empty_answer_of_ones_own_leads_back_to_the_options() {
    let project = answering([options(&[2]), said(""), options(&[0])]);
    assert_eq!(ask(&project, &[colour(json!({}))]).0, "User selected: red");
}

#[test]
fn without_options_the_answer_is_typed() {
    let project = answering([said("Ada")]);
    let (text, _) = ask(&project, &[json!({"id": "n", "question": "Name?", "options": []})]);
    assert_eq!(text, "User provided custom input: Ada");
}

#[test]
fn several_questions_are_answered_by_their_ids() {
    let project = answering([options(&[0]), options(&[2]), said("none")]);
    let (text, details) = ask(&project, &[colour(json!({})), colour(json!({"id": "other"}))]);
    assert_eq!(text, "User answers:\ncolour: red\nother: \"none\"");
    assert_eq!(details["results"][1]["id"], "other");
    assert_eq!(details["results"][1]["customInput"], "none");
}

#[test]
fn nobody_is_said_to_have_chosen_what_the_deadline_chose() {
    let project = answering([HostAnswer::TimedOut]);
    let output = project.call("ask", json!({"questions": [colour(json!({"recommended": 1}))]})).unwrap();
    assert_eq!(
        text_of(&output),
        "(relay: no answer within 30 s; going on with blue, as recommended. The user has not chosen that: say at the end that you went \
         on with it.)"
    );
    assert_eq!(output.card.summary, "no answer within 30 s; going on with blue, as recommended");
    let details = output.details.unwrap();
    assert_eq!((&details["selectedOptions"], &details["unansweredSeconds"]), (&json!(["blue"]), &json!(30)));
    for recommended in [json!({}), json!({"recommended": 9}), json!({"multi": true})] {
        let project = answering([HostAnswer::TimedOut]);
        let (text, details) = ask(&project, &[colour(recommended)]);
        assert!(text.starts_with("(relay: no answer within 30 s. Decide by yourself"), "{text}");
        assert_eq!(details["selectedOptions"], json!([]));
        assert_eq!(project.host.questions.lock().unwrap()[0].default, None, "Enter alone chooses nothing");
    }
    let project = answering([options(&[0]), HostAnswer::TimedOut]);
    let (text, _) = ask(&project, &[colour(json!({})), colour(json!({"id": "other"}))]);
    assert_eq!(text, "User answers:\ncolour: red\nother: no answer within 30 s");
}

#[test]
fn the_deadline_can_be_switched_off() {
    let mut project = answering([options(&[0])]);
    project.workspace.settings.ask_timeout = None;
    ask(&project, &[colour(json!({}))]);
    assert_eq!(project.host.questions.lock().unwrap()[0].deadline, None);
}

#[test]
fn error_nobody_to_ask() {
    let said = answering([]).refusal("ask", json!({"questions": [colour(json!({}))]}));
    assert!(said.starts_with("Ask tool requires interactive mode"), "{said}");
}

#[test]
fn error_a_user_who_cancels_ends_the_run() {
    let project = answering([HostAnswer::Stop]);
    let ended = project.call("ask", json!({"questions": [colour(json!({}))]}));
    assert_eq!(ended, Err(ToolError::Aborted));
    assert!(project.cancel.is_cancelled());
    let ended = project.call("ask", json!({"questions": [colour(json!({}))]}));
    assert_eq!(ended, Err(ToolError::Aborted), "nothing is asked any more");
    assert_eq!(project.host.questions.lock().unwrap().len(), 1);
}

#[test]
fn error_no_questions_and_too_many() {
    let project = answering([]);
    assert_eq!(project.refusal("ask", json!({"questions": []})), "Error: questions must not be empty");
    let many = vec![colour(json!({})); 21];
    assert!(project.refusal("ask", json!({ "questions": many })).contains("at most 20 questions"));
    let options = vec![json!({"label": "x"}); 21];
    let said = project.refusal("ask", json!({"questions": [colour(json!({ "options": options }))]}));
    assert!(said.contains("at most 20 options"), "{said}");
    let long = colour(json!({"question": "x".repeat(4_001)}));
    assert!(project.refusal("ask", json!({"questions": [long]})).contains("4000 bytes"));
    assert!(project.refusal("ask", json!({"questions": [{"id": "x"}]})).contains("missing field"));
}

#[test]
fn the_option_that_is_always_there_is_shown_once() {
    let project = answering([options(&[1])]);
    let labels = json!([{"label": "Other (type your own)"}, {"label": "red"}, {"label": "blue"}]);
    let (text, details) = ask(&project, &[colour(json!({"options": labels, "recommended": 2}))]);
    assert_eq!((text.as_str(), &details["options"]), ("User selected: blue", &json!(["red", "blue"])));
    let asked = &project.host.questions.lock().unwrap()[0];
    assert_eq!(asked.options, ["red", "blue (Recommended)", "Other (type your own)"]);
    assert_eq!(asked.default, Some(1));
}

#[test]
fn it_is_offered_like_every_tool_and_left_out_by_whoever_has_nobody_to_ask() {
    let project = answering([]);
    let tool = crate::registry::by_name("ask").unwrap();
    let fields = &tool.definition(&project.workspace).parameters;
    assert_eq!(fields["properties"]["questions"]["minItems"], 1, "{fields}");
}
