use crate::plan::findings::placeholder::*;

const STANDS_FOR_CODE: &[(&str, &str)] = &[
    ("a.ts", "// ... existing code ..."),
    ("a.ts", "// ...existing code..."),
    ("a.ts", "// existing code ..."),
    ("a.ts", "// … existing code …"),
    ("a.ts", "// existing code"),
    ("a.ts", "    // ... rest of the code"),
    ("a.ts", "// ... rest of your component"),
    ("a.ts", "// Rest of the code remains the same"),
    ("a.ts", "// ... (rest of the file is unchanged)"),
    ("a.ts", "// ... other methods"),
    ("a.ts", "// ... other imports like fs and path"),
    ("a.ts", "// ... keep existing validation methods ..."),
    ("a.ts", "// Keep the rest of the file as is"),
    ("a.ts", "// ... same as before"),
    ("a.ts", "// ..."),
    ("a.ts", "..."),
    ("a.ts", "// unchanged"),
    ("a.ts", "// (unchanged)"),
    ("a.py", "# keep the rest"),
    ("a.py", "# leave the rest as it is"),
    ("a.py", "# ... rest of the file"),
    ("a.html", "<!-- ... -->"),
    ("a.ts", "...existing code..."),
    ("a.tsx", "{/* ... rest of the JSX ... */}"),
    ("a.tsx", "{/* existing content unchanged */}"),
    ("a.js", "/* … keep the rest … */"),
    ("a.js", "function load() { /* ... existing code ... */ }"),
    ("a.js", "load() { // ... rest of the setup"),
    ("a.js", "/* ... */"),
    ("a.py", "# ... (unchanged)"),
    ("a.py", "# ... rest of the class remains unchanged ..."),
    ("a.py", "# ..."),
    ("a.py", "... rest of the code"),
    ("a.py", "# Code omitted for brevity"),
    ("a.py", "# [rest of the implementation]"),
    ("a.html", "<!-- rest of file -->"),
    ("a.html", "<!-- ... existing markup ... -->"),
    ("README.md", "<!-- rest of file unchanged -->"),
    ("README.md", "[... rest of the document unchanged ...]"),
    ("a.sql", "-- ... remaining columns"),
    ("a.lua", "-- rest of the file stays the same"),
    ("a.clj", ";; ... rest of the function"),
    ("a.rs", "// ... remaining variants unchanged"),
    ("a.rs", "fn load() -> Config { ... }"),
    ("a.go", "// [existing code here]"),
    ("a.go", "[rest of the code unchanged]"),
    ("a.css", "/* rest of the styles remain the same */"),
    ("a.yaml", "# ... rest of the config ..."),
    ("Makefile", "# ... other rules unchanged ..."),
    ("a.java", "// ... implementation ..."),
    ("a.java", "// all other methods remain unchanged"),
    ("a.tmpl", "{{/* ... existing template ... */}}"),
    ("a.js", "// (same as before)"),
    ("a.js", "// --- unchanged below ---"),
    ("a.js", "// no changes below"),
    ("a.js", "// No changes needed"),
    ("a.js", "// remaining code here"),
    ("a.js", "// (b omitted for brevity)"),
    ("a.js", "// Keep everything else"),
    ("a.js", "// other code stays here"),
    ("a.js", "// ... le reste du code reste inchangé"),
    ("a.js", "// ... resto del código sin cambios"),
    ("a.js", "// … остальной код без изменений"),
    ("a.js", "// Rest der Datei unverändert"),
    ("a.js", "// sem alterações"),
    ("a.js", "// 其余代码不变"),
    ("a.py", "# 既存のコード"),
    ("a.py", "pass  # unchanged"),
    ("a.js", "function b() { // unchanged"),
];

const REAL_TEXT: &[(&str, &str)] = &[
    ("a.ts", "function call(first: string, ...args: unknown[]) {"),
    ("a.ts", "...args"),
    ("a.ts", "...rest,"),
    ("a.ts", "...existing,"),
    ("a.ts", "...(existing ? code : {}),"),
    ("a.ts", "...state.items, // keep existing items"),
    ("a.ts", "// ...args are passed on"),
    ("a.ts", "// ...rest"),
    ("a.ts", "// rest parameters are collected into an array"),
    ("a.ts", "// existing users keep their sessions"),
    ("a.ts", "// Load existing users..."),
    ("a.ts", "// other methods"),
    ("a.ts", "// the rest of the code handles errors"),
    ("a.ts", "// Same as above, but for files"),
    ("a.ts", "// unchanged since the last call"),
    ("a.ts", "// Check whether the file is unchanged"),
    ("a.ts", "// Waiting for the server to start..."),
    ("a.ts", "const { id, ...rest } = props; // rest is spread below"),
    ("a.ts", "log(\"// ... existing code ...\");"),
    ("a.ts", "expect(text).toContain('... rest of the code');"),
    ("a.ts", "fetch(\"https://example.org/rest/of/code\")"),
    ("a.ts", "throw new Error(\"file unchanged\");"),
    ("a.ts", "<Panel {...props} />"),
    ("a.ts", "return { ...original };"),
    ("a.ts", "* ..."),
    ("a.py", "..."),
    ("a.py", "def load(self) -> int: ..."),
    ("a.py", "x[..., 0] = 1"),
    ("a.py", "# the existing code path is slow, so cache it"),
    ("a.py", "print('loading...')"),
    ("a.pyi", "    ..."),
    ("a.yaml", "..."),
    ("a.go", "append(all, rest...)"),
    ("a.go", "func join(parts ...string) string {"),
    ("a.rs", "let Point { x, .. } = point;"),
    ("a.rs", "for i in 0..rest.len() {"),
    ("a.rs", "// Keep existing entries that are still valid."),
    ("a.rs", "/// ..."),
    ("README.md", "The rest is silence."),
    ("README.md", "... and the rest is history."),
    ("README.md", "# Rest of the API"),
    ("README.md", "..."),
    ("README.md", "- keep the rest of the file as is"),
    ("README.md", "Loading existing code..."),
    ("CHANGELOG.md", "* Existing code keeps working"),
    ("a.sql", "-- existing rows are not touched"),
    ("a.html", "<p>Rest of the world</p>"),
    ("a.c", "/* same as before, but without the lock */"),
    ("a.c", "int printf(const char *format, ...);"),
    ("a.css", "/* original colours */"),
    ("a.toml", "# Remaining time in seconds"),
    ("notes.txt", "same as before"),
    ("a.ts", "// no change event is sent"),
    ("a.ts", "// same as above"),
    ("a.ts", "let unchanged = {}; // unchanged"),
    ("a.ts", "// everything is fine"),
    ("a.ts", "// Der Wert bleibt unverändert"),
    ("a.ts", "// 保持不变量"),
    ("a.ts", "// sin cambios en la sesión se sale de la función principal"),
];

fn found(path: &str, line: &str) -> bool {
    !ChangedPart::of("", line).placeholders(PlaceholderLanguage::of(path)).is_empty()
}

#[test]
fn omissions_are_seen() {
    let missed: Vec<_> = STANDS_FOR_CODE.iter().filter(|(path, line)| !found(path, line)).collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn real_code_and_prose_are_left_alone() {
    let wrong: Vec<_> = REAL_TEXT.iter().filter(|(path, line)| found(path, line)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn comments_that_begin_with_dots_are_seen() {
    let found = |text: &str| ChangedPart::of("", text).dotted_comments(PlaceholderLanguage::Code).len();
    for text in
        ["// ... what else it did\n", "// …und so weiter\n", "// ...f25-f29...\n", "/* (... the loop) */\n"]
    {
        assert_eq!(found(text), 1, "{text}");
    }
    for text in [
        "// ...args are passed on\n",
        "// ...rest\n",
        "/// ... and so on\n",
        "// First this,\n// ... then that\n",
    ] {
        assert_eq!(found(text), 0, "{text}");
    }
}

#[test]
fn dots_that_end_a_parameter_list_are_code() {
    let text = "void log(\n    const char *format,\n    ...\n);\n";
    assert_eq!(ChangedPart::of("", text).placeholders(PlaceholderLanguage::Code), []);
}

#[test]
fn odd_lines_do_no_harm() {
    for line in ["…", ".", "..", "/*", "*/", "<!---->", "{/**/}", "(…)", "[]", "{", "}", "//…é", "…é…"]
    {
        for path in ["a.ts", "a.py", "a.md", "a"] {
            found(path, line);
        }
    }
    assert!(!found("a.ts", &format!("// ... existing code {}", "x".repeat(LINE_BYTES))));
}

#[test]
fn an_ellipsis_after_a_statement_of_python_is_a_placeholder() {
    let found = |text| ChangedPart::of("", text).placeholders(PlaceholderLanguage::Python).len();
    assert_eq!(found("import os\n\n...\n\ndef main():\n    run()\n    ...\n"), 2);
    for stub in [
        "class A(Protocol):\n    def f(self) -> int:\n        ...\n\n    x: int\n",
        "def f():\n    \"\"\"Text.\"\"\"\n    ...\n",
        "@overload\ndef f(a: int) -> int:\n    # one\n    ...\n",
        "\"\"\"\n>>> for i in x\n...\n\"\"\"\n",
        "x = [\n    1,\n    ...\n]\n",
    ] {
        assert_eq!(found(stub), 0, "{stub}");
    }
}

#[test]
fn only_what_differs_is_looked_at_in_the_light_of_the_lines_above() {
    let python = |before, after| ChangedPart::of(before, after).placeholders(PlaceholderLanguage::Python);
    let before = "def f():\n    \"\"\"\n    x = 1\n    y\n    \"\"\"\n    return 1\n";
    assert_eq!(python(before, &before.replace("y\n", "...\n")), [], "inside of a text");
    let after = before.replace("return 1", "x = 1\n    ...");
    let part = ChangedPart::of(before, &after);
    let numbers = part.placeholders(PlaceholderLanguage::Python).into_iter().map(|(at, _)| part.first + at);
    assert_eq!(numbers.collect::<Vec<_>>(), [7]);
    let goes_on = ChangedPart::of("// one,\nf()\n", "// one,\n// ... two\nf()\n");
    assert_eq!(goes_on.dotted_comments(PlaceholderLanguage::Code), []);
    let returns = ChangedPart::of("a\rb\r", "a\r// ... rest of the code\r");
    assert_eq!((returns.first, returns.placeholders(PlaceholderLanguage::Code).len()), (0, 1));
}
