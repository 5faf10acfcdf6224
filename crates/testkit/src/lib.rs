//! What tests of several crates share. Only ever a development dependency: nothing that is shipped may use it.
//!
//! Everything random here is determined by a seed, so that any failure can be replayed.
//!
//! | module | for |
//! |---|---|
//! | [`model`] | the scripted model server, also as `relay-scripted-model`; plain sockets, so that a test decides every byte |
//! | `agents` | real agents of other projects: witnesses of the wires, friends for tests of relay |
//! | `browser` | a headless Chromium: what a page shows, requests and is forbidden |
//! | `screen` | a terminal with a program on it, and what a person would see |
//! | `display`, `bus`, `dunst` | real desktops without a screen, a session bus, a notification daemon |
//! | `process`, `process_table` | programs that end with the test; who runs on the machine |
//! | `missing` | tests that lack a program: skipped by name, or failed |
//! | [`fuzz`] | spoilt cases from a seed, and the laws they must not break |
//! | [`reverse_change`] | the way back from a plan |
//! | [`undo_walk`] | random walks of undo and redo through the binary |
//! | [`crash`] | transactions and recoveries on the model file system: every power cut, every failing call |
//! | `served_agent` | `relay rpc` in this process, with an agent that only tells events (feature `rpc`) |
//! | [`hostile_text`] | strings that a terminal would obey or hide |
//! | [`costly`] | texts built to cost, and a search for worse ones |
//! | [`random`], [`clock`] | seeded randomness; processor time |
//! | [`git`], `directory_tree` | git without the machine's configuration; a directory to compare |
//! | [`checkout`] | this checkout, and relay built from it |

#[cfg(target_os = "linux")]
pub mod agents;
#[cfg(target_os = "linux")]
pub mod browser;
#[cfg(target_os = "linux")]
pub mod bus;
pub mod checkout;
pub mod clock;
pub mod costly;
pub mod crash;
#[cfg(unix)]
pub mod directory_tree;
#[cfg(target_os = "linux")]
pub mod display;
#[cfg(target_os = "linux")]
pub mod dunst;
mod expect;
pub mod fuzz;
pub mod git;
pub mod hostile_text;
#[cfg(target_os = "linux")]
pub mod missing;
pub mod model;
#[cfg(target_os = "linux")]
pub mod process;
#[cfg(target_os = "linux")]
pub mod process_table;
pub mod random;
pub mod reverse_change;
#[cfg(target_os = "linux")]
pub mod screen;
#[cfg(all(target_os = "linux", feature = "rpc"))]
pub mod served_agent;
pub mod undo_walk;
