//! Notations of other tools, pasted as they are.

use super::*;

const HASH: &str = "0123456789abcdef0123456789abcdef01234567";

fn mail(number: usize, path: &str) -> String {
    format!(
        "From {HASH} Mon Sep 17 00:00:00 2001\nFrom: A <a@b.c>\nDate: Mon, 2 Nov 2026 10:00:00 +0100\nSubject: [PATCH {number}/2] Change {path}\n in one place\n\nBecause.\n---\n {path} | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n\ndiff --git a/{path} b/{path}\nindex 111..222 100644\n--- a/{path}\n+++ b/{path}\n@@ -1,2 +1,2 @@\n-a\n+b\n c\n-- \n2.43.0\n\n"
    )
}

#[test]
fn the_signature_of_a_mailed_patch_is_no_deletion() {
    let both = mail(1, "a.py") + &mail(2, "b.py");
    let wanted: &[&str] = &["W a.py unified a|c=>b|c", "W b.py unified a|c=>b|c"];
    for text in [
        both.clone(),
        both.replace("-- \n", "--\n"),
        format!("```\n{both}```\n"),
        format!("```diff\n{both}```\n"),
    ] {
        let text = text.as_str();
        check(&[(text, wanted)]);
        assert_eq!(read(text).control.git_commit_msg.as_deref(), Some("Change a.py in one place"), "{text}");
    }
    let controlled = format!("{both}\n```yaml\nprojectId: p\ngitCommitMsg: mine\n```\n");
    assert_eq!(read(&controlled).control.git_commit_msg.as_deref(), Some("mine"));
    let printed = print(&read(&both));
    assert_eq!(read(&printed).control, read(&both).control, "{printed}");
}

#[test]
fn commits_as_git_prints_them() {
    let commit = |path: &str| {
        format!(
            "commit {HASH} (HEAD -> main)\nAuthor: A <a@b.c>\nDate:   Mon Nov 2 10:00:00 2026 +0100\n\n    Change {path}\n\n    Because.\n\ndiff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-a\n+b\n\n"
        )
    };
    let log = commit("a.py") + &commit("b.py");
    for text in [log.clone(), format!("```\n{log}```\n")] {
        check(&[(&text, &["W a.py unified a=>b", "W b.py unified a=>b"])]);
        assert_eq!(read(&text).control.git_commit_msg.as_deref(), Some("Change a.py"), "{text}");
    }
}

#[test]
fn encoded_mails_are_refused() {
    let encoded = mail(1, "a.py").replace("Date:", "Content-Transfer-Encoding: quoted-printable\nDate:");
    let base64 = format!(
        "From {HASH} Mon Sep 17 00:00:00 2001\nSubject: x\nContent-Transfer-Encoding: base64\n\nZGlmZiAtLWdpdA==\n"
    );
    check(&[
        (&encoded, &["W a.py unified a|c=>b|c", "!3 this mail is encoded"]),
        (&format!("```\n{encoded}```\n"), &["!4 this mail is encoded"]),
        (&base64, &["!3 this mail is encoded"]),
        (&format!("```\n{base64}```\n"), &["!4 this mail is encoded"]),
    ]);
}
