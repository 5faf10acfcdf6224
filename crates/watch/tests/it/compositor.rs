//! A compositor in a hundred lines that speaks the bare protocol: for what no installed one can be made to
//! do.

use std::collections::HashMap;
use std::io::{IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::thread::JoinHandle;

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

/// The first id of the compositor's own range.
const OFFER: u32 = 0xff00_0000;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Play {
    pub(crate) globals: &'static [&'static str],
    /// The text on its clipboard.
    pub(crate) says: &'static [u8],
    /// Whether the owner dies after sending it.
    pub(crate) dies: bool,
}

/// Serves one client, and ends with it.
pub(crate) fn compositor(play: Play) -> (tempfile::TempDir, PathBuf, JoinHandle<()>) {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("wayland-1");
    let listener = UnixListener::bind(&socket).unwrap();
    let thread = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        Client {
            stream,
            play,
            registry: 0,
            device: 0,
            dead: false,
            objects: HashMap::new(),
            fds: Vec::new(),
        }
        .serve();
    });
    (folder, socket, thread)
}

struct Client {
    stream: UnixStream,
    play: Play,
    registry: u32,
    device: u32,
    dead: bool,
    objects: HashMap<u32, String>,
    fds: Vec<OwnedFd>,
}

impl Client {
    fn serve(mut self) {
        let mut bytes = Vec::new();
        while self.receive(&mut bytes) {
            while bytes.len() >= 8 {
                let word = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap());
                let (object, size, opcode) = (word(0), (word(4) >> 16) as usize, word(4) & 0xffff);
                if bytes.len() < size {
                    break;
                }
                let message: Vec<u8> = bytes.drain(..size).skip(8).collect();
                self.answer(object, opcode, &message);
            }
        }
    }

    fn receive(&mut self, into: &mut Vec<u8>) -> bool {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(8))];
        let mut passed = RecvAncillaryBuffer::new(&mut space);
        let mut part = [0; 4096];
        let flags = RecvFlags::CMSG_CLOEXEC;
        let Ok(got) = recvmsg(&self.stream, &mut [IoSliceMut::new(&mut part)], &mut passed, flags) else {
            return false;
        };
        for message in passed.drain() {
            if let RecvAncillaryMessage::ScmRights(fds) = message {
                self.fds.extend(fds);
            }
        }
        into.extend_from_slice(&part[..got.bytes]);
        got.bytes > 0
    }

    fn answer(&mut self, object: u32, opcode: u32, message: &[u8]) {
        let last = || u32::from_ne_bytes(message[message.len() - 4..].try_into().unwrap());
        let first = || u32::from_ne_bytes(message[..4].try_into().unwrap());
        let interface = self.objects.get(&object).map_or("", String::as_str);
        if object == 1 && opcode == 0 {
            if self.dead {
                self.send(self.device, 1, &number(0));
            }
            self.send(first(), 0, &number(0));
        } else if object == 1 {
            self.registry = first();
            for (name, interface) in (1..).zip(self.play.globals) {
                self.send(self.registry, 0, &[number(name), string(interface), number(1)].concat());
            }
        } else if object == self.registry {
            let interface = self.play.globals[first() as usize - 1];
            self.objects.insert(last(), interface.to_owned());
        } else if interface.contains("data_control") && opcode == 1 {
            self.device = first();
            self.send(self.device, 0, &number(OFFER));
            self.send(OFFER, 0, &string("text/plain;charset=utf-8"));
            self.send(self.device, 1, &number(OFFER));
        } else if object == OFFER && opcode == 0 {
            let pipe = self.fds.remove(0);
            std::fs::File::from(pipe).write_all(self.play.says).unwrap();
            self.dead = self.play.dies;
        }
    }

    fn send(&mut self, object: u32, opcode: u32, message: &[u8]) {
        let size = u32::try_from(message.len() + 8).unwrap();
        let bytes = [&number(object), &number(size << 16 | opcode), message].concat();
        // A client that has gone got what it wanted.
        let _ = self.stream.write_all(&bytes);
    }
}

fn number(number: u32) -> Vec<u8> {
    number.to_ne_bytes().to_vec()
}

fn string(text: &str) -> Vec<u8> {
    let mut bytes = number(u32::try_from(text.len() + 1).unwrap());
    bytes.extend_from_slice(text.as_bytes());
    bytes.resize(bytes.len() + 4 - text.len() % 4, 0);
    bytes
}
