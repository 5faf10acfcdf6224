//! What each exit code means, for the help and the man pages. `docs/exit-codes.md` says more.

/// Every code that relay ends with, in order: what it means in a few words, and in a sentence.
pub(crate) const ALL: &[(u8, &str, &str)] = &[
    (0, "done", "Done; also when everything was already in."),
    (1, "unexpected failure", "Something unexpected: a bug in relay, or the system failed."),
    (2, "wrong usage or configuration", "Wrong usage, or a configuration that cannot be read."),
    (
        3,
        "refused (nothing was changed)",
        "Refused: the answer does not match the files, could mean several places, or breaks a rule. Nothing was changed.",
    ),
    (4, "a person said no", "A person said no. Nothing was changed, or everything was put back."),
    (
        5,
        "a check failed (everything was put back)",
        "The project's own checks failed. Everything was put back.",
    ),
    (
        6,
        "needs you",
        "Needs you: somebody else's edits are in the way, a recovery left files alone, or a revert could not bring everything back.",
    ),
    (7, "not trusted yet", "The project's commands are not trusted yet."),
    (8, "already processed", "This change was processed before."),
    (9, "applied, but the disk reported an error", "Applied, but the disk reported an error afterwards."),
    (
        10,
        "a friend or provider failed",
        "A friend could not be reached, or a friend or a provider refused the request, or failed.",
    ),
    (
        11,
        "a friend or provider gave no answer",
        "A friend or a provider gave no answer that can be used, or a provider could not be reached. Never a pass.",
    ),
    (12, "a friend or provider ran out of time", "A friend or a provider took too long."),
    (13, "nobody to ask", "A person has to decide and there is nobody to ask."),
    (20, "a review found what blocks", "A review with `--verdict` came back with findings that block."),
    (130, "interrupted", "Interrupted. The message says which state the project is in."),
];

/// All of them in one sentence.
pub(crate) fn help_sentence() -> String {
    let codes: Vec<String> = ALL.iter().map(|(code, short, _)| format!("{code} {short}")).collect();
    format!("Exit codes: {}.", codes.join(", "))
}
