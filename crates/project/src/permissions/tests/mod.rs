//! Rules, layers and what is decided by them; the lines that are tried are in `tests/it/permissions.rs`.

mod decisions;
mod store;
mod texts;

use std::path::{Path, PathBuf};

use super::*;
use crate::access::Access;

fn allow(text: &str) -> PermissionRule {
    PermissionRule::parse(PermissionEffect::Allow, text).unwrap()
}

/// An engine for a project that is not on the disk, with rules of the user's: `allow cargo test *`.
fn engine(rules: &[&str]) -> PermissionEngine {
    engine_with(rules.iter().map(|rule| (PermissionLayer::User, *rule)), Access::Ask)
}

fn engine_with<'a>(
    rules: impl IntoIterator<Item = (PermissionLayer, &'a str)>,
    access: Access,
) -> PermissionEngine {
    let mut layers = PermissionLayers::default();
    for (layer, rule) in rules {
        layers.add_text_from(layer, rule, None);
    }
    let root = PathBuf::from("/home/me/project");
    let place = PermissionPlace {
        directory: root.clone(),
        root,
        home: Some(PathBuf::from("/home/me")),
        temporary: vec![PathBuf::from("/tmp/own")],
        access,
        is_fenced: true,
    };
    PermissionEngine::new(layers, place)
}

/// The effect and the rule that decided.
fn decided(engine: &PermissionEngine, request: &PermissionRequest) -> String {
    let decision = engine.decide(request);
    format!("{}: {}", decision.effect.name(), decision.rule.name())
}

fn line(text: &str) -> PermissionRequest {
    PermissionRequest::Line(text.to_string())
}

fn path(verb: PathVerb, path: &str) -> PermissionRequest {
    PermissionRequest::Path { verb, path: Path::new(path).to_path_buf() }
}
