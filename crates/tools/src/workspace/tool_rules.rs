//! The user's and the project's rules, as far as they are about tools and files: what is denied is refused with the rule's name,
//! what is asked about is asked. They are read once per prompt; a command's line reads them itself.

use std::path::Path;
use std::sync::{Arc, PoisonError};

use relaycode_project::permissions::{
    DecidingRule, PathVerb, PermissionDecision, PermissionEffect, PermissionEngine, PermissionPlace,
    PermissionRequest, PermissionStore, ReadRestrictions,
};

use super::ToolWorkspace;
use crate::host::{HostAnswer, HostQuestion, QuestionAbout};
use crate::tool::{Tool, ToolError, ToolInvocation};

const ONCE: &str = "once";
const NO: &str = "no";

impl ToolWorkspace {
    /// The rule by which a tool is not offered.
    ///
    /// # Errors
    /// If the rules cannot be read.
    pub fn rule_against_tool(&self, name: &str) -> Result<Option<String>, ToolError> {
        let decision = self.rules()?.engine.decide(&PermissionRequest::Tool(name.to_string()));
        Ok((decision.effect == PermissionEffect::Deny).then(|| decision.rule.name()))
    }

    /// Decides about a call of this tool.
    ///
    /// # Errors
    /// If it may not be carried out.
    pub fn permit_tool(&self, call: &ToolInvocation<'_>, tool: &dyn Tool) -> Result<(), ToolError> {
        self.check_tool_of_plan(tool)?;
        let name = tool.name();
        let decision = self.rules()?.engine.decide(&PermissionRequest::Tool(name.to_string()));
        // Where no rule names it, the tool itself knows what to ask about.
        match decision.rule {
            DecidingRule::Placed(_) => enforce(call, &decision, &format!("the tool `{name}`")),
            DecidingRule::Builtin(_) => Ok(()),
        }
    }

    /// Decides about reading a file or directory.
    pub(crate) fn permit_read(&self, call: &ToolInvocation<'_>, path: &Path) -> Result<(), ToolError> {
        self.permit_path(call, PathVerb::Read, path)
    }

    /// Decides about changing a file. Its old lines are shown with the change, so it has to be one that may be read.
    pub(crate) fn permit_edit(&self, call: &ToolInvocation<'_>, path: &Path) -> Result<(), ToolError> {
        self.check_not_planning(&format!("`{}`", self.shown_path(path)))?;
        self.permit_path(call, PathVerb::Read, path)?;
        self.permit_path(call, PathVerb::Edit, path)
    }

    fn permit_path(&self, call: &ToolInvocation<'_>, verb: PathVerb, path: &Path) -> Result<(), ToolError> {
        let request = PermissionRequest::Path { verb, path: path.to_path_buf() };
        let decision = self.rules()?.engine.decide(&request);
        // The access and the door have their say about changes by themselves.
        if verb == PathVerb::Edit && matches!(decision.rule, DecidingRule::Builtin(_)) {
            return Ok(());
        }
        let doing = match verb {
            PathVerb::Read => "reading",
            PathVerb::Edit => "changing",
        };
        enforce(call, &decision, &format!("{doing} `{}`", self.shown_path(path)))
    }

    /// What a search leaves out.
    pub(crate) fn rules(&self) -> Result<Arc<ReadRestrictions>, ToolError> {
        let mut kept = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(rules) = kept.as_ref() {
            return Ok(rules.clone());
        }
        let home = self.surroundings.as_ref().and_then(|surroundings| surroundings.relay_home.as_deref());
        let layers = PermissionStore::new(home).load(self.root(), &self.door.loaded).map_err(|error| {
            ToolError::refused(format!("nothing is done while the user's rules cannot be read: {error}"))
        })?;
        let place = PermissionPlace {
            root: self.root().to_path_buf(),
            directory: self.current_directory(),
            home: self.user_home.clone(),
            temporary: Vec::new(),
            access: self.access,
            is_fenced: false,
        };
        let rules = Arc::new(ReadRestrictions::new(PermissionEngine::new(layers, place)));
        *kept = Some(rules.clone());
        Ok(rules)
    }

    /// They are read again when they are needed.
    pub(super) fn forget_rules(&self) {
        *self.rules.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Refuses or asks, if that is what was decided.
fn enforce(call: &ToolInvocation<'_>, decision: &PermissionDecision, what: &str) -> Result<(), ToolError> {
    let rule = decision.rule.name();
    match decision.effect {
        PermissionEffect::Allow => return Ok(()),
        PermissionEffect::Deny => {
            return Err(ToolError::refused(format!(
                "the rule `{rule}` denies {what}. Do it another way, or tell the user what is missing"
            )));
        }
        PermissionEffect::Ask => {}
    }
    let rule_name = rule.clone();
    let reason = match &decision.rule {
        DecidingRule::Placed(_) => format!("the rule `{rule}` asks about {what}"),
        DecidingRule::Builtin(_) => decision.reasons.first().cloned().unwrap_or(rule),
    };
    let answer = call.host.ask(&HostQuestion {
        call: call.id.to_string(),
        text: format!("{reason}. Allow it?"),
        options: vec![ONCE.to_string(), NO.to_string()],
        several: false,
        default: Some(1),
        free_text: true,
        about: Some(QuestionAbout::Permission {
            command: None,
            reason: reason.clone(),
            rule: rule_name,
            always: None,
        }),
        ..HostQuestion::default()
    });
    match answer {
        HostAnswer::Options { chosen } if chosen == [0] => Ok(()),
        HostAnswer::Stop => Err(ToolError::Aborted),
        HostAnswer::Unavailable => {
            call.workspace.note_unanswered(reason.clone());
            Err(ToolError::refused(format!(
                "not done: {reason}, and there is nobody to ask. Go on without it, and say at the end that it is missing"
            )))
        }
        HostAnswer::Text { text } if !text.trim().is_empty() => {
            Err(ToolError::refused(format!("not done: the user said no: {} ({reason})", text.trim())))
        }
        HostAnswer::Options { .. } | HostAnswer::Text { .. } | HostAnswer::TimedOut => {
            Err(ToolError::refused(format!("not done: the user said no ({reason})")))
        }
    }
}
