//! Downloads of models, from a hub on this machine.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use super::Folder;

const MODEL: &str = "org/tiny";
const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
const WEIGHTS: &str = "model.safetensors";

/// Has the tiny encoder of the tests, and falls silent after half of its weights.
struct Hub {
    endpoint: String,
    silent: Arc<AtomicBool>,
}

impl Hub {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let silent = Arc::new(AtomicBool::new(true));
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/tiny/modernbert");
        let files = ["config.json", "tokenizer.json", WEIGHTS]
            .map(|name| (name.to_owned(), std::fs::read(folder.join(name)).unwrap()));
        let files = Arc::new(BTreeMap::from(files));
        let stops = Arc::clone(&silent);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (files, stops) = (Arc::clone(&files), Arc::clone(&stops));
                std::thread::spawn(move || serve(stream.unwrap(), &files, &stops));
            }
        });
        Self { endpoint, silent }
    }
}

fn serve(mut stream: TcpStream, files: &BTreeMap<String, Vec<u8>>, silent: &AtomicBool) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
    let Some(first) = lines.next() else { return };
    let path = first.split(' ').nth(1).unwrap().to_owned();
    let headers: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    let range = headers.iter().find_map(|line| {
        let start = line.to_ascii_lowercase().strip_prefix("range: bytes=")?.to_owned();
        start.trim_end_matches('-').parse::<usize>().ok()
    });
    let start = range.unwrap_or(0);
    let siblings: Vec<_> =
        files.iter().map(|(name, body)| json!({"rfilename": name, "size": body.len()})).collect();
    let name = path.rsplit('/').next().unwrap();
    let (body, whole) = match files.get(name) {
        Some(body) => {
            let whole = name != WEIGHTS || !silent.load(Ordering::Relaxed);
            (body[start..].to_vec(), whole)
        }
        None => (json!({"sha": COMMIT, "siblings": siblings}).to_string().into_bytes(), true),
    };
    let status = if start > 0 { "206 Partial Content" } else { "200 OK" };
    let sent = if whole { body.len() } else { body.len() / 2 };
    // Who hangs up early says so in an error of its own.
    let _ = write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    )
    .and_then(|()| stream.write_all(&body[..sent]));
    if !whole {
        // Until the client is gone.
        let _ = std::io::Read::read(&mut stream, &mut [0]);
    }
}

/// The part of a file that a download has got so far.
fn part_below(folder: &std::path::Path) -> Option<u64> {
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    entries.map(|entry| entry.path()).find_map(|path| {
        if path.is_dir() {
            return part_below(&path);
        }
        let is_part = path.extension().is_some_and(|extension| extension == "part");
        is_part.then(|| path.metadata().unwrap().len())
    })
}

#[test]
fn ctrl_c_ends_a_download_at_once_and_leaves_no_broken_file() {
    let (hub, folder) = (Hub::start(), Folder::new());
    let cache = folder.path("cache");
    let command = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_caz"));
        command
            .env_clear()
            .env("HF_HUB_CACHE", &cache)
            .env("HF_ENDPOINT", &hub.endpoint)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    };
    let mut child = command(&["models", "pull", MODEL]).spawn().unwrap();
    let begun = Instant::now();
    while part_below(&cache).is_none_or(|bytes| bytes == 0) {
        assert!(begun.elapsed() < Duration::from_mins(1), "nothing arrived");
        std::thread::sleep(Duration::from_millis(10));
    }
    let asked = Instant::now();
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let code = child.wait().unwrap().code();
    // The hub is silent, and its silence alone would end after a minute.
    assert!(asked.elapsed() < Duration::from_secs(20), "{:?}", asked.elapsed());
    assert_eq!(code, Some(130));
    let listed = command(&["models", "list", "--format", "csv"]).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert!(!listed.contains(MODEL), "half a model is no model: {listed}");
    let path = command(&["models", "path", MODEL]).output().unwrap();
    assert_eq!(path.status.code(), Some(4));
    let said = String::from_utf8(path.stderr).unwrap();
    assert!(said.contains("`caz models pull` with this name downloads it"), "{said}");
    let bundled = command(&["models", "path", "static"]).output().unwrap();
    assert_eq!(bundled.status.code(), Some(2));
    assert!(String::from_utf8(bundled.stderr).unwrap().contains("part of this program"));
    let secret = hub.endpoint.replace("://", "://user:s3cret@");
    let doctor = command(&["doctor"]).env("HF_ENDPOINT", secret).output().unwrap();
    let told = String::from_utf8(doctor.stdout).unwrap();
    assert!(told.contains(&hub.endpoint) && !told.contains("s3cret"), "{told}");

    // The same command fetches the rest.
    hub.silent.store(false, Ordering::Relaxed);
    let done = command(&["models", "pull", MODEL]).output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(part_below(&cache), None);
    let found = PathBuf::from(String::from_utf8(done.stdout).unwrap().trim());
    let tiny = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/tiny/modernbert");
    for name in ["config.json", "tokenizer.json", WEIGHTS] {
        let (new, old) = (std::fs::read(found.join(name)), std::fs::read(tiny.join(name)));
        assert_eq!(new.unwrap(), old.unwrap(), "{name}");
    }
}
