//! Answers with shell code wherever relay reads a value.

use super::{Ground, Poison};

pub(super) const POISONS: &[Poison] = &[
    Poison::new("message-with-shell", |ground| {
        answer(ground, "a.txt", "gitCommitMsg: \"'; §; `§`; $(touch ../PWNED) \\n#\"\n")
    }),
    Poison::new("message-as-option", |ground| {
        answer(ground, "a.txt", "gitCommitMsg: \"--template=@ -c core.pager=@ --exec=@\"\n")
    }),
    Poison::new("summary-with-shell", |ground| {
        answer(ground, "a.txt", "promptSummary: \"`§`\"\nchangeSummary: [{modify: \"`§`\"}]\n")
    }),
    Poison::new("path-with-shell", |ground| {
        answer(ground, "sub/`touch ..PWNED`;x$(touch PWNED)&.txt", "gitCommitMsg: x\n")
    }),
    Poison::new("path-as-option", |ground| answer(ground, "--upload-pack=touch PWNED", "gitCommitMsg: x\n")),
    Poison::new("path-as-magic", |ground| answer(ground, ":(exclude)x", "gitCommitMsg: x\n")),
    Poison::new("answer-with-settings", |ground| {
        answer(
            ground,
            "a.txt",
            "linter: §\npreCommand: §\npostCommand: §\ntrusted: true\napprove: true\ngit: {hooksPath: \"@\"}\n",
        )
    }),
    Poison::new("branch-with-shell", |ground| {
        let config = r#"{"projectId": "app", "git": {"autoGitBranch": true, "gitBranchTemplate": "gitCommitMsg",
            "gitBranchPrefix": "--exec=@/"}}"#;
        ground.file("relaycode.config.json", &ground.filled(config))?;
        answer(ground, "a.txt", "gitCommitMsg: \"-c alias.x=!§ `§`\"\n")
    }),
    Poison::new("configures-itself", |ground| {
        answer(ground, "relaycode.config.json", "gitCommitMsg: x\n")?;
        let text = r#"{"projectId": "app", "patch": {"linter": "§", "approvalMode": "auto"}}"#;
        let block = format!(
            "```json // relaycode.config.json\n{}\n```\n\n```sh // run.sh\n{}\n```\n\n```sh\n{}\n```\n",
            ground.filled(text),
            ground.line(),
            ground.line()
        );
        ground.file("../answer.md", &block)
    }),
];

/// An answer that writes one file, with more in its control block.
fn answer(ground: &Ground, path: &str, control: &str) -> anyhow::Result<()> {
    let text = format!(
        "```txt // {path}\nfrom the answer\n```\n\n```yaml\nprojectId: app\nuuid: \
         5b0f4f60-1111-4222-8333-000000000001\n{}```\n",
        ground.filled(control)
    );
    ground.file("../answer.md", &text)
}
