//! One page of the browser: where it goes, what it shows, what it requested and complained about.

use std::fs;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::LIMIT;
use super::connection::DevToolsConnection;
use crate::expect::expect_ok;

/// Time between two checks of a condition.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// The user's preference as reported to a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColourScheme {
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

#[derive(Debug)]
pub struct BrowserPage {
    connection: Rc<DevToolsConnection>,
    session: String,
}

impl BrowserPage {
    pub(super) fn new(connection: Rc<DevToolsConnection>, session: &str) -> BrowserPage {
        let page = BrowserPage { connection, session: session.to_owned() };
        for domain in ["Page", "Runtime", "Network", "Log", "Audits"] {
            page.call(&format!("{domain}.enable"), &json!({}));
        }
        page
    }

    /// Waits until it is loaded.
    pub fn go(&self, url: &str) {
        let loaded = || self.count("Page.loadEventFired");
        let before = loaded();
        let answer = self.call("Page.navigate", &json!({"url": url}));
        assert!(answer.get("errorText").is_none(), "{url} did not open: {}", answer["errorText"]);
        let until = Instant::now() + LIMIT;
        while loaded() == before {
            let came = expect_ok(self.connection.listen(until), "while a page loads");
            assert!(came, "{url} was not loaded within {LIMIT:?}");
        }
    }

    /// The value of an expression; waits for a promise. One that throws fails the test.
    pub fn eval(&self, expression: &str) -> Value {
        let ask = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let mut answer = self.call("Runtime.evaluate", &ask);
        let thrown = answer.get("exceptionDetails");
        assert!(thrown.is_none(), "{expression}: {}", thrown.unwrap_or(&Value::Null));
        answer["result"]["value"].take()
    }

    /// As a person sees it.
    pub fn text(&self) -> String {
        self.eval("document.body.innerText").as_str().unwrap_or_default().to_owned()
    }

    pub fn wait(&self, condition: &str, limit: Duration) {
        let until = Instant::now() + limit;
        while self.eval(&format!("!!({condition})")) != true {
            assert!(Instant::now() < until, "not within {limit:?}: {condition}");
            std::thread::sleep(LOOK_AGAIN);
        }
    }

    /// The window's content as a PNG file.
    pub fn screenshot(&self, file: &Path) {
        let shot = self.call("Page.captureScreenshot", &json!({"format": "png"}));
        let bytes = expect_ok(STANDARD.decode(shot["data"].as_str().unwrap_or_default()), "no picture came");
        expect_ok(fs::write(file, bytes), "the picture could not be written");
    }

    /// In CSS pixels.
    pub fn resize(&self, width: u32, height: u32) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", &size);
    }

    /// The user prefers light or dark pages.
    pub fn prefer(&self, scheme: ColourScheme) {
        let value = if scheme == ColourScheme::Dark { "dark" } else { "light" };
        let features = json!([{"name": "prefers-color-scheme", "value": value}]);
        self.call("Emulation.setEmulatedMedia", &json!({"features": features}));
    }

    /// Renders the page for print, or for the screen again.
    pub fn print(&self, on: bool) {
        self.call("Emulation.setEmulatedMedia", &json!({"media": if on { "print" } else { "" }}));
    }

    /// Switches scripts on or off, from the next page on. [`eval`](Self::eval) works all the same.
    pub fn scripts(&self, on: bool) {
        self.call("Emulation.setScriptExecutionDisabled", &json!({"value": !on}));
    }

    /// Every requested address, in order, including the page itself.
    pub fn requests(&self) -> Vec<String> {
        self.strings("Network.requestWillBeSent", |event| event["request"]["url"].as_str().map(str::to_owned))
    }

    /// The text of every dialog that a page opened; all were refused.
    pub fn dialogs(&self) -> Vec<String> {
        self.strings("Page.javascriptDialogOpening", |event| event["message"].as_str().map(str::to_owned))
    }

    /// Console output, uncaught exceptions, and the browser's own complaints.
    pub fn console(&self) -> Vec<String> {
        let said = self.strings("Runtime.consoleAPICalled", |event| Some(event["args"].to_string()));
        let thrown =
            self.strings("Runtime.exceptionThrown", |event| Some(event["exceptionDetails"].to_string()));
        let logged =
            self.strings("Log.entryAdded", |event| event["entry"]["text"].as_str().map(str::to_owned));
        [said, thrown, logged].concat()
    }

    /// What the page's security policy blocked.
    pub fn violations(&self) -> Vec<String> {
        self.strings("Audits.issueAdded", |event| {
            let issue = &event["issue"];
            (issue["code"] == "ContentSecurityPolicyIssue").then(|| issue["details"].to_string())
        })
    }

    pub(super) fn call(&self, method: &str, parameters: &Value) -> Value {
        expect_ok(self.connection.call(Some(&self.session), method, parameters, LIMIT), method)
    }

    fn count(&self, method: &str) -> usize {
        self.connection.events(&self.session).iter().filter(|event| event.method == method).count()
    }

    fn strings(&self, method: &str, read: impl Fn(&Value) -> Option<String>) -> Vec<String> {
        // Everything the page did before this call is reported before its answer.
        self.call("Runtime.evaluate", &json!({"expression": "0"}));
        let events = self.connection.events(&self.session);
        let ours = events.iter().filter(|event| event.method == method);
        ours.filter_map(|event| read(&event.parameters)).collect()
    }
}
