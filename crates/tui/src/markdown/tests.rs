//! Markdown as it streams.

use super::*;
use crate::OutputStyle;
use crate::theme::{ColorDepth, Theme, ThemeStyle};

const OUTPUT: OutputStyle = OutputStyle { color: true, utf8: true, width: None };

fn plain() -> ThemeStyle {
    ThemeStyle::plain(OUTPUT)
}

fn colored() -> ThemeStyle {
    ThemeStyle::new(OUTPUT, Theme::built_in("red-claw").unwrap().into(), ColorDepth::TrueColor)
}

fn shown(text: &str, width: usize) -> String {
    markdown_lines(text, &plain(), width).join("\n")
}

const ANSWER: &str = "# Retry with backoff

I looked at `src/client.rs` first. The client sends **every** request once, and _gives up_ when the
server answers with 503. See [the notes](https://example.com/notes) and https://example.com/rfc9110.

## What changes

1. `send` goes through `with_retry`
   - at most 5 attempts
   - 0.2 s to 10 s between them, as `Retry-After` says
2. a test with a server that fails twice

- [x] the client
- [ ] the documentation

> Nothing else is touched.
> The public API stays.

```rust
fn with_retry<T>(mut send: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
    let mut wait = Duration::from_millis(200); // doubles

    loop {
        match send() {
            Err(error) if error.is_temporary() => wait *= 2,
            other => return other,
        }
    }
}
```

| file | lines | why |
|:-----|------:|-----|
| src/client.rs | 31 | the loop, and what it knows about `Retry-After` |
| tests/client.rs | 27 | a server that fails twice and then answers |

---

~~Not this.~~ Done.
";

#[test]
fn an_answer_with_everything_at_80_columns() {
    insta::assert_snapshot!(shown(ANSWER, 80));
}
