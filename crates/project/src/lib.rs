//! A project: where it is, what its configuration says and where each value comes from, what the user
//! trusts, what it is called and by which key, and what git says of it.
//!
//! Everything here that comes from a repository is hostile until the user trusted exactly it. This crate
//! knows no changes, no models and no user interface; it never prints and never reads the environment.
//!
//! | module | what it is for |
//! |---|---|
//! | `root` | where a project begins, and which marks above it do not count |
//! | `config` | `keys` is the one list of keys; `literal` reads values without running anything, `user_yaml` the user's file; `layer` is what one file sets, `load` lays them over each other; `schema` and `show` come from the list |
//! | `trust` | what the user said yes to: the configuration and git, separately |
//! | `checkout` | the key of a checkout: made, read, compared, stripped |
//! | `seal` | the secret by which relay knows again what it wrote into a project |
//! | `identity` | the name `init` gives a project |
//! | `command_line` | a command line of a shell, read but not run |
//! | `access` | what somebody who works for the user may do |
//! | `permissions` | rules, what a command line would do, and whether that is allowed, asked about or refused |
//! | `fence` | what a command may touch in a project: `git_dirs`, `secrets`, `sockets`, `caches`; `git_guard` is what makes git run something, before and after it; `needs` is what known commands need beyond it, `hits` tells that one hit it |
//! | `protected` | names of files that run or steer something: one list |
//! | `git` | git as a program: `call` runs it so that nothing of a repository runs, `hooks` is what a commit would run; `commit`, `branch`, `status`, `diff`, `scratch` …; `head` reads branch and commit without git |
//! | `ignore_files` | what `.ignore` and `.gitignore` leave out, read within bounds |
//! | `notices` | what the user was told once of a project |
//! | `user_files` | private files, one per project directory |

pub mod access;
pub mod checkout;
pub mod command_line;
pub mod config;
pub mod fence;
pub mod git;
pub mod identity;
pub mod ignore_files;
pub mod notices;
pub mod permissions;
pub mod protected;
pub mod root;
pub mod seal;
pub mod trust;
mod user_files;
