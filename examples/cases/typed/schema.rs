//! The classes and enums of a row, and the JSON schema of a type.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::grammar::Type;

/// The classes and enums that a row defines.
pub(super) struct Types(BTreeMap<String, Definition>);

pub(super) enum Definition {
    Class { fields: Vec<Field>, open: bool },
    Enum(Vec<Choice>),
}

/// A field by its name, and by what it is called in the JSON.
pub(super) struct Field {
    pub(super) name: String,
    pub(super) alias: String,
    pub(super) kind: Type,
}

/// A value of an enum.
pub(super) struct Choice {
    pub(super) name: String,
    pub(super) alias: String,
}

impl Types {
    pub(super) fn of(types: &Value) -> Self {
        let all = types.as_object().into_iter().flatten();
        let mut types = Types(
            all.map(|(name, one)| (name.clone(), definition(one)))
                .collect(),
        );
        types.drop_what_is_no_field();
        types
    }

    pub(super) fn get(&self, name: &str) -> Option<&Definition> {
        self.0.get(name)
    }

    /// Whether it is made of types that there are.
    pub(super) fn knows(&self, kind: &Type) -> bool {
        match kind {
            Type::Named(name) => self.0.contains_key(name),
            Type::List(inner) | Type::Map(inner) => self.knows(inner),
            Type::Union(forms) => forms.iter().all(|form| self.knows(form)),
            _ => true,
        }
    }

    /// Fields of a type that is not defined came out of comments.
    fn drop_what_is_no_field(&mut self) {
        let known: Vec<String> = self.0.keys().cloned().collect();
        let types = Types(
            known
                .into_iter()
                .map(|name| (name, Definition::Enum(Vec::new())))
                .collect(),
        );
        for one in self.0.values_mut() {
            if let Definition::Class { fields, .. } = one {
                fields.retain(|field| types.knows(&field.kind));
            }
        }
    }

    pub(super) fn schema(&self, kind: &Type) -> Value {
        let defs: Map<String, Value> = self
            .0
            .iter()
            .map(|(name, one)| (name.clone(), self.defined(one)))
            .collect();
        let mut schema = self.part(kind);
        schema["$defs"] = Value::Object(defs);
        schema
    }

    fn defined(&self, one: &Definition) -> Value {
        match one {
            Definition::Enum(choices) => {
                json!({"type": "string", "enum": choices.iter().map(|one| &one.alias).collect::<Vec<_>>()})
            }
            Definition::Class { fields, .. } => {
                let named: Map<String, Value> = fields
                    .iter()
                    .map(|field| (field.alias.clone(), self.part(&field.kind)))
                    .collect();
                let required = fields.iter().filter(|field| !field.kind.is_optional());
                let required: Vec<&String> = required.map(|field| &field.alias).collect();
                json!({"type": "object", "properties": named, "required": required})
            }
        }
    }

    fn part(&self, kind: &Type) -> Value {
        match kind {
            Type::Int => json!({"type": "integer"}),
            Type::Float => json!({"type": "number"}),
            Type::Bool => json!({"type": "boolean"}),
            Type::String => json!({"type": "string"}),
            Type::Null => json!({"type": "null"}),
            Type::Literal(value) => json!({"const": value}),
            Type::Named(name) => json!({"$ref": format!("#/$defs/{name}")}),
            Type::List(inner) => json!({"type": "array", "items": self.part(inner)}),
            Type::Map(inner) => json!({"type": "object", "additionalProperties": self.part(inner)}),
            Type::Union(forms) => {
                json!({"anyOf": forms.iter().map(|form| self.part(form)).collect::<Vec<_>>()})
            }
        }
    }
}

fn definition(one: &Value) -> Definition {
    let named = |one: &Value| {
        let name = one["name"].as_str().unwrap_or_default().to_owned();
        let alias = one["alias"]
            .as_str()
            .map_or_else(|| name.clone(), str::to_owned);
        (name, alias)
    };
    let members = |key: &str| one[key].as_array().map_or(&[][..], Vec::as_slice);
    if one["kind"] == "enum" {
        let choices = members("values").iter().map(named);
        return Definition::Enum(
            choices
                .map(|(name, alias)| Choice { name, alias })
                .collect(),
        );
    }
    let fields = members("fields");
    // What is there twice came out of comments, too.
    let once = |name: &Value| fields.iter().filter(|other| other["name"] == *name).count() == 1;
    let field = |one: &Value| {
        let (name, alias) = named(one);
        let kind = Type::parse(one["type"].as_str()?)?;
        Some(Field { name, alias, kind })
    };
    let fields = fields
        .iter()
        .filter(|one| once(&one["name"]))
        .filter_map(field)
        .collect();
    Definition::Class {
        fields,
        open: one["dynamic"] == true,
    }
}
