//! Planning: the agent looks and thinks, writes its plan to one file beside the session, and changes nothing else until the user
//! has approved the plan.

use std::sync::Arc;

use relaycode_tools::{PlanVerdict, ProposedPlan, Tool, ToolWorkspace, registry};
use serde_json::{Value, json};

use super::{AgentMode, ModeApproval, ModeEntry, ModeOutcome};

pub(crate) const PLAN_MODE: &str = "plan";
const BEGIN: &str = include_str!("../../prompts/plan-mode.md");
const APPROVED: &str = include_str!("../../prompts/plan-approved.md");

pub(super) struct PlanMode;

impl AgentMode for PlanMode {
    fn name(&self) -> &'static str {
        PLAN_MODE
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        registry::by_name("exit_plan").into_iter().cloned().collect()
    }

    fn needs(&self) -> &'static [&'static str] {
        &["write"]
    }

    fn data(&self, workspace: &ToolWorkspace) -> Value {
        json!({ "planFile": workspace.plan_file() })
    }

    fn enter(&self, workspace: &ToolWorkspace) -> Result<ModeEntry, String> {
        let ended = workspace.begin_planning().map_err(|error| error.to_string())?;
        let earlier = match workspace.read_plan() {
            Ok(Some(_)) => "\nAn earlier plan is there: read it before you replace it.",
            _ => "",
        };
        let notices = ended
            .iter()
            .map(|label| format!("ended, since it could change something while the agent plans: {label}"));
        Ok(ModeEntry { words: format!("{}{earlier}", BEGIN.trim_end()), notices: notices.collect() })
    }

    fn restore(&self, workspace: &ToolWorkspace, data: Option<&Value>) -> Result<Vec<String>, String> {
        workspace.begin_planning().map_err(|error| error.to_string())?;
        let mut notices = Vec::new();
        let kept = data.and_then(|data| data.get("planFile")).and_then(Value::as_str);
        let here = workspace.plan_file().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
        if let Some(kept) = kept.filter(|kept| *kept != here) {
            notices.push(format!("the plan lay at {kept}; it is now looked for at {here}"));
        }
        match workspace.read_plan() {
            Ok(_) => {}
            Err(error) => notices.push(format!("the plan cannot be read: {error}")),
        }
        Ok(notices)
    }

    fn leave(&self, workspace: &ToolWorkspace) {
        workspace.end_planning();
    }

    fn take_outcome(&self, workspace: &ToolWorkspace) -> Option<ModeOutcome> {
        let decision = workspace.take_plan_decision()?;
        Some(match decision.verdict {
            PlanVerdict::Approved => ModeOutcome::GoOn(approve(&decision.proposed, false)),
            PlanVerdict::ApprovedFresh => ModeOutcome::GoOn(approve(&decision.proposed, true)),
            PlanVerdict::Rejected => ModeOutcome::End { plan: Box::new(decision), is_over: true },
            PlanVerdict::Unanswered => ModeOutcome::End { plan: Box::new(decision), is_over: false },
        })
    }

    fn is_decided(&self, workspace: &ToolWorkspace) -> bool {
        workspace.is_plan_decided()
    }
}

/// What follows from a yes to this plan.
pub(crate) fn approve(plan: &ProposedPlan, is_fresh: bool) -> ModeApproval {
    let words = APPROVED.trim_end().replace("{plan}", plan.plan.trim_end());
    ModeApproval { title: title_words(&plan.title), note: "plan-approved", words, is_fresh }
}

/// `fix_session-naming` → `Fix session naming`
fn title_words(title: &str) -> String {
    let words: Vec<&str> = title.split(['-', '_']).map(str::trim).filter(|word| !word.is_empty()).collect();
    let words = words.join(" ");
    let mut letters = words.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().collect::<String>() + letters.as_str())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_called_as_its_plan() {
        for (title, words) in [
            ("migrate-mcp-loader", "Migrate mcp loader"),
            ("fix_session_naming", "Fix session naming"),
            ("foo--bar__baz", "Foo bar baz"),
            ("RefactorRouter", "RefactorRouter"),
            ("---", ""),
            ("", ""),
        ] {
            assert_eq!(title_words(title), words);
        }
    }

    #[test]
    fn names_are_unique_and_found() {
        for mode in super::super::ALL {
            assert_eq!(super::super::by_name(mode.name()).map(AgentMode::name), Some(mode.name()));
            assert!(!mode.tools().is_empty());
        }
        assert!(super::super::by_name("none").is_none());
    }
}
