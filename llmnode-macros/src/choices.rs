//! `choices(item = state.inventory)`: which values the state allows at a place of the output.
//!
//! Paths and expressions are the user's own tokens, so that the compiler checks
//! each name and underlines what is wrong.
//!
//! Each argument has two sides. The left is a *place* in the output, in a small
//! grammar of its own: fields, numbers of tuples, `[]` for all items of a list,
//! `Type::Variant` where an enum is entered, and `self` for the output itself. The
//! right is an *expression* for the list of allowed values.
//!
//! Out come two functions, since a request and an answer need different things:
//!
//! 1. `choices` makes the lists, before the request: they go into the schema that
//!    the model sees.
//! 2. `chosen` walks an answer to the place and hands what stands there to the
//!    runtime, which compares it with the list. It is generated as plain field
//!    accesses, so that a path which does not exist is an error of the compiler at
//!    the user's own token, with its usual suggestions.
//!
//! What may be chosen (a text, a number, an enum, an `Option` or `Box` of those) is
//! not known here. The walk asks by the probe `PathValue`, at the last step with a
//! span that underlines it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Error, Expr, Index, ItemStruct, Member, Path, Token, token};

use crate::expression;
use crate::generics::{bare_value, end_spans};
use crate::macro_args::{comma_or_end, parse_list};

pub(crate) const EXAMPLE: &str = "choices(item = state.inventory)";

/// One `path = list`.
pub(crate) struct Choice {
    // From the output to the value. Empty for `self`, which is the whole output.
    steps: Vec<Step>,
    // The path as the user wrote it, for messages and for the place in the schema.
    text: String,
    list: Expr,
}

/// The spans of a field are those of its brackets: `items[][]` has two.
enum Step {
    Field(Member, Vec<Span>),
    Variant(Path),
}

/// As for all lists of arguments, those that could be read are answered beside the
/// error, so that one fault does not become several.
pub(crate) fn parse(input: ParseStream<'_>) -> (Option<Vec<Choice>>, syn::Result<()>) {
    let mut list = Vec::<Choice>::new();
    let result = parse_list(input, |input| {
        let one = choice(input)?;
        comma_or_end(input, "list")?;
        // Two lists for one place would be an intersection or a union, and nobody
        // could say which.
        if list.iter().any(|other| other.text == one.text) {
            return Err(Error::new(
                one.span(),
                format!("`{}` is given more than once", one.text),
            ));
        }
        list.push(one);
        Ok(())
    });
    (Some(list), result)
}

fn wrong_form(at: Span) -> Error {
    let message = format!("`choices` takes paths of the output and lists, such as `{EXAMPLE}`");
    Error::new(at, message)
}

/// `path = list`. The path is read step by step, and its text is collected on the
/// way.
fn choice(input: ParseStream<'_>) -> syn::Result<Choice> {
    let mut steps = Vec::new();
    let mut text = String::new();
    loop {
        let begins = input.peek(syn::Ident::peek_any) || input.peek(syn::Lit);
        if !begins {
            return Err(wrong_form(input.span()));
        }
        let (step, shown) = step(input, steps.is_empty())?;
        text.push_str(&shown);
        steps.extend(step);
        if input.parse::<Option<Token![.]>>()?.is_none() {
            break;
        }
        text.push('.');
    }
    if !input.peek(Token![=]) {
        return Err(Error::new(
            input.span(),
            format!("expected `=` and the list, as in `{EXAMPLE}`"),
        ));
    }
    input.parse::<Token![=]>()?;
    // syn's own error for a missing expression names no remedy, and may point into
    // the expression.
    let start = input.span();
    let list: Expr = input.parse().map_err(|_| wrong_form(start))?;
    // A list is taken by reference, so that the state stays as it is. The
    // compiler's error for `state.items.into_iter()` would be "cannot move out of a
    // borrow", at a place that the user did not write.
    if let Expr::MethodCall(call) = &list
        && call.method == "into_iter"
        && matches!(&*call.receiver, Expr::Field(_) | Expr::Path(_))
    {
        let message = "`into_iter` would move the list out of its place; leave it out, and the \
                       list is borrowed";
        return Err(Error::new(call.method.span(), message));
    }
    expression::reject_control_flow(&list, |_| {
        "`choices`, whose lists are taken at once; compute the list before, and store it in a \
             field"
    })?;
    Ok(Choice { steps, text, list })
}

/// One step of a path, with its text. `None` of the step: `self` alone, which leads
/// nowhere.
fn step(input: ParseStream<'_>, is_first: bool) -> syn::Result<(Option<Step>, String)> {
    if input.peek(syn::Lit) {
        let index: Index = input.parse()?;
        let brackets = brackets(input)?;
        let text = format!("{}{}", index.index, "[]".repeat(brackets.len()));
        return Ok((Some(Step::Field(Member::Unnamed(index), brackets)), text));
    }
    // A path with `::` can only be a variant, but not at the beginning: an output
    // has fields or is an enum whose variants are asked by `self.Type::Variant`.
    if input.peek2(Token![::]) && !is_first {
        let path = Path::parse_mod_style(input)?;
        let text = path
            .segments
            .iter()
            .map(|one| one.ident.to_string())
            .collect::<Vec<_>>()
            .join("::");
        return Ok((Some(Step::Variant(path)), text));
    }
    let name = input.call(Ident::parse_any)?;
    let brackets = brackets(input)?;
    let text = format!("{}{}", name.unraw(), "[]".repeat(brackets.len()));
    if name == "self" && is_first {
        let step = (!brackets.is_empty()).then(|| Step::Field(Member::Named(name), brackets));
        return Ok((step, text));
    }
    // A field begins with a lower letter. The message for a variant without its
    // type comes here, since the compiler would look for a field of that name.
    let begins_upper = name.to_string().starts_with(char::is_uppercase);
    if begins_upper {
        let message =
            format!("a variant is written with its type: `Action::{name}` for a type `Action`");
        return Err(Error::new(name.span(), message));
    }
    Ok((Some(Step::Field(Member::Named(name), brackets)), text))
}

/// The `[]` behind a name, each a list whose items are all meant.
fn brackets(input: ParseStream<'_>) -> syn::Result<Vec<Span>> {
    let mut all = Vec::new();
    while input.peek(token::Bracket) {
        let within;
        let bracket = syn::bracketed!(within in input);
        if !within.is_empty() {
            let message = "a list stands for all items; write `[]` without an index";
            return Err(Error::new(within.span(), message));
        }
        all.push(bracket.span.join());
    }
    Ok(all)
}

impl Choice {
    pub(crate) fn span(&self) -> Span {
        self.steps.first().map_or_else(
            || end_spans(&self.list).0,
            |step| match step {
                Step::Field(member, _) => member.span(),
                Step::Variant(path) => end_spans(path).0,
            },
        )
    }

    pub(crate) fn state(&self) -> Option<Span> {
        expression::state(self.list.to_token_stream())
    }

    /// The variable that the list begins with, if it is one.
    pub(crate) fn begins_with(&self) -> Option<&Ident> {
        fn first(list: &Expr) -> Option<&Ident> {
            match list {
                Expr::Field(inner) => first(&inner.base),
                Expr::MethodCall(inner) => first(&inner.receiver),
                Expr::Index(inner) => first(&inner.expr),
                Expr::Reference(inner) => first(&inner.expr),
                Expr::Paren(inner) => first(&inner.expr),
                Expr::Group(inner) => first(&inner.expr),
                Expr::Path(path) => path.path.get_ident(),
                _ => None,
            }
        }
        first(&self.list).filter(|name| name.to_string().starts_with(char::is_lowercase))
    }

    /// Such a field counts as used, even if no prompt has it.
    pub(crate) fn names(&self, field: &Ident) -> bool {
        expression::names(self.list.to_token_stream())
            .iter()
            .any(|name| name.is_variable(field))
    }

    /// The list's expression for messages to the model's developer, with the spaces
    /// taken out that tokens have between them when they are printed.
    fn source(&self) -> String {
        let source = self.list.to_token_stream().to_string();
        source
            .replace(" . ", ".")
            .replace(" (", "(")
            .replace("( ", "(")
            .replace(" )", ")")
    }

    /// The body of one arm of `chosen`: from the output to each value at the place.
    fn walk(&self, private: &Ident) -> TokenStream {
        walk(&self.steps, private, &generated!(__value))
    }

    /// A place is borrowed; an expression's value is not.
    fn values(&self, fields: &[&Ident], private: &Ident) -> TokenStream {
        // Fields of the node that the list names are bound to references first: in
        // `choices(item = stock)`, the field `stock` is a variable, as in the
        // prompt.
        let fields: Vec<&Ident> = fields
            .iter()
            .copied()
            .filter(|name| self.names(name))
            .collect();
        let list = bare_value(self.list.clone());
        // A name that was bound so is a reference already, and must not be borrowed
        // again.
        let variable = match &list {
            Expr::Path(path) => path.path.get_ident(),
            _ => None,
        };
        let is_field = variable.is_some_and(|name| fields.contains(&name));
        let is_place =
            matches!(&list, Expr::Path(_) | Expr::Field(_) | Expr::Index(_)) && !is_field;
        // The call is spanned over the whole expression: what the compiler has to
        // say about its type, it underlines there.
        let (at, end) = end_spans(&list);
        let list = expression::resolve_names(list.to_token_stream());
        let list = if is_place {
            quote_spanned!(at=> &#list)
        } else {
            list
        };
        let function = Ident::new("listed", end);
        let bound = fields
            .iter()
            .map(|name| Ident::new(&name.to_string(), name.span()));
        generated!({
            #(let #bound = &self.#fields;)*
            #private::#function(#list)
        })
    }
}

/// Recursive over the steps: each writes what reads its own value and puts the rest
/// inside. `from` is the value that the step begins at.
fn walk(steps: &[Step], private: &Ident, from: &TokenStream) -> TokenStream {
    let value = generated!(__value);
    let Some((step, rest)) = steps.split_first() else {
        // No step is left: this value is compared with the list.
        return generated!(__to.take(#private::PathValue(#from).__unboxed()););
    };
    match step {
        Step::Field(member, brackets) => {
            let at = member.span();
            // `self[]` has brackets behind the output itself; there is no field to
            // read.
            let place = match member {
                Member::Named(name) if name == "self" => from.clone(),
                _ => quote_spanned!(at=> &#from.#member),
            };
            in_lists(
                &place,
                at,
                brackets,
                private,
                &walk_value(rest, private, at, &value),
            )
        }
        Step::Variant(path) => {
            let at = end_spans(path).0;
            // A variant without a field behind it holds no value that could be
            // chosen. Its field is bound in the pattern, so that variants with
            // named and with numbered fields are the same.
            match rest.split_first() {
                Some((Step::Field(member, brackets), rest)) => {
                    let inner = in_lists(
                        &value,
                        at,
                        brackets,
                        private,
                        &walk_value(rest, private, at, &value),
                    );
                    quote_spanned!(at=> if let #path { #member: __value, .. } = #from { #inner })
                }
                _ => {
                    let message =
                        "a variant is followed by one of its fields: `action.Action::Use.item`";
                    Error::new(at, message).to_compile_error()
                }
            }
        }
    }
}

/// The compiler reports a value that cannot be chosen at the last step.
fn walk_value(rest: &[Step], private: &Ident, at: Span, value: &TokenStream) -> TokenStream {
    if rest.is_empty() {
        let taken = Span::mixed_site().located_at(at);
        return quote_spanned!(taken=> __to.take(__value););
    }
    walk(rest, private, value)
}

/// Goes through one list for each pair of brackets, from the innermost to the
/// outermost. The bodies are written inside out, because each loop surrounds what
/// was written before it.
fn in_lists(
    place: &TokenStream,
    at: Span,
    brackets: &[Span],
    private: &Ident,
    inner: &TokenStream,
) -> TokenStream {
    let here = Span::mixed_site();
    let mut body = generated! {
        let __value = #private::PathValue(__value).__unboxed();
        #inner
    };
    // Both are methods of probes, with the span of the user's step. Each goes
    // through an `Option`, and takes any other value as it is. `__passed` is for a
    // value without brackets behind it, and reports a list there; `__opened` is for
    // one with brackets.
    let mut through = Ident::new("__passed", Span::mixed_site().located_at(at));
    for bracket in brackets.iter().rev() {
        let list = Ident::new("__list", here.located_at(*bracket));
        body = generated! {
            let #list = #private::PathValue(__value).__unboxed();
            __to.each(#list, |__value, __to| {
                for __value in #private::PathValue(__value).#through() { #body }
            });
        };
        through = Ident::new("__opened", Span::mixed_site().located_at(at));
    }
    generated!(for __value in #private::PathValue(#place).#through() { #body })
}

/// `node`: its lists may name the fields. A tool's output is its arguments.
pub(crate) fn emit(
    choices: &[Choice],
    node: Option<&ItemStruct>,
    output: &impl ToTokens,
    state: &impl ToTokens,
    private: &Ident,
) -> Option<TokenStream> {
    if choices.is_empty() {
        return None;
    }
    // Of a node, the fields may stand in lists. A tool has no fields before the
    // model has written its arguments, so it has none here.
    let fields: Vec<&Ident> = node
        .iter()
        .flat_map(|node| &node.fields)
        .filter_map(|field| field.ident.as_ref())
        .collect();
    // An unused parameter would be a warning in the user's code, so the state has
    // no name where no list reads it.
    let lent = match choices.iter().any(|one| one.state().is_some()) {
        true => generated!(state),
        false => generated!(_),
    };
    let lists = choices.iter().map(|one| {
        let text = &one.text;
        let source = one.source();
        let values = one.values(&fields, private);
        generated!(__to.add(#text, #source, #values);)
    });
    // `chosen` is called for one list at a time, by its number: an answer is
    // checked list by list, and each has its own message.
    let walks = choices.iter().enumerate().map(|(index, one)| {
        let walk = one.walk(private);
        generated!(#index => { #walk })
    });
    let receiver = node.map(|_| generated!(&self,));
    // A tool's output is its arguments.
    let (parameters, value) = match node {
        Some(_) => (generated!(&self, __value: &#output), None),
        None => (generated!(&self), Some(generated!(let __value = self;))),
    };
    Some(generated! {
        fn choices(#receiver #lent: &#state, __to: &mut #private::Choices) {
            #(#lists)*
        }
        // For an enum with one variant.
        #[allow(irrefutable_let_patterns)]
        fn chosen(
            #parameters,
            __list: ::core::primitive::usize,
            __to: &mut #private::ChosenValues
        ) {
            use #private::probes::*;
            #value
            match __list {
                #(#walks)*
                _ => {}
            }
        }
    })
}
