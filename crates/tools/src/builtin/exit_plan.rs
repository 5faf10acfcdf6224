//! `exit_plan`: shows the plan to the user, who approves it, says what should be different, or rejects it. What follows from that
//! is the loop's to do, once the calls of the answer are done.

use relaycode_llm::request;
use relaycode_text::plural::pluralize;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::card::{CardBody, ToolCard};
use crate::host::{HostAnswer, HostQuestion, QuestionAbout};
use crate::schema;
use crate::tool::{Tool, ToolConcurrency, ToolError, ToolInvocation, ToolOutput};
use crate::workspace::{PLAN_ADDRESS, PlanDecision, PlanVerdict, ProposedPlan, ToolWorkspace};

/// Characters of a title.
const MAX_TITLE_CHARS: usize = 80;

const APPROVE: &str = "approve";
const APPROVE_FRESH: &str = "approve, and start over with the plan alone";
const KEEP_PLANNING: &str = "keep planning";
const REJECT: &str = "reject";
/// What can become of a plan, in the order of the question.
pub const PLAN_OPTIONS: [&str; 4] = [APPROVE, APPROVE_FRESH, KEEP_PLANNING, REJECT];

pub(crate) struct ExitPlanTool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ExitPlanInput {
    /// What the plan is for, in a few words: the session is called so.
    title: String,
}

impl Tool for ExitPlanTool {
    fn name(&self) -> &'static str {
        "exit_plan"
    }

    fn definition(&self, _workspace: &ToolWorkspace) -> request::Tool {
        schema::define::<ExitPlanInput>(self.name(), include_str!("../../prompts/exit_plan.md"))
    }

    fn is_offered(&self, workspace: &ToolWorkspace) -> bool {
        workspace.has_planned()
    }

    fn concurrency(&self) -> ToolConcurrency {
        ToolConcurrency::Exclusive
    }

    fn run(&self, call: &ToolInvocation<'_>) -> Result<ToolOutput, ToolError> {
        let ExitPlanInput { title } = schema::read_input(call)?;
        let workspace = call.workspace;
        if !workspace.is_planning() {
            return Err(ToolError::refused("you are not planning: there is nothing to approve"));
        }
        let title: String = title.trim().chars().take(MAX_TITLE_CHARS).collect();
        if title.is_empty() {
            return Err(ToolError::refused("`title` is empty"));
        }
        let proposed = read_proposal(workspace, title)?;
        let (verdict, said) = match ask(call, &proposed)? {
            PlanReply::Verdict(verdict) => (Some(verdict), verdict_text(verdict).to_string()),
            PlanReply::KeepPlanning(words) => (None, keep_planning_text(&words)),
        };
        let summary = match verdict {
            Some(PlanVerdict::Approved | PlanVerdict::ApprovedFresh) => "approved",
            Some(PlanVerdict::Rejected) => "rejected",
            Some(PlanVerdict::Unanswered) => "waits for approval",
            None => "to be changed",
        };
        let said = match proposed.is_edited {
            true => format!(
                "{said}\nThe plan was edited by somebody else before that; {PLAN_ADDRESS} has it as it is."
            ),
            false => said,
        };
        let lines = pluralize(proposed.plan.lines().count(), "line");
        let card = ToolCard::new(
            format!("plan: {}", proposed.title),
            format!("{summary}, {lines}"),
            CardBody::text(proposed.plan.clone()),
        );
        let details = json!({ "title": proposed.title, "planFile": proposed.plan_file, "verdict": summary });
        if let Some(verdict) = verdict {
            workspace.decide_plan(PlanDecision { proposed, verdict });
        }
        Ok(ToolOutput::text(said, card).with_details(details))
    }
}

/// What a person answered.
enum PlanReply {
    Verdict(PlanVerdict),
    /// With their words.
    KeepPlanning(String),
}

fn read_proposal(workspace: &ToolWorkspace, title: String) -> Result<ProposedPlan, ToolError> {
    let plan = workspace.read_plan().map_err(|error| ToolError::refused(error.to_string()))?;
    let (Some(plan), Some(plan_file)) = (plan.filter(|plan| !plan.trim().is_empty()), workspace.plan_file())
    else {
        return Err(ToolError::refused(format!(
            "there is no plan: write it with `write` to {PLAN_ADDRESS} first"
        )));
    };
    let is_edited = !workspace.knows_plan(&plan);
    Ok(ProposedPlan { title, plan, plan_file, is_edited })
}

fn ask(call: &ToolInvocation<'_>, proposed: &ProposedPlan) -> Result<PlanReply, ToolError> {
    let question = |text: String, options: &[&str], default| HostQuestion {
        call: call.id.to_string(),
        text,
        options: options.iter().map(ToString::to_string).collect(),
        several: false,
        default,
        ..HostQuestion::default()
    };
    let keep = PLAN_OPTIONS.iter().position(|option| *option == KEEP_PLANNING);
    let text = format!("Carry out the plan \"{}\"?", proposed.title);
    let about = Some(QuestionAbout::Plan { title: proposed.title.clone() });
    let approval = HostQuestion { free_text: true, about, ..question(text, &PLAN_OPTIONS, keep) };
    let chosen = match call.host.ask_about_plan(proposed, &approval) {
        HostAnswer::Options { chosen } => chosen.first().and_then(|at| PLAN_OPTIONS.get(*at)).copied(),
        HostAnswer::Text { text } => return Ok(PlanReply::KeepPlanning(text)),
        HostAnswer::Stop => return Err(ToolError::Aborted),
        HostAnswer::TimedOut | HostAnswer::Unavailable => {
            return Ok(PlanReply::Verdict(PlanVerdict::Unanswered));
        }
    };
    match chosen {
        Some(APPROVE) => return Ok(PlanReply::Verdict(PlanVerdict::Approved)),
        Some(APPROVE_FRESH) => return Ok(PlanReply::Verdict(PlanVerdict::ApprovedFresh)),
        Some(REJECT) => return Ok(PlanReply::Verdict(PlanVerdict::Rejected)),
        _ => {}
    }
    match call.host.ask(&question("What should be different?".to_string(), &[], None)) {
        HostAnswer::Text { text } => Ok(PlanReply::KeepPlanning(text)),
        HostAnswer::Stop => Err(ToolError::Aborted),
        _ => Ok(PlanReply::KeepPlanning(String::new())),
    }
}

fn verdict_text(verdict: PlanVerdict) -> &'static str {
    match verdict {
        PlanVerdict::Approved | PlanVerdict::ApprovedFresh => {
            "The user approved the plan. You no longer plan."
        }
        PlanVerdict::Rejected => "The user rejected the plan: it is not carried out. You no longer plan.",
        PlanVerdict::Unanswered => {
            "Nobody can be asked now. The user reads the plan and decides later; until then you plan."
        }
    }
}

fn keep_planning_text(words: &str) -> String {
    match words.trim() {
        "" => "The user wants the plan to be better before they approve it. Ask what should be different."
            .to_string(),
        words => format!("The user wants the plan changed before they approve it: {words}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fixture::TestProject;

    fn planning() -> TestProject {
        let mut project = TestProject::new(&[("a.txt", "one\n")]);
        project.workspace.artifacts = Some(project.outside().join("session"));
        project.workspace.begin_planning().unwrap();
        project
    }

    fn choose(project: &TestProject, at: usize) {
        project.host.answers.lock().unwrap().push_back(HostAnswer::Options { chosen: vec![at] });
    }

    fn exit(project: &TestProject) -> String {
        project.text("exit_plan", json!({"title": " Round the totals "}))
    }

    #[test]
    fn without_a_plan_nothing_is_asked() {
        let project = TestProject::new(&[]);
        assert!(!ExitPlanTool.is_offered(&project.workspace));
        assert!(project.refusal("exit_plan", json!({"title": "x"})).contains("not planning"));
        let project = planning();
        assert!(ExitPlanTool.is_offered(&project.workspace));
        assert!(
            project.refusal("exit_plan", json!({"title": "x"})).contains("write it with `write` to plan://")
        );
        project.text("write", json!({"path": "plan://", "content": " \n"}));
        assert!(project.refusal("exit_plan", json!({"title": "x"})).contains("there is no plan"));
        assert!(project.refusal("exit_plan", json!({"title": " "})).contains("`title` is empty"));
        assert!(project.host.questions.lock().unwrap().is_empty());
    }

    #[test]
    fn each_answer_has_its_verdict() {
        for (at, verdict) in
            [(0, PlanVerdict::Approved), (1, PlanVerdict::ApprovedFresh), (3, PlanVerdict::Rejected)]
        {
            let project = planning();
            project.text("write", json!({"path": "plan://", "content": "1. round\n"}));
            choose(&project, at);
            exit(&project);
            let decision = project.workspace.take_plan_decision().unwrap();
            assert_eq!((decision.verdict, decision.proposed.title.as_str()), (verdict, "Round the totals"));
            assert_eq!((decision.proposed.plan.as_str(), decision.proposed.is_edited), ("1. round\n", false));
            let questions = project.host.questions.lock().unwrap();
            assert_eq!((questions[0].default, questions[0].deadline), (Some(2), None));
        }
        let project = planning();
        project.text("write", json!({"path": "plan://", "content": "1. round\n"}));
        assert!(exit(&project).contains("Nobody can be asked"));
        assert_eq!(project.workspace.take_plan_decision().unwrap().verdict, PlanVerdict::Unanswered);
    }

    #[test]
    fn keep_planning_comes_with_words_and_decides_nothing() {
        let project = planning();
        project.text("write", json!({"path": "plan://", "content": "1. round\n"}));
        choose(&project, 2);
        project.host.answers.lock().unwrap().push_back(HostAnswer::Text { text: "Add a test.".into() });
        assert!(exit(&project).contains("before they approve it: Add a test."));
        assert!(!project.workspace.is_plan_decided() && project.workspace.is_planning());
        choose(&project, 2);
        assert!(exit(&project).contains("Ask what should be different"));
        project.host.answers.lock().unwrap().push_back(HostAnswer::Stop);
        assert_eq!(project.call("exit_plan", json!({"title": "x"})), Err(ToolError::Aborted));
    }

    #[test]
    fn a_plan_that_somebody_edited_is_told_and_not_replaced_unseen() {
        let project = planning();
        project.text("write", json!({"path": "plan://", "content": "1. round\n"}));
        let file = project.workspace.plan_file().unwrap();
        std::fs::write(&file, "1. round\n2. by hand\n").unwrap();
        let refused = project.refusal("write", json!({"path": "plan://", "content": "mine\n"}));
        assert!(refused.contains("changed by somebody else"), "{refused}");
        choose(&project, 0);
        assert!(exit(&project).contains("edited by somebody else"));
        assert!(project.workspace.take_plan_decision().unwrap().proposed.plan.contains("by hand"));
        assert!(project.text("read", json!({"path": "plan://"})).contains("by hand"));
        project.text("write", json!({"path": "plan://", "content": "mine\n"}));
        std::fs::remove_file(&file).unwrap();
        assert!(project.refusal("exit_plan", json!({"title": "x"})).contains("there is no plan"));
        project.text("write", json!({"path": "plan://", "content": "again\n"}));
    }

    #[test]
    fn a_question_has_no_deadline_while_planning() {
        let project = planning();
        choose(&project, 0);
        let question = json!({"id": "c", "question": "Which?", "options": [{"label": "red"}]});
        project.text("ask", json!({"questions": [question]}));
        assert_eq!(project.host.questions.lock().unwrap()[0].deadline, None);
    }

    #[test]
    fn a_link_in_place_of_the_plan_is_not_followed() {
        let project = planning();
        let file = project.workspace.plan_file().unwrap();
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(project.path("a.txt"), &file).unwrap();
        assert!(project.refusal("read", json!({"path": "plan://"})).contains("not a regular text file"));
        assert!(project.refusal("exit_plan", json!({"title": "x"})).contains("not a regular text file"));
        project.text("write", json!({"path": "plan://", "content": "mine\n"}));
        assert_eq!(project.get("a.txt"), "one\n");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine\n");
    }

    #[test]
    fn a_link_in_place_of_the_plans_directory_leads_nowhere() {
        let project = planning();
        let directory = project.workspace.plan_file().unwrap().parent().unwrap().to_path_buf();
        let _ = std::fs::remove_dir_all(&directory);
        std::os::unix::fs::symlink(project.path("."), &directory).unwrap();
        let refused = project.refusal("write", json!({"path": "plan://", "content": "mine\n"}));
        assert!(refused.contains("cannot be used"), "{refused}");
        assert!(!project.path("plan.md").exists());
    }
}
