use proptest::prelude::*;

use super::super::fault::FaultKind;
use super::{Format, Piece, Segment, Template, Variable, parse};

fn kinds(source: &str) -> Vec<Piece> {
    let template = parse(source);
    assert_eq!(template.faults, [], "{source:?}");
    template
        .segments
        .into_iter()
        .map(|segment| segment.kind)
        .collect()
}

/// The faults of a prompt, each as the text it points at and its kind.
fn faults(source: &str) -> Vec<(&str, FaultKind)> {
    parse(source)
        .faults
        .into_iter()
        .map(|fault| (&source[fault.range], fault.kind))
        .collect()
}

fn text(text: &str) -> Piece {
    Piece::Text(text.to_owned())
}

fn field(name: &str, format: Format) -> Piece {
    Piece::Variable {
        variable: Variable::Field(name.to_owned()),
        format,
    }
}

fn state(path: &[&str], format: Format) -> Piece {
    let path = path.iter().map(|step| step.to_string()).collect();
    Piece::Variable {
        variable: Variable::State(path),
        format,
    }
}

#[test]
fn reads_text_variables_and_formats() {
    assert_eq!(
        kinds("Goal: {goal}\n{state.inventory:list}."),
        [
            text("Goal: "),
            field("goal", Format::Plain),
            text("\n"),
            state(&["inventory"], Format::List),
            text("."),
        ]
    );
    assert_eq!(kinds("{a:json}"), [field("a", Format::Json)]);
    assert_eq!(kinds("{a:attach}"), [field("a", Format::Attach)]);
    assert_eq!(
        kinds("{a:or(none yet (so far))}"),
        [field("a", Format::Or("none yet (so far)".into()))]
    );
    assert_eq!(
        kinds("{a:?}{b:>3}"),
        [
            field("a", Format::Spec("?".into())),
            field("b", Format::Spec(">3".into()))
        ]
    );
    assert_eq!(
        kinds("{state.pair.0.größe}"),
        [state(&["pair", "0", "größe"], Format::Plain)]
    );
    assert_eq!(kinds("{type}"), [field("type", Format::Plain)]);
    assert_eq!(kinds("{a:}"), [field("a", Format::Plain)]);
    assert_eq!(kinds(""), []);
}

#[test]
fn doubled_braces_are_text() {
    assert_eq!(
        kinds("{{\"a\": {a}}}"),
        [text("{\"a\": "), field("a", Format::Plain), text("}")]
    );
    assert_eq!(
        kinds("{{{a}}}"),
        [text("{"), field("a", Format::Plain), text("}")]
    );
}

#[test]
fn braces_that_do_not_match() {
    assert_eq!(faults("hi {topic there"), [("{", FaultKind::Unclosed)]);
    assert_eq!(faults("{topic and {style}"), [("{", FaultKind::Unclosed)]);
    assert_eq!(faults("{"), [("{", FaultKind::Unclosed)]);
    assert_eq!(faults("a } b"), [("}", FaultKind::UnmatchedClose)]);
    assert_eq!(faults("{a}}"), [("}", FaultKind::UnmatchedClose)]);
}

#[test]
fn json_in_a_prompt_is_one_fault() {
    assert_eq!(
        faults("as {\"a\": {\"b\": 1}} please"),
        [("{", FaultKind::Text)]
    );
    assert_eq!(
        faults("{\n  \"a\": 1,\n  \"b\": {}\n}"),
        [("{", FaultKind::Text)]
    );
    assert_eq!(faults("{\n  name: string\n}"), [("{", FaultKind::Text)]);
}

#[test]
fn variables_that_are_none() {
    assert_eq!(
        faults("{} {0} {:?}"),
        [
            ("{}", FaultKind::Positional("{}".into())),
            ("{0}", FaultKind::Positional("{0}".into())),
            ("{:?}", FaultKind::Positional("{:?}".into())),
        ]
    );
    assert_eq!(faults("{ a }"), [(" a ", FaultKind::Spaces("a".into()))]);
    assert_eq!(
        faults("{state.a }"),
        [("state.a ", FaultKind::Spaces("state.a".into()))]
    );
    assert_eq!(faults("{self}"), [("self", FaultKind::SelfValue)]);
    assert_eq!(faults("{state}"), [("state", FaultKind::BareState)]);
    assert_eq!(
        faults("{r#type}"),
        [("r#type", FaultKind::RawIdentifier("type".into()))]
    );
    assert_eq!(
        faults("{a.b:?}"),
        [("a.b", FaultKind::FieldAccess("a.b".into()))]
    );
    assert_eq!(
        faults("{self.a}"),
        [("self.a", FaultKind::FieldAccess("self.a".into()))]
    );
    for text in [
        "state.f()",
        "state.",
        "state..a",
        "state.a[0]",
        "a + 1",
        "f(a)",
        "Foo::BAR",
        "&a",
        "a b",
    ] {
        let source = format!("{{{text}}}");
        assert_eq!(
            faults(&source),
            [(text, FaultKind::Expression(text.into()))],
            "{text}"
        );
    }
}

#[test]
fn filters_that_are_none() {
    assert_eq!(
        faults("{a:lst}"),
        [("lst", FaultKind::UnknownFilter("lst".into()))]
    );
    assert_eq!(
        faults("{a:xml}"),
        [("xml", FaultKind::UnknownFilter("xml".into()))]
    );
    assert_eq!(
        faults("{a:list(3)}"),
        [("list(3)", FaultKind::FilterArgument("list"))]
    );
    assert_eq!(
        faults("{a:attach()}"),
        [("attach()", FaultKind::FilterArgument("attach"))]
    );
    assert_eq!(
        faults("{a:attached}"),
        [("attached", FaultKind::UnknownFilter("attached".into()))]
    );
    for text in ["or", "or()", "or(x", "or none"] {
        let source = format!("{{a:{text}}}");
        assert_eq!(
            faults(&source),
            [(text, FaultKind::OrWithoutText)],
            "{text}"
        );
    }
    assert!(matches!(
        &faults("{a:>w$}")[..],
        [(">w$", FaultKind::SpecParameter)]
    ));
    assert_eq!(
        FaultKind::UnknownFilter("lst".into()).to_string(),
        "unknown filter `lst`; did you mean `list`?"
    );
    assert!(
        FaultKind::UnknownFilter("xml".into())
            .to_string()
            .contains("expected `list`, `json`, `fence`, `attach`, ")
    );
}

#[test]
fn a_message_quotes_one_line_at_most() {
    let message = |source: &str| parse(source).faults[0].kind.to_string();
    assert!(
        message("{topic: Rust,\nstyle: calm}").starts_with("unknown filter ` Rust,…`; expected")
    );
    assert!(message("{a:jso\nn}").starts_with("unknown filter `jso…`; did you mean `json`?"));
    assert!(message("{a b\nc}").starts_with("`a b…` is an expression"));
    assert!(message("{:\r\n}").starts_with("`{:…` is not a variable"));
    assert!(
        message(&format!("{{a {}}}", "é".repeat(999)))
            .starts_with(&format!("`a {}…` is", "é".repeat(58)))
    );
}

#[test]
fn a_fence_has_a_line_of_its_own() {
    for source in [
        "{a:fence}",
        "Page:\n{a:fence}\nSum it up.",
        "Page:\r\n  {a:fence} \r\n",
    ] {
        assert!(
            kinds(source).contains(&field("a", Format::Fence)),
            "{source:?}"
        );
    }
    for source in [
        "Page: {a:fence}",
        "{a:fence}.",
        "{a:fence}{b}",
        "{b}{a:fence}",
    ] {
        let at = "{a:fence}";
        assert_eq!(
            faults(source),
            [(at, FaultKind::FenceInLine(at.into()))],
            "{source:?}"
        );
    }
}

#[test]
fn all_faults_are_reported_and_the_rest_is_read() {
    let template = parse("{} {a.b} } {ok} {");
    assert_eq!(template.faults.len(), 4);
    assert!(
        template
            .segments
            .iter()
            .any(|segment| segment.kind == field("ok", Format::Plain))
    );
}

/// Text that is rich in what the grammar cares about.
fn prompts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("{".to_owned()),
        Just("}".to_owned()),
        Just("{goal}".to_owned()),
        Just("{state.a.0:list}".to_owned()),
        Just("{n:or(é)}".to_owned()),
        Just(":".to_owned()),
        "[a-z. \\n\"()#$ßé]{0,4}",
        any::<String>(),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn back_to_source(source: &str, segments: &[Segment]) -> String {
    segments
        .iter()
        .map(|segment| &source[segment.range.clone()])
        .collect()
}

proptest! {
    #[test]
    fn segments_concatenate_to_the_source(source in prompts()) {
        let Template { segments, faults } = parse(&source);
        if faults.is_empty() {
            prop_assert_eq!(back_to_source(&source, &segments), source.clone());
        }
        let ranges = segments.iter().map(|segment| &segment.range).chain(faults.iter().map(|fault| &fault.range));
        for range in ranges {
            prop_assert!(source.get(range.clone()).is_some_and(|text| !text.is_empty()), "{:?}", range);
        }
    }

    #[test]
    fn escaped_text_comes_back(text in any::<String>()) {
        let escaped = text.replace('{', "{{").replace('}', "}}");
        let read: String = kinds(&escaped)
            .into_iter()
            .map(|piece| match piece {
                Piece::Text(text) => text,
                Piece::Variable { .. } => panic!("a variable in escaped text"),
            })
            .collect();
        prop_assert_eq!(read, text);
    }
}
