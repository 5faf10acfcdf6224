//! What a command may touch. Paths and words need not be text; all paths are absolute.
//!
//! The environment is part of the order, and not the stage's own: a variable like `LD_PRELOAD` would otherwise run code of
//! the project's choosing in the stage, before there is a fence.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// An order to the stage that enters the fence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FenceSpec {
    /// What the command may touch.
    pub fence: JobFence,
    /// Where the command runs.
    pub directory: OsString,
    /// The program, as a path, and its arguments. With none the fence is built and nothing is run in it.
    pub words: Vec<OsString>,
    /// All variables that the command has.
    pub environment: Vec<(OsString, OsString)>,
}

/// The fence around a job: what it may touch. What runs in it, where, and with which variables, the job says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobFence {
    /// How much of the fence to build.
    pub level: FenceLevel,
    /// Whether [`directories`](Self::directories) and [`layers`](Self::layers) can be written.
    pub access: FenceAccess,
    /// The project, and what else is the command's to write: directories, and files, which can be written but not replaced.
    #[serde(with = "path_list")]
    pub directories: Vec<PathBuf>,
    /// What can be read although it lies in the machine's `/tmp`, which the command's own hides. Level 1 only.
    #[serde(with = "path_list")]
    pub visible: Vec<PathBuf>,
    /// Directories that look writable: what is written is kept apart. Level 1 only; at level 2 they can be read.
    pub layers: Vec<FenceLayer>,
    /// What is never written, inside those, under the name of the directory it lies in. What does not exist cannot be protected:
    /// the report names it.
    #[serde(with = "path_list")]
    pub read_only: Vec<PathBuf>,
    /// Files and directories that look empty or cannot be read.
    #[serde(with = "path_list")]
    pub masked: Vec<PathBuf>,
    /// An existing directory of this command's own, always writable; `/tmp` is this directory too, where that can be.
    pub temp: OsString,
    /// Whether the machine's network is the command's.
    pub network: bool,
    /// Sockets that have a path and that it may connect to; they are there although what they lie in is masked. Every other socket
    /// that is not masked is open too, then. Level 1 only: a fence of level 2 with one cannot be built.
    #[serde(with = "path_list")]
    pub sockets: Vec<PathBuf>,
}

/// A directory of the user's that a command changes in a copy of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FenceLayer {
    /// The directory, which exists.
    pub directory: OsString,
    /// An existing directory of relay's, where what differs is kept.
    pub kept_in: OsString,
}

/// How much of a fence there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum FenceLevel {
    /// 1: namespaces with mounts, `/proc`, processes and a network of its own, and all of level 2.
    Namespaces,
    /// 2: Landlock and a system call filter. Some acts pass: `proofs/fence` has their list.
    Rules,
    /// 3: none.
    Open,
}

impl FenceLevel {
    /// From the strongest to none.
    pub const ALL: [FenceLevel; 3] = [FenceLevel::Namespaces, FenceLevel::Rules, FenceLevel::Open];

    /// As it is told to users.
    pub fn number(self) -> u8 {
        match self {
            FenceLevel::Namespaces => 1,
            FenceLevel::Rules => 2,
            FenceLevel::Open => 3,
        }
    }
}

/// What may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FenceAccess {
    /// The command's own temporary directory alone.
    ReadOnly,
    /// The directories as well.
    Workspace,
}

impl JobFence {
    /// The directories that can be written.
    pub fn writable(&self) -> Vec<PathBuf> {
        let directories = match self.access {
            FenceAccess::ReadOnly => &[],
            FenceAccess::Workspace => self.directories.as_slice(),
        };
        let layers = self.layers_in_use().iter().map(|layer| PathBuf::from(&layer.directory));
        directories.iter().cloned().chain(layers).chain([PathBuf::from(&self.temp)]).collect()
    }

    /// The layers that are made.
    pub(crate) fn layers_in_use(&self) -> &[FenceLayer] {
        match (self.access, self.level) {
            (FenceAccess::Workspace, FenceLevel::Namespaces) => &self.layers,
            _ => &[],
        }
    }
}

/// JSON has no paths that are not text; for strings of the system `serde` has a form.
mod path_list {
    use super::{Deserialize, OsString, PathBuf, Serialize};

    pub(super) fn serialize<S: serde::Serializer>(paths: &[PathBuf], to: S) -> Result<S::Ok, S::Error> {
        let strings: Vec<OsString> = paths.iter().map(OsString::from).collect();
        strings.serialize(to)
    }

    pub(super) fn deserialize<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<PathBuf>, D::Error> {
        let strings = Vec::<OsString>::deserialize(from)?;
        Ok(strings.into_iter().map(PathBuf::from).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    fn spec() -> FenceSpec {
        let odd = || OsString::from_vec(b"/p/\xff\n".to_vec());
        let fence = JobFence {
            level: FenceLevel::Namespaces,
            access: FenceAccess::Workspace,
            directories: vec![odd().into()],
            visible: vec![odd().into()],
            layers: vec![FenceLayer { directory: odd(), kept_in: "/layer".into() }],
            read_only: vec!["/p/.git/hooks".into()],
            masked: vec!["/home/u/.ssh".into(), odd().into()],
            temp: "/t".into(),
            network: false,
            sockets: vec!["/run/x/socket".into()],
        };
        FenceSpec {
            fence,
            directory: odd(),
            words: vec!["/bin/true".into(), odd(), OsString::new()],
            environment: vec![("A".into(), odd())],
        }
    }

    #[test]
    fn names_that_are_not_text_survive_the_way() {
        let bytes = serde_json::to_vec(&spec()).unwrap();
        assert_eq!(serde_json::from_slice::<FenceSpec>(&bytes).unwrap(), spec());
    }

    #[test]
    fn read_only_leaves_the_temporary_directory_alone_writable() {
        let closed = JobFence { access: FenceAccess::ReadOnly, ..spec().fence };
        assert_eq!(closed.writable(), [PathBuf::from("/t")]);
        assert_eq!(spec().fence.writable().len(), 3);
    }

    #[test]
    fn a_missing_field_is_an_error_and_no_default() {
        let mut value = serde_json::to_value(spec()).unwrap();
        value["fence"].as_object_mut().unwrap().remove("masked");
        assert!(serde_json::from_value::<FenceSpec>(value).is_err());
    }
}
