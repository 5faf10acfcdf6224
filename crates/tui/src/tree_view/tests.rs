//! The selector of the conversation's tree, row by row of what it was asked to do.

use relaycode_session::{EntryRole, EntryType};

use super::*;
use crate::input::KeyPress;
use crate::picker::test_screen::{
    SIZES, ascii_style, check_rows, framed, hostile_texts, keys, plain_style, typed,
};

/// An entry as a session has it.
fn entry(
    id: &str,
    parent: Option<usize>,
    kind: EntryType,
    role: EntryRole,
    who: &str,
    text: &str,
) -> TreeEntry {
    TreeEntry {
        id: id.into(),
        parent,
        on_path: false,
        is_leaf: false,
        label: None,
        kind,
        role,
        is_bookkeeping: matches!(
            kind,
            EntryType::Label | EntryType::Custom | EntryType::ModelChange | EntryType::ThinkingLevelChange
        ),
        is_silent: false,
        who: who.into(),
        text: text.into(),
        search: text.into(),
        prompt: (role == EntryRole::User || kind == EntryType::CustomMessage)
            .then(|| format!("{text}, in full")),
    }
}

fn user(id: &str, parent: Option<usize>, text: &str) -> TreeEntry {
    entry(id, parent, EntryType::Message, EntryRole::User, "user", text)
}

fn answer(id: &str, parent: Option<usize>, text: &str) -> TreeEntry {
    entry(id, parent, EntryType::Message, EntryRole::Assistant, "assistant", text)
}

/// Two approaches to a task; the conversation continues after `u3`.
fn task() -> Vec<TreeEntry> {
    let mut entries = vec![
        user("u1", None, "Start task"),
        answer("a1", Some(0), "Plan"),
        user("u2", Some(1), "Try approach A"),
        answer("a2", Some(2), "A result"),
        user("u3", Some(3), "Continue A"),
        user("u4", Some(1), "Try approach B"),
        answer("a4", Some(5), "B result"),
    ];
    for on_path in &mut entries[..5] {
        on_path.on_path = true;
    }
    entries[4].is_leaf = true;
    entries[4].label = Some("milestone".into());
    entries
}

/// The same with a tool, settings, a label, a note of an extension and a summary.
fn busy() -> Vec<TreeEntry> {
    let mut entries = task();
    let mut call = answer("c1", Some(6), "bash cargo test");
    call.is_silent = true;
    call.search = "bash {\"command\":\"cargo test\"}".into();
    entries.push(call);
    entries.push(entry("t1", Some(7), EntryType::Message, EntryRole::ToolResult, "toolResult", "12 passed"));
    entries.push(entry("m1", Some(8), EntryType::ModelChange, EntryRole::None, "model", "anthropic/opus"));
    entries.push(entry("k1", Some(9), EntryType::ThinkingLevelChange, EntryRole::None, "thinking", "high"));
    entries.push(entry("l1", Some(10), EntryType::Label, EntryRole::None, "label", "milestone for u3"));
    entries.push(entry("x1", Some(11), EntryType::Custom, EntryRole::None, "custom", "my-extension"));
    entries.push(entry("n1", Some(12), EntryType::CustomMessage, EntryRole::None, "note", "a note"));
    entries.push(entry(
        "b1",
        Some(13),
        EntryType::BranchSummary,
        EntryRole::None,
        "branch summary",
        "B was slow",
    ));
    entries
}

fn view(entries: Vec<TreeEntry>) -> TreeView {
    TreeView::new(entries, false)
}

fn shown(view: &TreeView, width: usize, height: usize) -> String {
    framed(&view.lines(&plain_style(), width, height))
}

fn press(view: &mut TreeView, pressed: &[KeyPress]) -> TreeOutcome {
    pressed.iter().map(|key| view.handle_key(*key)).last().unwrap_or(TreeOutcome::Ignored)
}

fn select(view: &mut TreeView, id: &str) {
    for _ in 0..view.entries.len() {
        if view.selected_entry().is_some_and(|entry| entry.id == id) {
            return;
        }
        press(view, &keys("down"));
    }
    panic!("{id} is not shown");
}

fn ids(view: &TreeView) -> Vec<&str> {
    view.visible.rows().iter().map(|row| view.entries[row.at].id.as_str()).collect()
}

fn filtered(entries: Vec<TreeEntry>, key: &str) -> Vec<String> {
    let mut view = view(entries);
    press(&mut view, &keys(key));
    let mut ids: Vec<String> = ids(&view).into_iter().map(str::to_string).collect();
    ids.sort();
    ids
}

#[test]
fn the_tree_of_a_task_at_40_columns() {
    insta::assert_snapshot!(shown(&view(task()), 40, 14), @r"
    |Session tree            default · 7 of 7
    |› ▏ type to search
    |  • user: Start task
    |  • assistant: Plan
    |  ├─ • user: Try approach A
    |  │  • assistant: A result
    |▸ │  • [milestone] user: Continue A
    |  └─ user: Try approach B
    |     assistant: B result
    |Enter go there · Shift+L label
    ");
}

#[test]
fn the_tree_of_a_task_at_80_columns() {
    insta::assert_snapshot!(shown(&view(task()), 80, 24), @r"
    |Session tree                                                    default · 7 of 7
    |› ▏ type to search
    |  • user: Start task
    |  • assistant: Plan
    |  ├─ • user: Try approach A
    |  │  • assistant: A result
    |▸ │  • [milestone] user: Continue A
    |  └─ user: Try approach B
    |     assistant: B result
    |Enter go there · Shift+L label · Ctrl+O filter · Esc close
    ");
}

#[test]
fn the_tree_on_the_smallest_screen() {
    insta::assert_snapshot!(shown(&view(task()), 20, 5), @r"
    |› ▏ type to search
    |  …1 • assis…: A re…
    |▸ …1 • [milestone] …
    |  …1 user: Try appr…
    |Enter go there
    ");
}

#[test]
fn the_tree_without_utf8() {
    insta::assert_snapshot!(framed(&view(task()).lines(&ascii_style(), 60, 14)), @r"
    |Session tree                                default - 7 of 7
    |> _ type to search
    |  * user: Start task
    |  * assistant: Plan
    |  |- * user: Try approach A
    |  |  * assistant: A result
    |> |  * [milestone] user: Continue A
    |  `- user: Try approach B
    |     assistant: B result
    |Enter go there - Shift+L label - Ctrl+O filter - Esc close
    ");
}

#[test]
fn the_tree_begins_at_the_current_leaf() {
    assert_eq!(view(task()).selected_entry().unwrap().id, "u3");
    let mut hidden = busy();
    hidden.iter_mut().for_each(|entry| entry.is_leaf = entry.id == "x1");
    // Its nearest ancestor that is shown.
    assert_eq!(view(hidden).selected_entry().unwrap().id, "t1");
}

#[test]
fn the_active_path_is_marked() {
    let text = shown(&view(task()), 60, 20);
    let marked: Vec<bool> = text
        .lines()
        .filter(|line| line.contains("user:") || line.contains("assistant:"))
        .map(|line| line.contains('•'))
        .collect();
    assert_eq!(marked, [true, true, true, true, true, false, false]);
}

#[test]
fn labels_stand_before_the_text() {
    assert!(shown(&view(task()), 60, 20).contains("• [milestone] user: Continue A"));
}

#[test]
fn several_roots_hang_below_one_that_is_not_shown() {
    let mut entries = task();
    entries.push(user("o1", None, "An orphan"));
    let text = shown(&view(entries), 60, 24);
    assert!(text.contains("├─ • user: Start task") && text.contains("└─ user: An orphan"), "{text}");
}

#[test]
fn at_most_half_the_screen_is_used_and_five_rows_at_least() {
    let entries: Vec<TreeEntry> =
        (0..100).map(|at| user(&format!("u{at}"), (at as usize).checked_sub(1), "again")).collect();
    let view = view(entries);
    for (height, rows) in [(40, 20), (24, 12), (11, 5), (9, 5), (8, 5), (5, 3)] {
        let shown = shown(&view, 60, height);
        assert_eq!(shown.matches("user: again").count(), rows, "{height}");
    }
}

#[test]
fn the_list_is_centered_around_the_selected_entry() {
    let entries: Vec<TreeEntry> =
        (0..100).map(|at: usize| user(&format!("u{at}"), at.checked_sub(1), &format!("no {at}"))).collect();
    let mut view = view(entries);
    shown(&view, 60, 20);
    press(&mut view, &keys("home right right right"));
    let text = shown(&view, 60, 20);
    let rows: Vec<&str> = text.lines().filter(|line| line.contains("user:")).collect();
    assert_eq!(rows.iter().position(|row| row.contains("▸")), Some(5), "{text}");
}

#[test]
fn up_and_down_wrap() {
    let mut view = view(task());
    press(&mut view, &keys("home up"));
    assert_eq!(view.selected_entry().unwrap().id, "a4");
    press(&mut view, &keys("down"));
    assert_eq!(view.selected_entry().unwrap().id, "u1");
}

#[test]
fn left_and_right_turn_pages() {
    let entries: Vec<TreeEntry> =
        (0..100).map(|at: usize| user(&format!("u{at}"), at.checked_sub(1), "x")).collect();
    let mut view = view(entries);
    shown(&view, 60, 24);
    press(&mut view, &keys("home right"));
    assert_eq!(view.selected_entry().unwrap().id, "u12");
    press(&mut view, &keys("left left"));
    assert_eq!(view.selected_entry().unwrap().id, "u0");
}

#[test]
fn escape_clears_the_search_before_it_closes_and_ctrl_c_closes_at_once() {
    let mut view = view(task());
    press(&mut view, &typed("plan"));
    assert_eq!(press(&mut view, &keys("ctrl+c")), TreeOutcome::Closed);
    assert_eq!(press(&mut view, &keys("escape")), TreeOutcome::Changed);
    assert_eq!(ids(&view).len(), 7);
    assert_eq!(press(&mut view, &keys("escape")), TreeOutcome::Closed);
}

#[test]
fn backspace_deletes_a_letter_of_the_search() {
    let mut view = view(task());
    press(&mut view, &typed("planx"));
    assert!(ids(&view).is_empty());
    press(&mut view, &keys("backspace"));
    assert_eq!(ids(&view), ["a1"]);
}

#[test]
fn the_default_filter_hides_bookkeeping() {
    let ids = filtered(busy(), "alt+d");
    assert_eq!(ids, ["a1", "a2", "a4", "b1", "n1", "t1", "u1", "u2", "u3", "u4"]);
}

#[test]
fn no_tools_hides_results_of_tools_as_well() {
    assert_eq!(filtered(busy(), "alt+t"), ["a1", "a2", "a4", "b1", "n1", "u1", "u2", "u3", "u4"]);
}

#[test]
fn user_only_shows_messages_of_the_user() {
    assert_eq!(filtered(busy(), "alt+u"), ["u1", "u2", "u3", "u4"]);
}

#[test]
fn labeled_only_shows_entries_that_have_a_label_now() {
    assert_eq!(filtered(busy(), "alt+l"), ["u3"]);
}

#[test]
fn all_shows_everything() {
    assert_eq!(filtered(busy(), "alt+a").len(), busy().len());
}

#[test]
fn the_filters_go_round_both_ways() {
    let mut view = view(busy());
    let mut seen = Vec::new();
    for _ in 0..5 {
        seen.push(view.filter().name());
        press(&mut view, &keys("ctrl+o"));
    }
    assert_eq!(seen, ["default", "no-tools", "user-only", "labeled-only", "all"]);
    assert_eq!(view.filter().name(), "default");
    press(&mut view, &keys("ctrl+shift+o"));
    assert_eq!(view.filter().name(), "all");
}

#[test]
fn a_filter_leaves_the_selected_entry_or_its_nearest_ancestor_selected() {
    let mut view = view(task());
    select(&mut view, "a4");
    press(&mut view, &keys("alt+u"));
    assert_eq!(view.selected_entry().unwrap().id, "u4");
}

#[test]
fn an_answer_that_only_calls_tools_is_hidden_unless_it_ended_badly_or_is_the_leaf() {
    assert!(!filtered(busy(), "alt+d").contains(&"c1".to_string()));
    assert!(!filtered(busy(), "alt+t").contains(&"c1".to_string()));
    // What ended badly, or is the leaf, is not silent: the session says so.
    let mut entries = busy();
    entries[7].is_silent = false;
    assert!(filtered(entries, "alt+d").contains(&"c1".to_string()));
}

#[test]
fn every_word_of_a_search_must_fit_in_any_case_and_any_order() {
    let found = |words: &str| {
        let mut view = view(busy());
        press(&mut view, &keys("alt+a"));
        view.insert_text(words);
        ids(&view).into_iter().map(str::to_string).collect::<Vec<_>>()
    };
    assert_eq!(found("approach TRY"), ["u2", "u4"]);
    assert_eq!(found("try b"), ["u4"]);
    assert_eq!(found("try nothing"), Vec::<String>::new());
}

#[test]
fn a_search_looks_at_labels_roles_summaries_types_and_commands() {
    let found = |words: &str| {
        let mut view = view(busy());
        press(&mut view, &keys("alt+a"));
        view.insert_text(words);
        ids(&view).into_iter().map(str::to_string).collect::<Vec<_>>()
    };
    assert_eq!(found("milestone user"), ["u3"]);
    assert_eq!(found("assistant result"), ["a2", "a4"]);
    assert_eq!(found("slow"), ["b1"]);
    assert_eq!(found("my-extension"), ["x1"]);
    assert_eq!(found("cargo command"), ["c1"]);
    assert_eq!(found("thinking"), ["k1"]);
}

#[test]
fn what_hangs_below_hidden_entries_hangs_below_the_nearest_shown() {
    let mut view = view(task());
    press(&mut view, &keys("alt+u"));
    insta::assert_snapshot!(shown(&view, 60, 10), @r"
    |Session tree                              user-only · 4 of 7
    |› ▏ type to search
    |  • user: Start task
    |  ├─ • user: Try approach A
    |▸ │  • [milestone] user: Continue A
    |  └─ user: Try approach B
    |Enter go there · Shift+L label · Ctrl+O filter · Esc close
    ");
}

#[test]
fn choosing_a_prompt_goes_before_it_and_puts_it_into_the_editor() {
    let mut view = view(task());
    select(&mut view, "u4");
    let to = TreeMove {
        entry: "u4".into(),
        leaf: Some("a1".into()),
        prefill: Some("Try approach B, in full".into()),
        summary: LeftBranchSummary::None,
    };
    assert_eq!(press(&mut view, &keys("enter")), TreeOutcome::Move(to));
}

#[test]
fn choosing_the_first_prompt_goes_to_the_very_beginning() {
    let mut view = view(task());
    press(&mut view, &keys("home"));
    let TreeOutcome::Move(to) = press(&mut view, &keys("enter")) else { panic!() };
    assert_eq!((to.leaf, to.prefill.as_deref()), (None, Some("Start task, in full")));
}

#[test]
fn choosing_a_custom_message_is_like_choosing_a_prompt() {
    let mut view = view(busy());
    select(&mut view, "n1");
    let TreeOutcome::Move(to) = press(&mut view, &keys("enter")) else { panic!() };
    assert_eq!((to.leaf.as_deref(), to.prefill.as_deref()), (Some("x1"), Some("a note, in full")));
}

#[test]
fn choosing_anything_else_goes_on_after_it_with_an_empty_editor() {
    let mut view = view(busy());
    for id in ["a4", "t1", "b1"] {
        select(&mut view, id);
        let TreeOutcome::Move(to) = press(&mut view, &keys("enter")) else { panic!() };
        assert_eq!((to.leaf.as_deref(), to.prefill), (Some(id), None));
    }
}

#[test]
fn choosing_the_current_leaf_moves_nothing() {
    assert_eq!(press(&mut view(task()), &keys("enter")), TreeOutcome::AlreadyThere);
    assert_eq!(ALREADY_THERE, "Already at this point");
}

#[test]
fn a_summary_is_asked_for_where_the_setting_says_so() {
    let mut view = TreeView::new(task(), true);
    select(&mut view, "a4");
    assert_eq!(press(&mut view, &keys("enter")), TreeOutcome::Changed);
    insta::assert_snapshot!(shown(&view, 60, 10), @r"
    |Session tree                                default · 7 of 7
    |Summarize what you leave behind?
    |▸ No summary
    |  Summarize
    |  Summarize with custom prompt
    |Enter choose · Esc back to the tree
    ");
    let TreeOutcome::Move(to) = press(&mut view, &keys("enter")) else { panic!() };
    assert_eq!((to.entry.as_str(), to.summary), ("a4", LeftBranchSummary::None));
}

#[test]
fn a_summary_can_be_asked_for_with_words_of_ones_own() {
    let mut view = TreeView::new(task(), true);
    select(&mut view, "a4");
    press(&mut view, &keys("enter up enter"));
    press(&mut view, &typed("the timings"));
    insta::assert_snapshot!(shown(&view, 60, 9), @r"
    |Session tree                                default · 7 of 7
    |what matters: the timings▏
    |  ├─ • user: Try approach A
    |  │  • assistant: A result
    |  │  • [milestone] user: Continue A
    |  └─ user: Try approach B
    |▸    assistant: B result
    |Enter summarize · Esc back
    ");
    let TreeOutcome::Move(to) = press(&mut view, &keys("enter")) else { panic!() };
    assert_eq!(to.summary, LeftBranchSummary::Custom("the timings".into()));
}

#[test]
fn escape_goes_back_from_the_words_to_the_choice_and_from_there_to_the_tree() {
    let mut view = TreeView::new(task(), true);
    select(&mut view, "a4");
    press(&mut view, &keys("enter up enter x escape"));
    assert!(shown(&view, 60, 10).contains("▸ Summarize with custom prompt"));
    press(&mut view, &keys("escape"));
    assert!(shown(&view, 60, 14).contains("▸    assistant: B result"), "{}", shown(&view, 60, 14));
}

#[test]
fn while_a_summary_is_written_escape_stops_it_and_the_tree_comes_back() {
    let mut view = TreeView::new(task(), true);
    select(&mut view, "a4");
    let TreeOutcome::Move(to) = press(&mut view, &keys("enter down enter")) else { panic!() };
    assert_eq!(to.summary, LeftBranchSummary::Summarize);
    assert!(shown(&view, 60, 12).contains("summarizing what is left behind"));
    assert_eq!(press(&mut view, &keys("escape")), TreeOutcome::AbortSummary);
    view.reopen();
    assert_eq!(view.selected_entry().unwrap().id, "a4");
    assert!(shown(&view, 60, 12).contains("type to search"));
}

#[test]
fn shift_l_sets_a_label() {
    let mut view = view(task());
    select(&mut view, "u4");
    press(&mut view, &keys("L"));
    press(&mut view, &typed("plan b"));
    insta::assert_snapshot!(shown(&view, 60, 12), @r"
    |Session tree                                default · 7 of 7
    |label: plan b▏
    |  • assistant: Plan
    |  ├─ • user: Try approach A
    |  │  • assistant: A result
    |  │  • [milestone] user: Continue A
    |▸ └─ user: Try approach B
    |     assistant: B result
    |Enter keep; empty takes it away · Esc back
    ");
    let set = TreeOutcome::SetLabel { entry: "u4".into(), label: Some("plan b".into()) };
    assert_eq!(press(&mut view, &keys("enter")), set);
    assert!(shown(&view, 60, 20).contains("[plan b] user: Try approach B"));
}

#[test]
fn an_empty_label_takes_it_away() {
    let mut view = view(task());
    press(&mut view, &keys("L ctrl+u"));
    let set = TreeOutcome::SetLabel { entry: "u3".into(), label: None };
    assert_eq!(press(&mut view, &keys("enter")), set);
    assert!(!shown(&view, 60, 20).contains("milestone"));
}

#[test]
fn escape_leaves_a_label_as_it_was() {
    let mut view = view(task());
    press(&mut view, &keys("L x y escape"));
    assert_eq!(view.selected_entry().unwrap().label.as_deref(), Some("milestone"));
}

#[test]
fn new_entries_leave_filter_search_and_place() {
    let mut view = view(task());
    select(&mut view, "u2");
    press(&mut view, &keys("alt+u"));
    let mut entries = task();
    entries.push(user("u5", Some(6), "One more"));
    view.replace_entries(entries);
    assert_eq!((view.selected_entry().unwrap().id.as_str(), view.filter()), ("u2", TreeFilterMode::UserOnly));
}

#[test]
fn a_conversation_without_entries_is_shown_as_such() {
    let mut view = view(Vec::new());
    assert!(shown(&view, 60, 10).contains("nothing was said yet"));
    for key in keys("up down left right enter L ctrl+o end") {
        view.handle_key(key);
    }
}

#[test]
fn nothing_hostile_gets_through_and_every_size_fits() {
    for text in hostile_texts() {
        let mut entries = task();
        for entry in &mut entries {
            entry.text.clone_from(&text);
            entry.who.clone_from(&text);
            entry.label = Some(text.clone());
        }
        let mut view = TreeView::new(entries, true);
        for stage in ["", "L", "escape enter", "escape escape"] {
            for key in stage.split(' ').filter(|key| !key.is_empty()) {
                view.handle_key(key.parse().unwrap());
            }
            view.insert_text(&text);
            for (width, height) in SIZES {
                for style in [plain_style(), ascii_style()] {
                    check_rows(&view.lines(&style, width, height), width, height);
                }
            }
        }
    }
}

#[test]
fn a_tree_of_any_depth_fits() {
    let mut entries = vec![user("u", None, "x")];
    for at in 0..2_000 {
        entries.push(user(&format!("in{at}"), Some(at * 2), "in"));
        entries.push(user(&format!("out{at}"), Some(at * 2), "out"));
    }
    let mut view = view(entries);
    press(&mut view, &keys("end"));
    for (width, height) in SIZES {
        check_rows(&view.lines(&plain_style(), width, height), width, height);
    }
}
