//! What a record says of a request: the settings that are not sent as the program
//! wrote them, since the model refuses them.
//!
//! Only for the record: nothing is decided here. A setting is listed if the program
//! asked for it, or a default of ours would have sent it, and the model refuses it.

use llmnode_model::{Request, ResponseFormat};
use llmnode_reader::ask::has_choices;

use super::error_response::has_id;
use super::inner::Inner;
use super::prepared_request::{PreparedRequest, max_tokens, temperature};
use super::shape::limit;
use crate::refusal::efforts::{Budgets, Refused};
use crate::refusal::parts::Part;
use crate::refusal::quirks::Choice;
use crate::refusal::response_formats;

impl Inner {
    pub(crate) fn refused<'a>(
        &self,
        prepared: &PreparedRequest<'a>,
        listens: bool,
    ) -> impl Iterator<Item = &'static str> + use<'a> {
        let PreparedRequest { request, shape, .. } = prepared;
        let chosen = self.chosen(request, shape.quirks);
        let quirks = shape.quirks;
        // Of nearly all models neither parts nor formats are known to be refused.
        let schema = request
            .output
            .as_deref()
            .filter(|_| shape.schema.is_some() && !quirks.refused.is_empty());
        let formats = self.wire.formats;
        let response_formats = schema.into_iter().flat_map(move |schema| {
            response_formats::passed_over(formats, chosen, schema, quirks.refused)
        });
        let parts = (!quirks.left_out.is_empty())
            .then(|| self.parts(prepared, listens))
            .into_iter()
            .flatten()
            .filter(move |(part, is_wanted)| *is_wanted && quirks.leaves_out(*part))
            .map(|(part, _)| part.as_str());
        let carries_nothing = !shape.carries && has_carried(request);
        let others = [
            ("max_tokens", self.has_another_limit(prepared)),
            ("default_limit", self.wire.limit.is_some() && request.raised),
            ("reasoning", self.has_another_effort(prepared)),
            ("stream", shape.quirks.only_streams && !listens),
            (
                "tool_choice",
                shape.quirks.choice > Choice::ByName && prepared.function().is_some(),
            ),
            ("thinking", shape.no_thinking),
            ("carried", carries_nothing),
        ];
        let others = others
            .into_iter()
            .filter(|(_, is_refused)| *is_refused)
            .map(|(name, _)| name);
        parts
            .chain(others)
            .chain(response_formats.map(ResponseFormat::as_str))
    }

    /// Parts, and whether the request would have them.
    /// As `sent_parts`, but for what *would* be sent.
    fn parts(&self, prepared: &PreparedRequest<'_>, listens: bool) -> [(Part, bool); 18] {
        let PreparedRequest { request, shape, .. } = prepared;
        let wire = self.wire.name;
        let has_lists = request.output.as_deref().is_some_and(has_choices)
            || request.tools.iter().any(|tool| has_choices(&tool.schema));
        let is_openai = matches!(
            wire,
            llmnode_model::ApiKind::Chat | llmnode_model::ApiKind::Responses
        );
        let functions = shape.tools || prepared.function().is_some();
        [
            (Part::Choices, has_lists),
            (Part::Temperature, temperature(request).is_some()),
            (Part::Stream, listens),
            (Part::StreamOptions, prepared.streams),
            (Part::Include, true),
            (Part::Store, true),
            (Part::Summary, true),
            (Part::ParallelCalls, prepared.function().is_some()),
            (Part::StrictFunctions, functions && is_openai),
            (Part::JsonSchemaParameters, functions),
            (Part::Cache, prepared.cache.unfiltered.contains(Part::Cache)),
            (
                Part::CacheOptions,
                prepared.cache.unfiltered.contains(Part::CacheOptions),
            ),
            (
                Part::CacheKey,
                prepared.cache.unfiltered.contains(Part::CacheKey),
            ),
            (Part::System, true),
            (Part::BoundThoughts, shape.drops_bound_thoughts),
            (Part::CallIds, request.messages.iter().any(has_id)),
            (Part::ServerSideTools, true),
            (Part::ToolSearch, prepared.may_search_tools),
        ]
    }

    /// By another name, or another number.
    fn has_another_limit(&self, prepared: &PreparedRequest<'_>) -> bool {
        let quirks = prepared.shape.quirks;
        max_tokens(prepared.request)
            .is_some_and(|limit| quirks.max_completion_tokens || quirks.limited(limit) != limit)
    }

    /// Compared with what would be sent if nothing had been refused.
    fn has_another_effort(&self, prepared: &PreparedRequest<'_>) -> bool {
        let PreparedRequest { request, shape, .. } = prepared;
        if shape.without_thoughts {
            return true;
        }
        let efforts = self.wire.efforts;
        let reasoning = request.reasoning.filter(|_| !efforts.is_in(&request.extra));
        let Some(reasoning) = reasoning else {
            return false;
        };
        let best = efforts.way(
            reasoning,
            limit(request, shape.quirks),
            Refused::default(),
            Budgets::default(),
        );
        best != prepared.thinking()
    }
}

fn has_carried(request: &Request) -> bool {
    request
        .messages
        .iter()
        .any(|message| message.carried().is_some())
}
