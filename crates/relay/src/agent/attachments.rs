//! What goes with a prompt: files that are named with `@`, and what comes on stdin.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use relaycode_llm::message::{ImageContent, UserContent};
use relaycode_tools::{ToolWorkspace, image_type};
use relaycode_tui::TypedWords;

use crate::{CommandContext, CommandFailure, CommandResult, LogLevel};

/// Files that go with one prompt.
const MAX_FILES: usize = 20;
/// Bytes of one text.
const MAX_TEXT_BYTES: u64 = 256 << 10;
/// Bytes of one image.
const MAX_IMAGE_BYTES: u64 = 5 << 20;
/// How the names of images end, which may have more bytes than texts.
const IMAGE_NAMES: [&str; 5] = ["png", "jpg", "jpeg", "gif", "webp"];

/// The words of a command line: the prompt, and the files that are named with `@`.
pub(crate) fn split_words(words: &[String]) -> CommandResult<(String, Vec<&str>)> {
    let files: Vec<&str> = words.iter().filter_map(|word| attached_path(word)).collect();
    check_count(files.len())?;
    let said: Vec<&str> =
        words.iter().filter(|word| attached_path(word).is_none()).map(String::as_str).collect();
    Ok((said.join(" "), files))
}

/// `@src/main.rs`, as a word of its own.
pub(crate) fn attached_path(word: &str) -> Option<&str> {
    word.strip_prefix('@').filter(|path| !path.is_empty() && !path.contains(char::is_whitespace))
}

/// Whether words of a conversation name files with `@`.
pub(crate) fn names_files(words: &TypedWords) -> bool {
    words.typed().any(|word| attached_path(word).is_some())
}

/// The files that words of a conversation name with `@`, inside the project and the added directories; each is told. Pasted words
/// name none: who pastes has not read them.
pub(crate) fn attach_typed(
    words: &TypedWords,
    workspace: &ToolWorkspace,
    ctx: &mut CommandContext<'_>,
) -> CommandResult<Vec<UserContent>> {
    let named: Vec<&str> = words.typed().filter_map(attached_path).collect();
    check_count(named.len())?;
    let Ok(directory) = ctx.options.directory.canonicalize() else { return Ok(Vec::new()) };
    let mut attached = Vec::new();
    for path in named {
        let why = match workspace.resolve(&directory.join(path).to_string_lossy()) {
            Ok(found) if found.path.is_file() => {
                attached.push(read_attachment(&found.path, path)?);
                let line = format!("+ {}", ctx.console.err_style().safe(&found.shown));
                ctx.eprint_at(LogLevel::Info, &format!("{line}\n"));
                continue;
            }
            Ok(found) if found.exists => "it is not a file".to_string(),
            Ok(_) => "there is no such file".to_string(),
            Err(error) => error.to_string(),
        };
        ctx.eprint_remark(LogLevel::Warn, &format!("@{path} is sent as a word: {why}"));
    }
    Ok(attached)
}

fn check_count(count: usize) -> CommandResult<()> {
    if count > MAX_FILES {
        return Err(CommandFailure::usage(format!("more than {MAX_FILES} files go with the prompt"))
            .hint("name fewer; the agent reads others itself"));
    }
    Ok(())
}

/// A file as the model gets it. `path` is its name.
pub(crate) fn read_attachment(file: &Path, path: &str) -> CommandResult<UserContent> {
    let end = path.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase()).unwrap_or_default();
    let most = if IMAGE_NAMES.contains(&end.as_str()) { MAX_IMAGE_BYTES } else { MAX_TEXT_BYTES };
    let bytes = read_bytes(file, path, most)?;
    if let Some(mime_type) = image_type(&bytes) {
        let (data, mime_type) = (STANDARD.encode(bytes), mime_type.to_string());
        return Ok(UserContent::Image(ImageContent { data, mime_type }));
    }
    let text = String::from_utf8(bytes).map_err(|_| {
        unreadable(path, "it is not text").hint("the agent can look at it itself; name it without @")
    })?;
    Ok(named_text("file", Some(path), &text))
}

/// What came on stdin, as the model gets it.
pub(crate) fn stdin_content(text: &str) -> UserContent {
    named_text("stdin", None, text)
}

fn named_text(tag: &str, path: Option<&str>, text: &str) -> UserContent {
    let path = path.map(|path| format!(" path=\"{path}\"")).unwrap_or_default();
    UserContent::text(format!("<{tag}{path}>\n{}\n</{tag}>", text.trim_end_matches('\n')))
}

fn read_bytes(file: &Path, path: &str, most: u64) -> CommandResult<Vec<u8>> {
    // Looked at before it is opened: a pipe would wait for its writer.
    let metadata = file.metadata().map_err(|error| unreadable(path, &error.to_string()))?;
    if !metadata.is_file() {
        return Err(unreadable(path, "it is not a file"));
    }
    let mut bytes = Vec::new();
    let read = File::open(file).and_then(|file| file.take(most + 1).read_to_end(&mut bytes));
    read.map_err(|error| unreadable(path, &error.to_string()))?;
    if bytes.len() as u64 > most {
        return Err(unreadable(path, &format!("it has more than {} kB", most >> 10))
            .hint("the agent reads parts of a file itself; name it without @"));
    }
    Ok(bytes)
}

fn unreadable(path: &str, why: &str) -> CommandFailure {
    CommandFailure::usage(format!("@{path} cannot go with the prompt: {why}")).unchanged()
}
