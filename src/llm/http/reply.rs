//! Reading the body of a reply: whole, or bit by bit as a stream of events.
//!
//! Servers stream although nobody asked, and answer whole although asked for a stream; so what is
//! there is told by its first bytes. Nothing is held but the answer, and that is bounded.

use std::io::{self, Read};
use std::time::{Duration, Instant};

use super::answer::Assembly;
use super::events::EventReader;

/// Most bytes of a reply that are held, after decoding; a completion of 100,000 tokens is under
/// 1 MiB, 32 vectors of 4,096 dimensions under 3.
pub(super) const MOST_HELD: usize = 16 << 20;

/// Most bytes of a stream; a token comes in an event of some 300 bytes.
const MOST_STREAMED: u64 = 512 << 20;

/// Signs of life without an answer (comments, white space) count for this many times the longest
/// silence: a server that queues requests sends them, and so does one that hangs behind a proxy.
const MOST_SILENCES: u32 = 10;

/// What starts a stream of events.
const EVENT_STARTS: [&[u8]; 5] = [b"data:", b"event:", b"id:", b"retry:", b":"];

/// The body of a reply with a good status.
#[derive(Debug)]
pub(super) enum Received {
    /// As one text.
    Whole(Vec<u8>),
    /// As a stream, put together.
    Stream(Assembly),
}

/// Why there is none.
#[derive(Debug)]
pub(super) enum Fault {
    /// It is larger than this.
    TooLarge(u64),
    /// Only signs of life came, for too long.
    Stalled,
    /// Reading failed; whether anything had come by then.
    Read(io::Error, bool),
}

/// How much is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    held: usize,
    streamed: u64,
    stalled: Duration,
}

impl Limits {
    /// The limits for a server that may be silent this long.
    pub(super) fn new(silence: Duration) -> Self {
        let stalled = silence.saturating_mul(MOST_SILENCES);
        Self { held: MOST_HELD, streamed: MOST_STREAMED, stalled }
    }
}

/// Everything that `reader` gives.
pub(super) fn receive(reader: &mut dyn Read, limits: Limits) -> Result<Received, Fault> {
    let mut buffer = vec![0; 16 << 10];
    let mut body = Vec::new();
    let mut progress = Instant::now();
    // White space is not held: it would be a way to fill the memory.
    let (mut seen, mut blank) = (0_u64, 0_u64);
    loop {
        match read(reader, &mut buffer) {
            Ok(0) => return Ok(Received::Whole(without_mark(&body).to_vec())),
            Ok(count) => {
                seen += count as u64;
                if body.is_empty() {
                    let fresh = &buffer[..count];
                    let start = fresh.iter().position(|byte| !byte.is_ascii_whitespace());
                    let start = start.unwrap_or(count);
                    blank += start as u64;
                    body.extend_from_slice(&fresh[start..]);
                } else {
                    body.extend_from_slice(&buffer[..count]);
                }
            }
            Err(error) => return Err(Fault::Read(error, seen > 0)),
        }
        if body.is_empty() {
            if progress.elapsed() > limits.stalled {
                return Err(Fault::Stalled);
            }
        } else {
            progress = Instant::now();
        }
        if EVENT_STARTS.iter().any(|start| without_mark(&body).starts_with(start)) {
            let begun = without_mark(&body).to_vec();
            return stream(reader, &begun, &mut buffer, limits).map(Received::Stream);
        }
        if body.len() > limits.held || blank > limits.held as u64 {
            return Err(Fault::TooLarge(limits.held as u64));
        }
    }
}

/// The rest of a stream that began with `begun`.
fn stream(
    reader: &mut dyn Read,
    begun: &[u8],
    buffer: &mut [u8],
    limits: Limits,
) -> Result<Assembly, Fault> {
    let (mut events, mut assembly) = (EventReader::default(), Assembly::default());
    let mut progress = Instant::now();
    let mut total = begun.len() as u64;
    let mut feed = |bytes: &[u8], assembly: &mut Assembly| {
        let mut is_progress = false;
        let goes_on = events.feed(bytes, &mut |data| {
            is_progress = true;
            assembly.take(data)
        });
        (goes_on, is_progress, events.held())
    };
    let mut fed = feed(begun, &mut assembly);
    loop {
        let (goes_on, is_progress, held) = fed;
        // What may follow the last event is not waited for: some servers keep the connection open.
        if !goes_on {
            return Ok(assembly);
        }
        if is_progress {
            progress = Instant::now();
        } else if progress.elapsed() > limits.stalled {
            return Err(Fault::Stalled);
        }
        if held + assembly.held() > limits.held {
            return Err(Fault::TooLarge(limits.held as u64));
        }
        if total > limits.streamed {
            return Err(Fault::TooLarge(limits.streamed));
        }
        match read(reader, buffer) {
            Ok(0) => break,
            Ok(count) => {
                total += count as u64;
                fed = feed(&buffer[..count], &mut assembly);
            }
            // Broken behind the end of the answer is not broken.
            Err(_) if assembly.is_finished() => return Ok(assembly),
            Err(error) => return Err(Fault::Read(error, true)),
        }
    }
    if let Some(data) = events.rest() {
        assembly.take(&data);
    }
    Ok(assembly)
}

fn read(reader: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

/// The body without the byte order mark that some begin with.
fn without_mark(body: &[u8]) -> &[u8] {
    body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(held: usize, streamed: u64) -> Limits {
        Limits { held, streamed, stalled: Duration::from_mins(1) }
    }

    fn received(bytes: &[u8], limits: Limits) -> Result<Received, Fault> {
        receive(&mut &*bytes, limits)
    }

    #[test]
    fn what_starts_like_an_event_is_a_stream_and_the_rest_is_whole() {
        let is_stream = |bytes: &[u8]| match received(bytes, limits(1000, 1000)).unwrap() {
            Received::Stream(_) => true,
            Received::Whole(body) => {
                assert_eq!(body, bytes.trim_ascii_start());
                false
            }
        };
        for stream in ["data: {}\n\n", "\n\r\n: hi\n\n", "event: x\ndata: {}", "\u{feff}data:{}"] {
            assert!(is_stream(stream.as_bytes()), "{stream}");
        }
        let marked = received("\u{feff}{}".as_bytes(), limits(1000, 1000)).unwrap();
        assert!(matches!(marked, Received::Whole(body) if body == b"{}"));
        for whole in ["{\"data\": 1}", "  [1]", "<html>", "", "\n", "dat", "database: 1"] {
            assert!(!is_stream(whole.as_bytes()), "{whole}");
        }
    }

    /// Gives one byte at a time.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.0.len().min(1);
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    #[test]
    fn a_stream_is_known_though_it_comes_byte_by_byte() {
        let reply = receive(&mut Slow(b"\n data: {}\n\n"), limits(100, 100)).unwrap();
        assert!(matches!(reply, Received::Stream(_)));
    }

    #[test]
    fn neither_text_nor_noise_goes_on_for_ever() {
        let delta = "data: {\"choices\":[{\"delta\":{\"content\":\"0123456789\"}}]}\n\n";
        let much = delta.repeat(50);
        // 500 bytes of text in some 3,000 bytes of events.
        let too_large = |limits| match received(much.as_bytes(), limits) {
            Err(Fault::TooLarge(limit)) => Some(limit),
            Err(fault) => panic!("{fault:?}"),
            Ok(_) => None,
        };
        assert_eq!(too_large(limits(600, 10_000)), None);
        assert_eq!(too_large(limits(100, 10_000)), Some(100));
        assert_eq!(too_large(limits(600, 1_000)), Some(1_000));
        // One event without an end, and white space without an answer.
        let endless = format!("data: {}", "x".repeat(1000));
        let fault = received(endless.as_bytes(), limits(100, 10_000)).unwrap_err();
        assert!(matches!(fault, Fault::TooLarge(100)), "{fault:?}");
        let fault = received(" ".repeat(1000).as_bytes(), limits(100, 10_000)).unwrap_err();
        assert!(matches!(fault, Fault::TooLarge(100)), "{fault:?}");
    }

    /// Gives a comment, slowly, for ever.
    struct Alive;

    impl Read for Alive {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            std::thread::sleep(Duration::from_millis(2));
            buffer[..4].copy_from_slice(b": x\n");
            Ok(4)
        }
    }

    #[test]
    fn signs_of_life_alone_do_not_keep_a_server_alive() {
        let limits = Limits::new(Duration::from_millis(5));
        assert!(matches!(receive(&mut Alive, limits), Err(Fault::Stalled)));
    }
}
