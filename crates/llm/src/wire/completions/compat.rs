//! How servers that speak chat completions differ: one row per server, recognised by its address;
//! `models.yml` has the last word on every field.
//!
//! An unknown server gets the plainest request, which every server accepts.

use crate::models::model::{MaxTokensField, Model, ServerCompat, StrictMode, ThinkingFormat};
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

/// A known server.
struct CompatRow {
    domains: &'static [&'static str],
    switches: CompletionsCompat<'static>,
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

/// Recognised by their addresses.
static ROWS: &[CompatRow] = &[
    CompatRow { domains: &["api.openai.com"], switches: OPENAI },
    CompatRow {
        domains: &["openai.azure.com", "cognitiveservices.azure.com", "services.ai.azure.com"],
        switches: CompletionsCompat { store: false, cache_key: false, ..OPENAI },
    },
    CompatRow {
        domains: &["openrouter.ai"],
        switches: CompletionsCompat {
            thinking_format: ThinkingFormat::Openrouter,
            reasoning_details: true,
            parallel_tool_calls: true,
            ..PLAIN
        },
    },
    CompatRow {
        domains: &["api.groq.com"],
        switches: CompletionsCompat {
            max_tokens_field: MaxTokensField::MaxCompletionTokens,
            parallel_tool_calls: true,
            ..PLAIN
        },
    },
    CompatRow {
        domains: &["cerebras.ai"],
        switches: CompletionsCompat { max_tokens_field: MaxTokensField::MaxCompletionTokens, ..PLAIN },
    },
    CompatRow {
        // Most of its models think by themselves and refuse an effort.
        domains: &["api.x.ai"],
        switches: CompletionsCompat {
            reasoning_effort: false,
            max_tokens_field: MaxTokensField::MaxCompletionTokens,
            parallel_tool_calls: true,
            ..PLAIN
        },
    },
    CompatRow {
        // Usage comes unasked, and an unknown field is an error.
        domains: &["mistral.ai"],
        switches: CompletionsCompat {
            reasoning_effort: false,
            usage_in_streaming: false,
            thinking_as_text: true,
            tool_result_name: true,
            mistral_tool_ids: true,
            ..PLAIN
        },
    },
    CompatRow {
        domains: &["deepseek.com"],
        switches: CompletionsCompat {
            reasoning_effort: false,
            thinking_format: ThinkingFormat::Zai,
            reasoning_content_field: Some("reasoning_content"),
            ..PLAIN
        },
    },
    CompatRow {
        // `tool_choice` knows only `auto`.
        domains: &["z.ai", "bigmodel.cn"],
        switches: CompletionsCompat {
            reasoning_effort: false,
            tool_choice: false,
            thinking_format: ThinkingFormat::Zai,
            reasoning_content_field: Some("reasoning_content"),
            ..PLAIN
        },
    },
    CompatRow {
        domains: &["moonshot.ai", "moonshot.cn", "api.kimi.com"],
        switches: CompletionsCompat {
            reasoning_effort: false,
            reasoning_content_field: Some("reasoning_content"),
            ..PLAIN
        },
    },
    CompatRow {
        domains: &["dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com", "dashscope-us.aliyuncs.com"],
        switches: CompletionsCompat {
            reasoning_effort: false,
            thinking_format: ThinkingFormat::Qwen,
            ..PLAIN
        },
    },
    CompatRow { domains: &["together.xyz", "together.ai"], switches: PLAIN },
    CompatRow {
        domains: &["fireworks.ai"],
        switches: CompletionsCompat {
            cuts_short: true,
            reasoning_content_field: Some("reasoning_content"),
            ..PLAIN
        },
    },
    CompatRow { domains: &["models.github.ai", "models.inference.ai.azure.com"], switches: PLAIN },
    CompatRow { domains: &["ai-gateway.vercel.sh"], switches: PLAIN },
    CompatRow { domains: &["generativelanguage.googleapis.com"], switches: PLAIN },
    CompatRow {
        domains: &["api.anthropic.com"],
        switches: CompletionsCompat { reasoning_effort: false, empty_tools: true, cuts_short: true, ..PLAIN },
    },
    CompatRow {
        domains: &["localhost", "127.0.0.1", "::1", "0.0.0.0", "host.docker.internal"],
        switches: LOCAL,
    },
];

/// For the server of a model.
pub(super) fn completions_compat(model: &Model) -> CompletionsCompat<'_> {
    let found = compat_of_host(&host(&model.base_url));
    let ServerCompat {
        supports_store,
        supports_developer_role,
        supports_reasoning_effort,
        supports_usage_in_streaming,
        supports_tool_choice,
        supports_parallel_tool_calls,
        requires_empty_tools,
        max_tokens_field,
        thinking_format,
        reasoning_content_field,
        requires_thinking_as_text,
        requires_tool_result_name,
        requires_assistant_after_tool_result,
        requires_mistral_tool_ids,
        tool_strict_mode,
        extra_body: _,
        open_router_routing: _,
        allow_plain_http: _,
        auth_header: _,
        vercel_gateway_routing: _,
    } = &model.compat;
    let format = thinking_format.unwrap_or(found.thinking_format);
    CompletionsCompat {
        store: supports_store.unwrap_or(found.store),
        developer_role: supports_developer_role.unwrap_or(found.developer_role),
        // A configuration that requests thinking by `reasoning_effort` implies that it is accepted.
        reasoning_effort: supports_reasoning_effort
            .unwrap_or(found.reasoning_effort || *thinking_format == Some(ThinkingFormat::Openai)),
        usage_in_streaming: supports_usage_in_streaming.unwrap_or(found.usage_in_streaming),
        tool_choice: supports_tool_choice.unwrap_or(found.tool_choice),
        parallel_tool_calls: supports_parallel_tool_calls.unwrap_or(found.parallel_tool_calls),
        empty_tools: requires_empty_tools.unwrap_or(found.empty_tools),
        max_tokens_field: max_tokens_field.unwrap_or(found.max_tokens_field),
        thinking_format: format,
        reasoning_content_field: match reasoning_content_field.as_deref() {
            Some("") => None,
            Some(field) => Some(field),
            None => found.reasoning_content_field,
        },
        reasoning_details: found.reasoning_details || format == ThinkingFormat::Openrouter,
        thinking_as_text: requires_thinking_as_text.unwrap_or(found.thinking_as_text),
        tool_result_name: requires_tool_result_name.unwrap_or(found.tool_result_name),
        assistant_after_tool_result: requires_assistant_after_tool_result
            .unwrap_or(found.assistant_after_tool_result),
        mistral_tool_ids: requires_mistral_tool_ids.unwrap_or(found.mistral_tool_ids),
        strict: tool_strict_mode.map_or(found.strict, |mode| mode == StrictMode::AllStrict),
        ..found
    }
}

/// An empty host is OpenAI's.
fn compat_of_host(host: &str) -> CompletionsCompat<'static> {
    if host.is_empty() {
        return OPENAI;
    }
    let known = |row: &&CompatRow| row.domains.iter().any(|domain| is_beneath(host, domain));
    match ROWS.iter().find(known) {
        Some(row) => row.switches,
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
