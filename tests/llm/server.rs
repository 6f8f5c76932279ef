//! An HTTP/1.1 server that can do everything wrong.
//!
//! Written on sockets, because the faults to be tested (a body that ends early, a connection that
//! is reset in the middle) are those that a well-behaved server library does not let one make.

use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

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
    /// A completion with this text.
    Chat(String),
    /// A completion with this text and reason to finish.
    Finished(String, &'static str),
    /// A status with headers and a body.
    Status(u16, Vec<(&'static str, String)>, String),
    /// 200 with this body, whatever it is.
    Body(Vec<u8>),
    /// 200, a length, and half the body before the connection is closed.
    Closed,
    /// Wait, then reply.
    Slow(Duration, Box<Reply>),
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
}

impl Server {
    pub(crate) fn start(handle: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let asked = Arc::new(Mutex::new(Vec::new()));
        let answered = Arc::new(AtomicUsize::new(0));
        let handle = Arc::new(handle);
        let shared = (Arc::clone(&asked), Arc::clone(&answered));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (handle, shared) = (Arc::clone(&handle), shared.clone());
                thread::spawn(move || serve(stream, handle.as_ref(), &shared));
            }
        });
        Self { address, asked, answered }
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
#[expect(clippy::needless_pass_by_value, reason = "the connection ends here")]
fn serve(stream: TcpStream, handle: &(dyn Fn(&Asked) -> Reply + Send + Sync), shared: &Shared) {
    let mut reader = BufReader::new(&stream);
    while let Some(asked) = read_request(&mut reader, &shared.0) {
        if write_reply(&mut &stream, handle(&asked)).is_none() {
            let _ = stream.shutdown(Shutdown::Both);
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
fn write_reply(writer: &mut impl Write, reply: Reply) -> Option<()> {
    match reply {
        Reply::Slow(wait, reply) => {
            thread::sleep(wait);
            write_reply(writer, *reply)
        }
        Reply::Chat(text) => write_whole(writer, 200, &[], completion(&text, "stop").as_bytes()),
        Reply::Finished(text, finish) => {
            write_whole(writer, 200, &[], completion(&text, finish).as_bytes())
        }
        Reply::Status(status, headers, body) => {
            write_whole(writer, status, &headers, body.as_bytes())
        }
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
