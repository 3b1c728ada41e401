//! Parameters of types, lifetimes and constants, on nodes, outputs, validators and states.

use std::borrow::Cow;
use std::fmt::{Debug, Display};
use std::marker::PhantomData;

use llmnode::{Invalid, llm_node, llm_output, validate};

use crate::support::{Choice, World, messages, paths, prompt, world};

#[llm_node(prompt = "{a} {b} {c:?} {d:list} {e} {f}")]
#[derive(Debug)]
struct Everything<'a, 'b: 'a, T, U = u8, const N: usize = 2>
where
    T: ?Sized + Display,
    U: Clone + Debug,
    Vec<U>: Clone,
    for<'x> Vec<&'x U>: Clone,
    [u8; N]: Debug,
{
    a: &'a T,
    b: Cow<'b, str>,
    c: [u8; N],
    d: Vec<&'a str>,
    e: Box<T2>,
    f: &'b T2,
    #[node(skip)]
    g: PhantomData<fn(U) -> U>,
    mark: PhantomData<U>,
}

type T2 = u8;

#[tokio::test]
async fn a_node_with_everything() {
    let node: Everything<'_, '_, str> = Everything {
        a: "x",
        b: Cow::Borrowed("y"),
        c: [1, 2],
        d: vec!["z"],
        e: Box::new(3),
        f: &4,
        g: PhantomData,
        mark: PhantomData,
    };
    assert_eq!(prompt(&node).await, "x y [1, 2] - z 3 4");
}

trait Family {
    type Member: Display + Send + Sync;
    type Answer;
    const NAME: &'static str;
}

#[derive(Debug)]
struct Numbers;

impl Family for Numbers {
    type Member = u8;
    type Answer = Choice;
    const NAME: &'static str = "numbers";
}

#[llm_node(prompt = "{member} {several:list} {other:or(none)}", output = F::Answer, state = World)]
struct OfFamily<F: Family> {
    member: F::Member,
    several: Vec<<F as Family>::Member>,
    other: Option<F::Member>,
}

#[tokio::test]
async fn associated_types() {
    let node = OfFamily::<Numbers> {
        member: 1,
        several: vec![2],
        other: None,
    };
    assert_eq!(messages(world(), &node).await[0].content, "1 - 2 none");
    assert_eq!(paths(world(), &node, r#"{"item": "axe"}"#).await, ["item"]);
    assert_eq!(Numbers::NAME, "numbers");
}

/// Parameters whose names generated code could have taken.
#[llm_node(prompt = "{a} {b}", output = Vec<S>)]
#[derive(Debug)]
struct Clashing<'state, 'checked, '__llmnode, AnyState, S, T: ?Sized> {
    a: &'state AnyState,
    b: &'checked T,
    mark: PhantomData<&'__llmnode S>,
}

#[tokio::test]
async fn clashing_parameters() {
    let node = Clashing::<'_, '_, '_, u8, u16, str> {
        a: &1,
        b: "x",
        mark: PhantomData,
    };
    assert_eq!(prompt(&node).await, "1 x");
}

#[derive(Debug)]
struct Stated<S> {
    inner: S,
}

#[llm_node(prompt = "{state.inner}", state = Stated<S>)]
#[derive(Debug)]
struct OfGenericState<S: Display + Sync> {
    mark: PhantomData<S>,
}

#[tokio::test]
async fn a_generic_state() {
    let node = OfGenericState::<u8> { mark: PhantomData };
    assert_eq!(messages(Stated { inner: 7u8 }, &node).await[0].content, "7");
}

/// Outputs with parameters of every kind; the parameters' validators run.
#[llm_output(state = World)]
#[derive(Debug)]
struct Page<T, U = Choice, const N: usize = 1>
where
    T: Debug,
{
    rows: Vec<T>,
    first: Option<U>,
    pair: (T, u8, U),
    number: u8,
    same: Same<T>,
}

#[llm_output]
#[derive(Debug)]
struct Same<T>(T);

#[validate]
impl<T, U, const N: usize> Page<T, U, N>
where
    T: Debug,
{
    fn small(&self) -> Result<(), Invalid> {
        if usize::from(self.number) > N {
            Err(Invalid::at("number", "large"))
        } else {
            Ok(())
        }
    }
}

#[validate]
impl<T> Same<T> {}

#[llm_node(prompt = "x", output = Page<Choice>, state = World)]
#[derive(Debug)]
struct AskPage;

#[llm_node(prompt = "x", output = Page<(String, Choice), Vec<Choice>, 2>, state = World)]
#[derive(Debug)]
struct AskOther;

#[tokio::test]
async fn generic_outputs() {
    let bad = r#"{"item": "axe"}"#;
    let answer = format!(
        r#"{{"rows": [{bad}], "first": {bad}, "pair": [{bad}, 1, {bad}], "number": 2, "same": {bad}}}"#
    );
    assert_eq!(
        paths(world(), &AskPage, &answer).await,
        [
            "rows[0].item",
            "first.item",
            "pair[0].item",
            "pair[2].item",
            "same.item",
            "number"
        ]
    );
    let two = format!(r#"["x", {bad}]"#);
    let answer = format!(
        r#"{{"rows": [{two}], "first": [{bad}], "pair": [{two}, 1, [{bad}]], "number": 2, "same": {two}}}"#
    );
    assert_eq!(
        paths(world(), &AskOther, &answer).await,
        [
            "rows[0][1].item",
            "first[0].item",
            "pair[0][1].item",
            "pair[2][0].item",
            "same[1].item"
        ]
    );
}

trait HasItems {
    fn items(&self) -> &[String];
}

impl HasItems for World {
    fn items(&self) -> &[String] {
        &self.items
    }
}

#[llm_output]
#[derive(Debug)]
struct Listed {
    item: String,
    inner: Inner,
}

#[llm_output]
#[derive(Debug)]
struct Inner {
    item: String,
}

#[validate]
impl Listed {
    fn by_parameter<S: HasItems>(&self, state: &S) -> Result<(), Invalid> {
        if state.items().contains(&self.item) {
            Ok(())
        } else {
            Err(Invalid::at("item", "no"))
        }
    }

    fn by_impl(&self, _: &(impl HasItems + Sync)) -> Result<(), Invalid> {
        Ok(())
    }

    fn inside<S: HasItems>(&self, state: &S) -> Result<(), Invalid> {
        if state.items().contains(&self.inner.item) {
            Ok(())
        } else {
            Err(Invalid::at("inner.item", "no"))
        }
    }
}

#[llm_node(prompt = "x", output = Listed, state = World)]
#[derive(Debug)]
struct AskListed;

/// Its validators take any state at all, also the one of a node that names none.
#[llm_output]
#[derive(Debug)]
struct AnyState {
    item: String,
}

#[validate]
impl AnyState {
    fn by_parameter<S: Sync>(&self, _: &S) -> Result<(), Invalid> {
        Err(Invalid::at("item", "no"))
    }

    fn unsized_too<S: ?Sized>(&self, _: &S) -> Result<(), Invalid> {
        Err(Invalid::at("item", "no"))
    }

    async fn later(&self, state: &(impl Send + Sync)) -> Result<(), Invalid> {
        let _ = state;
        Err(Invalid::at("item", "no"))
    }
}

#[llm_node(prompt = "x", output = Vec<AnyState>)]
#[derive(Debug)]
struct AskAnyState;

#[llm_output]
#[derive(Debug)]
struct AroundAnyState {
    inner: AnyState,
}

#[llm_node(prompt = "x", output = AroundAnyState, state = World)]
#[derive(Debug)]
struct AskAroundAnyState;

#[tokio::test]
async fn validators_of_any_state_at_all() {
    assert_eq!(
        paths((), &AskAnyState, r#"[{"item": "axe"}]"#).await,
        ["[0].item"; 3]
    );
    let answer = r#"{"inner": {"item": "axe"}}"#;
    assert_eq!(
        paths(world(), &AskAroundAnyState, answer).await,
        ["inner.item"; 3]
    );
}

#[tokio::test]
async fn validators_for_any_state() {
    let answer = r#"{"item": "axe", "inner": {"item": "axe"}}"#;
    assert_eq!(
        paths(world(), &AskListed, answer).await,
        ["item", "inner.item"]
    );
}

/// Text that is borrowed on purpose, by `#[serde(borrow)]`: it can be read by hand, if not be an answer.
#[llm_output]
#[derive(Debug, PartialEq)]
struct Lent<'a> {
    #[serde(borrow)]
    text: &'a str,
    count: u8,
}

#[test]
fn an_output_that_borrows() {
    let text = String::from(r#"{"text": "x", "count": 1}"#);
    assert_eq!(
        serde_json::from_str::<Lent<'_>>(&text).unwrap(),
        Lent {
            text: "x",
            count: 1
        }
    );
}

/// Plain definitions as the arguments of generic ones: no block of validators is needed anywhere.
mod plain {
    use std::collections::{BTreeMap, BTreeSet, HashMap};
    use std::fmt::Display;

    use super::{
        Choice, Invalid, PhantomData, World, llm_node, llm_output, paths, validate, world,
    };

    #[llm_output]
    #[derive(Debug)]
    struct Page<T> {
        items: Vec<T>,
        more: bool,
    }

    #[llm_output]
    #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
    struct Book {
        title: String,
    }

    #[llm_node(prompt = "x", output = Page<Book>)]
    #[derive(Debug)]
    struct AskPage;

    /// Bounds, defaults, lifetimes' place, constants and a where clause, over each other.
    #[llm_output]
    #[derive(Debug)]
    struct Shelf<T: Clone + Ord, U = String, const N: usize = 1>
    where
        U: Display,
        Vec<T>: Clone,
    {
        best: Option<Box<T>>,
        by_year: BTreeMap<u16, Page<T>>,
        by_name: HashMap<String, (U, T)>,
        all: BTreeSet<T>,
        either: Result<T, U>,
        few: [T; 2],
        #[serde(skip)]
        mark: PhantomData<[u8; N]>,
    }

    #[llm_output]
    #[derive(Debug)]
    enum Answer<T> {
        None,
        Page(Page<T>),
        Deep {
            inner: Page<Page<T>>,
            same: Vec<Answer<T>>,
        },
    }

    #[llm_node(prompt = "x", output = Answer<Shelf<Book>>, state = World)]
    #[derive(Debug)]
    struct AskAnswer;

    type Alias = Page<Shelf<Book, u8, 2>>;

    #[llm_output]
    #[derive(Debug)]
    struct Library {
        shelves: Alias,
        answer: Answer<Book>,
    }

    #[llm_node(prompt = "x", output = Library)]
    #[derive(Debug)]
    struct AskLibrary;

    /// A node that is generic over what fills its output.
    #[llm_node(prompt = "x", output = Page<T>)]
    #[derive(Debug)]
    struct AskAny<T> {
        a: PhantomData<T>,
    }

    #[tokio::test]
    async fn outputs_without_any_block() {
        assert_eq!(
            paths((), &AskPage, r#"{"items": [{"title": "x"}], "more": true}"#).await,
            [""; 0]
        );
        assert_eq!(paths(world(), &AskAnswer, r#""None""#).await, [""; 0]);
        let page = r#"{"items": [], "more": true}"#;
        let library = format!(r#"{{"shelves": {page}, "answer": {{"Page": {page}}}}}"#);
        assert_eq!(paths((), &AskLibrary, &library).await, [""; 0]);
    }

    /// Validators inside: of a type with a state, and of a generic one without.
    #[llm_output(state = World)]
    #[derive(Debug)]
    struct Counted<T: Display> {
        value: T,
        choices: Vec<Choice>,
    }

    #[validate]
    impl<T: Display> Counted<T> {
        fn is_short(&self, state: &World) -> Result<(), Invalid> {
            if self.value.to_string().len() > state.items.len() {
                Err(Invalid::at("value", "long"))
            } else {
                Ok(())
            }
        }
    }

    #[llm_output]
    #[derive(Debug, Clone)]
    struct Named<T> {
        name: T,
    }

    #[validate]
    impl<T> Named<T> {
        fn never(&self) -> Result<(), Invalid> {
            Err(Invalid::at("name", "never"))
        }
    }

    #[llm_node(prompt = "x", output = Page<(Named<Choice>, Page<Named<u8>>)>, state = World)]
    #[derive(Debug)]
    struct AskNamed;

    #[llm_output(state = World)]
    #[derive(Debug)]
    struct Lists<T> {
        choices: Page<T>,
        counted: Vec<Counted<String>>,
    }

    #[llm_node(prompt = "x", output = Lists<Named<Choice>>, state = World)]
    #[derive(Debug)]
    struct AskLists;

    #[tokio::test]
    async fn validators_of_arguments_run() {
        let named = r#"{"name": {"item": "axe"}}"#;
        let answer = format!(
            r#"{{"items": [[{named}, {{"items": [{{"name": 1}}], "more": false}}]], "more": false}}"#
        );
        assert_eq!(
            paths(world(), &AskNamed, &answer).await,
            [
                "items[0][0].name.item",
                "items[0][0].name",
                "items[0][1].items[0].name"
            ]
        );
        let counted = r#"{"value": "abc", "choices": [{"item": "axe"}]}"#;
        let answer = format!(
            r#"{{"choices": {{"items": [{named}], "more": false}}, "counted": [{counted}]}}"#
        );
        assert_eq!(
            paths(world(), &AskLists, &answer).await,
            [
                "choices.items[0].name.item",
                "choices.items[0].name",
                "counted[0].choices[0].item",
                "counted[0].value"
            ]
        );
    }

    #[tokio::test]
    async fn a_generic_node_with_a_generic_output() {
        let node = AskAny::<Named<Book>> { a: PhantomData };
        let answer = r#"{"items": [{"name": {"title": "x"}}], "more": true}"#;
        assert_eq!(paths((), &node, answer).await, ["items[0].name"]);
    }
}

/// Parameters that need a trait of the program: each definition finds its own block, or that there is none.
mod bounded {
    use super::{
        Choice, Invalid, PhantomData, World, llm_node, llm_output, paths, validate, world,
    };

    trait Item {
        fn name(&self) -> &str;
    }

    impl Item for Choice {
        fn name(&self) -> &str {
            &self.item
        }
    }

    #[llm_output]
    #[derive(Debug)]
    struct Page<T> {
        items: Vec<T>,
    }

    #[llm_output]
    #[derive(Debug)]
    struct Plain<T: Item> {
        items: Vec<T>,
    }

    #[llm_output]
    #[derive(Debug)]
    struct Ranked<T>
    where
        T: Item,
    {
        first: T,
        best: String,
    }

    #[validate]
    impl<T: Item> Ranked<T> {
        fn first_is_best(&self) -> Result<(), Invalid> {
            if self.first.name() == self.best {
                Ok(())
            } else {
                Err(Invalid::at("best", "not the first"))
            }
        }
    }

    #[llm_output(state = World)]
    #[derive(Debug)]
    struct Tree<T: Item> {
        root: T,
        below: Vec<Tree<T>>,
    }

    #[validate(state)]
    impl<T: Item> Tree<T> {
        fn root_is_known(&self, state: &World) -> Result<(), Invalid> {
            let known = state.items.iter().any(|item| item == self.root.name());
            if known {
                Ok(())
            } else {
                Err(Invalid::at("root", "unknown"))
            }
        }
    }

    #[llm_node(prompt = "x", output = Page<Plain<Choice>>, state = World)]
    #[derive(Debug)]
    struct AskPlain;

    #[llm_node(prompt = "x", output = Page<Ranked<Choice>>, state = World)]
    #[derive(Debug)]
    struct AskRanked;

    #[llm_node(prompt = "x", output = Page<Tree<Choice>>, state = World)]
    #[derive(Debug)]
    struct AskTree;

    #[llm_node(prompt = "x", output = Page<Plain<T>>, state = World)]
    #[derive(Debug)]
    struct AskAny<T: Item> {
        a: PhantomData<T>,
    }

    #[tokio::test]
    async fn a_trait_of_the_program() {
        let axe = r#"{"item": "axe"}"#;
        let plain = format!(r#"{{"items": [{{"items": [{axe}]}}]}}"#);
        assert_eq!(
            paths(world(), &AskPlain, &plain).await,
            ["items[0].items[0].item"]
        );
        let any = AskAny::<Choice> { a: PhantomData };
        assert_eq!(
            paths(world(), &any, &plain).await,
            ["items[0].items[0].item"]
        );
        let ranked = format!(r#"{{"items": [{{"first": {axe}, "best": "key"}}]}}"#);
        assert_eq!(
            paths(world(), &AskRanked, &ranked).await,
            ["items[0].first.item", "items[0].best"]
        );
        let tree = format!(
            r#"{{"items": [{{"root": {axe}, "below": [{{"root": {axe}, "below": []}}]}}]}}"#
        );
        assert_eq!(
            paths(world(), &AskTree, &tree).await,
            [
                "items[0].root.item",
                "items[0].below[0].root.item",
                "items[0].below[0].root",
                "items[0].root"
            ]
        );
    }
}
