//! The server, as the program has it.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use llmnode_graph::CheckedRegistry;
use llmnode_runtime::{Category, ChatModel, FnModel, ModelError};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

use crate::api;
use crate::app::App;
use crate::key::Key;
use crate::options::{Options, Registries};
use crate::restore::restore;
use crate::stalled::Stalled;

/// For the head of a request, and for an idle connection.
const HEAD: Duration = Duration::from_secs(10);
/// For a part of an answer that the other end does not read.
const UNREAD: Duration = Duration::from_secs(30);
/// After a connection could not be accepted.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves a local page for graphs: each file is drawn, checked while it is edited,
/// and run with the tools, stores and models of `registry`.
///
/// The page is for the person at this machine: it is bound to 127.0.0.1, and what
/// starts, stops or decides a run needs a key that only [`ServerHandle::url`] has.
/// Loading the page runs nothing.
///
/// ```no_run
/// # mod llmnode { pub use llmnode_graph as graph; pub mod serve { pub use llmnode_serve::serve; } }
/// # use llmnode_runtime::ScriptedModel;
/// use llmnode::graph::Registry;
/// use llmnode::serve::serve; // `llmnode::graph::serve` with the feature `serve`
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let registry = Registry::new().build()?; // with your tools
/// let served = serve(registry).file("support.json").model(ScriptedModel::new()).start().await?;
/// println!("{}", served.url());
/// served.wait().await;
/// # Ok(())
/// # }
/// ```
pub fn serve(registry: CheckedRegistry) -> Serve {
    serve_with(Arc::new(move |_: &str| Ok(registry.clone())))
}

/// Serves graphs whose registry depends on their text. `registries` is called each
/// time that a text is checked or run.
pub fn serve_with(registries: Registries) -> Serve {
    let message = "a node without a profile asks the model of the program, and it has none: \
                   `Serve::model` sets it";
    let missing = FnModel::new(move |_| ModelError::unsent(Category::ConfigError, message));
    Serve {
        options: Options {
            registries,
            files: Vec::new(),
            model: Arc::new(missing),
            requests: 50,
            can_run: true,
            notes: BTreeMap::new(),
            kept: None,
        },
        port: 0,
    }
}

/// Adds what a person is told at the approval of a tool: pairs of a tool's name and
/// the text. Empty texts are left out.
pub fn with_notes(mut serve: Serve, notes: Vec<(String, String)>) -> Serve {
    serve
        .options
        .notes
        .extend(notes.into_iter().filter(|(_, note)| !note.is_empty()));
    serve
}

/// A page for graphs that is not served yet: see [`serve`].
#[must_use]
pub struct Serve {
    options: Options,
    port: u16,
}

impl Serve {
    /// Adds the file of a graph. No other file is opened, but for its subgraphs in
    /// the folder of the registry.
    pub fn file(mut self, file: impl Into<PathBuf>) -> Self {
        self.options.files.push(file.into());
        self
    }

    /// Sets the model of nodes without a profile. Without it, they fail.
    pub fn model(mut self, model: impl ChatModel + 'static) -> Self {
        self.options.model = Arc::new(model);
        self
    }

    /// Sets how many requests a run may make at most; the page can lower it for a run. Default 50.
    pub fn requests(mut self, requests: u64) -> Self {
        self.options.requests = requests;
        self
    }

    /// Sets whether graphs can be run. Default true; without it the page draws and checks.
    pub fn runs(mut self, can_run: bool) -> Self {
        self.options.can_run = can_run;
        self
    }

    /// Keeps runs in a folder, which is made if it is not there and which only its
    /// owner can read: the last 20 with their pages, and a run that waits for a
    /// person, with all that was said in it. After a restart they are there again.
    /// Default: none are kept.
    pub fn keep(mut self, folder: impl Into<PathBuf>) -> Self {
        self.options.kept = Some(folder.into());
        self
    }

    /// Sets the port. Default 0: a free one.
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// Starts the server, in tasks of the current tokio runtime.
    ///
    /// # Errors
    /// The port is taken, a file does not exist, or the system has no random numbers for the key.
    pub async fn start(self) -> io::Result<ServerHandle> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, self.port)).await?;
        let address = listener.local_addr()?;
        let app = Arc::new(App::new(self.options, Key::random()?, address.port())?);
        restore(&app);
        let url = format!("http://{address}/#k={}", app.key.text());
        let watching = tokio::spawn(Arc::clone(&app).watch_files());
        let accepting = tokio::spawn(accept(listener, api::router(Arc::clone(&app))));
        let drawing = tokio::spawn(Arc::clone(&app).draw_steps());
        Ok(ServerHandle {
            address,
            url,
            app,
            tasks: [watching, drawing, accepting],
        })
    }
}

impl fmt::Debug for Serve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Options {
            files,
            requests,
            can_run,
            ..
        } = &self.options;
        f.debug_struct("Serve")
            .field("files", files)
            .field("requests", requests)
            .field("runs", can_run)
            .finish_non_exhaustive()
    }
}

/// A page that is served, until this is dropped. A run under way is stopped then.
#[must_use = "the server stops when this is dropped"]
pub struct ServerHandle {
    address: SocketAddr,
    url: String,
    app: Arc<App>,
    tasks: [JoinHandle<()>; 3],
}

impl ServerHandle {
    /// Returns the address to open in a browser, with the key that runs need.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits for as long as the server runs: until the program ends.
    pub async fn wait(mut self) {
        let [_, _, accepting] = &mut self.tasks;
        // Ends only with the runtime.
        let _ = accepting.await;
    }
}

impl Drop for ServerHandle {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
        self.app.close();
    }
}

/// Without the key.
impl fmt::Debug for ServerHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerHandle")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

/// Connections end with this task: an open page would keep the runs of a server that is gone.
async fn accept(listener: TcpListener, router: axum::Router) {
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = connections.join_next() => continue,
        };
        match accepted {
            Ok((stream, _)) => {
                connections.spawn(connection(stream, router.clone()));
            }
            // Such as too many open files.
            Err(error) => {
                tracing::warn!(target: "llmnode::serve", %error, "a connection was not accepted");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

async fn connection(stream: TcpStream, router: axum::Router) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD);
    let stream = TokioIo::new(Stalled::new(stream, UNREAD));
    let served = http
        .serve_connection(stream, TowerToHyperService::new(router))
        .await;
    if let Err(error) = served {
        tracing::debug!(target: "llmnode::serve", %error, "a connection ended");
    }
}
