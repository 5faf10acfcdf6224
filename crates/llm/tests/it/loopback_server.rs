//! A server on loopback that handles each connection as a test says.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// How long a test waits for what must happen.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);

/// The head of an answer that streams until the connection closes.
pub(crate) const STREAM: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

/// The head of a chunked answer: a connection that closes before the last chunk was cut off.
pub(crate) const CHUNKED: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    connections: Arc<AtomicUsize>,
    requests: Receiver<String>,
}

impl Server {
    /// Passes each connection to `serve` after its request was read, with its number from 0.
    pub(crate) fn new(serve: impl Fn(usize, TcpStream) + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let (sender, requests) = channel();
        let serve = Arc::new(serve);
        let count = connections.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { break };
                let number = count.fetch_add(1, Ordering::SeqCst);
                let (serve, sender) = (serve.clone(), sender.clone());
                std::thread::spawn(move || {
                    if let Some(request) = read_request(&mut stream) {
                        let _ = sender.send(request);
                        serve(number, stream);
                    }
                });
            }
        });
        Server { address, connections, requests }
    }

    /// Answers each connection with these bytes, and closes it.
    pub(crate) fn says(bytes: impl Into<Vec<u8>>) -> Server {
        let bytes = bytes.into();
        Server::new(move |_, mut stream| {
            let _ = stream.write_all(&bytes);
        })
    }

    /// Answers with a status and a body.
    pub(crate) fn refuses(status: u16, headers: &str, body: &str) -> Server {
        let length = body.len();
        Server::says(format!(
            "HTTP/1.1 {status} No\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
        ))
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// The next request, as it came.
    pub(crate) fn request(&self) -> String {
        self.requests.recv_timeout(LIMIT).unwrap()
    }
}

/// An event of the stream.
pub(crate) fn event(data: &str) -> String {
    format!("data: {data}\n\n")
}

pub(crate) fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n", text.len())
}

/// `None` if the connection closes.
pub(crate) fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                if name.eq_ignore_ascii_case("content-length") { value.trim().parse().ok() } else { None }
            });
            if body.len() >= length.unwrap_or(0) {
                return Some(text);
            }
        }
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&piece[..count]),
        }
    }
}

/// Waits until the other side has closed; returns when.
pub(crate) fn closed(stream: &mut TcpStream) -> Instant {
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    let mut piece = [0; 64];
    while matches!(stream.read(&mut piece), Ok(count) if count > 0) {}
    Instant::now()
}

/// Lets other tasks run until `is` returns true.
pub(crate) async fn until(mut is: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is() {
        assert!(started.elapsed() < LIMIT, "it did not happen in time");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}
