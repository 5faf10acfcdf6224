use super::parse::*;

#[test]
fn what_ollama_says_is_read() {
    let tags = br#"{"models":[{"name":"qwen3:8b","model":"qwen3:8b","size":5},{"name":"a b"},{"name":"nomic-embed-text"}]}"#;
    assert_eq!(ollama_tags(tags).unwrap(), ["qwen3:8b", "nomic-embed-text"]);
    let show = br#"{"model_info":{"general.architecture":"qwen3","qwen3.context_length":40960},"capabilities":["completion","tools","thinking"]}"#;
    let found = ollama_show("qwen3:8b", show).unwrap();
    assert_eq!(
        (found.context_window, found.reasoning, found.images),
        (Some(40_960), Some(true), Some(false))
    );
    assert_eq!(ollama_show("nomic", br#"{"capabilities":["embedding"]}"#), None);
    assert_eq!(ollama_show("old", b"{}").unwrap().context_window, None);
}

#[test]
fn ollama_is_not_made_to_hold_a_window_that_nobody_asked_for() {
    let window = |more: &str| {
        let show = format!(r#"{{"model_info":{{"llama.context_length":131072}}{more}}}"#);
        ollama_show("m", show.as_bytes()).unwrap().context_window
    };
    assert_eq!(window(""), Some(64_000));
    assert_eq!(window(r#","parameters":"temperature 0.6\nnum_ctx    100000\n""#), Some(100_000));
    assert_eq!(window(r#","remote_host":"https://ollama.com:443""#), Some(131_072));
}

#[test]
fn what_llama_cpp_and_lm_studio_say_is_read() {
    let models =
        br#"{"object":"list","data":[{"id":"m.gguf","object":"model","meta":{"n_ctx_train":131072}}]}"#;
    let mut found = openai_models(models).unwrap();
    llama_props(
        br#"{"default_generation_settings":{"n_ctx":8192},"modalities":{"vision":true}}"#,
        &mut found,
    );
    assert_eq!((found[0].context_window, found[0].images), (Some(8192), Some(true)));
    let models =
        br#"{"data":[{"id":"v","type":"vlm","max_context_length":32768,"loaded_context_length":4096},
        {"id":"e","type":"embeddings"},{"id":"l","type":"llm","max_context_length":0}]}"#;
    let found = lm_studio(models).unwrap();
    assert_eq!(found.len(), 2);
    assert_eq!(
        (found[0].context_window, found[0].images, found[1].context_window),
        (Some(4096), Some(true), None)
    );
}

#[test]
fn nonsense_is_no_answer() {
    for bytes in [&b""[..], b"{", b"[]", b"{\"models\":5,\"data\":\"x\"}", b"\xff\xff"] {
        assert_eq!(ollama_tags(bytes), None);
        assert_eq!(openai_models(bytes), None);
        assert_eq!(lm_studio(bytes), None);
    }
    let many = format!("{{\"data\":[{}]}}", vec!["{\"id\":\"x\"}"; 2000].join(","));
    assert_eq!(openai_models(many.as_bytes()).unwrap().len(), MAX_MODELS);
}
