//! `relay keys`, through the binary: what is stored and how, what a person at a terminal sees, and that a key never
//! comes out again.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::fixture::scratch_project::{Project, Ran, run};
use crate::fixture::snapshot::Transcript;
use crate::relay_snapshot;
use crate::terminal_questions::Session;

const SECRET: &str = "sk-test-8c1f0e7a5b3d9264wxyz";

fn stored(project: &Project, provider: &str) {
    let ran = project.pipe(&["keys", "set", provider, "--stdin"], format!("{SECRET}\n").as_bytes());
    assert_eq!(ran.code, 0, "{ran:?}");
}

fn secretive(ran: &Ran) {
    // The tail of a long key may be seen, no more.
    let seen = format!("{}{}", ran.out, ran.err);
    assert!(!seen.contains(&SECRET[..SECRET.len() - 4]) && !seen.contains("8c1f0e"), "{seen}");
}

#[test]
fn a_key_from_stdin_is_stored_for_the_user_alone_and_listed_with_its_source() {
    let project = Project::new(&[]);
    relay_snapshot!(project.relay(&["keys"]), @"
    exit 0
    ----- stdout -----
      no provider has a key yet; `relay keys set anthropic` stores one, `relay keys list --all` lists the providers
    ");
    stored(&project, "anthropic");
    let mode = |path: &str| fs::metadata(project.home().join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("keys"), mode("keys/anthropic")), (0o700, 0o600));
    assert_eq!(fs::read_to_string(project.home().join("keys/anthropic")).unwrap().trim(), SECRET);
    let listed = project.relay(&["keys"]);
    relay_snapshot!(listed, @"
    exit 0
    ----- stdout -----
      anthropic  stored key  (…wxyz)
    ");
    secretive(&listed);
    let object = project.relay(&["keys", "--json"]).json();
    assert_eq!(object["keys"][0]["key"], json!({"source": "stored"}));
    let again =
        project.pipe(&["keys", "set", "anthropic", "--stdin", "--json"], b"sk-another-key-of-mine-1234");
    assert_eq!(again.json()["replaced"], true, "{again:?}");
    relay_snapshot!(project.relay(&["keys", "remove", "anthropic"]), @"
    exit 0
    ----- stdout -----
    ✓ removed the key of anthropic
    ");
    relay_snapshot!(project.relay(&["keys", "remove", "anthropic"]), @"
    exit 0
    ----- stdout -----
    ✓ no key of anthropic was stored
    ");
    assert_eq!(project.relay(&["keys", "--json"]).json()["keys"], json!([]));
}

#[test]
fn at_a_terminal_nothing_of_the_key_appears_however_it_gets_there() {
    for typed in [format!("{SECRET}\n"), format!("\x1b[200~{SECRET}\x1b[201~"), format!("x\u{15}{SECRET}")] {
        let project = Project::new(&[]);
        let mut session = Session::start(&project, &["keys", "set", "openai"], "");
        session.wait_for("it is not shown): ");
        session.type_in(&typed);
        // Behind a paste nothing counts for a moment.
        session.type_until(
            "
",
            "stored the key of openai",
        );
        let (code, seen) = session.end();
        assert_eq!(code, Some(0), "{seen}");
        assert!(!seen.contains("sk-test") && !seen.contains("8c1f"), "{seen}");
        assert_eq!(fs::read_to_string(project.home().join("keys/openai")).unwrap().trim(), SECRET);
    }
}

#[test]
fn an_interrupt_or_nothing_at_the_terminal_stores_nothing() {
    for (typed, code) in [("\u{3}", Some(130)), ("\n", Some(2))] {
        let project = Project::new(&[]);
        let mut session = Session::start(&project, &["keys", "set", "openai"], "");
        session.wait_for("it is not shown): ");
        session.type_in(typed);
        let (ended, seen) = session.end();
        assert_eq!(ended, code, "{seen}");
        assert!(!project.home().join("keys/openai").exists());
    }
}

#[test]
fn what_is_no_key_is_refused_without_being_repeated() {
    let project = Project::new(&[]);
    let mut transcript = Transcript::default();
    for text in ["", "\n", "sk-8c1f0e\nsecond", "sk 8c1f0e", "sk-8c1f0e\u{7}x", "schl\u{fc}ssel-8c1f0e"] {
        let ran = project.pipe(&["keys", "set", "groq", "--stdin"], text.as_bytes());
        secretive(&ran);
        transcript.add(&format!("{text:?}"), &ran);
        let ran = project.pipe(&["keys", "set", "groq", "--stdin", "--json"], text.as_bytes());
        secretive(&ran);
    }
    relay_snapshot!(transcript, @r#"
    # ""
    exit 2
    ----- stderr -----
    ✗ what was given is empty
      nothing was stored

    # "\n"
    exit 2
    ----- stderr -----
    ✗ what was given is empty
      nothing was stored

    # "sk-8c1f0e\nsecond"
    exit 2
    ----- stderr -----
    ✗ what was given has a line end or another control character in it; was more than the key copied?
      nothing was stored

    # "sk 8c1f0e"
    exit 2
    ----- stderr -----
    ✗ what was given has a blank in it; was more than the key copied?
      nothing was stored

    # "sk-8c1f0e\u{7}x"
    exit 2
    ----- stderr -----
    ✗ what was given has a line end or another control character in it; was more than the key copied?
      nothing was stored

    # "schlüssel-8c1f0e"
    exit 2
    ----- stderr -----
    ✗ what was given has a character in it that no key has; was something else copied?
      nothing was stored
    "#);
    let large = vec![b'k'; 200_000];
    assert_eq!(project.pipe(&["keys", "set", "groq", "--stdin"], &large).code, 2);
    assert_eq!(project.pipe(&["keys", "set", "groq", "--stdin"], b"\xff\xfe").code, 2);
    assert!(!project.home().join("keys/groq").exists());
    assert_eq!(project.relay(&["keys", "set", "groq"]).code, 13, "there is no terminal");
    let named = project.relay(&["keys", "set", "groq", SECRET]);
    assert_eq!(named.code, 2, "a key is never an argument");
}

#[test]
fn a_provider_must_be_known_to_relay_or_to_models_yml() {
    let project = Project::new(&[]);
    relay_snapshot!(project.pipe(&["keys", "set", "antropic", "--stdin"], SECRET.as_bytes()), @"
    exit 2
    ----- stderr -----
    ✗ there is no provider `antropic`
      did you mean anthropic?
    ");
    for odd in ["../../x", "", "A", "\u{1b}[31m", "work"] {
        let ran = project.pipe(&["keys", "set", odd, "--stdin"], SECRET.as_bytes());
        assert_eq!(ran.code, 2, "{odd:?}: {ran:?}");
        assert!(!ran.err.contains('\u{1b}'));
    }
    let file = "providers:\n  work: {baseUrl: 'https://w.example', apiKey: WORK_KEY, api: openai-completions, models: [{id: m}]}\n";
    fs::write(project.home().join("models.yml"), file).unwrap();
    stored(&project, "work");
    fs::write(project.home().join("models.yml"), "oops: [").unwrap();
    relay_snapshot!(project.pipe(&["keys", "set", "work", "--stdin"], SECRET.as_bytes()), @"
    exit 2
    ----- stderr -----
    ✗ this is not YAML that relay reads: unclosed bracket '[' at line 1, column 7
      in <home>/models.yml:1:7
      correct models.yml; `relay models` reads it again
    ");
    // It is on the disk, so it is listed, and can go.
    relay_snapshot!(project.relay(&["keys"]), @"
    exit 0
    ----- stdout -----
      work  stored key
    ----- stderr -----
    ! <home>/models.yml:1:7: this is not YAML that relay reads: unclosed bracket '[' at line 1, column 7
      until it is right, only what relay knows by itself is used
    ");
    assert_eq!(project.relay(&["keys", "remove", "work"]).code, 0);
}

#[test]
fn a_key_that_others_can_read_is_refused_with_the_fix() {
    let project = Project::new(&[]);
    stored(&project, "anthropic");
    let file = project.home().join("keys/anthropic");
    fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).unwrap();
    let listed = project.relay(&["keys"]);
    relay_snapshot!(listed, @"
    exit 0
    ----- stdout -----
    ! anthropic  others may read <home>/keys/anthropic; run `chmod 600 <home>/keys/anthropic`, and replace what is in it if somebody may have seen it
    ");
    let tested = project.relay(&["models", "test", "anthropic/claude-opus-5-5"]);
    relay_snapshot!(tested, @"
    exit 2
    ----- stderr -----
    ✗ others may read <home>/keys/anthropic; run `chmod 600 <home>/keys/anthropic`, and replace what is in it if somebody may have seen it
    ");
    secretive(&listed);
    secretive(&tested);
}

#[test]
fn the_environment_and_models_yml_are_sources_and_the_project_is_none() {
    let project = Project::new(&[(
        ".env",
        "OPENAI_API_KEY=sk-of-the-project-8c1f0e\nANTHROPIC_BASE_URL=http://evil\n",
    )]);
    let file = format!("providers:\n  groq: {{apiKey: {SECRET}}}\n  mistral: {{apiKey: '!echo {SECRET}'}}\n");
    fs::write(project.home().join("models.yml"), file).unwrap();
    let ran = run(project.command(&["keys", "--json"]).env("ANTHROPIC_API_KEY", SECRET));
    let object = ran.json();
    let source = |provider: &str| {
        let keys = object["keys"].as_array().unwrap();
        keys.iter().find(|row| row["provider"] == provider).map_or(Value::Null, |row| row["key"].clone())
    };
    assert_eq!(source("anthropic"), json!({"source": "env", "variable": "ANTHROPIC_API_KEY"}));
    assert_eq!(source("groq"), json!({"source": "models.yml", "line": 2}));
    assert_eq!(source("mistral"), json!({"source": "command", "line": 3}));
    assert_eq!(source("openai"), Value::Null);
    assert_eq!(
        object["ignored"][0],
        json!({"file": ".env", "names": ["OPENAI_API_KEY", "ANTHROPIC_BASE_URL"]})
    );
    relay_snapshot!(ran.err, @"! ignored: .env names OPENAI_API_KEY, ANTHROPIC_BASE_URL; addresses and keys come only from ~/.relaycode/models.yml, `relay keys` and your own environment");
    secretive(&ran);
}

#[test]
fn several_keys_of_a_provider_are_stored_listed_and_removed_and_none_comes_out() {
    let project = Project::new(&[]);
    stored(&project, "anthropic");
    for (key, count) in [
        ("sk-another-key-of-mine-1234", 2),
        ("sk-another-key-of-mine-1234", 2),
        ("sk-a-third-key-of-mine-5678", 3),
    ] {
        let ran = project.pipe(&["keys", "add", "anthropic", "--stdin", "--json"], key.as_bytes());
        assert_eq!(ran.json()["count"], count, "{ran:?}");
    }
    let listed = project.relay(&["keys"]);
    relay_snapshot!(listed, @"
    exit 0
    ----- stdout -----
      anthropic  stored key, 3 keys  (…wxyz, …1234, …5678)
    ");
    secretive(&listed);
    let object = project.relay(&["keys", "--json"]).json();
    assert_eq!((&object["keys"][0]["count"], &object["keys"][0]["tail"]), (&json!(3), &json!("wxyz")));
    for number in 0..13 {
        let key = format!("sk-test-number-{number:020}");
        assert_eq!(project.pipe(&["keys", "add", "anthropic", "--stdin"], key.as_bytes()).code, 0);
    }
    let ran = project.pipe(&["keys", "add", "anthropic", "--stdin"], b"sk-test-one-too-many-00000");
    assert!(ran.code == 2 && ran.err.contains("is one too many: 16 are possible"), "{ran:?}");
    assert_eq!(project.relay(&["keys", "remove", "anthropic"]).code, 0);
    assert_eq!(project.relay(&["keys", "--json"]).json()["keys"], json!([]));
}
