//! A new network namespace has one device, which is down. One netlink message brings it up; the usual `ioctl` has no safe
//! wrapper.

use std::io;

use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with};

/// The loopback device is the first of every namespace.
const LOOPBACK_INDEX: i32 = 1;

/// Bytes of the header of a netlink message.
const HEADER_BYTES: usize = 16;

pub(super) fn bring_up() -> io::Result<()> {
    // Without a protocol it is the one for routes and links.
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    let request = link_up_request();
    sendto(&socket, &request, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
    let mut bytes = [0; 1_024];
    let (length, _) = recv(&socket, &mut bytes, RecvFlags::empty())?;
    // An answer is the header, a number that is zero or a negative error, and the request again.
    let code = bytes[..length].get(HEADER_BYTES..HEADER_BYTES + 4).and_then(|code| code.try_into().ok());
    match code.map(i32::from_ne_bytes) {
        Some(0) => Ok(()),
        Some(error) => Err(io::Error::from_raw_os_error(-error)),
        None => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// `RTM_NEWLINK` that sets `IFF_UP` and nothing else, and asks for an answer.
fn link_up_request() -> Vec<u8> {
    let flags = (libc::NLM_F_REQUEST | libc::NLM_F_ACK) as u16;
    let up = libc::IFF_UP as u32;
    let mut link = vec![libc::AF_UNSPEC as u8, 0, 0, 0];
    link.extend(LOOPBACK_INDEX.to_ne_bytes());
    link.extend(up.to_ne_bytes());
    link.extend(up.to_ne_bytes());
    let length = (HEADER_BYTES + link.len()) as u32;
    let mut message = Vec::from(length.to_ne_bytes());
    message.extend(libc::RTM_NEWLINK.to_ne_bytes());
    message.extend(flags.to_ne_bytes());
    message.extend([0; 8]);
    message.extend(link);
    message
}
