//! What a node sees in a visit.

use std::fmt;

use llmnode_runtime::{Category, Cx, NodeError};
use serde_json::Value;

use crate::graph::loaded::NodeContext;
use crate::state::{MOST, State, fenced, take, text_of};
use crate::template::{Template, key};

impl<'v> NodeContext<'v> {
    /// Returns the state as the node sees it.
    pub fn state(&self) -> &'v State {
        self.cx.state()
    }

    /// Returns the context of the call, for calling other nodes.
    pub fn cx(&self) -> &'v Cx<'v, State> {
        self.cx
    }

    /// Returns the id of the node.
    pub fn id(&self) -> &'v str {
        self.step.id()
    }

    /// Returns a value by its name or path, like [`State::value`].
    pub fn value(&self, name: &str) -> Option<&'v Value> {
        self.state().value(name)
    }

    pub(crate) fn is_untrusted(&self, name: &str) -> bool {
        self.step.loaded.is_untrusted(key(name)) || self.state().untrusted.contains(key(name))
    }

    /// Returns a template's text.
    ///
    /// # Errors
    /// A `prep_error` that names the node and the value that is missing. A `limit_exceeded`, if the text would be larger than a state may
    /// be.
    pub fn render(&self, template: &Template) -> Result<String, NodeError> {
        self.render_fenced(template, |_| false)
    }

    /// `is_fenced`: values to fence, so that they cannot end the fence.
    pub(crate) fn render_fenced(
        &self,
        template: &Template,
        is_fenced: impl Fn(&str) -> bool,
    ) -> Result<String, NodeError> {
        let mut left = MOST;
        let mut too_large = None;
        let rendered = template.render(|name: &str| {
            let text = text_of(self.value(name)?);
            too_large = take(self.id(), &mut left, text.len()).err();
            if too_large.is_some() {
                return None;
            }
            Some(if is_fenced(name) {
                fenced(&text).into()
            } else {
                text
            })
        });
        rendered.map_err(|missing| {
            let message = format!("the node `{}` reads {missing}", self.id());
            too_large.unwrap_or_else(|| NodeError::new(Category::PrepError, message))
        })
    }
}

impl fmt::Debug for NodeContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NodeContext")
            .field("id", &self.id())
            .finish_non_exhaustive()
    }
}
