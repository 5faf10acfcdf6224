//! Friends, providers, models, keys and sessions that are not there.

use super::{project, typed};
use crate::fixture::snapshot::Transcript;
use crate::friends::fixture::Stage;
use crate::relay_snapshot;

#[test]
fn friends_that_cannot_be_asked() {
    let stage = Stage::new();
    let mut transcript = Transcript::default();
    for args in [
        &["ask", "why?"][..],
        &["ask", "why?", "--to", "codex"],
        &["ask", "why?", "--to", "nobody"],
        &["ask", "why?", "--to", "anthropic"],
        &["ask", ""],
        &["ask", "why?", "--context-file", "gone.txt"],
        &["ask", "why?", "--schema", "gone.json"],
        &["ask", "why?", "--model", ""],
        &["do", "tidy up", "--to", "codex"],
        &["review", "--to", "codex"],
        &["review", "gone.txt", "--to", "codex"],
        &["review", "--base", "no-such-branch", "--to", "codex"],
    ] {
        transcript.add(&format!("relay {args:?}"), &stage.project.relay(args));
    }
    relay_snapshot!(transcript, @r#"
    # relay ["ask", "why?"]
    exit 10
    ----- stderr -----
    ✗ codex is not installed: there is no `codex` in PATH; nothing was changed
      install it with `npm install -g @openai/codex`

    # relay ["ask", "why?", "--to", "codex"]
    exit 10
    ----- stderr -----
    ✗ codex is not installed: there is no `codex` in PATH; nothing was changed
      install it with `npm install -g @openai/codex`

    # relay ["ask", "why?", "--to", "nobody"]
    exit 2
    ----- stderr -----
    ✗ there is no friend `nobody`. There are codex, claude, gemini, opencode, self, anthropic, openai, google, xai, deepseek, mistral, zai, moonshot, groq, cerebras, together, fireworks, openrouter, vercel-gateway, github-models, ollama, llama.cpp, lm-studio
      `relay friends` shows who is there, `relay models` which servers there are

    # relay ["ask", "why?", "--to", "anthropic"]
    exit 10
    ----- stderr -----
    ✗ anthropic is not signed in: there is no key for anthropic; nothing was changed
      `relay keys set anthropic` stores one, or set ANTHROPIC_API_KEY (get it at https://platform.claude.com/settings/keys)

    # relay ["ask", ""]
    exit 2
    ----- stderr -----
    ✗ the prompt is empty
      say what you want, for example `relay ask "what does this do?"`

    # relay ["ask", "why?", "--context-file", "gone.txt"]
    exit 2
    ----- stderr -----
    ✗ there is no file ./gone.txt
      nothing was sent

    # relay ["ask", "why?", "--schema", "gone.json"]
    exit 2
    ----- stderr -----
    ✗ the schema ./gone.json cannot be read: No such file or directory (os error 2)
      `--schema` names a file with a JSON schema; nothing was sent

    # relay ["ask", "why?", "--model", ""]
    exit 10
    ----- stderr -----
    ✗ codex is not installed: there is no `codex` in PATH; nothing was changed
      install it with `npm install -g @openai/codex`

    # relay ["do", "tidy up", "--to", "codex"]
    exit 10
    ----- stderr -----
    ✗ codex is not installed: there is no `codex` in PATH; nothing was changed
      install it with `npm install -g @openai/codex`

    # relay ["review", "--to", "codex"]
    exit 10
    ----- stderr -----
      for codex: no difference; it compares with main (there is a branch of that name, and no origin/HEAD) by itself
    ✗ codex is not installed: there is no `codex` in PATH; nothing was changed
      install it with `npm install -g @openai/codex`

    # relay ["review", "gone.txt", "--to", "codex"]
    exit 3
    ----- stderr -----
    ✗ there is nothing to review in these files: nothing was committed since main (there is a branch of that name, and no origin/HEAD), and nothing is uncommitted; nothing was changed
      `--base REF` compares with something else; nothing was sent

    # relay ["review", "--base", "no-such-branch", "--to", "codex"]
    exit 2
    ----- stderr -----
    ✗ there is no commit `no-such-branch` here; nothing was changed
      `--base REF` names a branch, a tag or a commit that is here
    "#);
}

#[test]
fn providers_models_and_keys_that_are_unknown() {
    let lines = [
        "keys set nobody",
        "keys remove nobody",
        "keys remove anthropic",
        "keys set anthropic",
        "models nobody --no-discover",
        "models show nobody/none",
        "models test nobody/none",
        "models test",
    ];
    relay_snapshot!(typed(&project(), &lines), @"
    # relay keys set nobody
    exit 2
    ----- stderr -----
    ✗ there is no provider `nobody`
      `relay keys list --all` lists them; models.yml can name others

    # relay keys remove nobody
    exit 2
    ----- stderr -----
    ✗ there is no provider `nobody`
      `relay keys list --all` lists them; models.yml can name others

    # relay keys remove anthropic
    exit 0
    ----- stdout -----
    ✓ no key of anthropic was stored

    # relay keys set anthropic
    exit 13
    ----- stderr -----
    ✗ there is no terminal to ask for the key on; nothing was changed
      `relay keys set anthropic --stdin` reads it from stdin

    # relay models nobody --no-discover
    exit 0
    ----- stdout -----
      no model fits `nobody`; `relay models --all` lists them

    # relay models show nobody/none
    exit 2
    ----- stderr -----
    ✗ there is no model `nobody/none`
      `relay models --all` lists every model

    # relay models test nobody/none
    exit 2
    ----- stderr -----
    ✗ there is no model `nobody/none`
      `relay models --all` lists every model

    # relay models test
    exit 2
    ----- stderr -----
    ✗ no provider has a key yet; `relay keys set anthropic` stores one
    ");
}

#[test]
fn sessions_that_are_not_there() {
    let lines = [
        "sessions show",
        "sessions show zzz",
        "sessions show 7",
        "sessions delete zzz",
        "sessions delete",
        "sessions fork gone.jsonl",
        "sessions export zzz",
        "sessions search",
    ];
    relay_snapshot!(typed(&project(), &lines), @"
    # relay sessions show
    exit 2
    ----- stderr -----
    ✗ there are no sessions in <project> yet
      `relay sessions --all` lists those of other directories

    # relay sessions show zzz
    exit 2
    ----- stderr -----
    ✗ there is no session zzz
      `relay sessions` lists them, with `--all` of every directory

    # relay sessions show 7
    exit 2
    ----- stderr -----
    ✗ there is no session 7
      `relay sessions` lists them, with `--all` of every directory

    # relay sessions delete zzz
    exit 2
    ----- stderr -----
    ✗ there is no session zzz
      `relay sessions` lists them, with `--all` of every directory

    # relay sessions delete
    exit 2
    ----- stderr -----
    error: the following required arguments were not provided:
      <SESSION>...

    Usage: relay sessions delete <SESSION>...

    For more information, try '--help'.

    # relay sessions fork gone.jsonl
    exit 2
    ----- stderr -----
    ✗ there is no session gone.jsonl
      `relay sessions` lists them, with `--all` of every directory

    # relay sessions export zzz
    exit 2
    ----- stderr -----
    ✗ there is no session zzz
      `relay sessions` lists them, with `--all` of every directory

    # relay sessions search
    exit 2
    ----- stderr -----
    error: the following required arguments were not provided:
      <WORDS>...

    Usage: relay sessions search <WORDS>...

    For more information, try '--help'.
    ");
}
