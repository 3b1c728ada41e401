//! A connection to a server, which is made again when it was lost.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use llmnode_http::__private::PlainClient;
use llmnode_runtime::{BoxError, Category, NodeError, ToolReply};
use rmcp::ServiceExt;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, ClientConfig, Implementation,
};
use rmcp::service::{RoleClient, RunningService, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::{Map, Value};
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::http_client::HttpClient;
use crate::process::Program;
use crate::reply::reply;
use crate::secret::Token;
use crate::tool_list;

/// For one line or one body.
const MAX_MESSAGE_BYTES: usize = 16 * 1024 * 1024;
/// For all steps of ending a child together.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_ERROR_BYTES: usize = 400;

#[derive(Clone)]
pub(crate) enum Transport {
    Stdio(Program),
    Http { url: String, token: Option<String> },
}

type Service = RunningService<RoleClient, ClientConfig>;

pub(crate) struct Connection {
    pub(crate) server: String,
    pub(crate) transport: Transport,
    pub(crate) connect_timeout: Duration,
    pub(crate) call_timeout: Duration,
    /// Replaced when a call finds it lost.
    pub(crate) current: Mutex<Option<Arc<Service>>>,
}

impl Connection {
    pub(crate) async fn service(&self) -> Result<Arc<Service>, NodeError> {
        let mut current = self.current.lock().await;
        if let Some(service) = current.as_ref().filter(|service| !service.is_closed()) {
            return Ok(Arc::clone(service));
        }
        *current = None;
        let made = timeout(self.connect_timeout, self.connect()).await;
        let made = made.unwrap_or_else(|_| Err(self.timed_out("does not answer", self.connect_timeout)));
        let service = Arc::new(made?);
        *current = Some(Arc::clone(&service));
        Ok(service)
    }

    async fn connect(&self) -> Result<Service, NodeError> {
        let own = Implementation::new("llmnode", env!("CARGO_PKG_VERSION"));
        // No sampling, elicitation or roots: requests from a server are refused.
        let client = ClientConfig::new(ClientCapabilities::default(), own);
        match &self.transport {
            Transport::Stdio(program) => {
                let (transport, log) = program.start(&self.server).map_err(|error| {
                    let program = program.program.to_string_lossy();
                    self.fault(Category::ConfigError, &format!("`{program}` cannot be started: {error}"))
                })?;
                match client.serve(transport).await {
                    Ok(service) => Ok(service),
                    Err(error) => Err(match program.log_tail(log, MAX_ERROR_BYTES).await {
                        Some(words) => self.fault(
                            Category::Network,
                            &format!("{}; its log ends with: {words}", chain(&error)),
                        ),
                        None => self.network_error(&error),
                    }),
                }
            }
            Transport::Http { url, .. } => {
                let token = self.token()?;
                let (http, made) = PlainClient::new(url, token.is_some())
                    .map(HttpClient::new)
                    .map_err(|error| self.fault(Category::ConfigError, &error.message))?;
                let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
                    .max_sse_event_size(MAX_MESSAGE_BYTES)
                    .max_json_response_size(MAX_MESSAGE_BYTES)
                    // A new session would send a call a second time.
                    .reinit_on_expired_session(false);
                if let Some(token) = token {
                    config = config.auth_header(token.reveal());
                }
                let transport = StreamableHttpClientTransport::with_client(http, config);
                let service = client.serve(transport).await.map_err(|error| self.network_error(&error))?;
                made.send_replace(true);
                Ok(service)
            }
        }
    }

    pub(crate) async fn tools(&self) -> Result<Vec<rmcp::model::Tool>, NodeError> {
        let service = self.service().await?;
        match timeout(self.connect_timeout, tool_list::fetch_tools(&self.server, service.peer())).await {
            Ok(tools) => tools.map_err(|error| self.network_error(&error)),
            Err(_) => Err(self.timed_out("does not list its tools", self.connect_timeout)),
        }
    }

    /// Dropping the future cancels the call at the server.
    pub(crate) async fn call(
        &self,
        tool: String,
        arguments: Map<String, Value>,
    ) -> Result<ToolReply, BoxError> {
        let service = self.service().await.map_err(|error| format!("not executed: {error}"))?;
        let request = CallToolRequestParams::new(tool).with_arguments(arguments);
        let response = match timeout(self.call_timeout, service.peer().call_tool_once(request)).await {
            Ok(response) => response,
            Err(_) => {
                return Err(
                    format!("no result within {:?}; it may have been executed", self.call_timeout).into()
                );
            }
        };
        match response {
            Ok(CallToolResponse::Complete(result)) => self.redact_reply(reply(&result)),
            Ok(_) => Err("the server asks for more than a call, which is not supported".into()),
            Err(ServiceError::McpError(error)) => Err(self.without_token(&error.message).into()),
            Err(error) => {
                self.lose(&service).await;
                let why = self.without_token(&chain(&error));
                Err(format!("the server of this tool was lost, and it may have been executed: {why}").into())
            }
        }
    }

    /// Another call may have reconnected meanwhile.
    async fn lose(&self, service: &Arc<Service>) {
        let mut current = self.current.lock().await;
        if current.as_ref().is_some_and(|current| Arc::ptr_eq(current, service)) {
            *current = None;
        }
    }

    /// Waits until a child has ended.
    pub(crate) async fn close(&self) {
        let Some(service) = self.current.lock().await.take() else { return };
        match Arc::try_unwrap(service) {
            Ok(mut service) => drop(service.close_with_timeout(CLOSE_TIMEOUT).await),
            // A call is in progress.
            Err(shared) => shared.cancellation_token().cancel(),
        }
    }

    fn token(&self) -> Result<Option<Token>, NodeError> {
        let Transport::Http { token: Some(variable), .. } = &self.transport else { return Ok(None) };
        Token::from_env(variable).map(Some).map_err(|why| self.fault(Category::ConfigError, &why))
    }

    fn redact_reply(&self, reply: Result<ToolReply, BoxError>) -> Result<ToolReply, BoxError> {
        match self.token() {
            Ok(Some(token)) => reply
                .map(|reply| reply.map_text(|text| token.redact(text)))
                .map_err(|error| token.redact(&error.to_string()).into()),
            _ => reply,
        }
    }

    fn without_token(&self, text: &str) -> String {
        let text = match self.token() {
            Ok(Some(token)) => token.redact(text),
            _ => text.to_owned(),
        };
        let end = text
            .char_indices()
            .map(|(at, c)| at + c.len_utf8())
            .take_while(|end| *end <= MAX_ERROR_BYTES)
            .last();
        text[..end.unwrap_or(0)].replace(char::is_control, " ")
    }

    fn network_error(&self, error: &dyn Error) -> NodeError {
        self.fault(Category::Network, &self.without_token(&chain(error)))
    }

    fn timed_out(&self, what: &str, limit: Duration) -> NodeError {
        self.fault(Category::Timeout, &format!("it {what} within {limit:?}"))
    }

    pub(crate) fn fault(&self, category: Category, why: &str) -> NodeError {
        NodeError::new(category, format!("the MCP server `{}`: {why}", self.server))
    }
}

fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = error.source();
    }
    text
}
