//! Approval: a node that waits for a person, and the calls of tools within it.
//!
//! A pause has a hash of what the person was shown. If the graph, the state or the call is another one when the decision comes, it does
//! not count: it was about something else.

use llmnode_model::internal::sha256_hex;
use llmnode_runtime::ext::NodePause;
use llmnode_runtime::internal::CxInternals as _;
use llmnode_runtime::{Category, Cx, NodeError, Paused, ToolCall};
use serde_json::{Map, Value, json};

use crate::graph::loaded::GraphStep;
use crate::state::State;

/// What a node may do when it is visited.
pub(crate) enum ApprovalGate {
    /// It needs no approval.
    Open,
    /// It was approved, with these edits of the state.
    Decided(Map<String, Value>),
    /// Its call was approved, perhaps with edits, and perhaps had begun.
    Call(ToolCall, Option<Paused>),
    /// The node has begun, and a call within it paused.
    Within(Paused, Map<String, Value>),
    /// A person has refused it, for this reason.
    Refused(String),
}

impl ApprovalGate {
    /// Pauses if nobody has decided. `call`: of a `tool`, as the state produces it.
    pub(crate) async fn new(
        step: &GraphStep,
        cx: &Cx<'_, State>,
        call: Option<&ToolCall>,
    ) -> Result<ApprovalGate, NodeError> {
        let Some(paused) = cx.paused() else {
            if !step.loaded_node().approval {
                return Ok(ApprovalGate::Open);
            }
            let values = cx
                .state()
                .values
                .iter()
                .filter(|(key, _)| !key.starts_with('_'));
            let values = values
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
            let fingerprint = step.fingerprint(cx.state(), call);
            let paused = Paused::of_node(step.id(), fingerprint, step.shown(call, values), None);
            return match cx.ask_handler(paused.clone()).await? {
                Some(decided) => decision(step, &decided, call),
                None => Err(paused.into_error()),
            };
        };
        paused.check_version()?;
        let id = step.id();
        let other = paused.node();
        if other != id {
            return refused(format!(
                "the pause belongs to the node `{other}`, but the graph is at `{id}`"
            ));
        }
        if paused.fingerprint() != step.fingerprint(cx.state(), call) {
            return refused(format!(
                "the graph or its state changed since `{id}` paused, so that is not what was decided about: run it again, and decide anew"
            ));
        }
        decision(step, paused, call)
    }
}

fn refused(why: String) -> Result<ApprovalGate, NodeError> {
    Err(NodeError::new(Category::ConfigError, why))
}

fn with_arguments(call: &ToolCall, arguments: &str) -> ToolCall {
    ToolCall::new(&*call.id, &*call.name, arguments)
}

/// What was decided about a call. An edit is checked before anything runs.
fn decision_of_call(
    step: &GraphStep,
    paused: &Paused,
    call: &ToolCall,
) -> Result<ApprovalGate, NodeError> {
    let (call, within) = match paused.node_pause() {
        Some(NodePause::Yes) => (call.clone(), None),
        Some(NodePause::Within(paused, arguments)) => {
            (with_arguments(call, arguments), Some(paused.clone()))
        }
        Some(NodePause::Edit(arguments)) => {
            let call = with_arguments(call, &arguments.to_string());
            if let Some(wrong) = step
                .loaded_node()
                .call
                .as_ref()
                .and_then(|calling| calling.refuses(&call))
            {
                let id = step.id();
                let tool = &call.name;
                return refused(format!(
                    "the edit of `{id}` is not what the tool `{tool}` takes, and nothing ran; decide anew. {wrong}"
                ));
            }
            (call, None)
        }
        _ => return decision(step, paused, None),
    };
    Ok(ApprovalGate::Call(call, within))
}

/// What a person has decided, if it is a decision about this node.
fn decision(
    step: &GraphStep,
    paused: &Paused,
    call: Option<&ToolCall>,
) -> Result<ApprovalGate, NodeError> {
    if let Some(call) = call {
        return decision_of_call(step, paused, call);
    }
    let id = step.id();
    match paused.node_pause() {
        Some(NodePause::Yes) => Ok(ApprovalGate::Decided(Map::new())),
        Some(NodePause::No(why)) => Ok(ApprovalGate::Refused(why.to_owned())),
        Some(NodePause::Edit(Value::Object(values))) => {
            if let Some(key) = values.keys().find(|key| key.starts_with('_')) {
                return refused(format!(
                    "{key:?} is a name of the graph's own, which an approval of `{id}` cannot change"
                ));
            }
            // Checked first, since the node's effects cannot be undone.
            values
                .iter()
                .try_for_each(|(key, value)| step.loaded.rules.check(key, value))?;
            Ok(ApprovalGate::Decided(values.clone()))
        }
        Some(NodePause::Edit(_)) => refused(format!(
            "`Approval::edit` of `{id}` takes an object: values of the state by name"
        )),
        Some(NodePause::Within(paused, edits)) => Ok(ApprovalGate::Within(
            paused.clone(),
            serde_json::from_str(edits).unwrap_or_default(),
        )),
        Some(NodePause::Undecided) => refused(format!(
            "`{id}` is not decided; `paused.decide({id:?}, ..)` does that"
        )),
        None => refused(format!(
            "the pause is not one of the node `{id}` of a graph"
        )),
    }
}

impl GraphStep {
    /// Hash of what a person is shown: the approval is valid for nothing else. `call`: as the state produces it.
    fn fingerprint(&self, state: &State, call: Option<&ToolCall>) -> String {
        let shown = json!([self.loaded.hash, self.id(), state]);
        let shown = call.map_or(shown.clone(), |call| {
            json!([shown, call.name, call.arguments])
        });
        sha256_hex(shown.to_string().as_bytes())
    }

    /// What a person decides about: the call, with earlier edits, or else values.
    fn shown<'s>(
        &'s self,
        call: Option<&'s ToolCall>,
        values: Map<String, Value>,
    ) -> (&'s str, String) {
        match call {
            Some(call) => (&call.name, call.arguments.clone()),
            None => (self.id(), Value::Object(values).to_string()),
        }
    }

    /// `call`: as the state produces it; `shown`: with a person's edits.
    pub(crate) fn paused_within(
        &self,
        state: &State,
        error: NodeError,
        edits: &Map<String, Value>,
        call: Option<&ToolCall>,
        shown: Option<&ToolCall>,
    ) -> NodeError {
        match error
            .paused()
            .filter(|_| error.category() == Category::Paused)
        {
            Some(within) => {
                let shown = self.shown(shown, edits.clone());
                Paused::of_node(
                    self.id(),
                    self.fingerprint(state, call),
                    shown,
                    Some(within),
                )
                .into_error()
            }
            None => error,
        }
    }
}
