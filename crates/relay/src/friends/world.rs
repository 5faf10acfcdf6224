//! The world around friends: where programs run, what the environment says, who may be asked. Everything that a
//! friend knows of the machine comes from here.

use std::ffi::OsString;

use relaycode_friend::friends::{Chosen, FindError, Friends};
use relaycode_friend::{World, depth};

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::project::runner;
use crate::providers::Providers;

/// Says yes when everything is to stop.
pub(crate) type Stop<'a> = &'a (dyn Fn() -> bool + Sync);

/// The world, in which `stop` ends everything.
pub(crate) fn world<'a>(context: &Context<'_>, stop: Stop<'a>) -> Result<World<'a>, Failure> {
    let (runner, home) = (runner()?, context.home.path.clone());
    Ok(World { runner, home, variable: &variable, stop, depth: depth::of(&variable) })
}

/// Everybody who may be asked. What the user configured of model servers is read only when one is named.
pub(crate) fn friends(context: &Context<'_>) -> Friends<'static> {
    let (home, directory) = (context.home.clone(), context.options.directory.clone());
    Friends::new(move || {
        let providers = Providers::of(&home, &directory).map_err(|failure| failure.message)?;
        providers.into_servers(&home)
    })
}

/// The friends of these names, each once.
pub(crate) fn chosen(friends: &Friends<'_>, names: &[String]) -> Result<Vec<Chosen>, Failure> {
    let mut chosen: Vec<Chosen> = Vec::new();
    for name in names {
        let one = friends.find(name)?;
        let again = chosen
            .iter()
            .any(|other| other.friend().name() == one.friend().name() && other.model == one.model);
        if again {
            return Err(Failure::usage(format!("{name} is named twice")).hint("name each friend once"));
        }
        chosen.push(one);
    }
    Ok(chosen)
}

impl From<FindError> for Failure {
    fn from(error: FindError) -> Failure {
        let hint = match &error {
            FindError::Unknown { .. } => {
                "`relay friends` shows who is there, `relay models` which servers there are"
            }
            _ => "`relay models` says more",
        };
        Failure::new(Exit::Usage, "friend", error).hint(hint)
    }
}

fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}
