//! What is known to get through at level 2, in the access mode `workspace`. A fence that stops more or less than this is
//! a change that somebody has to look at.

/// By name, for root and a user alike. The reasons are in docs/decisions/2026-11-18-fence.md.
pub const KNOWN_AT_LEVEL_2: &[&str] = &[
    // Landlock knows neither mode nor times nor attributes, and a filter of system calls sees no paths.
    "chmod_outside",
    "fchmod_outside",
    "stdin_chmod",
    "stdin_chmod_by_name",
    "utime_outside",
    "setxattr_outside",
    // A rule grants a whole tree: nothing inside of it can be left out.
    "hook_write",
    "hook_create",
    "hook_chmod",
    "hook_delete",
    "git_config_write",
    "git_config_replace",
    "git_config_command",
    "relaycode_write",
    "relaycode_rename",
    "rename_over_hook_dir",
    "rename_git_away",
    "read_env_in_project",
];

/// What is meant to work, and cannot where nothing may be written.
pub(crate) const WRITES_PROJECT: &[&str] = &["write_project", "git_objects", "git_commit"];
