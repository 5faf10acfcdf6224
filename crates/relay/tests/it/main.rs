//! Through the real binary: what a user types, and what comes back.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests fail by panicking, and say what they measured"
)]

mod agent_check;
mod agent_commands;
mod agent_compaction;
mod agent_conversation;
mod agent_flags;
mod agent_hostile;
mod agent_plan;
mod agent_rules;
mod agent_run;
mod agent_screen;
mod agent_self;
mod all_commands;
mod apply;
mod bad_input;
mod changes_while_asking;
mod commands_around_apply;
mod completions;
mod config_keys;
mod costly;
mod demo;
mod doctor;
mod fixture;
mod forged_state;
mod forgiving_reading;
mod friends;
mod gate;
mod gate_processes;
mod git_commit;
mod ledger;
mod log;
mod models;
mod models_wires;
mod original_tool_bugs;
mod output_escaping;
mod output_style;
mod pasted_forms;
mod permissions;
mod preview;
mod provider_keys;
mod question_keys;
mod real;
mod real_linters;
mod record;
mod record_entries;
mod record_fence;
mod record_removed_state;
mod recover;
mod revert;
mod rpc;
mod sealed_state;
mod secret_redaction;
mod sessions;
mod setup;
mod show;
mod spec_api;
mod spec_requirement;
mod stats;
mod terminal_questions;
mod terminal_widths;
mod trust;
mod trust_question;
mod undo;
mod undo_walks;
mod watch;
mod watch_bench;
mod watch_edges;
mod watch_hostile;
mod watch_screens;
mod whole_files;
mod wrong_inputs;
