//! Lets a model advise the next try.

use std::borrow::Cow;
use std::future::Future;

use llmnode_runtime::private::{LlmNode, OutputSpec, Prompt, exec as ask};
use llmnode_runtime::{BoxError, Cx, Exec, Message, Node, NodeFacts};
use serde_json::{Map, Value};

pub(crate) struct AdviceNode {
    prompt: String,
}

const SYSTEM: &str = "A model was given a task, and its answer was not good enough. Say in a few sentences what it should do \
                      differently on the same input. It does not see this answer. Name what was wrong and what to do; do not \
                      give the answer itself.";

impl AdviceNode {
    pub(crate) fn new(
        goal: &str,
        inputs: &Map<String, Value>,
        outputs: &Map<String, Value>,
        faults: &str,
    ) -> Self {
        let prompt = format!(
            "# task\n{goal}\n\n# input\n{}\n\n# answer\n{}\n\n# what was wrong\n{faults}",
            indented(inputs),
            indented(outputs)
        );
        AdviceNode { prompt }
    }
}

impl Node for AdviceNode {
    type Output = String;
    const NAME: &'static str = "advice";
    const FACTS: NodeFacts = NodeFacts::new().retries_itself(true);

    fn name(&self) -> Cow<'static, str> {
        Cow::Borrowed(Self::NAME)
    }
}

#[diagnostic::do_not_recommend]
impl<S: ?Sized + Sync> Exec<S> for AdviceNode {
    fn exec(&self, cx: &Cx<'_, S>) -> impl Future<Output = Result<String, BoxError>> + Send {
        ask(self, cx)
    }
}

impl<S: ?Sized> LlmNode<S> for AdviceNode {
    fn render(&self, _: &S, to: &mut Prompt) {
        to.push(Message::system(SYSTEM));
        to.push(Message::user(self.prompt.clone()));
    }

    fn output(&self) -> OutputSpec<String, S> {
        OutputSpec::text()
    }
}

fn indented(values: &Map<String, Value>) -> String {
    serde_json::to_string_pretty(values).unwrap_or_default()
}
