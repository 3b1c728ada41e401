//! A tool, whatever it is made of, and the one way in which a call of it runs.
//!
//! What comes in is a call that a model wrote; what goes out is its
//! [`ToolOutcome`]. In this order, and for every tool:
//!
//! 1. The arguments are *read*, and checked. A model that wrote nonsense reads what
//!    is wrong, and nobody is asked.
//! 2. A tool that needs an approval waits for its *permit*. A person may edit the
//!    arguments, so they are read again: what runs was checked as it runs.
//! 3. The call *claims* its decision. Of two processes that continue the same
//!    conversation, one runs the tool.
//! 4. The tool *runs*, as a call of a node where it is one.
//!
//! There are two kinds of lists. A node's own ([`Tools`](super::Tools)) knows the
//! state of the node; a set ([`Toolset`](super::Toolset)) is made before there is a
//! state, so its tools have `()`, and [`Stateless`] puts them on any. The tools
//! themselves are in `typed.rs` (from `#[tool]` or a node) and `dynamic.rs`
//! (functions, graphs, results from outside).

use std::sync::Arc;

use llmnode_model::{BoxFuture, ToolSpec};
use llmnode_reader::OutputSchema;

use super::approval::Permit;
use super::invocation::Invocation;
use super::outcome::ToolOutcome;
use crate::error::NodeError;
use crate::run::cx::Cx;

/// A tool of a node whose state is `S`.
pub(super) trait AnyTool<S: ?Sized>: Send + Sync {
    /// The schema as it is sent: with the values that arguments may have in this state.
    fn sent_schema(&self, state: &S, spec: &ToolSpec) -> Result<Arc<OutputSchema>, NodeError> {
        let _ = state;
        Ok(Arc::clone(&spec.schema))
    }

    /// What can be said against the arguments without running code of the program. `None`: nothing.
    fn argument_fault(&self, spec: &ToolSpec, arguments: &str) -> Option<ToolOutcome>;

    /// Reads and checks the arguments. `Err`: the model reads what is wrong with
    /// them, or why it may not call the tool.
    fn read<'c: 'a, 'a>(
        &'c self,
        cx: Cx<'c, S>,
        spec: &'c ToolSpec,
        arguments: &'a str,
    ) -> BoxFuture<'a, Result<Box<dyn ReadCall + 'c>, ToolOutcome>>;

    /// Whether the program gives the result in place of a function.
    fn is_external(&self) -> bool {
        false
    }

    /// Where a call of it hands off to: it ends the turns of the agent. `None`: it does not.
    fn hands_off(&self) -> Option<usize> {
        None
    }
}

/// A call whose arguments were read.
pub(super) trait ReadCall: Send {
    /// Runs the tool. The permit holds the arguments, for what needs them as they were written.
    fn run<'c>(
        self: Box<Self>,
        invocation: &'c Invocation<'c>,
        permit: &'c Permit,
    ) -> BoxFuture<'c, ToolOutcome>
    where
        Self: 'c;
}

/// Runs a call of a tool.
pub(super) async fn run_tool<S: ?Sized + Sync>(
    tool: &dyn AnyTool<S>,
    spec: &ToolSpec,
    cx: &Cx<'_, S>,
    invocation: &Invocation<'_>,
) -> ToolOutcome {
    let mut permit = Permit::new(invocation, spec.needs_approval);
    let call = loop {
        let arguments = permit.arguments(invocation);
        let call = match tool.read(cx.on(cx.state), spec, arguments).await {
            Ok(call) => call,
            Err(outcome) => return permit.applied_to(outcome),
        };
        match permit.is_granted(cx, invocation).await {
            Ok(true) => break call,
            Ok(false) => {}
            Err(outcome) => return outcome,
        }
    };
    if let Err(taken) = invocation.claim() {
        return ToolOutcome::stopped(taken);
    }
    let outcome = call.run(invocation, &permit).await;
    permit.applied_to(outcome)
}

/// A tool without a state, on any state.
pub(super) struct Stateless(pub(super) Arc<dyn AnyTool<()>>);

impl<S: ?Sized> AnyTool<S> for Stateless {
    fn argument_fault(&self, spec: &ToolSpec, arguments: &str) -> Option<ToolOutcome> {
        self.0.argument_fault(spec, arguments)
    }

    fn read<'c: 'a, 'a>(
        &'c self,
        cx: Cx<'c, S>,
        spec: &'c ToolSpec,
        arguments: &'a str,
    ) -> BoxFuture<'a, Result<Box<dyn ReadCall + 'c>, ToolOutcome>> {
        let cx = Cx {
            context: cx.context,
            state: &(),
        };
        self.0.read(cx, spec, arguments)
    }

    fn is_external(&self) -> bool {
        self.0.is_external()
    }

    fn hands_off(&self) -> Option<usize> {
        self.0.hands_off()
    }
}
