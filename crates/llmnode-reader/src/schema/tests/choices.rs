//! Lists from the state, over random types: what they bind, and that they bind nothing else.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::OutputSchema;
use crate::ask::{ChoiceList, has_choices, instruction, take_strict_error, with_choices};

/// Small, and the same in each run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }
}

#[derive(Clone)]
enum Type {
    Text,
    Whole,
    Truth,
    Maybe(Box<Type>),
    List(Box<Type>),
    /// Shared by all that refer to it; it may contain itself.
    Named(usize),
    /// Tagged by `kind`.
    Union(Vec<Vec<Type>>),
}

struct World {
    /// The members of each struct. `renamed`: in camel case.
    structs: Vec<(Vec<Type>, bool)>,
}

fn any(draw: &mut Draw, depth: usize, structs: usize) -> Type {
    match draw.below(if depth == 0 { 3 } else { 9 }) {
        0 => Type::Text,
        1 => Type::Whole,
        2 => Type::Truth,
        3 | 4 => Type::List(Box::new(any(draw, depth - 1, structs))),
        5 => match any(draw, depth - 1, structs) {
            maybe @ Type::Maybe(_) => maybe,
            inner => Type::Maybe(Box::new(inner)),
        },
        6 => Type::Union(
            (0..2)
                .map(|_| vec![any(draw, depth - 1, structs), Type::Text])
                .collect(),
        ),
        // Behind a list, so that it may contain itself.
        7 => Type::List(Box::new(Type::Named(draw.below(structs)))),
        _ => Type::Maybe(Box::new(Type::Named(draw.below(structs)))),
    }
}

fn member(index: usize, renamed: bool) -> String {
    if renamed {
        format!("theMember{index}")
    } else {
        format!("the_member{index}")
    }
}

fn object(members: &[Type], renamed: bool, tag: Option<usize>) -> Value {
    let mut all = Map::new();
    if let Some(tag) = tag {
        all.insert(
            "kind".to_owned(),
            json!({"type": "string", "const": format!("Form{tag}")}),
        );
    }
    all.extend(
        members
            .iter()
            .enumerate()
            .map(|(at, one)| (member(at, renamed), schema_of(one))),
    );
    let required: Vec<String> = all.keys().cloned().collect();
    json!({"type": "object", "properties": all, "required": required})
}

fn schema_of(one: &Type) -> Value {
    match one {
        Type::Text => json!({"type": "string"}),
        Type::Whole => json!({"type": "integer"}),
        Type::Truth => json!({"type": "boolean"}),
        Type::Maybe(inner) => json!({"anyOf": [schema_of(inner), {"type": "null"}]}),
        Type::List(item) => json!({"type": "array", "items": schema_of(item)}),
        Type::Named(index) => json!({"$ref": format!("#/$defs/Struct{index}")}),
        Type::Union(forms) => {
            let forms = forms
                .iter()
                .enumerate()
                .map(|(tag, members)| object(members, false, Some(tag)));
            json!({"oneOf": forms.collect::<Vec<_>>()})
        }
    }
}

impl World {
    fn draw(draw: &mut Draw) -> World {
        let count = 1 + draw.below(3);
        let one = |draw: &mut Draw| {
            (
                (0..1 + draw.below(4))
                    .map(|_| any(draw, 3, count))
                    .collect(),
                draw.below(2) == 1,
            )
        };
        World {
            structs: (0..count).map(|_| one(draw)).collect(),
        }
    }

    fn schema(&self) -> Arc<OutputSchema> {
        let defs = self.structs.iter().enumerate();
        let defs = defs.map(|(at, (members, renamed))| {
            (format!("Struct{at}"), object(members, *renamed, None))
        });
        let mut root = object(&self.structs[0].0, self.structs[0].1, None);
        root["$defs"] = Value::Object(defs.collect());
        Arc::new(OutputSchema::from_value("Root", root))
    }

    /// A path to a text or a number in Rust's names, and whether that is a number.
    fn path(&self, draw: &mut Draw) -> Option<(String, bool)> {
        let (mut path, mut at) = (String::new(), Type::Named(0));
        for _ in 0..24 {
            at = match at {
                Type::Text => return Some((path, false)),
                Type::Whole => return Some((path, true)),
                Type::Truth => return None,
                Type::Maybe(inner) => *inner,
                Type::List(item) => {
                    path += "[]";
                    *item
                }
                Type::Named(index) => step(&mut path, &self.structs[index].0, draw),
                Type::Union(forms) => {
                    let form = draw.below(forms.len());
                    path += &format!(".Type::Form{form}");
                    step(&mut path, &forms[form], draw)
                }
            };
        }
        None
    }

    /// A random value. At `path`, relative to `one`, it is `chosen`.
    fn value(
        &self,
        one: &Type,
        path: Option<&str>,
        chosen: &Value,
        draw: &mut Draw,
        depth: usize,
    ) -> Value {
        if path == Some("") && matches!(one, Type::Text | Type::Whole) {
            return chosen.clone();
        }
        match one {
            Type::Text => json!(format!("any {}", draw.below(9))),
            Type::Whole => json!(draw.below(9)),
            Type::Truth => json!(draw.below(2) == 0),
            Type::Maybe(inner) if path.is_some() || (depth < 2 && draw.below(2) == 0) => {
                self.value(inner, path, chosen, draw, depth + 1)
            }
            Type::Maybe(_) => Value::Null,
            Type::List(item) => {
                let inner = path.map(|path| path.strip_prefix("[]").unwrap_or("?"));
                let count = if inner.is_some() {
                    1
                } else if depth < 2 {
                    draw.below(3)
                } else {
                    0
                };
                (0..count)
                    .map(|_| self.value(item, inner, chosen, draw, depth + 1))
                    .collect()
            }
            Type::Named(index) => {
                let (members, renamed) = &self.structs[*index];
                Value::Object(self.members(members, *renamed, path, chosen, draw, depth))
            }
            Type::Union(forms) => {
                let wanted = path.and_then(|path| path.strip_prefix(".Type::Form"));
                let form = wanted.map_or_else(
                    || draw.below(forms.len()),
                    |rest| usize::from(rest.starts_with('1')),
                );
                let mut all = self.members(
                    &forms[form],
                    false,
                    wanted.map(|rest| &rest[1..]),
                    chosen,
                    draw,
                    depth,
                );
                all.insert("kind".to_owned(), json!(format!("Form{form}")));
                Value::Object(all)
            }
        }
    }

    fn members(
        &self,
        members: &[Type],
        renamed: bool,
        path: Option<&str>,
        chosen: &Value,
        draw: &mut Draw,
        depth: usize,
    ) -> Map<String, Value> {
        let one = |(at, one): (usize, &Type)| {
            let own = format!("the_member{at}");
            let rest = path
                .map(|path| path.trim_start_matches('.'))
                .and_then(|path| path.strip_prefix(&own));
            (
                member(at, renamed),
                self.value(one, rest, chosen, draw, depth + 1),
            )
        };
        members.iter().enumerate().map(one).collect()
    }
}

fn step(path: &mut String, members: &[Type], draw: &mut Draw) -> Type {
    let at = draw.below(members.len());
    if !path.is_empty() {
        path.push('.');
    }
    *path += &format!("the_member{at}");
    members[at].clone()
}

#[test]
fn of_five_hundred_random_types_a_list_binds_its_path_and_no_other() {
    let mut tried = 0;
    let mut draw = Draw(7);
    while tried < 500 {
        let world = World::draw(&mut draw);
        let Some((path, is_whole)) = world.path(&mut draw) else {
            continue;
        };
        let own = world.schema();
        let names = if is_whole {
            ["71", "72"]
        } else {
            ["in", "also"]
        };
        let values: BTreeSet<String> = names.map(str::to_owned).into();
        let list = ChoiceList {
            path: path.clone().into(),
            source: "x".into(),
            values,
        };
        let with =
            with_choices(&own, vec![list]).unwrap_or_else(|error| panic!("{path}: {error:?}"));
        assert!(own.strict().is_err() || with.strict().is_ok(), "{path}");
        if !has_choices(&with) {
            // Beyond the levels of the strict dialect.
            assert_eq!(with.plain().get(), own.plain().get());
            continue;
        }
        tried += 1;
        let as_chosen = |text: &str| {
            if is_whole {
                text.parse().map_or(json!(text), |n: i64| json!(n))
            } else {
                json!(text)
            }
        };
        let root = Type::Named(0);
        for _ in 0..20 {
            let right = world
                .value(&root, Some(&path), &as_chosen(names[1]), &mut draw, 0)
                .to_string();
            assert!(
                own.is_met_by(&right) && with.is_met_by(&right),
                "{path}: {right}\n{}",
                with.plain()
            );
            let outside = if is_whole { json!(73) } else { json!("out") };
            let wrong = world
                .value(&root, Some(&path), &outside, &mut draw, 0)
                .to_string();
            assert!(
                own.is_met_by(&wrong) && !with.is_met_by(&wrong),
                "{path}: {wrong}\n{}",
                with.plain()
            );
        }
    }
}

fn listing(own: &Arc<OutputSchema>, path: &'static str) -> Arc<OutputSchema> {
    let list = ChoiceList {
        path: path.into(),
        source: "x".into(),
        values: ["lamp".to_owned()].into(),
    };
    with_choices(own, vec![list]).unwrap()
}

#[test]
fn a_copy_is_wrapped_as_its_type_and_cut_as_its_type() {
    let own = Arc::new(OutputSchema::from_value(
        "Names",
        json!({"type": "array", "items": {"type": "string"}}),
    ));
    let with = listing(&own, "self[]");
    assert!(own.is_wrapped() && with.is_wrapped());
    assert!(with.is_met_by(r#"{"value": ["lamp"]}"#) && !with.is_met_by(r#"{"value": ["key"]}"#));

    let deep = (0..80).fold(
        json!({"type": "string"}),
        |inner, _| json!({"type": "array", "items": inner}),
    );
    let members = json!({"item": {"type": "string"}, "deep": deep});
    let deep = json!({"type": "object", "properties": members, "required": ["item", "deep"]});
    let own = Arc::new(OutputSchema::from_value("Deep", deep));
    let with = listing(&own, "item");
    assert!(own.form().is_none() && with.form().is_none());
    assert!(own.strict().is_err() && with.strict().is_err());
    assert!(
        take_strict_error(&listing(&own, "item")).is_some() && take_strict_error(&with).is_none()
    );
    // No form can express it, and the values are below the question.
    assert!(instruction(&with).contains("JSON Schema") && !instruction(&with).contains("lamp"));
    assert!(with.plain().get().contains("lamp"));
}
