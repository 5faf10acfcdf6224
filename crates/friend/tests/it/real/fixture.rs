//! A house for one friend: its home, its project, its model, and what the world around it says.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use relaycode_exec::Runner;
use relaycode_friend::friend::request::TurnLimits;
use relaycode_friend::{AskRequest, FriendAnswer, FriendContext, FriendEvent, FriendFailure, friends};
use relaycode_testkit::agents::{self, AgentNotInstalled, AgentScratch, RealAgent};
use relaycode_testkit::directory_tree::{DirectoryTree, read_tree};
use relaycode_testkit::model::{self, Script, ScriptedServer};

use crate::fake_friends::send;
use crate::keeper_fixture;

/// One friend in a house.
pub(crate) struct House {
    pub(crate) agent: &'static dyn RealAgent,
    pub(crate) scratch: AgentScratch,
    pub(crate) server: ScriptedServer,
    variables: Vec<(OsString, OsString)>,
}

/// What came of a turn.
pub(crate) struct Came {
    pub(crate) answer: Result<FriendAnswer, FriendFailure>,
    pub(crate) events: Vec<FriendEvent>,
    pub(crate) took: Duration,
}

impl House {
    /// The friend of this name, with a model that says this. `None` and a word about it if it is not installed.
    pub(crate) fn of(name: &str, turns: impl IntoIterator<Item = model::ScriptedTurn>) -> Option<House> {
        let server = ScriptedServer::start(Script::new(turns));
        let url = server.url();
        House::at(name, server, &url)
    }

    /// The same with a model elsewhere.
    pub(crate) fn at(name: &str, server: ScriptedServer, url: &str) -> Option<House> {
        let agent = agents::find_by_name(name).unwrap();
        let scratch = AgentScratch::new();
        let resident = scratch.install_agent(agent, url).inspect_err(AgentNotInstalled::skip).ok()?;
        let variables = resident.environment().map(|(name, value)| (name.into(), value.into())).collect();
        let house = House { agent, scratch, server, variables };
        house.put("old.txt", "one\ntwo\nthree\n");
        Some(house)
    }

    /// A friend of the same house, with another turn: nothing is forgotten.
    pub(crate) fn turn(&self, prompt: &str) -> AskRequest {
        AskRequest::new(
            prompt,
            fs::canonicalize(self.scratch.project()).unwrap(),
            TurnLimits::new(Duration::from_secs(150), Duration::from_secs(60)),
        )
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.variables.retain(|(known, _)| known != name);
        self.variables.push((name.into(), value.into()));
    }

    pub(crate) fn run(&self, turn: &AskRequest) -> Came {
        self.run_until(turn, &|| false, &mut |_| {})
    }

    pub(crate) fn run_until(
        &self,
        turn: &AskRequest,
        stop: &(dyn Fn() -> bool + Sync),
        hear: &mut dyn FnMut(&FriendEvent),
    ) -> Came {
        let friend = friends::find_program_friend(self.agent.name()).unwrap();
        let mut events = Vec::new();
        let began = Instant::now();
        let answer = self.world(stop, |world| {
            send(friend, turn, world, &mut |event| {
                hear(&event);
                events.push(event);
            })
        });
        let took = began.elapsed();
        assert_eq!(self.scratch.left_running(), [], "{} left processes", self.agent.name());
        Came { answer, events, took }
    }

    /// The world as the friend's house says it is.
    pub(crate) fn world<T>(
        &self,
        stop: &(dyn Fn() -> bool + Sync),
        see: impl FnOnce(&FriendContext<'_>) -> T,
    ) -> T {
        let variable = |name: &str| {
            self.variables.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.clone())
        };
        let home = Some(self.scratch.home().join(".relaycode"));
        see(&FriendContext {
            runner: self.runner(),
            home,
            env_var: &variable,
            stop_requested: stop,
            depth: 0,
        })
    }

    /// A keeper that knows nothing but what the house says: friends inherit from it.
    fn runner(&self) -> Runner {
        let keeper = self.scratch.home().join("keeper");
        let quoted = |text: &OsString| format!("'{}'", text.to_str().unwrap().replace('\'', "'\\''"));
        let all: Vec<String> = self
            .variables
            .iter()
            .map(|(name, value)| format!("{}={}", name.to_str().unwrap(), quoted(value)))
            .collect();
        let script = format!(
            "#!/bin/sh\nexec env -i {} '{}' \"$@\"\n",
            all.join(" "),
            keeper_fixture::keeper().display()
        );
        if fs::read_to_string(&keeper).is_ok_and(|there| there == script) {
            return Runner::new(keeper);
        }
        fs::write(&keeper, script).unwrap();
        fs::set_permissions(&keeper, fs::Permissions::from_mode(0o755)).unwrap();
        Runner::new(keeper)
    }

    pub(crate) fn put(&self, path: &str, content: &str) {
        let file = self.scratch.project().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, content).unwrap();
    }

    /// Every entry of the project, and what is in it.
    pub(crate) fn tree(&self) -> DirectoryTree {
        read_tree(&self.scratch.project(), &[])
    }
}
