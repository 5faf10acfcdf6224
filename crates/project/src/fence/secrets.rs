//! What of the user's home no command in a fence sees: keys, tokens, and what lets somebody be the user elsewhere.

use std::fs;
use std::path::{Path, PathBuf};

/// From the home directory.
const SECRETS: &[&str] = &[
    // Keys, and where passwords are.
    ".ssh",
    ".gnupg",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".password-store",
    ".pki",
    ".config/op",
    ".config/Bitwarden",
    ".config/1Password",
    ".config/keepassxc",
    ".config/age",
    ".config/sops",
    ".vault-token",
    ".netrc",
    ".authinfo",
    ".authinfo.gpg",
    ".pgpass",
    ".my.cnf",
    // Browsers and mail.
    ".mozilla",
    ".thunderbird",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/vivaldi",
    ".config/opera",
    ".var/app",
    "snap/firefox",
    // Clouds.
    ".aws",
    ".azure",
    ".config/gcloud",
    ".config/doctl",
    ".config/hcloud",
    ".config/rclone",
    ".kube",
    ".docker",
    ".config/containers",
    ".s3cfg",
    ".boto",
    ".terraform.d/credentials.tfrc.json",
    ".terraformrc",
    ".fly",
    ".config/heroku",
    ".config/netlify",
    ".local/share/com.vercel.cli",
    // Where code and packages go.
    ".git-credentials",
    ".config/git/credentials",
    ".config/gh",
    ".config/hub",
    ".config/glab-cli",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".config/composer/auth.json",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
    ".nuget/NuGet/NuGet.Config",
    // Agents.
    ".claude/.credentials.json",
    ".claude.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".config/github-copilot",
    ".qwen/oauth_creds.json",
    ".local/share/opencode/auth.json",
    // What was typed.
    ".bash_history",
    ".zsh_history",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
];

/// What of relay's own directory is no secret: what commands keep there.
const RELAY_OPEN: &str = "cache";

/// The secrets that exist.
pub(super) fn find(user_home: Option<&Path>, relay_home: Option<&Path>) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    if let Some(home) = user_home {
        found.extend(SECRETS.iter().map(|name| home.join(name)).filter(|path| path.exists()));
    }
    let entries = relay_home.into_iter().flat_map(fs::read_dir).flatten().flatten();
    found.extend(entries.filter(|entry| entry.file_name() != RELAY_OPEN).map(|entry| entry.path()));
    found
}
