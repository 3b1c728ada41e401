//! The tools of a node.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use llmnode_model::internal::catch_panic_async;
use llmnode_model::{BoxFuture, ToolSpec};
use llmnode_reader::OutputSchema;
use llmnode_reader::ask::fault;

use super::any_tool::{AnyTool, Stateless, run_tool};
use super::invocation::Invocation;
use super::outcome::ToolOutcome;
use super::toolset::Toolset;
use super::typed::{StatelessTool, Tool, TypedTool, spec};
use crate::error::NodeError;
use crate::node::Node;
use crate::run::compaction::{ByNode, Compact, SumUp, Summary, Transcript};
use crate::run::context::CallContext;
use crate::run::cx::Cx;
use crate::run::node::Exec;

/// Including the answer.
const TURNS: u32 = 10;

/// The tools that a model may call in one call of a node. Generated code fills it.
pub struct Tools<S: ?Sized> {
    list: Vec<Entry<S>>,
    turns: u32,
    compact: Option<Compact>,
    summariser: Option<Box<dyn SumUp<S>>>,
    faults: Vec<String>,
}

struct Entry<S: ?Sized> {
    spec: ToolSpec,
    tool: Box<dyn AnyTool<S>>,
}

impl<S: ?Sized> Default for Tools<S> {
    fn default() -> Self {
        Tools {
            list: Vec::new(),
            turns: TURNS,
            compact: None,
            summariser: None,
            faults: Vec::new(),
        }
    }
}

impl<S: ?Sized> Tools<S> {
    /// Adds a tool of a node that names no state.
    pub fn add_to_stateless<N: StatelessTool<S>>(&mut self) {
        self.add::<N>();
    }

    /// Adds a tool.
    pub fn add<N: Tool<S>>(&mut self) {
        match N::arguments().source.schema() {
            Ok(Some(schema)) => self.list.push(Entry {
                spec: spec::<N, S>(schema),
                tool: Box::new(TypedTool::<N>::new()),
            }),
            Ok(None) => self.faults.push(format!(
                "the tool {:?} has no arguments that can be read",
                N::NAME
            )),
            Err(fault) => self
                .faults
                .push(format!("the arguments of the tool {:?}: {fault}", N::NAME)),
        }
    }

    /// Adds the tools of a set.
    pub fn extend(&mut self, tools: &Toolset) {
        for tool in tools.tools() {
            self.list.push(Entry {
                spec: tool.listed(),
                tool: Box::new(Stateless(Arc::clone(&tool.tool))),
            });
        }
    }

    /// Sets how many responses there are at most.
    pub fn turns(&mut self, turns: u32) {
        self.turns = turns;
    }

    /// Sets how a long conversation is kept short.
    pub fn compact(&mut self, rules: Compact) {
        self.faults.extend(rules.fault());
        self.compact = Some(rules);
    }

    /// Sets the node that sums up what is too long.
    pub fn summed_up_by<N>(&mut self, make: fn(Transcript) -> N)
    where
        S: Sync,
        N: Exec<S> + Node<Output = Summary> + Send + 'static,
    {
        self.summariser = Some(Box::new(ByNode(make)));
    }

    /// The same, of a node that is known at run time.
    pub(crate) fn summed_up(&mut self, summariser: Box<dyn SumUp<S>>) {
        self.summariser = Some(summariser);
    }

    pub(in crate::run) fn summariser(&self) -> Option<&dyn SumUp<S>> {
        self.summariser.as_deref()
    }

    pub(in crate::run) fn compact_rules(&self) -> Option<Compact> {
        self.compact
    }

    pub(in crate::run) fn most_turns(&self) -> u32 {
        self.turns
    }

    pub(in crate::run) fn listed(&self, state: &S) -> Result<Arc<[ToolSpec]>, NodeError> {
        if self.list.is_empty() {
            return Ok(Arc::default());
        }
        let mut listed = Vec::with_capacity(self.list.len());
        for Entry { spec, tool } in &self.list {
            let mut spec = spec.clone();
            spec.schema = tool.sent_schema(state, &spec)?;
            listed.push(spec);
        }
        Ok(listed.into())
    }

    fn specs(&self) -> impl Iterator<Item = &ToolSpec> {
        self.list.iter().map(|entry| &entry.spec)
    }

    /// Runs a call of the tool at this place of the list. `None`: there is no such tool.
    pub(in crate::run) fn execute<'c>(
        &'c self,
        at: usize,
        state: &'c S,
        context: &'c CallContext<'c>,
        invocation: &'c Invocation<'c>,
    ) -> Option<BoxFuture<'c, ToolOutcome>>
    where
        S: Sync,
    {
        let Entry { spec, tool } = self.list.get(at)?;
        Some(Box::pin(async move {
            let context = CallContext {
                origin: Some(&invocation.origin),
                ..*context
            };
            let cx = Cx { context, state };
            let outcome = catch_panic_async(|| run_tool(&**tool, spec, &cx, invocation));
            outcome.await.unwrap_or_else(|_| ToolOutcome::panicked())
        }))
    }

    /// Where a call of the tool at this place hands off to. `None`: it does not.
    pub(in crate::run) fn hands_off(&self, at: usize) -> Option<usize> {
        self.list.get(at)?.tool.hands_off()
    }

    /// Checks names, which the compiler cannot. Reports all faults at once.
    pub(in crate::run) fn check(&self, answer: Option<&OutputSchema>) -> Result<(), NodeError> {
        let mut names = BTreeSet::new();
        let mut faults = self.faults.clone();
        for ToolSpec { name, schema, .. } in self.specs() {
            if !names.insert(name) {
                faults.push(format!(
                    "two tools are called {name:?}; give one of them another name"
                ));
            }
            if answer.is_some_and(|answer| answer.name() == name) {
                faults.push(format!(
                    "a tool and the output are both called {name:?}; rename one of them"
                ));
            }
            if let Some(fault) = fault(schema) {
                faults.push(format!(
                    "no provider takes the schema of the tool {name:?}: {fault}"
                ));
            }
            if !is_name(name) {
                let fault = format!(
                    "providers do not accept the tool name {name:?}: use 1 to 64 of the characters `a-z A-Z 0-9 _ -`"
                );
                faults.push(fault);
            }
        }
        NodeError::refuse(faults)
    }
}

fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    (1..=64).contains(&name.len()) && name.chars().all(fits)
}

impl<S: ?Sized> fmt::Debug for Tools<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.specs()).finish()
    }
}
