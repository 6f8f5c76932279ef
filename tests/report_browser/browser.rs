//! Chromium through its driver: its protocol is JSON over HTTP, so a few requests do.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Names the driver program; the browser is the one that the driver finds.
const DRIVER: &str = "CAZ_TEST_CHROMEDRIVER";

/// No network of its own, no profile of anybody, no sandbox since tests may run as root.
const FLAGS: [&str; 9] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
];

/// How long a page may take to show what is waited for.
const PATIENCE: Duration = Duration::from_mins(1);

/// Largest answer that is read: logs and screenshots.
const MAX_BYTES: u64 = 256 << 20;

/// A browser window; browser and driver end with it.
pub(crate) struct Browser {
    driver: Child,
    agent: ureq::Agent,
    session: String,
    _profile: tempfile::TempDir,
}

impl Browser {
    pub(crate) fn start() -> Self {
        let program = std::env::var(DRIVER).unwrap_or_else(|_| {
            panic!("set {DRIVER} to the program chromedriver (Debian: chromium-driver)")
        });
        let mut driver = Command::new(&program)
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {program}: {error}"));
        let port = port(&mut driver);
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_mins(2)))
            .proxy(None)
            .build();
        let agent = ureq::Agent::new_with_config(config);
        let profile = tempfile::tempdir().unwrap();
        let mut flags: Vec<String> = FLAGS.map(str::to_owned).to_vec();
        flags.push(format!("--user-data-dir={}", profile.path().display()));
        let capabilities = json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": { "args": flags },
            "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" },
        }}});
        let base = format!("http://127.0.0.1:{port}/session");
        let mut browser = Self { driver, agent, session: base, _profile: profile };
        let id = browser.post("", &capabilities)["sessionId"].as_str().unwrap().to_owned();
        browser.session = format!("{}/{id}", browser.session);
        browser.resize(1300, 1000);
        // Some Chromium without a screen treat the page as one in the background, where nothing has the
        // focus and no event says so.
        browser.devtools("Emulation.setFocusEmulationEnabled", &json!({ "enabled": true }));
        // The page of a new window loads parts of the browser itself; what it says is not ours.
        browser.post("/url", &json!({ "url": "about:blank" }));
        browser.console();
        browser.requests();
        browser
    }

    #[track_caller]
    fn post(&self, command: &str, body: &Value) -> Value {
        let url = format!("{}{command}", self.session);
        let answer = self
            .agent
            .post(&url)
            .header("content-type", "application/json")
            .send(body.to_string())
            .unwrap_or_else(|error| panic!("{command}: {error}"));
        value(answer, command)
    }

    #[track_caller]
    fn get(&self, command: &str) -> Value {
        let url = format!("{}{command}", self.session);
        let answer = self.agent.get(&url).call().unwrap_or_else(|e| panic!("{command}: {e}"));
        value(answer, command)
    }

    pub(crate) fn resize(&self, width: u32, height: u32) {
        self.post("/window/rect", &json!({ "width": width, "height": height }));
    }

    /// Opens a file as a double click on it would.
    pub(crate) fn open(&self, file: &Path) {
        self.post("/url", &json!({ "url": address(file) }));
    }

    pub(crate) fn back(&self) {
        self.post("/back", &json!({}));
    }

    /// What a script returns.
    #[track_caller]
    pub(crate) fn run(&self, script: &str) -> Value {
        self.post("/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// The text of the first element that fits.
    #[track_caller]
    pub(crate) fn text(&self, selector: &str) -> String {
        let found = self.find(selector);
        self.get(&format!("/element/{found}/text")).as_str().unwrap().to_owned()
    }

    #[track_caller]
    fn find(&self, selector: &str) -> String {
        let body = json!({ "using": "css selector", "value": selector });
        let found = self.post("/element", &body);
        found.as_object().unwrap().values().next().unwrap().as_str().unwrap().to_owned()
    }

    /// Clicks the middle of an element as a mouse does; fails if something is in front of it.
    #[track_caller]
    pub(crate) fn click(&self, selector: &str) {
        let found = self.find(selector);
        self.post(&format!("/element/{found}/click"), &json!({}));
    }

    /// Types into an element.
    #[track_caller]
    pub(crate) fn type_into(&self, selector: &str, text: &str) {
        let found = self.find(selector);
        self.post(&format!("/element/{found}/value"), &json!({ "text": text }));
    }

    /// Presses keys, one after the other, wherever the focus is.
    pub(crate) fn press(&self, keys: &[char]) {
        let strokes: Vec<Value> = keys
            .iter()
            .flat_map(|key| {
                ["keyDown", "keyUp"].map(|kind| json!({ "type": kind, "value": key.to_string() }))
            })
            .collect();
        let actions = json!([{ "type": "key", "id": "keyboard", "actions": strokes }]);
        self.post("/actions", &json!({ "actions": actions }));
    }

    /// Waits until a script returns `expected`.
    #[track_caller]
    pub(crate) fn wait_for(&self, script: &str, expected: &Value) {
        let start = Instant::now();
        loop {
            let got = self.run(script);
            if got == *expected {
                return;
            }
            assert!(start.elapsed() < PATIENCE, "{script} is {got}, not {expected}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Emulates media features such as `prefers-color-scheme`.
    pub(crate) fn emulate(&self, name: &str, value: &str) {
        let features = json!([{ "name": name, "value": value }]);
        self.devtools("Emulation.setEmulatedMedia", &json!({ "features": features }));
    }

    pub(crate) fn devtools(&self, command: &str, parameters: &Value) -> Value {
        self.post("/goog/cdp/execute", &json!({ "cmd": command, "params": parameters }))
    }

    /// The part of the page that a window of this size shows, as on a screen of this width.
    pub(crate) fn screen(&self, width: u32, height: u32) {
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.devtools("Emulation.setDeviceMetricsOverride", &size);
    }

    /// Scrolls to an element, as people do, and moves the mouse to its middle.
    #[track_caller]
    pub(crate) fn point_at(&self, selector: &str) {
        let found = self.find(selector);
        self.run(&format!(
            "document.querySelector({}).scrollIntoView({{ block: 'center', behavior: 'instant' }})",
            json!(selector)
        ));
        let origin = json!({ "element-6066-11e4-a52e-4f735466cecf": found });
        let step =
            json!({ "type": "pointerMove", "origin": origin, "x": 0, "y": 0, "duration": 0 });
        let actions = json!([{ "type": "pointer", "id": "mouse", "actions": [step] }]);
        self.post("/actions", &json!({ "actions": actions }));
    }

    /// Lets files that the page saves appear in a folder.
    pub(crate) fn save_into(&self, folder: &Path) {
        let parameters = json!({ "behavior": "allow", "downloadPath": folder });
        self.devtools("Browser.setDownloadBehavior", &parameters);
    }

    /// A picture of the whole page into the folder of temporary files of the tests.
    pub(crate) fn screenshot(&self, name: &str) -> PathBuf {
        let size = self.devtools("Page.getLayoutMetrics", &json!({}))["cssContentSize"].clone();
        let clip = json!({
            "x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1,
        });
        let parameters = json!({ "format": "png", "captureBeyondViewport": true, "clip": clip });
        // What changed last can be missing from the first picture that is larger than the window.
        self.devtools("Page.captureScreenshot", &json!({ "format": "png" }));
        let picture = self.devtools("Page.captureScreenshot", &parameters);
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::write(&path, base64(picture["data"].as_str().unwrap())).unwrap();
        path
    }

    /// Everything on the console since the last call.
    pub(crate) fn console(&self) -> Vec<String> {
        let entries = self.post("/se/log", &json!({ "type": "browser" }));
        entries.as_array().unwrap().iter().map(|entry| entry["message"].to_string()).collect()
    }

    /// Addresses of everything that was requested since the last call.
    pub(crate) fn requests(&self) -> Vec<String> {
        let entries = self.post("/se/log", &json!({ "type": "performance" }));
        let entries = entries.as_array().unwrap().iter().filter_map(|entry| {
            let message: Value = serde_json::from_str(entry["message"].as_str()?).ok()?;
            let message = &message["message"];
            let sent = message["method"] == "Network.requestWillBeSent";
            sent.then(|| message["params"]["request"]["url"].as_str().unwrap().to_owned())
        });
        entries.collect()
    }

    /// No message on the console, and nothing loaded but the file.
    #[track_caller]
    pub(crate) fn assert_quiet(&self, file: &Path) {
        assert_eq!(self.console(), [""; 0], "the console is empty");
        let requests = self.requests();
        assert!(!requests.is_empty(), "the log of requests has at least the page");
        assert!(requests.iter().all(|request| *request == address(file)), "{requests:?}");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Ends the browser; the driver has nothing left to do then.
        _ = self.agent.delete(&self.session).call();
        _ = self.driver.kill();
        _ = self.driver.wait();
    }
}

/// The port that the driver says it listens at.
fn port(driver: &mut Child) -> u16 {
    let lines = BufReader::new(driver.stdout.take().unwrap()).lines();
    for line in lines {
        let line = line.unwrap();
        if let Some((_, port)) = line.split_once("started successfully on port ") {
            return port.trim_end_matches('.').parse().unwrap();
        }
    }
    panic!("the driver ended without saying its port");
}

#[track_caller]
fn value(mut answer: ureq::http::Response<ureq::Body>, command: &str) -> Value {
    let text = answer.body_mut().with_config().limit(MAX_BYTES).read_to_string().unwrap();
    let mut answer_value: Value = serde_json::from_str(&text).unwrap();
    assert!(answer.status().is_success(), "{command}: {}", answer_value["value"]["message"]);
    answer_value["value"].take()
}

/// The address of a file, with everything escaped that is not a plain letter or digit.
pub(crate) fn address(file: &Path) -> String {
    let mut address = String::from("file://");
    for byte in file.to_str().unwrap().bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' => {
                address.push(char::from(byte));
            }
            byte => address.push_str(&format!("%{byte:02X}")),
        }
    }
    address
}

fn base64(text: &str) -> Vec<u8> {
    let digits = text.bytes().filter_map(|byte| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    });
    let digits: Vec<u32> = digits.map(u32::from).collect();
    let groups = digits.chunks(4).flat_map(|group| {
        let bits = group.iter().fold(0, |bits, digit| bits << 6 | digit);
        let bits = bits << (6 * (4 - group.len()));
        bits.to_be_bytes().into_iter().skip(1).take(group.len() - 1)
    });
    groups.collect()
}
