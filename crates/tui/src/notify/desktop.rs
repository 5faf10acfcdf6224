//! What is the same on every desktop: how long an exchange may take, and what a probe finds.

use std::time::Duration;

use super::error::BusError;

/// For the whole exchange with the notification server.
pub const DEADLINE: Duration = Duration::from_secs(1);
/// How long the caller waits to learn whether it was shown.
pub const SHOWN_WAIT: Duration = Duration::from_millis(100);

/// What the desktop offers.
#[derive(Debug)]
pub enum DesktopProbe {
    /// No bus, or the desktop is not the one this person looks at (SSH).
    None,
    /// There should be a bus, but it cannot be used.
    Failed(BusError),
    /// A bus without a notification server.
    NoServer,
    /// No server runs yet; the first notification starts one.
    Startable,
    ServerRunning,
}
