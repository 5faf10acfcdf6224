//! A session with every type of entry and every kind of content, and the list of all its texts.

use serde_json::json;

use super::Made;

/// 24 × 24 red pixels.
pub(super) const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAABgAAAAYCAIAAABvFaqvAAAAH0lEQVR42mM4YWNEFcQwatCoQaMGjRo0atCoQQNvEACmRLmfIxoWxAAAAABJRU5ErkJggg==";

const ANSWER: &str = "## Where the totals are made

The cart adds **unrounded** prices; rounding belongs in *one* place:

1. `src/money.ts` gets `toCents`
2. `src/cart.ts` calls it
   - once per line
   - never on the sum

> A cent that is lost twice is lost for good.

```ts
export const toCents = (amount: number): number =>
  Math.round(amount * 100);
```

| file | lines | risk |
|---|--:|---|
| src/cart.ts | 12 | low |
| src/money.ts | 8 | none |

More at [the guide](https://example.com/money).";

/// The session, and what a reader must find in it.
pub(super) fn session() -> (Made, Vec<String>) {
    let mut made = Made::new("Round totals to cents", "/home/dev/shop");
    let mut says = Vec::new();
    let mut say = |text: &str| {
        says.push(text.to_owned());
        text.to_owned()
    };
    made.header.as_mut().unwrap().parent_session = Some(say("earlier-session"));
    made.odd.push(say("line 7 was cut off and is left out"));

    made.add(json!({"type": "session_init", "systemPrompt": say("You are careful with money."), "task": say("Look after the shop."),
        "tools": [say("read"), say("edit")], "outputSchema": {"type": say("object-schema")}}));
    made.add(json!({"type": "model_change", "model": say("anthropic/large-4"), "role": say("planner")}));
    made.add(json!({"type": "thinking_level_change", "thinkingLevel": say("high-level")}));
    made.add(json!({"type": "service_tier_change", "serviceTier": say("flex-tier")}));
    made.user(&say("Round the totals in the cart to cents, please."));
    made.assistant(&json!([{"type": "thinking", "thinking": say("The cart has two places that add prices.")},
        {"type": "text", "text": say("I will look at the cart first.")},
        {"type": "toolCall", "id": "c1", "name": say("read_file"), "arguments": {"path": say("src/cart.ts"), "lines": [10, 90], "note": say("first part\nsecond part")}},
        {"type": "toolCall", "id": "c2", "name": "bash", "arguments": {"command": say("npm test -- cart")}}]));
    made.result(
        "read_file",
        &say("export function total(items) {\n  return items.reduce((sum, item) => sum + item.price, 0);\n}"),
        false,
    );
    made.result("bash", "\u{1b}[31mFAIL\u{1b}[0m cart.test.ts", true);
    says_more(&mut says, &["FAIL cart.test.ts"]);
    let mut say = |text: &str| {
        says.push(text.to_owned());
        text.to_owned()
    };
    let long: Vec<String> =
        (1..=60).map(|number| say(&format!("{number:03}  the line of output number {number}"))).collect();
    made.result("bash", &long.join("\n"), false);
    let answer = made.assistant(&json!([{"type": "text", "text": ANSWER}]));
    says_more(
        &mut says,
        &[
            "Where the totals are made",
            "unrounded",
            "src/money.ts",
            "toCents",
            "never on the sum",
            "A cent that is lost twice is lost for good.",
            "Math.round(amount * 100);",
            "low",
            "none",
            "the guide",
            "https://example.com/money",
        ],
    );
    let mut say = |text: &str| {
        says.push(text.to_owned());
        text.to_owned()
    };
    // A branch that was left, and one inside of it.
    let left = made.user(&say("Try it with a library instead."));
    made.assistant(&json!([{"type": "text", "text": say("A library would weigh 40 KB.")}]));
    made.add_after(Some(left), json!({"type": "message", "message": {"role": "user", "content": say("Which library is the smallest?")}}));
    made.add_after(Some(answer.clone()), json!({"type": "branch_summary", "fromId": answer, "summary": say("A library was looked at and found too heavy."),
        "details": {"note": say("branch-note")}, "fromExtension": true}));
    made.add(json!({"type": "message", "message": {"role": "user", "content": [{"type": "text", "text": say("Here is what the page shows:")},
        {"type": "image", "mimeType": "image/png", "data": PNG}, {"type": "image", "mimeType": say("image/x-lost"), "data": "blob:sha256:00"},
        {"type": "hologram", "depth": say("three-deep")}]}}));
    made.add(json!({"type": "message", "message": {"role": "assistant", "provider": "openai", "model": say("small-5"), "stopReason": "error",
        "errorMessage": say("the provider is overloaded"), "content": [], "usage": {"input": 10, "output": 0, "cost": {"total": 0.5}}}}));
    made.add(json!({"type": "compaction", "summary": say("**Rounding** moved to one place."), "shortSummary": say("rounding moved"),
        "firstKeptEntryId": "00000004", "tokensBefore": 42000, "details": {"readFiles": [say("src/a.ts")]}, "preserveData": {"hookState": say("kept-state")}}));
    says_more(&mut says, &["Rounding moved to one place.", "42,000 tokens before"]);
    says.retain(|text| !text.contains("**"));
    let mut say = |text: &str| {
        says.push(text.to_owned());
        text.to_owned()
    };
    made.add(
        json!({"type": "custom", "customType": say("my-extension"), "data": {"state": say("state-one")}}),
    );
    let named = made.add(json!({"type": "custom_message", "customType": say("reminder"), "content": say("Tests must stay green."), "display": false,
        "details": {"debug": say("debug-detail")}, "attribution": say("agent-wish")}));
    made.add(json!({"type": "label", "targetId": named, "label": say("checkpoint one")}));
    made.add(json!({"type": "ttsr_injection", "injectedRules": [say("rule-a"), say("rule-b")]}));
    made.add(json!({"type": "mcp_tool_selection", "selectedToolNames": [say("server.tool")]}));
    made.add(
        json!({"type": "mode_change", "mode": say("plan-mode"), "data": {"planFile": say("/tmp/plan.md")}}),
    );
    made.add(json!({"type": "from_the_future", "what": {"ever": say("future-value")}}));
    made.add(json!({"type": "message", "message": {"role": "bashExecution", "command": say("git status"), "output": say("clean tree"), "exitCode": 0}}));
    made.add(json!({"type": "message", "message": {"role": "developer", "content": say("Mind the gap.")}}));
    made.user(&say("Thank you. größe 日本語 👩\u{200d}💻"));
    made.assistant(&json!([{"type": "text", "text": say("Done: two files changed, all tests pass.")}]));
    (made, says)
}

fn says_more(says: &mut Vec<String>, more: &[&str]) {
    says.extend(more.iter().map(|text| (*text).to_owned()));
}
