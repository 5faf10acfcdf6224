//! The page of a rich session, as a person uses it.

use std::fs;
use std::path::Path;
use std::time::Duration;

use relaycode_session::export::{ExportOptions, ExportTheme};
use relaycode_testkit::browser::{Browser, BrowserPage, ColourScheme, file_url};
use relaycode_testkit::or_skip;

use super::rich_session;

const LIMIT: Duration = Duration::from_secs(10);

/// The page's text with everything unfolded, and whitespace collapsed.
fn all_text(page: &BrowserPage) -> String {
    // What is out of sight is laid out when it is scrolled to; here everything is needed at once.
    page.eval(
        "document.querySelectorAll('details').forEach(details => { details.open = true }); \
         document.querySelectorAll('.run').forEach(run => { run.style.contentVisibility = 'visible' })",
    );
    flat(&page.text())
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn assert_quiet(page: &BrowserPage, file: &Path) {
    assert_eq!(page.console(), [""; 0]);
    assert_eq!(page.violations(), [""; 0]);
    assert_eq!(page.dialogs(), [""; 0]);
    let asked: Vec<String> =
        page.requests().into_iter().filter(|url| !url.starts_with("data:image/")).collect();
    assert_eq!(asked, [file_url(file)]);
}

#[test]
fn everything_of_a_session_is_in_its_page_and_nothing_is_asked_for() {
    let browser = or_skip!(Browser::start());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rich.html");
    let (made, says) = rich_session::session();
    let exported = made.html(&file, &ExportOptions::default());
    assert_eq!((exported.entries, exported.images, exported.skipped_images), (made.entries.len(), 1, 1));

    let page = browser.open_file(&file);
    assert_eq!(page.eval("document.title"), "Round totals to cents");
    let shown = all_text(&page);
    for said in &says {
        assert!(shown.contains(&flat(said)), "{said:?} is not in the page: {shown}");
    }
    assert!(says.len() > 90, "{}", says.len());
    assert!(shown.contains("$0.55") && shown.contains("4,810 in · 1,360 out"), "{shown}");
    assert_eq!(page.eval("document.querySelector('figure img').naturalWidth"), 24);
    assert_quiet(&page, &file);

    // Without scripts the text is the same, and nothing is broken.
    let page = browser.page();
    page.scripts(false);
    page.go(&file_url(&file));
    let shown = all_text(&page);
    for said in &says {
        assert!(shown.contains(&flat(said)), "{said:?} is not in the page without scripts");
    }
    assert_eq!(page.eval("getComputedStyle(document.querySelector('.bar')).display"), "none");
    assert_quiet(&page, &file);
}

#[test]
fn a_search_finds_counts_marks_and_jumps() {
    let browser = or_skip!(Browser::start());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rich.html");
    let (made, _) = rich_session::session();
    made.html(&file, &ExportOptions::default());
    let page = browser.page();
    page.resize(1200, 900);
    page.go(&file_url(&file));
    let count = || page.eval("document.querySelector('.count').textContent");
    let visible = || page.eval("document.querySelectorAll('.e:not(.miss)').length");

    page.key("/");
    page.type_text("LIBRARY");
    page.wait("document.querySelector('.count').textContent.startsWith('4 of')", LIMIT);
    assert_eq!(visible(), 4);
    page.wait("CSS.highlights.get('found').size >= 1", LIMIT);
    page.type_text(" weigh");
    page.wait("document.querySelector('.count').textContent.startsWith('1 of')", LIMIT);
    page.key("Enter");
    assert_eq!(count(), "1 of 1");
    // It is in a folded branch.
    assert_eq!(page.eval("document.querySelector('.now').closest('.branch').open"), true);
    page.key("Escape");
    page.wait("document.querySelector('.count').textContent === ''", LIMIT);
    assert_eq!(visible(), made.entries.len());

    // Text deep in folded output is found and unfolded.
    page.type_text("number 57");
    page.wait("document.querySelector('.count').textContent.startsWith('1 of')", LIMIT);
    page.key("Enter");
    assert_eq!(page.eval("document.querySelector('.now details.more').open"), true);
    page.key("Escape");
    page.type_text("no such words");
    page.wait("!document.querySelector('.none').hidden", LIMIT);
    page.key("Escape");
    page.key("Escape");
    assert_eq!(page.eval("document.activeElement === document.body"), true);

    // Without a search, n and p go through the prompts.
    page.key("n");
    assert!(
        page.eval("document.querySelector('.now').innerText").as_str().unwrap().contains("Round the totals")
    );
    page.key("n");
    page.key("p");
    assert!(
        page.eval("document.querySelector('.now').innerText").as_str().unwrap().contains("Round the totals")
    );
    assert_quiet(&page, &file);
}

#[test]
fn filters_themes_folds_and_keys_work() {
    let browser = or_skip!(Browser::start());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rich.html");
    let (made, _) = rich_session::session();
    made.html(&file, &ExportOptions { theme: ExportTheme::Dark, ..ExportOptions::default() });
    let page = browser.page();
    page.resize(1200, 900);
    page.prefer(ColourScheme::Light);
    page.go(&file_url(&file));
    let visible = |selector: &str| {
        page.eval(&format!("[...document.querySelectorAll('.e')].filter(e => !e.matches('.miss') && e.matches('{selector}')).length"))
            .as_u64()
            .unwrap()
    };
    let ground = || page.eval("getComputedStyle(document.body).backgroundColor");

    assert_eq!(ground(), "rgb(22, 23, 26)");
    page.click(".theme");
    assert_eq!(
        (ground(), page.eval("document.documentElement.dataset.theme")),
        ("rgb(251, 251, 250)".into(), "auto".into())
    );
    page.prefer(ColourScheme::Dark);
    assert_eq!(ground(), "rgb(22, 23, 26)");
    page.key("t");
    assert_eq!(ground(), "rgb(251, 251, 250)");

    page.click(".chip[data-show=user]");
    assert_eq!((visible(".user"), visible(":not(.user)")), (5, 0));
    page.click(".chip[data-show=no-tools]");
    assert_eq!((visible(".tool"), visible(".note")), (0, 0));
    assert!(visible(".assistant") > 3);
    page.click(".chip[data-show=labelled]");
    assert_eq!(visible("*"), 1);
    page.key("f");
    assert_eq!(visible("*"), made.entries.len() as u64);
    assert_eq!(
        page.eval("document.querySelector('.chip[data-show=all]').getAttribute('aria-pressed')"),
        "true"
    );

    page.key("e");
    assert_eq!(page.eval("document.querySelectorAll('main details:not([open])').length"), 0);
    page.key("e");
    assert_eq!(page.eval("document.querySelectorAll('main details[open]').length"), 0);
    page.key("?");
    assert_eq!(page.eval("document.querySelector('.help').open"), true);
    page.key("Escape");
    assert_eq!(page.eval("document.querySelector('.help').open"), false);

    // A line of the outline leads to its entry, also in a folded branch.
    page.click(".outline .beside a");
    page.wait("document.querySelector('.e:target')?.closest('.branch').open", LIMIT);
    // The confirmation disappears after a moment.
    page.eval(
        "new MutationObserver(() => { window.copied ||= !!document.querySelector('.copy.done'); })\
         .observe(document.body, { subtree: true, attributes: true })",
    );
    page.click(".prose .copy");
    page.wait("window.copied", LIMIT);
    assert_eq!(page.console(), [""; 0]);
}

#[test]
fn the_page_fits_a_phone_a_screen_and_paper() {
    let browser = or_skip!(Browser::start());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rich.html");
    let (mut made, _) = rich_session::session();
    made.user(&format!("https://example.com/{}", "long".repeat(200)));
    made.header.as_mut().unwrap().cwd = "/deep".repeat(80);
    made.html(&file, &ExportOptions::default());
    let shots = std::env::var_os("RELAY_SHOTS");
    for (width, height) in [(360, 740), (768, 1000), (1200, 900)] {
        for scheme in [ColourScheme::Light, ColourScheme::Dark] {
            let page = browser.page();
            page.resize(width, height);
            page.prefer(scheme);
            page.go(&file_url(&file));
            page.eval("document.querySelectorAll('details').forEach(details => { details.open = true })");
            let wide = page.eval("document.documentElement.scrollWidth");
            assert_eq!(wide, width, "something is wider than the window");
            let Some(shots) = &shots else { continue };
            page.go(&file_url(&file));
            for (number, place) in ["0", "900", "1900", "document.body.scrollHeight"].iter().enumerate() {
                page.eval(&format!("scrollTo({{top: {place}, behavior: 'instant'}})"));
                let name = format!("{width}-{scheme:?}-{number}.png").to_lowercase();
                page.screenshot(&Path::new(shots).join(name));
            }
        }
    }
    let page = browser.open_file(&file);
    page.print(true);
    assert_eq!(page.eval("getComputedStyle(document.querySelector('.bar')).display"), "none");
    assert_eq!(page.eval("getComputedStyle(document.querySelector('nav')).display"), "none");
}

#[test]
fn only_the_path_is_exported_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("path.html");
    let (made, _) = rich_session::session();
    let exported = made.html(
        &file,
        &ExportOptions { all_branches: false, title: Some("Mine".into()), ..ExportOptions::default() },
    );
    let page = fs::read_to_string(&file).unwrap();
    assert!(page.contains("<title>Mine</title>") && !page.contains("Which library is the smallest?"));
    assert!(exported.skipped_entries > 2);
    assert!(page.contains(&format!("{} entries of other branches left out.", exported.skipped_entries)));
}
