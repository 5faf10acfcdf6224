//! Search and replace.

use super::*;

#[test]
fn blocks_are_read_in_the_spellings_that_models_use() {
    let hunk = "edit f.rs {a => b}";
    check(
        "search-replace",
        Some("f.rs"),
        &[
            ("plain", "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE", hunk),
            ("blanks", "<<<<<<< SEARCH  \na\n=======  \nb\n>>>>>>> REPLACE \n\n", hunk),
            ("angle behind", "<<<<<<< SEARCH>\na\n=======\nb\n>>>>>>> REPLACE<\n", hunk),
            ("lower case", "<<<<<<< search\na\n=======\nb\n>>>>>>> replace\n", hunk),
            ("no blank", "<<<<<<<SEARCH\na\n=======\nb\n>>>>>>>REPLACE\n", hunk),
            ("five", "<<<<< SEARCH\na\n=====\nb\n>>>>> REPLACE\n", hunk),
            ("nine", "<<<<<<<<< SEARCH\na\n=========\nb\n>>>>>>>>> REPLACE\n", hunk),
            ("uneven", "<<<<<< SEARCH\na\n========\nb\n>>>>>>> REPLACE\n", hunk),
            ("other words", "<<<<<<< ORIGINAL\na\n=======\nb\n>>>>>>> UPDATED\n", hunk),
            ("dashes", "------- SEARCH\na\n=======\nb\n+++++++ REPLACE\n", hunk),
            ("path behind", "<<<<<<< SEARCH f.rs\na\n=======\nb\n>>>>>>> REPLACE\n", hunk),
            ("path above", "f.rs\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n", hunk),
            (
                "other path above",
                "test.rs\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n",
                "! 1: names `test.rs`",
            ),
            ("indented", "  <<<<<<< SEARCH\na\n  =======\nb\n  >>>>>>> REPLACE\n", hunk),
            ("fences", "```\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n```\n", hunk),
            ("empty search", "<<<<<<< SEARCH\n=======\nb\n>>>>>>> REPLACE\n", "edit f.rs { => b}"),
            ("empty replacement", "<<<<<<< SEARCH\na\n\n=======\n>>>>>>> REPLACE\n", "edit f.rs {a| => }"),
            ("one blank line", "<<<<<<< SEARCH\n\n=======\n>>>>>>> REPLACE\n", "edit f.rs { => }"),
            (
                "two blocks with prose between",
                "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n\nAnd then:\n```\n<<<<<<< SEARCH\n c\n=======\n\td \n>>>>>>> REPLACE\n",
                "edit f.rs {a => b} { c => \td }",
            ),
            (
                "line numbers",
                "<<<<<<< SEARCH\n:start_line:5\n:end_line: 7\n-------\na\n=======\nb\n>>>>>>> REPLACE\n",
                "edit f.rs {5-7a => b}",
            ),
            (
                "a rule is content without line numbers",
                "<<<<<<< SEARCH\n-------\n=======\nb\n>>>>>>> REPLACE\n",
                "edit f.rs {------- => b}",
            ),
            (
                "escapes",
                "<<<<<<< SEARCH\n\\<<<<<<< SEARCH\n\\=======\n\\\\=======\n\\n\n=======\n\\>>>>>>> REPLACE\n>>>>>>> REPLACE\n",
                "edit f.rs {<<<<<<< SEARCH|=======|\\=======|\\n => >>>>>>> REPLACE}",
            ),
            (
                "conflict markers as content",
                "<<<<<<< SEARCH\n<<<<<<< HEAD\nx\n\\=======\n>>>>>>> main\n=======\nx\n>>>>>>> REPLACE\n",
                "edit f.rs {<<<<<<< HEAD|x|=======|>>>>>>> main => x}",
            ),
        ],
    );
}

#[test]
fn the_separator_is_told_from_an_underline_or_the_block_is_refused() {
    check(
        "search-replace",
        Some("f.rst"),
        &[
            (
                "underline in both texts",
                "<<<<<<< SEARCH\nHeading\n=======\nold text here\n=======\nHeading\n=======\nnew\n>>>>>>> REPLACE\n",
                "edit f.rst {Heading|=======|old text here => Heading|=======|new}",
            ),
            (
                "longer underlines are no candidates",
                "<<<<<<< SEARCH\nA long heading\n==============\n=======\nB\n>>>>>>> REPLACE\n",
                "edit f.rst {A long heading|============== => B}",
            ),
            (
                "underline of another length",
                "<<<<<<< SEARCH\nTitle\n=====\n\n=======\nOther\n=====\n>>>>>>> REPLACE\n",
                "edit f.rst {Title|=====| => Other|=====}",
            ),
            (
                "either could be it",
                "<<<<<<< SEARCH\nlet a = 1;\n=======\nb\n=======\nc\n>>>>>>> REPLACE\n",
                "! 5: line 3 and line 5",
            ),
            (
                "written twice",
                "<<<<<<< SEARCH\n    f();\n=======\n=======\n>>>>>>> REPLACE\n",
                "edit f.rst {    f(); => }",
            ),
            (
                "at the end of the search text",
                "<<<<<<< SEARCH\nHeading\n=======\n=======\nTitle\n>>>>>>> REPLACE\n",
                "edit f.rst {Heading|======= => Title}",
            ),
            (
                "perhaps at the end of the search text",
                "<<<<<<< SEARCH\nA heading of its own\n=======\n=======\n>>>>>>> REPLACE\n",
                "! 4: line 3 and line 4",
            ),
            (
                "only an underline",
                "<<<<<<< SEARCH\nTitle\n=====\ntext\n>>>>>>> REPLACE\n",
                "! 1: no `=======`",
            ),
        ],
    );
}

#[test]
fn damaged_blocks_are_refused_where_they_are_damaged() {
    check(
        "search-replace",
        Some("f.rs"),
        &[
            ("nothing", "", "! 1: no `<<<<<<< SEARCH`"),
            ("no separator", "<<<<<<< SEARCH\na\n>>>>>>> REPLACE\n", "! 1: no `=======`"),
            ("cut off", "\n<<<<<<< SEARCH\na\n=======\nb\n", "! 2: cut off"),
            ("cut off at the start", "<<<<<<< SEARCH\na\n", "! 1: cut off"),
            (
                "cut off after a good one",
                "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n<<<<<<< SEARCH\nc\n=======\n",
                "! 6: cut off",
            ),
            (
                "nested",
                "<<<<<<< SEARCH\na\n=======\nb\n<<<<<<< SEARCH\nc\n=======\nd\n>>>>>>> REPLACE\n",
                "! 5: before the one of line 1 has ended",
            ),
            ("separator first", "=======\na\n>>>>>>> REPLACE\n", "! 1: outside"),
            ("merge conflict", "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> main\n", "! 1: merge conflict markers"),
            (
                "line number in the replacement",
                "<<<<<<< SEARCH\na\n=======\nx\n:end_line:10\n>>>>>>> REPLACE\n",
                "! 5: belongs below SEARCH",
            ),
            (
                "a file that contains blocks",
                "const t = `\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n`;\n",
                "! 1: may stand before",
            ),
            (
                "another file",
                "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\nother.rs\n<<<<<<< SEARCH\nc\n=======\nd\n>>>>>>> REPLACE\n",
                "! 6: names `other.rs`",
            ),
        ],
    );
}

#[test]
fn a_block_without_header_names_its_files_itself() {
    check(
        "search-replace",
        None,
        &[
            (
                "two files",
                "a.py\n```python\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n<<<<<<< SEARCH\nc\n=======\nd\n>>>>>>> REPLACE\n```\n**src/b.py**:\n<<<<<<< SEARCH\ne\n=======\nf\n>>>>>>> REPLACE\n",
                "edit a.py {a => b} {c => d}\nedit src/b.py {e => f}",
            ),
            ("no name", "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n", "! 1: names no file"),
        ],
    );
}

#[test]
fn dashes_below_search_are_layout_unless_they_are_content() {
    let block =
        |before: &str, after: &str| format!("<<<<<<< SEARCH\n{before}=======\n{after}>>>>>>> REPLACE\n");
    for (what, text, expected) in [
        ("alone", block("-------\na\n", "b\n"), "edit p {a => b}"),
        ("in both", block("-------\na\n", "-------\nb\n"), "edit p {-------|a => -------|b}"),
        ("all there is", block("-------\n", "b\n"), "edit p {------- => b}"),
        ("escaped", block("\\-------\na\n", "b\n"), "edit p {-------|a => b}"),
        ("longer", block("--------\na\n", "b\n"), "edit p {--------|a => b}"),
    ] {
        check("search-replace", Some("p"), &[(what, &text, expected)]);
    }
}
