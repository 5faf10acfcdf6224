//! Whether a command of the agent's may run, and with what: the project decides and asks by this session's host, and what comes of
//! it is told to the model.

use std::path::{Path, PathBuf};

use relaycode_exec::FenceAccess;
use relaycode_project::access::Access;
use relaycode_project::fence::FenceGrants;
use relaycode_project::permissions::{
    CommandRequest, LineReading, PermissionPlace, PermissionRequest, PermissionStore, PermitAnswer,
    PermitError, PermitQuestion,
};

use crate::host::{HostAnswer, HostQuestion, QuestionAbout};
use crate::tool::{ToolError, ToolInvocation};
use crate::workspace::CommandSurroundings;

/// Characters of a command in a question.
const MAX_SHOWN: usize = 300;

const ONCE: &str = "once";
const ALWAYS: &str = "always here";
const NO: &str = "no";

/// What a command that may run is given.
#[derive(Debug)]
pub(super) struct BashPermit {
    /// `None`: it runs outside of a fence.
    pub fence: Option<(FenceAccess, FenceGrants)>,
    /// It may do more than the others of this session: what they left behind must not run in it.
    pub is_widened: bool,
    /// The rule that decided about it.
    pub rule: String,
    /// The user was asked, and said yes.
    pub is_asked: bool,
    /// It is known to do no more than look.
    pub only_looks: bool,
    /// What it is going to destroy, beneath the project.
    pub doomed: Vec<String>,
}

/// Decides about a line.
///
/// # Errors
/// If it may not run.
pub(super) fn permit(
    call: &ToolInvocation<'_>,
    surroundings: &CommandSurroundings,
    line: &str,
    (directory, temporary): (&Path, &Path),
) -> Result<BashPermit, ToolError> {
    let workspace = call.workspace;
    let shown = relaycode_text::width::clip_for_message(line, MAX_SHOWN);
    let (access, is_planning) = (workspace.command_access(), workspace.is_planning());
    let is_fenced = access != Access::Full;
    let mut temporary = vec![temporary.to_path_buf()];
    if is_fenced {
        // These are the command's own in a fence, but for a project that lies there.
        let own = ["/tmp", "/var/tmp"].map(PathBuf::from).into_iter();
        temporary.extend(own.filter(|place| !workspace.root().starts_with(place)));
    }
    let request = CommandRequest {
        request: PermissionRequest::Line(line.to_string()),
        place: PermissionPlace {
            root: workspace.root().to_path_buf(),
            directory: directory.to_path_buf(),
            home: workspace.user_home.clone(),
            temporary,
            access,
            is_fenced,
        },
        config: &workspace.door.loaded,
        store: &PermissionStore::new(surroundings.relay_home.as_deref()),
        shown: line,
        now: &format!("{:.3}", jiff::Timestamp::now()),
    };
    let mut asked = |question: &PermitQuestion| match is_planning {
        true => Err(ToolError::refused(format!(
            "the command did not run: {}. While you plan, commands can look, and nobody is asked for more",
            question.text
        ))),
        false => ask(call, line, question),
    };
    let permit = request.permit(&mut asked).map_err(|error| match error {
        PermitError::Rules(error) => {
            ToolError::refused(format!("no command runs while the user's rules cannot be read: {error}"))
        }
        PermitError::Denied { rule } if is_planning => ToolError::refused(format!(
            "`{shown}` may not run: the rule `{rule}` denies it, and while you plan commands can only look"
        )),
        PermitError::Denied { rule } => ToolError::refused(format!(
            "`{shown}` may not run: the rule `{rule}` denies it. Do it another way, or tell the user what is missing"
        )),
        PermitError::NotAllowed(error) => error,
        PermitError::NotKept(error) => ToolError::refused(format!("the rule cannot be kept: {error}")),
    })?;
    if is_planning {
        // Whatever rules give.
        let hidden = workspace.rules()?.engine.denied_reads();
        return Ok(BashPermit {
            fence: Some((FenceAccess::ReadOnly, FenceGrants { hidden, ..FenceGrants::default() })),
            is_widened: false,
            rule: permit.rule,
            is_asked: false,
            only_looks: true,
            doomed: Vec::new(),
        });
    }
    Ok(BashPermit {
        // With access ask, a function of an earlier command could stand for what a rule allows.
        is_widened: is_fenced && (permit.is_granted || access == Access::Ask),
        fence: permit.fence,
        rule: permit.rule,
        is_asked: permit.is_asked,
        only_looks: !permit.is_granted && permit.reading.as_ref().is_some_and(LineReading::only_looks),
        doomed: permit
            .reading
            .as_ref()
            .map(|reading| workspace.door.expected_losses(reading))
            .unwrap_or_default(),
    })
}

/// Asks: once, always here, no.
fn ask(call: &ToolInvocation<'_>, line: &str, question: &PermitQuestion) -> Result<PermitAnswer, ToolError> {
    let PermitQuestion { text, always, rule, reason } = question;
    let options: &[&str] = if always.is_some() { &[ONCE, ALWAYS, NO] } else { &[ONCE, NO] };
    let answer = call.host.ask(&HostQuestion {
        call: call.id.to_string(),
        text: format!("{text}. Allow it?"),
        options: options.iter().map(ToString::to_string).collect(),
        several: false,
        default: Some(options.len() - 1),
        free_text: true,
        about: Some(QuestionAbout::Permission {
            command: Some(line.to_string()),
            reason: reason.clone(),
            rule: rule.clone(),
            always: always.clone(),
        }),
        ..HostQuestion::default()
    });
    let why_not = match &answer {
        HostAnswer::Text { text } if !text.trim().is_empty() => format!(": {}", text.trim()),
        _ => String::new(),
    };
    let chosen = match answer {
        HostAnswer::Options { chosen } => chosen.first().and_then(|at| options.get(*at)).copied(),
        HostAnswer::Stop => return Err(ToolError::Aborted),
        HostAnswer::Text { .. } | HostAnswer::TimedOut => None,
        HostAnswer::Unavailable => {
            let allows = match always {
                Some(rule) => format!("the rule `{rule}` would allow it (`relay permissions add`)"),
                None => "`--access full` would run it".to_string(),
            };
            call.workspace.note_unanswered(format!("{text}; {allows}"));
            return Err(ToolError::refused(format!(
                "the command did not run: {text}, and there is nobody to ask. Go on without it, and say at the end that it \
                 is missing; {allows}"
            )));
        }
    };
    match chosen {
        Some(ONCE) => Ok(PermitAnswer::Once),
        Some(ALWAYS) => Ok(PermitAnswer::AlwaysHere),
        _ => Err(ToolError::refused(format!("the command did not run: the user said no{why_not} ({text})"))),
    }
}
