//! A connection to a message bus, from the handshake to the answer of a call.
//!
//! Never blocks past its deadline: the socket is non-blocking, and every wait is a poll for the rest of the
//! time. Nothing the bus sends can make it read without end.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, connect, recv, send,
    socket_with,
};
use rustix::process::geteuid;

use super::address::BusAddress;
use super::marshal::{self, BusCall, BusMessage, BusWriter};
use crate::notify::BusError;
use crate::notify::sanitize::sanitize_line;

/// The bus itself, as a destination.
pub(super) const BUS: &str = "org.freedesktop.DBus";
const BUS_PATH: &str = "/org/freedesktop/DBus";
/// Longest line of the handshake, in bytes.
const LINE: usize = 512;
/// Most cells shown of an error's name.
const ERROR_NAME: usize = 80;
/// Most messages skipped before the expected one.
const MESSAGES: usize = 64;

/// An authenticated connection.
#[derive(Debug)]
pub(super) struct BusConnection {
    socket: OwnedFd,
    deadline: Instant,
    serial: u32,
}

impl BusConnection {
    /// Connects to the first of `places` that accepts, and authenticates.
    pub(super) fn connect(places: &[BusAddress], deadline: Instant) -> Result<BusConnection, BusError> {
        let mut error = BusError::NoAddress;
        for place in places {
            match open(place) {
                Ok(socket) => {
                    let mut bus = BusConnection { socket, deadline, serial: 0 };
                    bus.authenticate()?;
                    bus.call_bus("Hello", "", BusWriter::default())?;
                    return Ok(bus);
                }
                Err(errno) => error = failed(errno),
            }
        }
        Err(error)
    }

    /// Calls a method of the bus itself.
    pub(super) fn call_bus(
        &mut self,
        member: &str,
        signature: &str,
        body: BusWriter,
    ) -> Result<BusMessage, BusError> {
        self.call(&BusCall { destination: BUS, path: BUS_PATH, interface: BUS, member, signature, body })
    }

    /// Calls a method and waits for its answer; other messages are skipped.
    pub(super) fn call(&mut self, call: &BusCall<'_>) -> Result<BusMessage, BusError> {
        self.serial += 1;
        self.write(&call.encode(self.serial))?;
        for _ in 0..MESSAGES {
            let message = self.read_message()?;
            if message.reply_serial != Some(self.serial) {
                continue;
            }
            return match message.kind {
                marshal::RETURN => Ok(message),
                marshal::ERROR => {
                    Err(BusError::Answer(sanitize_line(&message.error.unwrap_or_default(), ERROR_NAME, true)))
                }
                _ => Err(BusError::NotABus),
            };
        }
        Err(BusError::NotABus)
    }

    /// The handshake. The kernel tells the bus who we are; we only choose that method.
    fn authenticate(&mut self) -> Result<(), BusError> {
        let uid: String = geteuid().as_raw().to_string().bytes().map(|d| format!("{d:02x}")).collect();
        self.write(format!("\0AUTH EXTERNAL {uid}\r\n").as_bytes())?;
        let answer = self.read_line()?;
        if answer.starts_with(b"REJECTED") {
            return Err(BusError::Refused);
        }
        if !answer.starts_with(b"OK") {
            return Err(BusError::NotABus);
        }
        self.write(b"BEGIN\r\n")
    }

    /// Read byte by byte: what follows the handshake is not ours to take.
    fn read_line(&mut self) -> Result<Vec<u8>, BusError> {
        let mut line = Vec::new();
        while !line.ends_with(b"\r\n") {
            if line.len() == LINE {
                return Err(BusError::NotABus);
            }
            let mut byte = [0];
            self.read(&mut byte)?;
            line.extend(byte);
        }
        Ok(line)
    }

    fn read_message(&mut self) -> Result<BusMessage, BusError> {
        let mut prefix = [0; marshal::PREFIX];
        self.read(&mut prefix)?;
        let rest = marshal::remaining_length(&prefix).ok_or(BusError::NotABus)?;
        let mut bytes = prefix.to_vec();
        bytes.resize(marshal::PREFIX + rest, 0);
        self.read(&mut bytes[marshal::PREFIX..])?;
        BusMessage::parse(bytes).ok_or(BusError::NotABus)
    }

    fn read(&mut self, mut into: &mut [u8]) -> Result<(), BusError> {
        while !into.is_empty() {
            self.wait(PollFlags::IN)?;
            match recv(&self.socket, &mut *into, RecvFlags::empty()) {
                Ok((_, 0)) => return Err(failed(Errno::CONNRESET)),
                Ok((_, count)) => into = &mut into[count..],
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(errno) => return Err(failed(errno)),
            }
        }
        Ok(())
    }

    fn write(&mut self, mut bytes: &[u8]) -> Result<(), BusError> {
        while !bytes.is_empty() {
            self.wait(PollFlags::OUT)?;
            match send(&self.socket, bytes, SendFlags::NOSIGNAL) {
                Ok(count) => bytes = &bytes[count..],
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(errno) => return Err(failed(errno)),
            }
        }
        Ok(())
    }

    /// Waits until the socket is ready or the time is up.
    fn wait(&self, flags: PollFlags) -> Result<(), BusError> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(left).map_err(|_| BusError::TimedOut)?;
        match poll(&mut [PollFd::new(&self.socket, flags)], Some(&timeout)) {
            _ if left == Duration::ZERO => Err(BusError::TimedOut),
            Ok(0) => Err(BusError::TimedOut),
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(failed(errno)),
        }
    }
}

fn failed(errno: Errno) -> BusError {
    BusError::Io(errno.into())
}

/// A connected non-blocking socket. Connecting does not block either: a full backlog is an error at once.
fn open(place: &BusAddress) -> Result<OwnedFd, Errno> {
    let address = match place {
        BusAddress::Path(path) => SocketAddrUnix::new(path)?,
        BusAddress::Abstract(name) => SocketAddrUnix::new_abstract_name(name)?,
    };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    connect(&socket, &address)?;
    Ok(socket)
}
