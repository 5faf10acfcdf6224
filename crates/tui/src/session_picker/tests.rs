//! Sessions are found, resumed, renamed and deleted.

use super::*;
use crate::picker::test_screen::{
    SIZES, ascii_style, check_rows, framed, hostile_texts, keys, plain_style, typed,
};

fn session(id: &str, cwd: &str, title: Option<&str>, first: &str) -> SessionSummary {
    SessionSummary {
        path: PathBuf::from(format!("/home/me/.relaycode/sessions/{id}.jsonl")),
        id: id.into(),
        cwd: cwd.into(),
        title: title.map(str::to_string),
        created: "before".into(),
        modified: "long ago".into(),
        messages: Some(4),
        first_message: Some(first.into()),
        size: 12_300,
        answered: Some(true),
        damage: None,
        modified_seconds: 0,
        as_friend: false,
        has_title: title.is_some(),
    }
}

fn here() -> Vec<SessionSummary> {
    vec![
        session("0199f3a1", "/home/me/my-app", Some("round totals to cents"), "add rounding to the cart"),
        session("0199e07c", "/home/me/my-app", None, "why does the parser skip blank lines?"),
        SessionSummary {
            damage: Some("its last line is cut off".into()),
            messages: None,
            ..session("0199d111", "/home/me/my-app", None, "write a test")
        },
    ]
}

fn everywhere() -> Vec<SessionSummary> {
    let mut all = vec![session("0199ffff", "/home/me/other", Some("release notes"), "write them")];
    all.extend(here());
    all
}

fn picker() -> SessionPicker {
    SessionPicker::new(Path::new("/home/me/my-app"), Some("0199f3a1"), here())
}

fn shown(picker: &SessionPicker, width: usize, height: usize) -> String {
    framed(&picker.lines(&plain_style(), width, height))
}

fn press(picker: &mut SessionPicker, pressed: &[KeyPress]) -> SessionOutcome {
    pressed.iter().map(|key| picker.handle_key(*key)).last().unwrap_or(SessionOutcome::Ignored)
}

#[test]
fn sessions_at_40_columns() {
    insta::assert_snapshot!(shown(&picker(), 40, 10), @r"
    |Resume a session, this project         3
    |› ▏ type to search
    |▸ * round totals to cents       long ago
    |  why does the parser skip bl…  long ago
    |  ! write a test                long ago
    |
    |
    |
    |
    |Enter resume · Esc close · Ctrl+R rename
    ");
}

#[test]
fn sessions_at_80_columns() {
    insta::assert_snapshot!(shown(&picker(), 80, 22), @r"
    |Resume a session, this project                                                 3
    |› ▏ type to search
    |▸ * round totals to cents                        long ago    4 messages    12 kB
    |  why does the parser skip blank lines?          long ago    4 messages    12 kB
    |  ! write a test                                 long ago                  12 kB
    |
    |
    |
    |
    |
    |
    |────────────────────────────────────────────────────────────────────────────────
    |round totals to cents
    |id       0199f3a1
    |project  /home/me/my-app
    |begun    before
    |last     long ago
    |size     12 kB  4 messages
    |
    |add rounding to the cart
    |
    |Enter resume · Esc close · Tab all projects · Ctrl+R rename · Ctrl+D delete
    ");
}

#[test]
fn sessions_at_120_columns() {
    insta::assert_snapshot!(shown(&picker(), 120, 12), @r"
    |Resume a session, this project                                                                                         3
    |› ▏ type to search
    |▸ * round totals to cents                     long ago │ round totals to cents
    |  why does the parser skip blank lines?       long ago │ id       0199f3a1
    |  ! write a test                              long ago │ project  /home/me/my-app
    |                                                       │ begun    before
    |                                                       │ last     long ago
    |                                                       │ size     12 kB  4 messages
    |                                                       │
    |                                                       │ add rounding to the cart
    |                                                       │
    |Enter resume · Esc close · Tab all projects · Ctrl+R rename · Ctrl+D delete
    ");
}

#[test]
fn tab_shows_all_projects_with_this_one_first() {
    let mut picker = picker();
    assert_eq!(press(&mut picker, &keys("tab")), SessionOutcome::LoadAll);
    insta::assert_snapshot!(shown(&picker, 80, 9), @r"
    |Resume a session, all projects                                 loading, 3 so far
    |› ▏ type to search
    |▸ * round totals to cents            my-app      long ago    4 messages    12 kB
    |  why does the parser skip blank l…  my-app      long ago    4 messages    12 kB
    |  ! write a test                     my-app      long ago                  12 kB
    |
    |
    |
    |Enter resume · Esc close · Tab this project · Ctrl+R rename · Ctrl+D delete
    ");
    picker.set_all(everywhere());
    insta::assert_snapshot!(shown(&picker, 100, 9), @r"
    |Resume a session, all projects                                                                     4
    |› ▏ type to search
    |▸ * round totals to cents                                my-app      long ago    4 messages    12 kB
    |  why does the parser skip blank lines?                  my-app      long ago    4 messages    12 kB
    |  ! write a test                                         my-app      long ago                  12 kB
    |  release notes                                           other      long ago    4 messages    12 kB
    |
    |
    |Enter resume · Esc close · Tab this project · Ctrl+R rename · Ctrl+D delete · Alt+P preview
    ");
    let outcome = press(&mut picker, &keys("end enter"));
    let SessionOutcome::Resume { id, is_other_project, .. } = outcome else { panic!() };
    assert_eq!((id.as_str(), is_other_project), ("0199ffff", true));
    assert_eq!(press(&mut picker, &keys("tab")), SessionOutcome::Changed);
    assert_eq!(picker.scope(), SessionScope::Project);
}

#[test]
fn no_session_yet_is_said_and_can_be_left() {
    let mut picker = SessionPicker::new(Path::new("/p"), None, Vec::new());
    insta::assert_snapshot!(shown(&picker, 80, 8), @r"
    |Resume a session, this project                                                 0
    |› ▏ type to search
    |  no session in this project yet; Tab shows all projects
    |
    |
    |
    |
    |Esc close
    ");
    assert_eq!(press(&mut picker, &keys("enter")), SessionOutcome::Ignored);
    assert_eq!(press(&mut picker, &keys("ctrl+d")), SessionOutcome::Ignored);
    assert_eq!(press(&mut picker, &keys("escape")), SessionOutcome::Closed);
    assert_eq!(press(&mut picker, &keys("ctrl+c")), SessionOutcome::Quit);
}

#[test]
fn a_session_is_found_by_title_words_id_directory_and_path() {
    for (query, id) in
        [("totals", "0199f3a1"), ("blank", "0199e07c"), ("0199d1", "0199d111"), ("jsonl e07c", "0199e07c")]
    {
        let mut picker = picker();
        press(&mut picker, &typed(query));
        assert_eq!(picker.list.selected().map(|session| session.id.as_str()), Some(id), "{query}");
    }
    let mut picker = picker();
    press(&mut picker, &typed("my-app"));
    assert_eq!(picker.list.fitting_count(), 3);
}

#[test]
fn enter_resumes_and_the_open_one_is_there_already() {
    let mut picker = picker();
    assert_eq!(press(&mut picker, &keys("enter")), SessionOutcome::AlreadyThere);
    let SessionOutcome::Resume { id, cwd, is_other_project, .. } = press(&mut picker, &keys("down enter"))
    else {
        panic!()
    };
    assert_eq!((id.as_str(), cwd.as_str(), is_other_project), ("0199e07c", "/home/me/my-app", false));
}

#[test]
fn deleting_asks_and_only_y_means_yes() {
    let mut picker = picker();
    assert_eq!(press(&mut picker, &keys("ctrl+d")), SessionOutcome::Ignored, "the open one");
    press(&mut picker, &keys("down ctrl+d"));
    insta::assert_snapshot!(shown(&picker, 80, 9), @r"
    |Resume a session, this project                                                 3
    |› ▏ type to search
    |  * round totals to cents                        long ago    4 messages    12 kB
    |▸ why does the parser skip blank lines?          long ago    4 messages    12 kB
    |  ! write a test                                 long ago                  12 kB
    |
    |
    |! delete this session? [y/N] why does the parser skip blank lines?
    |y delete it for good · any other key keep it
    ");
    assert_eq!(press(&mut picker, &keys("enter")), SessionOutcome::Changed);
    press(&mut picker, &keys("ctrl+d"));
    let SessionOutcome::Delete { id, .. } = press(&mut picker, &keys("y")) else { panic!() };
    picker.remove(&id);
    assert_eq!(picker.list.selected().map(|session| session.id.as_str()), Some("0199d111"));
}

#[test]
fn a_session_is_renamed_in_place() {
    let mut picker = picker();
    press(&mut picker, &keys("down ctrl+r"));
    press(&mut picker, &typed("blank lines"));
    insta::assert_snapshot!(shown(&picker, 80, 9), @r"
    |Resume a session, this project                                                 3
    |› ▏ type to search
    |  * round totals to cents                        long ago    4 messages    12 kB
    |▸ why does the parser skip blank lines?          long ago    4 messages    12 kB
    |  ! write a test                                 long ago                  12 kB
    |
    |
    |title: blank lines▏
    |Enter rename · Esc back
    ");
    let SessionOutcome::Rename { id, title, .. } = press(&mut picker, &keys("enter")) else { panic!() };
    assert_eq!((id.as_str(), title.as_str()), ("0199e07c", "blank lines"));
    assert_eq!(picker.list.selected().and_then(|session| session.title.as_deref()), Some("blank lines"));
    press(&mut picker, &keys("ctrl+r x escape"));
    assert_eq!(picker.list.selected().and_then(|session| session.title.as_deref()), Some("blank lines"));
}

#[test]
fn nothing_hostile_gets_through_and_every_size_fits() {
    for text in hostile_texts() {
        let one = SessionSummary {
            damage: Some(text.clone()),
            created: text.clone(),
            modified: text.clone(),
            ..session(&text, &text, Some(&text), &text)
        };
        let mut picker = SessionPicker::new(Path::new("/p"), None, vec![one.clone()]);
        picker.set_all(vec![one]);
        for stage in ["down", "ctrl+r", "escape tab", "ctrl+d"] {
            press(&mut picker, &keys(stage));
            for (width, height) in SIZES {
                for style in [plain_style(), ascii_style()] {
                    check_rows(&picker.lines(&style, width, height), width, height);
                }
            }
        }
    }
}
