//! The cache's layout, and downloads from a hub in the test process.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::download::sha256_of_bytes as sha256;
use super::repository::licence;
use super::*;
use crate::data::progress::NoProgress;
use crate::embed::Embedder;
use crate::embed::bert::{BertEmbedder, BertOptions};
use crate::error::{ErrorKind, Kinded, Remedy};
use crate::llm::ProxySettings;

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
const MODEL: &str = "someone/tiny-model";

fn tiny() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/tiny/bert")
}

fn files_below(folder: &Path, prefix: &str, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        if entry.path().is_dir() {
            files_below(&entry.path(), &format!("{name}/"), found);
        } else {
            found.insert(name, std::fs::read(entry.path()).unwrap());
        }
    }
}

/// Paths asked for, each with its authorization.
type Requests = Mutex<Vec<(String, Option<String>)>>;

/// A hub on the loopback interface that has one model and notes what it is asked.
struct FakeHub {
    endpoint: String,
    requests: Arc<Requests>,
    /// Sends other bytes than it announces for weights.
    corrupt: Arc<AtomicBool>,
    /// Sends half of a weight file and then nothing more.
    silent: Arc<AtomicBool>,
}

/// What a host has and how it behaves.
struct Host {
    files: BTreeMap<String, Vec<u8>>,
    requests: Arc<Requests>,
    corrupt: Arc<AtomicBool>,
    silent: Arc<AtomicBool>,
    /// The address of another host that has the files.
    storage: Option<String>,
}

impl FakeHub {
    fn start() -> Self {
        Self::start_with(None)
    }

    /// A hub that redirects to `storage` for every file.
    fn start_with(storage: Option<String>) -> Self {
        let mut files = BTreeMap::new();
        files_below(&tiny(), "", &mut files);
        // Must not be fetched.
        files.insert("onnx/model.onnx".into(), vec![0; 1000]);
        files.insert("README.md".into(), b"a model".to_vec());
        Self::of(files, storage)
    }

    /// A hub whose model has these files.
    fn of(files: BTreeMap<String, Vec<u8>>, storage: Option<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let hub = Self {
            endpoint,
            requests: Arc::default(),
            corrupt: Arc::default(),
            silent: Arc::default(),
        };
        let host = Arc::new(Host {
            files,
            requests: hub.requests.clone(),
            corrupt: hub.corrupt.clone(),
            silent: hub.silent.clone(),
            storage,
        });
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let host = host.clone();
                std::thread::spawn(move || serve(stream.unwrap(), &host));
            }
        });
        hub
    }

    fn settings(&self, cache: &Path) -> HubSettings {
        HubSettings {
            cache: cache.into(),
            endpoint: self.endpoint.clone(),
            token: None,
            offline: false,
            proxy: ProxySettings::default(),
            trust: crate::llm::Trust::default(),
            waits: Waits::default(),
        }
    }

    fn asked(&self) -> usize {
        self.requests.lock().unwrap().len()
    }
}

fn serve(mut stream: TcpStream, host: &Host) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let Some(Ok(first)) = lines.next() else { return };
    let path = first.split(' ').nth(1).unwrap().to_owned();
    let headers: Vec<String> =
        lines.map(|line| line.unwrap()).take_while(|line| !line.is_empty()).collect();
    let header = |name: &str| {
        headers.iter().find_map(|line| {
            let (key, value) = line.split_once(": ")?;
            key.eq_ignore_ascii_case(name).then(|| value.to_owned())
        })
    };
    host.requests.lock().unwrap().push((path.clone(), header("authorization")));
    let mut send = |status: &str, extra: &str, announced: usize, body: &[u8]| {
        // The client may hang up early; its own error says so.
        let _ = write!(
            stream,
            "HTTP/1.1 {status}\r\ncontent-length: {announced}\r\nconnection: close\r\n{extra}\r\n"
        )
        .and_then(|()| stream.write_all(body));
        if body.len() < announced {
            // Until the client has had enough.
            let _ = std::io::Read::read(&mut stream, &mut [0]);
        }
    };
    let api = format!("/api/models/{MODEL}/revision/");
    if let Some(revision) = path.strip_prefix(&api) {
        let revision = revision.split('?').next().unwrap();
        if ["main", "v1", COMMIT].contains(&revision) {
            let body = info(&host.files).to_string();
            return send("200 OK", "", body.len(), body.as_bytes());
        }
    }
    if let Some(name) = path.strip_prefix(&format!("/{MODEL}/resolve/{COMMIT}/"))
        && let Some(body) = host.files.get(name)
    {
        if let Some(storage) = &host.storage {
            let location = format!("location: {storage}{path}\r\n");
            return send("302 Found", &location, 0, b"");
        }
        let is_weight = is_weight(name);
        let start = header("range").map_or(0, |range| {
            let (start, end) = range.strip_prefix("bytes=").unwrap().split_once('-').unwrap();
            assert_eq!(end, "");
            start.parse().unwrap()
        });
        let mut part = body[start..].to_vec();
        if is_weight && host.corrupt.load(Ordering::Relaxed) {
            part.iter_mut().for_each(|byte| *byte ^= 1);
        }
        let announced = part.len();
        if is_weight && host.silent.load(Ordering::Relaxed) {
            part.truncate(announced / 2);
        }
        let status = if start > 0 { "206 Partial Content" } else { "200 OK" };
        return send(status, "", announced, &part);
    }
    send("404 Not Found", "", 0, b"");
}

fn info(files: &BTreeMap<String, Vec<u8>>) -> serde_json::Value {
    let siblings: Vec<_> = files
        .iter()
        .map(|(name, body)| {
            let mut file = serde_json::json!({"rfilename": name, "size": body.len()});
            if is_weight(name) {
                file["lfs"] = serde_json::json!({"sha256": sha256(body), "size": body.len()});
            }
            file
        })
        .collect();
    let card = serde_json::json!({"license": "apache-2.0"});
    serde_json::json!({"sha": COMMIT, "siblings": siblings, "cardData": card})
}

/// Whether the hub keeps it elsewhere and names its checksum.
fn is_weight(name: &str) -> bool {
    name.ends_with("safetensors") || name.ends_with("gguf")
}

fn silent(_bytes: u64) -> Box<dyn Progress> {
    Box::new(NoProgress)
}

fn no_download(_bytes: u64) -> Box<dyn Progress> {
    panic!("nothing was to be fetched")
}

/// Counts bytes through a handle that outlives the box.
struct Count(Arc<AtomicU64>);

impl Progress for Count {
    fn advance(&self, items: u64) {
        self.0.fetch_add(items, Ordering::Relaxed);
    }
}

#[test]
fn a_model_is_fetched_once_and_then_found_in_the_cache() {
    let hub = FakeHub::start();
    let cache = tempfile::tempdir().unwrap();
    let settings = hub.settings(cache.path());
    let (total, received) = (AtomicU64::new(0), Arc::new(AtomicU64::new(0)));
    let found = resolve(MODEL, &settings, &|bytes| {
        total.store(bytes, Ordering::Relaxed);
        Box::new(Count(received.clone()))
    })
    .unwrap();
    assert_eq!(found.commit.as_deref(), Some(COMMIT));
    assert_eq!(received.load(Ordering::Relaxed), total.into_inner());
    assert!(!found.folder.join("README.md").exists());

    let load =
        |folder: &Path| BertEmbedder::load(folder, "bert:x", BertOptions::default()).unwrap();
    let embed = |model: &BertEmbedder| model.embed(&["the cat"], &NoProgress).unwrap();
    assert_eq!(embed(&load(&found.folder)), embed(&load(&tiny())));

    let asked = hub.asked();
    assert_eq!(resolve(MODEL, &settings, &no_download).unwrap(), found);
    let offline = HubSettings { offline: true, ..settings.clone() };
    assert_eq!(resolve(MODEL, &offline, &no_download).unwrap(), found);
    assert_eq!(locate(&format!("{MODEL}@{COMMIT}"), &settings).unwrap(), found);
    assert_eq!(hub.asked(), asked, "the cache was to be enough");

    let models = cached_models(&settings).unwrap();
    assert_eq!(models.len(), 1);
    assert_eq!((models[0].model.as_str(), models[0].commit.as_str()), (MODEL, COMMIT));
    assert_eq!(
        (models[0].family.as_str(), models[0].revisions.as_slice()),
        ("bert", &["main".to_owned()][..])
    );
    assert_eq!(models[0].bytes, received.load(Ordering::Relaxed));
}

#[test]
fn a_named_revision_is_asked_for_and_remembered() {
    let hub = FakeHub::start();
    let cache = tempfile::tempdir().unwrap();
    let settings = hub.settings(cache.path());
    let reference = format!("{MODEL}@v1");
    let found = resolve(&reference, &settings, &silent).unwrap();
    assert!(hub.requests.lock().unwrap()[0].0.contains("/revision/v1"));
    assert_eq!(locate(&reference, &settings).unwrap(), found);
    assert!(matches!(locate(MODEL, &settings), Err(HubError::NotCached { .. })));
}

#[test]
fn an_interrupted_download_is_not_taken_for_a_model_and_is_completed() {
    let hub = FakeHub::start();
    let cache = tempfile::tempdir().unwrap();
    let settings = hub.settings(cache.path());
    let found = resolve(MODEL, &settings, &silent).unwrap();
    let shard = found.folder.join("model-00003-of-00003.safetensors");
    let whole = std::fs::read(&shard).unwrap();
    // As if the last shard had not arrived, and as if only its link were missing; without links, that is the shard.
    for (lost_content, expected) in [(true, 2), (false, if cfg!(unix) { 1 } else { 2 })] {
        if lost_content && cfg!(unix) {
            std::fs::remove_file(shard.canonicalize().unwrap()).unwrap();
        }
        std::fs::remove_file(&shard).unwrap();
        assert!(matches!(locate(MODEL, &settings), Err(HubError::NotCached { .. })));
        assert!(cached_models(&settings).unwrap().is_empty());
        let before = hub.asked();
        assert_eq!(resolve(MODEL, &settings, &silent).unwrap(), found);
        // The description, and the shard where it was lost.
        assert_eq!(hub.asked() - before, expected);
        assert_eq!(std::fs::read(&shard).unwrap(), whole);
    }
}

/// Counts bytes and wants no more after some of them.
struct Enough {
    received: Arc<AtomicU64>,
    most: u64,
}

impl Progress for Enough {
    fn advance(&self, items: u64) {
        self.received.fetch_add(items, Ordering::Relaxed);
    }

    fn interrupted(&self) -> bool {
        self.received.load(Ordering::Relaxed) > self.most
    }
}

#[test]
fn a_download_stops_when_asked_and_the_rest_is_fetched_later() {
    let hub = FakeHub::start();
    let cache = tempfile::tempdir().unwrap();
    let settings = hub.settings(cache.path());
    let received = Arc::new(AtomicU64::new(0));
    let begin = |most: u64| {
        let received = Arc::clone(&received);
        move |_| Box::new(Enough { received: received.clone(), most }) as Box<dyn Progress>
    };
    let config = std::fs::metadata(tiny().join("config.json")).unwrap().len();
    let error = resolve(MODEL, &settings, &begin(config)).unwrap_err();
    assert!(matches!(error, HubError::Interrupted { .. }), "{error}");
    assert_eq!(error.kind(), ErrorKind::Interrupted);
    assert!(matches!(locate(MODEL, &settings), Err(HubError::NotCached { .. })));
    assert!(cached_models(&settings).unwrap().is_empty());
    let found = resolve(MODEL, &settings, &begin(u64::MAX)).unwrap();
    for entry in std::fs::read_dir(&found.folder).unwrap() {
        let name = entry.unwrap().file_name();
        if let Ok(bytes) = std::fs::read(found.folder.join(&name)) {
            assert_eq!(bytes, std::fs::read(tiny().join(&name)).unwrap(), "{name:?}");
        }
    }
}

#[test]
fn the_token_does_not_follow_a_redirect_to_another_host() {
    let storage = FakeHub::start();
    let hub = FakeHub::start_with(Some(storage.endpoint.clone()));
    let cache = tempfile::tempdir().unwrap();
    let settings = HubSettings { token: Token::new("hf_secret"), ..hub.settings(cache.path()) };
    let found = resolve(MODEL, &settings, &silent).unwrap();
    assert!(found.folder.join("config.json").is_file());
    let (hub, storage) = (hub.requests.lock().unwrap(), storage.requests.lock().unwrap());
    // The hub is asked for the description and for every file, the storage for every file.
    assert_eq!(hub.len(), storage.len() + 1);
    assert!(hub.iter().all(|(_, token)| token.as_deref() == Some("Bearer hf_secret")), "{hub:?}");
    assert!(storage.iter().all(|(_, token)| token.is_none()), "{storage:?}");
}

#[test]
fn a_hub_that_redirects_in_a_circle_is_given_up() {
    // An address without a host is one of the same host.
    let hub = FakeHub::start_with(Some(String::new()));
    let cache = tempfile::tempdir().unwrap();
    let error = resolve(MODEL, &hub.settings(cache.path()), &silent).unwrap_err();
    assert!(matches!(error, HubError::Answer { .. }), "{error}");
    assert!(hub.asked() < 20);
}

#[test]
fn a_hub_that_falls_silent_is_given_up_and_the_rest_is_fetched_later() {
    let hub = FakeHub::start();
    hub.silent.store(true, Ordering::Relaxed);
    let cache = tempfile::tempdir().unwrap();
    let short = Duration::from_millis(300);
    let waits = Waits { connection: short, answer: short, silence: short };
    let settings = HubSettings { waits, ..hub.settings(cache.path()) };
    let begun = Instant::now();
    let error = resolve(MODEL, &settings, &silent).unwrap_err();
    assert!(matches!(error, HubError::Network { .. }), "{error}");
    assert_eq!(error.kind(), ErrorKind::Network);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());

    // What arrived is kept, so every byte still arrives once.
    hub.silent.store(false, Ordering::Relaxed);
    let received = Arc::new(AtomicU64::new(0));
    let settings = hub.settings(cache.path());
    let found = resolve(MODEL, &settings, &|_| Box::new(Count(received.clone()))).unwrap();
    assert_eq!(cached_models(&settings).unwrap()[0].bytes, received.load(Ordering::Relaxed));
    for entry in std::fs::read_dir(tiny()).unwrap() {
        let name = entry.unwrap().file_name();
        if let Ok(bytes) = std::fs::read(found.folder.join(&name)) {
            assert_eq!(bytes, std::fs::read(tiny().join(&name)).unwrap(), "{name:?}");
        }
    }
}

#[test]
fn a_hub_that_never_answers_is_given_up() {
    // Connections are accepted by the system and nobody reads them.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let cache = tempfile::tempdir().unwrap();
    let short = Duration::from_millis(300);
    let settings = HubSettings {
        cache: cache.path().into(),
        endpoint: format!("http://{}", listener.local_addr().unwrap()),
        token: None,
        offline: false,
        proxy: ProxySettings::default(),
        trust: crate::llm::Trust::default(),
        waits: Waits { connection: short, answer: short, silence: short },
    };
    let begun = Instant::now();
    let error = resolve(MODEL, &settings, &silent).unwrap_err();
    assert!(matches!(error, HubError::Network { .. }), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

#[test]
fn a_damaged_file_is_refused_and_not_kept() {
    let hub = FakeHub::start();
    hub.corrupt.store(true, Ordering::Relaxed);
    let cache = tempfile::tempdir().unwrap();
    let settings = hub.settings(cache.path());
    let error = resolve(MODEL, &settings, &silent).unwrap_err();
    assert!(matches!(&error, HubError::Damaged { file, .. } if file.contains("00001")), "{error}");
    assert!(error.is_network());
    assert!(locate(MODEL, &settings).is_err());
    hub.corrupt.store(false, Ordering::Relaxed);
    assert!(resolve(MODEL, &settings, &silent).is_ok());
}

#[test]
fn offline_makes_no_request_and_names_the_paths() {
    let hub = FakeHub::start();
    let cache = tempfile::tempdir().unwrap();
    let settings = HubSettings { offline: true, ..hub.settings(cache.path()) };
    let error = resolve(MODEL, &settings, &no_download).unwrap_err();
    assert_eq!(hub.asked(), 0);
    assert!(!error.is_network());
    let text = error.to_string();
    for part in ["models--someone--tiny-model", "refs", "main", "snapshots"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn a_model_the_hub_does_not_have_is_not_the_networks_fault() {
    let hub = FakeHub::start();
    let cache = tempfile::tempdir().unwrap();
    let settings = hub.settings(cache.path());
    let error = resolve("someone/else", &settings, &silent).unwrap_err();
    assert!(matches!(error, HubError::NotFound { status: 404, .. }), "{error}");
    assert!(!error.is_network());
}

#[test]
fn a_hub_that_does_not_answer_is_the_networks_fault() {
    // Bound and dropped: nothing listens on the port.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let cache = tempfile::tempdir().unwrap();
    let settings = HubSettings {
        cache: cache.path().into(),
        endpoint: format!("http://127.0.0.1:{port}"),
        token: None,
        offline: false,
        proxy: ProxySettings::default(),
        trust: crate::llm::Trust::default(),
        waits: Waits::default(),
    };
    let error = resolve(MODEL, &settings, &silent).unwrap_err();
    assert!(matches!(error, HubError::Network { .. }), "{error}");
    assert!(error.is_network());
    assert!(std::error::Error::source(&error).is_some());
}

#[test]
fn the_token_is_sent_and_never_shown() {
    let hub = FakeHub::start();
    let cache = tempfile::tempdir().unwrap();
    let token = Token::new(" hf_secret\n");
    let settings = HubSettings { token, ..hub.settings(cache.path()) };
    assert!(!format!("{settings:?}").contains("secret"));
    resolve(MODEL, &settings, &silent).unwrap();
    for (path, token) in hub.requests.lock().unwrap().iter() {
        assert_eq!(token.as_deref(), Some("Bearer hf_secret"), "{path}");
    }
}

#[test]
fn references_are_folders_names_or_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    assert_eq!(ModelReference::parse(path).unwrap(), ModelReference::Folder(path.into()));
    for (reference, name, revision) in [
        ("org/name", "org/name", "main"),
        ("org/name@v2.0", "org/name", "v2.0"),
        ("bert-base-uncased@refs/pr/3", "bert-base-uncased", "refs/pr/3"),
    ] {
        let expected = HubModel { name: name.into(), revision: revision.into() };
        assert_eq!(ModelReference::parse(reference).unwrap(), ModelReference::Hub(expected));
    }
    for path in ["./missing", "/missing/model", "../x", "~/x", "missing/"] {
        let error = ModelReference::parse(path).unwrap_err();
        assert!(matches!(error, HubError::MissingFolder { .. }), "{path}: {error}");
    }
    for bad in ["", "a/b/c", "org//name", "org/na me", "org/name@", "org/name@../../x", "a--b/c"] {
        let error = ModelReference::parse(bad).unwrap_err();
        assert!(matches!(error, HubError::InvalidReference { .. }), "{bad}: {error}");
    }
}

#[test]
fn settings_follow_the_conventions_of_huggingface_hub() {
    let settings = |variables: &[(&str, &str)]| {
        HubSettings::from_lookup(|name| {
            let found = variables.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    };
    let default = settings(&[("HOME", "/nowhere/u")]).unwrap();
    assert_eq!(default.cache, Path::new("/nowhere/u/.cache/huggingface/hub"));
    assert_eq!(default.endpoint, "https://huggingface.co");
    assert!(!default.offline && default.token.is_none());
    for (variables, cache) in [
        (vec![("HOME", "/h"), ("XDG_CACHE_HOME", "/x")], "/x/huggingface/hub"),
        (vec![("HOME", "/h"), ("XDG_CACHE_HOME", "/x"), ("HF_HOME", "~/f")], "/h/f/hub"),
        (vec![("HF_HOME", "/f"), ("HF_HUB_CACHE", "/c")], "/c"),
        (vec![("HF_HOME", "/f"), ("HF_HUB_CACHE", "")], "/f/hub"),
    ] {
        assert_eq!(settings(&variables).unwrap().cache, Path::new(cache));
    }
    assert!(matches!(settings(&[]), Err(HubError::NoHome)));
    for (name, value, offline) in [
        ("HF_HUB_OFFLINE", "1", true),
        ("TRANSFORMERS_OFFLINE", "Yes", true),
        ("HF_HUB_OFFLINE", "0", false),
    ] {
        assert_eq!(settings(&[("HF_HOME", "/f"), (name, value)]).unwrap().offline, offline);
    }
    let mirror = settings(&[("HF_HOME", "/f"), ("HF_ENDPOINT", "http://mirror/")]).unwrap();
    assert_eq!(mirror.endpoint, "http://mirror");

    let home = tempfile::tempdir().unwrap();
    let path = home.path().to_str().unwrap();
    std::fs::write(home.path().join("token"), "from_file\n").unwrap();
    assert_eq!(settings(&[("HF_HOME", path)]).unwrap().token, Token::new("from_file"));
    let both = settings(&[("HF_HOME", path), ("HF_TOKEN", "from_variable")]).unwrap();
    assert_eq!(both.token, Token::new("from_variable"));
}

#[test]
fn the_checksum_is_written_as_the_hub_writes_it() {
    // FIPS 180-2, appendix B.1.
    let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(sha256(b"abc"), expected);
}

/// A repository with two language models, one of them in a folder, a third in parts, and what is
/// none.
fn language_models() -> BTreeMap<String, Vec<u8>> {
    [
        ("a.Q4_K_M.gguf", 300),
        ("big/b.Q8_0.gguf", 2_500_000),
        ("c-00001-of-00002.gguf", 10),
        ("c-00002-of-00002.gguf", 10),
        ("odd name.gguf", 10),
        ("README.md", 10),
        ("config.json", 10),
    ]
    .map(|(name, bytes)| (name.to_owned(), (0..=250).cycle().take(bytes).collect()))
    .into()
}

fn quiet(_: &Planned<'_>) -> Box<dyn Progress> {
    Box::new(NoProgress)
}

fn nothing_planned(planned: &Planned<'_>) -> Box<dyn Progress> {
    panic!("nothing was to be fetched: {planned:?}")
}

#[test]
fn a_language_model_is_fetched_once_its_size_and_licence_said_before() {
    let storage = FakeHub::of(language_models(), None);
    let hub = FakeHub::of(language_models(), Some(storage.endpoint.clone()));
    let cache = tempfile::tempdir().unwrap();
    let settings = HubSettings { token: Token::new("hf_secret"), ..hub.settings(cache.path()) };
    let reference = format!("{MODEL}/big/b.Q8_0.gguf");
    let error = locate_gguf(&reference, &settings).unwrap_err();
    assert!(matches!(error, HubError::NotPulled { .. }), "{error}");
    assert_eq!((error.kind(), error.remedy()), (ErrorKind::Missing, Some(Remedy::PullModel)));
    assert_eq!(hub.asked(), 0, "looking up asks nobody");

    let received = Arc::new(AtomicU64::new(0));
    let begin = |planned: &Planned<'_>| -> Box<dyn Progress> {
        assert_eq!((planned.name.as_str(), planned.bytes), (reference.as_str(), 2_500_000));
        assert_eq!(planned.licence, Some("apache-2.0"));
        assert_eq!(storage.asked(), 0, "it is said before");
        Box::new(Count(received.clone()))
    };
    let path = pull(&reference, None, &settings, &begin).unwrap();
    assert_eq!(received.load(Ordering::Relaxed), 2_500_000);
    assert_eq!(std::fs::read(&path).unwrap(), language_models()["big/b.Q8_0.gguf"]);
    // The description and the file; the token goes to the hub alone.
    assert_eq!((hub.asked(), storage.asked()), (2, 1));
    let tokens = |hub: &FakeHub| -> Vec<Option<String>> {
        hub.requests.lock().unwrap().iter().map(|(_, token)| token.clone()).collect()
    };
    assert_eq!(tokens(&hub), vec![Some("Bearer hf_secret".to_owned()); 2]);
    assert_eq!(tokens(&storage), [None]);

    // From now on it is there, also without a network and where it is the only one.
    let offline = HubSettings { offline: true, ..settings.clone() };
    for (name, kind) in [
        (reference.clone(), None),
        (format!("{reference}@{COMMIT}"), Some(ModelKind::Language)),
        (MODEL.to_owned(), Some(ModelKind::Language)),
        (MODEL.to_owned(), None),
    ] {
        assert_eq!(pull(&name, kind, &offline, &nothing_planned).unwrap(), path, "{name}");
        assert_eq!(locate_gguf(&name, &offline).unwrap(), path, "{name}");
    }
    assert_eq!((hub.asked(), storage.asked()), (2, 1));
    let found = cached_gguf(&settings).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].model.as_str(), found[0].file.as_str()), (MODEL, "big/b.Q8_0.gguf"));
    assert_eq!((found[0].bytes, &found[0].path), (2_500_000, &path));
    assert_eq!(found[0].revisions, ["main"]);
    assert!(cached_models(&settings).unwrap().is_empty(), "it is no encoder");

    // Of two in the cache one has to be named.
    pull(&format!("{MODEL}/a.Q4_K_M.gguf"), None, &settings, &quiet).unwrap();
    let error = locate_gguf(MODEL, &settings).unwrap_err();
    assert!(matches!(&error, HubError::SeveralFiles { files, .. } if files.len() == 2), "{error}");
    assert_eq!(locate_gguf(&reference, &settings).unwrap(), path);
}

#[test]
fn which_language_model_is_meant_has_to_be_said_where_there_are_several() {
    let hub = FakeHub::of(language_models(), None);
    let cache = tempfile::tempdir().unwrap();
    let settings = hub.settings(cache.path());
    let pulled = |reference: &str| pull(reference, None, &settings, &nothing_planned);
    let error = pulled(MODEL).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    let text = error.to_string();
    for part in ["2 language models", "`a.Q4_K_M.gguf` (0.0 MB)", "`big/b.Q8_0.gguf` (2.5 MB)"] {
        assert!(text.contains(part), "{text}");
    }
    assert!(!text.contains("-of-") && !text.contains("odd"), "{text}");
    let error = pulled(&format!("{MODEL}/d.gguf")).unwrap_err();
    assert!(matches!(error, HubError::NoSuchFile { .. }), "{error}");
    assert!(error.to_string().contains("`a.Q4_K_M.gguf`"), "{error}");
    let asked = hub.asked();
    let error = pulled(&format!("{MODEL}/c-00001-of-00002.gguf")).unwrap_err();
    assert!(matches!(error, HubError::Part { .. }), "{error}");
    let offline = HubSettings { offline: true, ..settings.clone() };
    for name in [MODEL.to_owned(), format!("{MODEL}/a.Q4_K_M.gguf")] {
        let error = pull(&name, None, &offline, &nothing_planned).unwrap_err();
        assert!(matches!(&error, HubError::NotCached { model, .. } if *model == name), "{error}");
    }
    assert_eq!(hub.asked(), asked);

    // The only one need not be named, and an encoder is still one.
    let mut files = language_models();
    files.remove("a.Q4_K_M.gguf");
    let hub = FakeHub::of(files, None);
    let path = pull(MODEL, None, &hub.settings(cache.path()), &quiet).unwrap();
    assert!(path.ends_with("big/b.Q8_0.gguf"), "{path:?}");
    let (hub, cache) = (FakeHub::start(), tempfile::tempdir().unwrap());
    let settings = hub.settings(cache.path());
    let folder = pull(MODEL, None, &settings, &quiet).unwrap();
    assert_eq!(folder, locate(MODEL, &settings).unwrap().folder);
    let error = pull(MODEL, Some(ModelKind::Language), &settings, &nothing_planned).unwrap_err();
    assert!(matches!(error, HubError::NotUsable { .. }), "{error}");
}

#[test]
fn a_language_model_that_breaks_off_or_is_damaged_is_none_and_is_completed() {
    let hub = FakeHub::of(language_models(), None);
    let cache = tempfile::tempdir().unwrap();
    let short = Duration::from_millis(300);
    let waits = Waits { connection: short, answer: short, silence: short };
    let settings = HubSettings { waits, ..hub.settings(cache.path()) };
    let reference = format!("{MODEL}/big/b.Q8_0.gguf");
    hub.silent.store(true, Ordering::Relaxed);
    let error = pull(&reference, None, &settings, &quiet).unwrap_err();
    assert!(matches!(error, HubError::Network { .. }), "{error}");
    assert!(matches!(locate_gguf(&reference, &settings), Err(HubError::NotPulled { .. })));
    assert!(cached_gguf(&settings).unwrap().is_empty());
    hub.silent.store(false, Ordering::Relaxed);

    // The second half arrives damaged: nothing of it is kept.
    hub.corrupt.store(true, Ordering::Relaxed);
    let settings = hub.settings(cache.path());
    let error = pull(&reference, None, &settings, &quiet).unwrap_err();
    assert!(matches!(error, HubError::Damaged { .. }), "{error}");
    assert!(cached_gguf(&settings).unwrap().is_empty());
    hub.corrupt.store(false, Ordering::Relaxed);
    let path = pull(&reference, None, &settings, &quiet).unwrap();
    assert_eq!(std::fs::read(path).unwrap(), language_models()["big/b.Q8_0.gguf"]);
}

/// A language model in safetensors files, and what is not needed.
fn language_folder() -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/local/llama");
    files_below(&folder, "", &mut files);
    files.insert("README.md".into(), b"a model".to_vec());
    files.insert("original/params.json".into(), b"{}".to_vec());
    files
}

#[test]
fn a_language_model_in_a_folder_is_fetched_once_and_found_without_a_network() {
    // With and without saying what it is.
    for kind in [Some(ModelKind::Language), None] {
        let hub = FakeHub::of(language_folder(), None);
        let cache = tempfile::tempdir().unwrap();
        let settings = hub.settings(cache.path());
        let error = locate_gguf(MODEL, &settings).unwrap_err();
        assert!(matches!(error, HubError::NotPulled { .. }), "{error}");
        assert_eq!(hub.asked(), 0, "looking up asks nobody");
        let needed = [
            "chat_template.jinja",
            "config.json",
            "generation_config.json",
            "model-00001-of-00002.safetensors",
            "model-00002-of-00002.safetensors",
            "model.safetensors.index.json",
            "tokenizer.json",
            "tokenizer_config.json",
        ];
        let files = language_folder();
        let expected: Vec<&str> =
            needed.into_iter().filter(|name| files.contains_key(*name)).collect();
        assert_eq!(expected.len(), 7);
        let bytes: usize = expected.iter().map(|name| files[*name].len()).sum();
        let begin = |planned: &Planned<'_>| -> Box<dyn Progress> {
            assert_eq!((planned.name.as_str(), planned.bytes), (MODEL, bytes as u64));
            assert_eq!(planned.licence, Some("apache-2.0"));
            Box::new(NoProgress)
        };
        let folder = pull(MODEL, kind, &settings, &begin).unwrap();
        let mut fetched = BTreeMap::new();
        files_below(&folder, "", &mut fetched);
        assert_eq!(fetched.keys().collect::<Vec<_>>(), expected);
        for (name, content) in fetched {
            assert_eq!(content, files[&name], "{name}");
        }

        let asked = hub.asked();
        let offline = HubSettings { offline: true, ..settings.clone() };
        for kind in [Some(ModelKind::Language), None] {
            assert_eq!(pull(MODEL, kind, &offline, &nothing_planned).unwrap(), folder);
        }
        assert_eq!(locate_gguf(MODEL, &offline).unwrap(), folder);
        assert_eq!(locate_gguf(&format!("{MODEL}@{COMMIT}"), &offline).unwrap(), folder);
        assert_eq!(locate_gguf(folder.to_str().unwrap(), &offline).unwrap(), folder);
        let error = locate_gguf(&format!("{MODEL}/a.gguf"), &offline).unwrap_err();
        assert!(matches!(error, HubError::NotPulled { .. }), "{error}");
        assert_eq!(hub.asked(), asked);
        let found = cached_language_models(&offline).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].model.as_str(), found[0].family.as_str()), (MODEL, "llama"));
        assert_eq!((found[0].bytes, &found[0].folder), (bytes as u64, &folder));
        assert_eq!(found[0].revisions, ["main"]);
        assert!(cached_gguf(&offline).unwrap().is_empty());
        assert!(cached_models(&offline).unwrap().is_empty(), "it is no encoder");

        // Without all of its weights it is none.
        std::fs::remove_file(folder.join("model-00002-of-00002.safetensors")).unwrap();
        assert!(cached_language_models(&offline).unwrap().is_empty());
        assert!(locate_gguf(MODEL, &offline).is_err());
    }
}

#[test]
fn a_repository_with_a_gguf_file_means_that_and_one_that_no_command_can_run_is_not_fetched() {
    let cache = tempfile::tempdir().unwrap();
    let mut both = language_folder();
    both.insert("a.Q8_0.gguf".into(), vec![7; 100]);
    let hub = FakeHub::of(both, None);
    let settings = hub.settings(cache.path());
    let path = pull(MODEL, Some(ModelKind::Language), &settings, &quiet).unwrap();
    assert!(path.ends_with("a.Q8_0.gguf"), "{path:?}");
    assert!(cached_language_models(&settings).unwrap().is_empty());

    let mut other = language_folder();
    other.insert("config.json".into(), br#"{"model_type": "gemma3"}"#.to_vec());
    let mut torch = language_folder();
    torch.retain(|name, _| !name.contains("safetensors"));
    torch.insert("pytorch_model.bin".into(), vec![0; 100]);
    let mut untold = language_folder();
    untold.remove("tokenizer.json");
    for files in [other, torch, untold] {
        let hub = FakeHub::of(files, None);
        let cache = tempfile::tempdir().unwrap();
        let settings = hub.settings(cache.path());
        let error =
            pull(MODEL, Some(ModelKind::Language), &settings, &nothing_planned).unwrap_err();
        assert!(matches!(error, HubError::NotUsable { .. }), "{error}");
        assert!(error.to_string().contains("llama, qwen2 and qwen3"), "{error}");
    }
}

#[test]
fn references_to_language_models_are_repositories_with_or_without_a_file() {
    for (reference, name, file, revision) in [
        ("org/name", "org/name", None, "main"),
        ("org/name@v1", "org/name", None, "v1"),
        ("org/name/x.Q4_K_M.gguf", "org/name", Some("x.Q4_K_M.gguf"), "main"),
        ("org/name/q4/x.gguf@refs/pr/3", "org/name", Some("q4/x.gguf"), "refs/pr/3"),
        ("org/name/1-of-2.gguf", "org/name", Some("1-of-2.gguf"), "main"),
    ] {
        let parsed = GgufReference::parse(reference).unwrap();
        assert_eq!(parsed.model, HubModel { name: name.into(), revision: revision.into() });
        assert_eq!(parsed.file.as_deref(), file);
    }
    for bad in [
        "",
        "name",
        "x.gguf",
        "folder/x.gguf",
        "./org/x.gguf",
        "/org/name/x.gguf",
        "~/models/x.gguf",
        "../org/name/x.gguf",
        "org/name/",
        "org/name/x.bin",
        "org/name/../../x.gguf",
        "org/name/.x.gguf",
        "org/name//x.gguf",
        "org/name/x?.gguf",
        "org/name/x.gguf@",
        "org/name/x.gguf@../../y",
        r"org/name/a\x.gguf",
    ] {
        let error = GgufReference::parse(bad).unwrap_err();
        assert!(matches!(error, HubError::InvalidGguf { .. }), "{bad}: {error}");
    }
}

#[test]
fn a_licence_is_that_of_the_card_or_of_a_tag() {
    // The shapes in which the hub gives it: one, several, its own with a name and an address.
    for (info, expected) in [
        (serde_json::json!({"cardData": {"license": "mit"}}), Some("mit")),
        (serde_json::json!({"cardData": {"license": ["mit", "cc0-1.0"]}}), Some("mit, cc0-1.0")),
        (serde_json::json!({"tags": ["gguf", "license:apache-2.0"]}), Some("apache-2.0")),
        (
            serde_json::json!({
                "cardData": {
                    "license": "other", "license_name": "qwen-research", "license_link": "LICENSE"
                },
                "tags": ["license:other"]
            }),
            Some("other, qwen-research, LICENSE"),
        ),
        (serde_json::json!({"cardData": {"license": ""}}), None),
        (serde_json::json!({"cardData": null, "tags": ["gguf"]}), None),
        (serde_json::json!({}), None),
    ] {
        assert_eq!(licence(&info).as_deref(), expected, "{info}");
    }
}
