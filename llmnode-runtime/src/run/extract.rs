//! One line without a node: a type out of a text.

use std::marker::PhantomData;

use llmnode_model::BoxError;

use super::cx::Cx;
use super::llm_node::LlmNode;
use super::node::Exec;
use crate::node::{Node, NodeFacts};
use crate::output::{LlmOutput, OutputSpec};
use crate::prompt::generated::{Prompt, Segment};

pub(super) struct Extract<'r, T> {
    text: &'r str,
    output: PhantomData<fn() -> T>,
}

impl<'r, T> Extract<'r, T> {
    pub(super) fn new(text: &'r str) -> Self {
        Extract {
            text,
            output: PhantomData,
        }
    }
}

impl<T: LlmOutput> Node for Extract<'_, T> {
    type Output = T;
    const NAME: &'static str = "extract";
    const FACTS: NodeFacts = NodeFacts::new()
        .description("Reads a type out of a text.")
        .retries_itself(true);
}

impl<T: LlmOutput, S: ?Sized + Sync> Exec<S> for Extract<'_, T> {
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<T, BoxError> {
        super::exec(self, cx).await
    }
}

impl<T: LlmOutput, S: ?Sized + Sync> LlmNode<S> for Extract<'_, T> {
    fn render(&self, _: &S, to: &mut Prompt) {
        to.user(&[
            Segment::text("Read this text.\n\n"),
            Segment::value(&self.text),
        ]);
    }

    fn output(&self) -> OutputSpec<T, S> {
        OutputSpec::json(|_| {}, |_, _| {})
    }
}
