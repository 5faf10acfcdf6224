//! `package.json`: guarded when what runs from it changes, not when a version or a dependency does.

use serde_json::Value;

/// Fields whose content is run, by npm and its like or by hooks.
const RUN_FIELDS: &str = "scripts packageManager husky lint-staged simple-git-hooks gitHooks pre-commit pre-push wireit nx \
    devEngines";
/// Fields that tools of a gate read as code or as the names of code.
const GATE_FIELDS: &str = "eslintConfig babel jest ava mocha nyc prettier stylelint xo postcss vitest";

/// Why the change of a manifest is guarded, if it is.
pub(super) fn guard_reason(before: Option<&[u8]>, after: Option<&[u8]>, gate: bool) -> Option<&'static str> {
    let (Some(before), Some(after)) = (fields(before), fields(after)) else {
        return Some("is a package.json that cannot be read, so its scripts are unknown");
    };
    let differ = |names: &str| names.split(' ').any(|name| before.get(name) != after.get(name));
    if differ(RUN_FIELDS) {
        return Some("changes what package.json runs");
    }
    (gate && differ(GATE_FIELDS)).then_some("changes what the gate reads in package.json")
}

/// The manifest as an object. A file that is not there has no fields.
fn fields(bytes: Option<&[u8]>) -> Option<Value> {
    let Some(bytes) = bytes else { return Some(Value::Object(serde_json::Map::new())) };
    serde_json::from_slice(bytes).ok().filter(Value::is_object)
}
