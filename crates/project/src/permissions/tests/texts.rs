//! How rules are written.

use proptest::prelude::*;

use super::*;

#[test]
fn each_kind_of_rule_is_read_and_printed() {
    for (text, subject) in [
        ("cargo test *", RuleSubject::Command { words: vec!["cargo".into(), "test".into()], any_more: true }),
        (
            "run host a.example",
            RuleSubject::Command { words: vec!["host".into(), "a.example".into()], any_more: false },
        ),
        ("edit src/**", RuleSubject::Path { verb: PathVerb::Edit, pattern: "src/**".into() }),
        ("read .env", RuleSubject::Path { verb: PathVerb::Read, pattern: ".env".into() }),
        ("host *.example.org", RuleSubject::Host("*.example.org".into())),
        ("tool web_search", RuleSubject::Tool("web_search".into())),
    ] {
        let rule = PermissionRule::parse(PermissionEffect::Deny, text).unwrap();
        assert_eq!((&rule.subject, rule.body().as_str()), (&subject, text));
    }
    let rule = allow("npm publish * [network] [socket /run/a.sock] [outside the fence]");
    let socket = CommandGrant::UnixSocket("/run/a.sock".into());
    assert_eq!(rule.grants, [CommandGrant::Network, socket, CommandGrant::OutsideTheFence]);
}

#[test]
fn what_is_no_rule_says_why() {
    for (text, why) in [
        ("", "is empty"),
        ("edit", "needs something behind it"),
        ("a && b", "not a plain command"),
        ("a $(b)", "not a plain command"),
        ("a > b", "not a plain command"),
        ("A=1 b", "not a plain command"),
        ("*", "every command"),
        ("*sh x", "every command"),
        ("a [all of it]", "not something a rule can give"),
        ("edit a [network]", "only a rule that allows a command"),
        ("a \u{202e}b", "cannot be seen"),
        ("a\nb", "cannot be seen"),
    ] {
        let error = PermissionRule::parse(PermissionEffect::Allow, text).unwrap_err().to_string();
        assert!(error.contains(why), "{text:?}: {error}");
    }
    assert!(PermissionRule::parse(PermissionEffect::Deny, "a [network]").is_err());
    assert!(PermissionRule::parse_with_effect("permit a").is_err());
    assert!(PermissionRule::parse(PermissionEffect::Ask, &"a".repeat(rule::MAX_RULE_BYTES + 1)).is_err());
}

#[test]
fn a_word_of_the_rules_and_a_word_of_the_shell_can_be_programs() {
    for first in ["tool", "run", "edit", "if", "time", "A=1", "a b", "it's"] {
        let subject = RuleSubject::Command { words: vec![first.into(), "x".into()], any_more: true };
        assert_eq!(allow(&subject.to_string()).subject, subject, "{subject}");
    }
}

proptest! {
    /// What is printed is read back as the same rule.
    #[test]
    fn a_printed_rule_is_read_back(text in "(tool |host |read |edit |run )?[a-z'\"*=\\[\\]./ ~#!é-]{1,24}( \\[network\\])?") {
        if let Ok(rule) = PermissionRule::parse(PermissionEffect::Allow, &text) {
            let printed = rule.to_string();
            prop_assert_eq!(PermissionRule::parse_with_effect(&printed), Ok(rule), "{}", printed);
        }
    }

    /// A command of any words can be named.
    #[test]
    fn a_command_of_any_words_is_read_back(words in proptest::collection::vec("[ -)+-~é]{0,8}", 1..4)) {
        let subject = RuleSubject::Command { words, any_more: true };
        let rule = PermissionRule::parse(PermissionEffect::Deny, &subject.to_string());
        prop_assert_eq!(rule.map(|rule| rule.subject), Ok(subject.clone()), "{}", subject);
    }
}
