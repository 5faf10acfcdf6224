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

fn hex(length: usize) -> String {
    "a1b2c3d4e5f60718".chars().cycle().take(length).collect()
}

/// What services give out, by their prefixes and lengths: `(before, secret, after)`, where only the secret goes.
fn service_secrets() -> Vec<(&'static str, String, &'static str)> {
    let mut all = Vec::new();
    for (start, length) in [
        ("sk-proj-", 48),
        ("sk-ant-api03-", 80),
        ("sk-or-v1-", 64),
        ("gsk_", 52),
        ("xai-", 80),
        ("hf_", 34),
        ("pplx-", 48),
        ("nvapi-", 64),
        ("r8_", 37),
        ("pcsk_", 60),
        ("ghp_", 36),
        ("github_pat_", 82),
        ("glpat-", 20),
        ("glcbt-", 20),
        ("glsoat-", 20),
        ("GR1348941", 20),
        ("ATBB", 32),
        ("ATATT3", 180),
        ("AIza", 35),
        ("GOCSPX-", 28),
        ("xoxb-", 50),
        ("xwfp-", 50),
        ("sk_live_", 24),
        ("whsec_", 32),
        ("sq0atp-", 22),
        ("sq0csp-", 43),
        ("shippo_live_", 40),
        ("FLWSECK-", 32),
        ("access-production-", 36),
        ("npm_", 36),
        ("pypi-", 100),
        ("rubygems_", 48),
        ("CLOJARS_", 60),
        ("dckr_pat_", 27),
        ("dckr_oat_", 32),
        ("bkua_", 40),
        ("CFPAT-", 43),
        ("sgp_", 40),
        ("sntrys_eyJ", 80),
        ("NRAK-", 27),
        ("glsa_", 41),
        ("glc_eyJ", 60),
        ("phx_", 43),
        ("lsv2_pt_", 32),
        ("secret_", 43),
        ("ntn_", 46),
        ("figd_", 40),
        ("lin_api_", 40),
        ("PMAK-", 59),
        ("tfp_", 59),
        ("rdme_", 70),
        ("hvs.", 90),
        ("hvb.", 90),
        ("tskey-auth-", 40),
        ("HRKU-AA", 58),
        ("nfp_", 36),
        ("pscale_pw_", 43),
        ("sb_secret_", 31),
        ("dp.pt.", 43),
        ("AQVN", 40),
        ("fo1_", 43),
        ("pnu_", 36),
        ("rnd_", 32),
        ("aio_", 32),
        ("LTAI", 20),
        ("EZAK", 54),
        ("duffel_live_", 43),
        ("sha256~", 43),
        ("https://hooks.zapier.com/hooks/catch/", 30),
        ("https://acme.webhook.office.com/webhookb2/", 60),
        ("https://discordapp.com/api/webhooks/", 80),
    ] {
        all.push((start, random(length), ""));
    }
    for (start, length) in [
        ("dapi", 32),
        ("key-", 32),
        ("pubkey-", 32),
        ("SK", 32),
        ("shpat_", 32),
        ("shpss_", 32),
        ("pul-", 40),
        ("sbp_", 40),
        ("squ_", 40),
        ("dop_v1_", 64),
        ("sntryu_", 64),
        ("xkeysib-", 64),
    ] {
        all.push((start, hex(length), ""));
    }
    all.extend([
        ("123456789:", format!("AA{}", random(33)), ""),
        ("", format!("MTA{}.Gh1234.{}", random(21), random(38)), ""),
        ("", format!("{}-{}-{}", hex(32), hex(8), hex(8)), ""),
        ("", format!("{}-us12", hex(32)), ""),
        ("patAbcdEfgh1234Ij.", hex(64), ""),
        ("abcdefgh123456.atlasv1.", random(67), ""),
        ("aB38Q~", random(34), ""),
        ("https://", hex(32), "@o1.ingest.sentry.io/2"),
        ("Cookie: ", format!("session={}; theme=dark", random(24)), ""),
        ("Set-Cookie: ", format!("sid={}; HttpOnly", random(24)), ""),
        ("-H 'Cookie: ", format!("sid={}", random(24)), "'"),
    ]);
    all
}

#[test]
fn what_services_give_out_is_blacked_out_alone_and_in_text() {
    let all = service_secrets();
    assert!(all.len() >= 60, "{}", all.len());
    for (start, secret, end) in all {
        for (before, after) in [("", ""), ("see ", "\n"), ("(", "\\n"), ("x = \"", "\"")] {
            let text = format!("{before}{start}{secret}{end}{after}");
            let out = redact(&text).into_owned();
            assert!(!out.contains(&secret[secret.len() - 12..]) && out.contains(MARK), "{text} became {out}");
            assert_eq!(redact(&out), out);
        }
    }
}

#[test]
fn what_only_looks_like_a_secret_stays() {
    for text in [
        "sha256:0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0",
        "commit 0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c",
        "\"integrity\": \"sha512-oRVd7yzJmDTZ4vQKlMXrJ9Sx/5mcUbAmyvXS6w==\"",
        "id: 123e4567-e89b-12d3-a456-426614174000",
        "md5 d41d8cd98f00b204e9800998ecf8427e  empty.txt",
        "12:34:56.789 AAPL 1234567890:AAPL",
        "key-value-store-with-a-long-name-of-words",
        "primary-key-0 secret_name_of_the_thing_in_the_vault_of_the_team",
        "SKU12345678 SKIP_THIS_TEST_BECAUSE_IT_IS_SLOW",
        "cookie: string; cookies: Cookie[];",
        "document.cookie = name + '=' + value",
        "Cookie: name=value; other=thing",
        "Cookie: session=${sessionId}",
        "https://github.com/user@host/path",
        "git+ssh://git@github.com/a/b.git",
        "ghp_short glpat- sk_live_ hvs.",
        "dapi_client.connect() dapibus",
        "cionfig ciont oy2 rnd_next pul-request",
        "MODULE_NAME.method1.anotherLongMethodNameOfTheObject",
        "const NAMESPACE = 'Namespace.Kernel.System'",
        "lin_api_url nfp_count figd_ ntn_",
        "https://hooks.slack.com/services/ is where they go",
        "EAAA is four letters; LTAI too",
        "patients.filter(p => p.age)",
        "version 1.2.3-us1 of 2026-11-17",
    ] {
        assert_eq!(redact(text), text);
    }
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

#[test]
fn a_secret_that_hides_behind_another_is_found() {
    let text = "AKIAA1B2C3D4E5F6G7H8--password a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H8i9J0";
    assert_eq!(redact(text), format!("AKIA{MARK}--password {MARK}"));
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
