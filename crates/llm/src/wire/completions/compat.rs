//! How servers that speak chat completions differ: one row per server, recognised by its address;
//! `models.yml` has the last word on every field.
//!
//! An unknown server gets the plainest request, which every server accepts.

use crate::models::model::{MaxTokensField, Model, StrictMode, ThinkingFormat};
use crate::wire::address::{host, is_beneath};

/// What a server accepts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CompletionsCompat<'a> {
    /// `store`, which is then false.
    pub store: bool,
    /// The role `developer`.
    pub developer_role: bool,
    /// `reasoning_effort`.
    pub reasoning_effort: bool,
    /// `stream_options`.
    pub usage_in_streaming: bool,
    /// `tool_choice`.
    pub tool_choice: bool,
    /// `parallel_tool_calls`.
    pub parallel_tool_calls: bool,
    /// `tools: []` if the conversation has calls.
    pub empty_tools: bool,
    /// The name of the output limit.
    pub max_tokens_field: MaxTokensField,
    /// By default it cuts answers short, so the model's own limit is sent.
    pub cuts_short: bool,
    /// How thinking is requested.
    pub thinking_format: ThinkingFormat,
    /// The field for earlier thinking.
    pub reasoning_content_field: Option<&'a str>,
    /// It sends `reasoning_details` and accepts them back.
    pub reasoning_details: bool,
    /// Earlier thinking is sent as text.
    pub thinking_as_text: bool,
    /// A result carries the tool's name.
    pub tool_result_name: bool,
    /// An answer must stand between a result and a user's message.
    pub assistant_after_tool_result: bool,
    /// Ids of nine characters.
    pub mistral_tool_ids: bool,
    /// Schemas are strict if possible.
    pub strict: bool,
    /// `prompt_cache_key` and `prompt_cache_retention`.
    pub cache_key: bool,
    /// Thinking models refuse a temperature.
    pub thinking_fixes_temperature: bool,
}

/// Understood everywhere.
const PLAIN: CompletionsCompat<'static> = CompletionsCompat {
    store: false,
    developer_role: false,
    reasoning_effort: true,
    usage_in_streaming: true,
    tool_choice: true,
    parallel_tool_calls: false,
    empty_tools: false,
    max_tokens_field: MaxTokensField::MaxTokens,
    cuts_short: false,
    thinking_format: ThinkingFormat::Openai,
    reasoning_content_field: None,
    reasoning_details: false,
    thinking_as_text: false,
    tool_result_name: false,
    assistant_after_tool_result: false,
    mistral_tool_ids: false,
    strict: false,
    cache_key: false,
    thinking_fixes_temperature: false,
};

const OPENAI: CompletionsCompat<'static> = CompletionsCompat {
    store: true,
    developer_role: true,
    parallel_tool_calls: true,
    max_tokens_field: MaxTokensField::MaxCompletionTokens,
    strict: true,
    cache_key: true,
    thinking_fixes_temperature: true,
    ..PLAIN
};

/// llama.cpp, LM Studio, vLLM and the like on the user's own machine or network: their templates read
/// `reasoning_content`.
const LOCAL: CompletionsCompat<'static> =
    CompletionsCompat { reasoning_content_field: Some("reasoning_content"), ..PLAIN };

/// The output limit has its newer name.
const NEWER: CompletionsCompat<'static> =
    CompletionsCompat { max_tokens_field: MaxTokensField::MaxCompletionTokens, ..PLAIN };

/// Thinking is not requested by an effort.
const NO_EFFORT: CompletionsCompat<'static> = CompletionsCompat { reasoning_effort: false, ..PLAIN };

/// Recognised by their addresses.
static ROWS: &[(&str, CompletionsCompat<'static>)] = &[
    ("api.openai.com", OPENAI),
    (
        "openai.azure.com cognitiveservices.azure.com services.ai.azure.com",
        CompletionsCompat { store: false, cache_key: false, ..OPENAI },
    ),
    (
        "openrouter.ai",
        CompletionsCompat {
            thinking_format: ThinkingFormat::Openrouter,
            reasoning_details: true,
            parallel_tool_calls: true,
            ..PLAIN
        },
    ),
    ("api.groq.com", CompletionsCompat { parallel_tool_calls: true, ..NEWER }),
    ("cerebras.ai", NEWER),
    // Most of its models think by themselves and refuse an effort.
    ("api.x.ai", CompletionsCompat { reasoning_effort: false, parallel_tool_calls: true, ..NEWER }),
    // Usage comes unasked, and an unknown field is an error.
    (
        "mistral.ai",
        CompletionsCompat {
            usage_in_streaming: false,
            thinking_as_text: true,
            tool_result_name: true,
            mistral_tool_ids: true,
            ..NO_EFFORT
        },
    ),
    (
        "deepseek.com",
        CompletionsCompat { reasoning_effort: false, thinking_format: ThinkingFormat::Zai, ..LOCAL },
    ),
    // `tool_choice` knows only `auto`.
    (
        "z.ai bigmodel.cn",
        CompletionsCompat {
            reasoning_effort: false,
            tool_choice: false,
            thinking_format: ThinkingFormat::Zai,
            ..LOCAL
        },
    ),
    ("moonshot.ai moonshot.cn api.kimi.com", CompletionsCompat { reasoning_effort: false, ..LOCAL }),
    (
        "dashscope.aliyuncs.com dashscope-intl.aliyuncs.com dashscope-us.aliyuncs.com",
        CompletionsCompat { thinking_format: ThinkingFormat::Qwen, ..NO_EFFORT },
    ),
    ("together.xyz together.ai", PLAIN),
    ("fireworks.ai", CompletionsCompat { cuts_short: true, ..LOCAL }),
    ("models.github.ai models.inference.ai.azure.com", PLAIN),
    ("ai-gateway.vercel.sh generativelanguage.googleapis.com", PLAIN),
    ("api.anthropic.com", CompletionsCompat { empty_tools: true, cuts_short: true, ..NO_EFFORT }),
    ("localhost 127.0.0.1 ::1 0.0.0.0 host.docker.internal", LOCAL),
];

/// For the server of a model.
pub(super) fn completions_compat(model: &Model) -> CompletionsCompat<'_> {
    let found = compat_of_host(&host(&model.base_url));
    let set = &model.compat;
    let format = set.thinking_format.unwrap_or(found.thinking_format);
    CompletionsCompat {
        store: set.supports_store.unwrap_or(found.store),
        developer_role: set.supports_developer_role.unwrap_or(found.developer_role),
        // A configuration that requests thinking by `reasoning_effort` implies that it is accepted.
        reasoning_effort: set
            .supports_reasoning_effort
            .unwrap_or(found.reasoning_effort || set.thinking_format == Some(ThinkingFormat::Openai)),
        usage_in_streaming: set.supports_usage_in_streaming.unwrap_or(found.usage_in_streaming),
        tool_choice: set.supports_tool_choice.unwrap_or(found.tool_choice),
        parallel_tool_calls: set.supports_parallel_tool_calls.unwrap_or(found.parallel_tool_calls),
        empty_tools: set.requires_empty_tools.unwrap_or(found.empty_tools),
        max_tokens_field: set.max_tokens_field.unwrap_or(found.max_tokens_field),
        thinking_format: format,
        reasoning_content_field: match set.reasoning_content_field.as_deref() {
            Some("") => None,
            Some(field) => Some(field),
            None => found.reasoning_content_field,
        },
        reasoning_details: found.reasoning_details || format == ThinkingFormat::Openrouter,
        thinking_as_text: set.requires_thinking_as_text.unwrap_or(found.thinking_as_text),
        tool_result_name: set.requires_tool_result_name.unwrap_or(found.tool_result_name),
        assistant_after_tool_result: set
            .requires_assistant_after_tool_result
            .unwrap_or(found.assistant_after_tool_result),
        mistral_tool_ids: set.requires_mistral_tool_ids.unwrap_or(found.mistral_tool_ids),
        strict: set.tool_strict_mode.map_or(found.strict, |mode| mode == StrictMode::AllStrict),
        ..found
    }
}

/// An empty host is OpenAI's.
fn compat_of_host(host: &str) -> CompletionsCompat<'static> {
    if host.is_empty() {
        return OPENAI;
    }
    let known = |domains: &str| domains.split(' ').any(|domain| is_beneath(host, domain));
    match ROWS.iter().find(|(domains, _)| known(domains)) {
        Some((_, switches)) => *switches,
        None if is_private(host) => LOCAL,
        None => PLAIN,
    }
}

/// An address of a private network.
fn is_private(host: &str) -> bool {
    match host.parse::<std::net::IpAddr>() {
        Ok(std::net::IpAddr::V4(address)) => address.is_private() || address.is_loopback(),
        Ok(std::net::IpAddr::V6(address)) => address.is_loopback() || address.is_unique_local(),
        Err(_) => is_beneath(host, "local") || is_beneath(host, "lan") || !host.contains('.'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::model::ServerCompat;

    #[test]
    fn a_server_is_known_by_its_host_and_not_by_what_looks_like_it() {
        assert_eq!(compat_of_host("api.openai.com"), OPENAI);
        assert!(compat_of_host("api.mistral.ai").mistral_tool_ids);
        assert!(!compat_of_host("mistral.ai.example.com").mistral_tool_ids);
        assert!(!compat_of_host("notmistral.ai").mistral_tool_ids);
        assert_eq!(compat_of_host("api.x.ai").max_tokens_field, MaxTokensField::MaxCompletionTokens);
        assert_eq!(compat_of_host("api.z.ai").thinking_format, ThinkingFormat::Zai);
        for local in ["localhost", "127.0.0.1", "192.168.1.20", "::1", "gpu-box", "gpu.local"] {
            assert_eq!(compat_of_host(local), LOCAL, "{local}");
        }
        assert_eq!(compat_of_host("models.example.com"), PLAIN);
        assert_eq!(compat_of_host("8.8.8.8"), PLAIN);
    }

    #[test]
    fn the_models_file_overrides_each_field_by_itself() {
        let mut model = crate::models::model::tests::model();
        model.base_url = "https://api.mistral.ai/v1".into();
        model.compat = ServerCompat {
            requires_mistral_tool_ids: Some(false),
            thinking_format: Some(ThinkingFormat::Openai),
            tool_strict_mode: Some(StrictMode::AllStrict),
            reasoning_content_field: Some("thought".into()),
            ..ServerCompat::default()
        };
        let switches = completions_compat(&model);
        assert!(!switches.mistral_tool_ids && switches.tool_result_name && switches.strict);
        assert!(switches.reasoning_effort);
        assert_eq!(switches.reasoning_content_field, Some("thought"));
    }
}
