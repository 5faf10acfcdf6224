//! `relay-scripted-model`: the scripted model server by hand, and for tests of programs in any language.
//!
//! It ends with SIGTERM or SIGINT, and leaves nothing behind but its log.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use relaycode_testkit::model::{Script, ScriptedServer, ServerOptions, TurnSelection};

/// A model server on loopback that says what a script says.
///
/// It speaks Anthropic Messages, OpenAI Responses, OpenAI chat completions, Google Generative AI and Ollama, all at
/// the same address. GET /__relay/state shows its counters, GET /__relay/requests what was asked, POST /__relay/reset
/// begins anew, with the script in the body if there is one. docs/scripted-model.md describes scripts.
#[derive(Parser)]
#[command(name = "relay-scripted-model", version)]
struct ScriptedModelArgs {
    /// The port; 0 takes any that is free
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// The script: JSON, a list of turns or an object with `turns`; without one everything gets a default answer
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// Where to write one line of JSON per request, keys clipped
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Where to write the port, as soon as it listens
    #[arg(long, value_name = "FILE")]
    port_file: Option<PathBuf>,
    /// Which requests take the next turn, whatever the script says
    #[arg(long, value_enum)]
    consume: Option<ConsumeArg>,
}

#[derive(Clone, Copy, ValueEnum)]
enum ConsumeArg {
    /// Those that offer tools; others get the script's `aux`
    Tools,
    /// All
    Any,
    /// Each takes the first whose `expect` its body contains
    Match,
}

impl From<ConsumeArg> for TurnSelection {
    fn from(which: ConsumeArg) -> TurnSelection {
        match which {
            ConsumeArg::Tools => TurnSelection::Tools,
            ConsumeArg::Any => TurnSelection::Any,
            ConsumeArg::Match => TurnSelection::Match,
        }
    }
}

fn main() -> ExitCode {
    match run(&ScriptedModelArgs::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            let _ = writeln!(io::stderr(), "relay-scripted-model: {message}");
            ExitCode::from(2)
        }
    }
}

fn run(args: &ScriptedModelArgs) -> Result<(), String> {
    let mut script = match &args.script {
        None => Script::default(),
        Some(path) => read(path).map_err(|why| format!("{}: {why}", path.display()))?,
    };
    if let Some(which) = args.consume {
        script.consume = which.into();
    }
    let log = match &args.log {
        None => None,
        Some(path) => {
            let file = OpenOptions::new().create(true).append(true).open(path);
            let file = file.map_err(|why| format!("the log {} cannot be written: {why}", path.display()))?;
            Some(Box::new(file) as Box<dyn Write + Send>)
        }
    };
    // Before anybody knows the address: no signal is lost.
    let mut signals = signals().map_err(|why| format!("signals cannot be waited for: {why}"))?;
    let server = ScriptedServer::open(script, ServerOptions { port: args.port, log })
        .map_err(|why| format!("port {} cannot be had: {why}; --port 0 takes any that is free", args.port))?;
    if let Some(path) = &args.port_file {
        // A program that waits for the file never sees half of it.
        let mut beside = path.clone().into_os_string();
        beside.push(".new");
        fs::write(&beside, format!("{}\n", server.address().port()))
            .and_then(|()| fs::rename(&beside, path))
            .map_err(|why| format!("the port file {} cannot be written: {why}", path.display()))?;
    }
    let _ = writeln!(io::stdout(), "scripted model on {}", server.url()).and_then(|()| io::stdout().flush());
    let _ = signals.read(&mut [0]);
    drop(server);
    Ok(())
}

fn read(path: &Path) -> Result<Script, String> {
    let text = fs::read_to_string(path).map_err(|why| why.to_string())?;
    let json = serde_json::from_str(&text).map_err(|why| format!("the script is no JSON: {why}"))?;
    Script::parse(&json)
}

/// Readable after a signal that asks for the end.
#[cfg(unix)]
fn signals() -> io::Result<impl Read> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
    for signal in [SIGINT, SIGTERM] {
        signal_hook::low_level::pipe::register(signal, theirs.try_clone()?)?;
    }
    Ok(ours)
}

/// On other systems the system ends it.
#[cfg(not(unix))]
fn signals() -> io::Result<impl Read> {
    Ok(io::stdin())
}
