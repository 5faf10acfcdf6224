//! The `*** Begin Patch` envelope.

use super::*;

#[test]
fn patches_are_read_and_damaged_ones_refused() {
    let inside = |body: &str| format!("*** Begin Patch\n{body}*** End Patch\n");
    for (what, body, expected) in [
        ("add", "*** Add File: a/b\n+x\n+\n", "create a/b \"x\\n\\n\""),
        ("add, blank without prefix", "*** Add File: b\n+x\n\n+y\n\n", "create b \"x\\n\\ny\\n\""),
        ("add nothing", "*** Add File: b\n", "create b \"\""),
        ("delete", "*** Delete File: b\n\n", "delete b"),
        ("update", "*** Update File: b\n@@\n a\n-b\n+c\n", "edit b {a|b => a|c ~1}"),
        ("no mark", "*** Update File: b\n a\n-b\n", "edit b {a|b => a ~1}"),
        (
            "scopes",
            "*** Update File: b\n@@ class A\n@@ def f():\n-b\n@@ def g():\n-c\n",
            "edit b {[class A][def f():]b =>  ~0} {[def g():]c =>  ~0}",
        ),
        (
            "end of file",
            "*** Update File: b\n@@\n-b\n*** End of File\n@@\n-c\n",
            "edit b {b =>  ~0 end} {c =>  ~0}",
        ),
        ("move", "*** Update File: b\n*** Move to: c\n@@\n-b\n", "rename b c\nedit c {b =>  ~0}"),
        ("move alone", "*** Update File: b\n*** Move to: c\n", "rename b c"),
        (
            "directives as content",
            "*** Update File: b\n@@\n *** End Patch\n+*** Add File: x\n",
            "edit b {*** End Patch => *** End Patch|*** Add File: x ~1}",
        ),
        (
            "several",
            "*** Add File: a\n+x\n*** Update File: b\n@@\n-b\n*** Delete File: c\n",
            "create a \"x\\n\"\nedit b {b =>  ~0}\ndelete c",
        ),
        ("update of nothing", "*** Update File: b\n", "! 2: no lines"),
        ("mark without lines", "*** Update File: b\n@@ f\n", "! 3: no lines"),
        ("add without prefix", "*** Add File: b\nx\n", "! 3: begins with `+`"),
        ("delete with other lines", "*** Delete File: b\n-x\n+y\n", "! 4: only removed lines can follow"),
        ("bad path", "*** Delete File: ../b\n", "! 2: contains `..`; paths stay inside the project"),
        ("absolute path", "*** Add File: /etc/x\n+x\n", "! 2: absolute"),
        ("no directive", "hello\n", "! 2: expected"),
        ("twice", "*** Begin Patch\n", "! 2: before the one of line 1"),
    ] {
        check("apply-patch", None, &[(what, &inside(body), expected)]);
    }
    check(
        "apply-patch",
        None,
        &[
            ("cut off", "*** Begin Patch\n*** Delete File: b\n", "! 1: cut off"),
            ("no patch", "hello\n", "! 1: no `*** Begin Patch`"),
            (
                "heredoc",
                "apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: b\n*** End Patch\nEOF\n",
                "delete b",
            ),
            ("no begin", "*** Delete File: b\n*** End Patch\n", "delete b"),
        ],
    );
    let one = inside("*** Update File: b\n@@\n-b\n");
    check(
        "apply-patch",
        Some("p"),
        &[("header contradicts", &one, "! 2: headed `p`, but its patch names `b`")],
    );
    check("apply-patch", Some("src/b"), &[("header says more", &one, "edit src/b {b =>  ~0}")]);
    let moved = inside("*** Update File: b\n*** Move to: c\n");
    check("apply-patch", Some("p"), &[("header contradicts", &moved, "! 2: headed `p`")]);
}
