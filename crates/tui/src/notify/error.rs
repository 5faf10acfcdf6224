//! Why the desktop could not be reached. Only shown by a check that the user asked for: a failed
//! notification is not an error.

#[derive(Debug, thiserror::Error)]
pub enum BusError {
    /// The address names no socket of this machine.
    #[error("the address of the message bus names no socket here; look at DBUS_SESSION_BUS_ADDRESS")]
    NoAddress,
    /// Nobody listens, or the connection broke.
    #[error("the message bus cannot be reached: {0}")]
    Io(std::io::Error),
    #[error("the message bus did not answer in time")]
    TimedOut,
    /// Authentication failed.
    #[error("the message bus does not let this user in; it belongs to whoever started the desktop")]
    Refused,
    /// Its data is not D-Bus.
    #[error("what listens at the address of the message bus is not a message bus")]
    NotABus,
    /// It answered with this error, as plain text.
    #[error("the message bus answered with an error: {0}")]
    Answer(String),
}
