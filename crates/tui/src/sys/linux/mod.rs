//! Linux: the desktop's notification server, spoken to over its message bus.

mod address;
mod bus;
mod desktop;
mod marshal;
mod server;
#[cfg(test)]
mod tests;

pub(crate) use desktop::DesktopNotifier;
