//! What is known of the outer graphs while one is loaded.

use std::any::TypeId;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use schemars::JsonSchema;
use serde_json::Value;

use crate::faults::GraphFaults;
use crate::file::with_common;
use crate::graph::loaded::Graph;

/// Shared by all graphs of one load.
#[derive(Default)]
pub(crate) struct LoadCache {
    pub(super) graphs: RefCell<HashMap<String, Result<Graph, GraphFaults>>>,
    schemas: RefCell<HashMap<TypeId, Rc<Value>>>,
}

#[derive(Clone, Copy)]
pub(crate) struct Nesting<'l> {
    pub(crate) names: &'l [String],
    pub(crate) cache: &'l LoadCache,
}

impl Nesting<'_> {
    pub(crate) fn schema_of<T: JsonSchema + 'static>(&self) -> Rc<Value> {
        let mut schemas = self.cache.schemas.borrow_mut();
        let schema = schemas.entry(TypeId::of::<T>()).or_insert_with(|| {
            let mut schema = schemars::schema_for!(T).to_value();
            with_common(&mut schema);
            Rc::new(schema)
        });
        Rc::clone(schema)
    }
}
