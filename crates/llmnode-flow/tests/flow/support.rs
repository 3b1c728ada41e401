//! A node that asks a model, without the macros.

use llmnode_runtime::private::{LlmNode, OutputSpec, Prompt, Segment};
use llmnode_runtime::{
    BoxError, Category, Cx, Exec, ModelError, Node, NodeFacts, Reply, ScriptedModel,
};

/// Asks for text, with any state.
pub(crate) struct Say {
    what: String,
}

impl Node for Say {
    type Output = String;
    const NAME: &'static str = "say";
    const FACTS: NodeFacts = NodeFacts::new().retries_itself(true);
}

impl<S: ?Sized + Sync> Exec<S> for Say {
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<String, BoxError> {
        llmnode_runtime::private::exec(self, cx).await
    }
}

impl<S: ?Sized + Sync> LlmNode<S> for Say {
    fn render(&self, _: &S, to: &mut Prompt) {
        to.user(&[Segment::value(&self.what)]);
    }

    fn output(&self) -> OutputSpec<String, S> {
        OutputSpec::text()
    }
}

pub(crate) fn say(what: &str) -> Say {
    Say {
        what: what.to_owned(),
    }
}

pub(crate) fn script(replies: impl IntoIterator<Item = impl Into<Reply>>) -> ScriptedModel {
    replies
        .into_iter()
        .fold(ScriptedModel::new(), ScriptedModel::reply)
}

pub(crate) fn busy() -> ModelError {
    ModelError::new(Category::ServerError, "HTTP 503: overloaded")
}
