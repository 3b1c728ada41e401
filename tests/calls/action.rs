//! What `#[derive(Action)]` generates for an enum.

use llmnode::Action;

#[derive(Debug, PartialEq, Action)]
enum Decision {
    Search,
    #[action(name = "look up")]
    LookUp,
    r#Self_,
    r#Try,
}

/// Its values are cloned, whether or not the enum itself can be.
#[derive(Debug, PartialEq, Action)]
#[action(crate = ::llmnode)]
enum Rich {
    Query(String, u8),
    Limits {
        most: Vec<u8>,
        r#type: Option<Box<u8>>,
    },
    Nothing {},
    Never(),
}

#[derive(Action)]
enum Uninhabited {}

#[test]
fn actions_have_the_names_of_their_variants() {
    assert_eq!(
        Decision::NAMES,
        Some(&["Search", "look up", "Self_", "Try"][..])
    );
    assert_eq!(Decision::Search.name(), "Search");
    assert_eq!(Decision::LookUp.name(), "look up");
    assert_eq!(Decision::r#Try.name(), "Try");
    assert_eq!(Decision::r#Self_.name(), "Self_");
    assert_eq!(Uninhabited::NAMES, Some(&[][..]));
}

#[test]
fn an_action_is_made_of_a_reference_to_it() {
    assert_eq!(Decision::from(&Decision::LookUp), Decision::LookUp);
    for rich in [
        Rich::Query("rain".into(), 2),
        Rich::Limits {
            most: vec![1],
            r#type: Some(Box::new(2)),
        },
        Rich::Nothing {},
        Rich::Never(),
    ] {
        assert_eq!(Rich::from(&rich), rich);
    }
    assert_eq!(Rich::Query(String::new(), 0).name(), "Query");
    let _ = |never: &Uninhabited| Uninhabited::from(never);
}
