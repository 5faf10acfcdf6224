//! Everything that goes to the program and comes back from it, but for commands.

use std::sync::Arc;

use relaycode_tools::Host;

use crate::rpc::client_requests::ClientRequests;
use crate::rpc::event_pump::EventPump;
use crate::rpc::gates::GateBoard;
use crate::rpc::hooks::HookBoard;
use crate::rpc::host::{Attendance, RpcHost};
use crate::rpc::host_files::HostUriRequests;
use crate::rpc::host_tools::HostToolRequests;
use crate::rpc::outbox::Outbox;

pub(crate) struct ClientLink {
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) pump: Arc<EventPump>,
    pub(crate) tools: Arc<HostToolRequests>,
    pub(crate) files: Arc<HostUriRequests>,
    pub(crate) hooks: Arc<HookBoard>,
    pub(crate) gates: Arc<GateBoard>,
    pub(crate) attendance: Arc<Attendance>,
}

impl Default for ClientLink {
    fn default() -> ClientLink {
        let outbox = Arc::new(Outbox::default());
        ClientLink {
            pump: Arc::default(),
            tools: Arc::new(ClientRequests::new('t')),
            files: Arc::new(ClientRequests::new('u')),
            hooks: Arc::new(HookBoard::new(outbox.clone())),
            gates: Arc::new(GateBoard::new(outbox.clone())),
            attendance: Arc::default(),
            outbox,
        }
    }
}

impl ClientLink {
    pub(crate) fn host(&self) -> Arc<dyn Host + Send> {
        let (gates, hooks) = (self.gates.clone(), self.hooks.clone());
        Arc::new(RpcHost { gates, hooks, attendance: self.attendance.clone() })
    }

    /// The program is gone: nobody waits for it any more.
    pub(crate) fn close_requests(&self) {
        self.tools.close();
        self.files.close();
        self.hooks.close();
        self.gates.close();
    }
}
