//! `relay do`: a friend works in a copy of the project; what it changed goes through the door.

use relaycode_door::{AnswerProposal, Door};
use relaycode_friend::work::saved_patch::save_patch;
use relaycode_friend::work::{self, WorkError, WorkEvent};
use relaycode_friend::{AskRequest, Friend, FriendContext, WorkOptions, WorkOutcome};
use relaycode_project::access::Access;
use relaycode_tui::clock;
use serde_json::json;

use crate::answer::consent_args::ConsentArgs;
use crate::answer::limit;
use crate::friends::args::{FriendArgs, parse_access};
use crate::friends::event_printer::FriendEventPrinter;
use crate::friends::group::FriendGroup;
use crate::friends::work_report::{self, WorkNotices, work_json};
use crate::json::ResultObject;
use crate::{
    AnswerOrigin, AnswerSource, CommandContext, CommandFailure, CommandResult, Exit, LogLevel, Project,
    SignalGuard, Submitter, answers, json, path_args, providers,
};

/// Let another agent change the project, in a copy first
///
/// The friend works in a scratch copy of the project, with your uncommitted work in it; what is not in it is said. What
/// it changed becomes one change, which is shown, judged and asked about like any other (`relay apply`), recorded, and
/// undone with `relay revert`. If it does not go in, it is kept in a file for `relay apply`.
///
/// A model server, which has no hands, is shown the files that you name and answers with a patch.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct DoArgs {
    /// What to do
    prompt: String,

    /// Files that it is about: paths, directories or globs
    files: Vec<String>,

    #[command(flatten)]
    friend_args: FriendArgs,

    /// Refused, with a word on what to use.
    #[arg(long, value_name = "NAME", hide = true)]
    session: Option<String>,

    /// What the friend may do in its copy: workspace or full
    #[arg(long, value_name = "ACCESS", value_parser = parse_access, default_value = "workspace", visible_alias = "sandbox")]
    access: Access,

    #[command(flatten)]
    consent_args: ConsentArgs,

    /// Change limits: text=8M,files=500,file=4M,hunks=5000
    #[arg(long, value_name = "NAME=N,...", value_parser = limit::LimitOverrides::parse, default_value = "", hide_default_value = true)]
    limit: limit::LimitOverrides,

    /// Let the friend run the project's check in its copy: what it wrote is run there before you see it
    #[arg(long)]
    run_check: bool,

    /// Do not compare the project with how it was before
    #[arg(long)]
    no_tree_check: bool,
}

impl DoArgs {
    pub(crate) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        if self.session.is_some() {
            let said = "`relay do` starts afresh each time, so it takes no --session";
            return Err(
                CommandFailure::usage(said).hint("`relay ask --session NAME` goes on with a conversation")
            );
        }
        let held = SignalGuard::acquire()?;
        let stop = || held.stop_requested();
        let project = Project::open(ctx)?;
        project.recover(ctx)?;
        let (root, config) = (project.root.clone(), &project.config()?.config);
        let (group, request) = FriendGroup::resolve(&self.friend_args, None, root, config, ctx, &stop)?;
        let given = AskRequest {
            prompt: self.prompt.clone(),
            access: self.access,
            check_tree: !self.no_tree_check,
            ..request
        };
        let Some((friend, request)) = group.single_friend(&given) else {
            return Err(CommandFailure::usage("only one friend can work at a time, but several are named")
                .hint("name one of them after --to"));
        };
        let files = path_args::expand_paths(&project.root, &ctx.options.directory, &self.files)?;
        let given = self.friend_args.read_context(request.limits.total, &stop, ctx)?;
        // Of one without hands the answer is the patch, which is shown as a plan.
        let live_text = self.friend_args.shows_words(friend.abilities().writes_files, ctx);
        let request = AskRequest { context: given, live_text, ..request };
        let door = project.into_door(ctx)?;
        let request = AskRequest { check: self.trusted_check(&door)?, ..request };
        let options = WorkOptions { files, limits: self.limit.change_limits(door.limits()) };
        let (worked, notices) =
            self.run_friend(friend, &request, &options, &door, &group.friend_context, ctx);
        match worked {
            Ok(outcome) => FriendWork { args: self, friend, outcome, notices }.submit(&door, ctx),
            Err(error) => Ok(work_report::report_error(friend.name(), error, &notices, ctx)),
        }
    }
}

impl DoArgs {
    /// The project's check, if the friend may run it: one that the user has trusted.
    fn trusted_check(&self, door: &Door) -> CommandResult<Option<String>> {
        let check = door.config().patch.linter.trim();
        if !self.run_check {
            return Ok(None);
        }
        if check.is_empty() {
            return Err(CommandFailure::usage("this project has no check to run")
                .hint("set `linter`, or leave --run-check out"));
        }
        if !door.trust_state().allows() {
            let said = format!("the check `{check}` is not trusted yet; nothing was sent");
            return Err(CommandFailure::new(Exit::NotTrusted, "notTrusted", said)
                .hint("`relay trust` shows it and asks"));
        }
        Ok(Some(check.to_string()))
    }
}

/// What a friend did, and what is known of it already.
struct FriendWork<'a> {
    args: &'a DoArgs,
    friend: &'a dyn Friend,
    outcome: WorkOutcome,
    notices: WorkNotices,
}

impl DoArgs {
    /// Lets the friend work, and tells how it goes.
    fn run_friend(
        &self,
        friend: &dyn Friend,
        request: &AskRequest,
        options: &WorkOptions,
        door: &Door,
        world: &FriendContext<'_>,
        ctx: &mut CommandContext<'_>,
    ) -> (Result<WorkOutcome, WorkError>, WorkNotices) {
        let mut already = WorkNotices::default();
        let mut copying = providers::start_spinner(ctx, "copying the project");
        let mut listener: Option<FriendEventPrinter> = None;
        let name = friend.name().to_string();
        let worked = work::work(friend, request, options, door, world, &mut |heard| match heard {
            WorkEvent::Copying(progress) => {
                if let Some(copying) = &copying {
                    copying.push_output(work_report::copy_progress_line(progress).as_bytes());
                }
            }
            WorkEvent::Copied { files, left_out, sandbox } => {
                copying = None;
                work_report::report_copy(&name, files, &left_out, &sandbox, ctx);
                (already.left_out, already.sandbox) = (left_out, sandbox);
            }
            WorkEvent::Friend(event) => {
                copying = None;
                let listener = listener.get_or_insert_with(|| {
                    FriendEventPrinter::new(vec![name.clone()], request.live_text, ctx)
                });
                listener.print_event(0, &event, ctx);
            }
        });
        drop(copying);
        already.answer_shown = listener.as_ref().is_some_and(FriendEventPrinter::has_printed_text);
        if let Some(mut listener) = listener {
            listener.finish(ctx);
        }
        (worked, already)
    }
}

impl FriendWork<'_> {
    fn print_text(&self, ctx: &mut CommandContext<'_>) {
        if !self.notices.answer_shown {
            ctx.print_info(&answers::answer_text(&self.outcome.answer.text, &ctx.style()));
        }
    }

    /// Takes what the friend did through the door. If it does not go in, it stays in a file.
    fn submit(mut self, door: &Door, ctx: &mut CommandContext<'_>) -> CommandResult {
        // Of one without hands the answer is the patch itself, which is shown as a plan.
        if self.friend.abilities().writes_files {
            self.print_text(ctx);
        }
        for said in &self.outcome.answer.remarks {
            ctx.eprint_remark(LogLevel::Warn, said);
        }
        work_report::report_project_changes(self.friend.name(), &self.outcome.tree_check, ctx);
        let Some(proposal) = self.outcome.proposal.take() else { return Ok(self.report_no_change(ctx)) };
        let FriendWork { args, friend, outcome: worked, notices } = &self;
        let home = ctx.home.path.as_deref();
        let kept = save_patch(home, friend.name(), &door.project_id(), &proposal, &clock::now_utc())
            .unwrap_or_else(|lost| work_report::save_temp_file(*lost, ctx));
        let source = AnswerSource {
            limits: args.limit.change_limits(door.limits()),
            consent: args.consent_args.to_consent(),
            diff: args.consent_args.diff,
            file: kept.path.clone(),
            ..AnswerSource::new(AnswerOrigin::Friend(friend.name().to_string()), ctx)
        };
        let answer = AnswerProposal::new(proposal, &worked.answer.text);
        let submitter = Submitter { door, source: &source, is_batch: false };
        let ending = submitter.submit(&answer, None, None, ctx)?.result;
        work_report::report_left_out(worked, &notices.left_out, ctx);
        let applied = ending.exit == Exit::Done || ending.exit == Exit::DiskDoubt;
        if !(applied || worked.tree_check.changes.is_empty()) {
            let said = "that is said of this change alone; what changed while it ran is named above";
            ctx.eprint_remark(LogLevel::Error, said);
        }
        if let (true, Some(path)) = (applied, &kept.path) {
            // It is of no use any more; one that stays is among those that go by and by.
            let _ = std::fs::remove_file(path);
        }
        let kept = Some(kept).filter(|_| !applied);
        if let Some(kept) = &kept {
            work_report::report_saved_patch(kept, ctx);
        }
        let exit = exit_after_work(ending.exit, worked);
        ctx.print_json(&work_json(worked, exit, ending.json, kept.as_ref()));
        Ok(exit)
    }

    /// The friend wants nothing changed.
    fn report_no_change(&self, ctx: &mut CommandContext<'_>) -> Exit {
        if !self.friend.abilities().writes_files {
            return self.report_no_patch(ctx);
        }
        let exit = exit_after_work(Exit::Done, &self.outcome);
        let object = ResultObject::new("do", exit, json!({"applied": false, "id": null}));
        ctx.print_json(&work_json(&self.outcome, exit, object, None));
        let place = if self.outcome.tree_check.is_unchanged() { "" } else { " in its copy" };
        ctx.print_success(&format!("{} changed nothing{place}", self.friend.name()));
        work_report::report_left_out(&self.outcome, &self.notices.left_out, ctx);
        exit
    }

    /// A friend without hands said something, and it is no patch.
    fn report_no_patch(&self, ctx: &mut CommandContext<'_>) -> Exit {
        self.print_text(ctx);
        let said = format!("{} answered in words, without a patch", self.friend.name());
        let failure = CommandFailure::new(Exit::NoAnswer, "noPatch", said)
            .hint("name the files that it has to see, and say what to change; `relay ask` is for questions")
            .unchanged();
        let became = json!({"applied": false, "id": null, "error": json::to_value(&failure)});
        let object = ResultObject::new("do", failure.exit, became);
        ctx.print_json(&work_json(&self.outcome, failure.exit, object, None));
        ctx.console.report_failure(&failure, "do", false);
        failure.exit
    }
}

/// How it ends: files that changed in the project itself are for somebody to look at.
fn exit_after_work(exit: Exit, worked: &WorkOutcome) -> Exit {
    if exit == Exit::Done && worked.tree_check.needs_attention() { Exit::NeedsYou } else { exit }
}
