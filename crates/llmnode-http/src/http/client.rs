//! What sends requests: the pool of connections, or a client of the user's own.
//!
//! Neither retries a request. A pooled connection that the server has closed while
//! it was idle is the one exception: nothing of the request was sent on it, so the
//! pool takes another one.

use std::time::Duration;

use http::header::{HeaderValue, PROXY_AUTHORIZATION};
use hyper_util::client::legacy::{Client as Pool, ResponseFuture};
use hyper_util::rt::{TokioExecutor, TokioTimer};

use super::body::{RequestBody, ResponseBody, Source};
use super::client_error::ClientError;
use super::connector::{ConnectSettings, Connector};

/// Servers close idle connections on their own; until then they hold a socket here.
const IDLE_TIMEOUT: Duration = Duration::from_secs(90);

pub(crate) type Request = http::Request<RequestBody>;
pub(crate) type Response = http::Response<ResponseBody>;

/// After redirects that a custom client has followed.
/// It may be another host than the one whose key was sent.
#[derive(Clone)]
pub(crate) struct FinalUrl(pub(crate) String);

#[derive(Clone)]
pub(crate) enum Client {
    Pool {
        pool: Pool<Connector, RequestBody>,
        /// For a proxy that gets the requests themselves, not a tunnel.
        proxy_credentials: Option<HeaderValue>,
    },
    #[cfg(feature = "http-client")]
    Own(reqwest::Client),
}

impl Client {
    /// HTTP/1.1. Repeats a request only if its kept-alive connection was closed
    /// before any of it was sent.
    pub(crate) fn new(settings: ConnectSettings, is_https: bool) -> Client {
        let through = settings.proxy.as_ref().filter(|_| !is_https);
        let proxy_credentials = through.and_then(|proxy| proxy.credentials.clone());
        let pool = Pool::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_TIMEOUT)
            .build(Connector::new(settings));
        Client::Pool {
            pool,
            proxy_credentials,
        }
    }

    /// Not an `async fn`, whose future would store the request until it ends.
    pub(crate) fn send(
        &self,
        mut request: Request,
    ) -> impl Future<Output = Result<Response, ClientError>> + use<> {
        let sending = match self {
            Client::Pool {
                pool,
                proxy_credentials,
            } => {
                if let Some(credentials) = proxy_credentials {
                    request
                        .headers_mut()
                        .insert(PROXY_AUTHORIZATION, credentials.clone());
                }
                Sending::Pool(pool.request(request))
            }
            #[cfg(feature = "http-client")]
            Client::Own(client) => Sending::Own(Box::pin(own_client(client.clone(), request))),
        };
        async move {
            match sending {
                Sending::Pool(response) => match response.await {
                    Ok(response) => Ok(response.map(|body| ResponseBody::new(Source::Pool(body)))),
                    Err(error) => Err(ClientError::of_pool(error)),
                },
                #[cfg(feature = "http-client")]
                Sending::Own(response) => response.await,
            }
        }
    }
}

/// One future for both, without a box for the usual one.
enum Sending {
    Pool(ResponseFuture),
    #[cfg(feature = "http-client")]
    Own(std::pin::Pin<Box<dyn Future<Output = Result<Response, ClientError>> + Send>>),
}

#[cfg(feature = "http-client")]
async fn own_client(client: reqwest::Client, request: Request) -> Result<Response, ClientError> {
    let request = request.map(reqwest::Body::wrap);
    let request = reqwest::Request::try_from(request).map_err(ClientError::of_reqwest)?;
    let response = client
        .execute(request)
        .await
        .map_err(ClientError::of_reqwest)?;
    let url = FinalUrl(response.url().to_string());
    let mut response = http::Response::<reqwest::Body>::from(response)
        .map(|body| ResponseBody::new(Source::Own(body)));
    response.extensions_mut().insert(url);
    Ok(response)
}
