//! The macros on any arguments and any item.

use std::collections::HashSet;
use std::iter;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, Block, Expr, Fields, File, Item, ItemStruct, LitStr, Stmt};

use super::{Held, flows};

/// One use of a macro.
#[derive(Clone)]
pub(crate) struct Use {
    pub(crate) expand: Macro,
    pub(crate) arguments: TokenStream,
    pub(crate) item: TokenStream,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Macro {
    Node,
    Output,
    Tool,
    Validate,
    Flow,
    Action,
}

impl std::fmt::Debug for Use {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            expand,
            arguments,
            item,
        } = self;
        write!(f, "{expand:?} ({arguments}) {item}")
    }
}

impl Use {
    /// Reads `#[macro(arguments)] item`. `None` where no macro of ours is used.
    pub(crate) fn read(tokens: TokenStream) -> Option<Self> {
        if let Some(item) = Self::flow(tokens.clone()) {
            return Some(Self {
                expand: Macro::Flow,
                arguments: TokenStream::new(),
                item,
            });
        }
        let mut tokens = tokens.into_iter();
        let (Some(TokenTree::Punct(_)), Some(TokenTree::Group(attribute))) =
            (tokens.next(), tokens.next())
        else {
            return None;
        };
        let mut attribute = attribute.stream().into_iter();
        let expand = match attribute.next()?.to_string().as_str() {
            "llm_node" => Macro::Node,
            "llm_output" => Macro::Output,
            "tool" => Macro::Tool,
            "validate" => Macro::Validate,
            "derive" => Macro::Action,
            _ => return None,
        };
        let arguments = match attribute.next() {
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => {
                group.stream()
            }
            _ => TokenStream::new(),
        };
        Some(Self {
            expand,
            arguments,
            item: tokens.collect(),
        })
    }

    /// The content of `flow! { … }`.
    fn flow(tokens: TokenStream) -> Option<TokenStream> {
        let mut tokens = tokens.into_iter();
        match (tokens.next()?, tokens.next()?, tokens.next()?) {
            (TokenTree::Ident(flow), TokenTree::Punct(_), TokenTree::Group(group))
                if flow == "flow" =>
            {
                Some(group.stream())
            }
            _ => None,
        }
    }

    pub(crate) fn expand(&self) -> TokenStream {
        let expand = match self.expand {
            Macro::Flow => return crate::flow::expand(self.item.clone()),
            Macro::Action => return crate::action::expand(self.item.clone()),
            Macro::Node => crate::node::expand,
            Macro::Output => crate::output::expand,
            Macro::Tool => crate::tool::expand,
            Macro::Validate => crate::validate::expand,
        };
        expand(self.arguments.clone(), self.item.clone())
    }

    /// Expands it and checks what came out.
    pub(crate) fn holds(&self) -> Held {
        let said = |message: &str| said_well(message, self);
        match self.expand {
            Macro::Flow => return flows::flow_holds(&self.item, &said),
            Macro::Action => return flows::action_holds(&self.item, &said),
            // What is said of a tool is said of the struct that it makes.
            Macro::Tool => return self.tool_holds(&said),
            Macro::Node | Macro::Output | Macro::Validate => {}
        }
        let expansion = self.expand();
        let Ok(given) = crate::item::parse(self.item.clone()) else {
            let same = expansion.to_string().starts_with(&self.item.to_string());
            return if same {
                Ok(())
            } else {
                Err("an item that cannot be read comes back changed".to_owned())
            };
        };
        let expansion = syn::parse2::<File>(expansion)
            .map_err(|error| format!("it does not parse: {error}"))?;
        if is_written_for_each_build(&expansion.items) {
            return Ok(());
        }
        let Some((item, generated)) = expansion.items.split_first() else {
            return Err("the item is gone".to_owned());
        };
        let generated = Generated::read(generated)?;
        // A field that borrows is refused, and lives as long as the program from then on. A `cfg_attr` that is refused
        // is taken off.
        let changes = ["this field borrows", "`#[cfg_attr]` inside an item"];
        if !generated
            .errors
            .iter()
            .any(|message| changes.iter().any(|change| message.contains(change)))
        {
            self.unchanged(given, item.clone(), &generated)?;
        }
        generated
            .errors
            .iter()
            .try_for_each(|message| said_well(message, self))?;
        self.refused_or_not(item, &generated)
    }

    /// A tool comes back as a function that compiles beside what was made of it.
    fn tool_holds(&self, said: &dyn Fn(&str) -> Held) -> Held {
        if crate::item::parse(self.item.clone()).is_err() {
            // It comes back as it is, with what is wrong.
            return Ok(());
        }
        let expansion = syn::parse2::<File>(self.expand());
        let expansion = expansion.map_err(|error| format!("it does not parse: {error}"))?;
        if is_written_for_each_build(&expansion.items) {
            return Ok(());
        }
        let Some((_, generated)) = expansion.items.split_first() else {
            return Err("the item is gone".to_owned());
        };
        let of_node = |item: &&Item| !matches!(item, Item::Struct(_));
        let generated: Vec<Item> = generated.iter().filter(of_node).cloned().collect();
        Generated::read(&generated)?
            .errors
            .iter()
            .try_for_each(|message| said(message))
    }

    /// The item is the one that was given, but for the attributes that are ours to take and to add.
    fn unchanged(&self, mut given: Item, mut item: Item, generated: &Generated) -> Held {
        if let (Macro::Node, Item::Struct(given), Item::Struct(item)) =
            (self.expand, &mut given, &item)
        {
            take_helpers(given, &["node", "prep"]);
            // A node that is a tool hands on what its fields say to serde, all of it.
            let mut of_tool = given.clone();
            take_helpers(&mut of_tool, &["serde", "schemars"]);
            if of_tool.fields.to_token_stream().to_string()
                == item.fields.to_token_stream().to_string()
            {
                given.fields = of_tool.fields;
            }
        }
        // An argument of a derive that is reported is taken out, so that the derive does not report it, too.
        if !generated.errors.is_empty() {
            take_arguments_of_derives(&mut given);
            take_arguments_of_derives(&mut item);
        }
        take_checks_of_parts(&mut item);
        let (before, after) = (attributes(&mut given), attributes(&mut item));
        if given.to_token_stream().to_string() != item.to_token_stream().to_string() {
            return Err(format!("the item comes back as {}", item.to_token_stream()));
        }
        let mut after = after.into_iter();
        match before
            .iter()
            .find(|attribute| !after.any(|other| other == **attribute))
        {
            Some(lost) => Err(format!("the attribute {lost} is gone")),
            None => Ok(()),
        }
    }

    /// A node has impls that work, or errors and impls that only compile, and never neither.
    fn refused_or_not(&self, item: &Item, generated: &Generated) -> Held {
        let refused = !generated.errors.is_empty() || generated.probes > 0;
        if self.expand != Macro::Node || !matches!(item, Item::Struct(_)) {
            return Ok(());
        }
        for wanted in ["Node", "Exec", "LlmNode"] {
            if !generated.impls.contains(wanted) {
                return Err(format!("no impl of {wanted}"));
            }
        }
        if generated.stub == refused {
            return Ok(());
        }
        Err(format!(
            "stub: {}, errors: {:?}, probes: {}",
            generated.stub, generated.errors, generated.probes
        ))
    }
}

/// What an expansion has behind the item.
/// Whether an item came back that has a condition inside: once below it and once below its negation, each with the macro's own
/// attribute. The compiler takes one of them, which the macro then meets without the condition.
fn is_written_for_each_build(items: &[Item]) -> bool {
    let [with, without] = items else {
        return false;
    };
    let (Some(holds), Some(fails)) = (condition(with), condition(without)) else {
        return false;
    };
    fails.replace(' ', "") == format!("not({})", holds.replace(' ', ""))
}

/// What the item's first attribute, a `#[cfg]`, asks for. A second one is the macro's own.
fn condition(item: &Item) -> Option<String> {
    let attributes = match item {
        Item::Struct(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        _ => return None,
    };
    let [first, _, ..] = &attributes[..] else {
        return None;
    };
    let list = first.meta.require_list().ok()?;
    first
        .path()
        .is_ident("cfg")
        .then(|| list.tokens.to_string())
}

#[derive(Default)]
struct Generated {
    errors: Vec<String>,
    probes: usize,
    stub: bool,
    /// The traits that are implemented, by their last name.
    impls: HashSet<String>,
}

impl Generated {
    fn read(items: &[Item]) -> Result<Self, String> {
        let mut generated = Self::default();
        items.iter().try_for_each(|item| generated.item(item))?;
        Ok(generated)
    }

    fn item(&mut self, item: &Item) -> Held {
        match item {
            Item::Macro(error)
                if error
                    .mac
                    .path
                    .segments
                    .last()
                    .is_some_and(|it| it.ident == "compile_error") =>
            {
                let message = error
                    .mac
                    .parse_body::<LitStr>()
                    .map_err(|error| error.to_string())?;
                self.errors.push(message.value());
                Ok(())
            }
            Item::Const(scope) => match &*scope.expr {
                Expr::Block(scope) => self.scope(&scope.block),
                _ => Err("a constant that is no scope".to_owned()),
            },
            Item::Use(_) => Ok(()),
            Item::Enum(block) if block.ident == "__Block" && block.variants.is_empty() => Ok(()),
            Item::Mod(probe) if probe.ident == "prompt" => {
                self.probes += 1;
                Ok(())
            }
            Item::Impl(it) => {
                let of = it
                    .trait_
                    .as_ref()
                    .and_then(|(path, _)| path.segments.last());
                // A block of validators implements its trait twice, once for its own type and a state.
                let of = of.map(|last| match &*last.ident.to_string() {
                    "AllValidatorsInOneBlock" => last.to_token_stream().to_string(),
                    name => name.to_owned(),
                });
                let of = of.unwrap_or_default();
                self.stub |=
                    of == "Exec" && it.to_token_stream().to_string().contains("pending ()");
                if self.impls.insert(of.clone()) {
                    Ok(())
                } else {
                    Err(format!("two impls of {of}"))
                }
            }
            other => Err(format!("nobody asked for {}", other.to_token_stream())),
        }
    }

    fn scope(&mut self, block: &Block) -> Held {
        block
            .stmts
            .iter()
            .try_for_each(|statement| match statement {
                Stmt::Item(item) => self.item(item),
                Stmt::Macro(call)
                    if call.mac.path.segments.last().is_some_and(|it| {
                        it.ident == "impl_arc_state" || it.ident == "impl_validate_all"
                    }) =>
                {
                    let impls = call.mac.path.to_token_stream().to_string();
                    if self.impls.insert(impls) {
                        Ok(())
                    } else {
                        Err("two states behind pointers".to_owned())
                    }
                }
                other => Err(format!("a statement: {}", other.to_token_stream())),
            })
    }
}

/// How messages begin that are not syn's.
const OWN: [&str; 6] = [
    "expected `,` before the next",
    "expected `:` before the first step",
    "expected a label for the step",
    "expected one time, found a range",
    "expected the next step",
    "expected the type that the flow returns",
];

/// A message has words, begins like the others, is no one else's, and does not speak of what only the macros know.
fn said_well(message: &str, given: &Use) -> Held {
    let first = message.lines().next().unwrap_or_default();
    let starts = first.starts_with(|c: char| c == '`' || c == '#' || c.is_lowercase());
    let internal = message.contains("__llmnode") && !format!("{given:?}").contains("__llmnode");
    let of_syn = first.starts_with("unexpected ")
        || (first.starts_with("expected ") && !OWN.iter().any(|own| first.starts_with(own)));
    if !starts || internal || of_syn || first.ends_with([' ', ':', ';', ',']) {
        return Err(format!("said badly: {message:?}"));
    }
    Ok(())
}

/// Removes the helper attributes of a node.
fn take_helpers(item: &mut ItemStruct, taken: &[&str]) {
    let ours = |attribute: &Attribute| taken.iter().any(|name| attribute.path().is_ident(name));
    item.attrs.retain(|attribute| !ours(attribute));
    let fields = match &mut item.fields {
        Fields::Named(fields) => &mut fields.named,
        Fields::Unnamed(fields) => &mut fields.unnamed,
        Fields::Unit => return,
    };
    fields
        .iter_mut()
        .for_each(|field| field.attrs.retain(|attribute| !ours(attribute)));
}

/// Takes off what the item says to serde and to schemars, everywhere.
fn take_arguments_of_derives(item: &mut Item) {
    let of_derives = |attribute: &Attribute| {
        ["serde", "schemars"]
            .iter()
            .any(|name| attribute.path().is_ident(name))
    };
    for attributes in all_attributes(item) {
        attributes.retain(|attribute| !of_derives(attribute));
    }
}

/// Takes off what an output's fields say to the derives, so that a type in them is one error.
fn take_checks_of_parts(item: &mut Item) {
    for attributes in all_attributes(item) {
        attributes.retain(|attribute| {
            let written = attribute.to_token_stream().to_string();
            !["Described", "DerivedBound"]
                .iter()
                .any(|ours| written.contains(&format!("__private :: {ours} <")))
        });
    }
}

/// The attributes of a type, of its variants and of all fields.
fn all_attributes(item: &mut Item) -> Vec<&mut Vec<Attribute>> {
    match item {
        Item::Struct(item) => {
            let of_fields = item.fields.iter_mut().map(|field| &mut field.attrs);
            iter::once(&mut item.attrs).chain(of_fields).collect()
        }
        Item::Enum(item) => {
            let of_variants = item.variants.iter_mut().flat_map(|variant| {
                let of_fields = variant.fields.iter_mut().map(|field| &mut field.attrs);
                iter::once(&mut variant.attrs).chain(of_fields)
            });
            iter::once(&mut item.attrs).chain(of_variants).collect()
        }
        _ => vec![],
    }
}

/// Takes the attributes off an item.
fn attributes(item: &mut Item) -> Vec<String> {
    let attributes = match item {
        Item::Struct(item) => std::mem::take(&mut item.attrs),
        Item::Enum(item) => std::mem::take(&mut item.attrs),
        _ => vec![],
    };
    attributes
        .into_iter()
        .map(|attribute| attribute.into_token_stream().to_string())
        .collect()
}
