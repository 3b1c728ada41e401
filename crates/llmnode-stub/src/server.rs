use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{fmt, io};

use llmnode_model::TokenUsage;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, JoinSet};

use super::batches::{Batches, BilledLine, StubBatch, StubBatchFault};
use super::billing::{Billing, CacheRules};
use super::exchange::serve;
use super::log::{Log, LoggedRequest, lock};
use super::reply::StubReply;
use super::routes::{OnExchange, Shared};
use super::rules::Provider;

/// A small deterministic server on loopback for tests, examples and benchmarks. It speaks OpenAI's chat completions and
/// Responses, Anthropic's Messages and Gemini's `generateContent`.
///
/// It runs in a background task of the tokio runtime on which it was started. When this handle is dropped, the server and all
/// its connections end. The [module](super) describes its answers.
///
/// ```
/// # mod llmnode { pub use llmnode_stub::StubServer; pub mod stub_server { pub use llmnode_stub::*; } }
/// use llmnode::{StubServer, stub_server::StubReply};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
/// # runtime.block_on(async {
/// let server = StubServer::builder().script([StubReply::text("Oslo")]).start().await?;
/// let url = server.base_url(); // for `OpenAi::builder().base_url(..)`, and those of the others
/// assert!(url.starts_with("http://127.0.0.1:"));
/// assert_eq!(server.requests_seen(), 0);
/// # Ok::<(), std::io::Error>(()) }).unwrap();
/// ```
pub struct StubServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    /// Never sent on: dropping it ends the server's task.
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl StubServer {
    /// Starts a server on a free port with the settings of [`StubServer::builder`].
    ///
    /// # Errors
    /// If there is no tokio runtime, or no port can be bound.
    pub async fn start() -> io::Result<Self> {
        Self::builder().start().await
    }

    /// Creates a builder for a server with other settings.
    pub fn builder() -> StubServerBuilder {
        StubServerBuilder::new()
    }

    /// Returns the base URL for a client: `http://127.0.0.1:PORT/v1`. It serves `OpenAi`, `Anthropic` and `Gemini`.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Returns the address on which it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Appends a reply to the script: the first request to a model gets the first reply, whichever API it is for, and so on.
    /// Requests that are refused before (401, 404, 400) take no reply.
    pub fn push(&self, reply: StubReply) {
        lock(&self.shared.script).push_back(reply);
    }

    /// Appends a reply to the script of embeddings: the first request to `/v1/embeddings` gets the first reply, and so on.
    /// When the script is empty, requests get [`StubReply::embeddings`].
    pub fn push_embeddings(&self, reply: StubReply) {
        lock(&self.shared.embeddings).push_back(reply);
    }

    /// Says how the next batch goes that has no script yet. Default: as [`StubBatch::new`].
    pub fn push_batch(&self, batch: StubBatch) {
        lock(&self.shared.batches).push(batch);
    }

    /// Lets lists of batches have so many on a page. Default: as many as are asked for.
    pub fn list_batches_at_most(&self, batches: usize) {
        lock(&self.shared.batches).list_at_most(batches);
    }

    /// Bounds how many lines of OpenAI's batches may wait at the same time. An order above it is refused after its creation, as
    /// by a full queue of tokens. Default: any number.
    pub fn queue_lines_at_most(&self, lines: usize) {
        lock(&self.shared.batches).hold_at_most(lines);
    }

    /// Lets requests about batches fail.
    pub fn push_batch_fault(&self, fault: StubBatchFault) {
        lock(&self.shared.batches).push_fault(fault);
    }

    /// Forgets all [faults](Self::push_batch_fault).
    pub fn clear_batch_faults(&self) {
        lock(&self.shared.batches).clear_faults();
    }

    /// Returns the lines of all batches that were answered, and so are billed, in the order in which they were answered.
    #[must_use]
    pub fn billed_lines(&self) -> Vec<BilledLine> {
        lock(&self.shared.batches).billed()
    }

    /// Returns how many batches were created.
    #[must_use]
    pub fn batches_seen(&self) -> usize {
        lock(&self.shared.batches).count()
    }

    /// Returns how many files of batches were uploaded or written, and not deleted.
    #[must_use]
    pub fn files_left(&self) -> usize {
        lock(&self.shared.batches).files_left()
    }

    /// Returns how many scripted replies are left.
    #[must_use]
    pub fn replies_left(&self) -> usize {
        lock(&self.shared.script).len()
    }

    /// Returns the log: the requests so far, in the order of their arrival, up to
    /// [`log_limit`](StubServerBuilder::log_limit). An answer is in it before its last byte is sent.
    #[must_use]
    pub fn requests(&self) -> Vec<LoggedRequest> {
        self.shared.log.requests()
    }

    /// Returns how many requests were received, including those beyond the limit of the log.
    #[must_use]
    pub fn requests_seen(&self) -> u64 {
        self.shared.log.seen()
    }

    /// Returns how many connections are open. Once it is 0, what clients sent that are gone, such as a process that was killed, is
    /// answered or dropped.
    #[must_use]
    pub fn open_connections(&self) -> usize {
        self.shared.open_connections.load(Ordering::Relaxed)
    }

    /// Returns the sum of the usage of all answers that were written to their end, including those beyond the limit of the
    /// log.
    #[must_use]
    pub fn usage_totals(&self) -> TokenUsage {
        self.shared.log.totals()
    }

    /// Returns what the prompts so far cost by the rules of [`billing`](StubServerBuilder::billing), in tokens of input at their full
    /// price. Without rules it is 0.
    #[must_use]
    pub fn billed(&self) -> f64 {
        self.shared.billing.as_ref().map_or(0.0, Billing::cost)
    }

    /// Stops the server and waits until its port and all connections are closed.
    pub async fn stop(self) {
        drop(self.stop);
        // The task neither panics nor is aborted, except by the end of the runtime, which closes everything too.
        let _ = self.task.await;
    }
}

impl fmt::Debug for StubServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StubServer")
            .field("base_url", &self.base_url())
            .field("requests_seen", &self.requests_seen())
            .finish_non_exhaustive()
    }
}

/// Settings of a [`StubServer`].
///
/// ```
/// # mod llmnode { pub use llmnode_stub::StubServer; pub mod stub_server { pub use llmnode_stub::*; } }
/// use llmnode::{StubServer, stub_server::StubReply};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
/// # runtime.block_on(async {
/// let busy = StubReply::error(429, "requests", "rate_limit_exceeded", "slow down").retry_after(1);
/// let server = StubServer::builder()
///     .script([busy, StubReply::text("Oslo")]) // one reply for each request, in order
///     .default_reply(StubReply::text("That is all.")) // after the script
///     .on_exchange(|request| println!("{request:?}"))
///     .start()
///     .await?;
/// # drop(server);
/// # Ok::<(), std::io::Error>(()) }).unwrap();
/// ```
#[must_use = "nothing is served until `start`"]
pub struct StubServerBuilder {
    port: u16,
    provider: Option<Provider>,
    api_key: Option<String>,
    models: Vec<String>,
    default_reply: StubReply,
    script: VecDeque<StubReply>,
    embeddings: VecDeque<StubReply>,
    batches: Batches,
    log_limit: usize,
    on_exchange: Option<OnExchange>,
    max_body: usize,
    idle_timeout: Duration,
    billing: Option<CacheRules>,
}

impl StubServerBuilder {
    fn new() -> Self {
        Self {
            port: 0,
            provider: None,
            api_key: None,
            models: vec!["stub".to_owned()],
            default_reply: StubReply::from_schema(),
            script: VecDeque::new(),
            embeddings: VecDeque::new(),
            batches: Batches::default(),
            log_limit: 10_000,
            on_exchange: None,
            max_body: 32 * 1024 * 1024,
            idle_timeout: Duration::MAX,
            billing: None,
        }
    }

    /// Sets the port on 127.0.0.1. Default: a free one.
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// Refuses what this provider refuses, with its status and its words, and serves the APIs that it has: a test against it
    /// fails where production would. Its models think where the provider's do, so that what has to go back to them comes from
    /// the server. Requests that are refused take no reply of the script; [`LoggedRequest::refused_by`] says which rule it was.
    ///
    /// Default: all four APIs, and what every server of an API refuses.
    ///
    /// ```
    /// # mod llmnode { pub use llmnode_stub::StubServer; pub mod stub_server { pub use llmnode_stub::*; } }
    /// use llmnode::{StubServer, stub_server::Provider};
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    /// # runtime.block_on(async {
    /// let server = StubServer::builder().as_provider(Provider::Anthropic).start().await?;
    /// let url = server.base_url(); // for `Anthropic::builder().base_url(..)`
    /// # drop((server, url));
    /// # Ok::<(), std::io::Error>(()) }).unwrap();
    /// ```
    pub fn as_provider(mut self, provider: Provider) -> Self {
        self.provider = Some(provider);
        self
    }

    /// Requires this key as `Authorization: Bearer`, `x-api-key`, `x-goog-api-key` or `api-key`, and answers all other requests
    /// with a 401. Default: no key.
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.api_key = Some(key.into());
        self
    }

    /// Sets the models that `/v1/models` lists. Default: `stub`. Requests may name any model.
    pub fn models(mut self, ids: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.models = ids.into_iter().map(Into::into).collect();
        self
    }

    /// Appends replies to the script, as [`StubServer::push`] does. Default: none.
    pub fn script(mut self, replies: impl IntoIterator<Item = StubReply>) -> Self {
        self.script.extend(replies);
        self
    }

    /// Appends replies for requests to `/v1/embeddings`, as [`StubServer::push_embeddings`] does. Default: none.
    pub fn embeddings_script(mut self, replies: impl IntoIterator<Item = StubReply>) -> Self {
        self.embeddings.extend(replies);
        self
    }

    /// Says how the first batches go, as [`StubServer::push_batch`] does. Default: as [`StubBatch::new`].
    pub fn batches(mut self, batches: impl IntoIterator<Item = StubBatch>) -> Self {
        for batch in batches {
            self.batches.push(batch);
        }
        self
    }

    /// Sets the reply for when the script is empty. Default: [`StubReply::from_schema`].
    pub fn default_reply(mut self, reply: StubReply) -> Self {
        self.default_reply = reply;
        self
    }

    /// Sets how many requests the log keeps. Later ones are answered and counted, but not kept. 0 switches the log off.
    /// Default: 10,000.
    pub fn log_limit(mut self, requests: usize) -> Self {
        self.log_limit = requests;
        self
    }

    /// Calls this function with each request when the server is done with it: answered to its end, broken off, or left by the
    /// client. With [`log_limit`](Self::log_limit) at 0, it serves for logs that are too large for memory. It must not block.
    pub fn on_exchange(
        mut self,
        callback: impl Fn(&LoggedRequest) + Send + Sync + 'static,
    ) -> Self {
        self.on_exchange = Some(Box::new(callback));
        self
    }

    /// Sets the largest body of a request, in bytes. A larger one gets a 413. Default: 32 MiB.
    pub fn max_body_bytes(mut self, bytes: usize) -> Self {
        self.max_body = bytes;
        self
    }

    /// Closes a connection that has waited this long for the head of a request, as servers and proxies do. Default: never.
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = timeout;
        self
    }

    /// Counts the tokens of prompts as a provider's cache would: answers without a usage of their own then say how many were read
    /// and written, and [`StubServer::billed`] what all of them cost. Default: nothing is kept.
    pub fn billing(mut self, rules: CacheRules) -> Self {
        self.billing = Some(rules);
        self
    }

    /// Starts the server.
    ///
    /// # Errors
    /// If there is no tokio runtime, or the port cannot be bound.
    pub async fn start(self) -> io::Result<StubServer> {
        let runtime = tokio::runtime::Handle::try_current().map_err(io::Error::other)?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, self.port)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            provider: self.provider,
            api_key: self.api_key,
            models: self.models,
            default_reply: self.default_reply,
            script: Mutex::new(self.script),
            embeddings: Mutex::new(self.embeddings),
            log: Log::new(self.log_limit),
            batches: Mutex::new(self.batches),
            on_exchange: self.on_exchange,
            max_body: self.max_body,
            idle_timeout: self.idle_timeout,
            billing: self.billing.map(Billing::new),
            open_connections: AtomicUsize::new(0),
        });
        let (stop, stopped) = oneshot::channel();
        let task = runtime.spawn(accept(listener, Arc::clone(&shared), stopped));
        Ok(StubServer {
            address,
            shared,
            stop,
            task,
        })
    }
}

impl fmt::Debug for StubServerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StubServerBuilder")
            .field("port", &self.port)
            .field("provider", &self.provider)
            .field("api_key", &self.api_key.as_ref().map(|_| "[redacted]"))
            .field("script", &self.script)
            .finish_non_exhaustive()
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>, mut stopped: oneshot::Receiver<()>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            _ = &mut stopped => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => { connections.spawn(serve(stream, Arc::clone(&shared))); }
                // Out of file descriptors, or the client left early: the server continues.
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            },
            Some(_) = connections.join_next() => {}
        }
        shared
            .open_connections
            .store(connections.len(), Ordering::Relaxed);
    }
    drop(listener);
    connections.shutdown().await;
}
