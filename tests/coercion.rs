//! Coercion per node: JSON of another type is made into the output's where only one value can be meant, and flagged.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests")]

use llmnode::{
    Category, Coercion, Exec, Flag, Invalid, LlmOutput, OutputSchema, Primitive, Reader, Repair, Run,
    ScriptedModel, Settings, llm_node, llm_output,
};
use llmnode::{FinishReason, Reply};
use serde_json::json;

#[llm_output]
#[derive(Debug, PartialEq)]
struct Review {
    /// From 1 to 5.
    #[schemars(range(min = 1, max = 5))]
    stars: u8,
    mood: Mood,
    tags: Vec<String>,
    note: Option<String>,
}

#[llm_output]
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mood {
    Happy,
    Sad,
}

fn is_serious(review: &Review, _: &llmnode::Attempt) -> Result<(), Invalid> {
    if review.stars == 1 && review.mood == Mood::Happy {
        Err(Invalid::new("nobody is happy with one star"))
    } else {
        Ok(())
    }
}

#[llm_node(prompt = "Rate {text}.", output = Review, validate = is_serious, coerce, retries = 1)]
struct Rate {
    text: &'static str,
}

#[llm_node(prompt = "Rate {text}.", output = Review)]
struct RateStrictly {
    text: &'static str,
}

const RATE: Rate = Rate { text: "the soup" };
const CARELESS: &str = r#"{"stars": "4", "mood": " happy ", "tags": "soup", "note": null}"#;

fn careless() -> Review {
    Review { stars: 4, mood: Mood::Happy, tags: vec!["soup".into()], note: None }
}

async fn flags<N: Exec<()>>(node: &N, answer: &str, settings: Settings) -> Result<Vec<Flag>, String> {
    let run = Run::new(ScriptedModel::new().reply(answer));
    let report = run.call(node).settings(settings.retries(0)).report().await.map_err(|error| {
        assert_eq!(error.category(), Category::SchemaError);
        error.to_string()
    })?;
    Ok(report.record.attempts[0].flags.clone())
}

#[tokio::test]
async fn a_node_that_coerces_takes_a_careless_answer_and_flags_each_change() {
    let run = Run::new(ScriptedModel::new().reply(CARELESS));
    let report = run.call(&RATE).report().await.unwrap();
    assert_eq!(report.value, careless());
    use Coercion::{Choice, List, NumberFromString};
    assert_eq!(report.record.attempts[0].flags, [NumberFromString, Choice, List].map(Flag::Coerced));
    let fenced = format!("```json\n{}\n```", CARELESS.replace("null}", "null,}"));
    assert_eq!(
        flags(&RATE, &fenced, Settings::new()).await.unwrap(),
        [
            Flag::Fenced,
            Flag::Repaired(Repair::Comma),
            Flag::Coerced(NumberFromString),
            Flag::Coerced(Choice),
            Flag::Coerced(List),
        ]
    );
}

#[tokio::test]
async fn a_clean_answer_has_no_flags() {
    let clean = r#"{"stars": 4, "mood": "Happy", "tags": ["soup"]}"#;
    assert_eq!(flags(&RATE, clean, Settings::new()).await, Ok(vec![]));
}

#[tokio::test]
async fn nothing_is_coerced_unless_the_node_the_run_or_the_call_says_so() {
    let node = RateStrictly { text: "the soup" };
    assert!(flags(&node, CARELESS, Settings::new()).await.is_err());
    assert!(flags(&node, CARELESS, Settings::new().coerce(true)).await.is_ok());
    assert!(flags(&RATE, CARELESS, Settings::new().coerce(false)).await.is_err());
    let run =
        |coerce| Run::new(ScriptedModel::new().reply(CARELESS)).with_settings(Settings::new().coerce(coerce));
    assert!(run(true).call(&node).await.is_ok());
    assert!(run(false).call(&RATE).retries(0).await.is_err(), "the run beats the node's attribute");
    assert!(run(false).call(&RATE).settings(Settings::new().coerce(true)).await.is_ok());
    assert!(run(false).call(&node).coerce(true).await.is_ok());
    assert!(run(true).call(&node).coerce(false).await.is_err());
}

#[tokio::test]
async fn what_cannot_be_coerced_is_told_in_full_and_nothing_of_it_is_taken() {
    let model = ScriptedModel::new()
        .reply(r#"{"stars": "four", "mood": "Happy or Sad", "tags": [1], "note": null}"#)
        .reply(CARELESS);
    assert_eq!(Run::new(model.clone()).call(&RATE).await.unwrap(), careless());
    assert_eq!(
        model.requests()[1].messages.last().unwrap().content,
        "That answer was not accepted:\n\
         - stars: is \"four\", expected integer from 1 to 5\n\
         - mood: could mean \"Happy\" or \"Sad\"; write the one that is meant\n\
         Answer again in full, with this corrected."
    );
}

#[tokio::test]
async fn two_values_that_could_be_meant_are_both_named() {
    let model = ScriptedModel::new()
        .reply(r#"{"stars": 4, "mood": "Happy or Sad", "tags": []}"#)
        .reply(r#"{"stars": 4, "mood": "Sad", "tags": []}"#);
    Run::new(model.clone()).call(&RATE).await.unwrap();
    let told = model.requests()[1].messages.last().unwrap().content.clone();
    assert!(
        told.contains("\n- mood: could mean \"Happy\" or \"Sad\"; write the one that is meant\n"),
        "{told}"
    );
}

#[tokio::test]
async fn bounds_and_validators_hold_for_what_was_coerced() {
    let over = flags(&RATE, &CARELESS.replace('4', "6"), Settings::new()).await.unwrap_err();
    assert!(over.contains("stars: is \"6\", expected integer from 1 to 5"), "{over}");
    let run = Run::new(ScriptedModel::new().reply(CARELESS.replace('4', "1")));
    let error = run.call(&RATE).retries(0).await.unwrap_err();
    assert_eq!(error.category(), Category::ValidationError);
}

#[tokio::test]
async fn what_stopped_at_a_length_limit_is_not_coerced() {
    let cut =
        |text: &str| Run::new(ScriptedModel::new().reply(Reply::text(text).finish(FinishReason::Length)));
    let error = cut(CARELESS).call(&RATE).retries(0).await.unwrap_err();
    assert_eq!(error.category(), Category::TruncatedOutput);
    assert!(cut(r#"{"stars": 4, "mood": "Happy", "tags": []}"#).call(&RATE).retries(0).await.is_ok());
}

#[llm_node(prompt = "Is {n} even?", output = bool, coerce)]
struct IsEven {
    n: u32,
}

#[llm_node(prompt = "How is it?", output = Mood, coerce)]
struct HowIsIt;

#[tokio::test]
async fn a_word_among_words_is_an_answer_where_only_a_name_is_wanted() {
    for (answer, expected) in [
        ("True", Some(true)),
        ("The answer is **false**.", Some(false)),
        ("<think>true or false?</think>\nTrue.", Some(true)),
        ("true or false", None),
        ("That is not true.", None),
        ("He says that it is true.", None),
        ("Yes. It is even.", None),
        ("Yes", None),
        (r#"{"answer": true"#, None),
    ] {
        let run = Run::new(ScriptedModel::new().reply(answer));
        assert_eq!(run.call(&IsEven { n: 4 }).await.ok(), expected, "{answer}");
    }
    let run = Run::new(ScriptedModel::new().reply("That is not true."));
    let told = run.call(&IsEven { n: 4 }).retries(0).await.unwrap_err().to_string();
    assert!(told.contains("no value is named as the answer"), "{told}");
    let run = Run::new(ScriptedModel::new().reply("I would say it is Sad."));
    let report = run.call(&HowIsIt).report().await.unwrap();
    assert_eq!(
        (report.value, report.record.attempts[0].flags.as_slice()),
        (Mood::Sad, &[Flag::Coerced(Coercion::Mentioned)][..])
    );
    let run = Run::new(ScriptedModel::new().reply("I would say it is Sad."));
    assert!(run.call(&HowIsIt).settings(Settings::new().coerce(false)).await.is_err());
}

fn read<T: LlmOutput>(text: &str) -> Result<(T, Vec<(Flag, String)>), String> {
    match Reader::new().coerce(true).read::<T>(text) {
        Ok(reading) => {
            Ok((reading.value, reading.notes.into_iter().map(|note| (note.flag, note.place)).collect()))
        }
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn values_side_by_side_are_a_list() {
    let (list, notes) = read::<Vec<Pair>>("First {\"n\": 1} and then {\"n\": \"2\"}.").unwrap();
    assert_eq!(list, [Pair { n: 1 }, Pair { n: 2 }]);
    let flags: Vec<Flag> = notes.iter().map(|(flag, _)| *flag).collect();
    assert_eq!(
        flags,
        [Flag::InProse, Flag::Coerced(Coercion::NumberFromString), Flag::Coerced(Coercion::Listed)]
    );
    assert_eq!(notes[1].1, "[1].n");
    for text in [
        "{\"n\": 1} {\"n\": 1}",
        "{\"n\": 1} {\"n\": null}",
        "[{\"n\": 1}] {\"n\": 2}",
        "{\"n\": 1} {\"n\": 2",
    ] {
        assert!(read::<Vec<Pair>>(text).is_err(), "{text}");
    }
    assert!(read::<Pair>("{\"n\": 1} {\"n\": 2}").unwrap_err().contains("could mean"));
}

#[llm_output]
#[derive(Debug, PartialEq)]
struct Pair {
    n: u64,
}

#[llm_output]
#[derive(Debug, PartialEq, Default)]
struct Options {
    #[serde(default)]
    name: String,
    #[serde(default)]
    size: u8,
}

#[test]
fn a_list_written_as_a_text_and_a_blank_text_are_no_single_item() {
    for text in [r#""[\"a\", \"b\"]""#, r#""[]""#, r#""""#, r#"" ""#] {
        assert!(read::<Vec<String>>(text).is_err(), "{text}");
    }
    assert_eq!(read::<Vec<String>>(r#""a [b] c""#).unwrap().0, ["a [b] c"]);
}

#[test]
fn an_object_is_not_put_where_its_members_would_be_lost() {
    assert_eq!(read::<Vec<Options>>(r#"{"name": "a"}"#).unwrap().0.len(), 1);
    assert!(read::<Vec<Options>>(r#"{"results": [{"name": "a"}]}"#).is_err());
    assert!(read::<Pair>("5").is_ok());
    assert!(read::<Pair>(r#"{"m": 5}"#).is_err());
    let wrapped = read::<Vec<u8>>(r#"{"value": ["1"]}"#).unwrap();
    assert_eq!(wrapped, (vec![1], vec![(Flag::Coerced(Coercion::NumberFromString), "value[0]".to_owned())]));
}

#[test]
fn of_several_values_the_one_that_can_be_the_type_is_taken() {
    let text = "```json\n{\"n\": \"7\"}\n```\nand\n```json\n{\"other\": [1]}\n```";
    assert_eq!(read::<Pair>(text).unwrap().0, Pair { n: 7 });
    let rival = "```json\n{\"n\": \"7\"}\n```\nor\n```json\n{\"n\": \"eight\"}\n```";
    assert!(read::<Pair>(rival).is_err(), "the other one was meant as the type, too");
}

#[test]
fn large_numbers_keep_their_digits() {
    let most = format!(r#"{{"n": "{}"}}"#, u64::MAX);
    assert_eq!(read::<Pair>(&most).unwrap().0.n, u64::MAX);
    assert!(read::<Pair>(&most.replace("15\"", "16\"")).is_err());
}

#[tokio::test]
async fn a_primitive_coerces_to_its_type_or_schema() {
    let typed = Primitive::builder("rate").output::<Review>().coerce(true).retries(0).build().unwrap();
    let run = Run::new(ScriptedModel::new().reply(CARELESS));
    let value = run.call(&typed.ask("soup")).await.unwrap();
    assert_eq!(value, json!({"stars": 4, "mood": "Happy", "tags": ["soup"], "note": null}));
    let schema = json!({"type": "array", "items": {"type": "integer"}, "maxItems": 2});
    let by_schema =
        Primitive::builder("list").output_schema(schema.clone()).coerce(true).retries(0).build().unwrap();
    let run = Run::new(ScriptedModel::new().reply(r#"{"value": "3"}"#).reply(r#"["1", "2", "3"]"#));
    assert_eq!(run.call(&by_schema.ask("")).await.unwrap(), json!([3]));
    assert!(run.call(&by_schema.ask("")).await.is_err());
    let schema = OutputSchema::from_value("list", schema);
    assert!(Reader::new().conforming("3", &schema).is_err());
    assert_eq!(Reader::new().coerce(true).conforming("3", &schema).unwrap().value, json!([3]));
}

#[tokio::test]
async fn coercion_of_raw_text_is_an_error_of_the_call() {
    #[llm_node(prompt = "Say it.")]
    struct Say;
    let run = Run::new(ScriptedModel::new().reply("it")).with_settings(Settings::new().coerce(true));
    assert_eq!(run.call(&Say).await.unwrap(), "it", "the run's word is for nodes of all kinds");
    let error = run.call(&Say).settings(Settings::new().coerce(true)).await.unwrap_err();
    assert_eq!(error.category(), Category::ConfigError);
}

const PAGE: &str = include_str!("../docs/coercion.md");

/// The rows of the table with this first line, each cell without its backticks.
fn table(head: &str) -> Vec<Vec<String>> {
    let (_, table) = PAGE.split_once(head).unwrap();
    let rows = table.lines().skip(1).take_while(|line| line.starts_with('|'));
    let cell = |cell: &str| cell.trim().trim_matches('`').to_owned();
    rows.map(|row| row.trim_matches('|').split(" | ").map(cell).collect()).collect()
}

fn conforming(schema: &str, text: &str) -> Result<(String, String), String> {
    // As a type has it: a number with a point is no integer.
    let schema = OutputSchema::from_value("row", serde_json::from_str(schema).unwrap());
    let reading = Reader::new().coerce(true).conforming(text, &schema).map_err(|error| error.to_string())?;
    let flags: Vec<String> = reading
        .notes
        .iter()
        .map(|note| match json!(note.flag) {
            serde_json::Value::Object(kind) => kind["coerced"].as_str().unwrap().to_owned(),
            flag => flag.as_str().unwrap().to_owned(),
        })
        .collect();
    Ok((reading.value.to_string(), flags.join("`, `")))
}

#[test]
fn each_row_of_the_page_is_coerced_as_it_says() {
    let rows = table("| wanted | written | becomes | flag |\n");
    assert_eq!(rows.len(), 17);
    for row in rows.into_iter().chain(table("| wanted | the model's text | becomes | flag |\n")) {
        let [schema, written, becomes, flag] = &row[..] else { panic!("{row:?}") };
        if flag == "integer" {
            let (value, notes) = read::<u8>(written).unwrap();
            assert_eq!((value.to_string(), notes[0].0), (becomes.clone(), Flag::Coerced(Coercion::Integer)));
            continue;
        }
        assert_eq!(conforming(schema, written), Ok((becomes.clone(), flag.clone())), "{written}");
    }
}

#[test]
fn several_objects_are_a_list_only_where_no_words_set_one_against_another() {
    let schema = r#"{"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}}"#;
    for text in [
        r#"{"n": 1} {"n": 2}"#,
        "1. {\"n\": 1}\n2. {\"n\": 2}",
        "Here is the final answer in the new format.\n\nItems:\n{\"n\": 1}\nand\n{\"n\": 2}\n\nShould I go on?",
        "```json\n{\"n\": 1}\n```\nThe second item:\n```json\n{\"n\": 2}\n```",
        "<think>Not {\"n\": 3}, but wait.</think>\n\n{\"n\": 1}\n{\"n\": 2}",
    ] {
        assert_eq!(conforming(schema, text).unwrap().0, r#"[{"n":1},{"n":2}]"#, "{text}");
    }
    for text in [
        r#"Draft: {"n": 1} Final: {"n": 2}"#,
        "Example:\n\n{\"n\": 1}\n\n{\"n\": 2}",
        r#"{"n": 1} was wrong, it is {"n": 2}"#,
        r#"Not {"n": 1} but {"n": 2}"#,
        r#"Either {"n": 1} or {"n": 2}"#,
        r#"{"n": 1} -> {"n": 2}"#,
        r#"{"n": 1} and {"n": 2} (not the latter)"#,
        "```json\n{\"n\": 1}\n```\nCorrected:\n```json\n{\"n\": 2}\n```",
    ] {
        let error = conforming(schema, text).unwrap_err();
        assert!(error.contains("words that may say which of them is meant"), "{text}: {error}");
    }
}

#[test]
fn each_row_of_the_page_is_refused_as_it_says() {
    let rows = table("| wanted | written | why |\n");
    assert_eq!(rows.len(), 18);
    for row in rows {
        let [schema, written, _] = &row[..] else { panic!("{row:?}") };
        assert!(conforming(schema, written).is_err(), "{written}");
    }
}

/// The rows of the tables about names in prose: what is wanted, the text, and what stands behind it.
#[test]
fn each_form_of_a_conclusion_is_read_as_the_page_says() {
    let rows = table("| form | wanted | written | becomes |\n");
    assert_eq!(rows.len(), 7);
    for row in rows {
        let [_, schema, written, becomes] = &row[..] else { panic!("{row:?}") };
        assert_eq!(conforming(schema, written), Ok((becomes.clone(), "mentioned".to_owned())), "{written}");
        let kind: serde_json::Value = serde_json::from_str(schema).unwrap();
        let text = json!(written).to_string();
        assert_eq!(conforming(&json!({"anyOf": [kind]}).to_string(), &text).unwrap().0, *becomes, "{text}");
    }
}

#[test]
fn a_conclusion_that_does_not_stand_is_refused_as_the_page_says() {
    let (_, section) = PAGE.split_once("## A name in prose").unwrap();
    let (_, rows) = section.split_once("| wanted | written | why |\n|---|---|---|\n").unwrap();
    let rows: Vec<&str> = rows.lines().take_while(|line| line.starts_with('|')).collect();
    assert_eq!(rows.len(), 14);
    for row in rows {
        let cells: Vec<&str> = row.split(" | ").map(|cell| cell.trim_matches(['|', ' ', '`'])).collect();
        assert!(conforming(cells[0], cells[1]).is_err(), "{row}");
    }
}
