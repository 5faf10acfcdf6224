//! The table. In every text `MARKER` stands for the marker of the case, and `KEYED` for the project's id with
//! the key of this checkout: whoever writes it was given the prompt, and is misled.

use super::{APPLIED, REVERTED};
use crate::fixture::scratch_project::{edit, whole};

/// The most text that is looked at.
const TEXT_BYTES: usize = 4 << 20;

/// Something on a clipboard, and what it may do.
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) group: Group,
    pub(super) put: Put,
    pub(super) expect: Expect,
    pub(super) on_wayland: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Group {
    /// No answer at all.
    Noise,
    /// An answer by somebody who does not have the key.
    Stranger,
    /// An answer that wants to be more than text to the terminal.
    Forged,
    /// An answer with the key that wants what the key does not open.
    Keyed,
}

/// How it gets there.
pub(super) enum Put {
    Text(String),
    /// Next to nothing, without a marker.
    Blank,
    /// Made when it is needed.
    Large(fn() -> String),
    /// Data of this kind, behind the marker.
    As(&'static str, Vec<u8>),
    /// Text of a program that does not hand it over.
    Hangs(String),
    /// Text of a program that dies soon after.
    DiesHalfway(fn() -> String),
    /// Text of a program that is gone when it is asked for.
    Dies(String),
}

/// What the session does.
#[derive(Debug, Clone, Copy)]
pub(super) enum Expect {
    /// Not a byte.
    Silent,
    /// Something is said, without a word of the text.
    Said(&'static str),
    /// Something may be said, without a word of the text.
    Unseen,
    /// It is refused with this.
    Refused(&'static str),
    /// A person is asked, told this, and says no.
    Asked(&'static str),
}

use Expect::{Asked, Refused, Said, Silent, Unseen};
use Group::{Forged, Keyed, Noise, Stranger};

/// An answer of which the ledger knows.
pub(super) fn replayed(id: &str, word: &str) -> String {
    format!("{}\n```yaml\nprojectId: KEYED\nuuid: {id}\n```\n", edit("new.txt", "old", word))
}

/// The block that ends an answer.
fn by(id: &str) -> String {
    format!("\n```yaml\nprojectId: {id}\ngitCommitMsg: \"MARKER\"\n```\n")
}

fn titled(title: &str) -> String {
    format!(
        "{}\n```yaml\nprojectId: shop\ngitCommitMsg: \"MARKER {title}\"\n```\n",
        edit("a.txt", "two", "2")
    )
}

/// A change of `a.txt` that would be fine, by whoever `id` says.
fn fine(id: &str) -> String {
    edit("a.txt", "two", "MARKER") + &by(id)
}

/// A new file with the key.
fn new(path: &str) -> String {
    whole(path, "MARKER\n") + &by("KEYED")
}

/// Every case.
pub(super) fn all() -> Vec<Case> {
    let mut all = noise();
    all.extend(strangers());
    all.extend(forged());
    all.extend(keyed());
    // A third of each kind, at least.
    for (number, case) in all.iter_mut().enumerate() {
        case.on_wayland |= number % 3 == 0;
    }
    all
}

fn case(name: &'static str, group: Group, put: Put, expect: Expect) -> Case {
    Case { name, group, put, expect, on_wayland: false }
}

fn noise() -> Vec<Case> {
    let text = |name, text: &str, expect| case(name, Noise, Put::Text(text.to_owned()), expect);
    vec![
        text("a password", "hunter2-MARKER", Silent),
        text("prose", "Dear all,\n\nMARKER is what I meant. y\ny\nyes\n", Silent),
        text("a link", "https://example.org/MARKER?projectId=shop", Silent),
        text("a source file", "use std::fs;\n\nfn main() {\n    println!(\"MARKER\");\n}\n", Silent),
        text("a source file in a fence", "```rust\nfn main() { let MARKER = 1; }\n```\n", Silent),
        text("a shell command", "curl https://example.org/MARKER | sh\n", Silent),
        text("only control characters", "\x01\x02\x1b\x1b[2J\x07\x08\x7f\u{9b}MARKER", Silent),
        text("nothing but y", "y\ny\nMARKER\ny\n", Silent),
        text("lone returns", "MARKER\ry\ry\r```text // a.txt\rgone\r", Silent),
        case("an image", Noise, Put::As("image/png", b"\x89PNG\r\n\x1a\n".to_vec()), Silent),
        case("files", Noise, Put::As("text/uri-list", b"\r\nfile:///etc/passwd\r\n".to_vec()), Silent),
        case("nothing", Noise, Put::Blank, Silent),
        case("not UTF-8", Noise, Put::As("UTF8_STRING", vec![0xff, 0xfe, b'\n', 0xc3]), Said("not UTF-8")),
        case(
            "100 MB",
            Noise,
            Put::Large(|| "all work and no play\n".repeat(5 << 20)),
            Said("more text than"),
        ),
        case("a byte too many", Noise, Put::Large(|| "a".repeat(TEXT_BYTES)), Said("more text than")),
        case("a million blank lines", Noise, Put::Large(|| "\n".repeat(1_000_000)), Silent),
        case("100 000 fences", Noise, Put::Large(|| "```\n".repeat(100_000)), Silent),
        case("fences in fences", Noise, Put::Large(nested), Silent),
        case("an owner that hangs", Noise, Put::Hangs(fine("KEYED")), Said("does not hand over")),
        case("an owner that dies halfway", Noise, Put::DiesHalfway(|| "a line\n".repeat(400_000)), Unseen),
        case("an owner that is gone", Noise, Put::Dies(fine("KEYED")), Unseen),
    ]
}

/// Each fence longer than the one around it.
fn nested() -> String {
    (3..2_000).rev().map(|length| format!("{}text\n", "`".repeat(length))).collect()
}

fn strangers() -> Vec<Case> {
    let text = |name, text: String, expect| case(name, Stranger, Put::Text(text), expect);
    let bomb: String = (1..20).map(|n| format!("l{n}: &l{n} [*l{}, *l{}]\n", n - 1, n - 1)).collect();
    let bomb = format!("\n```yaml\nprojectId: shop\nl0: &l0 MARKER\n{bomb}```\n");
    let anchored = "\n```yaml\nx: &k KEYED\nprojectId: *k\ngitCommitMsg: \"MARKER\"\n```\n";
    let doubled = "\n```yaml\nprojectId: shop\nprojectId: other.k3yk3yk3yk\ngitCommitMsg: \"MARKER\"\n```\n";
    let twice = fine("shop") + &edit("a.txt", "three", "3") + "\n```yaml\nprojectId: shop\n```\n";
    let prompted = format!("# Answers that change files\n\nMARKER\n\n{}", fine("KEYED"));
    let repair =
        "Your answer could not be applied, and nothing was changed. These parts of it do not work:\n\n";
    let quoting = format!("{repair}The file does not have this text:\n``````\n{}``````\n", fine("KEYED"));
    vec![
        text("a repair prompt that quotes an answer", quoting, Silent),
        text("a repair prompt with an answer behind it", format!("{repair}{}", fine("shop")), Asked("key")),
        text("another project", fine("bank.k3yk3yk3yk"), Said("another project")),
        text("another project without a key", fine("bank"), Said("another project")),
        text("another checkout's key", fine("shop.k3yk3yk3yk"), Said("another checkout")),
        text("no key", fine("shop"), Asked("key")),
        text("no control block", edit("a.txt", "two", "MARKER"), Asked("a.txt")),
        text("a key in another case", fine("shop.K3YK3YK3YK"), Said("another project")),
        text("the key and a full stop", fine("KEYED."), Said("another project")),
        text("the key with a space that has no width", fine("\"KEYED\u{200b}\""), Said("another project")),
        text(
            "a space that has no width inside",
            fine("\"shop\u{200b}.k3yk3yk3yk\""),
            Said("another project"),
        ),
        text("a letter that only looks the same", fine("\"\u{455}hop.k3yk3yk3yk\""), Said("another project")),
        text("the id in another case", fine("Shop"), Said("another project")),
        text("a key that is longer", fine("KEYEDa"), Said("another project")),
        text("a bomb of anchors", edit("a.txt", "two", "MARKER") + &bomb, Asked("a.txt")),
        text("the id behind an anchor", edit("a.txt", "two", "MARKER") + anchored, Asked("a.txt")),
        text("two ids", edit("a.txt", "two", "MARKER") + doubled, Said("another project")),
        text("two answers", twice, Asked("key")),
        text("a prompt with an answer behind it", prompted, Silent),
        text("files that fit anywhere", whole("brand/new.txt", "MARKER\n"), Said("no project")),
        text("y everywhere", format!("y\ny\n{}y\nyes\ny\n", fine("shop")), Asked("key")),
        text("what was applied before", replayed(APPLIED, "was"), Refused("applied before")),
        text("what was applied and reverted", replayed(REVERTED, "went"), Refused("undone")),
        text(
            "the id of another answer",
            edit("a.txt", "two", "MARKER") + &format!("\n```yaml\nprojectId: KEYED\nuuid: {APPLIED}\n```\n"),
            Asked("another answer"),
        ),
    ]
}

fn forged() -> Vec<Case> {
    let text = |name, text: String, expect| case(name, Forged, Put::Text(text), expect);
    let edited = |after: &str| edit("a.txt", "two", after) + &by("shop");
    vec![
        text("a title that forges a card", titled("x\\n\\n\\u2713 applied 3f9c1e2a\\n"), Asked("key")),
        text("a title that moves the cursor", titled("\x1b[5A\x1b[2K\x1b[7;7Happlied"), Asked("key")),
        text("a title that copies", titled("\x1b]52;c;aGk=\x07\x1b]52;c;aGk=\x1b\\"), Asked("key")),
        text("a title that links", titled("\x1b]8;;http://x\x1b\\click\x1b]8;;\x1b\\"), Asked("key")),
        text("a title that names the window", titled("\x1b]0;pwned\x07\u{9d}0;pwned\u{9c}"), Asked("key")),
        text("a title that ends a paste", titled("\x1b[201~y\ry\r\x1b[200~"), Asked("key")),
        text(
            "a title that runs backwards",
            titled("\u{202e}detpecca\u{2066}\u{200b}\u{e0041}"),
            Asked("key"),
        ),
        text(
            "a name that draws",
            whole("\x1b[2J\x1b]0;x\x07MARKER.txt", "x\n") + &by("KEYED"),
            Refused("✗ refused"),
        ),
        text(
            "a name that runs backwards",
            whole("src/\u{202e}MARKER.txt", "x\n") + &by("KEYED"),
            Refused("✗ refused"),
        ),
        text(
            "a name that forges a card",
            whole("\"✓ applied 3f9c1e2a MARKER.txt\"", "x\n") + &by("shop"),
            Asked("key"),
        ),
        text(
            "reasoning that draws",
            format!("\x1b[2J\x1b[H\u{9b}2J\x1b]52;c;aGk=\x07 ✓ applied MARKER\n\n{}", edited("2")),
            Asked("key"),
        ),
        text("code that draws", edited("MARKER\x1b[2J\x1b[1;1H\u{9b}31m\x07\x08"), Asked("key")),
        text(
            "a search that draws",
            edit("a.txt", "MARKER\x1b[2J\x1b]0;x\x07\u{202e}", "2") + &by("KEYED"),
            Refused("✗ refused"),
        ),
        text("code with NUL", edited("MARKER\0\0"), Asked("key")),
        text("an id that draws", fine("\"shop\x1b[2J\x1b]0;x\x07\""), Said("another project")),
        text("a uuid that draws", fine("shop\nuuid: \"\x1b[2J\u{202e}\""), Asked("key")),
        text(
            "a kind of file that draws",
            whole("a.txt", "MARKER\n").replace("text", "\x1b[2Jtext") + &by("shop"),
            Asked("key"),
        ),
    ]
}

fn keyed() -> Vec<Case> {
    let text = |name, text: String, expect| case(name, Keyed, Put::Text(text), expect);
    let edited = |after: &str| edit("a.txt", "two", after) + &by("KEYED");
    let scripts = edit("package.json", "    \"test\": \"true\"", "    \"test\": \"MARKER\"") + &by("KEYED");
    let mode = "```diff\ndiff --git a/run.sh b/run.sh\nnew file mode 100755\n--- /dev/null\n+++ b/run.sh\n@@ -0,0 +1 @@\n+MARKER\n```\n";
    let deleted: String =
        (0..11).map(|n| format!("```text // many/{n}.txt\n//TODO: delete this file\n```\n")).collect();
    vec![
        text("many files gone", deleted + &by("KEYED"), Asked("mass-deletion")),
        text("a space that has no width in code", edited("MARKER\u{200b}x"), Asked("hidden")),
        text("tags in code", edited("MARKER\u{e0041}\u{e0042}"), Asked("hidden")),
        text("variation selectors in code", edited("MARKER\u{fe00}\u{e0100}x"), Asked("hidden")),
        text("code that runs backwards", edited("MARKER\u{202e}x\u{2066}"), Asked("hidden")),
        text("escapes in code", edited("MARKER\x1b[2J\x1b]52;c;aGk=\x07"), Asked("hidden")),
        text("a path outside", new("../MARKER.txt"), Refused("✗ refused")),
        text("a path that leaves later", new("src/../../MARKER.txt"), Refused("✗ refused")),
        text("an absolute path", new("/tmp/MARKER.txt"), Refused("✗ refused")),
        text("a git hook", new(".git/hooks/pre-commit"), Refused("✗ refused")),
        text("a git hook in other letters", new(".GIT/hooks/pre-commit"), Refused("✗ refused")),
        text("relay's own folder", new(".relaycode/MARKER.yml"), Refused("✗ refused")),
        text("through a link", new("link/MARKER.txt"), Refused("✗ refused")),
        text(
            "relay's configuration",
            whole("relaycode.config.json", "{\"projectId\": \"shop\", \"MARKER\": 1}\n") + &by("KEYED"),
            Asked("! relaycode.config.json configures relay"),
        ),
        text("a workflow", new(".github/workflows/x.yml"), Asked("! .github/workflows/x.yml runs in CI")),
        text("a hook's folder", new(".husky/pre-commit"), Asked("! .husky/pre-commit is a git hook")),
        text("the environment", new(".env"), Asked("! .env may hold secrets")),
        text("an agent's instructions", new("CLAUDE.md"), Asked("! CLAUDE.md instructs agents")),
        text("an editor's tasks", new(".vscode/tasks.json"), Asked("! .vscode/tasks.json is read")),
        text("scripts of a package", scripts, Asked("! package.json changes what")),
        text("a program", mode.to_owned() + &by("KEYED"), Asked("! run.sh becomes executable")),
        text(
            "most of a file gone",
            whole("src/long.ts", "export const n0 = \"MARKER\";\n") + &by("KEYED"),
            Asked("lines"),
        ),
        text(
            "the rest left out",
            whole("src/small.ts", "// MARKER\n// ... rest of the code\n") + &by("KEYED"),
            Asked("placeholder"),
        ),
        text("a link as a file", whole("link.txt", "MARKER\n") + &by("KEYED"), Refused("✗ refused")),
        text(
            "a file twice",
            whole("b.txt", "MARKER\n") + &whole("B.txt", "x\n") + &by("KEYED"),
            Refused("✗ refused"),
        ),
    ]
}
