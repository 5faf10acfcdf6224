//! A project of its own for a test, with a host whose person says what the test wants.

use std::collections::VecDeque;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use relaycode_door::{ApprovalQuestion, ApprovalReply, Approver, Door, DoorEvent};
use relaycode_durable::real::RealFs;
use relaycode_exec::Runner;
use relaycode_ledger::{Ledger, LedgerSettings};
use relaycode_llm::CancelToken;
use relaycode_project::config;
use serde_json::Value;

use crate::host::{Host, HostAnswer, HostQuestion, ToolProgress};
use crate::registry;
use crate::tool::{ToolError, ToolInvocation, ToolOutput};
use crate::workspace::ToolWorkspace;

pub(crate) struct TestProject {
    directory: tempfile::TempDir,
    pub workspace: ToolWorkspace,
    pub host: TestHost,
    pub cancel: CancelToken,
}

/// Says yes or is not there, and counts.
#[derive(Default)]
pub(crate) struct TestHost {
    pub says_yes: bool,
    pub asked: Mutex<Vec<String>>,
    /// What the person answers to questions of tools, in order; then nobody is there.
    pub answers: Mutex<VecDeque<HostAnswer>>,
    pub questions: Mutex<Vec<HostQuestion>>,
}

impl TestProject {
    pub(crate) fn new(files: &[(&str, &str)]) -> TestProject {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap().join("project");
        fs::create_dir(&root).unwrap();
        let ledger = Ledger::open(Arc::new(RealFs::default()), &root, LedgerSettings::default()).unwrap();
        let loaded = config::load(&root, None).unwrap();
        let door = Door::new(root, ledger, loaded, None, Runner::new("/no/keeper".into()));
        let project = TestProject {
            directory,
            workspace: ToolWorkspace::new(door),
            host: TestHost::default(),
            cancel: CancelToken::default(),
        };
        for (path, text) in files {
            project.put(path, text);
        }
        project
    }

    /// Beside the project.
    pub(crate) fn outside(&self) -> PathBuf {
        self.directory.path().canonicalize().unwrap()
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.workspace.root().join(path)
    }

    pub(crate) fn put(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(crate) fn get(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Result<ToolOutput, ToolError> {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        registry::by_name(tool).unwrap().run(&ToolInvocation {
            id: "call-1",
            arguments: &arguments,
            workspace: &self.workspace,
            host: &self.host,
            cancel: &self.cancel,
        })
    }

    /// The text of a call that succeeds.
    pub(crate) fn text(&self, tool: &str, arguments: Value) -> String {
        match self.call(tool, arguments) {
            Ok(output) => text_of(&output),
            Err(error) => panic!("{tool} failed: {error}"),
        }
    }

    /// The message of a call that is refused.
    pub(crate) fn refusal(&self, tool: &str, arguments: Value) -> String {
        match self.call(tool, arguments) {
            Err(ToolError::Refused { message, .. }) => message,
            other => panic!("{tool} was not refused: {other:?}"),
        }
    }
}

pub(crate) fn text_of(output: &ToolOutput) -> String {
    output.to_text()
}

impl Host for TestHost {
    fn ask(&self, question: &HostQuestion) -> HostAnswer {
        self.questions.lock().unwrap().push(question.clone());
        self.answers.lock().unwrap().pop_front().unwrap_or(HostAnswer::Unavailable)
    }

    fn with_approver(&self, _call: &str, submit: &mut dyn FnMut(&mut dyn Approver)) {
        submit(&mut TestApprover(self));
    }

    fn progress(&self, _call: &str, _progress: &ToolProgress) {}
}

struct TestApprover<'a>(&'a TestHost);

impl Approver for TestApprover<'_> {
    fn name(&self) -> &'static str {
        "test"
    }

    fn decide(&mut self, question: &ApprovalQuestion<'_>) -> ApprovalReply {
        let said = match question {
            ApprovalQuestion::Apply { rules, .. } => {
                rules.iter().map(|rule| rule.name()).collect::<Vec<_>>().join(",")
            }
            _ => "another question".to_string(),
        };
        self.0.asked.lock().unwrap().push(said);
        if self.0.says_yes { question.yes() } else { ApprovalReply::Unavailable }
    }

    fn on_event(&mut self, _event: &DoorEvent<'_>) {}

    fn stop_requested(&self) -> bool {
        false
    }
}
