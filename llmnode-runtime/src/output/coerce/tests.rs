use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::output::check::{Decimal, Judge};

fn coerced<'t>(schema: &Value, value: &Json<'t>) -> Result<Coerced<'t>, Misfit> {
    coerce(&Check::new(schema, Judge::Type, [value]), schema, value, &Place::WHOLE)
}

/// What a value becomes, with the flags and their places; or why not.
fn of(schema: &Value, value: &Value) -> Result<(Value, Vec<String>), String> {
    match coerced(schema, &Json::from(value)) {
        Ok(Coerced { json, notes }) => {
            let said = notes.iter().map(|note| {
                let Flag::Coerced(coercion) = note.flag else { panic!("{note:?}") };
                format!("{coercion:?} {} {}", note.place, note.times).replace("  ", " ")
            });
            Ok((serde_json::from_str(&json.to_string()).unwrap(), said.collect()))
        }
        Err(Misfit(why)) => Err(why.map_or_else(String::new, |one| one.to_string())),
    }
}

fn becomes(schema: Value, value: Value, expected: Value, flags: &[&str]) {
    let (value, notes) = of(&schema, &value).unwrap_or_else(|why| panic!("{schema} {value}: {why}"));
    assert_eq!(value, expected, "{schema}");
    assert_eq!(notes, flags, "{schema} {value}");
}

fn refused(schema: Value, value: Value) {
    assert_eq!(of(&schema, &value), Err(String::new()), "{schema} {value}");
}

#[test]
fn numbers_come_out_of_strings_and_whole_numbers_out_of_floats() {
    let (integer, number) = (json!({"type": "integer"}), json!({"type": "number"}));
    becomes(integer.clone(), json!("3"), json!(3), &["NumberFromString 1"]);
    becomes(integer.clone(), json!(" -12 "), json!(-12), &["NumberFromString 1"]);
    becomes(integer.clone(), json!("3.0"), json!(3), &["NumberFromString 1"]);
    becomes(integer.clone(), json!(3.0), json!(3), &["Integer 1"]);
    becomes(integer.clone(), json!(1e3), json!(1000), &["Integer 1"]);
    becomes(number.clone(), json!("1.50"), json!(1.5), &["NumberFromString 1"]);
    becomes(number.clone(), json!("-1e-3"), json!(-0.001), &["NumberFromString 1"]);
    becomes(number.clone(), json!(3), json!(3), &[]);
    for text in
        ["", "three", "3.5", "1,000", "1_000", "+3", "0x3", "3 apples", "1e400", "NaN", "03", "½", "٣"]
    {
        refused(integer.clone(), json!(text));
    }
    for text in
        ["", "1,5", "1e400", "1e-400", "9007199254740993", "0.1000000000000000055511151231257827", "inf"]
    {
        refused(number.clone(), json!(text));
    }
    for value in [json!(3.5), json!(true), json!(null), json!({}), json!([]), json!([1, 2])] {
        refused(integer.clone(), value);
    }
}

#[test]
fn strings_come_out_of_numbers_with_their_digits() {
    let schema = json!({"type": "string"});
    becomes(schema.clone(), json!(12), json!("12"), &["StringFromNumber 1"]);
    becomes(schema.clone(), json!(1.5), json!("1.5"), &["StringFromNumber 1"]);
    for value in [json!(true), json!(null), json!({"a": "b"}), json!(["a", "b"])] {
        refused(schema.clone(), value);
    }
}

#[test]
fn truth_comes_out_of_its_names() {
    let schema = json!({"type": "boolean"});
    for text in ["true", "True", " TRUE ", "\"true\"", "**True**", "true."] {
        becomes(schema.clone(), json!(text), json!(true), &["Boolean 1"]);
    }
    becomes(schema.clone(), json!("The answer is false."), json!(false), &["Mentioned 1"]);
    for value in [json!("yes"), json!("1"), json!(1), json!("not true"), json!("untrue"), json!(null)] {
        refused(schema.clone(), value);
    }
    assert_eq!(
        of(&schema, &json!("true or false")),
        Err("could mean true or false; write the one that is meant".into())
    );
}

#[test]
fn one_of_the_allowed_values_is_known_by_its_name() {
    let colour = json!({"type": "string", "enum": ["Red", "Dark Red", "None"]});
    becomes(colour.clone(), json!(" red "), json!("Red"), &["Choice 1"]);
    becomes(colour.clone(), json!("dark_red"), json!("Dark Red"), &["Choice 1"]);
    becomes(colour.clone(), json!("It is DARK RED"), json!("Dark Red"), &["Mentioned 1"]);
    becomes(colour.clone(), json!("Red - the colour of a tomato"), json!("Red"), &["Mentioned 1"]);
    becomes(colour.clone(), json!(["Red"]), json!("Red"), &["Single 1"]);
    for value in
        [json!("Blue"), json!("not Red"), json!(""), json!(["Red", "None"]), json!({"a": "Red"}), json!(1)]
    {
        refused(colour.clone(), value);
    }
    let why = of(&colour, &json!("Red, or None")).unwrap_err();
    assert_eq!(why, r#"could mean "Red" or "None"; write the one that is meant"#);
    becomes(json!({"enum": [1, 2]}), json!("2"), json!(2), &["NumberFromString 1"]);
    becomes(json!({"enum": ["1", "2"]}), json!(2), json!("2"), &["StringFromNumber 1"]);
    becomes(json!({"const": 2}), json!(2.0), json!(2), &["Integer 1"]);
    becomes(json!({"const": true}), json!("True"), json!(true), &["Boolean 1"]);
    refused(json!({"const": true}), json!("false"));
    refused(json!({"enum": [1, 2]}), json!("1 or 2"));
}

#[test]
fn one_value_is_a_list_and_a_list_of_one_is_its_value() {
    let numbers = json!({"type": "array", "items": {"type": "integer"}});
    becomes(numbers.clone(), json!(3), json!([3]), &["List 1"]);
    becomes(numbers.clone(), json!("3"), json!([3]), &["List 1", "NumberFromString [0] 1"]);
    becomes(numbers.clone(), json!(["1", 2, "3"]), json!([1, 2, 3]), &["NumberFromString [0] 2"]);
    becomes(json!({"type": "integer"}), json!(["3"]), json!(3), &["Single 1", "NumberFromString 1"]);
    refused(numbers.clone(), json!(null));
    refused(numbers, json!("1, 2"));
    let item = json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}});
    let items = json!({"type": "array", "items": item});
    becomes(items.clone(), json!({"a": 1}), json!([{"a": 1}]), &["List 1"]);
    becomes(item.clone(), json!([{"a": 1}]), json!({"a": 1}), &["Single 1"]);
    refused(items, json!({"results": [{"a": 1}]}));
    refused(item, json!([{"results": 1}]));
    let pair = json!({"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "minItems": 2, "maxItems": 2});
    becomes(
        pair.clone(),
        json!(["1", 2]),
        json!([1, "2"]),
        &["NumberFromString [0] 1", "StringFromNumber [1] 1"],
    );
    refused(pair, json!([1]));
}

#[test]
fn a_list_that_may_be_one_item_of_lists_or_an_item_each_is_refused() {
    let rows = json!({"type": "array", "items": {"type": "array", "items": {"type": "integer"}}});
    let why = of(&rows, &json!([1, 2])).unwrap_err();
    assert_eq!(why, "could mean [[1],[2]] or [[1,2]]; write the one that is meant");
    becomes(rows.clone(), json!([1, [2]]), json!([[1], [2]]), &["List [0] 1"]);
    becomes(rows, json!([1]), json!([[1]]), &["List [0] 1"]);
    let words = json!({"type": "array", "items": {"type": "string"}});
    refused(words.clone(), json!("- a\n- b"));
    refused(words.clone(), json!("1. a\n2. b"));
    becomes(words, json!("- a"), json!(["- a"]), &["List 1"]);
}

#[test]
fn a_bare_value_is_the_only_member_of_its_object() {
    let inner = json!({"type": "object", "properties": {"n": {"type": "integer"}, "s": {"type": "string"}}, "required": ["n"]});
    let outer = json!({"type": "object", "properties": {"it": inner}, "required": ["it"]});
    becomes(
        outer.clone(),
        json!({"n": "1"}),
        json!({"it": {"n": 1}}),
        &["Member 1", "NumberFromString it.n 1"],
    );
    becomes(
        json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}),
        json!(5),
        json!({"n": 5}),
        &["Member 1"],
    );
    for value in [json!({"x": 1}), json!({"n": 1, "x": 1}), json!({"it": 1}), json!(null), json!("text")] {
        refused(outer.clone(), value);
    }
    refused(json!({"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a"]}), json!(1));
    refused(json!({"type": "object", "additionalProperties": {"type": "integer"}}), json!(1));
}

#[test]
fn members_are_changed_each_and_what_is_unknown_stays() {
    let schema = json!({
        "type": "object",
        "properties": {
            "id": {"type": "integer"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "note": {"type": ["string", "null"]},
            "rest": {"type": "integer", "default": 0},
        },
        "required": ["id", "note"],
    });
    becomes(
        schema.clone(),
        json!({"id": "7", "tags": "a", "x": [1], "rest": null}),
        json!({"id": 7, "tags": ["a"], "x": [1], "rest": null, "note": null}),
        &["NumberFromString id 1", "List tags 1", "Null note 1"],
    );
    refused(schema.clone(), json!({"note": null}));
    refused(schema, json!({"id": null, "note": null}));
    let map = json!({"type": "object", "additionalProperties": {"type": "integer"}});
    becomes(map, json!({"a": "1", "b": 2}), json!({"a": 1, "b": 2}), &["NumberFromString a 1"]);
    let closed =
        json!({"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": false});
    refused(closed, json!({"a": "1", "b": 2}));
}

#[test]
fn a_union_takes_the_form_that_fits_or_else_the_nearest_one() {
    let either = |forms: Value| json!({"anyOf": forms});
    let (integer, string, boolean) =
        (json!({"type": "integer"}), json!({"type": "string"}), json!({"type": "boolean"}));
    becomes(either(json!([integer, string])), json!("3"), json!("3"), &[]);
    becomes(either(json!([integer, boolean])), json!("3"), json!(3), &["NumberFromString 1"]);
    becomes(either(json!([string, integer])), json!(3.0), json!(3), &["Integer 1"]);
    becomes(json!({"type": ["integer", "null"]}), json!("3"), json!(3), &["NumberFromString 1"]);
    becomes(either(json!([integer, {"type": "null"}])), json!(null), json!(null), &[]);
    let list = json!({"type": "array", "items": integer});
    becomes(either(json!([list, integer])), json!("3"), json!(3), &["NumberFromString 1"]);
    becomes(either(json!([list, boolean])), json!("3"), json!([3]), &["List 1", "NumberFromString [0] 1"]);

    let link = json!({"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]});
    for scalar in [&boolean, &integer, &json!({"enum": ["none"]})] {
        refused(either(json!([link, scalar])), json!("a.png"));
        refused(either(json!([{"anyOf": [link]}, scalar])), json!("a.png"));
    }
    let with_null = either(json!([link, {"type": "null"}]));
    becomes(with_null, json!("a.png"), json!({"url": "a.png"}), &["Member 1"]);
    let or_true = either(json!([link, boolean]));
    becomes(or_true, json!("true"), json!(true), &["Boolean 1"]);
    becomes(
        json!({"type": ["object", "null"], "properties": {"url": {"type": "string"}}}),
        json!("a"),
        json!({"url": "a"}),
        &["Member 1"],
    );
    refused(json!({"type": ["object", "boolean"], "properties": {"url": {"type": "string"}}}), json!("a"));

    let circle = json!({"type": "object", "properties": {"r": {"type": "number"}}, "required": ["r"]});
    let square = json!({"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]});
    let shape = either(json!([circle, square]));
    becomes(shape.clone(), json!({"a": "2"}), json!({"a": 2}), &["NumberFromString a 1"]);
    refused(shape.clone(), json!({"b": "2"}));
    let two = either(json!([{"type": "integer"}, {"enum": [7.5, true]}]));
    assert_eq!(of(&two, &json!(["7"])).unwrap().0, json!(7));
    let why = of(&either(json!([{"enum": ["Red"]}, {"enum": ["RED"]}])), &json!("red")).unwrap_err();
    assert_eq!(why, r#"could mean "Red" or "RED"; write the one that is meant"#);
}

#[test]
fn a_type_that_contains_itself_is_not_put_around_a_value_for_ever() {
    let node = json!({"$ref": "#/$defs/Node", "$defs": {"Node": {
        "type": "object",
        "properties": {"child": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]}},
    }}});
    refused(node, json!(5));
    let list = json!({"$ref": "#/$defs/List", "$defs": {"List": {"type": "array", "items": {"$ref": "#/$defs/List"}}}});
    refused(list.clone(), json!(5));
    becomes(list, json!([[], [[]]]), json!([[], [[]]]), &[]);
    let deep = (0..120).fold(json!("1"), |inner, _| json!({"child": [inner]}));
    let tree = json!({"$ref": "#/$defs/T", "$defs": {"T": {"anyOf": [
        {"type": "integer"},
        {"type": "object", "properties": {"child": {"type": "array", "items": {"$ref": "#/$defs/T"}}}, "required": ["child"]},
    ]}}});
    let told = std::thread::Builder::new()
        .stack_size(3 << 19)
        .spawn(move || of(&tree, &deep))
        .unwrap()
        .join()
        .unwrap();
    assert!(told.is_ok() || told.is_err());
}

/// A schema, and a value that conforms to it.
fn conforming() -> impl Strategy<Value = (Value, Value)> {
    let leaf = prop_oneof![
        any::<i32>().prop_map(|n| (json!({"type": "integer"}), json!(n))),
        (-1e6..1e6).prop_map(|n: f64| (json!({"type": "number"}), json!(n))),
        "[a-zA-Z ]{0,6}".prop_map(|text| (json!({"type": "string"}), json!(text))),
        any::<bool>().prop_map(|is| (json!({"type": "boolean"}), json!(is))),
        (0..3_usize).prop_map(|at| {
            let names = ["Red", "dark red", "TWO"];
            (json!({"enum": names}), json!(names[at]))
        }),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(|all| {
                let schema = all[0].0.clone();
                let items: Vec<_> = all.into_iter().filter(|one| one.0 == schema).map(|one| one.1).collect();
                (json!({"type": "array", "items": schema}), json!(items))
            }),
            prop::collection::vec(("[a-d]", inner.clone()), 0..4).prop_map(|all| {
                let named: serde_json::Map<_, _> =
                    all.iter().map(|(name, one)| (name.clone(), one.0.clone())).collect();
                let value: serde_json::Map<_, _> =
                    all.iter().map(|(name, one)| (name.clone(), one.1.clone())).collect();
                let required: Vec<_> = named.keys().cloned().collect();
                (json!({"type": "object", "properties": named, "required": required}), json!(value))
            }),
            (inner.clone(), inner).prop_map(|(one, other)| (json!({"anyOf": [other.0, one.0]}), one.1)),
        ]
    })
}

/// The value as a careless model writes it.
fn carelessly(value: &Value, how: &mut impl Iterator<Item = u8>) -> Value {
    let inner = match value {
        Value::Array(items) => items.iter().map(|item| carelessly(item, how)).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), carelessly(value, how))).collect()
        }
        value => value.clone(),
    };
    match (how.next().unwrap_or(0), inner) {
        (1, Value::Number(number)) => json!(number.to_string()),
        (2, Value::String(text)) => json!(text.to_uppercase()),
        (3, Value::Bool(is)) => json!(is.to_string()),
        (4, inner) => json!([inner]),
        (5, Value::Array(mut items)) if items.len() == 1 => items.remove(0),
        (_, inner) => inner,
    }
}

proptest! {
    #[test]
    fn a_value_that_conforms_is_never_changed((schema, value) in conforming()) {
        let json = Json::from(&value);
        let same = coerced(&schema, &json).unwrap();
        prop_assert_eq!(same, Coerced { json, notes: Vec::new() });
    }

    #[test]
    fn what_comes_out_conforms_and_does_not_change_again(
        (schema, value) in conforming(),
        how in prop::collection::vec(0..8_u8, 40),
    ) {
        let written = carelessly(&value, &mut how.into_iter());
        let written = Json::from(&written);
        if let Ok(first) = coerced(&schema, &written) {
            prop_assert!(Check::new(&schema, Judge::Type, [&first.json]).fits(&schema, &first.json));
            prop_assert_eq!(first.notes.is_empty(), first.json == written);
            let again = coerced(&schema, &first.json);
            prop_assert_eq!(again, Ok(Coerced { json: first.json.clone(), notes: Vec::new() }));
        }
    }

    #[test]
    fn a_number_in_a_string_keeps_its_value(text in "-?[0-9]{1,20}(\\.[0-9]{1,20})?(e-?[0-9]{1,3})?") {
        for kind in ["integer", "number"] {
            let schema = json!({"type": kind});
            let value = Json::String(text.as_str().into());
            if let Ok(number) = coerced(&schema, &value) {
                let digits = number.json.to_string();
                prop_assert_eq!(Decimal::parse(&digits), Decimal::parse(&text));
            }
        }
    }

    #[test]
    fn no_text_and_no_names_panic(text: String, names in prop::collection::vec(".{0,6}", 0..5)) {
        let _ = of(&json!({"enum": names}), &json!(text));
        let _ = of(&json!({"type": "boolean"}), &json!(text));
    }
}
