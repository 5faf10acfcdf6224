//! A real browser without a screen: Debian's Chromium, driven by its DevTools protocol.
//!
//! The protocol runs over two pipes, so nothing listens on a port. The browser has its own profile in a
//! temporary directory, makes no requests by itself, and ends with the value, with all of its processes.
//! Every wait has a limit; a browser that does not do what it is told fails the test.
//!
//! ```no_run
//! # use relaycode_testkit::{browser::Browser, or_skip};
//! # fn test() {
//! let browser = or_skip!(Browser::start());
//! let page = browser.open_file("page.html".as_ref());
//! assert_eq!(page.eval("document.title"), "a page");
//! assert!(page.requests().iter().all(|url| url.starts_with("file:")));
//! # }
//! ```

mod connection;
mod input;
mod page;

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::expect::expect_ok;
use crate::missing::{Missing, find};
use crate::process::ChildGuard;
use connection::DevToolsConnection;

pub use page::{BrowserPage, ColourScheme};

pub const PROGRAM: &str = "chromium";

/// For an answer of the browser, or a page.
pub const LIMIT: Duration = Duration::from_secs(60);

/// How long it may take to exit by itself.
const GOODBYE: Duration = Duration::from_secs(5);

/// No sandbox: tests also run as root. Nothing in the background: a test counts requests.
const OPTIONS: &[&str] = &[
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--disable-breakpad",
    "--no-first-run",
    "--no-default-browser-check",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--remote-debugging-pipe",
];

#[derive(Debug)]
pub struct Browser {
    connection: Rc<DevToolsConnection>,
    program: ChildGuard,
    group: Pid,
    profile: TempDir,
}

impl Browser {
    pub fn start() -> Result<Browser, Missing> {
        let program = find(PROGRAM)?;
        let profile = expect_ok(tempfile::tempdir(), "no directory for the browser's profile");
        let mut command = Command::new("sh");
        // It speaks on the descriptors 3 and 4.
        command.arg("-c").arg(r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>"$RELAY_BROWSER_LOG""#);
        command.arg(program).args(OPTIONS).arg(format!("--user-data-dir={}", profile.path().display()));
        command.arg("about:blank");
        command.env("RELAY_BROWSER_LOG", profile.path().join("log")).env("HOME", profile.path());
        command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").env_remove("DBUS_SESSION_BUS_ADDRESS");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut program = expect_ok(ChildGuard::start(&mut command), "could not start the browser");
        let group = program.pid();
        let pipes = (program.child().stdin.take(), program.child().stdout.take());
        let (Some(input), Some(output)) = pipes else { return Err(Missing(PROGRAM)) };
        let connection = Rc::new(DevToolsConnection::new(input, output));
        let browser = Browser { connection, program, group, profile };
        browser.call("Browser.getVersion", &json!({}));
        browser.call("Browser.setDownloadBehavior", &json!({"behavior": "deny"}));
        Ok(browser)
    }

    /// An empty page, to be set up before [`BrowserPage::go`].
    pub fn page(&self) -> BrowserPage {
        let target = self.call("Target.createTarget", &json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let attached = self.call("Target.attachToTarget", &attach);
        BrowserPage::new(Rc::clone(&self.connection), attached["sessionId"].as_str().unwrap_or_default())
    }

    /// Waits until it is loaded.
    pub fn open(&self, url: &str) -> BrowserPage {
        let page = self.page();
        page.go(url);
        page
    }

    /// Waits until it is loaded.
    pub fn open_file(&self, file: &Path) -> BrowserPage {
        self.open(&file_url(file))
    }

    /// The addresses of all windows, including those that a page opened.
    pub fn windows(&self) -> Vec<String> {
        let targets = self.call("Target.getTargets", &json!({}));
        let infos = targets["targetInfos"].as_array().cloned().unwrap_or_default();
        let pages = infos.iter().filter(|info| info["type"] == "page");
        pages.filter_map(|info| info["url"].as_str().map(str::to_owned)).collect()
    }

    /// The main process; all others of the browser are in its group.
    pub fn pid(&self) -> Pid {
        self.group
    }

    pub fn profile(&self) -> &Path {
        self.profile.path()
    }

    fn call(&self, method: &str, parameters: &Value) -> Value {
        expect_ok(self.connection.call(None, method, parameters, LIMIT), method)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.connection.call(None, "Browser.close", &json!({}), GOODBYE);
        self.program.wait_exit(GOODBYE);
        let _ = kill_process_group(self.group, Signal::KILL);
        self.program.end();
    }
}

pub fn file_url(file: &Path) -> String {
    let path = expect_ok(std::path::absolute(file), "no absolute path");
    let mut url = "file://".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                url.push(char::from(*byte));
            }
            _ => drop(write!(url, "%{byte:02X}")),
        }
    }
    url
}

#[cfg(test)]
mod tests;
