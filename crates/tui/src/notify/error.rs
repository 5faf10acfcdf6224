//! Why the desktop could not be told. Only ever shown by a check that was asked for: a notification
//! that fails is not an error.

/// Why the desktop's message bus could not be used.
#[derive(Debug, thiserror::Error)]
pub enum BusError {
    /// The address names no socket of this machine.
    #[error("the address of the message bus names no socket here; look at DBUS_SESSION_BUS_ADDRESS")]
    NoAddress,
    /// Nobody listens, or the connection broke.
    #[error("the message bus cannot be reached: {0}")]
    Io(std::io::Error),
    /// It did not answer in time.
    #[error("the message bus did not answer in time")]
    TimedOut,
    /// It does not let us in.
    #[error("the message bus does not let this user in; it belongs to whoever started the desktop")]
    Refused,
    /// What it sent is not what a bus sends.
    #[error("what listens at the address of the message bus is not a message bus")]
    NotABus,
    /// It answered with an error, named here as plain text.
    #[error("the message bus answered with an error: {0}")]
    Answer(String),
}
