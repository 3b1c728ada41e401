//! A server: its settings, and the connected handle.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use llmnode_runtime::{Category, NodeError, Toolset};
use serde_json::Value;
use tokio::sync::Mutex;

use crate::clean;
use crate::connection::{Connection, Transport};
use crate::process::Program;
use crate::tool_list::{self, LeftOut, ListedTool};

/// An MCP server to connect to.
///
/// ```no_run
/// use llmnode_mcp::Mcp;
///
/// # async fn example() -> Result<(), llmnode_runtime::NodeError> {
/// let files = Mcp::stdio("npx", ["-y", "@modelcontextprotocol/server-filesystem", "notes"])
///     .name("files")
///     .only(["read_text_file", "write_file"])
///     .require_approval(["write_file"])
///     .connect()
///     .await?;
/// let tools = files.tools();
/// # let _ = tools;
/// # Ok(())
/// # }
/// ```
#[must_use = "a server is not asked until `connect`"]
#[derive(Clone)]
pub struct Mcp {
    transport: Transport,
    name: Option<String>,
    only: Option<Vec<String>>,
    approval: Approval,
    connect_timeout: Duration,
    call_timeout: Duration,
    asks: bool,
    faults: Vec<&'static str>,
}

#[derive(Clone)]
enum Approval {
    Named(Vec<String>),
    All,
    AllBut(Vec<String>),
}

impl Mcp {
    /// A program that llmnode starts and talks to over its standard input and output.
    ///
    /// It sees `HOME`, `LOGNAME`, `PATH`, `SHELL`, `TERM` and `USER` of this
    /// program's environment (on Windows, what programs need there to start), and
    /// nothing else; [`env`](Self::env) adds to them. What it writes to its
    /// standard error goes to `tracing` at the level `debug`, up to 64 KiB. It is
    /// ended when the last clone of the [`McpServer`] and of its tools is dropped:
    /// llmnode closes its input, terminates it after 3 s, and kills it after 6 s,
    /// with the processes that did not leave its process group.
    pub fn stdio(
        program: impl Into<OsString>,
        arguments: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Self {
        let arguments = arguments.into_iter().map(Into::into).collect();
        Mcp::new(Transport::Stdio(Program {
            program: program.into(),
            arguments,
            environment: Vec::new(),
            folder: None,
        }))
    }

    /// A server on the network, at this URL (streamable HTTP). Redirects are not followed.
    ///
    /// Servers of the protocol of 2026-07-28 and of all older ones are understood:
    /// the newest is tried first, and `{server:?}` says which one it became.
    pub fn http(url: impl Into<String>) -> Self {
        Mcp::new(Transport::Http {
            url: url.into(),
            token: None,
        })
    }

    fn new(transport: Transport) -> Self {
        Mcp {
            transport,
            name: None,
            only: None,
            approval: Approval::Named(Vec::new()),
            connect_timeout: Duration::from_secs(30),
            call_timeout: Duration::from_secs(60),
            asks: false,
            faults: Vec::new(),
        }
    }

    /// Sets the name of the server. The names of its tools begin with it:
    /// `files_read`. Characters other than `a-z A-Z 0-9 _ -` become `_`. Default:
    /// the name of the program, or the host of the URL.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets an environment variable of the program. A value that is a key, by the
    /// variable's name or by its looks, appears in no error, in no result and in no
    /// text of a tool. A tool whose name or values have it is left out, if it is no
    /// word: of 12 bytes or more, with a digit. The log is without any of the values.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        match &mut self.transport {
            Transport::Stdio(program) => program.environment.push((name.into(), value.into())),
            Transport::Http { .. } => self
                .faults
                .push("`env` is for a program, and this is a URL"),
        }
        self
    }

    /// Sets the folder in which the program runs. Default: this program's own.
    pub fn current_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        match &mut self.transport {
            Transport::Stdio(program) => program.folder = Some(folder.into()),
            Transport::Http { .. } => self
                .faults
                .push("`current_dir` is for a program, and this is a URL"),
        }
        self
    }

    /// Sends the token in this environment variable with every request, as
    /// `Authorization: Bearer`. It is read when a connection is made, and appears
    /// in no error and in no result. A URL that is not `https` takes a token only
    /// on this machine.
    pub fn bearer_env(mut self, variable: impl Into<String>) -> Self {
        match &mut self.transport {
            Transport::Http { token, .. } => *token = Some(variable.into()),
            Transport::Stdio(_) => {
                self.faults
                    .push("`bearer_env` is for a URL; give a program its token with `env`");
            }
        }
        self
    }

    /// Takes only these tools, by the server's own names. Default: all, up to 128.
    pub fn only(mut self, tools: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.only = Some(tools.into_iter().map(Into::into).collect());
        self
    }

    /// Makes these tools wait for an approval before each call. Use the server's own names.
    pub fn require_approval(mut self, tools: impl IntoIterator<Item = impl Into<String>>) -> Self {
        if let Approval::Named(names) = &mut self.approval {
            names.extend(tools.into_iter().map(Into::into));
        }
        self
    }

    /// Makes all tools wait for an approval before each call.
    pub fn require_approval_for_all(mut self) -> Self {
        self.approval = Approval::All;
        self
    }

    /// Makes all tools wait for an approval before each call, but for these, by
    /// their names for models.
    ///
    /// For a program that lets a person say which tools of a server they trust. A
    /// name that no tool has is no error: servers add and remove tools.
    pub fn require_approval_for_all_but(
        mut self,
        tools: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        self.approval = Approval::AllBut(tools.into_iter().map(Into::into).collect());
        self
    }

    /// Sets how long it may take to connect, and to list the tools. Default: 30 s each.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Sets how long a call of a tool may take. After that, llmnode cancels the
    /// call at the server, and the model reads that there is no result. Default: 60
    /// s.
    pub fn call_timeout(mut self, timeout: Duration) -> Self {
        self.call_timeout = timeout;
        self
    }

    /// Lets the server's tools ask a person before they go on, such as for an
    /// amount or a consent: the call of the agent pauses, and
    /// [`Paused::waiting`](llmnode_runtime::Paused::waiting) has each question with
    /// the schema of its answer.
    /// [`answer`](llmnode_runtime::Paused::answer) replies, [`decline`](llmnode_runtime::Paused::decline) refuses. One call may ask
    /// ten times.
    ///
    /// Only servers of the protocol of 2026-07-28 ask so. Without this, a server is
    /// told that nobody can be asked, and says what it needs as an error that the
    /// model reads. Questions for a model's answer, for folders, and those that
    /// lead to other sites are refused.
    ///
    /// ```no_run
    /// use llmnode_mcp::Mcp;
    /// use llmnode_runtime as llmnode;
    /// use llmnode::{BoxError, DynNode, Run};
    /// use serde_json::json;
    ///
    /// # async fn example(run: Run) -> Result<(), BoxError> {
    /// let shop = Mcp::http("https://shop.example/mcp").asks().connect().await?;
    /// let agent = DynNode::builder("refund").text().tools(shop.tools()).build()?;
    /// let node = agent.ask("Refund the order 7.");
    /// let error = run.call(&node).await.unwrap_err();
    /// let Some(paused) = error.paused() else {
    ///     return Err(error.into());
    /// };
    /// let waiting = &paused.waiting()[0];
    /// if let Some(question) = &waiting.question {
    ///     println!("{}", question.message); // How much?
    /// }
    /// let paused = paused.answer(&waiting.id, json!({"euros": 20}))?;
    /// println!("{}", run.call(&node).approve(paused).await?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn asks(mut self) -> Self {
        self.asks = true;
        self
    }

    #[doc(hidden)]
    #[must_use]
    pub fn tools<'a>(&'a self) -> Toolset
    where
        for<'b> &'b &'a Self: BeforeConnect,
    {
        Toolset::new()
    }

    /// Connects, and lists the tools. Call it within a Tokio runtime.
    ///
    /// # Errors
    /// A `config_error` for settings that do not fit together, a program that
    /// cannot be started, tools of `only` and `require_approval` that the server
    /// does not have; `timeout` and `network` for a server that does not answer;
    /// `api_key_error`, `rate_limit_error`, `not_found`, `server_error` and so on
    /// for one that refuses, by its status; `bad_response` for one that answers
    /// something else, such as a web page. A tool that cannot be offered is no
    /// error: see [`McpServer::left_out`].
    pub async fn connect(self) -> Result<McpServer, NodeError> {
        let server = clean::name(
            self.name
                .as_deref()
                .unwrap_or(&self.transport.default_name()),
        );
        let Mcp {
            transport,
            only,
            approval,
            connect_timeout,
            call_timeout,
            asks,
            faults,
            ..
        } = self;
        let connection = Connection {
            server,
            transport,
            connect_timeout,
            call_timeout,
            asks,
            current: Mutex::default(),
            version: RwLock::default(),
            arguments_in_headers: AtomicBool::default(),
        };
        if let Some(fault) = faults.first() {
            return Err(connection.fault(Category::ConfigError, fault));
        }
        let server = McpServer {
            inner: Arc::new(Inner {
                connection: Arc::new(connection),
                only,
                approval,
                tools: RwLock::default(),
                left_out: RwLock::default(),
            }),
        };
        server.refresh().await?;
        Ok(server)
    }
}

impl Transport {
    fn default_name(&self) -> String {
        match self {
            Transport::Stdio(program) => {
                let path = PathBuf::from(&program.program);
                path.file_stem()
                    .map(|name| name.to_string_lossy().into_owned())
                    .unwrap_or_default()
            }
            Transport::Http { url, .. } => {
                let host = url.split_once("://").map_or(&**url, |(_, rest)| rest);
                let host = host.split(['/', '?', '#']).next().unwrap_or_default();
                host.rsplit('@').next().unwrap_or_default().to_owned()
            }
        }
    }
}

/// The compiler's message for the tools of a server that is not connected. No type implements it.
#[diagnostic::on_unimplemented(
    message = "the tools of an MCP server are known when it is connected",
    label = "not connected",
    note = "write `let server = Mcp::stdio(..).connect().await?;`, then `server.tools()`"
)]
pub trait BeforeConnect {}

/// A connected MCP server. Clones share the connection.
///
/// If the connection is lost, the next call of one of its tools connects again. No
/// call is ever sent twice.
#[derive(Clone)]
pub struct McpServer {
    inner: Arc<Inner>,
}

struct Inner {
    connection: Arc<Connection>,
    only: Option<Vec<String>>,
    approval: Approval,
    tools: RwLock<Vec<ListedTool>>,
    left_out: RwLock<LeftOut>,
}

impl From<McpServer> for Toolset {
    /// [`McpServer::tools`].
    fn from(server: McpServer) -> Self {
        server.tools()
    }
}

impl McpServer {
    /// Returns the name that the names of its tools begin with.
    pub fn name(&self) -> &str {
        &self.inner.connection.server
    }

    /// Returns its tools, as they were last listed. Call [`refresh`](Self::refresh)
    /// to see changes of the server.
    ///
    /// Arguments are checked against the server's schema before it is asked. The
    /// model reads the server's text, images and errors as results. If a server is
    /// lost or takes too long, the model reads that, too. After a crash no call is
    /// [repeated](Toolset::idempotent).
    pub fn tools(&self) -> Toolset {
        let tools = self
            .inner
            .tools
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        tools
            .iter()
            .map(|tool| self.tool(tool))
            .fold(Toolset::new(), Toolset::with)
    }

    /// Returns the tools that were left out when they were last listed: their names, and why.
    ///
    /// A tool is left out if it cannot be offered to a model, so that it costs no
    /// other one: it has no schema, or one that is none; it has the name of
    /// another; its schema is too long, has invisible characters, or asks for a
    /// header that the protocol forbids. What is wrong with the list itself stands
    /// under `tools/list`: a page that cannot be read, a list without end. Each is
    /// also a warning of `tracing`.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), llmnode_runtime::NodeError> {
    /// let server = llmnode_mcp::Mcp::http("https://mcp.example/mcp").connect().await?;
    /// for (tool, reason) in server.left_out() {
    ///     eprintln!("{tool}: {reason}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn left_out(&self) -> BTreeMap<String, String> {
        self.inner
            .left_out
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .0
            .clone()
    }

    fn tool(&self, tool: &ListedTool) -> Toolset {
        let ListedTool {
            name_at_server,
            name,
            description,
            schema,
            ..
        } = tool.clone();
        let waits = match &self.inner.approval {
            Approval::Named(names) => names.contains(&name_at_server),
            Approval::All => true,
            Approval::AllBut(names) => !names.contains(&name),
        };
        let connection = Arc::clone(&self.inner.connection);
        let tool =
            Toolset::new().asking_function(name, description, schema, move |arguments, replies| {
                let connection = Arc::clone(&connection);
                let name_at_server = name_at_server.clone();
                let arguments = match arguments {
                    Value::Object(arguments) => arguments,
                    _ => serde_json::Map::new(),
                };
                async move { connection.call(name_at_server, arguments, replies).await }
            });
        let tool = tool.idempotent(false);
        if waits { tool.require_approval() } else { tool }
    }

    /// Returns its tools by their names for models, each with what the server says
    /// that it does: whether it only reads, for example.
    ///
    /// To show it to a person who decides about a call. Nobody has checked that it is true.
    pub fn hints(&self) -> Vec<(String, String)> {
        let tools = self
            .inner
            .tools
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        tools
            .iter()
            .map(|tool| (tool.name.clone(), tool.hints.clone()))
            .collect()
    }

    /// Lists the tools again, and returns them. Sets that were returned before do not change.
    ///
    /// # Errors
    /// The errors of [`Mcp::connect`].
    pub async fn refresh(&self) -> Result<Toolset, NodeError> {
        let Inner {
            connection,
            only,
            approval,
            tools,
            left_out,
        } = &*self.inner;
        let mut fetched = connection.tools().await?;
        let secrets = connection.secrets();
        let listed = tool_list::clean(&connection.server, &mut fetched, only.as_deref(), &|text| {
            secrets.redact(text)
        })
        .map_err(|why| connection.fault(Category::ConfigError, &why))?;
        if let Approval::Named(names) = approval {
            // One that was left out is called by nobody.
            let unknown = names.iter().find(|name| {
                let is_listed = listed.iter().any(|tool| tool.name_at_server == **name);
                !is_listed && !fetched.left_out.0.contains_key(*name)
            });
            if let Some(name) = unknown {
                let why = format!("`require_approval` names {name:?}, which is none of its tools");
                return Err(connection.fault(Category::ConfigError, &why));
            }
        }
        *left_out.write().unwrap_or_else(PoisonError::into_inner) = fetched.left_out;
        *tools.write().unwrap_or_else(PoisonError::into_inner) = listed;
        Ok(self.tools())
    }

    /// Ends the connection, and waits at most 10 s until a program has ended. A
    /// tool that is called afterwards connects again.
    pub async fn close(&self) {
        self.inner.connection.close().await;
    }
}

impl fmt::Debug for Mcp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mcp")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for McpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = self
            .inner
            .connection
            .version
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        f.debug_struct("McpServer")
            .field("name", &self.name())
            .field("protocol", &version.unwrap_or_default())
            .field("tools", &self.tools())
            .field("left_out", &self.left_out())
            .finish()
    }
}
