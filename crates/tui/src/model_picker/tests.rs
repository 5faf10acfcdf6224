//! Models are found, chosen with a level of thinking, and those without a key say so.

use super::*;
use crate::picker::test_screen::{
    SIZES, ascii_style, check_rows, framed, hostile_texts, keys, plain_style, typed,
};

fn model(selector: &str, name: &str, price: (f64, f64), thinks: bool, has_key: bool) -> ModelChoice {
    ModelChoice {
        selector: selector.into(),
        name: name.into(),
        provider: selector.split('/').next().unwrap().into(),
        window: 200_000,
        price: ModelPrice { input: price.0, output: price.1, ..ModelPrice::default() },
        thinks,
        reads_images: true,
        has_key,
    }
}

fn models() -> Vec<ModelChoice> {
    vec![
        model("openrouter/claude-sonnet-5", "Sonnet 5", (3.0, 15.0), true, false),
        model("anthropic/claude-sonnet-5", "Sonnet 5", (3.0, 15.0), true, true),
        ModelChoice { window: 32_768, ..model("ollama/qwen3:8b", "Qwen 3", (0.0, 0.0), false, true) },
    ]
}

fn picker() -> ModelPicker {
    ModelPicker::new(models(), Some("anthropic/claude-sonnet-5"), ThinkingLevel::Medium)
}

fn shown(picker: &ModelPicker, width: usize, height: usize) -> String {
    framed(&picker.lines(&plain_style(), width, height))
}

fn press(picker: &mut ModelPicker, pressed: &[KeyPress]) -> ModelOutcome {
    pressed.iter().map(|key| picker.handle_key(*key)).last().unwrap_or(ModelOutcome::Ignored)
}

#[test]
fn models_at_40_columns() {
    insta::assert_snapshot!(shown(&picker(), 40, 9), @r"
    |Choose a model                         3
    |› ▏ type to search      thinking: medium
    |▸ * anthropic/claude-sonnet-5
    |    ollama/qwen3:8b
    |    openrouter/claude-sonnet-5    no key
    |
    |
    |
    |Enter choose · Esc close · Alt+P preview
    ");
}

#[test]
fn models_at_80_columns() {
    insta::assert_snapshot!(shown(&picker(), 80, 22), @r"
    |Choose a model                                                                 3
    |› ▏ type to search                                              thinking: medium
    |▸ * anthropic/claude-sonnet-5                         200k  $3 / $15
    |    ollama/qwen3:8b                                    32k
    |    openrouter/claude-sonnet-5                        200k  $3 / $15      no key
    |
    |
    |
    |
    |
    |
    |────────────────────────────────────────────────────────────────────────────────
    |Sonnet 5
    |model     anthropic/claude-sonnet-5
    |window    200k tokens
    |price     $3 / $15 per million tokens in / out
    |images    yes
    |thinking  medium (Left and Right change it)
    |key       there
    |
    |
    |Enter choose · Esc close · Left Right thinking
    ");
}

#[test]
fn models_at_120_columns() {
    insta::assert_snapshot!(shown(&picker(), 120, 12), @r"
    |Choose a model                                                                                                         3
    |› ▏ type to search                                                                                      thinking: medium
    |▸ * anthropic/claude-so…    200k  $3 / $15             │ Sonnet 5
    |    ollama/qwen3:8b          32k                       │ model     anthropic/claude-sonnet-5
    |    openrouter/claude-s…    200k  $3 / $15      no key │ window    200k tokens
    |                                                       │ price     $3 / $15 per million tokens in / out
    |                                                       │ images    yes
    |                                                       │ thinking  medium (Left and Right change it)
    |                                                       │ key       there
    |                                                       │
    |                                                       │
    |Enter choose · Esc close · Left Right thinking
    ");
}

#[test]
fn no_model_yet_says_how_to_get_one() {
    insta::assert_snapshot!(shown(&ModelPicker::new(Vec::new(), None, ThinkingLevel::Off), 80, 8), @r"
    |Choose a model                                                                 0
    |› ▏ type to search
    |  no model yet; `relay keys set PROVIDER` stores a key
    |
    |
    |
    |
    |Esc close
    ");
}

#[test]
fn left_and_right_change_how_much_it_thinks() {
    let mut picker = picker();
    press(&mut picker, &keys("right"));
    let chosen =
        ModelOutcome::Choose { selector: "anthropic/claude-sonnet-5".into(), thinking: ThinkingLevel::High };
    assert_eq!(press(&mut picker, &keys("enter")), chosen);
    press(&mut picker, &keys("left left left left left left left"));
    let ModelOutcome::Choose { thinking, .. } = press(&mut picker, &keys("enter")) else { panic!() };
    assert_eq!(thinking, ThinkingLevel::Off);
    press(&mut picker, &keys("right right right right right right right right"));
    let ModelOutcome::Choose { thinking, .. } = press(&mut picker, &keys("enter")) else { panic!() };
    assert_eq!(thinking, ThinkingLevel::Max);
}

#[test]
fn a_model_that_does_not_think_is_chosen_without() {
    let mut picker = picker();
    press(&mut picker, &typed("qwen"));
    assert_eq!(press(&mut picker, &keys("right")), ModelOutcome::Ignored);
    let chosen = ModelOutcome::Choose { selector: "ollama/qwen3:8b".into(), thinking: ThinkingLevel::Off };
    assert_eq!(press(&mut picker, &keys("enter")), chosen);
}

#[test]
fn a_model_without_a_key_stands_last_and_says_what_it_needs() {
    let mut picker = picker();
    let needs = ModelOutcome::NeedsKey {
        provider: "openrouter".into(),
        selector: "openrouter/claude-sonnet-5".into(),
    };
    assert_eq!(press(&mut picker, &keys("end enter")), needs);
}

#[test]
fn servers_that_are_found_later_leave_the_place() {
    let mut picker = picker();
    press(&mut picker, &typed("qwen"));
    let mut more = models();
    more.insert(0, model("ollama/qwen-coder", "Qwen coder", (0.0, 0.0), false, true));
    picker.set_models(more, None);
    assert_eq!(picker.list.selected().unwrap().selector, "ollama/qwen3:8b");
}

#[test]
fn nothing_hostile_gets_through_and_every_size_fits() {
    for text in hostile_texts() {
        let one = ModelChoice {
            name: text.clone(),
            provider: text.clone(),
            ..model("a/b", "", (1.5, 2.25), true, false)
        };
        let models = vec![ModelChoice { selector: text.clone(), ..one }];
        let mut picker = ModelPicker::new(models, Some(&text), ThinkingLevel::Low);
        for (width, height) in SIZES {
            for style in [plain_style(), ascii_style()] {
                check_rows(&picker.lines(&style, width, height), width, height);
            }
        }
        picker.insert_text(&text);
        for (width, height) in SIZES {
            check_rows(&picker.lines(&plain_style(), width, height), width, height);
        }
    }
}
