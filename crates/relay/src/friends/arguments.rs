//! What can be said about whom to turn to and how, the same for every command that does.

use std::path::PathBuf;
use std::time::Duration;

use relaycode_project::access::Access;
use relaycode_project::config::Config;

/// Whom, and how.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Whom {
    /// The friend: codex, claude, gemini, opencode, ollama or a provider of models.yml; several with commas
    #[arg(long, value_name = "FRIEND,...", value_delimiter = ',')]
    pub(crate) to: Vec<String>,

    /// The model, as the friend names it
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,

    /// Seconds that it may take in all
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub(crate) timeout: Option<i64>,

    /// Seconds without a sign of life
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub(crate) idle_timeout: Option<i64>,

    /// A name for the conversation: what was said under it before is remembered
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,

    /// Show the words as they come; with --json an object per event
    #[arg(long)]
    pub(crate) stream: bool,
}

/// What goes with the request.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct With {
    /// A file that goes with it; `-`: stdin
    #[arg(long, value_name = "FILE", conflicts_with = "context")]
    pub(crate) context_file: Option<PathBuf>,

    /// Text that goes with it
    #[arg(long, value_name = "TEXT", visible_alias = "context-text", allow_hyphen_values = true)]
    pub(crate) context: Option<String>,
}

impl Whom {
    /// Who is asked, in this order.
    pub(crate) fn names(&self, config: &Config) -> Vec<String> {
        if self.to.is_empty() {
            return config.friends.default.split(',').map(str::to_string).collect();
        }
        self.to.clone()
    }
}

/// Reads an access by any of its names.
pub(crate) fn access(name: &str) -> Result<Access, String> {
    name.parse().map_err(|error: relaycode_project::access::UnknownAccess| error.to_string())
}

/// Seconds as given, or as configured. Zero and less are left for whoever refuses them.
pub(crate) fn seconds(given: Option<i64>, configured: u64) -> Duration {
    match given {
        Some(given) => Duration::from_secs(u64::try_from(given).unwrap_or(0)),
        None => Duration::from_secs(configured),
    }
}
