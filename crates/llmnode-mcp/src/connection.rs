//! A connection to a server, which is made again when it was lost.
//!
//! A server is first asked in the newest protocol, which begins with
//! `server/discover`; rmcp goes on with the older handshake if the server does not
//! know that. One that ends, or answers nonsense, when it is asked for what it does
//! not know, is connected once more with the older handshake alone. Whatever fails
//! on the way has a category and words of ours: see [`Failure`].

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use llmnode_http::ext::PlainClient;
use llmnode_model::ext::Secret;
use llmnode_runtime::ext::AskedReplies;
use llmnode_runtime::{BoxError, Category, NodeError, ToolReply};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, ClientConfig, Implementation,
    ProtocolVersion,
};
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt, RoleClient, RunningService, ServiceError,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::{Map, Value};
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::asks::{self, Wanted};
use crate::failure::{Failure, may_be_older, of_handshake, of_service};
use crate::http_client::HttpClient;
use crate::process::Program;
use crate::reply::reply;
use crate::secret::{Secrets, token_from_env};
use crate::tool_list::{self, Fetched};

/// For one line or one body.
const MAX_MESSAGE_BYTES: usize = 16 * 1024 * 1024;
/// For all steps of ending a child together.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_ERROR_BYTES: usize = 400;
/// For the answer to `server/discover`; at most a third of the time to connect.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Clone)]
pub(crate) enum Transport {
    Stdio(Program),
    Http { url: String, token: Option<String> },
}

type Service = RunningService<RoleClient, ClientConfig>;

/// A server that has answered.
pub(crate) struct Open {
    service: Service,
    /// A request was accepted, and no answer has come yet.
    accepted: Arc<AtomicBool>,
}

impl Open {
    fn version(&self) -> Option<ProtocolVersion> {
        let info = self.service.peer().peer_info()?;
        Some(info.protocol_version.clone())
    }

    fn is_newest(&self) -> bool {
        self.version() == Some(ProtocolVersion::V_2026_07_28)
    }
}

pub(crate) struct Connection {
    pub(crate) server: String,
    pub(crate) transport: Transport,
    pub(crate) connect_timeout: Duration,
    pub(crate) call_timeout: Duration,
    /// Questions of its tools are passed on.
    pub(crate) asks: bool,
    /// Replaced when a call finds it lost.
    pub(crate) current: Mutex<Option<Arc<Open>>>,
    /// The protocol's version that was last agreed on.
    pub(crate) version: RwLock<Option<String>>,
    /// Some arguments are sent as headers, too, as the list of tools says.
    pub(crate) arguments_in_headers: AtomicBool,
}

/// Why there is no connection.
struct Unopened {
    fault: NodeError,
    /// The older handshake may succeed.
    may_be_older: bool,
}

impl From<NodeError> for Unopened {
    fn from(fault: NodeError) -> Unopened {
        Unopened {
            fault,
            may_be_older: false,
        }
    }
}

impl Connection {
    async fn open(&self) -> Result<Arc<Open>, NodeError> {
        let mut current = self.current.lock().await;
        if let Some(open) = current.as_ref().filter(|open| !open.service.is_closed()) {
            return Ok(Arc::clone(open));
        }
        *current = None;
        let opened = timeout(self.connect_timeout, self.connect()).await;
        let opened =
            opened.unwrap_or_else(|_| Err(self.timed_out("does not answer", self.connect_timeout)));
        let open = Arc::new(opened?);
        self.learn_headers(&open).await;
        *current = Some(Arc::clone(&open));
        Ok(open)
    }

    /// rmcp takes from the list which arguments are sent as headers, too, for as long as a connection lasts. A server refuses calls
    /// without them.
    async fn learn_headers(&self, open: &Open) {
        if !self.arguments_in_headers.load(Ordering::Relaxed) {
            return;
        }
        let peer = open.service.peer();
        let fetched = tool_list::fetch_tools(&self.server, peer, |text| self.without_secrets(text));
        if !matches!(timeout(self.connect_timeout, fetched).await, Ok(Ok(_))) {
            tracing::warn!(
                server = self.server,
                "it does not list its tools again, so it may miss headers of calls"
            );
        }
    }

    async fn connect(&self) -> Result<Open, NodeError> {
        let newest = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: None,
        };
        let open = match self.connect_by(newest, self.asks).await {
            // Older servers ask while a call runs, and nobody could be asked then:
            // they are not told that somebody can.
            Ok(open) if self.asks && !open.is_newest() => {
                drop(open);
                self.connect_by(ClientLifecycleMode::Initialize, false)
                    .await
            }
            Err(unopened) if unopened.may_be_older => {
                tracing::debug!(
                    server = self.server,
                    "connecting in the older protocol: {}",
                    unopened.fault
                );
                self.connect_by(ClientLifecycleMode::Initialize, false)
                    .await
            }
            opened => opened,
        };
        let open = open.map_err(|unopened| unopened.fault)?;
        let version = open.version().map(|version| version.to_string());
        *self.version.write().unwrap_or_else(PoisonError::into_inner) = version;
        Ok(open)
    }

    async fn connect_by(
        &self,
        lifecycle: ClientLifecycleMode,
        asks: bool,
    ) -> Result<Open, Unopened> {
        let implementation = Implementation::new("llmnode", env!("CARGO_PKG_VERSION"));
        // No sampling and no roots: requests from a server are refused.
        let capabilities = if asks {
            asks::capabilities()
        } else {
            ClientCapabilities::default()
        };
        let client = ClientConfig::new(capabilities, implementation)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE);
        match &self.transport {
            Transport::Stdio(program) => self.start(program, client, lifecycle).await,
            Transport::Http { url, .. } => self.reach(url, client, lifecycle).await,
        }
    }

    async fn start(
        &self,
        program: &Program,
        client: ClientConfig,
        lifecycle: ClientLifecycleMode,
    ) -> Result<Open, Unopened> {
        let started = program.start(&self.server, self.probe(), MAX_MESSAGE_BYTES);
        let (transport, log) = started.map_err(|error| {
            let program = program.program.to_string_lossy();
            self.fault(
                Category::ConfigError,
                &format!("`{program}` cannot be started: {error}"),
            )
        })?;
        match client.serve_with_lifecycle(transport, lifecycle).await {
            Ok(service) => Ok(Open {
                service,
                accepted: Arc::default(),
            }),
            Err(error) => {
                let failure = of_handshake(&error);
                let mut why = self.without_secrets(&failure.of_a_connection());
                if let Some(words) = program.log_tail(log, MAX_ERROR_BYTES).await {
                    why = format!("{why}; its log ends with: {words}");
                }
                let fault = self.fault(failure.category, &why);
                Err(Unopened {
                    fault,
                    may_be_older: may_be_older(&error),
                })
            }
        }
    }

    async fn reach(
        &self,
        url: &str,
        client: ClientConfig,
        lifecycle: ClientLifecycleMode,
    ) -> Result<Open, Unopened> {
        let token = self.token()?;
        let http = PlainClient::new(url, token.is_some())
            .map_err(|error| self.fault(Category::ConfigError, &error.message))?;
        let secrets = self.secrets();
        let (http, client_made) = HttpClient::new(http, secrets, self.probe());
        let accepted = Arc::clone(&http.accepted);
        let mut config = StreamableHttpClientTransportConfig::with_uri(url)
            .max_sse_event_size(MAX_MESSAGE_BYTES)
            .max_json_response_size(MAX_MESSAGE_BYTES)
            // A new session would send a call a second time.
            .reinit_on_expired_session(false);
        if let Some(token) = token {
            config = config.auth_header(token.reveal());
        }
        let transport = StreamableHttpClientTransport::with_client(http, config);
        match client.serve_with_lifecycle(transport, lifecycle).await {
            Ok(service) => {
                client_made.send_replace(true);
                Ok(Open { service, accepted })
            }
            Err(error) => Err(Unopened {
                fault: self.failed(&of_handshake(&error)),
                may_be_older: may_be_older(&error),
            }),
        }
    }

    fn probe(&self) -> Duration {
        PROBE_TIMEOUT.min(self.connect_timeout / 3)
    }

    pub(crate) async fn tools(&self) -> Result<Fetched, NodeError> {
        let open = self.open().await?;
        let peer = open.service.peer();
        let fetched = tool_list::fetch_tools(&self.server, peer, |text| self.without_secrets(text));
        match timeout(self.connect_timeout, fetched).await {
            Ok(Ok(fetched)) => {
                let in_headers = fetched.has_arguments_in_headers();
                self.arguments_in_headers
                    .store(in_headers, Ordering::Relaxed);
                Ok(fetched)
            }
            Ok(Err(error)) => {
                let failure = of_service(&error);
                if failure.is_lost {
                    self.lose(&open).await;
                }
                Err(self.failed(&failure))
            }
            Err(_) => Err(self.timed_out("does not list its tools", self.connect_timeout)),
        }
    }

    /// Dropping the future cancels the call at the server.
    pub(crate) async fn call(
        &self,
        tool: String,
        arguments: Map<String, Value>,
        replies: Option<AskedReplies>,
    ) -> Result<ToolReply, BoxError> {
        let open = self
            .open()
            .await
            .map_err(|error| format!("not executed: {error}"))?;
        let call = CallToolRequestParams::new(tool).with_arguments(arguments);
        let mut request = match replies {
            Some(replies) => asks::with_replies(call.clone(), replies),
            None => call.clone(),
        };
        for _ in 0..asks::MOST_ROUNDS {
            let required = match self.call_once(request, &open).await? {
                CallToolResponse::Complete(result) => return self.redact_reply(reply(&result)),
                CallToolResponse::InputRequired(required) => required,
                _ => return Err("the server answers with what this client does not know".into()),
            };
            if !self.asks {
                return Err("the server asks a person, and nobody can be asked here".into());
            }
            match asks::readable(required, |text| self.redact(text))? {
                Wanted::Replies(questions) => return Err(questions.into_error().into()),
                Wanted::Again(state) => {
                    request = call.clone();
                    request.request_state = state;
                }
            }
        }
        Err("the server asks for the same call again and again".into())
    }

    async fn call_once(
        &self,
        request: CallToolRequestParams,
        open: &Arc<Open>,
    ) -> Result<CallToolResponse, BoxError> {
        let called = open.service.peer().call_tool_once(request);
        match timeout(self.call_timeout, called).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(self.call_failed(&error, open).await.into()),
            Err(_) => {
                if open.accepted.load(Ordering::Relaxed) {
                    self.lose(open).await;
                }
                let limit = self.call_timeout;
                Err(format!("no result within {limit:?}; it may have been executed").into())
            }
        }
    }

    async fn call_failed(&self, error: &ServiceError, open: &Arc<Open>) -> String {
        if let ServiceError::McpError(answer) = error
            && asks::is_expired(answer)
        {
            return asks::EXPIRED.to_owned();
        }
        // What the server itself answers is for the model.
        if let ServiceError::McpError(answer) = error
            && Failure::of(answer).is_none()
        {
            let answer = self.without_secrets(&answer.message);
            return if answer.trim().is_empty() {
                "the server refused it, and does not say why".to_owned()
            } else {
                answer
            };
        }
        let failure = of_service(error);
        if failure.is_lost {
            self.lose(open).await;
        }
        self.without_secrets(&failure.of_a_call())
    }

    /// Another call may have reconnected meanwhile.
    async fn lose(&self, open: &Arc<Open>) {
        let mut current = self.current.lock().await;
        if current
            .as_ref()
            .is_some_and(|current| Arc::ptr_eq(current, open))
        {
            *current = None;
        }
    }

    /// Waits until a child has ended.
    pub(crate) async fn close(&self) {
        let Some(open) = self.current.lock().await.take() else {
            return;
        };
        match Arc::try_unwrap(open) {
            Ok(mut open) => drop(open.service.close_with_timeout(CLOSE_TIMEOUT).await),
            // A call is in progress.
            Err(shared) => shared.service.cancellation_token().cancel(),
        }
    }

    fn token(&self) -> Result<Option<Secret>, NodeError> {
        let Transport::Http {
            token: Some(variable),
            ..
        } = &self.transport
        else {
            return Ok(None);
        };
        token_from_env(variable)
            .map(Some)
            .map_err(|why| self.fault(Category::ConfigError, &why))
    }

    pub(crate) fn secrets(&self) -> Secrets {
        match &self.transport {
            Transport::Stdio(program) => Secrets::of_environment(&program.environment),
            Transport::Http { url, token } => Secrets::of_url(url, token.as_deref()),
        }
    }

    fn redact_reply(&self, reply: Result<ToolReply, BoxError>) -> Result<ToolReply, BoxError> {
        let secrets = self.secrets();
        reply
            .map(|reply| reply.map_text(|text| secrets.redact(text)))
            .map_err(|error| secrets.redact(&error.to_string()).into())
    }

    fn redact(&self, text: &str) -> String {
        self.secrets().redact(text)
    }

    fn without_secrets(&self, text: &str) -> String {
        let text = self.redact(text);
        let end = text
            .char_indices()
            .map(|(at, c)| at + c.len_utf8())
            .take_while(|end| *end <= MAX_ERROR_BYTES)
            .last();
        text[..end.unwrap_or(0)].replace(char::is_control, " ")
    }

    fn failed(&self, failure: &Failure) -> NodeError {
        self.fault(
            failure.category,
            &self.without_secrets(&failure.of_a_connection()),
        )
    }

    fn timed_out(&self, what: &str, limit: Duration) -> NodeError {
        self.fault(Category::Timeout, &format!("it {what} within {limit:?}"))
    }

    pub(crate) fn fault(&self, category: Category, why: &str) -> NodeError {
        NodeError::new(category, format!("the MCP server `{}`: {why}", self.server))
    }
}
