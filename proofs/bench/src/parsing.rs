//! Reading hostile responses: texts that make a careless parser start over and over again, at growing
//! sizes. Time must grow with the text and no faster.

use relaycode_change::proposal::limits::PlanLimits;
use relaycode_change::response;

use super::measure::{BenchReport, Measured, once, plain_pass};

/// In MiB.
const SIZES: &[usize] = &[1, 2, 4, 8];
/// The limit in milliseconds at 4 MiB.
const AT: usize = 4;
const BELOW: f64 = 150.0;
/// Allowed growth from 1 to 8 MiB; eight is linear, the rest is noise.
const GROWTH_BELOW: f64 = 13.0;
/// Runs per size; the fastest counts for growth, the slowest for the limit.
const RUNS: usize = 7;

/// A hostile text of this many bytes.
type Make = fn(usize) -> String;

const KINDS: &[(&str, Make)] = &[
    ("backticks", |bytes| "`".repeat(bytes)),
    ("lines of backticks", |bytes| fill("```\n", bytes)),
    ("growing fences", growing_fences),
    ("unclosed fences", |bytes| fill("```ts // src/a.ts\nlet a = 1;\n", bytes)),
    ("unclosed, alternating", |bytes| fill("```\n~~~\n", bytes)),
    ("one-line blocks", |bytes| numbered(bytes, |n| format!("```ts // f{n}.ts\nx\n```\n"))),
    ("search markers", |bytes| fill("<<<<<<< SEARCH\n", bytes)),
    ("markers in disorder", |bytes| fill("=======\n>>>>>>> REPLACE\n<<<<<<< SEARCH\n", bytes)),
    ("search/replace blocks", |bytes| fill("a.ts\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n", bytes)),
    ("hunk headers", |bytes| format!("--- a/x\n+++ b/x\n{}", fill("@@ -1,1 +1,1 @@\n-a\n+b\n", bytes))),
    ("diff headers", |bytes| fill("--- a/x\n+++ b/x\n", bytes)),
    ("git headers", |bytes| fill("diff --git a/x b/x\nrename from x\nrename to y\n", bytes)),
    ("patch envelopes", |bytes| fill("*** Begin Patch\n*** Update File: a\n@@\n-a\n+b\n", bytes)),
    ("heredocs", |bytes| fill("cat <<'EOF'\n*** Begin Patch\n", bytes)),
    ("yaml keys", |bytes| fill("projectId: a\nuuid: b\nchangeSummary:\n", bytes)),
    ("yaml aliases", |bytes| {
        format!("```yaml\nprojectId: x\na: &a [x]\n{}```\n", fill("b: [*a,*a,*a,*a]\n", bytes))
    }),
    ("yaml nesting", |bytes| format!("```yaml\nprojectId: {}\n```\n", "[".repeat(bytes))),
    ("json nesting", |bytes| format!("```json // rename-file\n{}\n```\n", "{\"a\":".repeat(bytes / 5))),
    ("headings", |bytes| fill("### `src/a.ts`\n**src/b.ts**\n", bytes)),
    ("one long line", |bytes| "a ".repeat(bytes / 2)),
    ("blank lines", |bytes| "\n".repeat(bytes)),
    ("carriage returns", |bytes| "\r".repeat(bytes)),
    ("indented fences", |bytes| fill("   ```ts\n      ```\n", bytes)),
    ("quoted text", |bytes| fill("> ```ts // a.ts\n> x\n> ```\n", bytes)),
    ("mixed", |bytes| {
        fill("```\n<<<<<<< SEARCH\n--- a\n@@\n*** Begin Patch\nprojectId: x\n~~~\n=======\n````\n", bytes)
    }),
];

fn fill(piece: &str, bytes: usize) -> String {
    piece.repeat(bytes / piece.len())
}

fn numbered(bytes: usize, piece: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    let mut number = 0;
    while text.len() < bytes {
        text += &piece(number);
        number += 1;
    }
    text
}

/// Each fence one backtick longer, so that none closes the one before.
fn growing_fences(bytes: usize) -> String {
    let mut text = String::new();
    let mut length = 3;
    while text.len() < bytes {
        text += &"`".repeat(length);
        text.push('\n');
        length += 1;
    }
    text
}

/// Every kind at every size.
pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    let limits =
        PlanLimits { text_bytes: 64 << 20, files: 10_000_000, hunks: 10_000_000, ..PlanLimits::default() };
    for (kind, make) in KINDS {
        if !report.wants(&format!("parse, {kind}")) {
            continue;
        }
        let mut fastest = Vec::new();
        for size in SIZES {
            let text = make(size << 20);
            let mut read = || response::read(&text, &limits);
            let taken: Vec<_> = (0..RUNS).map(|_| once(&mut read)).collect();
            fastest.extend(taken.iter().min().copied());
            let below = (*size == AT).then_some(BELOW);
            report.add(
                Measured::from_times(format!("parse, {kind}, {size} MiB"), taken)
                    .below(below)
                    .plain(plain_pass(text.as_bytes())),
            );
        }
        report.add_growth(format!("parse, {kind}, growth 1 to 8 MiB"), &fastest, GROWTH_BELOW);
    }
    Ok(())
}
