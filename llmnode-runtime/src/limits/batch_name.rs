//! By what a batch is named to others, who would wait for it.

use std::sync::Mutex;

use llmnode_model::internal::lock;

#[derive(Default)]
pub(super) struct BatchName {
    /// Of the batch that was created last, the provider's id.
    id: Mutex<Option<String>>,
}

impl BatchName {
    pub(super) fn set(&self, id: &str) {
        *lock(&self.id) = Some(id.to_owned());
    }

    /// The batch, in words for a message.
    pub(super) fn describe(&self) -> String {
        match &*lock(&self.id) {
            Some(id) => format!("the batch {id}"),
            None => "a batch that is about to be sent".to_owned(),
        }
    }
}
