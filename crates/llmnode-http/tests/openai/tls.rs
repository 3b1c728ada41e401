//! Certificates: trusted, unknown, and connections that die in the handshake.
//!
//! The key in `data` is made for these tests and serves nothing else.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use llmnode_runtime::{Category, Retry};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::support::{CANARY, ask, builder};

pub(crate) const AUTHORITY: &str = include_str!("data/authority.pem");

/// Vouches for `names.pem`, `expired.pem` and `elsewhere.pem`.
pub(crate) const SECOND_AUTHORITY: &str = include_str!("data/second-authority.pem");

pub(crate) fn server_config(certificate: &str) -> Arc<ServerConfig> {
    let chain = CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap();
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("data/server-key.pem")).unwrap();
    let config =
        ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![chain], key)
            .unwrap();
    Arc::new(config)
}

/// A TLS server that answers one completion on each connection; its base URL.
pub(crate) fn tls_server() -> String {
    format!(
        "https://{}/v1",
        tls_server_with(include_str!("data/server.pem"))
    )
}

pub(crate) fn tls_server_with(certificate: &str) -> SocketAddr {
    let config = server_config(certificate);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut stream =
                StreamOwned::new(ServerConnection::new(Arc::clone(&config)).unwrap(), stream);
            let mut request = [0; 64 * 1024];
            if stream.read(&mut request).is_ok() {
                let body =
                    r#"{"choices":[{"message":{"content":"hello"},"finish_reason":"stop"}]}"#;
                let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
                let _ = stream.write_all((head + body).as_bytes());
                stream.conn.send_close_notify();
                let _ = stream.flush();
            }
        }
    });
    address
}

#[tokio::test]
async fn an_authority_of_ones_own_is_trusted_when_given() {
    let base_url = tls_server();
    let model = builder(&base_url)
        .api_key(CANARY)
        .root_certificates(AUTHORITY)
        .build()
        .unwrap();
    assert_eq!(ask(&model).await.unwrap().text, "hello");
}

#[tokio::test]
async fn an_unknown_authority_is_final() {
    // Some other authority, so that the test needs no certificates on the machine.
    let other = include_str!("data/server.pem");
    let model = builder(&tls_server())
        .root_certificates(other)
        .build()
        .unwrap();
    let error = ask(&model).await.unwrap_err();
    assert_eq!(
        (error.category, error.retry),
        (Category::Network, Some(Retry::No)),
        "{error}"
    );
    assert!(
        error.message.contains("certificate is not trusted"),
        "{error}"
    );
    assert_eq!(error.usage, None);
}

#[tokio::test]
async fn a_handshake_that_breaks_may_work_the_next_time() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base_url = format!("https://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || listener.incoming().for_each(drop));
    let model = builder(&base_url)
        .root_certificates(AUTHORITY)
        .build()
        .unwrap();
    let error = ask(&model).await.unwrap_err();
    assert_eq!(
        (error.category, error.retry),
        (Category::Network, None),
        "{error}"
    );
}

#[tokio::test]
async fn every_bad_certificate_is_final() {
    for (certificate, why) in [
        (include_str!("data/expired.pem"), "expired"),
        (include_str!("data/elsewhere.pem"), "not valid for name"),
        (include_str!("data/self-signed.pem"), ""),
        // Of an authority that is not given.
        (include_str!("data/server.pem"), ""),
    ] {
        let base_url = format!("https://{}/v1", tls_server_with(certificate));
        let model = builder(&base_url)
            .root_certificates(SECOND_AUTHORITY)
            .build()
            .unwrap();
        let error = ask(&model).await.unwrap_err();
        assert_eq!(
            (error.category, error.retry),
            (Category::Network, Some(Retry::No)),
            "{error}"
        );
        assert!(
            error.message.contains("certificate is not trusted") && error.message.contains(why),
            "{error}"
        );
        assert!(!error.reached);
    }
    let base_url = format!(
        "https://{}/v1",
        tls_server_with(include_str!("data/names.pem"))
    );
    let model = builder(&base_url)
        .root_certificates(SECOND_AUTHORITY)
        .build()
        .unwrap();
    assert_eq!(ask(&model).await.unwrap().text, "hello");
    // By name, too, which is not looked up.
    let by_name = base_url.replace("127.0.0.1", "localhost");
    let model = builder(&by_name)
        .root_certificates(SECOND_AUTHORITY)
        .build()
        .unwrap();
    assert_eq!(ask(&model).await.unwrap().text, "hello");
}
