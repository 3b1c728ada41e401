//! Why nodes of a map are not asked.

use std::sync::Arc;

use llmnode_model::Category;
use llmnode_reader::text::one_line;

/// Why a node is not asked: the failure of another one.
#[derive(Clone)]
pub(crate) struct NotAsked {
    pub(super) category: Category,
    pub(super) message: Arc<str>,
}

impl NotAsked {
    pub(super) fn because(category: Category, message: &str) -> Self {
        let message = format!(
            "not asked, because an earlier request of the map failed: {}",
            one_line(message, 700)
        );
        NotAsked {
            category,
            message: message.into(),
        }
    }
}
