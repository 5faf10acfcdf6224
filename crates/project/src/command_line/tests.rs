use proptest::prelude::*;

use super::*;

/// The commands of a line as one text: words separated by blanks, unknown parts as `$`.
fn shown(list: &CommandList) -> String {
    let mut out = String::new();
    for entry in &list.entries {
        match &entry.command {
            ShellCommand::Simple(simple) => {
                for (name, value) in &simple.assignments {
                    out += &format!("{name}={} ", word(value));
                }
                out += &simple.words.iter().map(word).collect::<Vec<_>>().join(" ");
                for redirect in &simple.redirects {
                    out += &format!(" {}{}", redirect.operator, word(&redirect.target));
                }
            }
            ShellCommand::Compound(compound) => {
                let words: Vec<String> = compound.words.iter().map(word).collect();
                let bodies: Vec<String> = compound.bodies.iter().map(shown).collect();
                out += &format!("{:?}({}){{{}}}", compound.kind, words.join(" "), bodies.join(" / "));
            }
        }
        out += match entry.then {
            CommandConnector::Sequence => ";",
            CommandConnector::And => "&&",
            CommandConnector::Or => "||",
            CommandConnector::Pipe => "|",
            CommandConnector::Background => "&",
        };
    }
    out
}

fn word(word: &CommandWord) -> String {
    let part = |part: &WordPart| match part {
        WordPart::Literal { text, quoted } if *quoted => format!("‹{text}›"),
        WordPart::Literal { text, .. } => text.clone(),
        WordPart::Parameter(name) => format!("${name}"),
        WordPart::Expansion { name, rest } => format!("${{{name}{}}}", self::word(rest)),
        WordPart::Substitution(list) => format!("$({})", shown(list)),
        WordPart::Arithmetic(text) => format!("$(({}))", self::word(text)),
    };
    word.parts.iter().map(part).collect()
}

#[test]
fn words_quotes_and_connectors_are_read_as_a_shell_does() {
    for (line, expected) in [
        ("", ""),
        ("  # nothing", ""),
        ("a b  c", "a b c;"),
        ("a&&b||c|d&e;f", "a&&b||c|d&e;f;"),
        ("sh 'my tools'/lint.sh", "sh ‹my tools›/lint.sh;"),
        (r#"sh "a b\"c\d""#, r#"sh ‹a b"c\d›;"#),
        (r"sh a\ b", "sh a‹ ›b;"),
        ("A=1 B= c D=2", "A=1 B= c D=2;"),
        ("A+=1", "A=1 ;"),
        ("$PWD/x \"${D}\"/y $1x", "$PWD/x ‹›$D/y $1x;"),
        ("echo ${A:-$(b c)} ${#A}", "echo ${A‹:-›$(b c;)} ${‹#A›};"),
        ("a $(b | c) `d \\`e\\``", "a $(b|c;) $(d $(e;););"),
        ("a $((1 + $(b) * (2))) c", "a $((‹1 + ›$(b;)‹ * (2)›)) c;"),
        ("a $((b) | c)", "a $(Subshell(){b;}|c;);"),
        ("a <b >c 2>&1 2>/dev/null", "a <b >c >&1 >/dev/null;"),
        ("diff <(a b) c", "diff $(a b;) c;"),
        ("a # b\nc", "a;c;"),
        ("a \\\n b", "a b;"),
        ("( cd x && y ) && z", "Subshell(){cd x&&y;}&&z;"),
        ("{ a; b; } | c", "Group(){a;b;}|c;"),
        ("! a && time b", "a&&b;"),
        ("time -p a; time -- b; time -p -- c; time -- -p d", "a;b;c;-p d;"),
        ("if a; then b; elif c; then d; else e; fi", "If(){a; / b; / c; / d; / e;};"),
        ("while a; do b; done; c", "Loop(){a; / b;};c;"),
        ("for f in a *.sh; do sh $f; done", "For { variable: \"f\" }(a *.sh){sh $f;};"),
        ("case $A in x|y) b;; *) c;; esac", "Case($A x y *){b; / c;};"),
        ("f() { a; }; f", "Function { name: \"f\" }(){Group(){a;};};f;"),
        ("sh <<A; b\nx $Y\nA\nc", "sh <<‹x ›$Y‹\n›;b;c;"),
        ("sh <<'A' <<-B\nx $Y\nA\n\tz\n\tB\n", "sh <<‹x $Y\n› <<-‹z\n›;"),
        ("echo if then", "echo if then;"),
    ] {
        assert_eq!(parse(line).map(|list| shown(&list)), Ok(expected.to_string()), "{line:?}");
    }
}

#[test]
fn what_no_shell_would_run_is_an_error() {
    for line in [
        "a 'b",
        "a \"b",
        "a $(b",
        "a `b",
        "a ${b",
        "(a",
        "a)",
        "{ a;",
        "if a; then b",
        "a <",
        "; a",
        "a <<X",
        "a <<X\nb",
        "a (b)",
        "case a in b",
        "for f in a; do b",
    ] {
        assert!(parse(line).is_err(), "{line:?}");
    }
    assert_eq!(parse(&"a".repeat(MAX_BYTES + 1)), Err(CommandLineError::TooLong));
    assert!(parse(&"a".repeat(MAX_BYTES)).is_ok());
}

#[test]
fn depth_is_bounded_and_no_nesting_takes_long() {
    for opening in ["$(", "$((", "(", "{ ", "${a:-", "\"$(", "if ", "f() ", "! ", "$(($(", "<("] {
        let deep = opening.repeat(MAX_BYTES / opening.len());
        assert!(parse(&deep).is_err(), "{opening:?}");
        assert!(parse(&opening.repeat(MAX_DEPTH / 2)).is_err(), "{opening:?}");
    }
    assert!(parse(&format!("{}a{}", "$(".repeat(20), ")".repeat(20))).is_ok());
    let wide = "a $((b) ) && ".repeat(4_000);
    let start = std::time::Instant::now();
    assert!(parse(&format!("{wide} c")).is_ok());
    assert!(start.elapsed().as_secs() < 5);
}

#[test]
fn what_a_shell_refuses_is_unclear_where_certainty_is_asked_for() {
    for line in ["ls &&", "ls ||", "ls |", "ls |&\n", "(ls &&)", "{ ls |\n}", "if ls &&; then ls; fi"] {
        for dialect in [ShellDialect::Bash, ShellDialect::Posix] {
            assert!(parse_strictly(line, dialect).is_err(), "{line:?}");
        }
    }
    for line in ["ls &&\nls", "ls |\n\nls", "ls &", "ls;", "(ls)", "{ ls; }"] {
        assert!(parse_strictly(line, ShellDialect::Posix).is_ok(), "{line:?}");
    }
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(line in "[a$`'\"\\\\(){}<>|&;\n #=:*-]{0,60}") {
        let _ = parse(&line);
    }

    #[test]
    fn no_unicode_makes_it_panic(line in ".{0,60}") {
        let _ = parse(&line);
    }

    /// A word between single quotes is that word, whatever it says.
    #[test]
    fn a_quoted_word_is_itself(text in "[^']{1,40}") {
        let list = parse(&format!("a '{text}'")).unwrap();
        let ShellCommand::Simple(command) = &list.entries[0].command else { panic!("{list:?}") };
        prop_assert_eq!(command.words[1].literal(), Some(text));
    }

    /// Lines that are read one after the other are the lists one after the other.
    #[test]
    fn lines_in_a_row_are_read_in_a_row(words in proptest::collection::vec("[a-z$/.\"]{1,8}", 1..6)) {
        let parts: Vec<_> = words.iter().filter_map(|line| parse(line).ok().map(|list| (line, list))).collect();
        let all: Vec<&str> = parts.iter().map(|(line, _)| line.as_str()).collect();
        let together = parse(&all.join(" && ")).unwrap();
        let count: usize = parts.iter().map(|(_, list)| list.entries.len()).sum();
        prop_assert_eq!(together.entries.len(), count);
    }
}
