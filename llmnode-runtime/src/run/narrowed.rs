//! Corrections whose schema allows only what a check listed.

use std::sync::Arc;

use llmnode_model::Request;
use llmnode_reader::ask::{ChoiceList, narrowed, take_closed};
use llmnode_reader::{OutputSchema, Violation};

pub(super) struct Narrowed {
    schema: Arc<OutputSchema>,
    lists: Vec<(String, ChoiceList)>,
    /// Narrowed places that were refused again: from then on they are described in words.
    given_up: Vec<ChoiceList>,
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
        for (place, list) in violations
            .iter_mut()
            .filter_map(|one| take_closed(one, schema))
        {
            let this = this.get_or_insert_with(|| {
                let (lists, given_up, places) = <(Vec<_>, Vec<_>, Vec<_>)>::default();
                Box::new(Narrowed {
                    schema: Arc::clone(schema),
                    lists,
                    given_up,
                    places,
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
            Some(at) => self.given_up.push(self.lists.remove(at).1),
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
