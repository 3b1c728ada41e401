//! A process that executes flows.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::time::Duration;

use hyper::server::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use llmnode::flow::RunFlow;
use llmnode::journal::ReplayStart;
use llmnode::{BoxError, Category, Node, NodeError, Run};
use restate_sdk::endpoint::{Endpoint, HandlerOptions, ServiceOptions};
use restate_sdk::hyper::HyperEndpoint;
use restate_sdk::prelude::IntoServiceDefinition;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::net::{TcpListener, ToSocketAddrs};
use tokio::sync::watch;

use crate::flow_service::{FlowService, flow_service};
use crate::wire::bad_name;
use crate::workflow::Workflow;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const MAX_ENTRY: u64 = 8 * 1024 * 1024;

/// A process that executes flows; there may be as many as you like. It has nothing
/// on its disk: what Restate keeps is all that another worker needs to go on.
///
/// ```no_run
/// use llmnode::prelude::*;
/// use llmnode_restate::Worker;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize)]
/// struct Order {
///     text: String,
///     answer: String,
/// }
///
/// #[llm_node(prompt = "Answer: {text}", state = Order, store = answer)]
/// struct Answer {
///     #[prep(state.text.clone())]
///     text: String,
/// }
///
/// flow! { Desk(Order): Answer => end }
///
/// # async fn example(model: ScriptedModel) -> Result<(), NodeError> {
/// Worker::new()
///     .flow("desk", move |order: Order| {
///         let model = model.clone();
///         async move { Ok(Run::new(model).with_state(order)) }
///     }, || Desk)
///     .serve("127.0.0.1:9080").await
/// # }
/// ```
pub struct Worker {
    flows: Vec<(String, FlowService)>,
    settling: Vec<fn(ReplayStart) -> ReplayStart>,
    identity_keys: Vec<String>,
    retention: Duration,
    inactivity: Duration,
    grace: Duration,
    max_entry: u64,
}

impl Default for Worker {
    fn default() -> Self {
        Worker::new()
    }
}

impl Worker {
    /// Creates a worker without flows.
    pub fn new() -> Self {
        Worker {
            flows: Vec::new(),
            settling: Vec::new(),
            identity_keys: Vec::new(),
            retention: DAY,
            inactivity: Duration::from_secs(15 * 60),
            grace: Duration::from_secs(25),
            max_entry: MAX_ENTRY,
        }
    }

    /// Adds a flow under a name. The function makes the run from the input of
    /// [`Client::start`](crate::Client::start): for each start, and again after
    /// each crash and each pause. What it returns for an input should be the same
    /// in all workers; the state only counts the first time.
    ///
    /// If it fails, the run fails, with one exception: a [`NodeError`] of the
    /// [transport](llmnode::Group::Transport) is tried again.
    #[must_use]
    pub fn flow<I, S, F, M>(
        mut self,
        name: impl Into<String>,
        make: impl Fn(I) -> M + Send + Sync + 'static,
        flow: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self
    where
        I: DeserializeOwned + Send + 'static,
        M: Future<Output = Result<Run<S>, BoxError>> + Send + 'static,
        S: Serialize + DeserializeOwned + Send + Sync + 'static,
        F: for<'r> RunFlow<'r, S, Action: Serialize + DeserializeOwned + Send> + Send + 'static,
    {
        self.flows.push((name.into(), flow_service(make, flow)));
        self
    }

    /// Adds a graph from a file. The input is an object of the graph's inputs. The
    /// function makes the run, such as `registry.run(model)`; the outcome has the
    /// graph's state.
    #[cfg(feature = "graph")]
    #[must_use]
    pub fn graph<M>(
        mut self,
        name: impl Into<String>,
        make: impl Fn() -> M + Send + Sync + 'static,
        graph: llmnode::graph::Graph,
    ) -> Self
    where
        M: Future<Output = Result<Run, BoxError>> + Send + 'static,
    {
        self.flows
            .push((name.into(), crate::flow_service::graph_service(make, graph)));
        self
    }

    /// Lets an output of this node, as JSON, settle a call of it that is in doubt:
    /// see [`Client::happened`](crate::Client::happened). The node has `idempotent
    /// = false`.
    #[must_use]
    pub fn settles<N>(mut self) -> Self
    where
        N: Node + 'static,
        N::Output: DeserializeOwned,
    {
        self.settling.push(|start| start.settles::<N>());
        self
    }

    /// Serves only the Restate that signs with the private key of this public one,
    /// `publickeyv1_…`. Without a key, whoever reaches the worker can start flows
    /// with any journal.
    #[must_use]
    pub fn identity_key(mut self, key: impl Into<String>) -> Self {
        self.identity_keys.push(key.into());
        self
    }

    /// Sets how long Restate keeps what came of a run, its status, and its journal,
    /// which has **every state, answer and result of a tool in clear**. The default
    /// is a day.
    #[must_use]
    pub fn retention(mut self, retention: Duration) -> Self {
        self.retention = retention;
        self
    }

    /// Sets how long one entry may take, which is a request or a tool. What takes
    /// five minutes longer is taken from this worker and made again. The default is
    /// 15 minutes. It should be twice the longest `attempt_timeout`. A run that
    /// waits for people leaves its worker after this time.
    #[must_use]
    pub fn entry_timeout(mut self, most: Duration) -> Self {
        self.inactivity = most;
        self
    }

    /// Sets how long requests and tools under way may take when the worker is to
    /// end. What takes longer is made again elsewhere. The default is 25 seconds,
    /// since Kubernetes kills after 30.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Sets how many bytes an entry may have; it holds the state after a step, an
    /// answer or the result of a tool. A run with a longer one fails as `aborted`.
    /// The default is 8 MiB.
    #[must_use]
    pub fn max_entry(mut self, bytes: u64) -> Self {
        self.max_entry = bytes;
        self
    }

    /// Serves until SIGTERM or Ctrl-C. Then requests and tools under way are
    /// finished, and other workers go on.
    ///
    /// # Errors
    /// A `config_error`: a name or a key is wrong, two flows have one name, or the
    /// address cannot be had.
    pub async fn serve(self, address: impl ToSocketAddrs) -> Result<(), NodeError> {
        let listener = TcpListener::bind(address)
            .await
            .map_err(|error| wrong(format!("the address: {error}")))?;
        self.serve_until(listener, terminated()).await
    }

    /// Serves on a listener until the future is ready.
    ///
    /// # Errors
    /// Those of [`serve`](Worker::serve).
    pub async fn serve_until(
        self,
        listener: TcpListener,
        end: impl Future<Output = ()> + Send,
    ) -> Result<(), NodeError> {
        let grace = self.grace;
        let address = listener
            .local_addr()
            .map_err(|error| wrong(error.to_string()))?;
        if self.identity_keys.is_empty() && !address.ip().is_loopback() {
            tracing::warn!(target: "llmnode::restate", %address, "whoever reaches this worker can \
             start flows: it has no identity key");
        }
        let (is_ending, ending) = watch::channel(false);
        let endpoint = HyperEndpoint::new(self.endpoint(ending)?);
        let connections = GracefulShutdown::new();
        let mut end = std::pin::pin!(end);
        loop {
            let stream = tokio::select! {
                () = &mut end => break,
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => stream,
                    Err(error) => {
                        tracing::warn!(target: "llmnode::restate", %error, "a connection was not accepted");
                        // Such as too many open files.
                        tokio::time::sleep(Duration::from_millis(100)).await;
                        continue;
                    }
                },
            };
            // Without it, each entry waits some 40 ms for a delayed acknowledgement.
            if let Err(error) = stream.set_nodelay(true) {
                tracing::warn!(target: "llmnode::restate", %error, "TCP_NODELAY is not set");
            }
            let served = http2::Builder::new(TokioExecutor::new())
                .timer(TokioTimer::new())
                .serve_connection(TokioIo::new(stream), endpoint.clone());
            let served = connections.watch(served);
            tokio::spawn(async move {
                if let Err(error) = served.await {
                    tracing::debug!(target: "llmnode::restate", %error, "a connection broke");
                }
            });
        }
        drop(listener);
        let _ = is_ending.send(true);
        if tokio::time::timeout(grace, connections.shutdown())
            .await
            .is_err()
        {
            tracing::warn!(target: "llmnode::restate", ?grace, "not all requests and tools under way have ended");
        }
        Ok(())
    }

    fn endpoint(self, ending: watch::Receiver<bool>) -> Result<Endpoint, NodeError> {
        let mut flows = HashMap::new();
        for (name, flow) in self.flows {
            if let Some(fault) = bad_name(&name) {
                return Err(wrong(fault));
            }
            if flows.insert(name.clone(), flow).is_some() {
                return Err(wrong(format!("two flows are named {name:?}")));
            }
        }
        let workflow = Workflow {
            flows,
            settling: self.settling.into(),
            max_entry: self.max_entry,
            ending,
        };
        let run = HandlerOptions::new()
            .inactivity_timeout(self.inactivity)
            .abort_timeout(Duration::from_secs(5 * 60))
            .workflow_retention(self.retention)
            .journal_retention(self.retention);
        let options = ServiceOptions::new()
            .journal_retention(self.retention)
            // Restate's own pauses a run after an hour without a worker or a model.
            .retry_policy_initial_interval(Duration::from_millis(200))
            .retry_policy_exponentiation_factor(2.0)
            .retry_policy_max_interval(Duration::from_secs(60))
            .retry_policy_max_attempts(u32::MAX.into())
            .handler("run", run);
        let builder = Endpoint::builder().bind(workflow.into_service_definition().options(options));
        let signed = self
            .identity_keys
            .iter()
            .try_fold(builder, |builder, key| builder.identity_key(key));
        Ok(signed
            .map_err(|error| wrong(format!("the identity key: {error}")))?
            .build())
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.flows.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Worker")
            .field("flows", &names)
            .finish_non_exhaustive()
    }
}

fn wrong(message: String) -> NodeError {
    NodeError::new(Category::ConfigError, message)
}

#[cfg(unix)]
async fn terminated() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => tokio::select! {
            _ = terminate.recv() => {}
            _ = tokio::signal::ctrl_c() => {}
        },
        Err(_) => drop(tokio::signal::ctrl_c().await),
    }
}

#[cfg(not(unix))]
async fn terminated() {
    let _ = tokio::signal::ctrl_c().await;
}
