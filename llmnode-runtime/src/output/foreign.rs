//! The schema of a type of another crate, which comes with a feature. Generated
//! code asks for it here, so that the compiler names the feature where it is
//! missing.

use std::borrow::Cow;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};

/// A type whose schema may need a feature.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a part of an output without a feature of llmnode",
    label = "has no JSON schema",
    note = "in Cargo.toml: llmnode = {{ .., features = [\"chrono04\"] }} for chrono 0.4, \
            \"jiff02\" for jiff 0.2, \"rust_decimal1\" for rust_decimal 1, \"uuid1\" for uuid 1, \
            \"url2\" for url 2",
    note = "for a type of your own: put `#[llm_output]` on its definition"
)]
pub trait HasSchema: JsonSchema {}

#[diagnostic::do_not_recommend]
impl<T: JsonSchema> HasSchema for T {}

/// Has the schema of the type, and lets the compiler ask for `HasSchema` with its
/// own message before it asks for that.
pub struct Foreign<T>(PhantomData<T>);

impl<T: HasSchema> JsonSchema for Foreign<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}
