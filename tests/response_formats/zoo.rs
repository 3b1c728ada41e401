//! The shapes that serde and schemars give a type: one type each, with values of it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};
use std::ops::Range;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::shape::{Shape, shape};

/// A type of the zoo: what it derives, and can be compared.
macro_rules! animals {
    ($($item:item)*) => {$(
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        $item
    )*};
}

animals! {
    struct Flat { name: String, floor: u8, ratio: f64, urgent: bool }

    /// Who ordered.
    struct Nested {
        /// First name and surname.
        customer: Flat,
        /// The one before.
        before: Box<Flat>,
        items: Vec<Flat>,
    }

    struct Tree { leaf: u8, #[schemars(length(max = 2))] kids: Vec<Tree>, left: Option<Box<Tree>> }

    struct Sum { terms: Vec<Term> }

    enum Term { Number(u8), Inner(Sum) }

    struct Optional { a: Option<String>, b: Option<Flat>, c: Option<Color> }

    struct Defaults {
        #[serde(default)] page: u16,
        #[serde(default)] tags: Vec<String>,
        /// How large.
        #[serde(default = "large")] size: Size,
        #[serde(default)] note: Option<String>,
    }

    enum Size { Small, Large }

    struct Flattened { id: u32, #[serde(flatten)] inner: Flat }

    struct FlattenedMap { id: u32, #[serde(flatten)] rest: BTreeMap<String, u8> }

    struct FlattenedEnum { reason: String, #[serde(flatten)] what: Internal }

    #[serde(rename_all = "camelCase")]
    struct Renamed { first_name: String, #[serde(rename = "größe \"in\" cm")] height: u8 }

    struct Skipping {
        kept: u8,
        #[serde(skip)] gone: u8,
        #[serde(skip_serializing_if = "Option::is_none")] may_be: Option<u8>,
    }

    #[serde(rename_all = "snake_case")]
    enum Color { Red, DarkGreen, #[serde(rename = "BLUE!")] Blue }

    /// How it went.
    enum Grade {
        /// Better than asked for.
        Good,
        Fair,
        /// Worse than asked for.
        Poor,
    }

    enum External { Unit, New(Flat), Pair(u8, u8), Mixed(String, u8), Struct { #[serde(default)] a: bool } }

    #[serde(tag = "type")]
    enum Internal { Unit, New(Flat), Struct { count: u8, note: Option<String> } }

    #[serde(tag = "kind", content = "value")]
    enum Adjacent { Unit, New(Flat), Pair(u8, u8), Struct { a: bool } }

    #[serde(untagged)]
    enum Untagged { Number(u32), Text(String), List(Vec<u8>), Struct { a: bool } }

    struct Meters(f64);

    #[serde(transparent)]
    struct Transparent { inner: Flat }

    struct MixedTuple { pair: (String, u8), triple: (bool, Color, u32) }

    struct Arrays { pair: (u8, u8), array: [u16; 3], one: [bool; 1] }

    struct Maps { by_name: BTreeMap<String, u8>, nested: BTreeMap<String, Vec<Flat>> }

    struct EnumKeys { by_color: BTreeMap<Key, u8> }

    struct NumberKeys { citations: BTreeMap<u32, String>, changes: BTreeMap<i64, Vec<u8>> }

    struct FreeParts {
        /// Whatever it says.
        said: Value,
        by_name: BTreeMap<String, Value>,
        whole: Map<String, Value>,
        pairs: Vec<(String, Value)>,
    }

    struct Sets { words: BTreeSet<String>, numbers: BTreeSet<u8> }

    struct Ranges {
        #[schemars(range(min = 5, max = 300))] level: u32,
        #[schemars(range(min = 0.0, max = 1.0))] share: f64,
    }

    struct Lengths {
        /// Who.
        #[schemars(length(min = 2, max = 5))] code: String,
        #[schemars(length(min = 1, max = 3))] few: Vec<u8>,
        #[schemars(regex(pattern = "^[A-Z]{2}-[0-9]{3}$"))] plate: String,
    }

    struct Formats {
        #[schemars(extend("format" = "uuid"))] id: String,
        #[schemars(extend("format" = "date-time"))] at: String,
        #[schemars(extend("format" = "date"))] day: String,
        #[schemars(extend("format" = "email"))] mail: String,
        #[schemars(extend("format" = "money"))] price: String,
        v4: Ipv4Addr,
        any: IpAddr,
    }

    struct Unsigned { a: u8, b: u16, c: u32, d: u64, e: u128, f: usize }

    struct Signed { a: i8, b: i16, c: i32, d: i64, e: i128, f: isize }

    struct Floats { single: f32, double: f64 }

    struct Letters { one: char, maybe: Option<char> }

    struct Pointers { boxed: Box<u8>, shared: Box<str>, cow: Cow<'static, str>, list: Box<[u8]> }

    struct Units { unit: (), marker: Marker, flag: bool }

    struct Marker;

    struct Page<T> { items: Vec<T>, next: Option<T> }

    #[serde(deny_unknown_fields)]
    struct Closed { word: String, inner: ClosedInner }

    #[serde(deny_unknown_fields)]
    struct ClosedInner { on: bool }

    struct NestedOptions { twice: Option<Option<u8>>, list: Vec<Option<u8>> }

    struct Empty {}

    struct Free { any: Value, list: Vec<Value> }

    struct Foreign { span: Range<u32>, wait: Duration, tried: Result<u8, String> }
}

/// A key of a map is a string: serde writes one for an enum.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
enum Key {
    Left,
    Right,
}

fn large() -> Size {
    Size::Large
}

fn flat() -> Flat {
    Flat {
        name: "Ada \"L\"\n".into(),
        floor: 3,
        ratio: 0.5,
        urgent: true,
    }
}

fn map<K: Ord, V>(entries: impl IntoIterator<Item = (K, V)>) -> BTreeMap<K, V> {
    entries.into_iter().collect()
}

fn leaf(leaf: u8) -> Tree {
    Tree {
        leaf,
        kids: vec![],
        left: None,
    }
}

/// All of them.
pub(crate) fn zoo() -> Vec<Shape> {
    let mut all = structs();
    all.extend(enums());
    all.extend(parts());
    all.extend(roots());
    all
}

fn structs() -> Vec<Shape> {
    vec![
        shape("flat", vec![flat()]),
        shape(
            "nested",
            vec![Nested {
                customer: flat(),
                before: Box::new(flat()),
                items: vec![flat(), flat()],
            }],
        ),
        shape(
            "recursive",
            vec![
                leaf(1),
                Tree {
                    leaf: 1,
                    kids: vec![leaf(2), leaf(3)],
                    left: Some(Box::new(leaf(4))),
                },
            ],
        ),
        shape(
            "mutually_recursive",
            vec![Sum {
                terms: vec![
                    Term::Number(1),
                    Term::Inner(Sum {
                        terms: vec![Term::Number(2)],
                    }),
                ],
            }],
        ),
        shape(
            "optional",
            vec![
                Optional {
                    a: None,
                    b: None,
                    c: None,
                },
                Optional {
                    a: Some("x".into()),
                    b: Some(flat()),
                    c: Some(Color::Blue),
                },
            ],
        ),
        shape(
            "default",
            vec![Defaults {
                page: 2,
                tags: vec!["a".into()],
                size: Size::Small,
                note: Some("n".into()),
            }],
        ),
        shape(
            "flatten_struct",
            vec![Flattened {
                id: 1,
                inner: flat(),
            }],
        ),
        shape(
            "flatten_map",
            vec![FlattenedMap {
                id: 1,
                rest: map([("a".to_owned(), 2)]),
            }],
        ),
        shape(
            "flatten_enum",
            vec![
                FlattenedEnum {
                    reason: "r".into(),
                    what: Internal::Unit,
                },
                FlattenedEnum {
                    reason: "r".into(),
                    what: Internal::New(flat()),
                },
            ],
        ),
        shape(
            "rename",
            vec![Renamed {
                first_name: "Ada".into(),
                height: 160,
            }],
        ),
        shape(
            "skip",
            vec![
                Skipping {
                    kept: 1,
                    gone: 0,
                    may_be: None,
                },
                Skipping {
                    kept: 1,
                    gone: 0,
                    may_be: Some(2),
                },
            ],
        ),
        shape(
            "deny_unknown_fields",
            vec![Closed {
                word: "w".into(),
                inner: ClosedInner { on: true },
            }],
        ),
        shape(
            "generic",
            vec![
                Page {
                    items: vec![flat()],
                    next: None,
                },
                Page {
                    items: vec![],
                    next: Some(flat()),
                },
            ],
        ),
        shape("empty_struct", vec![Empty {}]),
        shape("transparent", vec![Transparent { inner: flat() }]),
    ]
}

fn enums() -> Vec<Shape> {
    vec![
        shape(
            "enum_of_units",
            vec![Color::Red, Color::DarkGreen, Color::Blue],
        ),
        shape(
            "enum_documented",
            vec![Grade::Good, Grade::Fair, Grade::Poor],
        ),
        shape(
            "enum_external",
            vec![
                External::Unit,
                External::New(flat()),
                External::Pair(1, 2),
                External::Mixed("m".into(), 3),
                External::Struct { a: true },
            ],
        ),
        shape(
            "enum_internal",
            vec![
                Internal::Unit,
                Internal::New(flat()),
                Internal::Struct {
                    count: 1,
                    note: None,
                },
                Internal::Struct {
                    count: 1,
                    note: Some("n".into()),
                },
            ],
        ),
        shape(
            "enum_adjacent",
            vec![
                Adjacent::Unit,
                Adjacent::New(flat()),
                Adjacent::Pair(1, 2),
                Adjacent::Struct { a: false },
            ],
        ),
        shape(
            "enum_untagged",
            vec![
                Untagged::Number(7),
                Untagged::Text("t".into()),
                Untagged::List(vec![1, 2]),
                Untagged::Struct { a: true },
            ],
        ),
    ]
}

fn parts() -> Vec<Shape> {
    vec![
        shape(
            "tuple_mixed",
            vec![MixedTuple {
                pair: ("a".into(), 1),
                triple: (true, Color::Red, 3),
            }],
        ),
        shape(
            "tuple_uniform_and_array",
            vec![Arrays {
                pair: (1, 2),
                array: [3, 4, 5],
                one: [true],
            }],
        ),
        shape(
            "map",
            vec![Maps {
                by_name: map([("a b".to_owned(), 1)]),
                nested: map([("x".to_owned(), vec![flat()])]),
            }],
        ),
        shape(
            "map_of_enum_keys",
            vec![EnumKeys {
                by_color: map([(Key::Left, 1), (Key::Right, 2)]),
            }],
        ),
        shape(
            "map_of_number_keys",
            vec![NumberKeys {
                citations: map([(1, "a".to_owned()), (20, "b".to_owned())]),
                changes: map([(-3, vec![1])]),
            }],
        ),
        shape(
            "set",
            vec![Sets {
                words: ["a".to_owned()].into(),
                numbers: [1, 2].into(),
            }],
        ),
        shape(
            "range",
            vec![Ranges {
                level: 300,
                share: 0.25,
            }],
        ),
        shape(
            "length_and_pattern",
            vec![Lengths {
                code: "abc".into(),
                few: vec![1],
                plate: "AB-123".into(),
            }],
        ),
        shape(
            "format",
            vec![Formats {
                id: "67e55044-10b1-426f-9247-bb680e5fe0c8".into(),
                at: "2024-02-29T12:30:00Z".into(),
                day: "2024-02-29".into(),
                mail: "ada@example.org".into(),
                price: "3 €".into(),
                v4: Ipv4Addr::LOCALHOST,
                any: IpAddr::V4(Ipv4Addr::LOCALHOST),
            }],
        ),
        shape(
            "unsigned",
            vec![
                Unsigned {
                    a: 0,
                    b: 0,
                    c: 0,
                    d: 0,
                    e: 0,
                    f: 0,
                },
                Unsigned {
                    a: u8::MAX,
                    b: u16::MAX,
                    c: u32::MAX,
                    d: u64::MAX,
                    e: 1 << 60,
                    f: usize::MAX,
                },
            ],
        ),
        shape(
            "signed",
            vec![
                Signed {
                    a: i8::MIN,
                    b: i16::MIN,
                    c: i32::MIN,
                    d: i64::MIN,
                    e: -(1 << 60),
                    f: isize::MIN,
                },
                Signed {
                    a: i8::MAX,
                    b: i16::MAX,
                    c: i32::MAX,
                    d: i64::MAX,
                    e: 1 << 60,
                    f: isize::MAX,
                },
            ],
        ),
        shape(
            "float",
            vec![
                Floats {
                    single: 0.5,
                    double: -1.25e-7,
                },
                Floats {
                    single: 3.0,
                    double: 1e20,
                },
            ],
        ),
        shape(
            "char",
            vec![
                Letters {
                    one: 'ß',
                    maybe: Some('"'),
                },
                Letters {
                    one: '\n',
                    maybe: None,
                },
            ],
        ),
        shape(
            "pointers",
            vec![Pointers {
                boxed: Box::new(1),
                shared: "s".into(),
                cow: "c".into(),
                list: [1, 2].into(),
            }],
        ),
        shape(
            "unit",
            vec![Units {
                unit: (),
                marker: Marker,
                flag: true,
            }],
        ),
        shape(
            "nested_option",
            vec![
                NestedOptions {
                    twice: None,
                    list: vec![None, Some(1)],
                },
                NestedOptions {
                    twice: Some(Some(3)),
                    list: vec![],
                },
            ],
        ),
        shape(
            "free_parts",
            vec![FreeParts {
                said: json!([1, "x"]),
                by_name: map([
                    ("a".to_owned(), json!("text")),
                    ("b".to_owned(), Value::Null),
                ]),
                whole: Map::from_iter([("c".to_owned(), json!(2.5))]),
                pairs: vec![("k".to_owned(), json!(true))],
            }],
        ),
        shape(
            "value",
            vec![Free {
                any: json!({"a": [1, null]}),
                list: vec![json!("x"), json!(2)],
            }],
        ),
        shape(
            "foreign",
            vec![
                Foreign {
                    span: 1..5,
                    wait: Duration::from_millis(1500),
                    tried: Ok(1),
                },
                Foreign {
                    span: 0..0,
                    wait: Duration::ZERO,
                    tried: Err("no".into()),
                },
            ],
        ),
    ]
}

fn roots() -> Vec<Shape> {
    vec![
        shape("root_bool", vec![true, false]),
        shape("root_integer", vec![-7_i32, i32::MAX]),
        shape("root_string", vec!["a \"b\"".to_owned(), String::new()]),
        shape("root_newtype", vec![Meters(1.5)]),
        shape("root_list", vec![vec![flat()], vec![]]),
        shape("root_set", vec![BTreeSet::from([1_u8, 2])]),
        shape("root_map", vec![map([("a".to_owned(), flat())])]),
        shape("root_tuple", vec![("a".to_owned(), 1_u8, true)]),
        shape("root_option", vec![None, Some(7_u16)]),
        shape("root_option_of_struct", vec![None, Some(flat())]),
        shape("root_unit", vec![()]),
        shape("root_value", vec![json!({"a": 1}), json!([1]), json!("x")]),
    ]
}
