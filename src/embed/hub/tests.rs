//! The cache's layout, and downloads from a hub in the test process.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::download::sha256_of_bytes as sha256;
use super::repository::licence;
use super::settings::{Token, Waits};
use super::*;
use crate::data::progress::NoProgress;
use crate::embed::Embedder;
use crate::embed::bert::{BertEmbedder, BertOptions};
use crate::error::{ErrorKind, Kinded, Remedy};
use crate::llm::ProxySettings;

mod fake_hub;
mod language_models;

use self::fake_hub::FakeHub;

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
fn an_old_encoder_with_its_transformer_in_a_folder_is_fetched_and_found() {
    let mut flat = BTreeMap::new();
    files_below(&tiny(), "", &mut flat);
    let modules = String::from_utf8(flat["modules.json"].clone()).unwrap();
    let mut modules: serde_json::Value = serde_json::from_str(&modules).unwrap();
    modules[0]["path"] = "0_Transformer".into();
    let mut files = BTreeMap::new();
    for (name, bytes) in flat {
        let is_outside = name.contains('/') || name == "config_sentence_transformers.json";
        let name = if is_outside { name } else { format!("0_Transformer/{name}") };
        files.insert(name, bytes);
    }
    files.remove("0_Transformer/modules.json");
    files.insert("modules.json".into(), modules.to_string().into_bytes());
    let hub = FakeHub::of(files, None);
    let cache = tempfile::tempdir().unwrap();
    let settings = hub.settings(cache.path());
    let found = resolve(MODEL, &settings, &silent).unwrap();
    let load =
        |folder: &Path| BertEmbedder::load(folder, "bert:x", BertOptions::default()).unwrap();
    let embed = |model: &BertEmbedder| model.embed(&["the cat"], &NoProgress).unwrap();
    assert_eq!(embed(&load(&found.folder)), embed(&load(&tiny())));
    let offline = HubSettings { offline: true, ..settings };
    assert_eq!(resolve(MODEL, &offline, &no_download).unwrap(), found);
    assert_eq!(cached_models(&offline).unwrap()[0].family, "bert");
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
    assert!(matches!(locate(MODEL, &settings), Err(HubError::NotPulled { .. })));
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
        assert!(matches!(locate(MODEL, &settings), Err(HubError::NotPulled { .. })));
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
    assert!(matches!(locate(MODEL, &settings), Err(HubError::NotPulled { .. })));
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
fn a_file_of_which_nobody_says_how_large_it_is_is_not_fetched() {
    let hub = FakeHub::start();
    hub.endless.store(true, Ordering::Relaxed);
    let cache = tempfile::tempdir().unwrap();
    let error = resolve(MODEL, &hub.settings(cache.path()), &silent).unwrap_err();
    assert!(matches!(error, HubError::Answer { .. }), "{error}");
    assert!(error.to_string().contains("nobody says how large `"), "{error}");
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
    for (endpoint, shown) in [
        ("https://me:p@ss@mirror:8/a@b", "https://mirror:8/a@b"),
        ("http://mirror", "http://mirror"),
    ] {
        let settings = HubSettings { endpoint: endpoint.into(), ..mirror.clone() };
        assert_eq!(settings.shown_endpoint(), shown);
    }
    // Nor does an address that cannot be used show who logs in to it.
    let cache = tempfile::tempdir().unwrap();
    let endpoint = "ftp://me:p@ss@mirror".to_owned();
    let wrong = HubSettings { endpoint, cache: cache.path().into(), ..mirror };
    let error = resolve(MODEL, &wrong, &silent).unwrap_err().to_string();
    assert!(error.contains("ftp://mirror") && !error.contains("p@ss"), "{error}");

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
