//! Untagged enums that contain themselves: serde reads what their forms have in common once for each form and level.

use super::*;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code)]
enum Tree {
    Sum { left: Box<Tree>, sum: u8 },
    Product { left: Box<Tree>, product: u8 },
    Power { left: Box<Tree>, power: u8 },
    Leaf(u8),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind")]
#[expect(dead_code)]
enum Tagged {
    Sum { left: Box<Tagged>, sum: u8 },
    Product { left: Box<Tagged>, product: u8 },
    Leaf,
}

/// `inner` within so many levels of `{"left": .., "<last>": 1}`.
fn nested(levels: usize, inner: &str, last: &str) -> String {
    format!("{}{inner}{}", r#"{"left": "#.repeat(levels), format!(r#", "{last}": 1}}"#).repeat(levels))
}

#[test]
fn an_answer_is_refused_that_serde_would_read_for_ever() {
    let read = |json: String| of::<Tree>(&format!(r#"{{"value": {json}}}"#)).map(|_| ());
    // The last form of three at each of 40 levels: 3 to the power of 40 readings.
    let too_deep = "value: is nested too deeply in forms that have members in common".to_owned();
    assert_eq!(read(nested(40, "1", "power")), Err(too_deep));
    let doubled = read(nested(40, r#"{"sum": 1, "sum": 2}"#, "power")).unwrap_err();
    assert_eq!(doubled, "has the member `sum` twice with different values; write it once");
    let innermost = ".left: is true, expected object with `left`, `sum` or ";
    let refused = read(nested(40, "true", "sum")).unwrap_err();
    assert!(refused.contains(innermost), "what no form fits is told, though serde was not asked: {refused}");
}

#[test]
fn neither_levels_nor_forms_are_too_many_of_themselves() {
    let tree = |json: String| of::<Tree>(&format!(r#"{{"value": {json}}}"#)).map(|_| ());
    assert_eq!(tree(nested(60, "1", "sum")), Ok(()), "the first form fits at each level");
    assert_eq!(tree(nested(6, "1", "power")), Ok(()));
    let tagged = |json: String| of::<Tagged>(&format!(r#"{{"value": {json}}}"#)).map(|_| ());
    let last = r#"{"kind": "Leaf"}"#;
    assert_eq!(tagged(nested(60, last, "kind\": \"Product\", \"product")), Ok(()), "the tag says which");
}

#[test]
fn only_untagged_enums_of_several_forms_that_contain_themselves_are_looked_at() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code)]
    struct List {
        next: Option<Box<List>>,
    }
    #[derive(Deserialize, JsonSchema)]
    #[serde(untagged)]
    #[expect(dead_code)]
    enum Flat {
        Item(Item),
        Items(Vec<Item>),
    }
    assert!(OutputSchema::of::<Tree>().may_read_again);
    assert!(OutputSchema::of::<Vec<Option<Tree>>>().may_read_again);
    assert!(!OutputSchema::of::<Tagged>().may_read_again);
    assert!(!OutputSchema::of::<List>().may_read_again);
    assert!(!OutputSchema::of::<Flat>().may_read_again);
}

#[test]
fn a_null_in_place_of_a_default_does_not_hide_how_often_the_rest_is_read() {
    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(untagged)]
    #[expect(dead_code)]
    enum Noted {
        Sum {
            #[serde(default)]
            note: String,
            left: Box<Noted>,
            sum: u8,
        },
        Product {
            #[serde(default)]
            note: String,
            left: Box<Noted>,
            product: u8,
        },
        Leaf(u8),
    }
    let text = nested(60, "1", "product").replace(r#"{"left""#, r#"{"note": null, "left""#);
    let refused = of::<Noted>(&format!(r#"{{"value": {text}}}"#)).map(|_| ()).unwrap_err();
    assert_eq!(refused, "value: is nested too deeply in forms that have members in common");
}
