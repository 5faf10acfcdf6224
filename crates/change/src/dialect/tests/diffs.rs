//! Diffs of one file and of several.

use super::*;

#[test]
fn headers_of_hunks_are_read_in_every_form() {
    let hunk = |header: &str| format!("{header}\n a\n-b\n+c\n");
    for (header, expected) in [
        ("@@ -1,2 +3,4 @@ fn main() {", "{1[fn main() {]a|b => a|c ~1}"),
        ("@@ -7 +7 @@", "{7a|b => a|c ~1}"),
        ("@@ -12 @@", "{12a|b => a|c ~1}"),
        ("@@ -12,3 @@", "{12a|b => a|c ~1}"),
        ("@@ -12,3 +12,3", "{12a|b => a|c ~1}"),
        ("@@-12,3 +12,3@@", "{12a|b => a|c ~1}"),
        ("@@ -1,2 +3,4 @@scope", "{1[scope]a|b => a|c ~1}"),
        ("@@ ... @@", "{a|b => a|c ~1}"),
        ("@@ ... @@ class A", "{[class A]a|b => a|c ~1}"),
        ("@@ @@", "{a|b => a|c ~1}"),
        ("@@", "{a|b => a|c ~1}"),
        ("@@ class A", "{[class A]a|b => a|c ~1}"),
        ("@@ class A @@", "{[class A]a|b => a|c ~1}"),
        ("@@ -1 +1 @@ a @@ b", "{1[a @@ b]a|b => a|c ~1}"),
        ("@@ -99999999999999999999999 +1 @@", "{a|b => a|c ~1}"),
        ("@@ class A\n@@ def f", "{[class A][def f]a|b => a|c ~1}"),
    ] {
        let summary = summary("new-unified", Some("f.py"), &hunk(header));
        assert_eq!(summary, format!("edit f.py {expected}"), "{header}");
    }
}

#[test]
fn a_diff_of_one_file_is_read_forgivingly() {
    check(
        "standard-diff",
        Some("f"),
        &[
            ("no header at all", " a\n-b\n+c\n", "edit f {a|b => a|c ~1}"),
            ("other names", "--- a/x\n+++ b/x\n@@ @@\n-b\n+c\n", "! 1: headed `f`, but its diff names `b/x`"),
            ("names that differ", "--- original\n+++ modified\n@@ @@\n-b\n", "edit f {b =>  ~0}"),
            ("no hunk header", "--- f\n+++ f\n-b\n+c\n", "edit f {b => c ~0}"),
            ("path line above", "f\n\n@@ @@\n-b\n+c\n", "edit f {b => c ~0}"),
            (
                "two hunks, layout between",
                "@@ @@\n a\n-b\n\n\n@@ @@\n c\n+d\n\n",
                "edit f {a|b => a ~1} {c => c|d ~1}",
            ),
            ("empty line inside is context", "@@ @@\n a\n\n-b\n \n", "edit f {a||b| => a|| ~3}"),
            ("lost prefix", "@@ @@\nfn a() {\n\tx\n-b\n", "edit f {fn a() {|\tx|b => fn a() {|\tx ~2}"),
            (
                "ruby",
                "@@ @@\n@@count = 0\n-@@a = 1\n+@@b\n",
                "edit f {@@count = 0|@@a = 1 => @@count = 0|@@b ~1}",
            ),
            ("no change", "@@ -1,2 +1,2 @@\n a\n b\n", "edit f {1a|b => a|b ~2}"),
            ("insertion on top", "@@ -0,0 +1 @@\n+a\n", "edit f {0 => a ~0}"),
            (
                "removed SQL comment",
                "@@ @@\n--- old\n+-- new\n select\n",
                "edit f {-- old|select => -- new|select ~1}",
            ),
            (
                "removed and added lines that look like names",
                "@@ @@\n--- x\n+++ y\n z\n",
                "edit f {-- x|z => ++ y|z ~1}",
            ),
            ("the same at the very end", "@@ @@\n--- x\n+++ y\n", "edit f {-- x => ++ y ~0}"),
            ("last line removed", "@@ @@\n-a\n\\ No newline at end of file\n", "edit f {a =>  ~0 nl}"),
            (
                "new end without newline",
                "@@ @@\n-a\n+b\n\\ No newline at end of file\n",
                "edit f {a => b ~0 no-nl}",
            ),
            ("newline put", "@@ @@\n-a\n\\ No newline at end of file\n+a\n", "edit f {a => a ~0 nl}"),
            (
                "both without",
                "@@ @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n",
                "edit f {a => b ~0 no-nl}",
            ),
            (
                "kept end without newline",
                "@@ @@\n-a\n b\n\\ No newline at end of file",
                "edit f {a|b => b ~1 no-nl}",
            ),
            ("new", "--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+\n", "create f \"a\\n\\n\""),
            (
                "new, blank without prefix",
                "--- /dev/null\n+++ b/f\n@@ @@\n+a\n\n+b\n",
                "create f \"a\\n\\nb\\n\"",
            ),
            (
                "new without newline",
                "--- /dev/null\n+++ b/f\n+a\n\\ No newline at end of file\n",
                "create f \"a\"",
            ),
            ("deleted", "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", "delete f"),
            (
                "names repeated",
                "--- f\n+++ f\n@@ @@\n-a\n--- f\n+++ f\n@@ @@\n-b\n",
                "edit f {a =>  ~0} {b =>  ~0}",
            ),
            ("two files", "--- f\n+++ f\n@@ @@\n-a\n--- g\n+++ g\n@@ @@\n-b\n", "! 5: one file"),
            ("prose", "this is no diff\n", "! 1: no line of it begins with"),
            ("cut off after names", "--- f\n+++ f\n", "! 1: no hunks"),
            ("cut off after a header", "@@ @@\n-a\n@@ -9 +9 @@\n\n", "! 3: no lines"),
            ("new with old lines", "--- /dev/null\n+++ f\n@@ @@\n a\n+b\n", "! 3: begin with `+`"),
            ("deleted with new lines", "--- f\n+++ /dev/null\n@@ @@\n-a\n+b\n", "! 3: begin with `-`"),
            ("merge", "@@@ -1,2 -1,2 +1,2 @@@\n  a\n", "! 1: combined diff"),
        ],
    );
}

#[test]
fn the_path_comes_from_the_names_when_the_block_has_none() {
    for (old, new, expected) in [
        ("a/src/x.rs", "b/src/x.rs", "edit src/x.rs {a =>  ~0}"),
        ("src/x.rs", "src/x.rs", "edit src/x.rs {a =>  ~0}"),
        ("src/x.rs", "b/src/x.rs", "edit src/x.rs {a =>  ~0}"),
        ("a/x.rs\t2024-01-02 03:04:05", "b/x.rs\t2024", "edit x.rs {a =>  ~0}"),
        ("x.rs 2024-01-02 03:04:05", "x.rs 2025-01-02 03:04", "edit x.rs {a =>  ~0}"),
        ("a/my file.txt", "b/my file.txt", "edit my file.txt {a =>  ~0}"),
        ("x.rs.orig", "x.rs", "edit x.rs {a =>  ~0}"),
        ("\"a/caf\\303\\251.txt\"", "\"b/caf\\303\\251.txt\"", "edit café.txt {a =>  ~0}"),
        ("a/a/b", "b/a/b", "edit a/b {a =>  ~0}"),
        ("a/../x", "b/../x", "! 1: contains `..`; paths stay inside the project"),
        ("one.rs", "two.rs", "! 1: names two files"),
    ] {
        let text = format!("--- {old}\n+++ {new}\n@@ @@\n-a\n");
        check("new-unified", None, &[(old, &text, expected)]);
    }
    check("new-unified", None, &[("none", "@@ @@\n-a\n", "! 1: names no file")]);
}

#[test]
fn git_diffs_of_several_files_are_read_in_order() {
    check(
        "unified",
        None,
        &[
            (
                "edit, new, deleted",
                "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@ f\n-a\n+b\ndiff --git a/n.sh b/n.sh\nnew file mode 100755\nindex 0..1\n--- /dev/null\n+++ b/n.sh\n@@ -0,0 +1 @@\n+x\ndiff --git a/d b/d\ndeleted file mode 100644\nindex 1..0\n--- a/d\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
                "edit x {1[f]a => b ~0}\ncreate n.sh +x \"x\\n\"\ndelete d",
            ),
            (
                "empty files",
                "diff --git a/my n b/my n\nnew file mode 100644\nindex 000..e69\ndiff --git a/d b/d\ndeleted file mode 100644\nindex e69..000\n",
                "create my n -x \"\"\ndelete d",
            ),
            (
                "rename alone",
                "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n",
                "rename x y",
            ),
            (
                "rename with an edit and a mode",
                "diff --git a/x b/y z\nold mode 100644\nnew mode 100755\nsimilarity index 90%\nrename from x\nrename to y z\nindex 1..2\n--- a/x\n+++ b/y z\t\n@@ -1 +1 @@\n-a\n+b\n",
                "rename x y z\nedit y z +x {1a => b ~0}",
            ),
            ("mode alone", "diff --git a/x b/x\nold mode 100755\nnew mode 100644\n", "edit x -x"),
            (
                "without git lines",
                "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n\n--- a/y\n+++ b/y\n\n@@ -1 +1 @@\n-c\n",
                "edit x {1a => b ~0}\nedit y {1c =>  ~0}",
            ),
            (
                "deleted without its lines",
                "--- x\n+++ x\n@@ @@\n-a\n--- d\n+++ /dev/null\n--- y\n+++ y\n@@ @@\n-b\n",
                "edit x {a =>  ~0}\ndelete d\nedit y {b =>  ~0}",
            ),
            (
                "Subversion",
                "Index: x\n==========\n--- x\t(revision 1)\n+++ x\t(working copy)\n@@ -1 +1 @@\n-a\nIndex: y\n==========\n--- y\n+++ y\n@@ -1 +1 @@\n-b\n",
                "edit x {1a =>  ~0}\nedit y {1b =>  ~0}",
            ),
            (
                "quoted",
                "diff --git \"a/caf\\303\\251\" \"b/caf\\303\\251\"\nnew mode 100755\n",
                "edit café +x",
            ),
            (
                "mailed",
                "From 1234 Mon Sep 17\nSubject: x\n\n- a point\n---\n x | 2 +-\n\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n-- \n2.40.1\n\n",
                "edit x {1a => b ~0}",
            ),
            (
                "copy",
                "diff --git a/x b/y\nsimilarity index 100%\ncopy from x\ncopy to y\n",
                "! 3: copies are not supported",
            ),
            ("binary", "diff --git a/x b/x\nindex 1..2\nBinary files a/x and b/x differ\n", "! 3: binary"),
            ("binary patch", "diff --git a/x b/x\nindex 1..2\nGIT binary patch\nliteral 1\n", "! 3: binary"),
            ("merge", "diff --cc x\nindex 1,2..3\n", "! 1: combined diff"),
            ("symbolic link", "diff --git a/x b/x\nnew file mode 120000\n", "! 2: symbolic links"),
            ("cut off", "diff --git a/x b/x\nindex 1..2 100644\n", "! 1: no hunks"),
            ("half a rename", "diff --git a/x b/y\nrename from x\n", "! 1: needs both"),
            ("sealed path", "--- a/.git/config\n+++ b/.git/config\n@@ @@\n+x\n", "! 1: `.git`"),
        ],
    );
    check(
        "unified",
        Some("p"),
        &[
            ("the names of its sides", "--- original\n+++ modified\n@@ @@\n-a\n", "edit p {a =>  ~0}"),
            ("another name", "--- a/x\n+++ b/x\n@@ @@\n-a\n", "! 1: headed `p`, but its diff names `b/x`"),
            (
                "several, and it",
                "--- x\n+++ x\n@@ @@\n-a\n--- p\n+++ p\n@@ @@\n-a\n",
                "edit x {a =>  ~0}\nedit p {a =>  ~0}",
            ),
            (
                "several others",
                "--- x\n+++ x\n@@ @@\n-a\n--- y\n+++ y\n@@ @@\n-a\n",
                "! 1: headed `p`, but its diff names other files",
            ),
            ("a rename of others", "diff --git a/x b/y\nrename from x\nrename to y\n", "! 1: headed `p`"),
        ],
    );
}
