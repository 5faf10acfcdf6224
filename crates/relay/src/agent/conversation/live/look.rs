//! How the conversation begins and looks: the theme by the terminal's background, the head, the end of a session that goes on,
//! drafts that survive a crash.

use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

use relaycode_durable::private_files::PrivateFolder;
use relaycode_ledger::{Digest, LogEntry};
use relaycode_llm::request::secrets::Secrets;
use relaycode_project::config::{DoubleEscapeAction, SymbolPresetChoice, TerminalConfig};
use relaycode_tui::clock;
use relaycode_tui::conversation::{
    ConversationHead, ConversationNotice, ConversationSettings, ConversationView, NoticeSign,
};
use relaycode_tui::input::TerminalReply;
use relaycode_tui::keymap::{KEY_FILE_BYTES, Keymap};
use relaycode_tui::screen::RESET_TERMINAL;
use relaycode_tui::theme::{
    AppearanceSigns, SymbolPreset, TerminalAppearance, TerminalColorEnv, ThemeSelection, ThemeSettings,
    ThemeStore, ThemeStyle,
};

use super::background::BackgroundFind;
use super::{LiveSurface, REPLAYED_ENTRIES};
use crate::agent::open_agent::OpenAgent;

/// Where themes of the user's own lie, and drafts.
const THEMES: &str = "themes";
const DRAFTS: &str = "drafts";
/// Keys of the user's own.
const KEY_FILE: &str = "keybindings.json";
/// Digits of a draft's name.
const NAME_DIGITS: usize = 16;
/// Bytes of a draft.
const MAX_DRAFT_BYTES: u64 = 1 << 20;
/// How long nobody types before the draft is kept.
const DRAFT_PAUSE: Duration = Duration::from_millis(500);
/// Changes that the head names.
const HEAD_CHANGES: usize = 3;

/// Where the draft of a project's next prompt is kept.
pub(super) struct DraftFile {
    folder: PrivateFolder,
    name: String,
    /// When it is to be written.
    pub(super) due: Option<Instant>,
}

impl DraftFile {
    pub(super) fn new(home: Option<&Path>, root: &Path) -> DraftFile {
        let mut name = Digest::of(root.as_os_str().as_encoded_bytes()).to_string();
        name.truncate(NAME_DIGITS);
        name.push_str(".json");
        DraftFile { folder: PrivateFolder::new(home, DRAFTS, MAX_DRAFT_BYTES).into_secret(), name, due: None }
    }

    /// The text changed: it is kept when nobody types for a moment.
    pub(super) fn note_change(&mut self) {
        self.due = Some(Instant::now() + DRAFT_PAUSE);
    }

    fn read(&self) -> Option<Vec<u8>> {
        self.folder.read(&self.name).ok().flatten()
    }

    /// A draft that cannot be kept is no reason to disturb anybody.
    fn write(&self, draft: &[u8]) {
        let _ = self.folder.write(&self.name, draft);
    }
}

/// The theme of a terminal whose background is not known yet.
pub(super) fn choose_theme(
    config: &TerminalConfig,
    home: Option<&Path>,
    environment: &TerminalColorEnv,
) -> (ThemeSelection, Option<String>) {
    let signs = AppearanceSigns {
        background_reply: None,
        ignores_reply: false,
        color_fg_bg: environment.color_fg_bg.as_deref(),
        system: None,
    };
    let store = ThemeStore::new(home.map(|home| home.join(THEMES)));
    let (selection, error) =
        ThemeSelection::new(store, theme_settings(config), signs.appearance(), environment.has_hyperlinks());
    (selection, error.map(|error| error.to_string()))
}

pub(super) fn theme_settings(config: &TerminalConfig) -> ThemeSettings {
    ThemeSettings {
        dark: config.dark_theme.clone(),
        light: config.light_theme.clone(),
        symbol_preset: match config.symbols {
            SymbolPresetChoice::Theme => None,
            SymbolPresetChoice::Unicode => Some(SymbolPreset::Unicode),
            SymbolPresetChoice::Nerd => Some(SymbolPreset::Nerd),
            SymbolPresetChoice::Ascii => Some(SymbolPreset::Ascii),
        },
        color_blind: config.color_blind,
    }
}

/// The user's own keys, and what is wrong with them.
pub(super) fn read_keymap(home: Option<&Path>) -> (Keymap, Vec<String>) {
    let folder = PrivateFolder::new(home, "", KEY_FILE_BYTES as u64);
    match folder.read(KEY_FILE) {
        Ok(Some(bytes)) => {
            let (keymap, problems) = Keymap::from_json(&String::from_utf8_lossy(&bytes));
            (keymap, problems.iter().map(|problem| format!("{KEY_FILE}: {problem}")).collect())
        }
        Ok(None) => (Keymap::default(), Vec::new()),
        Err(_) if home.is_none() => (Keymap::default(), Vec::new()),
        Err(error) => (Keymap::default(), vec![error.to_string()]),
    }
}

/// What Escape pressed twice opens.
pub(super) fn double_escape_command(action: DoubleEscapeAction) -> Option<&'static str> {
    match action {
        DoubleEscapeAction::Tree => Some("/tree"),
        DoubleEscapeAction::Branch => Some("/branch"),
        DoubleEscapeAction::Nothing => None,
    }
}

/// What a panic prints has to be readable, in a terminal that works. Threads beside the conversation leave it as it is.
pub(super) fn reset_terminal_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        let main = std::thread::current().id();
        std::panic::set_hook(Box::new(move |panic| {
            if std::thread::current().id() == main {
                let mut out = std::io::stdout();
                let _ = write!(out, "{RESET_TERMINAL}\x1b[J").and_then(|()| out.flush());
            }
            usual(panic);
        }));
    });
}

impl LiveSurface<'_> {
    /// A view of its own for each conversation: its head, and the end of what was said before.
    pub(super) fn begin_view(&mut self, open: &OpenAgent) {
        let now = Instant::now();
        let settings = ConversationSettings { ..self.view.settings().clone() };
        self.view = ConversationView::new(settings, open.secrets.clone().map(unmask_with), now);
        self.view.push_head(head(open));
        for problem in std::mem::take(&mut self.problems) {
            self.view.push_notice(ConversationNotice::new(NoticeSign::Attention, problem));
        }
        let handle = open.agent.handle();
        handle.with_session(|session| {
            let path = session.path(None);
            let earlier = path.len().saturating_sub(REPLAYED_ENTRIES);
            let entries: Vec<_> = path[earlier..].iter().filter_map(|id| session.entry(id).ok()).collect();
            self.view.replay(earlier, entries.iter().map(|entry| (entry.id.as_str(), &entry.body)), now);
        });
        self.facts.cost = 0.0;
    }

    /// A reply of the terminal's.
    pub(super) fn take_reply(&mut self, reply: &TerminalReply) {
        let appearance = match *reply {
            TerminalReply::Background(red, green, blue) => {
                let reply = format!("rgb:{red:02x}/{green:02x}/{blue:02x}");
                AppearanceSigns {
                    background_reply: Some(&reply),
                    ignores_reply: false,
                    color_fg_bg: None,
                    system: None,
                }
                .appearance()
            }
            TerminalReply::ColorScheme { is_dark: true } => TerminalAppearance::Dark,
            TerminalReply::ColorScheme { is_dark: false } => TerminalAppearance::Light,
            _ => return,
        };
        if self.themes.set_appearance(appearance) {
            self.use_theme();
        }
    }

    /// The user's theme may have been edited; one with errors changes nothing.
    pub(super) fn reload_theme(&mut self) {
        if self.themes.reload().unwrap_or(false) {
            self.use_theme();
        }
    }

    /// What is drawn from now on is drawn so.
    pub(super) fn use_theme(&mut self) {
        self.style = ThemeStyle::new(self.style.output, self.themes.theme().clone(), self.style.depth);
    }

    pub(super) fn take_finds(&mut self) {
        for found in self.finds.take() {
            match found {
                BackgroundFind::Files(files) => {
                    self.completion.set_paths(files);
                    self.update_completion();
                }
                BackgroundFind::Prompts(prompts) => self.editor.set_history(prompts),
                BackgroundFind::Git(facts) => self.facts.git = facts,
            }
        }
    }

    pub(super) fn restore_draft(&mut self) {
        let draft = self.draft.read();
        if let Some(draft) = draft.and_then(|bytes| serde_json::from_slice(&bytes).ok()) {
            self.editor.restore_draft(draft);
        }
    }

    pub(super) fn save_draft_if_due(&mut self) {
        if self.draft.due.is_some_and(|due| due <= Instant::now()) {
            self.save_draft();
        }
    }

    /// Nothing that was sent comes back as a draft.
    pub(super) fn forget_draft(&mut self) {
        self.draft.note_change();
        self.save_draft();
    }

    pub(super) fn save_draft(&mut self) {
        if self.draft.due.take().is_some() {
            self.draft.write(&serde_json::to_vec(&self.editor.to_draft()).unwrap_or_default());
        }
    }

    /// Lines of what is finished, in place of the view.
    pub(super) fn print_lines(&mut self, lines: &[String]) {
        let finished: Vec<String> = self
            .view
            .take_finished(&self.style, self.screen.width())
            .into_iter()
            .chain(lines.iter().cloned())
            .collect();
        let bytes = self.screen.frame(&finished, &[], None);
        self.terminal.write_bytes(bytes);
    }
}

fn unmask_with(secrets: Arc<Secrets>) -> relaycode_tui::conversation::TextUnmask {
    Box::new(move |text: &str| secrets.unmask_text(text).into_owned())
}

/// Where the project stands.
fn head(open: &OpenAgent) -> ConversationHead {
    let workspace = open.agent.workspace();
    let name = workspace.root().file_name().map(|name| name.to_string_lossy().into_owned());
    let ledger = &workspace.door.ledger;
    let page = ledger.log_page(0, HEAD_CHANGES).map(|page| page.entries).unwrap_or_default();
    let title = |entry: &LogEntry| {
        let when = entry.members.first().map(|member| clock::ago(&member.created_at));
        (entry.title().to_string(), when.unwrap_or_default())
    };
    let last_changes: Vec<_> = page.iter().map(title).collect();
    let next = match last_changes.is_empty() {
        true => "say what to do · /help lists commands · ? lists keys".to_string(),
        false => "/undo takes the last change back · /help lists commands · ? lists keys".to_string(),
    };
    ConversationHead {
        parts: vec![
            format!("relay {}", env!("CARGO_PKG_VERSION")),
            name.unwrap_or_default(),
            open.models.first.model.selector(),
            workspace.access.to_string(),
        ],
        last_changes,
        waiting: Vec::new(),
        next: vec![next],
        ways_to_a_model: Vec::new(),
    }
}
