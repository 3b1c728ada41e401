//! Corrections whose schema allows only what a check listed.
//!
//! In: the violations of a bad answer, of which some list what is allowed. Out: a
//! schema for the correction that allows nothing else at these places, on a server
//! that enforces it. A list is taken out of the complaint, since the schema says
//! it. If the model breaks a narrowed place all the same, the server does not
//! enforce the schema there, and the list goes back into words.

use std::sync::Arc;

use llmnode_model::Request;
use llmnode_reader::ask::{ChoiceList, narrowed, take_closed};
use llmnode_reader::{OutputSchema, Violation};

/// The lists of a turn.
pub(super) struct Narrowed {
    /// As it was before anything was narrowed.
    schema: Arc<OutputSchema>,
    /// Each with its place in the schema.
    lists: Vec<(String, ChoiceList)>,
    /// Narrowed places that were refused again: from then on they are described in words.
    given_up: Vec<ChoiceList>,
    /// Those that the schema of the next request has narrowed.
    places: Vec<String>,
}

impl Narrowed {
    pub(super) fn add(
        this: &mut Option<Box<Self>>,
        request: &mut Request,
        violations: &mut [Violation],
    ) {
        let Some(schema) = &request.output else {
            return;
        };
        for violation in violations {
            let Some((place, list)) = take_closed(violation, schema) else {
                continue;
            };
            let this = this.get_or_insert_with(|| {
                Box::new(Narrowed {
                    schema: Arc::clone(schema),
                    lists: Vec::new(),
                    given_up: Vec::new(),
                    places: Vec::new(),
                })
            });
            this.take(place, list);
        }
        if let Some(this) = this {
            request.output = Some(this.narrow());
        }
    }

    fn take(&mut self, place: String, list: ChoiceList) {
        let index = self
            .lists
            .iter()
            .position(|(_, other)| other.path == list.path);
        match index {
            // A list of `choices` that changes.
            Some(at) if !list.source.is_empty() => self.lists[at] = (place, list),
            Some(at) => {
                let (_, refused_again) = self.lists.remove(at);
                self.given_up.push(refused_again);
            }
            None if self.given_up.iter().any(|one| one.path == list.path) => {}
            None => self.lists.push((place, list)),
        }
    }

    fn narrow(&mut self) -> Arc<OutputSchema> {
        let mut schema = Arc::clone(&self.schema);
        self.places.clear();
        for (place, list) in &self.lists {
            if let Some(with) = narrowed(&schema, list) {
                schema = with;
                self.places.push(place.clone());
            }
        }
        schema
    }

    pub(super) fn end(this: &mut Option<Box<Self>>, request: &mut Request) {
        if let Some(this) = this.take() {
            request.output = Some(this.schema);
        }
    }

    pub(super) fn places(&self) -> Vec<String> {
        self.places.clone()
    }
}
