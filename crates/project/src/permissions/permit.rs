//! Whether a command may run, and with what: the user's rules decide, and where they do not, somebody is asked. The same for
//! every command, whoever names it; how somebody is asked, the caller knows.

use relaycode_exec::FenceAccess;
use relaycode_text::escape::escape_line;

use super::{
    BuiltinRule, CommandGrant, DecidingRule, LineReading, PermissionDecision, PermissionEffect,
    PermissionEngine, PermissionLayer, PermissionPlace, PermissionRequest, PermissionRule, PermissionStore,
    PermissionStoreError,
};
use crate::config::LoadedConfig;
use crate::fence::{CommandNeed, FenceGrants, FenceNeed, missing_needs};

/// Characters of a command in a question.
const MAX_SHOWN: usize = 2_000;
/// Reasons in a question, beside what is needed.
const MAX_REASONS: usize = 5;

/// A command that somebody wants to run: a line of a shell, or a program with arguments.
#[derive(Debug)]
pub struct CommandRequest<'a> {
    pub request: PermissionRequest,
    pub place: PermissionPlace,
    /// The project's configuration and the user's.
    pub config: &'a LoadedConfig,
    pub store: &'a PermissionStore,
    /// Its words as they would be typed, for a question. Foreign text.
    pub shown: &'a str,
    /// The time, ISO 8601 in UTC.
    pub now: &'a str,
}

/// What somebody is asked.
#[derive(Debug)]
pub struct PermitQuestion {
    /// A sentence without its end: "`npm publish` needs the network".
    pub text: String,
    /// The rule, without its effect, that would be kept if the answer were "always here"; `None`: none can allow it.
    pub always: Option<String>,
    /// The rule that has somebody asked.
    pub rule: String,
    /// The text without the command, as far as that can be told apart.
    pub reason: String,
}

/// A yes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermitAnswer {
    Once,
    /// As a rule of this project. Where no rule can allow it, it is a yes for once.
    AlwaysHere,
}

/// What a command that may run is given.
#[derive(Debug)]
pub struct CommandPermit {
    /// `None`: it runs outside of a fence.
    pub fence: Option<(FenceAccess, FenceGrants)>,
    /// It was given something that others are not.
    pub is_granted: bool,
    /// The rule that decided about it, whether it allowed it or had somebody asked.
    pub rule: String,
    /// Somebody was asked and said yes.
    pub is_asked: bool,
    /// What it starts, writes and destroys, as far as it can be read.
    pub reading: Option<LineReading>,
}

/// Why a command may not run. `E`: what came of asking.
#[derive(Debug)]
pub enum PermitError<E> {
    /// The user's rules cannot be read.
    Rules(PermissionStoreError),
    /// This rule denies it.
    Denied {
        rule: String,
    },
    NotAllowed(E),
    /// The new rule cannot be kept.
    NotKept(PermissionStoreError),
}

impl CommandRequest<'_> {
    /// Decides, and asks where that is needed.
    pub fn permit<E>(
        &self,
        ask: &mut dyn FnMut(&PermitQuestion) -> Result<PermitAnswer, E>,
    ) -> Result<CommandPermit, PermitError<E>> {
        let layers = self.store.load(&self.place.root, self.config).map_err(PermitError::Rules)?;
        let engine = PermissionEngine::new(layers, self.place.clone());
        let mut decision = engine.decide(&self.request);
        let rule = decision.rule.name();
        let own = match &self.request {
            PermissionRequest::Arguments(words) => words.as_slice(),
            _ => &[],
        };
        let needs = if self.place.is_fenced { missing_needs(own, &decision) } else { Vec::new() };
        let mut grants = decision.grants.clone();
        let is_asked = decision.effect != PermissionEffect::Deny
            && (decision.effect == PermissionEffect::Ask || !needs.is_empty());
        let question = match needs.as_slice() {
            [] => {
                let reason = decision.reasons.first().cloned().unwrap_or_else(|| decision.rule.name());
                let text = format!("`{}`: {reason}", shown_whole(self.shown));
                (text, decision.would_allow.first().cloned().unwrap_or_default())
            }
            needs => {
                let is_outside = needs.iter().any(|need| need.need == FenceNeed::Outside);
                let given = if is_outside { CommandGrant::OutsideTheFence } else { CommandGrant::Network };
                decision = decide_as_given(&engine, needs, is_outside, &self.request);
                grants.push(given);
                self.question_about(needs, is_outside, &decision)
            }
        };
        if decision.effect == PermissionEffect::Deny {
            return Err(PermitError::Denied { rule: decision.rule.name() });
        }
        if is_asked {
            self.ask(question, &rule, ask)?;
        }
        let is_outside = grants.contains(&CommandGrant::OutsideTheFence);
        let access = self.place.access.fence().filter(|_| !is_outside);
        let is_granted = !grants.is_empty();
        let fence = access.map(|access| {
            let grants = FenceGrants {
                network: grants.contains(&CommandGrant::Network),
                sockets: grants.iter().filter_map(CommandGrant::socket).collect(),
                hidden: engine.denied_reads(),
            };
            (access, grants)
        });
        Ok(CommandPermit { fence, is_granted, rule, is_asked, reading: decision.reading })
    }

    /// What is asked about a line with commands that need more than a fence gives, and the rule that a yes for always keeps. A fence
    /// is around all of a line or around none of it: so the whole line is shown, with what else speaks against it.
    fn question_about(
        &self,
        needs: &[CommandNeed],
        is_outside: bool,
        decision: &PermissionDecision,
    ) -> (String, String) {
        let shown = shown_whole(self.shown);
        let is_clean = decision.effect == PermissionEffect::Allow;
        let outside = if is_outside { ", so it would run outside the fence" } else { "" };
        if let ([need], true) = (needs, is_clean) {
            return (format!("`{shown}` {}{outside}", need.why), need.rule());
        }
        let mut reasons: Vec<String> =
            needs.iter().map(|need| format!("`{}` {}", need.command, need.why)).collect();
        let alone = DecidingRule::Builtin(BuiltinRule::GrantAlone);
        let others = decision.reasons.iter().skip(usize::from(decision.rules.first() == Some(&alone)));
        reasons.extend(others.filter(|_| !is_clean).take(MAX_REASONS).cloned());
        let gets = if is_outside { "would run outside the fence" } else { "would have the network" };
        (format!("all of `{shown}` {gets}: {}", reasons.join("; ")), String::new())
    }

    fn ask<E>(
        &self,
        (text, rule): (String, String),
        asking_rule: &str,
        ask: &mut dyn FnMut(&PermitQuestion) -> Result<PermitAnswer, E>,
    ) -> Result<(), PermitError<E>> {
        let always = PermissionRule::parse(PermissionEffect::Allow, &rule).ok();
        let command = format!("`{}`", shown_whole(self.shown));
        let reason = text.strip_prefix(&command).unwrap_or(&text);
        let reason = reason.trim_start_matches([':', ' ']).to_string();
        let always_rule = always.is_some().then_some(rule);
        let question = PermitQuestion { text, always: always_rule, rule: asking_rule.to_string(), reason };
        let answer = ask(&question).map_err(PermitError::NotAllowed)?;
        if let (PermitAnswer::AlwaysHere, Some(rule)) = (answer, always) {
            let kept = self.store.add(PermissionLayer::AlwaysHere, &self.place.root, &rule, self.now);
            kept.map_err(PermitError::NotKept)?;
        }
        Ok(())
    }
}

/// The decision if what is needed had been given by rules: what is asked about then is asked about in the same question.
fn decide_as_given(
    engine: &PermissionEngine,
    needs: &[CommandNeed],
    is_outside: bool,
    request: &PermissionRequest,
) -> PermissionDecision {
    let mut engine = engine.clone();
    engine.place.is_fenced = !is_outside;
    for need in needs {
        if let Ok(rule) = PermissionRule::parse(PermissionEffect::Allow, &need.rule()) {
            engine.layers.add(PermissionLayer::Session, rule);
        }
    }
    engine.decide(request)
}

/// A command for a question: whole where that is possible, and never without its end.
fn shown_whole(line: &str) -> String {
    let escaped = escape_line(line);
    let count = escaped.chars().count();
    if count <= MAX_SHOWN {
        return escaped.into_owned();
    }
    let (head, tail) = (MAX_SHOWN / 2, MAX_SHOWN / 2);
    let begin: String = escaped.chars().take(head).collect();
    let end: String = escaped.chars().skip(count - tail).collect();
    format!("{begin} … {} characters more … {end}", count - head - tail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Access;
    use crate::config;

    struct Scene {
        root: tempfile::TempDir,
        home: tempfile::TempDir,
    }

    impl Scene {
        fn permit(
            &self,
            words: &str,
            access: Access,
            ask: &mut dyn FnMut(&PermitQuestion) -> Result<PermitAnswer, ()>,
        ) -> Result<CommandPermit, PermitError<()>> {
            let request = PermissionRequest::Arguments(words.split(' ').map(str::to_string).collect());
            self.permit_request(request, words, access, ask)
        }

        fn permit_line(
            &self,
            line: &str,
            access: Access,
            ask: &mut dyn FnMut(&PermitQuestion) -> Result<PermitAnswer, ()>,
        ) -> Result<CommandPermit, PermitError<()>> {
            self.permit_request(PermissionRequest::Line(line.to_string()), line, access, ask)
        }

        fn permit_request(
            &self,
            request: PermissionRequest,
            shown: &str,
            access: Access,
            ask: &mut dyn FnMut(&PermitQuestion) -> Result<PermitAnswer, ()>,
        ) -> Result<CommandPermit, PermitError<()>> {
            let root = self.root.path().canonicalize().unwrap();
            let request = CommandRequest {
                request,
                place: PermissionPlace {
                    directory: root.clone(),
                    root: root.clone(),
                    home: None,
                    temporary: Vec::new(),
                    access,
                    is_fenced: access != Access::Full,
                },
                config: &config::load(&root, None).unwrap(),
                store: &PermissionStore::new(Some(self.home.path())),
                shown,
                now: "2026-01-01T00:00:00Z",
            };
            request.permit(ask)
        }
    }

    fn scene() -> Scene {
        Scene { root: tempfile::tempdir().unwrap(), home: tempfile::tempdir().unwrap() }
    }

    #[test]
    fn a_need_and_the_command_are_one_question_and_always_is_kept() {
        let scene = scene();
        let mut asked = Vec::new();
        let mut always = |question: &PermitQuestion| {
            asked.push((question.text.clone(), question.always.clone().unwrap()));
            Ok(PermitAnswer::AlwaysHere)
        };
        let permit = scene.permit("cargo fetch --locked", Access::Ask, &mut always).unwrap();
        assert!(permit.is_asked && permit.is_granted && permit.fence.unwrap().1.network);
        let question = "`cargo fetch --locked` needs the network".to_string();
        assert_eq!(asked, [(question, "cargo fetch * [network]".to_string())]);
        let mut nobody = |_: &PermitQuestion| Err(());
        let permit = scene.permit("cargo fetch --locked", Access::Ask, &mut nobody).unwrap();
        assert_eq!((permit.is_asked, permit.rule.as_str()), (false, "allow cargo fetch * [network]"));
    }

    #[test]
    fn a_yes_for_a_command_outside_of_the_fence_leaves_none_and_a_no_is_handed_on() {
        let scene = scene();
        let mut once = |question: &PermitQuestion| {
            let text = "`ssh host` needs the network and your keys, so it would run outside the fence";
            assert_eq!(question.text, text);
            Ok(PermitAnswer::Once)
        };
        assert!(scene.permit("ssh host", Access::Workspace, &mut once).unwrap().fence.is_none());
        let mut no = |_: &PermitQuestion| Err(());
        let refused = scene.permit("ssh host", Access::Workspace, &mut no);
        assert!(matches!(refused, Err(PermitError::NotAllowed(()))));
        // Without a fence nothing is missing in it.
        let permit = scene.permit("ssh host", Access::Full, &mut no).unwrap();
        assert!(permit.fence.is_none() && !permit.is_asked);
    }

    #[test]
    fn a_yes_to_one_command_is_a_yes_to_a_whole_line_that_was_shown_whole() {
        let scene = scene();
        let line = "git push; ./evil.sh; cat ~/.ssh/id_rsa";
        let mut asked = Vec::new();
        let mut no = |question: &PermitQuestion| {
            asked.push((question.text.clone(), question.always.clone()));
            Err(())
        };
        scene.permit_line(line, Access::Workspace, &mut no).unwrap_err();
        let [(text, None)] = asked.as_slice() else { panic!("{asked:?}") };
        assert!(
            text.starts_with(&format!("all of `{line}` would run outside the fence: `git push` needs")),
            "{text}"
        );
        assert!(text.contains("./evil.sh") && text.contains("id_rsa"), "{text}");
        // A rule for one command of the line does not give it to the others.
        let rule = PermissionRule::parse(PermissionEffect::Allow, "git push * [outside the fence]").unwrap();
        let store = PermissionStore::new(Some(scene.home.path()));
        let root = scene.root.path().canonicalize().unwrap();
        store.add(PermissionLayer::AlwaysHere, &root, &rule, "2026-01-01T00:00:00Z").unwrap();
        let mut no = |_: &PermitQuestion| Err(());
        for hostile in
            [line, "git push | ./evil.sh", "git push origin \"$(./evil.sh)\"", "git push & rm -rf ~/x"]
        {
            let refused = scene.permit_line(hostile, Access::Workspace, &mut no);
            assert!(matches!(refused, Err(PermitError::NotAllowed(()))), "{hostile}: {refused:?}");
        }
        assert!(
            scene.permit_line("git push origin main", Access::Workspace, &mut no).unwrap().fence.is_none()
        );
    }

    #[test]
    fn the_end_of_a_long_line_is_always_shown_and_nothing_of_it_is_raw() {
        let line = format!("echo {}; \u{1b}[2Krm -rf /", "x".repeat(100_000));
        let shown = shown_whole(&line);
        assert!(shown.starts_with("echo xxx") && shown.ends_with("; \\u{1b}[2Krm -rf /"), "{shown}");
        assert!(shown.chars().count() < MAX_SHOWN + 50);
    }
}
