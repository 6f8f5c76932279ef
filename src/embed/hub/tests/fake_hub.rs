//! A hub on this machine.

use super::*;

/// A hub on the loopback interface that has one model and notes what it is asked.
pub(super) struct FakeHub {
    pub(super) endpoint: String,
    pub(super) requests: Arc<Requests>,
    /// Sends other bytes than it announces for weights.
    pub(super) corrupt: Arc<AtomicBool>,
    /// Sends half of a weight file and then nothing more.
    pub(super) silent: Arc<AtomicBool>,
    /// Says of no file how large it is, and sends without end.
    pub(super) endless: Arc<AtomicBool>,
}

/// What a host has and how it behaves.
pub(super) struct Host {
    files: BTreeMap<String, Vec<u8>>,
    requests: Arc<Requests>,
    corrupt: Arc<AtomicBool>,
    silent: Arc<AtomicBool>,
    endless: Arc<AtomicBool>,
    /// The address of another host that has the files.
    storage: Option<String>,
}

impl FakeHub {
    pub(super) fn start() -> Self {
        Self::start_with(None)
    }

    /// A hub that redirects to `storage` for every file.
    pub(super) fn start_with(storage: Option<String>) -> Self {
        let mut files = BTreeMap::new();
        files_below(&tiny(), "", &mut files);
        // Must not be fetched.
        files.insert("onnx/model.onnx".into(), vec![0; 1000]);
        files.insert("README.md".into(), b"a model".to_vec());
        Self::of(files, storage)
    }

    /// A hub whose model has these files.
    pub(super) fn of(files: BTreeMap<String, Vec<u8>>, storage: Option<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let hub = Self {
            endpoint,
            requests: Arc::default(),
            corrupt: Arc::default(),
            silent: Arc::default(),
            endless: Arc::default(),
        };
        let host = Arc::new(Host {
            files,
            requests: hub.requests.clone(),
            corrupt: hub.corrupt.clone(),
            silent: hub.silent.clone(),
            endless: hub.endless.clone(),
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

    pub(super) fn settings(&self, cache: &Path) -> HubSettings {
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

    pub(super) fn asked(&self) -> usize {
        self.requests.lock().unwrap().len()
    }
}

pub(super) fn serve(mut stream: TcpStream, host: &Host) {
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
    let is_file = path.contains("/resolve/");
    if is_file && host.endless.load(Ordering::Relaxed) && !path.ends_with("config.json") {
        let _ = write!(stream, "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n");
        // As long as somebody reads.
        while stream.write_all(&[b' '; 1 << 12]).is_ok() {}
        return;
    }
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
            let mut info = info(&host.files);
            if host.endless.load(Ordering::Relaxed) {
                for file in info["siblings"].as_array_mut().unwrap() {
                    file.as_object_mut().unwrap().remove("size");
                }
            }
            let body = info.to_string();
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

pub(super) fn info(files: &BTreeMap<String, Vec<u8>>) -> serde_json::Value {
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
