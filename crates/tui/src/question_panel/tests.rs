use insta::assert_snapshot;
use relaycode_testkit::hostile_text;
use relaycode_text::width::cells;
use relaycode_tools::QuestionAbout;

use super::*;
use crate::cards::tests::{WIDTHS, ascii_style, at_widths, plain_style};
use crate::theme::ThemeStyle;

struct Desk {
    panel: QuestionPanel,
    now: Instant,
}

impl Desk {
    /// Questions that were seen long enough.
    fn with(questions: Vec<PanelQuestion>) -> Desk {
        let mut desk = Desk { panel: QuestionPanel::default(), now: Instant::now() };
        for question in questions {
            desk.panel.push(question);
        }
        desk.settle();
        desk
    }

    fn asked(question: &AgentQuestion) -> Desk {
        let mut desk = Desk::with(Vec::new());
        desk.panel.ask(question, desk.now);
        desk.settle();
        desk
    }

    fn settle(&mut self) {
        self.panel.mark_shown(self.now);
        self.now += SETTLE_TIME;
    }

    fn press(&mut self, key: KeyCode) -> QuestionKeyOutcome {
        self.panel.handle_key(KeyPress::plain(key), self.now)
    }

    fn keys(&mut self, keys: &str) -> QuestionKeyOutcome {
        let mut last = QuestionKeyOutcome::Ignored;
        for key in keys.chars() {
            last = self.press(KeyCode::Char(key));
        }
        last
    }

    fn drawn(&self) -> String {
        self.drawn_at(&WIDTHS, &plain_style(), 20)
    }

    fn drawn_at(&self, widths: &[usize], style: &ThemeStyle, height: usize) -> String {
        at_widths(widths, |width| {
            let (lines, _) = self.panel.lines(style, width, height, self.now);
            assert!(lines.len() <= height, "{lines:#?}");
            lines
        })
    }
}

fn question(text: &str, options: &[&str]) -> AgentQuestion {
    AgentQuestion {
        id: "q1".into(),
        tool_call_id: "c1".into(),
        text: text.into(),
        options: options.iter().map(ToString::to_string).collect(),
        several: false,
        default: None,
        timeout_ms: None,
        free_text: false,
        about: None,
    }
}

fn permission() -> AgentQuestion {
    AgentQuestion {
        default: Some(2),
        free_text: true,
        about: Some(QuestionAbout::Permission {
            command: Some("npm publish --access public\n  && git push --tags".into()),
            reason: "needs the network".into(),
            rule: "built-in: the fence has no network".into(),
            always: Some("npm publish * [network]".into()),
        }),
        ..question(
            "`npm publish --access public` needs the network. Allow it?",
            &["once", "always here", "no"],
        )
    }
}

fn colours() -> AgentQuestion {
    let text =
        "Which cache should the client use? The choice decides what has to be installed on every machine.";
    AgentQuestion {
        default: Some(1),
        ..question(text, &["Redis", "in memory (Recommended)", "none at all", "Other (type your own)"])
    }
}

fn plan() -> AgentQuestion {
    AgentQuestion {
        default: Some(2),
        free_text: true,
        about: Some(QuestionAbout::Plan { title: "Round the totals".into() }),
        ..question(
            "Carry out the plan \"Round the totals\"?",
            &["approve", "approve, and start over with the plan alone", "keep planning", "reject"],
        )
    }
}

fn answered(answer: PanelAnswer) -> QuestionKeyOutcome {
    QuestionKeyOutcome::Answered { id: "q1".into(), answer }
}

#[test]
fn a_permission_with_its_command_and_keys() {
    assert_snapshot!(Desk::asked(&permission()).drawn(), @r#"
    -- 40 ----------------------------------
      ! run this command?
        │ npm publish --access public
        │   && git push --tags
        needs the network
        y once
        a always `npm publish * [network]`
          here · Enter no
        n no, and say why · w which rule
    -- 80 --------------------------------------------------------------------------
      ! run this command?
        │ npm publish --access public
        │   && git push --tags
        needs the network
        y once · a always `npm publish * [network]` here · Enter no
        n no, and say why · w which rule
    -- 120 -----------------------------------------------------------------------------------------------------------------
      ! run this command?
        │ npm publish --access public
        │   && git push --tags
        needs the network
        y once · a always `npm publish * [network]` here · Enter no · n no, and say why · w which rule
    "#);
}

#[test]
fn a_permission_says_which_rule_asks_and_what_each_key_does() {
    let mut desk = Desk::asked(&permission());
    desk.keys("w?");
    assert_snapshot!(desk.drawn_at(&[40, 80], &plain_style(), 40), @r#"
    -- 40 ----------------------------------
      ! run this command?
        │ npm publish --access public
        │   && git push --tags
        needs the network
        the rule `built-in: the fence has no
        network` asks; always would keep
        `npm publish * [network]` for this
        project
        y  allow it this time
        a  allow it from now on in this
           project, as a rule that `relay
           permissions` lists
        n  do not allow it, and tell the
           agent why; Enter says no without
           a word
        w  show which rule asks
        y once
        a always `npm publish * [network]`
          here · Enter no
        n no, and say why · w which rule
    -- 80 --------------------------------------------------------------------------
      ! run this command?
        │ npm publish --access public
        │   && git push --tags
        needs the network
        the rule `built-in: the fence has no network` asks; always would keep `npm
        publish * [network]` for this project
        y  allow it this time
        a  allow it from now on in this project, as a rule that `relay permissions`
           lists
        n  do not allow it, and tell the agent why; Enter says no without a word
        w  show which rule asks
        y once · a always `npm publish * [network]` here · Enter no
        n no, and say why · w which rule
    "#);
}

#[test]
fn a_permission_in_ascii_at_twenty_columns() {
    let drawn = Desk::asked(&permission()).drawn_at(&[20], &ascii_style(), 30);
    assert!(drawn.is_ascii());
    assert_snapshot!(drawn, @r#"
    -- 20 --------------
      ! run this
        command?
        | npm publish
        | --access
        | public
        |   && git push
        | --tags
        needs the
        network
        y once
        a always `npm
          publish *
          [network]`
          here
        Enter no
        n no, and say
          why
        w which rule
    "#);
}

#[test]
fn a_permission_is_answered_with_one_key() {
    let cases = [
        (KeyCode::Char('y'), PanelAnswer::Yes),
        (KeyCode::Char('a'), PanelAnswer::Always),
        (KeyCode::Enter, PanelAnswer::No { reason: None }),
    ];
    let option = |at| HostAnswer::Options { chosen: vec![at] };
    let hosts = [option(0), option(1), option(2)];
    for ((key, answer), host) in cases.into_iter().zip(hosts) {
        assert_eq!(answer.to_host(&permission()), host);
        assert_eq!(Desk::asked(&permission()).press(key), answered(answer));
    }
    let mut desk = Desk::asked(&permission());
    assert!(matches!(desk.keys("z"), QuestionKeyOutcome::Begun { .. }));
    assert_eq!(desk.panel.handle_key(KeyPress::ctrl('c'), desk.now), QuestionKeyOutcome::Ignored);
    assert_eq!(desk.press(KeyCode::Escape), QuestionKeyOutcome::Ignored);
    assert_eq!(desk.panel.len(), 1);
}

#[test]
fn a_no_with_its_reason_is_typed() {
    let mut desk = Desk::asked(&permission());
    desk.keys("nnot before the tests pass");
    assert_snapshot!(desk.drawn_at(&[40, 80], &plain_style(), 20), @r#"
    -- 40 ----------------------------------
      ! run this command?
        │ npm publish --access public
        │   && git push --tags
        needs the network
        › no, because before the tests pass
        Enter says no · Esc back
    -- 80 --------------------------------------------------------------------------
      ! run this command?
        │ npm publish --access public
        │   && git push --tags
        needs the network
        › no, because not before the tests pass
        Enter says no · Esc back
    "#);
    let (_, cursor) = desk.panel.lines(&plain_style(), 80, 20, desk.now);
    assert_eq!(cursor, Some((4, 43)));
    let answer = PanelAnswer::No { reason: Some("not before the tests pass".into()) };
    assert_eq!(answer.to_host(&permission()), HostAnswer::Text { text: "not before the tests pass".into() });
    assert_eq!(desk.press(KeyCode::Enter), answered(answer));
    let mut desk = Desk::asked(&permission());
    desk.keys("nx");
    desk.press(KeyCode::Escape);
    assert_eq!(desk.keys("y"), answered(PanelAnswer::Yes));
}

#[test]
fn one_of_several_options() {
    assert_snapshot!(Desk::asked(&colours()).drawn(), @r#"
    -- 40 ----------------------------------
      ! Which cache should the client use?
        The choice decides what has to be
        installed on every machine.
        1 Redis
      › 2 in memory (Recommended)
        3 none at all
        4 Other (type your own)
        1-9 chooses · Enter the default
        Esc stops everything
    -- 80 --------------------------------------------------------------------------
      ! Which cache should the client use? The choice decides what has to be
        installed on every machine.
        1 Redis
      › 2 in memory (Recommended)
        3 none at all
        4 Other (type your own)
        1-9 chooses · Enter the default · Esc stops everything
    -- 120 -----------------------------------------------------------------------------------------------------------------
      ! Which cache should the client use? The choice decides what has to be installed on every machine.
        1 Redis
      › 2 in memory (Recommended)
        3 none at all
        4 Other (type your own)
        1-9 chooses · Enter the default · Esc stops everything
    "#);
    assert_eq!(Desk::asked(&colours()).keys("3"), answered(PanelAnswer::Options(vec![2])));
    assert_eq!(Desk::asked(&colours()).press(KeyCode::Enter), answered(PanelAnswer::Options(vec![1])));
    let mut desk = Desk::asked(&colours());
    desk.press(KeyCode::Down);
    desk.press(KeyCode::Down);
    assert_eq!(desk.press(KeyCode::Enter), answered(PanelAnswer::Options(vec![3])));
    let mut desk = Desk::asked(&colours());
    desk.keys("9");
    assert_snapshot!(desk.drawn_at(&[80], &plain_style(), 20), @r#"
    -- 80 --------------------------------------------------------------------------
      ! Which cache should the client use? The choice decides what has to be
        installed on every machine.
        1 Redis
      › 2 in memory (Recommended)
        3 none at all
        4 Other (type your own)
        a number from 1 to 4
        1-9 chooses · Enter the default · Esc stops everything
    "#);
}

#[test]
fn enter_chooses_nothing_that_nobody_marked() {
    let mut desk = Desk::asked(&AgentQuestion { default: None, ..colours() });
    assert!(matches!(desk.press(KeyCode::Enter), QuestionKeyOutcome::Begun { .. }));
    assert_eq!(desk.press(KeyCode::Enter), QuestionKeyOutcome::Taken);
    assert_eq!(desk.panel.len(), 1);
}

#[test]
fn several_options_are_marked_one_by_one() {
    let mut desk = Desk::asked(&AgentQuestion { several: true, default: None, ..colours() });
    desk.keys("31");
    assert_snapshot!(desk.drawn_at(&[40, 80], &plain_style(), 20), @r#"
    -- 40 ----------------------------------
      ! Which cache should the client use?
        The choice decides what has to be
        installed on every machine.
      › [x] 1 Redis
        [ ] 2 in memory (Recommended)
        [x] 3 none at all
        [ ] 4 Other (type your own)
        1-9, Space marks · Enter answers
        Esc stops everything
    -- 80 --------------------------------------------------------------------------
      ! Which cache should the client use? The choice decides what has to be
        installed on every machine.
      › [x] 1 Redis
        [ ] 2 in memory (Recommended)
        [x] 3 none at all
        [ ] 4 Other (type your own)
        1-9, Space marks · Enter answers · Esc stops everything
    "#);
    assert_eq!(desk.press(KeyCode::Enter), answered(PanelAnswer::Options(vec![0, 2])));
}

#[test]
fn free_text_is_typed_and_pasted() {
    let mut desk = Desk::asked(&question("What should be different?", &[]));
    assert_snapshot!(desk.drawn_at(&[40, 80], &plain_style(), 20), @r#"
    -- 40 ----------------------------------
      ! What should be different?
        ›
        Enter answers · Esc stops everything
    -- 80 --------------------------------------------------------------------------
      ! What should be different?
        ›
        Enter answers · Esc stops everything
    "#);
    desk.keys("use ");
    desk.panel.handle_paste("cents\u{1b}[2J", desk.now);
    assert_snapshot!(desk.drawn_at(&[80], &plain_style(), 20), @r#"
    -- 80 --------------------------------------------------------------------------
      ! What should be different?
        › use cents\u{1b}[2J
        Enter answers · Esc stops everything
    "#);
    assert_eq!(desk.press(KeyCode::Enter), answered(PanelAnswer::Text("use cents\u{1b}[2J".into())));
    let mut desk = Desk::asked(&question("What?", &[]));
    desk.press(KeyCode::Enter);
    assert_eq!(desk.panel.len(), 1);
}

#[test]
fn time_runs_out_until_somebody_is_there() {
    let mut desk = Desk::asked(&AgentQuestion { timeout_ms: Some(30_000), ..colours() });
    desk.now += Duration::from_secs(8);
    assert_snapshot!(desk.drawn_at(&[40, 80], &plain_style(), 20), @r#"
    -- 40 ----------------------------------
        22 s left
      ! Which cache should the client use?
        The choice decides what has to be
        installed on every machine.
        1 Redis
      › 2 in memory (Recommended)
        3 none at all
        4 Other (type your own)
        1-9 chooses · Enter the default
        Esc stops everything
    -- 80 --------------------------------------------------------------------------
        22 s left
      ! Which cache should the client use? The choice decides what has to be
        installed on every machine.
        1 Redis
      › 2 in memory (Recommended)
        3 none at all
        4 Other (type your own)
        1-9 chooses · Enter the default · Esc stops everything
    "#);
    assert!(desk.panel.next_tick(desk.now).is_some());
    assert_eq!(desk.press(KeyCode::Down), QuestionKeyOutcome::Begun { id: "q1".into() });
    assert_eq!(desk.panel.next_tick(desk.now), None);
    assert!(!desk.drawn_at(&[80], &plain_style(), 20).contains("left"));
}

#[test]
fn a_plan_is_approved_or_sent_back_with_words() {
    assert_snapshot!(Desk::asked(&plan()).drawn(), @r#"
    -- 40 ----------------------------------
      ! Carry out the plan "Round the
        totals"?
        1 approve
        2 approve, and start over with the
          plan alone
      › 3 keep planning (default)
        4 reject
        1-9 chooses · Enter the default
        t say what should change
        Esc stops everything
    -- 80 --------------------------------------------------------------------------
      ! Carry out the plan "Round the totals"?
        1 approve
        2 approve, and start over with the plan alone
      › 3 keep planning (default)
        4 reject
        1-9 chooses · Enter the default · t say what should change
        Esc stops everything
    -- 120 -----------------------------------------------------------------------------------------------------------------
      ! Carry out the plan "Round the totals"?
        1 approve
        2 approve, and start over with the plan alone
      › 3 keep planning (default)
        4 reject
        1-9 chooses · Enter the default · t say what should change · Esc stops everything
    "#);
    assert_eq!(Desk::asked(&plan()).press(KeyCode::Enter), answered(PanelAnswer::Options(vec![2])));
    let mut desk = Desk::asked(&plan());
    desk.keys("tadd a test");
    let answer = PanelAnswer::Text("add a test".into());
    assert_eq!(answer.to_host(&plan()), HostAnswer::Text { text: "add a test".into() });
    assert_eq!(desk.press(KeyCode::Enter), answered(answer));
}

#[test]
fn what_was_typed_before_a_question_appeared_is_no_answer() {
    let mut desk = Desk { panel: QuestionPanel::default(), now: Instant::now() };
    desk.panel.ask(&permission(), desk.now);
    assert_eq!(desk.keys("y"), QuestionKeyOutcome::Taken);
    desk.panel.mark_shown(desk.now);
    desk.now += SETTLE_TIME - Duration::from_millis(1);
    assert_eq!(desk.keys("y"), QuestionKeyOutcome::Taken);
    assert_eq!(desk.panel.handle_paste("y\n", desk.now), QuestionKeyOutcome::Taken);
    desk.now += Duration::from_millis(1);
    assert_eq!(desk.panel.handle_paste("y\n", desk.now), QuestionKeyOutcome::Taken);
    assert_eq!(desk.panel.len(), 1);
    assert_eq!(desk.keys("y"), answered(PanelAnswer::Yes));
}

#[test]
fn questions_wait_for_each_other_and_can_be_withdrawn() {
    let with_id = |id: &str| AgentQuestion { id: id.into(), ..permission() };
    let mut desk = Desk { panel: QuestionPanel::default(), now: Instant::now() };
    for id in ["q1", "q2", "q3", "q2"] {
        desk.panel.ask(&with_id(id), desk.now);
    }
    desk.settle();
    assert_eq!(desk.panel.len(), 3);
    assert_snapshot!(desk.drawn_at(&[40, 80], &plain_style(), 20), @r#"
    -- 40 ----------------------------------
      ! run this command?   1 of 3 questions
        │ npm publish --access public
        │   && git push --tags
        needs the network
        y once
        a always `npm publish * [network]`
          here · Enter no
        n no, and say why · w which rule
    -- 80 --------------------------------------------------------------------------
      ! run this command?                                           1 of 3 questions
        │ npm publish --access public
        │   && git push --tags
        needs the network
        y once · a always `npm publish * [network]` here · Enter no
        n no, and say why · w which rule
    "#);
    assert_eq!(desk.keys("y"), answered(PanelAnswer::Yes));
    // The next one has not been seen yet.
    assert_eq!(desk.keys("y"), QuestionKeyOutcome::Taken);
    desk.panel.withdraw("q2");
    assert_eq!(desk.panel.current().map(|question| question.id.as_str()), Some("q3"));
    assert_eq!(desk.keys("y"), QuestionKeyOutcome::Taken);
    desk.settle();
    desk.keys("n");
    assert!(matches!(desk.press(KeyCode::Enter), QuestionKeyOutcome::Answered { .. }));
    assert!(desk.panel.is_empty() && desk.panel.lines(&plain_style(), 80, 20, desk.now).0.is_empty());
    assert_eq!(desk.keys("n"), QuestionKeyOutcome::Ignored);
}

#[test]
fn a_long_question_can_be_scrolled_and_keeps_its_keys() {
    let options: Vec<String> = (1..=40).map(|at| format!("option number {at}")).collect();
    let mut desk = Desk::asked(&AgentQuestion { options, ..question("Which?", &[]) });
    desk.press(KeyCode::PageDown);
    assert_snapshot!(desk.drawn_at(&[40], &plain_style(), 10), @r#"
    -- 40 ----------------------------------
      ! Which?
        11 option number 11
        12 option number 12
        13 option number 13
        14 option number 14
        15 option number 15
        16 option number 16
        17 option number 17
        … lines 11-17 of 40 (PgUp, PgDn)
        1-9 chooses · Esc stops everything
    "#);
}

#[test]
fn hostile_questions_stay_in_their_lines() {
    for number in 0..60 {
        let text = hostile_text::hostile_string(number);
        let about = QuestionAbout::Permission {
            command: Some(text.clone()),
            reason: text.clone(),
            rule: text.clone(),
            always: Some(text.clone()),
        };
        let all = [
            AgentQuestion { about: Some(about), ..question(&text, &["once", "always here", "no"]) },
            question(&text, &[&text, &text]),
            question(&text, &[]),
        ];
        for asked in all {
            for width in [2, 20, 40, 80, 300] {
                let mut desk = Desk::asked(&asked);
                desk.keys("w");
                desk.panel.handle_paste(&text, desk.now);
                let (lines, _) = desk.panel.lines(&plain_style(), width, 30, desk.now);
                for line in lines {
                    assert!(cells(&line) <= width, "{width}: {line:?} of {text:?}");
                    assert_eq!(hostile_text::find_unsafe_char(&line, false), None, "{line:?}");
                }
            }
        }
    }
}
