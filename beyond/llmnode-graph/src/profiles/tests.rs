use std::time::Duration;

use llmnode_runtime::{DynNode, Reasoning, ResponseFormat, Run};
use llmnode_stub::{StubReply, StubServer};
use serde_json::{Value, json};

use super::*;

fn read(profiles: &Value, rules: &ProfileRules) -> Result<Profiles, Vec<(String, &'static str)>> {
    let file =
        json!({"format": "llmnode/profiles", "version": 1, "profiles": profiles}).to_string();
    let variable = |name: &str| (name != "UNSET_API_KEY").then(|| "sk-verysecret".to_owned());
    rules.read(&file, &variable).map_err(|faults| {
        let faults = faults.into_parts(None).faults;
        assert!(
            !faults
                .iter()
                .any(|fault| fault.to_string().contains("verysecret")),
            "{faults:?}"
        );
        faults
            .into_iter()
            .map(|fault| (fault.pointer.clone(), fault.kind.as_str()))
            .collect()
    })
}

#[track_caller]
fn refused(profiles: &Value, expected: &[(&str, &str)]) {
    let told = read(profiles, &Profiles::rules()).unwrap_err();
    let told: Vec<(&str, &str)> = told.iter().map(|(at, kind)| (at.as_str(), *kind)).collect();
    assert_eq!(told, expected);
}

#[test]
fn profiles_are_models_with_settings() {
    let profiles = read(
        &json!({
            "1": {"model": "gpt", "settings": {"temperature": 0.5, "max_tokens": 9, "reasoning": "low", "attempt_timeout_s": 1.5,
                "response_format": "json_object", "extra": {"seed": 1}}},
            "local": {"base_url": "http://127.0.0.1:1/v1", "model": "m"},
            "far": {"base_url": "https://models.example/v1", "model": "m", "api_key_env": "FAR_API_KEY"},
        }),
        &Profiles::rules(),
    )
    .unwrap();
    assert_eq!(format!("{profiles:?}"), r#"{"1", "local", "far"}"#);
    let (_, _, settings) = &profiles.into_models()[0];
    assert_eq!(settings.model.as_deref(), Some("gpt"));
    assert_eq!(
        (settings.temperature, settings.max_tokens),
        (Some(0.5), Some(9))
    );
    assert_eq!(settings.reasoning, Some(Reasoning::Low));
    assert_eq!(settings.attempt_timeout, Some(Duration::from_millis(1500)));
    assert_eq!(
        (settings.response_format, settings.extra["seed"].as_u64()),
        (Some(ResponseFormat::JsonObject), Some(1))
    );
}

#[test]
fn a_url_is_read_as_the_client_reads_it() {
    refused(
        &json!({
            "a": {"base_url": "http:169.254.169.254/x://localhost", "model": "m"},
            "b": {"base_url": "https:10.0.0.5/x://localhost", "model": "m", "api_key_env": "FAR_API_KEY"},
        }),
        &[
            ("/profiles/a/base_url", "setting"),
            ("/profiles/b/base_url", "setting"),
        ],
    );
}

#[test]
fn every_fault_is_reported_at_its_place() {
    refused(
        &json!({
            "a": {"base_url": "http://169.254.169.254", "model": "m"},
            "b": {"base_url": "http://[::ffff:10.0.0.1]/v1", "model": "m"},
            "c": {"base_url": "http://models.example/v1", "model": "m"},
            "d": {"base_url": "ftp://x", "model": "m"},
            "e": {"model": "m", "api_key_env": "UNSET_API_KEY"},
            "f": {"model": "m", "api_key_env": "HOME"},
            "g": {"base_url": "https://127.0.0.1.evil.example", "model": "m", "api_key_env": "PATH"},
            "h": {"base_url": "https://0x0a.1/", "model": "m"},
        }),
        &[
            ("/profiles/a/base_url", "setting"),
            ("/profiles/b/base_url", "setting"),
            ("/profiles/c/base_url", "setting"),
            ("/profiles/d/base_url", "setting"),
            ("/profiles/e/api_key_env", "missing"),
            ("/profiles/f/api_key_env", "bad_name"),
            ("/profiles/g/api_key_env", "bad_name"),
            ("/profiles/h/base_url", "setting"),
        ],
    );
    refused(
        &json!({
            "a": {"model": "m", "api_key": "sk-verysecret"},
            "b": {"modle": "m"},
            "c": {"model": "m", "settings": {"temperature": -1, "reasoning": "hihg", "response_format": "strickt", "attempt_timeout_s": 0}},
            "d": 3,
        }),
        &[
            ("/profiles/a/api_key", "unknown_member"),
            ("/profiles/b/modle", "unknown_member"),
            ("/profiles/c/settings/attempt_timeout_s", "out_of_range"),
            ("/profiles/c/settings/reasoning", "unknown_name"),
            ("/profiles/c/settings/response_format", "unknown_name"),
            ("/profiles/c/settings/temperature", "out_of_range"),
            ("/profiles/d", "wrong_kind"),
        ],
    );
}

/// A name that leads to a private address is refused where the connection is made: see `public_only` of `OpenAi`.
#[tokio::test]
async fn case_86_a_profile_leads_to_no_private_address() {
    let places = [
        "http://169.254.169.254",
        "http://[::ffff:10.0.0.1]",
        "https://127.0.0.2.nip.example:1",
    ];
    for (place, told) in places.iter().zip([true, true, false]) {
        let profile = json!({"a": {"base_url": place, "model": "m"}});
        assert_eq!(read(&profile, &Profiles::rules()).is_err(), told, "{place}");
    }
    let rules = Profiles::rules()
        .allow_host("169.254.169.254")
        .allow_host("::ffff:10.0.0.1");
    for place in &places[..2] {
        assert!(
            read(&json!({"a": {"base_url": place, "model": "m"}}), &rules).is_ok(),
            "{place}"
        );
    }
    // A server that is allowed sends nobody elsewhere.
    let elsewhere = StubServer::start().await.unwrap();
    let redirect = StubReply::redirect(format!("{}/chat/completions", elsewhere.base_url()));
    let server = StubServer::builder()
        .default_reply(redirect)
        .start()
        .await
        .unwrap();
    let profiles = read(
        &json!({"a": {"base_url": server.base_url(), "model": "m"}}),
        &Profiles::rules(),
    )
    .unwrap();
    let run = Run::new(profiles.into_models().remove(0).1);
    let ask = DynNode::builder("ask")
        .text()
        .build()
        .unwrap()
        .ask("Hello?");
    let error = run.call(&ask).transport_retries(0).await.unwrap_err();
    assert!(
        error.message().contains("was not repeated there"),
        "{error}"
    );
    assert_eq!((server.requests_seen(), elsewhere.requests_seen()), (1, 0));
}

#[test]
fn what_the_program_allows_is_allowed() {
    let house = json!({"house": {"base_url": "http://10.0.0.5:8080/v1", "model": "m"},
        "safe": {"base_url": "https://[fd00::1]/", "model": "m", "api_key_env": "HOUSE_TOKEN"}});
    let rules = Profiles::rules()
        .allow_host("10.0.0.5")
        .allow_host("fd00::1")
        .allow_key_variable("HOUSE_TOKEN");
    assert!(read(&house, &rules).is_ok());
    // A key goes over plain http nowhere.
    let clear = json!({"house": {"base_url": "http://10.0.0.5/v1", "model": "m", "api_key_env": "HOUSE_TOKEN"}});
    assert_eq!(
        read(&clear, &rules).unwrap_err(),
        [("/profiles/house".to_owned(), "setting")]
    );
}

#[test]
fn files_of_other_formats_are_refused() {
    for (file, told) in [
        (r#"{"profiles": {}}"#, "\"format\" is missing"),
        (
            r#"{"format": "llmnode/graph", "version": 1}"#,
            "must be \"llmnode/profiles\"",
        ),
        (
            r#"{"format": "llmnode/profiles", "version": 2}"#,
            "is newer than version 1",
        ),
        ("[", "is not JSON"),
    ] {
        let error = Profiles::parse(file).unwrap_err();
        assert_eq!(error.category(), Category::ConfigError);
        assert!(error.message().contains(told), "{error}");
    }
    assert!(
        Profiles::open("nowhere.json")
            .unwrap_err()
            .message()
            .contains("nowhere.json cannot be read")
    );
}
