//! An HTTP/1.1 server that can do everything wrong.
//!
//! Written on sockets, because the faults to be tested (a body that ends early, a connection that
//! is reset in the middle) are those that a well-behaved server library does not let one make.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::thread;
use std::time::{Duration, Instant};

use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// Number of the request, from 0.
    pub(crate) index: usize,
    /// First line and headers.
    pub(crate) head: String,
    /// The body, null if it is no JSON.
    pub(crate) body: Value,
    /// When it had arrived.
    pub(crate) at: Instant,
}

impl Asked {
    /// The content of the last message.
    pub(crate) fn last_message(&self) -> &str {
        let messages = self.body["messages"].as_array().expect("a chat request");
        messages.last().and_then(|message| message["content"].as_str()).expect("a message")
    }
}

/// What the server does.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// A completion with this text; a stream if one is asked for.
    Chat(String),
    /// A completion with this text and reason to finish; a stream if one is asked for.
    Finished(String, &'static str),
    /// A completion with this text, whole whatever is asked for.
    Whole(String),
    /// 200 and a stream of these pieces, whatever is asked for.
    Stream(Vec<Piece>),
    /// A status with headers and a body.
    Status(u16, Vec<(&'static str, String)>, String),
    /// 200 with this body, whatever it is.
    Body(Vec<u8>),
    /// 200 with headers and this body.
    Packed(Vec<(&'static str, String)>, Vec<u8>),
    /// 200, a length, and half the body before the connection is closed.
    Closed,
    /// Wait, then reply.
    Slow(Duration, Box<Reply>),
}

/// A part of a stream.
#[derive(Debug, Clone)]
pub(crate) enum Piece {
    /// Bytes that are sent together.
    Bytes(Vec<u8>),
    /// Nothing for a while.
    Pause(Duration),
    /// The connection breaks.
    Break,
}

impl Piece {
    /// An event with this data.
    pub(crate) fn event(data: &Value) -> Self {
        Self::text(&format!("data: {data}\n\n"))
    }

    pub(crate) fn text(text: &str) -> Self {
        Self::Bytes(text.as_bytes().to_vec())
    }

    /// The next part of the text of an answer.
    pub(crate) fn delta(text: &str) -> Self {
        Self::event(&json!({"choices": [{"index": 0, "delta": {"content": text}}]}))
    }

    /// The end of an answer.
    pub(crate) fn finish(reason: &str) -> Self {
        Self::event(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}))
    }

    /// What an answer cost.
    pub(crate) fn usage() -> Self {
        let usage = json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15});
        Self::event(&json!({"choices": [], "usage": usage}))
    }

    /// What ends a stream.
    pub(crate) fn done() -> Self {
        Self::text("data: [DONE]\n\n")
    }
}

/// A stream as servers in use send it: the text in bits, and what it cost if that is asked for.
fn streamed(text: &str, finish: &str, with_usage: bool) -> Vec<Piece> {
    let role = json!({"role": "assistant", "content": null});
    let mut pieces = vec![Piece::event(&json!({"choices": [{"index": 0, "delta": role}]}))];
    let characters: Vec<char> = text.chars().collect();
    // Few events for long texts: these tests are about what is sent, not about how much.
    let size = (characters.len() / 4).max(1);
    pieces.extend(characters.chunks(size).map(|bit| Piece::delta(&bit.iter().collect::<String>())));
    pieces.push(Piece::finish(finish));
    pieces.extend(with_usage.then(Piece::usage));
    pieces.push(Piece::done());
    pieces
}

impl Reply {
    pub(crate) fn status(status: u16) -> Self {
        Self::Status(status, Vec::new(), "{\"error\":{\"message\":\"no\"}}".into())
    }

    /// A status that may be tried again at once.
    pub(crate) fn again(status: u16) -> Self {
        Self::Status(status, vec![("Retry-After", "0".into())], "<html>busy</html>".into())
    }
}

/// The body of a completion.
pub(crate) fn completion(text: &str, finish: &str) -> String {
    json!({
        "id": "x",
        "choices": [{
            "index": 0,
            "message": {"role": "assistant", "content": text},
            "finish_reason": finish
        }],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    })
    .to_string()
}

/// A running server; it ends with the process.
pub(crate) struct Server {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    answered: Arc<AtomicUsize>,
    connections: Connections,
}

/// Those that are open, and some that were; `None` once the server is killed.
type Connections = Arc<Mutex<Option<Vec<Weak<TcpStream>>>>>;

impl Server {
    pub(crate) fn start(handle: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        Self::start_with(None, handle)
    }

    /// A server that speaks TLS.
    pub(crate) fn start_tls(
        identity: Arc<ServerConfig>,
        handle: impl Fn(&Asked) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self::start_with(Some(identity), handle)
    }

    fn start_with(
        identity: Option<Arc<ServerConfig>>,
        handle: impl Fn(&Asked) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let asked = Arc::new(Mutex::new(Vec::new()));
        let answered = Arc::new(AtomicUsize::new(0));
        let handle = Arc::new(handle);
        let shared = (Arc::clone(&asked), Arc::clone(&answered));
        let connections: Connections = Arc::new(Mutex::new(Some(Vec::new())));
        let open = Arc::clone(&connections);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let stream = Arc::new(stream);
                match &mut *open.lock().unwrap() {
                    Some(open) => open.push(Arc::downgrade(&stream)),
                    // Dropping the listener refuses whoever comes later.
                    None => return,
                }
                let (handle, shared, identity) =
                    (Arc::clone(&handle), shared.clone(), identity.clone());
                thread::spawn(move || match identity {
                    None => serve(&*stream, handle.as_ref(), &shared),
                    Some(identity) => {
                        let session = ServerConnection::new(identity).expect("a valid identity");
                        serve(StreamOwned::new(session, &*stream), handle.as_ref(), &shared);
                    }
                });
            }
        });
        Self { address, asked, answered, connections }
    }

    /// Ends as a killed process does: connections break, and nobody listens any more.
    pub(crate) fn kill(&self) {
        let open = self.connections.lock().unwrap().take().unwrap_or_default();
        for stream in open.iter().filter_map(Weak::upgrade) {
            let _ = stream.shutdown(Shutdown::Both);
        }
        // The listener notices at its next connection.
        let _ = TcpStream::connect(self.address);
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.asked.lock().unwrap().len()
    }

    /// How many replies were written to the end.
    pub(crate) fn answered(&self) -> usize {
        self.answered.load(Ordering::SeqCst)
    }
}

type Shared = (Arc<Mutex<Vec<Asked>>>, Arc<AtomicUsize>);

/// Serves one connection until it is closed.
fn serve(
    stream: impl Read + Write,
    handle: &(dyn Fn(&Asked) -> Reply + Send + Sync),
    shared: &Shared,
) {
    let mut stream = BufReader::new(stream);
    while let Some(asked) = read_request(&mut stream, &shared.0) {
        if write_reply(stream.get_mut(), &asked, handle(&asked)).is_none() {
            return;
        }
        shared.1.fetch_add(1, Ordering::SeqCst);
    }
}

fn read_request(reader: &mut impl BufRead, log: &Mutex<Vec<Asked>>) -> Option<Asked> {
    let mut head = String::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line == "\r\n" {
            break;
        }
        head.push_str(&line);
    }
    let lower = head.to_lowercase();
    let length = lower
        .lines()
        .find_map(|line| line.strip_prefix("content-length:"))
        .map_or(0, |value| value.trim().parse().expect("a number"));
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let mut log = log.lock().unwrap();
    let asked = Asked { index: log.len(), head, body, at: Instant::now() };
    log.push(asked.clone());
    Some(asked)
}

/// `None` if the connection is not to be used again.
fn write_reply(writer: &mut impl Write, asked: &Asked, reply: Reply) -> Option<()> {
    let finished = |writer: &mut _, text: &str, finish: &str| {
        if asked.body["stream"] == json!(true) {
            let with_usage = asked.body["stream_options"]["include_usage"] == json!(true);
            return write_stream(writer, streamed(text, finish, with_usage));
        }
        write_whole(writer, 200, &[], completion(text, finish).as_bytes())
    };
    match reply {
        Reply::Slow(wait, reply) => {
            thread::sleep(wait);
            write_reply(writer, asked, *reply)
        }
        Reply::Chat(text) => finished(writer, &text, "stop"),
        Reply::Finished(text, finish) => finished(writer, &text, finish),
        Reply::Whole(text) => write_whole(writer, 200, &[], completion(&text, "stop").as_bytes()),
        Reply::Stream(pieces) => write_stream(writer, pieces),
        Reply::Status(status, headers, body) => {
            write_whole(writer, status, &headers, body.as_bytes())
        }
        Reply::Packed(headers, body) => write_whole(writer, 200, &headers, &body),
        Reply::Body(body) => write_whole(writer, 200, &[], &body),
        Reply::Closed => {
            let body = completion("never seen to its end", "stop");
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
                body.len()
            );
            let _ = writer.write_all(head.as_bytes());
            let _ = writer.write_all(&body.as_bytes()[..body.len() / 2]);
            let _ = writer.flush();
            None
        }
    }
}

/// Writes a stream; `None` if it breaks.
fn write_stream(writer: &mut impl Write, pieces: Vec<Piece>) -> Option<()> {
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    writer.write_all(head.as_bytes()).ok()?;
    for piece in pieces {
        match piece {
            Piece::Bytes(bytes) => {
                let size = format!("{:x}\r\n", bytes.len());
                writer.write_all(&[size.as_bytes(), &bytes, b"\r\n"].concat()).ok()?;
                writer.flush().ok()?;
            }
            Piece::Pause(time) => thread::sleep(time),
            Piece::Break => return None,
        }
    }
    // Who has read the last event may have left.
    let _ = writer.write_all(b"0\r\n\r\n").and_then(|()| writer.flush());
    Some(())
}

fn write_whole(
    writer: &mut impl Write,
    status: u16,
    headers: &[(&str, String)],
    body: &[u8],
) -> Option<()> {
    let headers: String =
        headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let head = format!(
        "HTTP/1.1 {status} Status\r\nContent-Type: application/json\r\n{headers}Content-Length: {}\r\n\r\n",
        body.len()
    );
    writer.write_all(head.as_bytes()).ok()?;
    writer.write_all(body).ok()?;
    writer.flush().ok()
}

/// An address where nothing listens: port 1 is reserved for a service that nobody runs, while a
/// free port might be given to the server of another test.
pub(crate) fn nobody() -> String {
    "http://127.0.0.1:1/v1".into()
}
