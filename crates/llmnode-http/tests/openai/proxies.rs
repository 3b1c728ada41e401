//! Requests through proxies: tunnels, credentials, and proxies that fail in every way.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use llmnode_http::OpenAiBuilder;
use llmnode_runtime::{Category, Retry};
use rustls::{ServerConnection, StreamOwned};

use crate::support::{CANARY, ask, builder, sends};
use crate::tls::{SECOND_AUTHORITY, server_config, tls_server_with};

/// A proxy that opens one tunnel on each connection, to this server whatever it is asked for, and what it was asked.
struct Proxy {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    fn start(server: SocketAddr, over_tls: bool) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = Proxy {
            address: listener.local_addr().unwrap(),
            asked: Arc::default(),
        };
        let asked = Arc::clone(&proxy.asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (asked, server) = (Arc::clone(&asked), TcpStream::connect(server).unwrap());
                std::thread::spawn(move || {
                    if over_tls {
                        let config = server_config(include_str!("data/names.pem"));
                        let connection = ServerConnection::new(config).unwrap();
                        tunnel(StreamOwned::new(connection, stream), server, &asked);
                    } else {
                        tunnel(stream, server, &asked);
                    }
                });
            }
        });
        proxy
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// One thread for both directions: each side waits a moment for the other.
fn tunnel(mut client: impl Read + Write, mut server: TcpStream, asked: &Mutex<Vec<String>>) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if client.read(&mut byte).unwrap_or(0) == 0 {
            return;
        }
        head.extend(byte);
    }
    asked.lock().unwrap().push(String::from_utf8(head).unwrap());
    client
        .write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")
        .unwrap();
    server
        .set_read_timeout(Some(Duration::from_millis(50)))
        .unwrap();
    let mut bytes = vec![0; 64 * 1024];
    loop {
        // The client speaks first, in the handshake as in the request.
        let Ok(read @ 1..) = client.read(&mut bytes) else {
            return;
        };
        if server.write_all(&bytes[..read]).is_err() {
            return;
        }
        while let Ok(read @ 1..) = server.read(&mut bytes) {
            if client.write_all(&bytes[..read]).is_err() {
                return;
            }
        }
        let _ = client.flush();
    }
}

fn through(base_url: &str, proxy: impl Into<String>) -> OpenAiBuilder {
    builder(base_url)
        .root_certificates(SECOND_AUTHORITY)
        .proxy(proxy)
}

#[tokio::test]
async fn https_goes_through_a_tunnel_and_the_proxy_sees_its_own_credentials_alone() {
    let server = tls_server_with(include_str!("data/names.pem"));
    for (over_tls, scheme) in [(false, "http"), (true, "https")] {
        let proxy = Proxy::start(server, over_tls);
        let url = format!("{scheme}://me:p%40ss@{}", proxy.address);
        let model = through("https://models.invalid/v1", url)
            .api_key(CANARY)
            .build()
            .unwrap();
        assert_eq!(ask(&model).await.unwrap().text, "hello", "{scheme}");
        let asked = proxy.asked().remove(0).to_lowercase();
        assert!(
            asked
                .starts_with("connect models.invalid:443 http/1.1\r\nhost: models.invalid:443\r\n"),
            "{asked}"
        );
        assert!(
            asked.contains("proxy-authorization: basic bwu6cebzcw==\r\n"),
            "{asked}"
        );
        assert!(!asked.contains("canary"), "{asked}");
    }
}

#[tokio::test]
async fn the_certificate_behind_a_tunnel_is_judged_by_the_servers_name() {
    let proxy = Proxy::start(tls_server_with(include_str!("data/elsewhere.pem")), false);
    let model = through(
        "https://models.invalid/v1",
        format!("http://{}", proxy.address),
    )
    .without_key();
    let error = ask(&model.build().unwrap()).await.unwrap_err();
    assert_eq!(
        (error.category, error.retry),
        (Category::Network, Some(Retry::No)),
        "{error}"
    );
    // The proxy's own, too.
    let proxy = Proxy::start(tls_server_with(include_str!("data/names.pem")), true);
    let model = builder("https://models.invalid/v1")
        .root_certificates(crate::tls::AUTHORITY)
        .without_key();
    let error = ask(&model
        .proxy(format!("https://{}", proxy.address))
        .build()
        .unwrap())
    .await
    .unwrap_err();
    assert_eq!(
        (error.category, error.retry),
        (Category::Network, Some(Retry::No)),
        "{error}"
    );
}

#[tokio::test]
async fn tunnels_that_fail_are_no_request() {
    let endless = format!("HTTP/1.1 200 OK\r\nx-long: {}", "x".repeat(1 << 20));
    for (answer, category) in [
        (
            "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n",
            Category::ConfigError,
        ),
        (
            "HTTP/1.1 502 Bad Gateway\r\ncontent-length: 4\r\n\r\noops",
            Category::Network,
        ),
        ("HTTP/1.1 403 Forbidden\r\n\r\n", Category::Network),
        ("HTTP/1.1 200 Connection est", Category::Network),
        (
            "HTTP/1.1 302 Found\r\nlocation: http://elsewhere.invalid/\r\n\r\n",
            Category::Network,
        ),
        ("nonsense", Category::Network),
        ("", Category::Network),
        (endless.as_str(), Category::Network),
    ] {
        let proxy = sends(answer).await;
        let model =
            through("https://models.invalid/v1", proxy.trim_end_matches("/v1")).without_key();
        let error = ask(&model.build().unwrap()).await.unwrap_err();
        assert_eq!(
            (error.category, error.reached),
            (category, false),
            "{answer:.40}: {error}"
        );
    }
}

#[tokio::test]
async fn a_tunnel_without_end_is_ended_by_the_connect_timeout() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let silent = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        // A header a moment, and never the last one.
        stream.write_all(b"HTTP/1.1 200 OK\r\n").unwrap();
        while stream.write_all(b"x: y\r\n").is_ok() {
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    let model = through("https://models.invalid/v1", format!("http://{address}")).without_key();
    let start = Instant::now();
    let error = ask(&model
        .connect_timeout(Duration::from_millis(200))
        .build()
        .unwrap())
    .await
    .unwrap_err();
    assert_eq!(
        (error.category, error.reached),
        (Category::Timeout, false),
        "{error}"
    );
    assert!(
        error
            .message
            .contains("no connection within 200ms (connect timeout)"),
        "{error}"
    );
    assert!(start.elapsed() < Duration::from_secs(20));
    silent.join().unwrap();
}

#[tokio::test]
async fn the_environments_exceptions_are_names_suffixes_addresses_and_networks() {
    for exception in [
        "no_proxy.invalid",
        "models.invalid",
        ".invalid",
        "invalid",
        "*",
        "10.1.2.3",
        "10.0.0.0/8",
        "10.9, *",
    ] {
        let variables = [
            ("HTTP_PROXY", "http://127.0.0.1:9"),
            ("NO_PROXY", exception),
        ];
        crate::settings::passes_alone("proxies::asks_without_the_proxy", &variables).await;
    }
}

#[tokio::test]
#[ignore = "a part of the test above"]
async fn asks_without_the_proxy() {
    let Ok(exception) = std::env::var("NO_PROXY") else {
        return;
    };
    let is_address = exception.starts_with("10.");
    let base_url = if is_address {
        "http://10.1.2.3/v1"
    } else {
        "http://models.invalid/v1"
    };
    let model = builder(base_url)
        .without_key()
        .connect_timeout(Duration::from_millis(300));
    let error = ask(&model.build().unwrap()).await.unwrap_err();
    // A proxy on which nobody listens refuses at once; what is asked past it cannot be reached, or not be found.
    assert_eq!(
        error.message.contains("refused"),
        exception == "no_proxy.invalid",
        "{exception}: {error}"
    );
}

#[test]
fn a_proxy_needs_a_host_and_a_port_that_exists() {
    for proxy in [
        "http://",
        "http://h:99999",
        "http://me:canary@",
        "https://h\\@g",
        "http://a b",
        "ftp://h",
    ] {
        let error = builder("http://127.0.0.1:1/v1")
            .proxy(proxy)
            .build()
            .unwrap_err();
        assert_eq!(error.category, Category::ConfigError, "{proxy}");
        assert!(
            error.message.contains("proxy") && !error.message.contains("canary"),
            "{error}"
        );
    }
    assert!(
        builder("http://127.0.0.1:1/v1")
            .proxy("localhost")
            .build()
            .is_ok()
    );
}
