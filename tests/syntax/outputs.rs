//! Every shape of an output, around one type whose validator rejects it: the paths are those of the JSON.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::sync::Arc;

use llmnode::{Category, Invalid, Run, ScriptedModel, llm_node, llm_output, validate};

use crate::support::{Choice, World, paths, world};

const BAD: &str = r#"{"item": "axe"}"#;

macro_rules! case {
    ($name:ident: $output:ty, $answer:expr => $($path:expr),* $(,)?) => {
        #[tokio::test]
        async fn $name() {
            #[llm_node(prompt = "x", output = $output, state = World)]
            #[derive(Debug)]
            struct Ask;
            let answer = $answer.replace("BAD", BAD);
            let expected: Vec<&str> = vec![$($path),*];
            assert_eq!(paths(world(), &Ask, &answer).await, expected);
        }
    };
}

// Containers of the standard library, and tuples of every mixture.
case!(vec: Vec<Choice>, "[BAD]" => "[0].item");
case!(deque: VecDeque<Choice>, "[BAD]" => "[0].item");
case!(array: [Choice; 2], "[BAD, BAD]" => "[0].item", "[1].item");
case!(option: Option<Choice>, "BAD" => "item");
case!(boxed: Box<Choice>, "BAD" => "item");
case!(btree: BTreeMap<String, Choice>, r#"{"b.c": BAD, "a": BAD}"# => "a.item", r#"["b.c"].item"#);
case!(hash: HashMap<u8, Vec<Choice>>, r#"{"2": [BAD], "1": [BAD]}"# => "1[0].item", "2[0].item");
case!(one: (Choice,), "[BAD]" => "[0].item");
case!(two: (u8, Choice), "[1, BAD]" => "[1].item");
case!(three: (Choice, String, Choice), r#"[BAD, "", BAD]"# => "[0].item", "[2].item");
case!(nested: (u8, (Choice, [(bool, Choice); 1])), "[1, [BAD, [[true, BAD]]]]" => "[1][0].item", "[1][1][0][1].item");
case!(within: Vec<(String, Choice)>, r#"[["a", BAD]]"# => "[0][1].item");
case!(fields_within: Vec<(String, Fields)>, r#"[["a", {"choice": BAD}]]"# => "[0][1].choice.item");
case!(in_map: BTreeMap<String, Option<(Fields, Fields)>>, r#"{"k": [{"choice": BAD}, {"choice": BAD}]}"# =>
    "k[0].choice.item", "k[1].choice.item");
case!(result: Result<String, Fields>, r#"{"Err": {"choice": BAD}}"# => "Err.choice.item");
case!(result_of_text: Result<Choice, String>, r#"{"Ok": BAD}"# => "Ok.item");
case!(alias: Rows, r#"[["a", BAD]]"# => "[0][1].item");
case!(alias_field: Aliased, r#"{"row": ["a", BAD], "rows": [["a", BAD]], "own": BAD}"# =>
    "row[1].item", "rows[0][1].item", "own.item");
case!(twelve: (u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, Choice), "[1,1,1,1,1,1,1,1,1,1,1,BAD]" => "[11].item");

/// A hasher is an argument of a map, and no part of an answer.
#[llm_output]
#[derive(Debug)]
struct Stock {
    counts: HashMap<String, u32, BuildHasherDefault<DefaultHasher>>,
    items: HashSet<String, BuildHasherDefault<DefaultHasher>>,
}

#[test]
fn a_hasher_needs_no_schema() {
    let stock: Stock = serde_json::from_str(r#"{"counts": {"axe": 2}, "items": ["axe"]}"#).unwrap();
    assert_eq!((stock.counts["axe"], stock.items.len()), (2, 1));
}

type Row = (String, Choice);
type Rows = Vec<Row>;
type Own = Choice;

#[llm_output(state = World)]
#[derive(Debug)]
struct Aliased {
    row: Row,
    rows: Rows,
    own: Own,
}

/// Without validators of its own.
#[llm_output(state = World)]
#[derive(Debug)]
struct Fields {
    choice: Choice,
}

#[llm_output(state = World)]
#[derive(Debug)]
struct Deep {
    list: Vec<(u8, Fields)>,
    map: HashMap<String, (u8, Vec<(String, Choice)>)>,
    result: Result<(Choice, u8), String>,
    tuple: (
        Choice,
        Fields,
        (Fields, Option<Choice>),
        [(Choice, Choice); 1],
    ),
}

case!(tuples_within_fields: Deep, r#"{"list": [[1, {"choice": BAD}]], "map": {"a": [1, [["", BAD]]]},
    "result": {"Ok": [BAD, 1]}, "tuple": [BAD, {"choice": BAD}, [{"choice": BAD}, BAD], [[BAD, BAD]]]}"# =>
    "list[0][1].choice.item", "map.a[1][0][1].item", "result.Ok[0].item", "tuple[0].item", "tuple[1].choice.item",
    "tuple[2][0].choice.item", "tuple[2][1].item", "tuple[3][0][0].item", "tuple[3][0][1].item");

/// Recursive, through one type and through two.
#[llm_output(state = World)]
#[derive(Debug)]
struct Tree {
    choice: Choice,
    kids: Vec<Tree>,
    left: Option<Box<Tree>>,
    pairs: Vec<(String, Tree)>,
    branch: Option<Branch>,
}

#[llm_output(state = World)]
#[derive(Debug)]
enum Branch {
    Tree(Box<Tree>),
    Both(Box<(Tree, Tree)>),
}

case!(recursive: Tree, r#"{"choice": BAD, "kids": [{"choice": BAD, "kids": [], "pairs": []}],
    "left": {"choice": BAD, "kids": [], "pairs": []}, "pairs": [["a", {"choice": BAD, "kids": [], "pairs": []}]],
    "branch": {"Both": [{"choice": BAD, "kids": [], "pairs": []}, {"choice": {"item": "key"}, "kids": [], "pairs": []}]}}"# =>
    "choice.item", "kids[0].choice.item", "left.choice.item", "pairs[0][1].choice.item", "branch.Both[0].choice.item");

/// A type with a validator of its own that holds itself.
#[llm_output]
#[derive(Debug)]
struct Knot {
    name: String,
    next: Option<Box<Knot>>,
    pairs: Vec<(u8, Knot)>,
}

#[validate]
impl Knot {
    fn named(&self) -> Result<(), Invalid> {
        if self.name.is_empty() {
            Err(Invalid::at("name", "is empty"))
        } else {
            Ok(())
        }
    }
}

case!(a_knot: Knot, r#"{"name": "", "next": {"name": "", "pairs": []}, "pairs": [[1, {"name": "", "pairs": []}]]}"# =>
    "next.name", "pairs[0][1].name", "name");

/// The names that serde reads.
#[llm_output(state = World)]
#[derive(Debug)]
#[serde(rename_all(deserialize = "SCREAMING-KEBAB-CASE"), rename = "Other")]
struct Names {
    first_choice: Choice,
    #[serde(rename(deserialize = "in", serialize = "out"), alias = "other")]
    second: Choice,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    third: Option<Choice>,
    #[serde(flatten)]
    flat: Flat,
    #[serde(skip_deserializing)]
    never: Option<Choice>,
    r#type: Choice,
}

#[llm_output(state = World)]
#[derive(Debug)]
struct Flat {
    inner: Choice,
    #[serde(flatten)]
    rest: BTreeMap<String, Choice>,
}

case!(names: Names, r#"{"FIRST-CHOICE": BAD, "in": BAD, "inner": BAD, "more": BAD, "TYPE": BAD}"# =>
    "FIRST-CHOICE.item", "in.item", "inner.item", "more.item", "TYPE.item");

/// The schema's own names, where serde reads them by an alias.
#[llm_output(state = World)]
#[derive(Debug)]
#[schemars(rename = "Titled", title = "A title")]
struct SchemaNames {
    #[schemars(rename = "said", description = "Said.")]
    #[serde(alias = "said")]
    choice: Choice,
    #[schemars(rename = "other")]
    #[serde(rename(serialize = "out", deserialize = "other"), default)]
    other: u8,
    #[schemars(rename = "nobody")]
    #[serde(skip)]
    #[allow(dead_code)]
    skipped: u8,
}

case!(schema_names: SchemaNames, r#"{"said": BAD}"# => "said.item");

#[llm_output(state = World)]
#[derive(Debug)]
#[serde(
    tag = "kind",
    content = "value",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
enum Adjacent {
    Unit,
    NewType(Choice),
    TwoOfThem(u8, Choice),
    InBraces {
        the_choice: Choice,
        rest: (u8, Choice),
    },
    #[serde(rename = "none")]
    Empty {},
    #[serde(rename_all = "UPPERCASE")]
    Upper {
        a: Choice,
    },
}

case!(adjacent_unit: Adjacent, r#"{"kind": "unit"}"# =>);
case!(adjacent_new: Adjacent, r#"{"kind": "new-type", "value": BAD}"# => "value.item");
case!(adjacent_two: Adjacent, r#"{"kind": "two-of-them", "value": [1, BAD]}"# => "value[1].item");
case!(adjacent_braces: Adjacent, r#"{"kind": "in-braces", "value": {"theChoice": BAD, "rest": [1, BAD]}}"# =>
    "value.theChoice.item", "value.rest[1].item");
case!(adjacent_empty: Adjacent, r#"{"kind": "none", "value": {}}"# =>);
case!(adjacent_upper: Adjacent, r#"{"kind": "upper", "value": {"A": BAD}}"# => "value.A.item");

#[llm_output(state = World)]
#[derive(Debug)]
#[serde(untagged)]
enum Untagged {
    Pair(u8, Choice),
    Braces { choice: Choice },
    New(Choice),
    List(Vec<(String, Fields)>),
}

case!(untagged_pair: Untagged, "[1, BAD]" => "[1].item");
case!(untagged_braces: Untagged, r#"{"choice": BAD}"# => "choice.item");
case!(untagged_new: Untagged, "BAD" => "item");
case!(untagged_list: Untagged, r#"[["", {"choice": BAD}]]"# => "[0][1].choice.item");

#[llm_output(state = World)]
#[derive(Debug)]
#[serde(tag = "kind")]
enum Internal {
    Fields(Fields),
    Braces { choice: Choice },
    Map(BTreeMap<String, Choice>),
}

case!(internal_new: Internal, r#"{"kind": "Fields", "choice": BAD}"# => "choice.item");
case!(internal_braces: Internal, r#"{"kind": "Braces", "choice": BAD}"# => "choice.item");
case!(internal_map: Internal, r#"{"kind": "Map", "a": BAD}"# => "a.item");

#[llm_output(state = World)]
#[derive(Debug)]
enum External {
    Strict(Choice),
    Nothing(),
    Tuple(Choice, (Choice, u8)),
    #[serde(untagged)]
    Loose(Vec<Choice>),
}

case!(external_untagged: External, "[BAD]" => "[0].item");
case!(external_new: External, r#"{"Strict": BAD}"# => "Strict.item");
case!(external_nothing: External, r#"{"Nothing": []}"# =>);
case!(external_tuple: External, r#"{"Tuple": [BAD, [BAD, 1]]}"# => "Tuple[0].item", "Tuple[1][0].item");

#[llm_output(state = World)]
#[derive(Debug)]
#[serde(transparent)]
struct Transparent {
    choice: Choice,
}

#[llm_output(state = World)]
#[derive(Debug)]
struct NewType((u8, Vec<Choice>));

#[llm_output(state = World)]
#[derive(Debug)]
struct Skipped(#[serde(skip)] (), Choice, u8);

#[llm_output]
#[derive(Debug)]
struct Unit;

case!(transparent: Transparent, "BAD" => "item");
case!(new_type: NewType, "[1, [BAD]]" => "[1][0].item");
case!(skipped: Skipped, "[BAD, 2]" => "[0].item");
case!(unit: Unit, "null" =>);

/// Derives of one's own, and a way of reading of one's own.
#[llmnode::validate(state = World)]
#[derive(Debug, schemars::JsonSchema)]
#[schemars(rename_all = "UPPERCASE")]
struct ByHand {
    choice: Choice,
}

impl<'de> serde::Deserialize<'de> for ByHand {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut map = BTreeMap::<String, Choice>::deserialize(deserializer)?;
        let choice = map
            .remove("CHOICE")
            .ok_or_else(|| serde::de::Error::missing_field("CHOICE"))?;
        Ok(ByHand { choice })
    }
}

case!(by_hand: ByHand, r#"{"CHOICE": BAD}"# => "CHOICE.item");

/// A type that traversal does not know is refused at the first use, not skipped.
#[derive(Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Foreign<T>(T);

macro_rules! refused {
    ($name:ident: $output:ty) => {
        #[tokio::test]
        async fn $name() {
            #[llm_node(prompt = "x", output = $output, state = World)]
            #[derive(Debug)]
            struct Ask;
            let model = Arc::new(ScriptedModel::new().reply("{}"));
            let run = Run::new(Arc::clone(&model)).with_state(world());
            let error = run.call(&Ask).await.map(|_| ()).unwrap_err();
            assert_eq!(error.category(), Category::ConfigError, "{error}");
            assert!(error.to_string().contains("Choice"), "{error}");
            assert_eq!(model.requests().len(), 0);
        }
    };
}

type Hidden = Vec<(Choice, Fields)>;
type Elsewhere = Foreign<Choice>;

refused!(foreign: Elsewhere);
refused!(foreign_within: Vec<(u8, Foreign<Choice>)>);
refused!(beside_foreign: Vec<(Foreign<u8>, Choice)>);
refused!(a_mixture_behind_an_alias: Hidden);
refused!(a_mixture_within: BTreeMap<String, (Choice, Fields)>);
refused!(one_place_of_two: OnePlace);

/// A place that traversal does not reach is not excused by another that it does reach.
#[llm_output(state = World)]
#[derive(Debug)]
struct OnePlace {
    seen: Choice,
    unseen: Foreign<Choice>,
}

type Words = String;

/// Values beside a tag that the macro leaves alone: objects, none at all, what is read in a way of its own, and what it
/// cannot judge.
#[llm_output]
#[serde(tag = "kind")]
#[derive(Debug, PartialEq)]
enum Tagged {
    Nothing(()),
    Object(Count),
    #[serde(skip)]
    #[expect(dead_code, reason = "it is neither read nor made")]
    Skipped(String),
    Behind(Words),
    #[serde(untagged)]
    Bare(u8),
}

#[llm_output]
#[derive(Debug, PartialEq)]
struct Count {
    count: u8,
}

#[llm_node(prompt = "x", output = Tagged)]
struct AskTagged;

#[tokio::test]
async fn values_beside_a_tag() {
    for (answer, value) in [
        (r#"{"kind": "Nothing"}"#, Tagged::Nothing(())),
        (
            r#"{"kind": "Object", "count": 1}"#,
            Tagged::Object(Count { count: 1 }),
        ),
        ("7", Tagged::Bare(7)),
    ] {
        let run = Run::new(ScriptedModel::new().reply(answer));
        let read = run
            .call(&AskTagged)
            .await
            .map_err(|error| error.to_string());
        assert_eq!(read, Ok(value));
    }
}

type Urgency = u8;

/// What the macro cannot see behind the name, the schema shows.
#[llm_output]
#[serde(tag = "kind")]
enum Renamed {
    Urgent(Urgency),
}

#[llm_node(prompt = "x", output = Renamed)]
struct AskRenamed;

#[tokio::test]
async fn a_number_beside_a_tag_is_a_config_error_before_any_request() {
    let model = ScriptedModel::new();
    let error = Run::new(model.clone())
        .call(&AskRenamed)
        .await
        .err()
        .unwrap();
    assert_eq!(error.category(), Category::ConfigError);
    assert!(
        error
            .message()
            .starts_with("the output `Renamed`: the variant `Urgent` holds a value"),
        "{error}"
    );
    assert!(model.requests().is_empty());
}
