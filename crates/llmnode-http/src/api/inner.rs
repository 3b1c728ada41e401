//! What all clones of a model share.

use llmnode_model::gate::Gates;
use llmnode_model::{ApiKind, Cache, ResponseFormat, RetryBudget};

use super::cache_memory::CacheMemory;
use super::sent_calls::IdForm;
use super::wire::Wire;
use crate::http::endpoint::Endpoint;
use crate::http::headers::Headers;
use crate::http::redirects::Redirects;
use crate::http::service::Service;
use crate::refusal::beliefs::Beliefs;

/// Made once by `assemble.rs`. Nothing in it changes but what is learned, which has
/// locks of its own.
pub(crate) struct Inner {
    pub(crate) wire: &'static Wire,
    pub(crate) service: Service,
    /// Whether the server is the one of the API's maker: asked of each request, and read off the URL once.
    pub(crate) is_own_host: bool,
    pub(crate) model: Option<String>,
    pub(crate) headers: Headers,
    // Behind the message about a refused key.
    pub(crate) key_hint: String,
    pub(crate) response_format: Option<ResponseFormat>,
    // What the models here refuse; see the room `refusal`.
    pub(crate) beliefs: Beliefs,
    pub(crate) redirects: Redirects,
    // Shared by all calls of the handle, so that an outage is not answered with a
    // flood.
    pub(crate) retry_budget: RetryBudget,
    pub(crate) gates: Gates,
    /// What the builder says. `None`: calls do, and last `Auto`.
    pub(crate) cache: Option<Cache>,
    pub(crate) cache_memory: CacheMemory,
    /// Of the ids of calls, where the builder knows it.
    pub(crate) id_form: Option<IdForm>,
}

impl Inner {
    /// The same server by another API, of which nothing is learned yet.
    pub(crate) fn at(&self, wire: &'static Wire, endpoint: Endpoint) -> Inner {
        Inner {
            wire,
            is_own_host: is_own_host(wire.name, endpoint.url.host()),
            service: Service {
                client: self.service.client.clone(),
                endpoint,
                ..self.service
            },
            model: self.model.clone(),
            headers: self.headers.clone(),
            key_hint: self.key_hint.clone(),
            response_format: self.response_format,
            beliefs: Beliefs::default(),
            redirects: Redirects::default(),
            retry_budget: self.retry_budget.clone(),
            gates: self.gates.clone(),
            cache: self.cache,
            cache_memory: CacheMemory::default(),
            id_form: self.id_form,
        }
    }
}

/// Whether this is a host of the one who makes the models: its rules are known, and its refusals are its own.
pub(super) fn is_own_host(api: ApiKind, host: &str) -> bool {
    let api_host = match api {
        ApiKind::Anthropic => "api.anthropic.com",
        ApiKind::Chat | ApiKind::Responses => "api.openai.com",
        _ => return false,
    };
    host == api_host
        || host
            .strip_suffix(api_host)
            .is_some_and(|region| region.ends_with('.'))
}
