//! A server on loopback that behaves as a row says, down to the connection.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use llmnode::stub_server::{Refusal, refusal};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};

use crate::body::Body;
use crate::connection::Connection;
use crate::http_date;

/// One answer of a server, and what it does with the connection.
#[derive(Clone)]
pub(crate) struct Response {
    status: u64,
    headers: Vec<(String, String)>,
    body: Body,
    connection: Connection,
    delay: Duration,
}

impl Response {
    /// The answers of a row, of which the last goes on.
    pub(crate) fn sequence(row: &Value) -> Result<Vec<Response>, String> {
        let then = row["then"].as_array().into_iter().flatten();
        std::iter::once(&row["server"])
            .chain(then)
            .map(Response::read)
            .collect()
    }

    fn read(server: &Value) -> Result<Response, String> {
        let text = |value: &Value| {
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned)
        };
        let headers = server["headers"]
            .as_object()
            .into_iter()
            .flatten()
            .flat_map(|(name, value)| {
                // A header whose value is a list is sent as often.
                let values = value
                    .as_array()
                    .map_or_else(|| std::slice::from_ref(value), Vec::as_slice);
                values.iter().map(|value| (name.clone(), text(value)))
            });
        Ok(Response {
            status: server["status"].as_u64().unwrap_or(200),
            headers: headers.collect(),
            body: Body::read(server)?,
            connection: Connection::named(server["connection"].as_str().unwrap_or("normal"))?,
            delay: Duration::from_millis(server["delay_before_headers_ms"].as_u64().unwrap_or(0)),
        })
    }

    fn has(&self, name: &str) -> bool {
        self.headers
            .iter()
            .any(|(own, _)| own.eq_ignore_ascii_case(name))
    }

    fn is_chunked(&self) -> bool {
        self.has("transfer-encoding")
    }

    fn head(&self, own_url: &str) -> String {
        let mut head = format!("HTTP/1.1 {} Status\r\nconnection: close\r\n", self.status);
        let mut header = |name: &str, value: &str| head.push_str(&format!("{name}: {value}\r\n"));
        for (name, value) in &self.headers {
            let date = value
                .strip_prefix("@http-date:")
                .and_then(http_date::from_now);
            header(
                name,
                &date.unwrap_or_else(|| value.replace("@self", own_url)),
            );
        }
        if self.connection == Connection::ManyHeaders {
            (0..1000).for_each(|number| header(&format!("x-{number}"), "1"));
        }
        let is_whole = self.body.repeated.is_none() && self.body.pieces.len() < 2;
        if is_whole && !self.has("content-length") && !self.is_chunked() {
            header("content-length", &self.body.bytes().len().to_string());
        }
        head + "\r\n"
    }
}

/// When each request came, and its body.
type Asked = Arc<Mutex<Vec<(Instant, String)>>>;

/// A server; it ends with its handle.
pub(crate) struct Server {
    address: SocketAddr,
    connection: Connection,
    asked: Asked,
    task: JoinHandle<()>,
}

impl Server {
    pub(crate) async fn start(responses: Vec<Response>) -> io::Result<Server> {
        let connection = responses
            .first()
            .map_or(Connection::Normal, |response| response.connection);
        let socket = TcpSocket::new_v4()?;
        socket.bind(SocketAddr::from(([127, 0, 0, 1], 0)))?;
        let address = socket.local_addr()?;
        let asked = Asked::default();
        let task = match connection {
            // A socket that is bound and does not listen refuses, and keeps its port from others.
            Connection::Refused => tokio::spawn(async move {
                let _socket = socket;
                std::future::pending().await
            }),
            Connection::BlackHole => {
                let listener = socket.listen(1)?;
                let crowd = crowd(address).await;
                tokio::spawn(async move {
                    let _held = (listener, crowd);
                    std::future::pending().await
                })
            }
            _ => tokio::spawn(serve(socket.listen(64)?, responses, Arc::clone(&asked))),
        };
        Ok(Server {
            address,
            connection,
            asked,
            task,
        })
    }

    pub(crate) fn base_url(&self) -> String {
        match self.connection {
            // A label of a name has at most 63 characters, so that no resolver is asked.
            Connection::UnknownName => format!("https://{}.invalid/v1", "x".repeat(64)),
            Connection::NeverSent => "https://never-sent.invalid/v1".to_owned(),
            Connection::SelfSigned | Connection::TlsReset => format!("https://{}/v1", self.address),
            _ => format!("http://{}/v1", self.address),
        }
    }

    pub(crate) fn is_never_asked(&self) -> bool {
        self.connection == Connection::NeverSent
    }

    /// What was asked, without headers: the key belongs there.
    pub(crate) fn asked(&self) -> Vec<(Instant, String)> {
        self.asked
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// So many connections that nobody accepts that the system answers no more.
async fn crowd(address: SocketAddr) -> Vec<TcpStream> {
    let mut crowd = Vec::new();
    while let Ok(Ok(stream)) =
        timeout(Duration::from_millis(100), TcpStream::connect(address)).await
    {
        crowd.push(stream);
    }
    crowd
}

async fn serve(listener: TcpListener, responses: Vec<Response>, asked: Asked) {
    let mut connections = JoinSet::new();
    let mut responses = responses.into_iter().peekable();
    let mut last = None;
    while let Ok((stream, _)) = listener.accept().await {
        last = responses.next().or(last);
        if let Some(response) = last.clone() {
            let asked = Arc::clone(&asked);
            // A client that goes away is no concern of the server's.
            connections
                .spawn(async move { act(stream, response, &asked).await.unwrap_or_default() });
        }
    }
}

/// Reads the request and does with the connection what the response says.
async fn act(mut stream: TcpStream, response: Response, asked: &Asked) -> io::Result<()> {
    match response.connection {
        // What was sent and not read makes the end of the connection a reset.
        Connection::TlsReset => return stream.readable().await,
        Connection::SelfSigned => return shake_hands(stream).await,
        _ => {}
    }
    let request = read_request(&mut stream).await?;
    let refusal = request.refusal();
    asked
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push((Instant::now(), request.body));
    if let Some(refusal) = refusal {
        return refuse(stream, &refusal).await;
    }
    sleep(response.delay).await;
    let own_url = format!("http://{}", stream.local_addr()?);
    let head = response.head(&own_url).into_bytes();
    let body = response.body.bytes();
    let half = || [&head[..], &body[..body.len() / 2]].concat();
    match response.connection {
        Connection::Silent => std::future::pending().await,
        Connection::Reset => return reset(stream),
        Connection::HangUp => {}
        Connection::Garbage => {
            stream
                .write_all(b"\x16\x03\x01 this is no HTTP\r\n\r\n")
                .await?
        }
        Connection::Slow => {
            for byte in [head, body].concat() {
                stream.write_all(&[byte]).await?;
                sleep(Duration::from_millis(100)).await;
            }
        }
        Connection::HeadThenSilent => {
            stream.write_all(&head).await?;
            std::future::pending().await
        }
        Connection::HalfThenSilent => {
            stream.write_all(&half()).await?;
            std::future::pending().await
        }
        Connection::HalfThenClosed => stream.write_all(&half()).await?,
        Connection::HalfThenReset => {
            stream.write_all(&half()).await?;
            // The half arrives before the reset, which throws away what is still under way.
            sleep(Duration::from_millis(50)).await;
            return reset(stream);
        }
        // An empty SETTINGS frame, then GOAWAY without an error, or RST_STREAM with REFUSED_STREAM.
        Connection::GoAway => {
            stream
                .write_all(b"\0\0\0\x04\0\0\0\0\0\0\0\x08\x07\0\0\0\0\0\0\0\0\0\0\0\0\0")
                .await?;
        }
        Connection::RefusedStream => {
            stream
                .write_all(b"\0\0\0\x04\0\0\0\0\0\0\0\x04\x03\0\0\0\0\x01\0\0\0\x07")
                .await?;
        }
        _ => {
            stream.write_all(&head).await?;
            send(&mut stream, &response).await?;
        }
    }
    stream.shutdown().await
}

/// What every provider refuses is no request that a row can be about.
async fn refuse(mut stream: TcpStream, refusal: &Refusal) -> io::Result<()> {
    let body = refusal.to_string();
    let status = refusal.status;
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status} Status\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    stream.shutdown().await
}

fn reset(stream: TcpStream) -> io::Result<()> {
    // Deprecated because a linger time blocks the thread that drops the socket. Zero does not.
    #[allow(deprecated)]
    stream.set_linger(Some(Duration::ZERO))
}

async fn send(stream: &mut TcpStream, response: &Response) -> io::Result<()> {
    let framed = |bytes: &[u8]| {
        if !response.is_chunked() {
            return bytes.to_vec();
        }
        [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
    };
    for piece in &response.body.pieces {
        sleep(piece.delay).await;
        if !piece.bytes.is_empty() {
            stream.write_all(&framed(&piece.bytes)).await?;
            stream.flush().await?;
        }
    }
    if let Some(again) = &response.body.repeated {
        let bytes = framed(&again.bytes);
        for _ in 0..again.times {
            stream.write_all(&bytes).await?;
            sleep(again.pause).await;
        }
    }
    if response.is_chunked() && response.connection != Connection::NoLastChunk {
        stream.write_all(b"0\r\n\r\n").await?;
    }
    Ok(())
}

/// A request, as it came.
struct Request {
    path: String,
    body: String,
}

impl Request {
    fn refusal(&self) -> Option<Refusal> {
        let body = serde_json::from_str(&self.body).ok()?;
        refusal(None, &self.path, &body)
    }
}

async fn read_request(stream: &mut TcpStream) -> io::Result<Request> {
    let mut read = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&read);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
            let head = head.to_ascii_lowercase();
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length:"));
            if body.len()
                >= length
                    .and_then(|length| length.trim().parse().ok())
                    .unwrap_or(0)
            {
                return Ok(Request {
                    path,
                    body: body.to_owned(),
                });
            }
        }
        if stream.read_buf(&mut read).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

/// A handshake with a certificate that no authority of the client's knows.
async fn shake_hands(stream: TcpStream) -> io::Result<()> {
    let chain = CertificateDer::from_pem_slice(include_bytes!(
        "../../crates/llmnode-http/tests/openai/data/server.pem"
    ));
    let key = PrivateKeyDer::from_pem_slice(include_bytes!(
        "../../crates/llmnode-http/tests/openai/data/server-key.pem"
    ));
    let config =
        ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_no_client_auth()
            .with_single_cert(
                vec![chain.map_err(io::Error::other)?],
                key.map_err(io::Error::other)?,
            )
            .map_err(io::Error::other)?;
    let connection = ServerConnection::new(Arc::new(config)).map_err(io::Error::other)?;
    let stream = stream.into_std()?;
    stream.set_nonblocking(false)?;
    let shaken = tokio::task::spawn_blocking(move || {
        let mut stream = StreamOwned::new(connection, stream);
        stream.read_exact(&mut [0])?;
        stream.flush()
    });
    shaken.await?
}

/// Whether a request to this base URL stays on this machine, or goes to a name that nobody can have.
pub(crate) fn stays_here(base_url: &str) -> bool {
    let rest = base_url.split_once("://").map_or("", |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority
        .rsplit_once(':')
        .map_or(authority, |(host, _)| host);
    let is_loopback = host
        .parse()
        .is_ok_and(|address: Ipv4Addr| address.is_loopback());
    is_loopback
        || host == "[::1]"
        || [".invalid", "localhost"]
            .iter()
            .any(|end| host.ends_with(end))
}
