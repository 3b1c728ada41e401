//! What all clones of a model share.

use llmnode_model::{ResponseFormat, RetryBudget};

use super::sent_calls::IdForm;
use super::wire::Wire;
use crate::http::capabilities::Capabilities;
use crate::http::headers::Headers;
use crate::http::redirects::Redirects;
use crate::http::service::Service;

pub(crate) struct Inner {
    pub(crate) wire: &'static Wire,
    pub(crate) service: Service,
    pub(crate) model: Option<String>,
    pub(crate) headers: Headers,
    pub(crate) key_hint: String,
    pub(crate) response_format: Option<ResponseFormat>,
    pub(crate) capabilities: Capabilities,
    pub(crate) redirects: Redirects,
    pub(crate) retry_budget: RetryBudget,
    pub(crate) cache_for_an_hour: Option<bool>,
    /// Of the ids of calls, where the builder knows it.
    pub(crate) id_form: Option<IdForm>,
}
