//! Conversations of any length, the same on every run: prompts, answers with thinking and tool calls,
//! results of 1 to 200 kB, branches, labels, changes of model, and a compaction every so many bytes.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use relaycode_testkit::random::Random;
use serde_json::{Value, json};

/// The directory that the conversations are about.
pub(super) const CWD: &str = "/home/someone/shop";

/// What a conversation is made of.
pub(super) struct Shape {
    /// Determines the content.
    pub(super) seed: u64,
    /// Least length of the file.
    pub(super) bytes: u64,
    /// A compaction after this many bytes. The file then ends just before the next, where the context is
    /// largest.
    pub(super) compaction: Option<u64>,
}

/// Returns the number of entries.
pub(super) fn write(path: &Path, id: &str, cwd: &str, shape: &Shape) -> anyhow::Result<usize> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    let mut maker = Maker {
        out: BufWriter::new(File::create(path)?),
        random: Random::new(shape.seed),
        entries: 0,
        bytes: 0,
        compacted: 0,
        path: Vec::new(),
    };
    let header = json!({
        "type": "session", "version": 3, "id": id, "timestamp": time(0), "cwd": cwd,
        "title": format!("Conversation {}", shape.seed), "titleSource": "auto",
    });
    maker.line(&header)?;
    maker.put("model_change", json!({ "model": "anthropic/claude-opus-4-6" }))?;
    let every = shape.compaction.unwrap_or(u64::MAX);
    let full = |maker: &Maker| shape.compaction.is_none() || maker.bytes - maker.compacted > every / 100 * 97;
    while maker.bytes < shape.bytes || !full(&maker) {
        if maker.bytes - maker.compacted >= every {
            maker.compact()?;
        }
        maker.turn()?;
    }
    maker.out.flush()?;
    Ok(maker.entries)
}

struct Maker {
    out: BufWriter<File>,
    random: Random,
    entries: usize,
    bytes: u64,
    /// Where the last compaction is.
    compacted: u64,
    /// From the root to the leaf.
    path: Vec<usize>,
}

impl Maker {
    /// A prompt, the tools that the answer calls, and the answer.
    fn turn(&mut self) -> anyhow::Result<()> {
        let prompt = self.text(50, 600);
        self.message(json!({ "role": "user", "content": [{ "type": "text", "text": prompt }] }))?;
        for _ in 0..self.random.below(9) {
            self.call()?;
        }
        let answer = self.text(300, 3_000);
        self.answer(&json!([{ "type": "text", "text": answer }]), "stop")?;
        match self.random.below(50) {
            0 => {
                let back = 10 + self.random.below(30);
                let from = self.path.len().saturating_sub(back).max(1);
                self.path.truncate(from);
                let summary = self.text(200, 1_000);
                let from_id = name(self.path[from - 1]);
                self.put("branch_summary", json!({ "fromId": from_id, "summary": summary }))
            }
            1 => {
                let target = name(*self.path.last().unwrap_or(&0));
                self.put("label", json!({ "targetId": target, "label": format!("step {}", self.entries) }))
            }
            2 => self.put("thinking_level_change", json!({ "thinkingLevel": "high" })),
            3 => self.put("model_change", json!({ "model": "openai/gpt-5", "role": "small" })),
            _ => Ok(()),
        }
    }

    /// An answer that calls a tool, and the tool's result.
    fn call(&mut self) -> anyhow::Result<()> {
        let id = format!("toolu_{:016x}", self.random.number());
        let (thought, words, code) = (self.text(200, 1_500), self.text(20, 300), self.text(100, 1_500));
        let signature = format!("{:016x}", self.random.number()).repeat(20);
        let content = json!([
            { "type": "thinking", "thinking": thought, "thinkingSignature": signature },
            { "type": "text", "text": words },
            { "type": "toolCall", "id": id, "name": "edit",
              "arguments": { "path": "src/checkout/basket.rs", "content": code } },
        ]);
        self.answer(&content, "toolUse")?;
        let result =
            if self.random.once_in(60) { self.text(20_000, 200_000) } else { self.text(1_000, 4_500) };
        self.message(json!({
            "role": "toolResult", "toolCallId": id, "toolName": "edit",
            "content": [{ "type": "text", "text": result }], "isError": false,
        }))
    }

    fn answer(&mut self, content: &Value, stop: &str) -> anyhow::Result<()> {
        let usage = json!({
            "input": 1200, "output": 340, "cacheRead": 81_000, "cacheWrite": 900, "totalTokens": 83_440,
            "cost": { "input": 0.018, "output": 0.0255, "cacheRead": 0.1215, "cacheWrite": 0.0169, "total": 0.1819 },
        });
        self.message(json!({
            "role": "assistant", "content": content, "api": "anthropic-messages", "provider": "anthropic",
            "model": "claude-opus-4-6", "usage": usage, "stopReason": stop,
        }))
    }

    fn message(&mut self, mut message: Value) -> anyhow::Result<()> {
        message["timestamp"] = json!(1_770_000_000_000_u64 + 20_000 * self.entries as u64);
        self.put("message", json!({ "message": message }))
    }

    /// Summarises everything but the last turns.
    fn compact(&mut self) -> anyhow::Result<()> {
        let kept = self.path[self.path.len().saturating_sub(20)];
        let summary = self.text(4_000, 8_000);
        self.compacted = self.bytes;
        let body = json!({
            "summary": summary, "shortSummary": "What was done so far", "firstKeptEntryId": name(kept),
            "tokensBefore": 180_000,
        });
        self.put("compaction", body)
    }

    fn put(&mut self, kind: &str, body: Value) -> anyhow::Result<()> {
        let number = self.entries;
        let parent = self.path.last().map(|parent| name(*parent));
        let mut entry = json!({
            "type": kind, "id": name(number), "parentId": parent, "timestamp": time(number),
        });
        if let (Value::Object(entry), Value::Object(body)) = (&mut entry, body) {
            entry.extend(body);
        }
        self.entries += 1;
        self.path.push(number);
        self.line(&entry)
    }

    fn line(&mut self, value: &Value) -> anyhow::Result<()> {
        let line = value.to_string();
        self.bytes += line.len() as u64 + 1;
        Ok(writeln!(self.out, "{line}")?)
    }

    fn text(&mut self, least: usize, most: usize) -> String {
        text(&mut self.random, least, most)
    }
}

/// Lines as they occur in code, output and answers.
const LINES: [&str; 12] = [
    "    let total = basket.items().map(|item| item.price * item.count).sum::<Money>();\n",
    "error[E0308]: mismatched types: expected `Option<Rate>`, found `Rate`\n",
    "    if customer.is_member() && total > \"20.00\".parse()? {\n",
    "The discount is taken twice when the basket is changed after the rate was looked up.\n",
    "\tassert_eq!(basket.total(), Money::of(\"17.99\"));\n",
    "src/checkout/basket.rs:118:        .find(|(name, _)| *name == \"rate\")\n",
    "    }\n",
    "\n",
    "Für Kund:innen mit Gutschein gilt der Preis vor dem Rabatt – auch in der Übersicht.\n",
    "test checkout::a_discount_is_taken_once ... ok (3 ms)\n",
    "+    // A rate that is older than the basket does not count.\n",
    "C:\\Users\\someone\\shop> cargo test --package checkout -- --nocapture\n",
];

/// Of a random length within these bounds.
pub(super) fn text(random: &mut Random, least: usize, most: usize) -> String {
    let length = least + random.below(most - least + 1);
    let mut text = String::with_capacity(length + 100);
    while text.len() < length {
        text.push_str(random.pick::<&str>(&LINES));
    }
    text
}

/// An entry's id: eight characters, unique per number.
fn name(number: usize) -> String {
    format!("{:08x}", (number as u32).wrapping_mul(2_654_435_761))
}

/// The time of an entry.
fn time(number: usize) -> String {
    let seconds = number * 20;
    let (day, hour, minute) = (1 + seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    format!("2026-02-{day:02}T{hour:02}:{minute:02}:{:02}.000Z", seconds % 60)
}
