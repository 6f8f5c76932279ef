//! One request and its reply, on a thread that can be left.
//!
//! A read blocks until the server says something, and neither finding the address of a host nor
//! connecting can be broken off. So the request has a thread of its own, and whoever asks waits for
//! it and for the token that asks to stop. A thread that is left owns all that it works with, its
//! connections are shut down, and what it still brings goes to nobody: nothing is sent that was not
//! on its way, and nothing half read is taken for an answer.

use std::io;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use super::reply::{Fault, Limits, Received, receive};
use super::retry::parse_retry_after;
use crate::data::interruption::{Interrupted, Interruption};

/// How often the token is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// How long a request under way may go on after a request to stop: what is nearly there is paid for.
const GRACE: Duration = Duration::from_secs(1);

/// What is sent; all of it goes to the thread.
pub(super) struct Outgoing {
    /// Connections to the server.
    pub(super) agent: ureq::Agent,
    /// Where to.
    pub(super) endpoint: String,
    /// The value of the `Authorization` header.
    pub(super) bearer: Option<String>,
    /// JSON.
    pub(super) body: String,
    /// How much is read.
    pub(super) limits: Limits,
}

/// What came back.
pub(super) struct Reply {
    /// Of HTTP.
    pub(super) status: u16,
    /// How long the server asks to be waited for.
    pub(super) after: Option<Duration>,
    /// The body.
    pub(super) received: Result<Received, Fault>,
}

/// The reply to a request, or why there is none.
///
/// # Errors
///
/// [`Interrupted`] if it was asked to stop and the reply did not come within a second. All requests
/// through the same agent are given up then, and it takes no further ones.
pub(super) fn exchange(
    outgoing: Outgoing,
    interruption: &Interruption,
) -> Result<Result<Reply, ureq::Error>, Interrupted> {
    let agent = outgoing.agent.clone();
    let (sender, replied) = sync_channel(1);
    let work = move || {
        // Whoever asked may have left.
        let _ = sender.send(send(&outgoing));
    };
    let thread = match thread::Builder::new().name("request".into()).spawn(work) {
        Ok(thread) => thread,
        Err(error) => return Ok(Err(error.into())),
    };
    let mut asked_to_stop: Option<Instant> = None;
    loop {
        match replied.recv_timeout(LOOK) {
            Ok(reply) => return Ok(reply),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Ok(()) => return Ok(Err(io::Error::from(io::ErrorKind::BrokenPipe).into())),
                Err(panic) => std::panic::resume_unwind(panic),
            },
        }
        if interruption.requested() {
            let since = *asked_to_stop.get_or_insert_with(Instant::now);
            if since.elapsed() >= GRACE {
                agent.shutdown();
                return Err(Interrupted);
            }
        }
    }
}

fn send(outgoing: &Outgoing) -> Result<Reply, ureq::Error> {
    let mut request =
        outgoing.agent.post(&outgoing.endpoint).header("content-type", "application/json");
    if let Some(bearer) = &outgoing.bearer {
        request = request.header("authorization", bearer);
    }
    let mut response = request.send(&outgoing.body)?;
    let status = response.status().as_u16();
    let after = response.headers().get("retry-after").and_then(|value| value.to_str().ok());
    let after = after.and_then(|value| parse_retry_after(value, SystemTime::now()));
    let received = receive(&mut response.body_mut().as_reader(), outgoing.limits);
    Ok(Reply { status, after, received })
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::{SocketAddr, TcpListener};

    use super::*;

    /// The error of a request to `address` that is stopped soon after it began, and the time it took.
    fn stopped(address: SocketAddr) -> (bool, Duration) {
        // Silence is not what ends it.
        let patience = Some(Duration::from_hours(1));
        let agent = ureq::Agent::config_builder().timeout_connect(patience).proxy(None).build();
        let outgoing = Outgoing {
            agent: agent.new_agent(),
            endpoint: format!("http://{address}/v1/chat/completions"),
            bearer: None,
            body: "{}".into(),
            limits: Limits::new(Duration::from_hours(1)),
        };
        let token = Interruption::default();
        let asked = token.clone();
        let stop = thread::spawn(move || {
            thread::sleep(Duration::from_millis(100));
            asked.request();
            Instant::now()
        });
        let outcome = exchange(outgoing, &token);
        (outcome.is_err(), stop.join().unwrap().elapsed())
    }

    #[test]
    fn a_server_that_says_nothing_is_not_waited_for_once_a_stop_is_asked_for() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let closed = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut all = Vec::new();
            // Ends when the other side has shut the connection down.
            stream.read_to_end(&mut all)
        });
        let (is_stopped, took) = stopped(address);
        assert!(is_stopped);
        assert!((GRACE..GRACE + Duration::from_secs(10)).contains(&took), "{took:?}");
        assert!(closed.join().unwrap().is_ok());
    }

    /// Linux leaves connections beyond the queue of a listener without a reply.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_connection_that_is_not_made_is_not_waited_for_either() {
        use std::net::TcpStream;

        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut queue = Vec::new();
        while let Ok(stream) = TcpStream::connect_timeout(&address, Duration::from_millis(200)) {
            queue.push(stream);
        }
        let (is_stopped, took) = stopped(address);
        assert!(is_stopped);
        assert!(took < GRACE + Duration::from_secs(10), "{took:?}");
    }
}
