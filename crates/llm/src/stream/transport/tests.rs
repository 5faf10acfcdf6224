use super::*;
use crate::models::model::tests::model;

fn goes(base_url: &str, auth: &Auth, set: impl Fn(&mut Model)) -> Result<(), ModelFailure> {
    let mut model = Model { base_url: base_url.into(), ..model() };
    set(&mut model);
    let request = ChatRequest::default();
    let call = WireCall { model: &model, auth, request: &request };
    let post =
        WireHttpRequest { url: format!("{base_url}/v1/messages"), headers: Vec::new(), body: Vec::new() };
    check_plain_http(HttpRequest::new(post, &model, Framing::Events)?, &call).map(|_| ())
}

#[test]
fn a_key_goes_over_plain_http_only_to_this_machine_or_where_the_user_says_so() {
    let key = Auth::Key("sekrit-1234".into());
    for url in ["https://a.example", "http://127.0.0.1:8080", "http://localhost:1", "http://[::1]:1"] {
        assert_eq!(goes(url, &key, |_| {}), Ok(()), "{url}");
    }
    for url in
        ["http://a.example", "http://192.168.1.20:8000", "http://localhost.example", "http://[fd00::1]"]
    {
        let failure = goes(url, &key, |_| {}).unwrap_err();
        assert_eq!(failure.class, FailureClass::Config, "{url}");
        assert!(failure.message.contains("allowPlainHttp: true") && !failure.message.contains("sekrit"));
        assert_eq!(goes(url, &Auth::None, |_| {}), Ok(()), "{url}");
        assert_eq!(goes(url, &key, |model| model.compat.allow_plain_http = Some(true)), Ok(()), "{url}");
    }
    let by_header = |model: &mut Model| {
        model.headers.insert("X-Api-Key".into(), "sekrit".into());
    };
    assert!(goes("http://a.example", &Auth::None, by_header).is_err());
}
