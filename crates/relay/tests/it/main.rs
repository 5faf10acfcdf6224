//! Through the real binary: what a user types, and what comes back.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests fail by panicking, and say what they measured"
)]

mod apply;
mod at_the_terminal;
mod bad_input;
mod between;
mod commands;
mod completions;
mod configured;
mod doctor;
mod every_command;
mod friends_bench;
mod friends_broken;
mod friends_do;
mod friends_do_more;
mod friends_git;
mod friends_limits;
mod friends_list;
mod friends_said;
mod friends_stage;
mod friends_usage;
mod friends_watchful;
mod gate;
mod gate_ends;
mod git_commit;
mod keys;
mod ledger_faults;
mod ledger_hostile;
mod ledger_obstacles;
mod ledger_odd;
mod ledger_together;
mod linters;
mod log;
mod looks;
mod models;
mod models_everywhere;
mod original;
mod preview;
mod provider_keys;
mod real;
mod record;
mod record_more;
mod recover;
mod relay;
mod requirement;
mod revert;
mod scene;
mod screens;
mod secrets;
mod sessions;
mod sessions_kept;
mod show;
mod terminal;
mod tongue;
mod tour;
mod trust_question;
mod trusting;
mod watch;
mod watch_bench;
mod watch_edges;
mod watch_hostile;
