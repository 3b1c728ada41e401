//! What all clones of a model share.

use llmnode_model::{ResponseFormat, RetryBudget};

use super::wire::Wire;
use crate::http::capabilities::Capabilities;
use crate::http::headers::Headers;
use crate::http::redirects::Redirects;
use crate::http::service::Service;

pub(super) struct Inner {
    pub(super) wire: &'static Wire,
    pub(super) service: Service,
    pub(super) model: Option<String>,
    pub(super) headers: Headers,
    /// Where to look if a key is refused.
    pub(super) key_hint: String,
    pub(super) response_format: Option<ResponseFormat>,
    pub(super) capabilities: Capabilities,
    pub(super) redirects: Redirects,
    pub(super) retry_budget: RetryBudget,
}
