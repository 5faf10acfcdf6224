//! Each kind of secret alone, in running text and redacted twice; what must stay readable; and how long it
//! takes.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

/// Random-looking characters, generated here so that no source scanner takes them for a real key.
fn random(length: usize) -> String {
    "a1B2c3D4e5F6g7H8i9J0".chars().cycle().take(length).collect()
}

/// Pairs of a secret and its redacted form.
fn shapes() -> Vec<(String, String)> {
    let with = |start: &str, length: usize| (format!("{start}{}", random(length)), format!("{start}{MARK}"));
    let mut all = vec![
        with("sk-", 48),
        with("sk-proj-", 60),
        with("sk-ant-", 90),
        with("ghp_", 36),
        with("gho_", 36),
        with("ghu_", 36),
        with("ghs_", 36),
        with("ghr_", 36),
        with("github_pat_", 80),
        with("glpat-", 20),
        with("AIza", 35),
        with("xoxb-", 40),
        with("xoxp-", 40),
        with("xapp-", 40),
        with("https://hooks.slack.com/services/", 44),
        with("sk_live_", 24),
        with("rk_live_", 24),
        with("npm_", 36),
        with("pypi-", 100),
        with("hf_", 34),
    ];
    let capitals: String = random(16).to_uppercase();
    all.push((format!("AKIA{capitals}"), format!("AKIA{MARK}")));
    all.push((format!("ASIA{capitals}"), format!("ASIA{MARK}")));
    let token = format!("eyJ{}.{}.{}", random(30), random(60), random(43));
    all.push((token, format!("eyJ{MARK}")));
    let value = random(40);
    for start in [
        "aws_secret_access_key = ",
        "AWS_SECRET_ACCESS_KEY=",
        "PASSWORD=",
        "DB_PASS=",
        "--password ",
        "token=",
        "access_token: ",
        "Authorization: Bearer ",
        "Authorization: Basic ",
        "authorization: token ",
        "X-Api-Key: ",
        "Bearer ",
    ] {
        all.push((format!("{start}{value}"), format!("{start}{MARK}")));
    }
    for (start, end) in [
        ("api_key: \"", "\""),
        ("{\"apiKey\":\"", "\"}"),
        ("{\\\"apiKey\\\":\\\"", "\\\"}"),
        ("const apiKey: string = '", "';"),
        ("client_secret => '", "'"),
        ("password = \"", "\""),
        ("postgres://user:", "@db.example/x"),
        ("https://x-access-token:", "@example.com/a.git"),
        ("headers.set('Authorization', 'Bearer ", "')"),
        ("os.environ[\"API_TOKEN\"] = \"", "\""),
    ] {
        all.push((format!("{start}{value}{end}"), format!("{start}{MARK}{end}")));
    }
    all
}

#[test]
fn every_shape_is_blacked_out_alone() {
    for (secret, left) in shapes() {
        assert_eq!(redact(&secret), left);
        assert_eq!(redact_line(secret.as_bytes()), left.as_bytes());
    }
    assert!(shapes().len() >= 12);
}

#[test]
fn every_shape_is_blacked_out_in_the_middle_of_text() {
    for (before, after) in
        [("see ", " there"), ("(", ")"), ("é ", "\r\nmore"), ("\\n", "\\nmore"), ("a,", ",b")]
    {
        for (secret, left) in shapes() {
            // These patterns extend to the right, so the end of the secret cannot be told.
            let environment = secret.starts_with("PASSWORD=")
                || secret.starts_with("DB_PASS=")
                || secret.starts_with("AWS_SECRET")
                || secret.starts_with("--");
            if environment && !after.starts_with([' ', '\r']) || before == "\\n" && secret.starts_with("--") {
                let out = redact(&format!("{before}{secret}{after}")).into_owned();
                assert!(!out.contains(&random(40)), "{out}");
                continue;
            }
            let text = format!("{before}{secret}{after}");
            assert_eq!(redact(&text), format!("{before}{left}{after}"), "{text}");
        }
    }
}

#[test]
fn two_secrets_in_a_line_both_go_and_twice_is_once() {
    for (first, left) in shapes() {
        for (second, also) in shapes() {
            let once = redact(&format!("{first} {second}")).into_owned();
            assert_eq!(once, format!("{left} {also}"));
            assert_eq!(redact(&once), once);
        }
    }
}

#[test]
fn program_text_stays_as_it_is() {
    for text in [
        "token = parse(input)",
        "let token = next_token(lexer);",
        "token: string;",
        "const token: Token2 = lexer.next();",
        "password: z.string().min(8)",
        "password = req.body.password1",
        "password: \"Please enter your password\"",
        "type PasswordInput = { password: string; token?: string }",
        "if token == \"abcdefgh12345678\" {}",
        "std::token::Tokenizer2Factory::build",
        "apiKey: process.env.OPENAI_API_KEY_2",
        "secret: env.S3_BUCKET_NAME_2_REGION",
        "PASSWORD=$DB_PASSWORD",
        "PASSWORD=${{ secrets.DB_PASSWORD }}",
        "TOKEN=$(cat token.txt)",
        "Authorization: Bearer ${token}",
        "Authorization: Bearer <token>",
        "`Bearer ${token}`",
        "Bearer token required",
        "max_tokens=4096 num_tokens: 123456789012345678",
        "task-abcdefghijklmnopqrstuvwxyz0123456789",
        "sk-learn sk-something-else",
        "npm_config_registry=https://registry.example/",
        "npm_lifecycle_event_and_other_variables_of_it",
        "https://example.com:8080/path@2x.png",
        "http://localhost:3000",
        "git@github.com:user/repo.git",
        "http://${USER}:${PASS}@host",
        "eyJust some words",
        "import { hf_hub } from 'x'",
        "commit 3f9c1e2a77e2d9103f9c1e2a77e2d9103f9c1e2a",
        "sha512-oRVd7yzJmDTZ4vQKlMXrJ9Sx/5mcUbAmyvXS6w==",
        "csrfToken: \"csrf-token-header\"",
        "token: \"/api/v1/oauth/token\"",
        "password_file: /run/secrets/db1",
        "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUQ0FmZTEyMzQ1Njc4OTA\n-----END CERTIFICATE-----",
    ] {
        assert_eq!(redact(text), text);
        assert!(matches!(redact(text), Cow::Borrowed(_)), "{text} was copied");
    }
}

fn key() -> (String, String) {
    let body = format!("{}\n{}\nab1=\n", random(64), random(64));
    let frame =
        |body: &str| format!("-----BEGIN RSA PRIVATE KEY-----\n{body}-----END RSA PRIVATE KEY-----\nafter\n");
    (frame(&body), frame(&format!("{MARK}\n{MARK}\n{MARK}\n")))
}

#[test]
fn a_private_key_goes_as_a_whole_also_line_by_line() {
    let (text, left) = key();
    assert_eq!(redact(&text), left);
    assert_eq!(redact(&left), left);
    let mut redactor = Redactor::default();
    let lines: Vec<String> = text
        .lines()
        .map(|line| String::from_utf8(redactor.redact_line(line.as_bytes()).into_owned()).unwrap())
        .collect();
    assert_eq!(lines.join("\n") + "\n", left);
}

#[test]
fn a_private_key_goes_in_other_dress_too() {
    let body = random(64);
    let one_line =
        format!("KEY=\"-----BEGIN PRIVATE KEY-----\\n{body}\\n-----END PRIVATE KEY-----\\n\" next");
    assert!(!redact(&one_line).contains(&body[..16]), "{}", redact(&one_line));
    assert!(redact(&one_line).ends_with("-----END PRIVATE KEY-----\\n\" next"));
    let logged = format!(
        "12:01 | -----BEGIN OPENSSH PRIVATE KEY-----\n12:01 | {body}\n12:01 | x\nafterwards this stays\n"
    );
    assert!(!redact(&logged).contains(&body[..16]));
    assert!(redact(&logged).ends_with("afterwards this stays\n"));
    let locked = format!("-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n{body}\n");
    assert!(!redact(&locked).contains(&body[..16]));
    let code = "if line == \"-----BEGIN PRIVATE KEY-----\" {\n    return\n}\nlet long = aaaaaaaaaaaaaaaaaaaaaaaaa;\n";
    assert_eq!(redact(code), code);
}

#[test]
fn known_values_go_wherever_they_stand() {
    let values =
        ["hunter2hunter2".to_owned(), "short".into(), "päss wörd lang".into(), "hunter2hunter2x".into()];
    let mut redactor = Redactor::with_values(&values);
    assert_eq!(
        redactor.redact_text("xhunter2hunter2xy short hunter2hunter2"),
        format!("x{MARK}y short {MARK}")
    );
    assert_eq!(redactor.redact_text("das päss wörd lang ist"), format!("das {MARK} ist"));
    let mut two = Redactor::with_values(&["first line of it\nsecond line of it".into(), "redacted".into()]);
    assert_eq!(two.redact_text("a second line of it\nb"), format!("a {MARK}\nb"));
    assert_eq!(two.redact_text(MARK), MARK);
}

#[test]
fn bytes_that_are_not_text_pass_through() {
    let mut bytes = b"\xff\xfe token=".to_vec();
    bytes.extend_from_slice(random(40).as_bytes());
    bytes.extend_from_slice(b" \x80");
    assert_eq!(redact_line(&bytes).as_ref(), b"\xff\xfe token=[redacted] \x80");
}

#[test]
fn a_megabyte_of_malice_takes_linear_time() {
    for piece in [
        "sk-",
        "eyJ-",
        "eyJaaaaaaaa.",
        "eyJaaaaaaaa-.",
        "token=",
        "token=\"",
        "token='\"",
        "password: ",
        "://a:",
        "://",
        "a:@",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY-----",
        "-----END ",
        "\\",
        "Authorization: ",
        "Bearer ",
        "AKIA",
        "a",
        "A1",
        "ghp_",
        "PASSWORD=",
        "[redacted]",
        "token=[redacted]",
        "\n",
        "= \"",
        "key: ",
        "é",
    ] {
        let text = piece.repeat(1_000_000 / piece.len());
        let start = Instant::now();
        let once = redact(&text).into_owned();
        assert!(start.elapsed() < Duration::from_secs(5), "{piece:?} took {:?}", start.elapsed());
        assert_eq!(redact(&once), once, "{piece:?}");
    }
    let values: Vec<String> = (0..8).map(|n| "a".repeat(100 + n) + "b").collect();
    let start = Instant::now();
    let _ = Redactor::with_values(&values).redact_line(&[b'a'; 1_000_000]);
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

proptest! {
    #[test]
    fn twice_is_once_whatever_stands_beside(pieces in prop::collection::vec(prop_oneof![
        any::<prop::sample::Index>().prop_map(|index| index.get(&shapes()).0.clone()),
        "[a-zA-Z0-9=:\"' \\\\.@/_\\[\\](){}$-]{0,12}",
        Just("-----BEGIN PRIVATE KEY-----\n".to_owned()),
        Just("-----END PRIVATE KEY-----".to_owned()),
        Just(MARK.to_owned()),
        Just("é".to_owned()),
        Just("\n".to_owned()),
        Just("token=".to_owned()),
        Just("Authorization: ".to_owned()),
        Just("https://u:".to_owned()),
    ], 0..12)) {
        let text: String = pieces.concat();
        let once = redact(&text).into_owned();
        prop_assert_eq!(redact(&once), once.clone());
    }
}
