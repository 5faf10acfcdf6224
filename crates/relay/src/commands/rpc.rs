//! `relay rpc`: another program uses relay's own agent, by lines of JSON over stdin and stdout.

use std::fs::File;
use std::os::fd::AsFd;

use relaycode_servers::rpc::{RpcServerSeed, ServeEnd};

use crate::agent::options::AgentOptions;
use crate::agent::rpc_backend::RpcAgents;
use crate::{CommandContext, CommandFailure, CommandResult, Exit, SignalGuard};

/// Let another program use relay's own agent
///
/// The program writes commands to stdin and reads answers and events from stdout, one JSON object per line. The first line that
/// it reads says `ready`. When stdin ends, whatever runs is ended, and so is this.
///
/// The program acts for you, within the access level that you give it here: it can say yes where you would be asked.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct RpcArgs {
    #[command(flatten)]
    options: AgentOptions,
}

impl RpcArgs {
    pub(crate) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let signals = SignalGuard::acquire()?;
        let (input, output) = (std::io::stdin(), std::io::stdout());
        let streams = input.as_fd().try_clone_to_owned().and_then(|input| {
            let output = output.as_fd().try_clone_to_owned()?;
            Ok((File::from(input), File::from(output)))
        });
        let (input, output) = streams.map_err(CommandFailure::unexpected)?;
        let seed = RpcServerSeed::default();
        let stop = seed.stop_handle();
        signals.on_stop(move || stop.stop()).map_err(CommandFailure::unexpected)?;
        let mut agents = RpcAgents::new(&self.options, ctx);
        let opened = agents.open_first(seed.host())?;
        let server = seed.into_server(opened, &mut agents);
        let end = server.serve(env!("CARGO_PKG_VERSION"), input, output);
        match end.map_err(CommandFailure::unexpected)? {
            ServeEnd::ProgramLeft => Ok(Exit::Done),
            ServeEnd::Stopped => Err(CommandFailure::interrupted()),
        }
    }
}
