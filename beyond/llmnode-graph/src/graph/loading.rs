//! What a node type reads of a node, and reports of it.

use std::any::{Any, TypeId};
use std::fmt;

use llmnode_reader::text::one_line;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::facts::{Read, Write};
use crate::faults::FaultKind;
use crate::file::{FRONT_END, check, with_common};
use crate::graph::node_type::NodeLoader;
use crate::template::Template;

const COMMON: &[&str] = &["label", "isStart", "require_approval"];

impl<'l> NodeLoader<'l> {
    /// Returns the id.
    pub fn id(&self) -> &'l str {
        &self.node.id
    }

    /// Returns the name that people see: the label, or else the id.
    pub fn label(&self) -> &'l str {
        self.node.label.as_deref().unwrap_or(&self.node.id)
    }

    /// Returns whether the file is one of React Flow's.
    pub fn is_seed(&self) -> bool {
        self.is_react_flow
    }

    /// Reads the settings. Returns `None` if something is wrong with them: all mistakes are noted.
    pub fn data<T: DeserializeOwned + JsonSchema + 'static>(&mut self) -> Option<T> {
        let mut schemas = self.context.cache.schemas.borrow_mut();
        let schema = schemas.entry(TypeId::of::<T>()).or_insert_with(|| {
            let mut schema = schemars::schema_for!(T).to_value();
            with_common(&mut schema);
            schema
        });
        let before = self.faults.noted();
        let settings = &self.node.data;
        check(
            schema,
            self.is_react_flow,
            &settings.values,
            Some(settings),
            self.faults,
        );
        if self.faults.noted() > before {
            return None;
        }
        let mut of_type = Map::new();
        for (name, value) in &self.node.data.values {
            let is_common = COMMON.contains(&name.as_str()) || FRONT_END.contains(&name.as_str());
            if !is_common {
                of_type.insert(name.clone(), value.clone());
            }
        }
        let data = T::deserialize(Value::Object(of_type));
        data.map_err(|error| self.fault_of(FaultKind::WrongKind, "", error.to_string()))
            .ok()
    }

    /// Notes that a setting is wrong. `place` is a JSON pointer into `data`, such as `/tools/1`; empty: `data` as a whole.
    pub fn fault(&mut self, place: &str, message: impl Into<String>) {
        self.fault_of(FaultKind::Setting, place, message);
    }

    pub(crate) fn fault_of(&mut self, kind: FaultKind, place: &str, message: impl Into<String>) {
        self.faults
            .fault(self.node.data.pointer(place), kind, message);
    }

    /// Notes that a setting is probably wrong.
    pub fn warn(&mut self, place: &str, message: impl Into<String>) {
        self.faults
            .warn(self.node.data.pointer(place), FaultKind::Setting, message);
    }

    /// Notes an unknown name: `no store "dcos"; did you mean "docs"?`
    pub fn unknown<'n>(
        &mut self,
        place: &str,
        what: &str,
        name: &str,
        possible: impl IntoIterator<Item = &'n str>,
    ) {
        let message = format!("no {what} {:?}", one_line(name, 80));
        let place = self.node.data.pointer(place);
        self.faults
            .unknown(true, place, FaultKind::UnknownName, message, name, possible);
    }

    /// Reads a template. Values that it names count as read, and what is wrong with it is noted.
    pub fn template(&mut self, place: &str, text: &str) -> Template {
        let (template, wrong) = Template::parse(text);
        let braced: Vec<Read> = template
            .braced()
            .map(|name| self.read_at(place, name))
            .collect();
        self.facts.braced.extend(braced);
        template.names().for_each(|name| self.reads(place, name));
        wrong
            .into_iter()
            .for_each(|message| self.fault_of(FaultKind::Template, place, message));
        template
    }

    pub(crate) fn system_prompt(&mut self, place: &str, text: &str) -> Template {
        let before = self.facts.reads.len();
        let template = self.template(place, text);
        self.facts.reads[before..]
            .iter_mut()
            .for_each(|read| read.in_system_prompt = true);
        template
    }

    /// Notes that the node reads a value of the state, named at this place.
    pub fn reads(&mut self, place: &str, name: &str) {
        let read = self.read_at(place, name);
        self.facts.reads.push(read);
    }

    /// Notes that the node reads values of the state, each named at its place, if the graph has one of them. If it has none, the node
    /// takes the last message.
    pub fn reads_or_message<'n>(&mut self, reads: impl IntoIterator<Item = (String, &'n str)>) {
        let reads: Vec<Read> = reads
            .into_iter()
            .map(|(place, name)| self.read_at(&place, name))
            .collect();
        self.facts.reads_or_message.extend(reads);
    }

    pub(crate) fn iterates(&mut self, place: &str, name: &str) {
        self.reads(place, name);
        self.facts.iterates = self.facts.reads.last().cloned();
    }

    fn read_at(&self, place: &str, name: &str) -> Read {
        Read {
            name: name.to_owned(),
            at: self.node.data.pointer(place),
            in_system_prompt: false,
        }
    }

    /// Notes that the node writes a value.
    pub fn writes(&mut self, key: impl Into<String>) {
        let at = self.node.at.clone();
        self.facts.writes.push(Write {
            key: key.into(),
            at,
            types: Vec::new(),
            schema: None,
        });
    }

    pub(crate) fn writes_at(&mut self, place: &str, key: &str, types: &[&'static str]) {
        if key.starts_with('_') || key == "messages" {
            self.fault(
                place,
                format!("{key:?} is reserved for the graph: choose another name"),
            );
        }
        let key = key.to_owned();
        let at = self.node.data.pointer(place);
        self.facts.writes.push(Write {
            key,
            at,
            types: types.to_vec(),
            schema: None,
        });
    }

    /// Notes that the node may write values of any name.
    pub fn writes_anything(&mut self) {
        self.facts.writes_anything = true;
    }

    /// Notes that the node writes text of a model, a tool or a search. No system prompt may read that text.
    pub fn untrusted(&mut self) {
        self.facts.untrusted = true;
    }

    /// Notes that the node writes text of a search: an agent's prompt that reads it has it in a fence, and no system prompt may read it.
    pub fn retrieved(&mut self) {
        self.facts.retrieved = true;
        self.untrusted();
    }

    /// Sets the handles that the node may take, and those that need an edge. Default: only `default`.
    pub fn handles(&mut self, names: &[&str], required: &[&str]) {
        self.facts.handles = names.iter().map(|name| (*name).to_owned()).collect();
        self.facts.required_handles = required.iter().map(|name| (*name).to_owned()).collect();
    }

    /// Checks that there is a profile of this name.
    pub fn profile(&mut self, place: &str, name: &str) {
        let registry = self.context.registry;
        if !registry.profiles().any(|profile| profile == name) {
            self.unknown(place, "profile", name, registry.profiles());
        }
    }

    /// Returns the value of this type that [`Registry::extend_with`](crate::Registry::extend_with) keeps.
    pub fn extension<T: Any + Send + Sync>(&self) -> Option<&'l T> {
        self.context
            .registry
            .0
            .extensions
            .get(&TypeId::of::<T>())?
            .downcast_ref()
    }
}

impl fmt::Debug for NodeLoader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NodeLoader")
            .field("id", &self.node.id)
            .finish_non_exhaustive()
    }
}
