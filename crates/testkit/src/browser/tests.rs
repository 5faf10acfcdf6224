use std::fs;

use super::*;
use crate::or_skip;
use crate::process::poll_until;

const PAGE: &str = r#"<!doctype html><meta charset=utf-8><title>one</title>
<meta http-equiv="Content-Security-Policy" content="img-src 'none'">
<style>@media (prefers-color-scheme: dark) { body { color: rgb(1, 2, 3) } }</style>
<body><input id=i><button id=b onclick="document.title = 'clicked'">press</button><p id=w></p>
<script>document.getElementById('w').textContent = innerWidth; console.log('said');
alert('a question'); const image = new Image(); image.src = 'data:image/gif;base64,R0lGODlhAQABAAAAACw=';
setTimeout(() => { window.late = 1 }, 20); document.body.append('ünïcode')</script>"#;

#[test]
fn a_page_is_opened_driven_and_watched() {
    let browser = or_skip!(Browser::start());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a page#1.html");
    fs::write(&file, PAGE).unwrap();

    let page = browser.page();
    page.resize(333, 400);
    page.prefer(ColourScheme::Dark);
    page.go(&file_url(&file));
    assert!(page.text().contains("ünïcode") && page.text().contains("333"), "{}", page.text());
    assert_eq!(page.eval("getComputedStyle(document.body).color"), "rgb(1, 2, 3)");
    assert_eq!(page.dialogs(), ["a question"]);
    page.wait("window.late === 1", LIMIT);
    assert_eq!(page.violations().len(), 1, "{:?}", page.violations());
    assert!(page.console().iter().any(|line| line.contains("said")));
    assert_eq!(page.requests().first(), Some(&file_url(&file)));

    page.click("#i");
    page.type_text("aß?");
    page.key("Backspace");
    assert_eq!(page.eval("document.getElementById('i').value"), "aß");
    page.click("#b");
    assert_eq!(page.eval("document.title"), "clicked");
    let picture = folder.path().join("shot.png");
    page.screenshot(&picture);
    assert!(fs::read(&picture).unwrap().starts_with(b"\x89PNG"));
    assert_eq!(browser.windows().len(), 2, "{:?}", browser.windows());
}

#[test]
fn without_scripts_a_page_is_still_read() {
    let browser = or_skip!(Browser::start());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.html");
    fs::write(&file, PAGE).unwrap();
    let page = browser.page();
    page.scripts(false);
    page.go(&file_url(&file));
    assert_eq!(page.eval("document.getElementById('w').textContent"), "");
    assert!(page.dialogs().is_empty() && page.text().contains("press"));
}

#[test]
fn nothing_of_a_browser_outlives_it() {
    let browser = or_skip!(Browser::start());
    let profile = browser.profile().to_owned();
    let mark = profile.as_os_str().as_encoded_bytes().to_owned();
    browser.page();
    assert!(processes_with(&mark) > 1);
    drop(browser);
    let gone = poll_until(GOODBYE, || (processes_with(&mark) == 0).then_some(()));
    assert!(gone.is_some() && !profile.exists());
}

/// How many processes have this in their arguments.
fn processes_with(mark: &[u8]) -> usize {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let arguments = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    arguments.filter(|line| line.windows(mark.len()).any(|part| part == mark)).count()
}
