//! What is the same for every desktop: how long it may take, and what a look at it finds.

use std::time::Duration;

use super::error::BusError;

/// How long the talk with the server may take in all.
pub const DEADLINE: Duration = Duration::from_secs(1);
/// How long the caller waits to hear whether it was shown.
pub const SHOWN_WAIT: Duration = Duration::from_millis(100);

/// What a look at the desktop found.
#[derive(Debug)]
pub enum DesktopProbe {
    /// There is no bus to ask, or the desktop is not the one this person looks at (SSH).
    None,
    /// There should be a bus, but it cannot be used.
    Failed(BusError),
    /// There is a bus, and nobody on it who shows notifications.
    NoServer,
    /// Nobody shows notifications yet; the first one starts a server.
    Startable,
    /// Somebody is there to show notifications.
    ServerRunning,
}
