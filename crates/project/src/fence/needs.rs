//! Known commands that need more than a fence gives: a table by words. What is not in it is tried, and fails in the fence.

/// What a command needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FenceNeed {
    /// The machine's network.
    Network,
    /// To run without a fence: it uses the user's keys, another user's rights, or a service that can do anything.
    Outside,
}

use crate::permissions::{BuiltinRule, CommandArgument, CommandGrant, DecidingRule, PermissionDecision};

/// What a known command needs, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandNeed {
    /// Its words: `npm publish`.
    pub command: String,
    pub need: FenceNeed,
    /// The end of a sentence that begins with the command.
    pub why: &'static str,
}

impl CommandNeed {
    /// The rule that gives it, without its effect.
    pub fn rule(&self) -> String {
        let grant = match self.need {
            FenceNeed::Network => "network",
            FenceNeed::Outside => "outside the fence",
        };
        format!("{} * [{grant}]", self.command)
    }
}

/// Programs, the words behind them (any of these; none: whatever follows), what they need and why.
#[rustfmt::skip]
const NEEDS: &[(&str, &str, FenceNeed, &str)] = &[
    ("git", "push pull fetch clone ls-remote send-email", FenceNeed::Outside, NETWORK_AND_KEYS),
    ("ssh scp sftp ssh-add mosh", "", FenceNeed::Outside, NETWORK_AND_KEYS),
    ("gh glab hub", "", FenceNeed::Outside, NETWORK_AND_KEYS),
    ("aws az gcloud gsutil kubectl helm terraform tofu pulumi flyctl doctl vercel netlify heroku wrangler firebase", "", FenceNeed::Outside, NETWORK_AND_KEYS),
    ("docker docker-compose podman nerdctl", "", FenceNeed::Outside, "talks to a service that can do anything on this machine"),
    ("sudo doas su pkexec", "", FenceNeed::Outside, "becomes another user, which no command in a fence can"),
    ("systemctl journalctl crontab at apt apt-get dnf yum pacman apk zypper brew snap flatpak rustup", "", FenceNeed::Outside, "changes this machine, outside of the project"),
    ("npm pnpm yarn bun", "publish unpublish login logout adduser add-user whoami owner access token dist-tag deprecate org team star profile hook", FenceNeed::Outside, NETWORK_AND_KEYS),
    ("npm pnpm yarn bun", "ci install i add update upgrade up audit outdated view info search create dlx exec x init pack-remote", FenceNeed::Network, NETWORK),
    ("npx pnpx bunx", "", FenceNeed::Network, NETWORK),
    ("cargo", "publish login logout owner yank", FenceNeed::Outside, NETWORK_AND_KEYS),
    ("cargo", "search install update fetch add info audit", FenceNeed::Network, NETWORK),
    ("uv poetry pdm hatch flit maturin", "publish upload", FenceNeed::Outside, NETWORK_AND_KEYS),
    ("pip pip3 pipx uv poetry pdm pipenv conda mamba", "install download index search add sync lock update upgrade create", FenceNeed::Network, NETWORK),
    ("twine", "upload register", FenceNeed::Outside, NETWORK_AND_KEYS),
    ("go", "get install", FenceNeed::Network, NETWORK),
    ("gem", "push signin signout yank owner", FenceNeed::Outside, NETWORK_AND_KEYS),
    ("gem bundle", "install update fetch outdated", FenceNeed::Network, NETWORK),
    ("composer", "install update require create-project", FenceNeed::Network, NETWORK),
    ("mix", "hex.publish hex.user hex.owner", FenceNeed::Outside, NETWORK_AND_KEYS),
    ("mix", "deps.get deps.update", FenceNeed::Network, NETWORK),
    ("dotnet", "restore publish add", FenceNeed::Network, NETWORK),
    ("curl wget http https httpie aria2c nc ncat netcat telnet ftp lftp ping dig nslookup host whois traceroute", "", FenceNeed::Network, NETWORK),
];

const NETWORK: &str = "needs the network";
const NETWORK_AND_KEYS: &str = "needs the network and your keys";

/// With one of these words a command of the table needs nothing.
const WITHOUT: &[&str] = &["--offline", "--no-index", "--help", "-h", "--version", "--frozen-offline"];

/// Options of which the next word is the value, before the first word that counts.
const WITH_VALUE: &[&str] =
    &["-C", "-c", "--git-dir", "--work-tree", "--prefix", "--config", "--cwd", "--manifest-path"];

/// What a command needs, by its words. `None`: nothing that is known of.
///
/// ```
/// use relaycode_project::fence::{FenceNeed, find_need};
///
/// let need = find_need(&["npm", "--silent", "publish"]).unwrap();
/// assert_eq!((need.command.as_str(), need.need), ("npm publish", FenceNeed::Outside));
/// assert_eq!(need.rule(), "npm publish * [outside the fence]");
/// assert!(find_need(&["npm", "ci", "--offline"]).is_none());
/// ```
pub fn find_need(words: &[&str]) -> Option<CommandNeed> {
    let (program, rest) = words.split_first()?;
    let program = program.rsplit('/').next().unwrap_or(program);
    if rest.iter().take_while(|word| **word != "--").any(|word| WITHOUT.contains(word)) {
        return None;
    }
    // `python -m pip install`
    if program.starts_with("python") {
        let at = rest.iter().position(|word| *word == "-m")?;
        return find_need(rest.get(at + 1..)?);
    }
    let first = first_word(rest);
    NEEDS.iter().find_map(|(programs, follow, need, why)| {
        let is_program = programs.split(' ').any(|name| name == program);
        let fits = follow.is_empty() || first.is_some_and(|word| follow.split(' ').any(|name| name == word));
        let command = match first.filter(|_| !follow.is_empty()) {
            Some(word) => format!("{program} {word}"),
            None => program.to_owned(),
        };
        (is_program && fits).then_some(CommandNeed { command, need: *need, why })
    })
}

/// What a request's commands are known to need and no rule gives them. `own`: the words of the command itself, where it is no
/// line for a shell.
pub fn missing_needs(own: &[String], decision: &PermissionDecision) -> Vec<CommandNeed> {
    let exact = |word: &CommandArgument| match word {
        CommandArgument::Exact(text) => text.clone(),
        _ => String::new(),
    };
    let started = decision.reading.iter().flat_map(|reading| &reading.commands);
    let started = started.map(|command| command.words.iter().map(exact).collect::<Vec<_>>());
    let given = &decision.grants;
    // A rule gives it to one command, and the line as a whole cannot have it: that is what is asked about.
    if decision.rules.contains(&DecidingRule::Builtin(BuiltinRule::GrantAlone)) {
        return Vec::new();
    }
    let mut needs: Vec<CommandNeed> = Vec::new();
    for words in std::iter::once(own.to_vec()).chain(started) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let Some(need) = find_need(&words) else { continue };
        let is_given = given.contains(&CommandGrant::OutsideTheFence)
            || (need.need == FenceNeed::Network && given.contains(&CommandGrant::Network));
        if !is_given && !needs.contains(&need) {
            needs.push(need);
        }
    }
    needs
}

/// The first that is no option, nor the value of one.
fn first_word<'w>(words: &[&'w str]) -> Option<&'w str> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if WITH_VALUE.contains(word) {
            words.next();
        } else if !word.starts_with(['-', '+']) {
            return Some(word);
        }
    }
    None
}
