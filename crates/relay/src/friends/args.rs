//! What can be said about whom to turn to and how, the same for every command that does.

use std::fs::File;
use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use relaycode_friend::prompt::user_context;
use relaycode_friend::{AnswerFormat, AskError, AskRequest};
use relaycode_project::access::Access;
use relaycode_project::config::{self, Config};
use rustix::fs::FileType;
use serde_json::Value;

use super::friend_context::StopCheck;
use super::group::{FriendGroup, project_root};
use super::stdin_context;
use crate::{CommandContext, CommandFailure, CommandResult, Exit};

/// Whom, with what, and how.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct FriendArgs {
    /// The friend: codex, claude, gemini, opencode, ollama, a provider of models.yml or self (relay's own agent); `ask` and `review` take several, with commas
    #[arg(long, value_name = "FRIEND,...", value_delimiter = ',')]
    pub(crate) to: Vec<String>,

    /// The model, as the friend names it
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,

    /// Seconds that it may take in all
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = parse_seconds)]
    pub(crate) timeout: Option<i64>,

    /// Seconds without a sign of life
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = parse_seconds)]
    pub(crate) idle_timeout: Option<i64>,

    /// Show the words as they come, also where stdout is no terminal; with --json an object per event
    #[arg(long, overrides_with = "no_stream")]
    stream: bool,

    /// Show the answer when it is complete
    #[arg(long, overrides_with = "stream")]
    no_stream: bool,

    /// A file that goes with it; `-`: stdin
    #[arg(long, value_name = "FILE", conflicts_with = "context")]
    pub(crate) context_file: Option<PathBuf>,

    /// Text that goes with it
    #[arg(long, value_name = "TEXT", visible_alias = "context-text", allow_hyphen_values = true)]
    pub(crate) context: Option<String>,
}

/// How a friend looks that changes nothing.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ReadOnlyArgs {
    /// A name for the conversation: what was said under it in this project is remembered
    #[arg(long, value_name = "NAME")]
    session: Option<String>,

    /// A JSON schema that the answer has to follow
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,

    /// What the friend may do: whoever is asked or reviews only reads
    #[arg(long, value_name = "ACCESS", value_parser = parse_access, default_value = "read-only", visible_alias = "sandbox")]
    access: Access,

    /// Do not compare the project with how it was before
    #[arg(long)]
    no_tree_check: bool,
}

impl ReadOnlyArgs {
    /// Finds who is to be asked, and reads what goes along. What is asked is for the command to say.
    pub(crate) fn prepare<'a>(
        &self,
        args: &FriendArgs,
        stop: StopCheck<'a>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<(FriendGroup<'a>, AskRequest)> {
        let access = self.access;
        if access.may_write() {
            return Err(CommandFailure::usage(format!(
                "with the access `{access}` a friend may change files"
            ))
            .hint("`relay do` lets it work in a copy, and shows you what it changed"));
        }
        let root = project_root(ctx)?;
        let loaded = config::load(&root, ctx.home.path.as_deref())?;
        let (group, request) =
            FriendGroup::resolve(args, self.session.as_deref(), root, &loaded.config, ctx, stop)?;
        let given = args.read_context(request.limits.total, stop, ctx)?;
        let schema = read_schema(self.schema.as_deref(), &ctx.options.directory, "--schema")?;
        let request = AskRequest {
            context: given,
            access,
            format: schema.map_or(AnswerFormat::Text, AnswerFormat::Json),
            check_tree: !self.no_tree_check,
            ..request
        };
        Ok((group, request))
    }
}

impl FriendArgs {
    /// Whether words are shown as they come: at a terminal, if they are for people (`for_people`), and where it was asked for.
    pub(crate) fn shows_words(&self, for_people: bool, ctx: &CommandContext<'_>) -> bool {
        let usual = for_people && !ctx.is_json() && std::io::stdout().is_terminal();
        self.stream || usual && !self.no_stream
    }

    pub(crate) fn friend_names(&self, config: &Config) -> Vec<String> {
        if self.to.is_empty() {
            return config.friends.default.split(',').map(str::to_string).collect();
        }
        self.to.clone()
    }

    /// What goes with the request: the file, the text, or what comes on stdin when that is a pipe, a file or a
    /// socket. That is waited for as long as the request may take in all.
    pub(crate) fn read_context(
        &self,
        total: Duration,
        stop: StopCheck<'_>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<Option<String>> {
        let named_stdin = self.context_file.as_deref() == Some(Path::new("-"));
        let free = self.context.is_none() && self.context_file.is_none();
        if named_stdin || free && stdin_has_input(stop, ctx)? {
            return read_stdin_text(total, stop, ctx);
        }
        let file = self.context_file.as_ref().map(|file| ctx.options.directory.join(file));
        Ok(user_context::resolve_context(file.as_deref(), self.context.as_deref()).map_err(AskError::from)?)
    }
}

/// What comes on stdin; `None` if that is nothing.
pub(crate) fn read_stdin_text(
    total: Duration,
    stop: StopCheck<'_>,
    ctx: &mut CommandContext<'_>,
) -> CommandResult<Option<String>> {
    let bytes = stdin_context::read_stdin(total, stop, ctx)?;
    let text = user_context::context_from_bytes(bytes, "stdin").map_err(AskError::from)?;
    Ok(Some(text).filter(|text| !text.trim().is_empty()))
}

/// Whether something was put on stdin: a pipe or a file, or a socket on which something comes. A terminal and `/dev/null`
/// bring nothing.
pub(crate) fn stdin_has_input(stop: StopCheck<'_>, ctx: &mut CommandContext<'_>) -> CommandResult<bool> {
    let kind = rustix::fs::fstat(std::io::stdin()).map(|stat| FileType::from_raw_mode(stat.st_mode));
    match kind {
        Ok(FileType::Fifo | FileType::RegularFile) => Ok(true),
        Ok(FileType::Socket) => stdin_context::wait_for_input(stop, ctx),
        _ => Ok(false),
    }
}

/// Bytes of a schema.
const MAX_SCHEMA_BYTES: u64 = 1 << 20;

/// The JSON schema in a file, as seen from where the user stands.
pub(crate) fn read_schema(
    file: Option<&Path>,
    directory: &Path,
    option: &str,
) -> CommandResult<Option<Value>> {
    let Some(file) = file.map(|file| directory.join(file)) else { return Ok(None) };
    let failed = |error: &dyn std::fmt::Display| {
        let message = format!("the schema {} cannot be read: {error}", file.display());
        CommandFailure::new(Exit::Usage, "schema", message)
            .place(file.display())
            .hint(format!("`{option}` names a file with a JSON schema; nothing was sent"))
    };
    // Looked at before it is opened: a pipe would wait for its writer.
    if !file.metadata().map_err(|error| failed(&error))?.is_file() {
        return Err(failed(&"it is no file"));
    }
    let mut text = String::new();
    let opened = File::open(&file).map_err(|error| failed(&error))?;
    opened.take(MAX_SCHEMA_BYTES + 1).read_to_string(&mut text).map_err(|error| failed(&error))?;
    if text.len() as u64 > MAX_SCHEMA_BYTES {
        return Err(failed(&format!("it has more than {MAX_SCHEMA_BYTES} bytes")));
    }
    serde_json::from_str(&text).map(Some).map_err(|error| failed(&error))
}

pub(crate) fn parse_access(name: &str) -> Result<Access, String> {
    name.parse().map_err(|error: relaycode_project::access::UnknownAccess| error.to_string())
}

/// Seconds as given, or as configured.
///
/// # Errors
/// If they are none at all.
pub(crate) fn timeout_from(given: Option<i64>, configured: u64) -> CommandResult<Duration> {
    let seconds = given.map_or(configured, |given| u64::try_from(given).unwrap_or(0));
    if seconds == 0 {
        return Err(AskError::ZeroTimeout.into());
    }
    Ok(Duration::from_secs(seconds))
}

/// Seconds; which of them make sense is said where the request is checked.
fn parse_seconds(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| "give a number of seconds, such as 600".to_string())
}
