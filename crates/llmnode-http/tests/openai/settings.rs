//! What can be configured, and what is refused.

use std::time::Duration;

use llmnode_http::{OpenAi, OpenAiBuilder};
use llmnode_runtime::{Category, Run, TestClock};
use llmnode_stub::StubReply;

use crate::sinks::{self, Log};
use crate::support::{CANARY, Greet, ask, builder, sends, server};
use crate::tls::AUTHORITY;

fn fault(builder: OpenAiBuilder) -> (Category, String) {
    let error = builder.build().unwrap_err();
    (error.category, error.message.to_owned())
}

/// A builder for https that needs no certificates on the machine.
fn https() -> OpenAiBuilder {
    builder("https://models.example/v1").root_certificates(AUTHORITY)
}

#[test]
fn keys_are_needed_and_kept_off_plain_http() {
    assert!(builder("http://127.0.0.1:1/v1").build().is_ok());
    assert!(
        builder("http://127.0.0.1:1/v1")
            .api_key(CANARY)
            .build()
            .is_ok()
    );
    let (category, message) = fault(https());
    assert_eq!(category, Category::ApiKeyError);
    assert_eq!(
        message,
        "models.example needs a key: set it with `.api_key(..)`, or make the model with `OpenAi::from_env()`, which \
         reads OPENAI_API_KEY; or call `.without_key()` if the server needs none"
    );
    assert!(https().without_key().build().is_ok());
    assert!(https().header("api-key", CANARY).build().is_ok());
    assert!(
        https()
            .base_url("https://models.example/v1?api_key=x")
            .build()
            .is_ok()
    );
    assert!(
        builder("http://models.example/v1")
            .without_key()
            .build()
            .is_ok()
    );
    for plain in [
        builder("http://models.example/v1").api_key(CANARY),
        builder("http://models.example/v1").header("X-API-Key", CANARY),
        builder(&format!("http://models.example/v1?key={CANARY}")),
        builder("http://models.example/v1")
            .without_key()
            .header("x-goog-api-key", CANARY),
    ] {
        let (category, message) = fault(plain.clone());
        assert_eq!(category, Category::ConfigError);
        assert!(
            message.contains("plain http") && !message.contains("canary"),
            "{message}"
        );
        assert!(plain.allow_plain_http().build().is_ok());
    }
}

#[test]
fn settings_that_cannot_be() {
    let base = || builder("http://127.0.0.1:1/v1");
    for (builder, word) in [
        (builder("models.example"), "`base_url`"),
        (base().attempt_timeout(Duration::ZERO), "`attempt_timeout`"),
        (base().connect_timeout(Duration::ZERO), "`connect_timeout`"),
        (base().max_body_bytes(0), "`max_body_bytes`"),
        (base().header("bad name", "x"), "\"bad name\""),
        (base().header("x-a", "line\nbreak"), "\"x-a\""),
        (base().header("Content-Length", "1"), "\"Content-Length\""),
        (base().header("host", "elsewhere.example"), "\"host\""),
        (
            base().header("transfer-encoding", "chunked"),
            "leave it out",
        ),
        (
            base().header("Proxy-Connection", "keep-alive"),
            "leave it out",
        ),
        (base().proxy("not a url"), "proxy"),
        (
            base().proxy("socks5://127.0.0.1:1"),
            "the proxy speaks socks5",
        ),
        (base().proxy("socks5://127.0.0.1:1"), "proxy"),
        (
            base().root_certificates("no certificate"),
            "root_certificates",
        ),
    ] {
        let (category, message) = fault(builder);
        assert_eq!(category, Category::ConfigError, "{message}");
        assert!(message.contains(word), "{message}");
    }
}

#[tokio::test]
async fn absurdly_long_timeouts_are_none() {
    let server = server([]).await;
    let model = builder(&server.base_url())
        .attempt_timeout(Duration::MAX)
        .connect_timeout(Duration::MAX)
        .max_body_bytes(usize::MAX)
        .build()
        .unwrap();
    assert!(ask(&model).await.is_ok());
}

#[tokio::test]
async fn requests_go_through_the_proxy() {
    let proxy = server([]).await;
    let url = format!("http://me:{CANARY}@{}", proxy.address());
    let model = OpenAi::builder()
        .base_url("http://models.invalid/v1")
        .without_key()
        .model("m")
        .proxy(url)
        .build()
        .unwrap();
    assert!(ask(&model).await.is_ok());
    let log = proxy.requests();
    assert_eq!(log[0].path(), "http://models.invalid/v1/chat/completions");
    assert!(
        log[0]
            .header("proxy-authorization")
            .unwrap()
            .starts_with("Basic ")
    );
}

#[cfg(feature = "http-client")]
#[tokio::test]
async fn a_client_of_ones_own() {
    let (server, client) = (server([]).await, crate::support::client());
    assert!(
        ask(&builder(&server.base_url())
            .http_client(client)
            .build()
            .unwrap())
        .await
        .is_ok()
    );
    assert_eq!(server.requests()[0].header("x-own"), Some("yes"));
}

/// Its own proxies apply, and neither the builder's nor `public_only`; its redirects are in `redirects`.
#[cfg(feature = "http-client")]
#[tokio::test]
async fn only_the_client_of_ones_own_decides_on_proxies_and_addresses() {
    use llmnode_http::reqwest;
    let (own, other) = (server([]).await, server([]).await);
    let proxy = reqwest::Proxy::http(format!("http://{}", own.address())).unwrap();
    let client = reqwest::Client::builder().proxy(proxy).build().unwrap();
    let model = builder("http://models.invalid/v1")
        .without_key()
        .public_only()
        .http_client(client);
    let model = model.proxy(format!("http://{}", other.address()));
    assert!(ask(&model.build().unwrap()).await.is_ok());
    assert_eq!((own.requests_seen(), other.requests_seen()), (1, 0));
    assert_eq!(
        own.requests()[0].path(),
        "http://models.invalid/v1/chat/completions"
    );
    // It has no TLS, since nobody asked for it: that is an error of the call.
    let bare = builder("https://models.invalid/v1")
        .without_key()
        .http_client(reqwest::Client::new());
    let error = ask(&bare.build().unwrap()).await.unwrap_err();
    assert!(
        !error.reached && error.category == Category::Network,
        "{error}"
    );
}

#[tokio::test]
async fn requests_carry_the_ids_of_their_attempts() {
    let header = "x-client-request-id";
    let server = server([
        StubReply::error(503, "server_error", "busy", "busy"),
        StubReply::text("hi"),
    ])
    .await;
    let run = Run::new(builder(&server.base_url()).build().unwrap()).with_clock(TestClock::new());
    let report = run.call(&Greet).report().await.unwrap();
    let booked: Vec<_> = report
        .record
        .attempts
        .iter()
        .map(|attempt| attempt.id.to_string())
        .collect();
    let sent: Vec<_> = server
        .requests()
        .iter()
        .map(|request| request.header(header).unwrap().to_owned())
        .collect();
    assert_eq!((booked.len(), sent), (2, booked));

    for (builder, expected) in [
        (
            builder(&server.base_url()).header(header, "own"),
            Some("own"),
        ),
        (
            builder(&server.base_url()).without_client_request_id(),
            None,
        ),
    ] {
        Run::new(builder.build().unwrap())
            .call(&Greet)
            .await
            .unwrap();
        assert_eq!(server.requests().last().unwrap().header(header), expected);
    }
}

/// A resolver could send the name anywhere; the client does not ask it.
#[tokio::test]
async fn names_of_this_machine_are_not_looked_up() {
    let server = server([]).await;
    let port = server.address().port();
    for name in ["localhost", "models.localhost"] {
        let model = builder(&format!("http://{name}:{port}/v1"))
            .api_key(CANARY)
            .build()
            .unwrap();
        assert!(ask(&model).await.is_ok());
    }
}

#[test]
fn a_key_does_not_leave_the_machine_in_clear_through_a_proxy() {
    let through = |proxy: &str| {
        builder("http://127.0.0.1:1/v1")
            .api_key(CANARY)
            .proxy(proxy)
    };
    let (category, message) = fault(through("http://proxy.invalid:3128"));
    assert_eq!(category, Category::ConfigError);
    assert!(
        message.contains("through a proxy on another machine") && !message.contains("canary"),
        "{message}"
    );
    assert!(
        through("http://proxy.invalid:3128")
            .allow_plain_http()
            .build()
            .is_ok()
    );
    assert!(through("http://127.0.0.1:3128").build().is_ok());
    // Without `//` the user name is read as the scheme.
    let (_, message) = fault(builder("http://127.0.0.1:1/v1").proxy("canary:x@proxy.invalid:3128"));
    assert!(!message.contains("canary"), "{message}");
    let keyless = builder("http://127.0.0.1:1/v1")
        .without_key()
        .proxy("http://proxy.invalid:3128");
    assert!(keyless.build().is_ok());
}

#[tokio::test]
async fn a_proxy_that_asks_for_a_password_is_a_matter_of_configuration() {
    const ASKS: &str = "HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    for base_url in ["http://models.invalid/v1", "https://models.invalid/v1"] {
        let proxy = sends(ASKS.to_owned()).await;
        let proxy = proxy.trim_end_matches("/v1");
        let model = builder(base_url)
            .without_key()
            .proxy(proxy)
            .build()
            .unwrap();
        let error = ask(&model).await.unwrap_err();
        assert_eq!(error.category, Category::ConfigError, "{}", error.message);
        assert!(
            error.message.contains("http://user:password@"),
            "{}",
            error.message
        );
    }
}

/// A header that is no credential is no secret: what it says may be the model's name.
#[tokio::test]
async fn a_header_that_is_no_credential_is_left_in_answers() {
    let server = server([StubReply::text("hi")]).await;
    let model = builder(&server.base_url())
        .model("gpt-4o-mini")
        .header("x-model", "gpt-4o-mini");
    let model = model.build().unwrap();
    assert_eq!(
        ask(&model).await.unwrap().model.as_deref(),
        Some("gpt-4o-mini")
    );
}

#[test]
fn a_proxy_of_another_scheme_is_named_without_what_may_be_a_secret() {
    for (proxy, words) in [
        ("socks5h://127.0.0.1:1", "the proxy speaks socks5h"),
        (
            "sk-canary:x@proxy.example:1",
            "begins with neither http:// nor https://",
        ),
        (
            "proxy.example:3128",
            "Write it like http://proxy.example:3128",
        ),
    ] {
        let (category, message) = fault(builder("http://127.0.0.1:1/v1").proxy(proxy));
        assert_eq!(category, Category::ConfigError);
        assert!(
            message.contains(words) && !message.contains("canary"),
            "{message}"
        );
    }
}

/// Words within the names of headers say nothing; whole words do, and so does the scheme of a value.
#[tokio::test]
async fn secrets_are_known_by_whole_words_and_by_schemes() {
    let said = "openai, plain, canary-1, canary-2, canary-3";
    let server = server([StubReply::raw(400, said), StubReply::raw(400, said)]).await;
    let proxied = builder("http://models.invalid/v1").without_key();
    let proxied = proxied.proxy(format!("http://canary-3@{}", server.address()));
    for (builder, left) in [
        (
            builder(&server.base_url()),
            "openai, plain, [redacted], [redacted], canary-3",
        ),
        (
            proxied.allow_plain_http(),
            "openai, plain, [redacted], [redacted], [redacted]",
        ),
    ] {
        let builder = builder
            .header("x-portkey-provider", "openai")
            .header("x-max-tokens", "plain")
            .header("x-tenant", "Bearer canary-1")
            .header("x-userToken", "canary-2");
        let error = ask(&builder.build().unwrap()).await.unwrap_err();
        assert!(error.message.contains(left), "{error}");
    }
    // A value with a scheme is a key, too: over plain http it is refused.
    let plain = builder("http://models.invalid/v1")
        .without_key()
        .header("x-tenant", "Bearer canary-1");
    assert_eq!(fault(plain).0, Category::ConfigError);
    // A word that only looks like a key's is none.
    assert_eq!(
        fault(https().header("x-portkey-provider", "openai")).0,
        Category::ApiKeyError
    );
}

/// Its proxies are unknown; by default they are the environment's.
#[cfg(feature = "http-client")]
#[test]
fn a_client_of_ones_own_gets_no_key_over_plain_http() {
    let own = || builder("http://127.0.0.1:1/v1").http_client(crate::support::client());
    let (category, message) = fault(own().api_key(CANARY));
    assert_eq!(category, Category::ConfigError);
    assert!(
        message.contains("`http_client`") && !message.contains("canary"),
        "{message}"
    );
    assert!(own().api_key(CANARY).allow_plain_http().build().is_ok());
    assert!(own().build().is_ok());
}

/// Runs a test of this file in a process of its own, since a variable of the environment is everyone's.
async fn passes_with(test: &str, variables: &[(&str, &str)]) {
    passes_alone(&format!("settings::{test}"), variables).await;
}

/// Runs a test in a process of its own, in which logs are its own, too.
pub(crate) async fn passes_alone(test: &str, variables: &[(&str, &str)]) {
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", test, "--ignored"]);
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"] {
        child.env_remove(name).env_remove(name.to_lowercase());
    }
    child
        .env_remove("REQUEST_METHOD")
        .envs(variables.iter().copied());
    let output = tokio::task::spawn_blocking(move || child.output().unwrap())
        .await
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}"
    );
}

#[tokio::test]
async fn the_environments_proxy_is_not_asked_for_loopback_servers() {
    let (asked, proxy) = (server([]).await, server([]).await);
    let (base_url, url) = (asked.base_url(), format!("http://{}", proxy.address()));
    let variables = [
        ("HTTP_PROXY", url.as_str()),
        ("ALL_PROXY", &url),
        ("LLMNODE_TEST_SERVER", &base_url),
    ];
    passes_with("asks_the_server_of_the_environment", &variables).await;
    assert_eq!((asked.requests_seen(), proxy.requests_seen()), (1, 0));
}

#[tokio::test]
#[ignore = "a part of the test above"]
async fn asks_the_server_of_the_environment() {
    let Ok(base_url) = std::env::var("LLMNODE_TEST_SERVER") else {
        return;
    };
    ask(&builder(&base_url).api_key(CANARY).build().unwrap())
        .await
        .unwrap();
}

#[tokio::test]
async fn the_key_of_a_known_server_is_that_of_its_variable() {
    let asked = server([]).await;
    let base_url = asked.base_url();
    let variables = [
        ("GROQ_API_KEY", CANARY),
        ("AZURE_OPENAI_API_KEY", CANARY),
        ("LLMNODE_TEST_SERVER", &base_url),
    ];
    passes_with("asks_known_servers", &variables).await;
    let sent = |at: usize, name: &str| asked.requests()[at].header(name).map(str::to_owned);
    let bearer = format!("Bearer {CANARY}");
    assert_eq!(
        (sent(0, "authorization"), sent(0, "api-key")),
        (Some(bearer), None)
    );
    assert_eq!(
        (sent(1, "authorization"), sent(1, "api-key")),
        (None, Some(CANARY.to_owned()))
    );
    // What the program gives takes its place.
    assert_eq!(sent(2, "authorization").as_deref(), Some("Bearer other"));
    assert_eq!(
        (sent(3, "authorization").as_deref(), sent(3, "api-key")),
        (Some("Bearer token"), None)
    );
    assert_eq!(sent(4, "authorization"), None);
    assert_eq!(asked.requests_seen(), 5);
}

#[tokio::test]
#[ignore = "a part of the test above"]
async fn asks_known_servers() {
    let Ok(base_url) = std::env::var("LLMNODE_TEST_SERVER") else {
        return;
    };
    let azure = || OpenAi::azure(base_url.trim_end_matches("/v1"), "m", "1").base_url(&base_url);
    for builder in [
        OpenAi::groq().base_url(&base_url),
        azure(),
        OpenAi::groq().base_url(&base_url).api_key("other"),
        azure().header("authorization", "Bearer token"),
        OpenAi::groq().base_url(&base_url).without_key(),
    ] {
        ask(&builder.model("m").build().unwrap()).await.unwrap();
    }
}

#[test]
fn a_known_server_without_its_key_names_the_variable() {
    for (builder, variable) in [
        (OpenAi::anthropic(), "ANTHROPIC_API_KEY"),
        (
            OpenAi::azure("https://a.example", "m", "1"),
            "AZURE_OPENAI_API_KEY",
        ),
    ] {
        if std::env::var_os(variable).is_some() {
            continue;
        }
        let (category, message) = fault(builder.root_certificates(AUTHORITY));
        assert_eq!(category, Category::ApiKeyError);
        assert!(
            message.contains(&format!("set {variable}, or `.api_key(..)`")),
            "{message}"
        );
    }
    assert!(OpenAi::ollama().build().is_ok());
}

#[tokio::test]
async fn a_proxy_of_another_scheme_in_the_environment_is_a_matter_of_configuration() {
    for variable in ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"] {
        let proxy = (variable, "socks5://me:canary@127.0.0.1:1");
        passes_with("a_socks_proxy_of_the_environment_is_refused", &[proxy]).await;
        let without = [proxy, ("NO_PROXY", "models.example")];
        passes_with("a_socks_proxy_of_the_environment_is_refused", &without).await;
    }
}

#[test]
#[ignore = "a part of the test above"]
fn a_socks_proxy_of_the_environment_is_refused() {
    let builder = || https().api_key(CANARY);
    if std::env::var_os("NO_PROXY").is_some() {
        assert!(builder().build().is_ok());
    } else if ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"]
        .iter()
        .any(|name| std::env::var_os(name).is_some())
    {
        let (category, message) = fault(builder());
        assert_eq!(category, Category::ConfigError);
        assert!(
            message.contains("socks5") && message.contains("environment"),
            "{message}"
        );
        assert!(!message.contains("canary"), "{message}");
        // One that the program sets takes its place.
        assert!(builder().proxy("http://127.0.0.1:1").build().is_ok());
    }
}

#[tokio::test]
async fn a_proxy_of_the_environment_that_cannot_be_read_is_never_passed_by() {
    for proxy in [
        "socks://me:canary@127.0.0.1:1",
        "SOCKS5://me:canary@127.0.0.1:1",
        "ftp://me:canary@127.0.0.1:1",
        "http://me:canary@a b:1",
        "http://me:canary@h{}:1",
        "me:canary@h:none",
        "//h:1",
        "http://",
    ] {
        for variable in ["HTTPS_PROXY", "https_proxy", "all_proxy"] {
            let variables = [(variable, proxy), ("LLMNODE_TEST_VARIABLE", variable)];
            passes_with("names_the_variable_of_the_proxy", &variables).await;
        }
    }
}

#[test]
#[ignore = "a part of the test above"]
fn names_the_variable_of_the_proxy() {
    let Ok(variable) = std::env::var("LLMNODE_TEST_VARIABLE") else {
        return;
    };
    let (category, message) = fault(https().api_key(CANARY));
    assert_eq!(category, Category::ConfigError);
    assert!(
        message.contains(&variable) && !message.contains("canary"),
        "{message}"
    );
    // Servers over plain http have another one.
    let plain = builder("http://models.invalid/v1").without_key().build();
    assert_eq!(plain.is_err(), variable == "all_proxy");
    assert!(
        https()
            .api_key(CANARY)
            .proxy("http://127.0.0.1:1")
            .build()
            .is_ok()
    );
}

/// The password of a proxy, as its URL has it, as it is, and with the user's name as requests carry it.
const PASSWORD: [&str; 3] = [
    "can%61ry%2Bat%40home",
    "canary+at@home",
    "bWU6Y2FuYXJ5K2F0QGhvbWU=",
];

#[tokio::test]
async fn a_proxys_password_is_in_no_text_in_any_form() {
    let said = PASSWORD.join(", ");
    let refuses = format!("HTTP/1.1 407 {said}\r\nproxy-authenticate: {said}\r\n\r\n{said}");
    let answers = format!(
        "HTTP/1.1 500 oops\r\ncontent-length: {}\r\n\r\n{said}",
        said.len()
    );
    for response in [refuses, answers, said.clone()] {
        let proxy = sends(response).await;
        let address = proxy.trim_start_matches("http://").trim_end_matches("/v1");
        let url = format!("http://me:{}@{address}", PASSWORD[0]);
        for variable in [
            "HTTP_PROXY",
            "https_proxy",
            "ALL_PROXY",
            "LLMNODE_TEST_PROXY",
        ] {
            passes_with("shows_no_password_of_a_proxy", &[(variable, &url)]).await;
        }
    }
}

#[tokio::test]
#[ignore = "a part of the test above"]
async fn shows_no_password_of_a_proxy() {
    let own = std::env::var("LLMNODE_TEST_PROXY").ok();
    if own.is_none()
        && ["HTTP_PROXY", "https_proxy", "ALL_PROXY"]
            .iter()
            .all(|name| std::env::var_os(name).is_none())
    {
        return;
    }
    let log = Log::install().unwrap();
    let mut texts = Vec::new();
    for base_url in ["http://models.invalid/v1", "https://models.invalid/v1"] {
        let builder = builder(base_url).root_certificates(AUTHORITY).without_key();
        let builder = own
            .iter()
            .fold(builder, |builder, url| builder.proxy(url.clone()));
        texts.push(format!("{builder:?}"));
        let model = builder.build().unwrap();
        texts.push(format!("{model:?}"));
        let run = Run::new(model).with_clock(TestClock::new());
        let error = run.call(&Greet).transport_retries(0).await.unwrap_err();
        let chain = std::iter::successors(Some(&error as &dyn std::error::Error), |error| {
            error.source()
        });
        texts.extend(chain.map(|error| format!("{error} {error:?}")));
        texts.push(format!(
            "{} {:?}",
            error.attempts()[0].message,
            error.record()
        ));
        texts.push(run.ledger().to_json().to_string());
    }
    texts.push(log.text());
    assert_eq!(sinks::leaks(texts.clone(), &PASSWORD), 0, "{texts:#?}");
}

#[test]
fn only_public_addresses_are_asked_if_that_is_wished() {
    let public = |base: &str| {
        OpenAi::builder()
            .base_url(base)
            .without_key()
            .model("m")
            .public_only()
    };
    for (base, why) in [
        ("http://169.254.169.254/", "public_only"),
        ("https://[::ffff:10.0.0.1]/v1", "public_only"),
        // Refused with and without.
        ("https://0x7f.1/v1", "four decimal numbers"),
        ("http://localhost:1/v1", "public_only"),
    ] {
        let (category, message) = fault(public(base));
        assert_eq!(category, Category::ConfigError, "{base}");
        assert!(message.contains(why), "{message}");
    }
}
