//! Commands for which there is a better tool: rules of the user's own, and a table by the first word. Nothing here is a wall: it
//! saves the model a detour.

use regex::{Regex, RegexBuilder};

/// Bytes of an expression when it is compiled. Matching takes time in proportion to the command, whatever it is.
const MAX_COMPILED: usize = 1 << 20;

/// A rule of the user's own.
#[derive(Debug, Clone)]
pub struct InterceptorRule {
    pattern: Regex,
    tool: String,
    message: String,
}

/// Why a rule cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InterceptorRuleError {
    #[error("`{pattern}` is no regular expression: {reason}")]
    Pattern { pattern: String, reason: String },
    #[error("there is no tool `{0}`")]
    Tool(String),
}

impl InterceptorRule {
    /// # Errors
    /// If the expression is none, or there is no such tool.
    pub fn new(pattern: &str, tool: &str, message: &str) -> Result<InterceptorRule, InterceptorRuleError> {
        if crate::registry::by_name(tool).is_none() {
            return Err(InterceptorRuleError::Tool(tool.to_string()));
        }
        let compiled = RegexBuilder::new(pattern).size_limit(MAX_COMPILED).build();
        let compiled = compiled.map_err(|error| {
            let reason = error.to_string();
            let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ").to_string();
            InterceptorRuleError::Pattern { pattern: pattern.to_string(), reason }
        })?;
        Ok(InterceptorRule { pattern: compiled, tool: tool.to_string(), message: message.to_string() })
    }
}

/// Programs, what makes them meant (`None`: always), the tool, and what to say.
struct BetterTool {
    programs: &'static [&'static str],
    applies: fn(&str) -> bool,
    tool: &'static str,
    message: &'static str,
}

const TABLE: &[BetterTool] = &[
    BetterTool {
        programs: &["cat", "head", "tail", "less", "more"],
        // With a redirection or a pipe it does something else than show a file.
        applies: |rest| !rest.is_empty() && !rest.contains(['|', '>', '<']),
        tool: "read",
        message: "`read` shows files with anchors that `edit` takes",
    },
    BetterTool {
        programs: &["grep", "rg", "ripgrep", "ag", "ack"],
        applies: |_| true,
        tool: "search",
        message: "`search` finds lines by a regular expression",
    },
    BetterTool {
        programs: &["find", "fd", "locate"],
        applies: |_| true,
        tool: "find",
        message: "`find` lists files by patterns",
    },
    BetterTool {
        programs: &["sed", "perl"],
        applies: |rest| rest.split_whitespace().any(edits_in_place),
        tool: "edit",
        message: "`edit` changes files, and every change is checked",
    },
    BetterTool {
        programs: &["echo", "printf"],
        applies: writes_file,
        tool: "write",
        message: "`write` makes files",
    },
];

/// Why a command should be another tool's call; `None`: it should not. `offered` says which tools there are; what would lead to
/// another one blocks nothing.
pub(super) fn better_tool(
    command: &str,
    own: &[InterceptorRule],
    offered: &dyn Fn(&str) -> bool,
) -> Option<String> {
    let raw = command.trim();
    let lines = [Some(raw), behind_cd(raw)].into_iter().flatten();
    let mine = own.iter().filter(|rule| offered(&rule.tool));
    let mine = mine.filter(|rule| lines.clone().any(|line| rule.pattern.is_match(line)));
    let shown = relaycode_text::width::clip_for_message(raw, 200);
    let blocked = |message: &str| format!("Blocked: {message}. The command was: {shown}");
    if let Some(rule) = mine.into_iter().next() {
        return Some(blocked(rule.message.trim_end_matches('.')));
    }
    let mut usual = lines.filter_map(|line| {
        let (program, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        // `cat <<EOF > file` and the like.
        let program =
            if program == "cat" && rest.contains("<<") && writes_file(rest) { "echo" } else { program };
        TABLE.iter().find(|row| row.programs.contains(&program) && (row.applies)(rest.trim()))
    });
    usual.find(|row| offered(row.tool)).map(|row| blocked(row.message))
}

/// What follows a `cd DIR &&` at the beginning.
fn behind_cd(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("cd ")?;
    rest.split_once("&&").map(|(_, rest)| rest.trim())
}

fn edits_in_place(word: &str) -> bool {
    word.starts_with("--in-place")
        || (word.starts_with('-') && !word.starts_with("--") && word[1..].chars().take(4).any(|c| c == 'i'))
}

/// Whether it redirects into a file.
fn writes_file(rest: &str) -> bool {
    without_quoted(rest)
        .split('>')
        .skip(1)
        .any(|target| !target.trim_start().starts_with(['&', '(']) && !target.contains("/dev/null"))
}

/// With an `x` for each character that quotes or a backslash take its meaning: `echo "a -> b"` writes no file.
fn without_quoted(text: &str) -> String {
    let (mut quote, mut is_escaped) = (None, false);
    let plain = text.chars().map(|c| {
        let was_escaped = std::mem::take(&mut is_escaped);
        let is_quoted = was_escaped || quote.is_some();
        match c {
            _ if was_escaped => {}
            '\\' => is_escaped = quote != Some('\''),
            '"' | '\'' if quote == Some(c) => quote = None,
            '"' | '\'' if quote.is_none() => quote = Some(c),
            _ => {}
        }
        if is_quoted { 'x' } else { c }
    });
    plain.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_better_tool_names_it() {
        let all = |_: &str| true;
        for (command, tool) in [
            ("cat src/main.rs", Some("read")),
            ("cd src && head -5 main.rs", Some("read")),
            ("cat a | wc -l", None),
            ("tail -f log > out", None),
            ("grep -rn x .", Some("search")),
            ("  rg x", Some("search")),
            ("find . -name '*.rs'", Some("find")),
            ("sed -i s/a/b/ x", Some("edit")),
            ("sed -n 1,5p x", None),
            ("perl -pi -e s/a/b/ x", Some("edit")),
            ("echo hi > a.txt", Some("write")),
            ("echo hi >> a.txt", Some("write")),
            ("echo hi >&2", None),
            ("echo hi", None),
            ("echo 'a -> b' \"c > d\" e\\>f \"\\\"> g\"", None),
            ("echo 'it' > \"a b\"", Some("write")),
            ("cat <<EOF > a.txt\nhi\nEOF", Some("write")),
            ("printf x 2>/dev/null", None),
            ("cargo test | grep FAILED", None),
            ("catalog", None),
        ] {
            let said = better_tool(command, &[], &all);
            assert_eq!(said.is_some(), tool.is_some(), "{command}: {said:?}");
            if let (Some(said), Some(tool)) = (said, tool) {
                assert!(
                    said.starts_with(&format!("Blocked: `{tool}`"))
                        && said.contains(command.trim().lines().next().unwrap()),
                    "{said}"
                );
            }
        }
        assert_eq!(better_tool("cat a", &[], &|tool| tool != "read"), None);
    }

    #[test]
    fn rules_of_ones_own_come_first_and_count_only_where_their_tool_is_there() {
        let rule = |pattern, tool, message| InterceptorRule::new(pattern, tool, message).unwrap();
        let own = [
            rule("^npm (i|install)\\b", "ask", "Ask before a package is added."),
            rule("TODO", "search", "Search for TODO"),
        ];
        let all = |_: &str| true;
        let said = |command| better_tool(command, &own, &all);
        assert_eq!(
            said("npm install x").unwrap(),
            "Blocked: Ask before a package is added. The command was: npm install x"
        );
        assert!(said("cd web && npm i").is_some(), "behind a cd");
        assert_eq!(said("pnpm install"), None);
        assert!(said("grep -r TODO .").unwrap().contains("Search for TODO"), "before relay's own");
        assert!(said("cat a.txt").unwrap().contains("`read` shows"), "relay's own stay");
        let without_ask = |tool: &str| tool != "ask";
        assert_eq!(better_tool("npm install x", &own, &without_ask), None);
    }

    #[test]
    fn a_rule_that_cannot_be_used_says_why() {
        let error = |pattern, tool| InterceptorRule::new(pattern, tool, "m").unwrap_err().to_string();
        assert_eq!(error("(", "read"), "`(` is no regular expression: unclosed group");
        assert_eq!(error("a", "raed"), "there is no tool `raed`");
        assert!(
            error("(?:x{1000}){1000}", "read").contains("size limit"),
            "{}",
            error("(?:x{1000}){1000}", "read")
        );
    }

    #[test]
    fn an_expression_that_explodes_elsewhere_takes_time_in_proportion() {
        let own = [InterceptorRule::new("^(a+)+$", "read", "m").unwrap()];
        let began = std::time::Instant::now();
        assert_eq!(better_tool(&("a".repeat(90_000) + "!"), &own, &|_| true), None);
        assert!(began.elapsed() < std::time::Duration::from_secs(5));
    }
}
