//! A rule that watches answers: what it looks for, in which part of them, and whether it stops them.

use globset::{GlobBuilder, GlobMatcher};
use relaycode_project::config::RuleInterruptMode;
use relaycode_text::width::clip_for_message;

use super::pattern::{StreamPattern, check_expression};
use crate::prompt::instructions::InstructionOwner;
use crate::prompt::rules::AgentRule;

/// Conditions, scopes and globs that one rule may have, of each.
const MAX_ITEMS: usize = 20;
/// Bytes of one of them.
const MAX_ITEM_BYTES: usize = 1_000;
/// Cells of one of them in a remark.
const MAX_SHOWN_CELLS: usize = 60;

/// The part of an answer that a text belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamSource<'a> {
    Text,
    Thinking,
    Tool(&'a str),
}

/// A rule that can be matched.
#[derive(Debug)]
pub struct StreamRule {
    pub(super) name: String,
    pub(super) owner: InstructionOwner,
    pub(super) path: String,
    pub(super) text: String,
    pub(super) pattern: StreamPattern,
    pub(super) interrupt_mode: Option<RuleInterruptMode>,
    scope: RuleScope,
    /// Of files, one of which the call has to be about.
    globs: Vec<GlobMatcher>,
}

#[derive(Debug, Default)]
struct RuleScope {
    text: bool,
    thinking: bool,
    any_tool: bool,
    tools: Vec<ToolScope>,
}

#[derive(Debug)]
struct ToolScope {
    name: String,
    glob: Option<GlobMatcher>,
}

impl StreamSource<'_> {
    pub(super) fn is_stopped_by(self, mode: RuleInterruptMode) -> bool {
        match mode {
            RuleInterruptMode::Always => true,
            RuleInterruptMode::ProseOnly => !matches!(self, StreamSource::Tool(_)),
            RuleInterruptMode::ToolOnly => matches!(self, StreamSource::Tool(_)),
            RuleInterruptMode::Never => false,
        }
    }
}

impl StreamRule {
    /// Makes a rule that can be matched; what of it cannot be is told. `None`: it watches nothing.
    pub(super) fn new(rule: &AgentRule, remarks: &mut Vec<String>) -> Option<StreamRule> {
        let mut remark = |what: &str, why: &str| remarks.push(format!("rule {}: {what} {why}", rule.path));
        for (items, what) in
            [(&rule.conditions, "conditions"), (&rule.scope, "scopes"), (&rule.globs, "globs")]
        {
            if items.len() > MAX_ITEMS {
                remark(&format!("of its {what}"), &format!("the first {MAX_ITEMS} count"));
            }
        }
        let mut scope = RuleScope::default();
        let mut expressions = Vec::new();
        for condition in rule.conditions.iter().take(MAX_ITEMS) {
            let is_glob = looks_like_glob(condition);
            if let Some(glob) = glob(condition).filter(|_| is_glob) {
                for name in ["edit", "write"] {
                    scope.tools.push(ToolScope { name: name.to_string(), glob: Some(glob.clone()) });
                }
                continue;
            }
            let checked = match condition.len() {
                0..=MAX_ITEM_BYTES => check_expression(condition),
                _ => Err("it is too long".to_string()),
            };
            match checked {
                Ok(()) => expressions.push(condition.as_str()),
                Err(why) => {
                    remark(&format!("the condition {}", quote(condition)), &format!("cannot be used: {why}"));
                }
            }
        }
        let matches_files = !scope.tools.is_empty();
        if expressions.is_empty() {
            if !matches_files {
                return None;
            }
            // Files alone: everything that is written to them.
            expressions.push("");
        }
        for token in rule.scope.iter().take(MAX_ITEMS) {
            if !scope.add(token) {
                remark(&format!("the scope {}", quote(token)), "is not known, so it is left out");
            }
        }
        if rule.scope.is_empty() && !matches_files {
            scope = RuleScope { text: true, any_tool: true, ..RuleScope::default() };
        }
        let mut globs = Vec::new();
        for text in rule.globs.iter().take(MAX_ITEMS) {
            match glob(text) {
                Some(glob) => globs.push(glob),
                None => remark(&format!("the glob {}", quote(text)), "cannot be used"),
            }
        }
        let lost_globs = globs.is_empty() && !rule.globs.is_empty();
        let reaches_calls = scope.any_tool || !scope.tools.is_empty();
        let reaches_prose = (scope.text || scope.thinking) && globs.is_empty();
        if lost_globs || !(reaches_calls || reaches_prose) {
            remark("its scope", "names nothing that is watched");
            return None;
        }
        let own_mode = rule.interrupt_mode.as_deref();
        let interrupt_mode = own_mode.and_then(RuleInterruptMode::from_name);
        if let (Some(name), None) = (own_mode, interrupt_mode) {
            remark(&format!("the interruptMode {}", quote(name)), "is not known, so it is left out");
        }
        Some(StreamRule {
            name: rule.name.clone(),
            owner: rule.owner,
            path: rule.path.clone(),
            text: rule.text.clone(),
            pattern: StreamPattern::new(&expressions)
                .map_err(|why| remark("its conditions", &format!("cannot be used together: {why}")))
                .ok()?,
            interrupt_mode,
            scope,
            globs,
        })
    }

    /// Whether the rule looks at this part of an answer at all, whatever files it is about.
    pub(super) fn watches(&self, source: StreamSource<'_>) -> bool {
        match source {
            StreamSource::Text => self.scope.text && self.globs.is_empty(),
            StreamSource::Thinking => self.scope.thinking && self.globs.is_empty(),
            StreamSource::Tool(name) => {
                self.scope.any_tool || self.scope.tools.iter().any(|tool| tool.name == name)
            }
        }
    }

    /// Whether it counts for these files.
    pub(super) fn covers(&self, source: StreamSource<'_>, paths: &[String]) -> bool {
        let StreamSource::Tool(name) = source else { return self.watches(source) };
        let is_one = |glob: &GlobMatcher| paths.iter().any(|path| glob.is_match(path));
        let in_scope = self.scope.any_tool
            || self.scope.tools.iter().any(|tool| tool.name == name && tool.glob.as_ref().is_none_or(is_one));
        in_scope && (self.globs.is_empty() || self.globs.iter().any(is_one))
    }
}

impl RuleScope {
    /// Whether the token means something.
    fn add(&mut self, token: &str) -> bool {
        match token {
            "text" => self.text = true,
            "thinking" => self.thinking = true,
            "tool" | "toolcall" => self.any_tool = true,
            _ => {
                let token = token.strip_prefix("tool:").unwrap_or(token);
                let (name, files) = match token.strip_suffix(')').and_then(|inner| inner.split_once('(')) {
                    Some((name, files)) => (name, Some(files)),
                    None => (token, None),
                };
                let is_name = !name.is_empty()
                    && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
                let glob = files.map(glob);
                if !is_name || matches!(glob, Some(None)) {
                    return false;
                }
                self.tools.push(ToolScope { name: name.to_string(), glob: glob.flatten() });
            }
        }
        true
    }
}

/// A glob of paths; one without a slash means names anywhere.
fn glob(text: &str) -> Option<GlobMatcher> {
    if text.len() > MAX_ITEM_BYTES {
        return None;
    }
    let whole = if text.contains('/') { text.to_string() } else { format!("**/{text}") };
    let glob = GlobBuilder::new(whole.trim_start_matches("./")).literal_separator(true).build().ok()?;
    Some(glob.compile_matcher())
}

/// `*.rs` or `src/**/*.ts`, which as expressions would mean something else or nothing; `//.*TODO` is none.
fn looks_like_glob(condition: &str) -> bool {
    let has_star = condition.starts_with('*')
        || (condition.contains('*') && condition.contains('/') && !condition.contains(".*"));
    has_star && !condition.contains(|c: char| c.is_whitespace() || "\\()|^$+".contains(c))
}

fn quote(text: &str) -> String {
    format!("`{}`", clip_for_message(text, MAX_SHOWN_CELLS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prompt::instructions::InstructionOwner;

    fn made(conditions: &[&str], scope: &[&str], globs: &[&str]) -> AgentRule {
        let own = |texts: &[&str]| texts.iter().map(|text| (*text).to_string()).collect::<Vec<_>>();
        AgentRule {
            name: "rule".into(),
            owner: InstructionOwner::User,
            path: "rules/rule.md".into(),
            text: "Do not.".into(),
            globs: own(globs),
            always_apply: false,
            description: None,
            conditions: own(conditions),
            scope: own(scope),
            interrupt_mode: None,
        }
    }

    fn read(rule: &AgentRule) -> (Option<StreamRule>, Vec<String>) {
        let mut remarks = Vec::new();
        (StreamRule::new(rule, &mut remarks), remarks)
    }

    #[test]
    fn without_a_scope_text_and_tools_are_watched_and_thinking_is_not() {
        let rule = read(&made(&["x"], &[], &[])).0.unwrap();
        assert!(rule.watches(StreamSource::Text) && rule.watches(StreamSource::Tool("bash")));
        assert!(!rule.watches(StreamSource::Thinking));
    }

    #[test]
    fn a_scope_names_parts_tools_and_files() {
        let rule = read(&made(&["x"], &["thinking", "tool:edit(*.ts)", "write(src/**)"], &[])).0.unwrap();
        assert!(rule.watches(StreamSource::Thinking) && !rule.watches(StreamSource::Text));
        let covers = |tool, path: &str| rule.covers(StreamSource::Tool(tool), &[path.to_string()]);
        assert!(covers("edit", "a/b.ts") && !covers("edit", "a/b.rs"));
        assert!(covers("write", "src/x/y") && !covers("write", "lib/x") && !covers("bash", "src/x"));
    }

    #[test]
    fn a_condition_that_is_a_glob_means_every_write_to_such_files() {
        let rule = read(&made(&["*.generated.ts"], &[], &[])).0.unwrap();
        let covers = |tool, path: &str| rule.covers(StreamSource::Tool(tool), &[path.to_string()]);
        assert!(covers("edit", "x/a.generated.ts") && covers("write", "a.generated.ts"));
        assert!(!covers("edit", "a.ts") && !rule.watches(StreamSource::Text));
        assert!(looks_like_glob("src/**/*.rs") && !looks_like_glob("a.*b") && !looks_like_glob("//.*TODO"));
    }

    #[test]
    fn globs_leave_out_what_is_about_no_file() {
        let rule = read(&made(&["x"], &[], &["*.rs"])).0.unwrap();
        assert!(!rule.watches(StreamSource::Text));
        assert!(rule.covers(StreamSource::Tool("edit"), &["a.py".into(), "b.rs".into()]));
        assert!(!rule.covers(StreamSource::Tool("edit"), &[]));
    }

    #[test]
    fn what_cannot_be_used_is_told_and_the_rest_counts() {
        let mut made_up = made(&["(", "good"], &["nowhere to be seen", "text"], &[]);
        made_up.interrupt_mode = Some("sometimes".into());
        let (rule, remarks) = read(&made_up);
        assert_eq!(rule.unwrap().interrupt_mode, None);
        assert_eq!(
            remarks,
            [
                "rule rules/rule.md: the condition `(` cannot be used: unclosed group",
                "rule rules/rule.md: the scope `nowhere to be seen` is not known, so it is left out",
                "rule rules/rule.md: the interruptMode `sometimes` is not known, so it is left out",
            ]
        );
        let (rule, remarks) = read(&made(&["("], &[], &[]));
        assert!(rule.is_none() && remarks.len() == 1);
    }

    #[test]
    fn a_scope_that_reaches_nothing_leaves_the_rule_out() {
        for (scope, globs) in [(&["!"][..], &[][..]), (&["text"], &["*.rs"]), (&[], &["[", "{"])] {
            let (rule, remarks) = read(&made(&["x"], scope, globs));
            assert!(rule.is_none(), "{scope:?} {globs:?}");
            assert_eq!(
                remarks.last().unwrap(),
                "rule rules/rule.md: its scope names nothing that is watched"
            );
        }
    }

    #[test]
    fn more_conditions_and_longer_ones_than_a_rule_may_have_are_left_out() {
        let many: Vec<String> = (0..30).map(|at| format!("x{at}y")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let (rule, remarks) = read(&made(&many, &[], &[]));
        assert!(rule.is_some());
        assert_eq!(remarks, ["rule rules/rule.md: of its conditions the first 20 count"]);
        let long = "x".repeat(MAX_ITEM_BYTES + 1);
        assert!(read(&made(&[&long], &[], &[])).0.is_none());
        let wide = "\\w".repeat(300);
        let (rule, remarks) = read(&made(&[&wide], &[], &[]));
        assert!(rule.is_none() && remarks[0].ends_with("cannot be used: it is too large"), "{remarks:?}");
    }
}
