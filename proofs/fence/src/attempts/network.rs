//! Reaching somebody outside. Whoever listens there says whether something came.

use std::io::Write;
use std::net::{Ipv4Addr, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixStream};

use rustix::net::{AddressFamily, SendFlags, SocketAddrUnix, SocketFlags, SocketType, socketpair};

use super::AttemptKind::{SaysItself, SeenOutside};
use super::{Attempt, Place, system_call};

const fn seen(name: &'static str, try_it: fn(&Place) -> anyhow::Result<String>) -> Attempt {
    Attempt { name, kind: SeenOutside, try_it }
}

const fn says(name: &'static str, try_it: fn(&Place) -> anyhow::Result<String>) -> Attempt {
    Attempt { name, kind: SaysItself, try_it }
}

pub(super) const ATTEMPTS: &[Attempt] = &[
    seen("tcp_connect", |place| {
        done(TcpStream::connect((Ipv4Addr::LOCALHOST, place.tcp_port))?.write_all(b"mine")?)
    }),
    seen("udp_send", |place| {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        socket.send_to(b"mine", (Ipv4Addr::LOCALHOST, place.udp_port))?;
        done(())
    }),
    seen("unix_connect", |place| done(UnixStream::connect(place.outside("socket"))?.write_all(b"mine")?)),
    seen("unix_datagram_send", |place| {
        UnixDatagram::unbound()?.send_to(b"mine", place.outside("datagram"))?;
        done(())
    }),
    seen("unix_pair_sends_elsewhere", |place| pair_sends_elsewhere(place, SocketType::DGRAM)),
    // The kernel makes datagrams of it.
    seen("unix_raw_pair_sends_elsewhere", |place| pair_sends_elsewhere(place, SocketType::RAW)),
    seen("abstract_unix_connect", |place| {
        let there = SocketAddr::from_abstract_name(place.abstract_name())?;
        done(UnixStream::connect_addr(&there)?.write_all(b"mine")?)
    }),
    says("netlink_socket", |_| system_call(41, "16, 3, 0")),
    says("packet_socket", |_| system_call(41, "17, 3, 0")),
    says("vsock_socket", |_| system_call(41, "40, 1, 0")),
    says("short_pointer_socket", |_| system_call(0x4000_0000 + 41, "1, 1, 0")),
];

fn pair_sends_elsewhere(place: &Place, kind: SocketType) -> anyhow::Result<String> {
    let (one, _other) = socketpair(AddressFamily::UNIX, kind, SocketFlags::empty(), None)?;
    let there = SocketAddrUnix::new(place.outside("datagram"))?;
    rustix::net::sendto(&one, b"mine", SendFlags::empty(), &there)?;
    done(())
}

fn done((): ()) -> anyhow::Result<String> {
    Ok("done".to_owned())
}
