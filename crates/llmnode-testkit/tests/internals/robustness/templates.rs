//! What a template is read to, held against `format!`, against what it was written from, and against its length.

use proptest::prelude::*;

use crate::invariants::prompt::holds;
use crate::prompt::template::{Format, Piece, Variable, parse};

const WORD: &str = "né{o}";
const NUMBER: i32 = 42;

/// Templates with what `format!` makes of them, and format specs with what it makes of the two fields.
macro_rules! made_by_std {
    ([$($template:literal)*] [$($spec:literal)*] [$($numeric:literal)*]) => {
        fn templates() -> Vec<(&'static str, String)> {
            let (word, number) = (WORD, NUMBER);
            let _ = (word, number);
            vec![$(($template, format!($template, word = word, number = number))),*]
        }

        fn specified(field: &str, spec: &str) -> String {
            match (field, spec) {
                $(("word", $spec) => format!(concat!("{:", $spec, "}"), WORD),)*
                $(("number", $spec) => format!(concat!("{:", $spec, "}"), NUMBER),)*
                $(("number", $numeric) => format!(concat!("{:", $numeric, "}"), NUMBER),)*
                other => panic!("no value for {other:?}"),
            }
        }

        fn a_use() -> impl Strategy<Value = (&'static str, &'static str)> {
            prop_oneof![
                prop::sample::select(vec![$(("word", $spec), ("number", $spec)),*]),
                prop::sample::select(vec![$(("number", $numeric)),*]),
            ]
        }
    };
}

made_by_std! {
    ["{word}{number}" "{{{word}}}{{}}{number}" "{word:?}\n}}{number:}{{" "é{number:é^+9}{word:->7.2}" "{number:#010x}{word:<2}"
     "{number:08.3}, {word:>>5}, {number:e}" "{{word}} {{{{{number}}}}} {word:}"]
    ["" "?" "#?" ">9" ">>5" "->7.2" "<2" "<9" "^9" "é^9" "*>12" ">>7" "_<" "12" ".2" "^9.3" "-" "+"]
    ["x" "#X" "#010b" "#010x" "o" "+5" "é^+9" "08" "08.3" "e" "E" "-<+8" "x?"]
}

/// A template's value, as its pieces are defined.
fn rendered(template: &str) -> String {
    let read = parse(template);
    assert_eq!(read.faults, [], "{template:?}");
    let render = |piece: &Piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Variable {
            variable: Variable::Field(field),
            format: Format::Plain,
        } => specified(field, ""),
        Piece::Variable {
            variable: Variable::Field(field),
            format: Format::Spec(spec),
        } => specified(field, spec),
        other => panic!("{other:?} is nothing of `format!`"),
    };
    read.segments
        .iter()
        .map(|segment| render(&segment.kind))
        .collect()
}

#[test]
fn a_template_is_what_format_makes_of_it() {
    for (template, made) in templates() {
        assert_eq!(rendered(template), made, "{template}");
    }
}

/// A variable with its format, of all kinds.
fn variable() -> impl Strategy<Value = Piece> {
    let name = || {
        prop::sample::select(vec!["goal", "type", "größe", "_a1", "states", "or", "list"])
            .prop_map(str::to_owned)
    };
    let step = prop_oneof![name(), (0..100u8).prop_map(|index| index.to_string())];
    let variable = prop_oneof![
        name().prop_map(Variable::Field),
        prop::collection::vec(step, 1..4).prop_map(Variable::State),
    ];
    let format = prop_oneof![
        Just(Format::Plain),
        Just(Format::List),
        Just(Format::Json),
        Just(Format::Attach),
        Just(Format::Raw),
        "[^{}]{1,9}".prop_map(Format::Or),
        a_use().prop_filter_map("a format", |(_, spec)| (!spec.is_empty())
            .then(|| Format::Spec(spec.to_owned()))),
    ];
    (variable, format).prop_map(|(variable, format)| Piece::Variable { variable, format })
}

/// A piece as it is written.
fn written(piece: &Piece) -> String {
    let (variable, format) = match piece {
        Piece::Text(text) => return text.replace('{', "{{").replace('}', "}}"),
        Piece::Variable { variable, format } => (variable, format),
    };
    let name = match variable {
        Variable::Field(name) => name.clone(),
        Variable::State(path) => format!("state.{}", path.join(".")),
    };
    match format {
        Format::Plain => format!("{{{name}}}"),
        Format::List => format!("{{{name}:list}}"),
        Format::Json => format!("{{{name}:json}}"),
        Format::Fence => format!("{{{name}:fence}}"),
        Format::Attach => format!("{{{name}:attach}}"),
        Format::Raw => format!("{{{name}:raw}}"),
        Format::Or(text) => format!("{{{name}:or({text})}}"),
        Format::Spec(spec) => format!("{{{name}:{spec}}}"),
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read(pieces in prop::collection::vec((".{1,9}", variable()), 0..6), last in ".{0,9}") {
        let pieces = pieces.into_iter().flat_map(|(text, variable)| [Piece::Text(text), variable]);
        let pieces: Vec<_> = pieces.chain((!last.is_empty()).then_some(Piece::Text(last))).collect();
        let source: String = pieces.iter().map(written).collect();
        let read = parse(&source);
        prop_assert_eq!(read.faults, []);
        prop_assert_eq!(read.segments.into_iter().map(|segment| segment.kind).collect::<Vec<_>>(), pieces);
        prop_assert_eq!(holds(&source), Ok(()));
    }

    #[test]
    fn values_are_what_format_makes_of_them(uses in prop::collection::vec((a_use(), "[a-zé{}]{0,4}"), 0..8)) {
        let template: String =
            uses.iter().map(|((field, spec), text)| format!("{{{field}:{spec}}}{}", text.replace('{', "{{").replace('}', "}}"))).collect();
        let value: String = uses.iter().map(|((field, spec), text)| format!("{}{text}", specified(field, spec))).collect();
        prop_assert_eq!(rendered(&template), value);
    }
}

/// Where a fault made the reader look at all the rest of the prompt, this would not end.
#[test]
fn many_faults_take_one_pass() {
    for piece in ["{\"", "{\n", "{a", "é{ ", "{a b}", "{a:fence}"] {
        parse(&piece.repeat(400_000 / piece.len()));
    }
}
