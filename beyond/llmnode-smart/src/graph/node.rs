//! A visit of a smart node.

use std::borrow::Cow;
use std::future::Future;
use std::sync::Arc;

use llmnode_graph::{GraphNode, NodeContext, State, Update};
use llmnode_reader::ext::{Parsed, ReadResult};
use llmnode_runtime::internal::{AnswerForm, ErrorInternals as _};
use llmnode_runtime::private::{LlmNode, OutputSpec, Prompt, exec as ask};
use llmnode_runtime::{
    BoxError, BoxFuture, Category, Cx, Exec, Message, Node, NodeError, NodeFacts, OutputSchema,
    Reader, Reading, Settings,
};
use serde_json::{Map, Value};

use super::inputs::inputs;
use super::signature::schema_of;
use crate::form::{PromptParts, SectionReader, SectionValues};
use crate::node::add_hint;
use crate::program::Plan;
use crate::refine::{Assessment, Guard, Tries, feedback, run_tries};
use crate::signature::{Form, REASONING, VALUE};

const TRIES: u32 = 3;
/// As for a primitive. The run's own setting wins.
const RETRIES: u32 = 2;

pub(super) struct SmartNode {
    pub(super) id: String,
    pub(super) plan: Plan,
    pub(super) guards: Vec<Guard>,
    pub(super) met: Option<String>,
    pub(super) profile: Option<String>,
    pub(super) save_as: Option<String>,
}

impl GraphNode for SmartNode {
    fn exec<'a>(&'a self, visit: &'a NodeContext<'a>) -> BoxFuture<'a, Result<Update, BoxError>> {
        Box::pin(async move {
            if let Some(profile) = self
                .profile
                .as_ref()
                .filter(|profile| !visit.cx().has_model(profile))
            {
                let message = format!(
                    "the node `{}` asks the model {profile:?}, which the run does not have: make the run by `registry.run(..)`, or \
                     add the model to it",
                    self.id
                );
                return Err(NodeError::new(Category::ConfigError, message).into());
            }
            let tries_of_visit = VisitTries {
                node: self,
                inputs: inputs(&self.plan.signature, visit)?,
                cx: visit.cx(),
            };
            let tries = if self.guards.is_empty() { 1 } else { TRIES };
            let Some(best) = run_tries(tries, 1.0, &tries_of_visit).await? else {
                return Err("nothing was tried".into());
            };
            Ok(self.update(best.value, best.met))
        })
    }
}

impl SmartNode {
    fn update(&self, mut outputs: Map<String, Value>, met: bool) -> Update {
        outputs.retain(|name, _| name != REASONING);
        // Like React Flow's graphs: the output of this name, else the first one.
        let answer = outputs.get("output").or_else(|| outputs.values().next());
        let answer = answer.map(|value| {
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned)
        });
        let update = answer.into_iter().fold(Update::new(), |update, text| {
            update.with_message(Message::assistant(text))
        });
        let update = self
            .met
            .iter()
            .fold(update, |update, key| update.with_value(key.clone(), met));
        match &self.save_as {
            Some(key) => update.with_value(key.clone(), outputs),
            None => outputs.into_iter().fold(update, |update, (name, value)| {
                update.with_value(name, value)
            }),
        }
    }
}

/// All tries are attempts of the visit's call.
struct VisitTries<'v> {
    node: &'v SmartNode,
    inputs: Map<String, Value>,
    cx: &'v Cx<'v, State>,
}

impl Tries for VisitTries<'_> {
    type Value = Map<String, Value>;

    async fn attempt(&self, hint: Option<&str>) -> Result<Self::Value, NodeError> {
        let settings = self.node.plan.settings(&Settings::new().retries(RETRIES));
        let settings = match &self.node.profile {
            Some(profile) => settings.model(profile.clone()),
            None => settings,
        };
        let smart_try = SmartTry {
            node: self.node,
            inputs: &self.inputs,
            hint,
            settings,
        };
        match ask(&smart_try, self.cx)
            .await
            .map_err(NodeError::of_execution)?
        {
            Value::Object(outputs) => Ok(outputs),
            other => Ok(Map::from_iter([(VALUE.to_owned(), other)])),
        }
    }

    fn judge(&self, outputs: &Self::Value) -> Assessment {
        let complaints: Vec<_> = self
            .node
            .guards
            .iter()
            .filter_map(|guard| guard.complaint(outputs))
            .collect();
        let reward = 1.0 - complaints.len() as f64 / self.node.guards.len().max(1) as f64;
        Assessment { complaints, reward }
    }

    async fn hint(
        &self,
        _: &Self::Value,
        judged: &Assessment,
    ) -> Result<Option<String>, NodeError> {
        Ok(Some(feedback(judged, 1.0)))
    }
}

struct SmartTry<'a> {
    node: &'a SmartNode,
    inputs: &'a Map<String, Value>,
    hint: Option<&'a str>,
    settings: Settings,
}

impl Node for SmartTry<'_> {
    type Output = Value;
    const NAME: &'static str = "smart_node";
    const FACTS: NodeFacts = NodeFacts::new().retries_itself(true);

    fn name(&self) -> Cow<'static, str> {
        Cow::Owned(self.node.id.clone())
    }

    fn settings(&self) -> &Settings {
        &self.settings
    }
}

#[diagnostic::do_not_recommend]
impl<S: ?Sized + Sync> Exec<S> for SmartTry<'_> {
    fn exec(&self, cx: &Cx<'_, S>) -> impl Future<Output = Result<Value, BoxError>> + Send {
        ask(self, cx)
    }
}

impl<S: ?Sized> LlmNode<S> for SmartTry<'_> {
    fn render(&self, _: &S, to: &mut Prompt) {
        let Plan {
            signature, demos, ..
        } = &self.node.plan;
        let mut inputs = self.inputs.clone();
        let hinted = self.hint.map(|hint| add_hint(signature, hint, &mut inputs));
        let parts = PromptParts {
            signature: hinted.as_ref().unwrap_or(signature),
            demos,
            inputs: &inputs,
        };
        parts
            .messages()
            .into_iter()
            .for_each(|message| to.push(message));
    }

    fn output(&self) -> OutputSpec<Value, S> {
        let signature = &self.node.plan.signature;
        let form = DynamicAnswerForm {
            schema: Arc::new(OutputSchema::from_value(
                &self.node.id,
                schema_of(signature),
            )),
            sections: (signature.form == Form::Chat).then(|| SectionReader::of(signature)),
        };
        OutputSpec::of_form(Box::new(form), |_| {}, |_, _| {})
    }
}

struct DynamicAnswerForm {
    schema: Arc<OutputSchema>,
    sections: Option<SectionReader>,
}

impl DynamicAnswerForm {
    fn conforming(&self, text: &str, reader: Reader) -> ReadResult<Value> {
        let Reading { value, repairs, .. } = reader
            .conforming(text, &self.schema)
            .map_err(|error| error.violations().to_vec())?;
        Ok(Parsed {
            value,
            repairs,
            wrapped: false,
        })
    }
}

impl AnswerForm<Value> for DynamicAnswerForm {
    fn schema(&self) -> Arc<OutputSchema> {
        Arc::clone(&self.schema)
    }

    fn sent(&self) -> Option<Arc<OutputSchema>> {
        self.sections.is_none().then(|| Arc::clone(&self.schema))
    }

    fn read(&self, answer: &str, reader: Reader) -> ReadResult<Value> {
        let Some(fields) = &self.sections else {
            return self.conforming(answer, reader);
        };
        let Some(SectionValues {
            reasoning,
            mut json,
            missing,
        }) = fields.gather(answer, reader)
        else {
            return self
                .conforming(answer, reader)
                .map_err(|_| fields.all_missing());
        };
        if !missing.is_empty() {
            return Err(missing);
        }
        if let (Some(members), Some(reasoning)) = (json.as_object_mut(), reasoning) {
            members.insert(REASONING.to_owned(), reasoning.into());
        }
        self.conforming(&json.to_string(), reader)
    }
}
