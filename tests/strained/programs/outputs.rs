//! Outputs in every form that serde reads.

use super::support::{ask, complaints};

pub(crate) async fn run() {
    tags::run().await;
    attributes::run().await;
    plain::run().await;
    shapes::run().await;
    recursive::run().await;
    read_only::run().await;
    containers::run().await;
}

/// 29. Enums in serde's four forms, with validators within.
mod tags {
    use super::complaints;
    use llmnode::prelude::*;

    #[llm_output]
    #[derive(Debug)]
    struct Count {
        n: u8,
    }

    #[validate]
    impl Count {
        fn is_small(&self) -> Result<(), Invalid> {
            if self.n < 9 {
                Ok(())
            } else {
                Err(Invalid::at("n", "is large"))
            }
        }
    }

    #[llm_output]
    #[derive(Debug)]
    #[serde(
        tag = "kind",
        rename_all = "snake_case",
        rename_all_fields = "camelCase"
    )]
    enum Internal {
        OfCount(Count),
        WithMore { first_count: Count },
        Nothing,
    }

    #[llm_output]
    #[derive(Debug)]
    #[serde(tag = "t", content = "c")]
    enum Adjacent {
        One(Count),
        Two(Count, Count),
        Named { count: Count },
        Nothing,
    }

    #[llm_output]
    #[derive(Debug)]
    #[serde(untagged)]
    enum Untagged {
        One(Count),
        Two { both: [Count; 2] },
    }

    #[llm_node(prompt = "x", output = (Internal, Adjacent, Untagged))]
    struct Ask;

    pub(super) async fn run() {
        let answer = r#"[{"kind": "with_more", "firstCount": {"n": 9}}, {"t": "Two", "c": [{"n": 1}, {"n": 9}]}, {"both": [{"n": 9}, {"n": 1}]}]"#;
        assert_eq!(
            complaints((), &Ask, answer).await,
            ["[0].firstCount.n", "[1].c[1].n", "[2].both[0].n"]
        );
        let answer = r#"[{"kind": "of_count", "n": 9}, {"t": "Nothing"}, {"n": 9}]"#;
        assert_eq!(complaints((), &Ask, answer).await, ["[0].n", "[2].n"]);
    }
}

/// 30. Attributes of serde and schemars.
mod attributes {
    use super::{ask, complaints};
    use llmnode::prelude::*;
    use std::collections::BTreeMap;

    #[llm_output]
    #[derive(Debug, Clone, PartialEq)]
    #[serde(rename_all = "kebab-case", deny_unknown_fields)]
    #[non_exhaustive]
    struct Order {
        #[serde(alias = "no")]
        order_number: u32,
        #[serde(default = "one")]
        count: u8,
        #[serde(skip)]
        checked: bool,
        #[serde(rename(deserialize = "for", serialize = "for"))]
        target: Option<String>,
        #[serde(with = "as_text")]
        #[schemars(with = "String")]
        price: u32,
        lines: BTreeMap<String, Line>,
    }

    const fn one() -> u8 {
        1
    }

    mod as_text {
        use serde::{Deserialize as _, Deserializer, Serializer};

        pub(super) fn serialize<S: Serializer>(value: &u32, to: S) -> Result<S::Ok, S::Error> {
            to.collect_str(value)
        }

        pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
            String::deserialize(from)?
                .parse()
                .map_err(serde::de::Error::custom)
        }
    }

    #[llm_output]
    #[derive(Debug, Clone, PartialEq)]
    struct Line {
        #[serde(flatten)]
        size: Size,
    }

    #[llm_output]
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct Size {
        #[schemars(range(max = 9))]
        width: u8,
    }

    #[validate]
    impl Size {
        fn is_some(&self) -> Result<(), Invalid> {
            if self.width == 0 {
                Err(Invalid::at("width", "is zero"))
            } else {
                Ok(())
            }
        }
    }

    #[llm_output]
    #[derive(Debug)]
    #[serde(transparent)]
    struct Orders(Vec<Order>);

    #[llm_node(prompt = "x", output = Orders)]
    struct Ask;

    pub(super) async fn run() {
        let answer = r#"[{"no": 1, "for": null, "price": "12", "lines": {"a": {"width": 1}}}]"#;
        let Orders(orders) = ask(&Ask, answer).await;
        assert_eq!(
            (
                orders[0].order_number,
                orders[0].count,
                orders[0].price,
                orders[0].checked
            ),
            (1, 1, 12, false)
        );
        assert_eq!(orders[0].target, None);
        let answer = answer.replace("\"width\": 1", "\"width\": 0");
        assert_eq!(complaints((), &Ask, &answer).await, ["[0].lines.a.width"]);
    }
}

/// 31. Types that are no output of `#[llm_output]`.
mod plain {
    use super::ask;
    use llmnode::prelude::*;
    use std::collections::{BTreeMap, HashSet};
    use std::num::NonZeroU8;

    macro_rules! nodes {
        ($($name:ident: $output:ty),* $(,)?) => { $(
            #[llm_node(prompt = "x", output = $output)]
            struct $name;
        )* };
    }
    nodes! {
        Number: f64, Yes: bool, Letter: char, Least: NonZeroU8, List: Vec<(String, u8)>, Maybe: Option<Box<[String]>>, Triple: [u8; 3],
        Map: BTreeMap<String, Vec<u8>>, Set: HashSet<String>, Any: serde_json::Value, Text: String, Static: std::borrow::Cow<'static, str>,
        Shared: std::sync::Arc<str>,
    }

    pub(super) async fn run() {
        assert!((ask(&Number, "1.5").await - 1.5).abs() < 1e-9);
        assert!(ask(&Yes, "true").await);
        assert_eq!(
            (ask(&Letter, "\"a\"").await, ask(&Least, "3").await.get()),
            ('a', 3)
        );
        assert_eq!(ask(&List, r#"[["a", 1]]"#).await, [("a".to_owned(), 1)]);
        assert_eq!(
            ask(&Maybe, r#"["a"]"#).await.as_deref(),
            Some(&["a".to_owned()][..])
        );
        assert_eq!(
            (
                ask(&Triple, "[1, 2, 3]").await,
                ask(&Map, r#"{"a": [1]}"#).await.len()
            ),
            ([1, 2, 3], 1)
        );
        assert_eq!(
            (ask(&Set, r#"["a"]"#).await.len(), ask(&Any, "{}").await),
            (1, serde_json::json!({}))
        );
        assert_eq!(
            (
                ask(&Text, "\"a\"").await.as_str(),
                &*ask(&Static, "\"a\"").await,
                &*ask(&Shared, "\"a\"").await
            ),
            ("a", "a", "a")
        );
    }
}

/// 32. Structs of all shapes, derives of all kinds, before and after the attribute.
mod shapes {
    use super::ask;
    use llmnode::prelude::*;

    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
    #[llm_output]
    #[must_use]
    #[repr(C)]
    struct Point(u8, u8);

    #[llm_output]
    #[derive(Clone, PartialEq)]
    struct Wrapper(Vec<Point>);

    #[llm_output]
    #[derive(PartialEq, Eq, Clone, Copy)]
    struct Unit;

    #[llmnode::validate]
    #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
    struct Own<T> {
        inner: T,
    }

    #[llm_output]
    #[repr(u8)]
    #[derive(Default, Clone, Copy, PartialEq, Eq, Hash)]
    enum Level {
        Low = 1,
        #[default]
        High = 5,
    }

    #[llm_output]
    struct All {
        point: Point,
        wrapper: Wrapper,
        unit: Unit,
        own: Own<Level>,
        unread: u8,
    }

    #[llm_node(prompt = "x", output = All)]
    struct Ask;

    pub(super) async fn run() {
        let answer = r#"{"point": [1, 2], "wrapper": [[1, 2]], "unit": null, "own": {"inner": "Low"}, "unread": 1}"#;
        let all = ask(&Ask, answer).await;
        assert!(all.wrapper == Wrapper(vec![all.point]) && all.unit == Unit);
        assert_eq!((all.own.inner as u8, Level::default() as u8), (1, 5));
    }
}

/// 33. Types that hold themselves, in boxes of all kinds.
mod recursive {
    use super::complaints;
    use llmnode::prelude::*;
    use std::collections::BTreeMap;
    use std::sync::Arc;

    #[llm_output]
    #[derive(Debug)]
    struct Tree {
        name: String,
        left: Option<Box<Tree>>,
        rest: Vec<Arc<Tree>>,
        named: BTreeMap<String, Kind>,
    }

    #[llm_output]
    #[derive(Debug)]
    enum Kind {
        Tree(Box<Tree>),
        Name(String),
    }

    #[validate]
    impl Tree {
        fn has_a_name(&self) -> Result<(), Invalid> {
            if self.name.is_empty() {
                Err(Invalid::at("name", "is empty"))
            } else {
                Ok(())
            }
        }
    }

    #[llm_node(prompt = "x", output = Tree)]
    struct Ask;

    pub(super) async fn run() {
        let leaf = r#"{"name": "", "left": null, "rest": [], "named": {}}"#;
        let answer = format!(
            r#"{{"name": "a", "left": {leaf}, "rest": [{leaf}], "named": {{"x": {{"Tree": {leaf}}}, "y": {{"Name": ""}}}}}}"#
        );
        assert_eq!(
            complaints((), &Ask, &answer).await,
            ["left.name", "rest[0].name", "named.x.Tree.name"]
        );
    }
}

/// Fields that are read and not written, and an alias of a type that holds the
/// definition.
mod read_only {
    use super::ask;
    use llmnode::prelude::*;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    #[derive(Debug, Deserialize, JsonSchema)]
    struct Word {
        letters: String,
    }

    #[derive(Debug, Serialize, Deserialize, JsonSchema)]
    struct Paged<T> {
        items: Vec<T>,
    }

    type Replies = Paged<Comment>;

    #[llm_output]
    #[derive(Debug)]
    struct Comment {
        text: String,
        #[serde(skip_serializing)]
        secret: Word,
        replies: Option<Replies>,
    }

    #[llm_node(prompt = "x", output = Comment)]
    struct Ask;

    pub(super) async fn run() {
        let inner = r#"{"text": "b", "secret": {"letters": "d"}, "replies": null}"#;
        let answer = format!(
            r#"{{"text": "a", "secret": {{"letters": "c"}}, "replies": {{"items": [{inner}]}}}}"#
        );
        let comment = ask(&Ask, &answer).await;
        assert_eq!(comment.text, "a");
        assert_eq!(comment.secret.letters, "c");
        let replies = comment.replies.map(|replies| replies.items);
        let replies = replies.unwrap_or_default();
        assert_eq!(replies[0].secret.letters, "d");
    }
}

/// Containers that need more than their values do, and types of the program with
/// the names of such.
mod containers {
    use super::ask;
    use llmnode::prelude::*;
    use serde::{Deserialize, Serialize};
    use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

    const LENGTH: usize = 2;

    #[llm_output]
    #[derive(Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    enum Team {
        Billing,
        Repairs,
    }

    #[llm_output]
    #[derive(Debug)]
    struct Counts {
        by_team: HashMap<Team, u32>,
        ordered: BTreeMap<Team, Vec<Counts>>,
        teams: HashSet<Team>,
        sorted: BTreeSet<Option<Team>>,
        pair: [f64; LENGTH],
        rows: [[u8; 1]; 2],
    }

    #[llm_output]
    #[derive(Debug)]
    struct Row<const N: usize>
    where
        [f64; N]: Serialize + serde::de::DeserializeOwned + schemars::JsonSchema,
    {
        cells: [f64; N],
    }

    /// Of std, under names of others.
    mod aliases {
        use llmnode::prelude::*;
        use std::collections::BTreeMap as HashMap;

        type BTreeMap<V> = std::collections::BTreeMap<String, V>;

        #[llm_output]
        #[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(super) enum Side {
            Left,
            Right,
        }

        #[llm_output]
        #[derive(Debug)]
        pub(super) struct Sums {
            pub(super) by_side: HashMap<Side, u8>,
            pub(super) shares: BTreeMap<f64>,
        }
    }

    #[llm_output]
    #[derive(Debug)]
    struct Sample<const N: usize> {
        size: std::marker::PhantomData<[f64; N]>,
        values: Vec<f64>,
    }

    /// Neither is one of std.
    mod own {
        use super::{Deserialize, Serialize};
        use schemars::JsonSchema;

        pub(super) trait Key {}

        impl Key for f32 {}

        #[derive(Debug, Serialize, Deserialize, JsonSchema)]
        pub(super) struct HashMap<K: Key, V> {
            pub(super) list: Vec<(K, V)>,
        }

        #[derive(Debug, Serialize, Deserialize, JsonSchema)]
        pub(super) struct Rc<T> {
            pub(super) of: T,
        }
    }

    #[llm_output]
    #[derive(Debug)]
    struct Odd {
        map: own::HashMap<f32, String>,
        text: own::Rc<String>,
        more: Option<own::Rc<Box<Odd>>>,
    }

    pub(crate) trait Shape: Send + Sync {
        fn area(&self) -> f64;
    }

    struct Square(f64);

    impl Shape for Square {
        fn area(&self) -> f64 {
            self.0 * self.0
        }
    }

    impl schemars::JsonSchema for dyn Shape {
        fn schema_name() -> std::borrow::Cow<'static, str> {
            "Shape".into()
        }

        fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
            schemars::json_schema!({"type": "number"})
        }
    }

    impl Serialize for dyn Shape {
        fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
            to.serialize_f64(self.area())
        }
    }

    impl<'de> Deserialize<'de> for Box<dyn Shape> {
        fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
            Ok(Box::new(Square(f64::deserialize(from)?)))
        }
    }

    #[llm_output]
    struct Drawing {
        shapes: Vec<Box<dyn Shape>>,
    }

    #[llm_node(prompt = "x", output = Counts)]
    struct Count;

    #[llm_node(prompt = "x", output = Row<2>)]
    struct AskRow;

    #[llm_node(prompt = "x", output = Odd)]
    struct AskOdd;

    #[llm_node(prompt = "x", output = aliases::Sums)]
    struct AskSums;

    #[llm_node(prompt = "x", output = Sample<2>)]
    struct AskSample;

    #[llm_node(prompt = "x", output = Drawing)]
    struct Draw;

    pub(super) async fn run() {
        let answer = r#"{"by_team": {"Billing": 1}, "ordered": {"Repairs": []}, "teams": ["Billing"], "sorted": [null], "pair": [1.0, 2.0], "rows": [[1], [2]]}"#;
        let counts = ask(&Count, answer).await;
        assert_eq!(counts.by_team[&Team::Billing], 1);
        assert!(counts.ordered[&Team::Repairs].is_empty());
        assert_eq!((counts.teams.len(), counts.sorted.len()), (1, 1));
        assert_eq!((counts.pair.len(), counts.rows[1]), (2, [2]));
        let row = ask(&AskRow, r#"{"cells": [1.0, 2.0]}"#).await;
        assert_eq!(row.cells.len(), 2);
        let odd = r#"{"map": {"list": []}, "text": {"of": "a"}, "more": null}"#;
        let odd = ask(&AskOdd, odd).await;
        assert!(odd.map.list.is_empty() && odd.more.is_none());
        assert_eq!(odd.text.of, "a");
        let sums = r#"{"by_side": {"Left": 1}, "shares": {"a": 0.5}}"#;
        let sums = ask(&AskSums, sums).await;
        assert_eq!(
            (sums.by_side[&aliases::Side::Left], sums.shares.len()),
            (1, 1)
        );
        let sample = ask(&AskSample, r#"{"size": null, "values": [1.0]}"#).await;
        assert_eq!(
            (sample.size, sample.values.len()),
            (std::marker::PhantomData, 1)
        );
        let drawing = ask(&Draw, r#"{"shapes": [3.0]}"#).await;
        assert!((drawing.shapes[0].area() - 9.0).abs() < 1e-9);
    }
}
