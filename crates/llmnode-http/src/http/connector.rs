//! Makes connections: to the server or through a proxy, with TLS where the URL asks
//! for it, all within one time limit.
//!
//! Through a proxy, there are two hops: a connector without one makes the connection to
//! the proxy; for https, a tunnel in it leads to the server, so that the proxy sees no
//! request. A host's address is judged when it is resolved (`resolver.rs`), in the step
//! that also connects: a name that was looked up before may lead elsewhere by then.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use http::uri::Scheme;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tower_service::Service;

use super::client_error::BoxError;
use super::link::Link;
use super::proxy::Proxy;
use super::resolver::Resolver;

/// A connection whose other end is gone is noticed within a minute, although an
/// answer may take ten.
const KEEPALIVE: Duration = Duration::from_secs(15);
const KEEPALIVE_PROBES: u32 = 3;
/// Without an acknowledgement of sent bytes.
#[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
const USER_TIMEOUT: Duration = Duration::from_secs(30);

/// What decides about a connection, whoever asks for it.
pub(crate) struct ConnectSettings {
    pub(crate) tls: ClientConfig,
    pub(crate) proxy: Option<Proxy>,
    pub(crate) timeout: Duration,
    pub(crate) public_only: bool,
}

type Connecting = Pin<Box<dyn Future<Output = Result<TokioIo<Link>, BoxError>> + Send>>;

/// Cheap to clone, as the pool wants it.
#[derive(Clone)]
pub(crate) struct Connector(Arc<Inner>);

struct Inner {
    tcp: HttpConnector<Resolver>,
    tls: TlsConnector,
    // With a connector that goes to the proxy directly.
    proxy: Option<(Proxy, Connector)>,
    timeout: Duration,
}

impl Connector {
    pub(crate) fn new(settings: ConnectSettings) -> Connector {
        let ConnectSettings {
            tls,
            proxy,
            timeout,
            public_only,
        } = settings;
        let tcp = tcp(timeout, Resolver { public_only });
        let tls = TlsConnector::from(Arc::new(tls));
        let direct = Connector(Arc::new(Inner {
            tcp: tcp.clone(),
            tls: tls.clone(),
            proxy: None,
            timeout,
        }));
        match proxy {
            Some(proxy) => Connector(Arc::new(Inner {
                tcp,
                tls,
                proxy: Some((proxy, direct)),
                timeout,
            })),
            None => direct,
        }
    }
}

/// `nodelay`: a request is written at once and then waited for.
fn tcp(timeout: Duration, resolver: Resolver) -> HttpConnector<Resolver> {
    let mut tcp = HttpConnector::new_with_resolver(resolver);
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    // Divided among the addresses of a name, so that a dead one leaves time for the others.
    tcp.set_connect_timeout(Some(timeout));
    tcp.set_keepalive(Some(KEEPALIVE));
    tcp.set_keepalive_interval(Some(KEEPALIVE));
    tcp.set_keepalive_retries(Some(KEEPALIVE_PROBES));
    #[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
    tcp.set_tcp_user_timeout(Some(USER_TIMEOUT));
    tcp
}

impl Service<Uri> for Connector {
    type Response = TokioIo<Link>;
    type Error = BoxError;
    type Future = Connecting;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, target: Uri) -> Connecting {
        let inner = Arc::clone(&self.0);
        Box::pin(async move {
            timeout(inner.timeout, inner.connect(target))
                .await?
                .map(TokioIo::new)
        })
    }
}

impl Inner {
    /// Three ways: directly, through a tunnel of a proxy for https, or to a proxy
    /// that gets the request itself.
    async fn connect(&self, target: Uri) -> Result<Link, BoxError> {
        let link = match &self.proxy {
            None => Link::new(self.tcp.clone().call(target.clone()).await?.into_inner()),
            Some((proxy, direct)) if is_https(&target) => {
                let tunnel = Tunnel::new(proxy.uri.clone(), direct.clone());
                let mut tunnel = proxy
                    .credentials
                    .iter()
                    .cloned()
                    .fold(tunnel, Tunnel::with_auth);
                tunnel.call(target.clone()).await?.into_inner()
            }
            Some((proxy, direct)) => direct
                .clone()
                .call(proxy.uri.clone())
                .await?
                .into_inner()
                .for_proxy(),
        };
        if is_https(&target) {
            self.encrypt(link, &target).await
        } else {
            Ok(link)
        }
    }

    /// An IPv6 address in a URL has brackets, a certificate's name has none.
    async fn encrypt(&self, link: Link, target: &Uri) -> Result<Link, BoxError> {
        let host = target.host().unwrap_or_default();
        let name = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'))
            .unwrap_or(host);
        let name = ServerName::try_from(name.to_owned())?;
        Ok(Link::new(self.tls.connect(name, link).await?))
    }
}

fn is_https(target: &Uri) -> bool {
    target.scheme() == Some(&Scheme::HTTPS)
}

#[cfg(test)]
mod tests {
    use super::super::address_guard::PrivateAddress;
    use super::super::client_error::ClientError;
    use super::super::tls;
    use super::*;

    #[tokio::test]
    async fn case_86_a_name_is_judged_by_where_it_leads_before_anything_is_sent() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let (tls, timeout) = (tls::trusting_nobody().unwrap(), Duration::from_secs(20));
        let mut connector = Connector::new(ConnectSettings {
            tls,
            proxy: None,
            timeout,
            public_only: true,
        });
        let url = format!(
            "http://localhost:{}/",
            listener.local_addr().unwrap().port()
        );
        let error = connector.call(url.parse().unwrap()).await.err().unwrap();
        let error = ClientError::from(error);
        let private = error
            .causes()
            .find_map(|one| one.downcast_ref::<PrivateAddress>());
        assert!(
            private.unwrap().to_string().contains("localhost leads to"),
            "{error:?}"
        );
        assert!(listener.accept().is_err());
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn sockets_notice_a_peer_that_is_gone() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let target = format!("http://{}/", listener.local_addr().unwrap())
            .parse()
            .unwrap();
        let mut tcp = tcp(Duration::from_secs(20), Resolver { public_only: false });
        let stream = tcp.call(target).await.unwrap().into_inner();
        let socket = socket2::SockRef::from(&stream);
        assert!(stream.nodelay().unwrap() && socket.keepalive().unwrap());
        assert_eq!(socket.tcp_keepalive_time().unwrap(), KEEPALIVE);
        assert_eq!(socket.tcp_keepalive_interval().unwrap(), KEEPALIVE);
        assert_eq!(socket.tcp_keepalive_retries().unwrap(), KEEPALIVE_PROBES);
        assert_eq!(socket.tcp_user_timeout().unwrap(), Some(USER_TIMEOUT));
    }
}
