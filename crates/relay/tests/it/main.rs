//! Through the real binary: what a user types, and what comes back.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests fail by panicking, and say what they measured"
)]

mod all_commands;
mod apply;
mod bad_input;
mod changes_while_asking;
mod commands_around_apply;
mod completions;
mod config_keys;
mod configured_project;
mod demo;
mod doctor;
mod friends_ask_report;
mod friends_bad_usage;
mod friends_cost;
mod friends_do_failures;
mod friends_do_misplaced;
mod friends_faulty;
mod friends_fixture;
mod friends_git_repositories;
mod friends_limits;
mod friends_list;
mod friends_tree_check;
mod gate;
mod gate_processes;
mod git_commit;
mod keyed_project;
mod ledger_blocked_paths;
mod ledger_concurrency;
mod ledger_faults;
mod ledger_hostile;
mod ledger_unusual_files;
mod log;
mod models;
mod models_wires;
mod original_tool_bugs;
mod output_escaping;
mod output_style;
mod preview;
mod provider_keys;
mod question_keys;
mod real_agents;
mod real_linters;
mod record;
mod record_removed_state;
mod recover;
mod revert;
mod scratch_project;
mod secret_redaction;
mod sessions_commands;
mod sessions_list;
mod show;
mod spec_requirement;
mod terminal_questions;
mod trust;
mod trust_question;
mod watch;
mod watch_bench;
mod watch_edges;
mod watch_hostile;
mod watch_screens;
