//! A headless Chromium, spoken to by the DevTools protocol over its pipe: JSON texts, each ended by
//! a zero byte (<https://chromedevtools.github.io/devtools-protocol/>).

use serde_json::{Value, json};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A browser with one page.
pub(crate) struct Chromium {
    process: Child,
    to: ChildStdin,
    from: ChildStdout,
    unread: Vec<u8>,
    session: Option<String>,
    sent: u64,
    /// Events from the browser.
    events: Vec<Value>,
    _profile: tempfile::TempDir,
}

/// The names that it is installed under.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

const FLAGS: [&str; 11] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--remote-debugging-pipe",
];

impl Chromium {
    /// Starts it; `None` if it is not installed.
    ///
    /// # Panics
    /// If it does not start, or is not installed although `CI` is set.
    pub(crate) fn start() -> Option<Chromium> {
        let finds = |name: &&&str| {
            let found = Command::new("sh").args(["-c", &format!("command -v {name}")]).output();
            found.is_ok_and(|output| output.status.success())
        };
        let Some(name) = NAMES.iter().find(finds) else {
            assert!(std::env::var_os("CI").is_none(), "chromium is not installed");
            // Bypasses the test harness, which captures a passing test's output.
            let why = "skipped: chromium is not installed; pages were not opened in it";
            writeln!(std::io::stderr(), "{why}").expect("stderr is writable");
            return None;
        };
        let profile = tempfile::tempdir().expect("a folder");
        // It reads from descriptor 3 and writes to 4.
        let mut process = Command::new("sh")
            .args(["-c", "exec \"$@\" 3<&0 4>&1 1>/dev/null 2>/dev/null 0</dev/null", "sh", name])
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let (to, from) = (process.stdin.take(), process.stdout.take());
        let mut chromium = Chromium {
            process,
            to: to.expect("is piped"),
            from: from.expect("is piped"),
            unread: Vec::new(),
            session: None,
            sent: 0,
            events: Vec::new(),
            _profile: profile,
        };
        let target = chromium.ask("Target.createTarget", json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let session = chromium.ask("Target.attachToTarget", attach);
        chromium.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Network", "Log", "Accessibility"] {
            chromium.ask(&format!("{domain}.enable"), json!({}));
        }
        Some(chromium)
    }

    /// Sends a request and waits for the answer.
    ///
    /// # Panics
    /// If the answer is an error, or the browser is gone.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        self.sent += 1;
        let mut message = json!({"id": self.sent, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut text = message.to_string().into_bytes();
        text.push(0);
        self.to.write_all(&text).expect("the browser listens");
        loop {
            let mut answer = self.read();
            if answer["id"] == json!(self.sent) {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].take();
            }
            self.events.push(answer);
        }
    }

    /// Opens a file in a window of this width and waits until it is loaded.
    pub(crate) fn open(&mut self, path: &Path, width: u32) {
        let metrics =
            json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        self.ask("Emulation.setDeviceMetricsOverride", metrics);
        self.events.clear();
        self.ask("Page.navigate", json!({"url": format!("file://{}", path.display())}));
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let event = self.read();
            self.events.push(event);
        }
    }

    /// The value of an expression in the page.
    ///
    /// # Panics
    /// If it throws.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let mut answer = self.ask("Runtime.evaluate", params);
        assert!(answer["exceptionDetails"].is_null(), "{}", answer["exceptionDetails"]);
        answer["result"]["value"].take()
    }

    /// Presses and releases a key, as a user does.
    pub(crate) fn press(&mut self, key: &str) {
        let code = match key {
            "Tab" => 9,
            "PageDown" => 34,
            "End" => 35,
            "Home" => 36,
            "ArrowUp" => 38,
            "ArrowRight" => 39,
            "ArrowDown" => 40,
            "Escape" => 27,
            other => panic!("no code for {other}"),
        };
        for kind in ["rawKeyDown", "keyUp"] {
            let key = json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code});
            self.ask("Input.dispatchKeyEvent", key);
        }
    }

    /// The browser's events of this name since the page was opened.
    pub(crate) fn events_named(&self, method: &str) -> Vec<&Value> {
        let events = self.events.iter().filter(|event| event["method"] == method);
        events.map(|event| &event["params"]).collect()
    }

    fn read(&mut self) -> Value {
        let mut chunk = vec![0; 1 << 16];
        loop {
            if let Some(end) = self.unread.iter().position(|&byte| byte == 0) {
                let text: Vec<u8> = self.unread.drain(..=end).collect();
                return serde_json::from_slice(&text[..end]).expect("JSON");
            }
            let read = self.from.read(&mut chunk).expect("a pipe");
            assert!(read > 0, "the browser is gone");
            self.unread.extend_from_slice(&chunk[..read]);
        }
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
