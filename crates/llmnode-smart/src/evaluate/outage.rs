//! Which failures are no score of an answer.

use llmnode_runtime::{Category, Group};

/// Whether a failure of this category says nothing about a single case, and what it asks for has to be mended first.
pub(crate) fn is_fatal(category: Category) -> bool {
    category.group() == Group::Stop && !matches!(category, Category::Panic | Category::PrepError)
}

/// Whether a failure of this category is of the provider, the way to it or the account, so that it is no score of the answer.
pub(crate) fn is_outage(category: Category) -> bool {
    let of_account = matches!(category, Category::ApiKeyError | Category::QuotaError | Category::NotFound);
    of_account || category.group() == Group::Transport
}
