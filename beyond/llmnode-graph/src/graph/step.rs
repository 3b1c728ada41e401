//! A node of a graph as a step of its flow.
//!
//! A visit runs the node, and changes nothing: what it writes is in its [`Output`], which the flow applies when the step has
//! succeeded. So a visit that fails, is cancelled or waits leaves the state as it was.

use std::borrow::Cow;
use std::sync::Arc;

use llmnode_flow::flow::{CxExt, PreparedStep};
use llmnode_reader::text::one_line;
use llmnode_runtime::internal::{CxInternals as _, ErrorInternals as _, Origin};
use llmnode_runtime::{
    BoxError, Category, Cx, Exec, Group, Message, Node, NodeError, NodeFacts, Settings, ToolCall,
};
use serde_json::{Map, Value, json};

use crate::graph::approval::ApprovalGate;
use crate::graph::loaded::{GraphStep, LoadedGraph, LoadedNode, NodeContext};
use crate::state::{Logged, State, Turn, Update, text_of};
use crate::template::key;

/// Agents that call each other.
const DEPTH: usize = 8;

/// What a visit will write, in the order in which it is written: a person's edits, the node's own update, and what its branches or
/// inner nodes wrote.
#[derive(Debug, Default)]
pub(crate) struct Output {
    pub(crate) edits: Map<String, Value>,
    pub(crate) taken_over: bool,
    pub(crate) update: Update,
    pub(crate) writes: Vec<Logged>,
    pub(crate) action: Cow<'static, str>,
}

/// The handles that every graph has.
pub(crate) const DEFAULT: &str = "default";
pub(crate) const ERROR: &str = "error";
pub(crate) const REJECTED: &str = "rejected";

/// Begins the key under which a query for a handoff's target is kept.
const HANDED: &str = "_handed_";

pub(crate) fn handoff_key(id: &str) -> String {
    format!("{HANDED}{id}")
}

/// What the target of an error's edge reads.
pub(crate) fn failure(node: &str, error: &NodeError) -> Update {
    let category = error.category().as_str();
    let message = one_line(error.message(), 1000);
    Update::new().with_value(
        ERROR,
        json!({"node": node, "category": category, "message": message}),
    )
}

impl GraphStep {
    /// `Err`: what the model reads instead.
    pub(crate) fn for_call(&self, at: usize) -> Result<Self, &'static str> {
        let callers = [&*self.callers, &[self.at]].concat();
        if callers.contains(&at) {
            return Err("not executed: it is already working on this; try another way");
        }
        if callers.len() >= DEPTH {
            return Err("not executed: too many agents stand within each other; answer without it");
        }
        Ok(GraphStep {
            loaded: Arc::clone(&self.loaded),
            at,
            callers,
            catches: false,
        })
    }

    /// A called agent sees the query and the values, and not the conversation.
    pub(crate) fn state_of_query(query: String, of: &State) -> State {
        of.with_turns(vec![Turn {
            from: None,
            message: Message::user(query),
        }])
    }

    /// Whether it runs as a tool of an agent, and not where the flow is.
    pub(crate) fn is_called(&self) -> bool {
        !self.callers.is_empty()
    }

    pub(crate) fn loaded_node(&self) -> &LoadedNode {
        &self.loaded.loaded_nodes[self.at]
    }

    pub(crate) fn id(&self) -> &str {
        &self.loaded_node().id
    }

    /// The call of a `tool` waits inside the node, where its arguments are known.
    pub(crate) fn waits(&self, at: usize) -> bool {
        let loaded_node = &self.loaded.loaded_nodes[at];
        loaded_node.approval && loaded_node.call.is_none()
    }

    /// Whether the value is of a search, and stands in a fence where a prompt reads it.
    pub(crate) fn is_retrieved(&self, name: &str) -> bool {
        self.loaded.retrieved.contains(key(name))
    }

    /// Whether the file declares the value, so that no model may write it unasked.
    pub(crate) fn is_declared(&self, key: &str) -> bool {
        self.loaded.rules.0.contains_key(key) || self.loaded.inputs.declared.contains_key(key)
    }

    pub(crate) async fn run_subgraph(&self, cx: &Cx<'_, State>) -> Result<Update, BoxError> {
        let Some(graph) = &self.loaded_node().subgraph else {
            return Err(NodeError::new(Category::ConfigError, "this node has no subgraph").into());
        };
        let (state, _) = cx.flow(graph, cx.state().clone()).await?;
        Ok(Update::new().with_message(Message::assistant(state.last_text())))
    }

    fn call(&self, cx: &Cx<'_, State>) -> Result<Option<ToolCall>, NodeError> {
        let calling = self
            .loaded_node()
            .call
            .as_ref()
            .filter(|_| self.loaded_node().approval);
        calling
            .map(|calling| {
                calling.call(&NodeContext {
                    cx,
                    step: self,
                    approved: None,
                })
            })
            .transpose()
    }

    async fn visit(
        &self,
        cx: &Cx<'_, State>,
        approved: Option<&ToolCall>,
    ) -> Result<Update, BoxError> {
        let visit = NodeContext {
            cx,
            step: self,
            approved,
        };
        cx.yield_in_time().await?;
        let mut update = self.loaded_node().node.exec(&visit).await?;
        update.untrusted |= self.loaded_node().untrusted;
        Ok(update)
    }

    async fn run_caught(
        &self,
        cx: &Cx<'_, State>,
        approved: Option<&ToolCall>,
    ) -> Result<Update, NodeError> {
        match self
            .visit(cx, approved)
            .await
            .map_err(NodeError::of_execution)
        {
            Err(error) if self.catches && error.category().group() != Group::Stop => {
                Ok(failure(self.id(), &error).with_action(ERROR))
            }
            outcome => outcome,
        }
    }

    async fn run_step(&self, cx: &Cx<'_, State>) -> Result<Output, NodeError> {
        let call = self.call(cx)?;
        let gate = ApprovalGate::new(self, cx, call.as_ref()).await?;
        let (edits, approved, within) = match &gate {
            ApprovalGate::Open => (Map::new(), None, None),
            ApprovalGate::Decided(edits) => (edits.clone(), None, None),
            ApprovalGate::Call(call, within) => (Map::new(), Some(call), within.as_ref()),
            ApprovalGate::Within(paused, edits) => (edits.clone(), None, Some(paused)),
            ApprovalGate::Refused(why) => return self.refused(why),
        };
        let (state, taken_over) = self.own_state(cx.state(), &edits);
        let origin = within.map(Origin::paused);
        let seen = cx.with_origin(origin.as_ref());
        let outcome = match &state {
            Some(state) => self.run_caught(&seen.with_state(state), approved).await,
            None => self.run_caught(&seen, approved).await,
        };
        let update = outcome.map_err(|error| {
            self.paused_within(cx.state(), error, &edits, call.as_ref(), approved)
        })?;
        Ok(Output {
            edits,
            taken_over,
            ..self.output(update)
        })
    }

    fn output(&self, mut update: Update) -> Output {
        let action = update
            .action
            .take()
            .map_or(Cow::Borrowed(DEFAULT), Cow::Owned);
        Output {
            update,
            action,
            ..Output::default()
        }
    }

    fn refused(&self, why: &str) -> Result<Output, NodeError> {
        if self.is_called() {
            let refusal = format!("not allowed: {}", one_line(why, 500));
            return Ok(self.output(Update::new().with_message(Message::assistant(refusal))));
        }
        if self.loaded_node().rejected_edge {
            return Ok(self.output(Update::new().with_action(REJECTED)));
        }
        let message = format!(
            "`{}` was not allowed to run: {}",
            self.id(),
            one_line(why, 500)
        );
        Err(NodeError::new(Category::Aborted, message))
    }

    /// `None`: the flow's state. Has a person's edits, and after a handoff the query as its only message. Also whether there was one.
    fn own_state(&self, state: &State, edits: &Map<String, Value>) -> (Option<State>, bool) {
        let query = state
            .values
            .get(&handoff_key(self.id()))
            .map(|query| text_of(query).into_owned());
        let is_handed = query.is_some();
        let mut own_state = match query {
            Some(query) => GraphStep::state_of_query(query, state),
            None if edits.is_empty() => return (None, false),
            None => state.with_turns(state.turns.clone()),
        };
        own_state.values.extend(edits.clone());
        (Some(own_state), is_handed)
    }
}

impl Node for GraphStep {
    type Output = Output;
    const NAME: &'static str = "graph_node";
    const FACTS: NodeFacts = NodeFacts::new().retries_itself(true);

    fn name(&self) -> Cow<'static, str> {
        Cow::Owned(self.id().to_owned())
    }

    fn settings(&self) -> &Settings {
        &self.loaded_node().settings
    }
}

impl Exec<State> for GraphStep {
    async fn exec(&self, cx: &Cx<'_, State>) -> Result<Output, BoxError> {
        // A call that waits for a person is shown even if an agent makes it.
        if self.is_called() && !(self.loaded_node().approval && self.loaded_node().call.is_some()) {
            return Ok(self.output(self.visit(cx, None).await?));
        }
        Ok(self.run_step(cx).await?)
    }
}

impl PreparedStep<State> for GraphStep {
    type Action = String;

    fn post(self, output: Output, state: &mut State) -> Result<String, BoxError> {
        if output.taken_over {
            state.values.remove(&handoff_key(self.id()));
        }
        output.write(self.id(), &self.loaded, state)
    }
}

impl Output {
    pub(crate) fn write(
        self,
        id: &str,
        loaded: &LoadedGraph,
        state: &mut State,
    ) -> Result<String, BoxError> {
        let Output {
            edits,
            update,
            writes,
            action,
            ..
        } = self;
        loaded.rules.set(edits, state)?;
        loaded.rules.apply(id, update, state)?;
        for Logged { from, update } in writes {
            loaded.rules.apply(&from, update, state)?;
        }
        // Empty means default, and needs no allocation.
        Ok(if action == DEFAULT {
            String::new()
        } else {
            action.into_owned()
        })
    }

    /// What the visit answers as a tool: the last message that it wrote, else the last value.
    pub(crate) fn answer(&self) -> String {
        let mut last_value = None;
        let updates = self.writes.iter().map(|write| &write.update);
        for update in updates.chain([&self.update]).rev() {
            if let Some(message) = update.messages.last() {
                return message.content.clone();
            }
            if last_value.is_none() {
                last_value = update.values.iter().next_back();
            }
        }
        match last_value {
            Some((_, value)) => text_of(value).into_owned(),
            None => "done".to_owned(),
        }
    }
}
