//! What a node sees of the run while it executes.

use std::fmt;
use std::pin::pin;

use llmnode_model::{BoxError, Category};

use super::context::{CallContext, Caller};
use crate::error::NodeError;
use crate::limits::{Deadline, Limits, before_deadline};
use crate::settings::Settings;
use crate::validate::AttemptInfo;

/// The context of one execution: the state to read, and a way to call other nodes.
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::{BoxError, Cx, Exec, Node, NodeError, Run, ScriptedModel};
///
/// struct World { name: String }
/// struct Name;
/// struct Greet;
/// # impl Node for Name { type Output = String; const NAME: &'static str = "name"; }
/// # impl Node for Greet { type Output = String; const NAME: &'static str = "greet"; }
/// impl Exec<World> for Name {
///     async fn exec(&self, cx: &Cx<'_, World>) -> Result<String, BoxError> {
///         Ok(cx.state().name.clone())
///     }
/// }
/// impl Exec<World> for Greet {
///     async fn exec(&self, cx: &Cx<'_, World>) -> Result<String, BoxError> {
///         Ok(format!("Hello, {}!", cx.call(&Name).await?)) // its usage and its failure count for this call, too
///     }
/// }
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
/// # runtime.block_on(async {
/// let run = Run::new(ScriptedModel::new()).with_state(World { name: "Ada".into() });
/// assert_eq!(run.call(&Greet).await?, "Hello, Ada!");
///
/// # Ok::<(), NodeError>(()) }).unwrap();
/// ```
pub struct Cx<'r, S: ?Sized> {
    pub(super) context: CallContext<'r>,
    pub(super) state: &'r S,
}

impl<'r, S: ?Sized> Cx<'r, S> {
    /// Returns the state of the run.
    pub fn state(&self) -> &'r S {
        self.state
    }

    /// Returns the settings of this call, such as those of
    /// `run.call(&node).temperature(0.0)`. A node that calls other nodes may pass
    /// them on: `cx.call(&other).settings(cx.settings().clone())`.
    pub fn settings(&self) -> &'r Settings {
        self.context.settings
    }

    /// Which execution of the node this is, counted from 0, and how many there are
    /// at most (`attempts`). [`exec_fallback`](crate::Exec::exec_fallback) follows
    /// the last one.
    pub fn attempt(&self) -> AttemptInfo {
        self.context.attempt
    }

    /// Returns the id of the tool call that this execution belongs to. It stays the
    /// same on every repetition, after a pause, and in another process that resumes
    /// a flow or a map from a journal, so it serves as an idempotency key. `None`:
    /// no model called a tool.
    pub fn call_id(&self) -> Option<String> {
        let (root, path) = self.context.origin?.tool.as_ref()?;
        Some(format!("{root}/{path}"))
    }

    /// Returns whether the run has a model of this name.
    pub fn has_model(&self, name: &str) -> bool {
        self.context.core.models.contains_key(name)
    }

    /// Returns the same context with another state, for nodes that are called on it.
    pub fn with_state<'c, T: ?Sized>(&'c self, state: &'c T) -> Cx<'c, T> {
        self.on(state)
    }

    pub(super) fn on<'c, T: ?Sized>(&'c self, state: &'c T) -> Cx<'c, T> {
        Cx {
            context: self.context,
            state,
        }
    }

    pub(super) fn caller(&self) -> Caller<'_> {
        Caller {
            execution: Some(&self.context),
            ..Caller::default()
        }
    }

    /// What a node made of others passes on to each. `attempts` is included, since
    /// the node is not repeated as a unit; limits and deadline are not, since they
    /// hold for all together.
    pub(crate) fn forwarded_settings(&self) -> Settings {
        Settings {
            limits: Limits::new(),
            deadline: None,
            ..self.context.settings.clone()
        }
    }

    /// Applies the deadline of such a node's call. A deadline of a run or a node
    /// holds for each inner call.
    pub(crate) async fn with_call_deadline<T>(
        &self,
        calls: impl Future<Output = Result<T, NodeError>>,
    ) -> Result<T, BoxError> {
        let CallContext {
            core,
            call,
            settings,
            ..
        } = self.context;
        let deadline = settings
            .deadline
            .and_then(|time| Deadline::of_call(call, time));
        let calls = pin!(calls);
        match before_deadline(deadline.as_ref(), &*core.clock, calls).await {
            Ok(outcome) => Ok(outcome?),
            Err(late) => Err(NodeError::new(Category::Timeout, late).into()),
        }
    }
}

impl<S: ?Sized> fmt::Debug for Cx<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cx {{ node: {:?} }}", self.context.call.node())
    }
}
