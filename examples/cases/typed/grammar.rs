//! The words of BAML for types: `int`, `Foo?`, `(A | B)[]`, `map<string, int>`, `"literal"`.

use serde_json::{Value, json};

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Type {
    Int,
    Float,
    Bool,
    String,
    Null,
    Literal(Value),
    Named(String),
    List(Box<Type>),
    /// From names to these.
    Map(Box<Type>),
    Union(Vec<Type>),
}

impl Type {
    /// The type that a text names; `None`: it names none, as the comments that extraction took for types.
    pub(super) fn parse(text: &str) -> Option<Type> {
        let mut rest = text.trim();
        let parsed = union(&mut rest)?;
        rest.is_empty().then_some(parsed)
    }

    /// Whether null is one of its values.
    pub(super) fn is_optional(&self) -> bool {
        match self {
            Type::Null => true,
            Type::Union(forms) => forms.iter().any(Type::is_optional),
            _ => false,
        }
    }
}

fn take(rest: &mut &str, mark: &str) -> bool {
    let after = rest.trim_start().strip_prefix(mark);
    *rest = after.unwrap_or(rest);
    after.is_some()
}

fn union(rest: &mut &str) -> Option<Type> {
    let mut forms = vec![suffixed(rest)?];
    while take(rest, "|") {
        forms.push(suffixed(rest)?);
    }
    *rest = rest.trim_start();
    if forms.len() == 1 {
        forms.pop()
    } else {
        Some(Type::Union(forms))
    }
}

fn suffixed(rest: &mut &str) -> Option<Type> {
    let mut one = primary(rest)?;
    loop {
        one = if take(rest, "[]") {
            Type::List(Box::new(one))
        } else if take(rest, "?") {
            Type::Union(vec![one, Type::Null])
        } else {
            return Some(one);
        };
    }
}

fn primary(rest: &mut &str) -> Option<Type> {
    if take(rest, "(") {
        let inner = union(rest)?;
        return take(rest, ")").then_some(inner);
    }
    *rest = rest.trim_start();
    if let Some(inner) = rest.strip_prefix('"') {
        let (text, after) = inner.split_once('"')?;
        *rest = after;
        return Some(Type::Literal(json!(text)));
    }
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
    let (word, after) = rest.split_at(end);
    *rest = after;
    Some(match word {
        "" => return None,
        "int" => Type::Int,
        "float" => Type::Float,
        "bool" => Type::Bool,
        "string" => Type::String,
        "null" => Type::Null,
        "true" => Type::Literal(json!(true)),
        "false" => Type::Literal(json!(false)),
        "map" => {
            let keys = take(rest, "<").then(|| union(rest)).flatten()?;
            let values = take(rest, ",").then(|| union(rest)).flatten()?;
            // Names of members are text; of those of an enum it is not checked which.
            let named = matches!(
                keys,
                Type::String | Type::Named(_) | Type::Literal(_) | Type::Union(_)
            );
            return (named && take(rest, ">")).then(|| Type::Map(Box::new(values)));
        }
        word if word.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
            Type::Literal(json!(word.parse::<i64>().ok()?))
        }
        word => Type::Named(word.to_owned()),
    })
}
