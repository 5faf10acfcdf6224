//! The words of a language that are its own, as its grammar knows them. For text that comes line by line and is
//! never parsed as a whole.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use ast_grep_language::{LanguageExt, SupportLang};

use super::node_kinds::is_word;
use crate::proposal::path::RelPath;
use crate::syntax::language;

/// By language, gathered once: a grammar has a thousand kinds of nodes.
static GATHERED: LazyLock<Mutex<HashMap<SupportLang, Arc<HashSet<String>>>>> = LazyLock::new(Mutex::default);

/// The keywords of the language that a file with this name is written in; `None` without a grammar.
///
/// ```
/// use relaycode_change::{proposal::path::RelPath, syntax::highlight::language_keywords};
/// let words = language_keywords(&RelPath::parse("a.rs").unwrap()).unwrap();
/// assert!(words.contains("match") && !words.contains("switch"));
/// ```
pub fn language_keywords(path: &RelPath) -> Option<Arc<HashSet<String>>> {
    let language = language::for_highlight(path)?;
    let mut gathered = GATHERED.lock().unwrap_or_else(PoisonError::into_inner);
    let words = gathered.entry(language).or_insert_with(|| {
        let grammar = language.get_ts_language();
        let ids = 0..u16::try_from(grammar.node_kind_count()).unwrap_or(u16::MAX);
        let mut words = HashSet::new();
        for id in ids.filter(|id| !grammar.node_kind_is_named(*id)) {
            words.extend(grammar.node_kind_for_id(id).filter(|word| is_word(word)).map(str::to_owned));
        }
        Arc::new(words)
    });
    Some(words.clone())
}
