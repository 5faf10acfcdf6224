use proptest::prelude::*;

use super::*;

fn html(text: &str) -> String {
    let mut out = String::new();
    push(&mut out, text);
    out.replace('\n', "")
}

#[test]
fn the_common_part_of_markdown_is_shown() {
    for (text, expected) in [
        ("one\ntwo\n\nthree", "<p>onetwo</p><p>three</p>"),
        ("# A *b*\n###### c", "<h3>A <em>b</em></h3><h6>c</h6>"),
        (
            "**b** *i* ***bi*** ~~s~~",
            "<p><strong>b</strong> <em>i</em> <em><strong>bi</strong></em> <del>s</del></p>",
        ),
        ("snake_case_name _em_ 2 * 3 * 4", "<p>snake_case_name <em>em</em> 2 * 3 * 4</p>"),
        ("`a < b` ``c ` d``", "<p><code>a &lt; b</code> <code>c ` d</code></p>"),
        ("> q\n> - x\n\nrest", "<blockquote><p>q</p><ul><li>x</li></ul></blockquote><p>rest</p>"),
        ("- a\n  - b\n- c\n  more", "<ul><li>a<ul><li>b</li></ul></li><li>cmore</li></ul>"),
        ("- a\n\n- b", "<ul><li><p>a</p></li><li><p>b</p></li></ul>"),
        ("3. a\n4. b", "<ol start=\"3\"><li>a</li><li>b</li></ol>"),
        ("---", "<hr>"),
        ("a\\*b\\*", "<p>a*b*</p>"),
        (
            "[t](https://x.y/(z)) ok",
            "<p><span class=\"link\">t</span> <span class=\"url\">(https://x.y/(z))</span> ok</p>",
        ),
        ("[not] a link", "<p>[not] a link</p>"),
        ("~5 min, ~6 h", "<p>~5 min, ~6 h</p>"),
        ("&lt; &#60;", "<p>&amp;lt; &amp;#60;</p>"),
        ("<https://a.b> <b>x</b>", "<p>&lt;https://a.b&gt; &lt;b&gt;x&lt;/b&gt;</p>"),
    ] {
        assert_eq!(html(text), expected, "{text}");
    }
}

#[test]
fn code_keeps_its_lines_and_names_its_language() {
    let mut out = String::new();
    push(&mut out, "```rust\nfn a() {\n\n  *b*\n}\n```\nafter\n~~~\nopen <b>");
    assert!(out.contains("<span class=\"lang\">rust</span>"), "{out}");
    assert!(out.contains("<code>fn a() {\n\n  *b*\n}</code>"), "{out}");
    assert!(out.contains("<p>after</p>") && out.contains("<code>open &lt;b&gt;</code>"), "{out}");
}

#[test]
fn tables_have_rows_and_cells() {
    let out = html("| a | `b\\|c` |\n|---|:-:|\n| 1 | **2** | 3 |\n\nend");
    assert!(out.contains("<thead><tr><th>a</th><th><code>b|c</code></th></tr></thead>"), "{out}");
    assert!(out.contains("<tr><td>1</td><td><strong>2</strong></td><td>3</td></tr>"), "{out}");
    assert!(out.ends_with("<p>end</p>"), "{out}");
}

#[test]
fn what_the_parser_leaves_out_is_shown() {
    for (text, expected) in [
        (
            "see [a][b] and [c]\n\n[b]: x \"t\"\n[c]: y",
            "<p>see <span class=\"link\">a</span> <span class=\"url\">[b]</span> and <span class=\"link\">c</span></p>\
             <p>[b]: x &quot;t&quot;[c]: y</p>",
        ),
        ("- [a]: b\n- c", "<ul><li><p>[a]: b</p></li><li>c</li></ul>"),
        (
            "|a|\n|-|\n|b|c|d|",
            "<div class=\"wide\" tabindex=\"0\"><table><thead><tr><th>a</th></tr></thead>\
             <tbody><tr><td>b</td><td>c|d</td></tr></tbody></table></div>",
        ),
    ] {
        assert_eq!(html(text), expected, "{text}");
    }
}

#[test]
fn deep_elements_are_left_out_and_their_text_is_not() {
    let deep = format!("{}a\n\n{}b", "> ".repeat(100), "* ".repeat(100));
    let out = html(&deep);
    assert!(is_balanced(&out), "{out}");
    assert!(
        out.matches("<blockquote>").count() <= MAX_DEPTH && out.matches("<li>").count() <= MAX_DEPTH,
        "{out}"
    );
    assert!(text_of(&out).contains('a') && text_of(&out).contains('b'), "{out}");
}

#[test]
fn markup_is_text_and_nothing_is_linked_or_loaded() {
    let out =
        html("<img src=x onerror=alert(1)> ![a](http://x/y.png) [c](javascript:alert(1)) <https://a.b>");
    for tag in out.split('<').skip(1).map(|tag| tag.split('>').next().unwrap()) {
        assert!(
            ["p", "/p", "/span", "span class=\"link\"", "span class=\"url\""].contains(&tag),
            "{tag} in {out}"
        );
    }
}

#[test]
fn hostile_nesting_ends_soon() {
    for text in [
        ">".repeat(200_000),
        "- ".repeat(200_000),
        "*a ".repeat(200_000),
        "**a* ".repeat(100_000),
        "[".repeat(300_000),
        "[a](".repeat(100_000),
        "`".repeat(300_000),
        (1..800).map(|length| "`".repeat(length) + "a").collect(),
        "|a\n|-\n".repeat(50_000),
        "> - ".repeat(60_000),
        "- a\n\n".repeat(60_000),
        "\\".repeat(300_000),
        "~~~\n".repeat(60_000),
        "<a ".repeat(100_000),
        "[a](<b".repeat(50_000),
        "[a](b \"".repeat(50_000),
        "[a][b]".repeat(50_000),
        "[a]: b \"\n".repeat(30_000),
    ] {
        let began = std::time::Instant::now();
        assert!(!html(&text).is_empty());
        assert!(began.elapsed().as_secs() < 5, "{:?} for {}", began.elapsed(), &text[..20]);
    }
}

/// The text between the tags.
fn text_of(html: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for c in html.chars() {
        match c {
            '<' => inside = true,
            '>' => inside = false,
            _ if !inside => out.push(c),
            _ => {}
        }
    }
    out.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&")
}

fn is_balanced(html: &str) -> bool {
    let mut open = Vec::new();
    for tag in html.split('<').skip(1) {
        let name: String = tag.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '/').collect();
        match name.strip_prefix('/') {
            Some(name) if open.pop().as_deref() != Some(name) => return false,
            Some(_) => {}
            None if matches!(name.as_str(), "br" | "hr") => {}
            None => open.push(name),
        }
    }
    open.is_empty()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]
    #[test]
    fn no_letter_is_lost_and_every_tag_is_closed(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "a", "bcd", "é日", " ", "  ", "\n", "\n\n", "    ", "\t", "*", "**", "_", "~~", "`", "``", "```", "~~~\n",
                "[", "]", "](", ")", "(", "> ", "- ", "x) ", "# ", "|", "|-|\n", "---\n", "\\", "<", "&", "!", "  \n",
                "~", "[a]: ", "[b]", "1. ", "12) ", "&amp;", "&#60;", "<!--", "<b>", "<https://c.d>", "=\n", "![", " \"t\"",
            ]),
            0..40,
        )
    ) {
        let text = parts.concat();
        let mut out = String::new();
        push(&mut out, &text);
        let letters = |text: &str| text.chars().filter(|c| c.is_alphabetic()).collect::<String>();
        prop_assert_eq!(letters(&text_of(&out)), letters(&text), "{}", out);
        prop_assert!(is_balanced(&out), "{:?} gave {}", text, out);
    }
}
