//! `run.extract`, and what a correction changed.

use llmnode::Category;
use llmnode::prelude::*;
use serde_json::json;

#[llm_output]
#[derive(Debug, PartialEq)]
struct Invoice {
    number: String,
    total: u32,
}

#[tokio::test]
async fn a_type_is_read_out_of_a_text() {
    let model = ScriptedModel::new()
        .reply(json!({"number": "A-1"}))
        .reply(json!({"number": "A-1", "total": 12}));
    let run = Run::new(model.clone());
    let report = run
        .extract::<Invoice>("Invoice A-1, 12 euros")
        .retries(1)
        .report()
        .await
        .unwrap();
    assert_eq!(
        report.value,
        Invoice {
            number: "A-1".into(),
            total: 12
        }
    );
    assert_eq!(
        (report.record.node.as_ref(), report.record.attempts.len()),
        ("extract", 2)
    );
    assert_eq!(
        model.requests()[0].messages[0].content,
        "Read this text.\n\nInvoice A-1, 12 euros"
    );
    let [total] = &report.record.corrected()[..] else {
        panic!("one member was missing")
    };
    assert_eq!(
        (&*total.path, &total.before, &total.after),
        ("/total", &None, &Some(json!(12)))
    );

    // Validators that would not run are said before the first request.
    #[llm_output]
    #[derive(Debug)]
    struct Checked {
        total: u32,
    }
    #[validate]
    impl Checked {
        fn is_small(&self) -> Result<(), Invalid> {
            if self.total < 10 {
                Ok(())
            } else {
                Err(Invalid::at("total", "is too large"))
            }
        }
    }
    let error = run.extract::<Checked>("12").await.unwrap_err();
    assert_eq!(error.category(), Category::ConfigError);
    assert!(
        error
            .to_string()
            .contains("write one, with `#[llm_node(output = Checked, ..)]`"),
        "{error}"
    );
}

#[llm_output]
#[derive(Debug)]
struct Sum {
    lines: Vec<u32>,
    sum: Total,
}

#[llm_output]
#[derive(Debug)]
struct Total {
    amount: u32,
    currency: String,
}

#[validate]
impl Sum {
    fn adds_up(&self) -> Result<(), Invalid> {
        let sum: u32 = self.lines.iter().sum();
        if sum == self.sum.amount {
            Ok(())
        } else {
            Err(Invalid::at("sum.amount", format!("is not {sum}")))
        }
    }
}

#[llm_node(prompt = "?", output = Sum, retries = 2)]
struct Add;

#[tokio::test]
async fn what_a_correction_changed_is_recorded() {
    let answer = |lines: &[u32], amount: u32| json!({"lines": lines, "sum": {"amount": amount, "currency": "EUR"}});
    let model = ScriptedModel::new()
        .reply(answer(&[1, 2], 4))
        .reply(answer(&[1, 2], 5))
        .reply(answer(&[1, 2], 3));
    let report = Run::new(model).call(&Add).report().await.unwrap();
    let [amount] = &report.record.corrected()[..] else {
        panic!("one member was changed")
    };
    assert_eq!(
        (&*amount.path, &amount.before, &amount.after),
        ("/sum/amount", &Some(json!(4)), &Some(json!(3)))
    );

    let report = Run::new(ScriptedModel::new().reply(answer(&[3], 3)))
        .call(&Add)
        .report()
        .await
        .unwrap();
    assert!(report.record.corrected().is_empty());
}

#[llm_output]
#[derive(Debug)]
struct Guest {
    #[schemars(range(min = 15))]
    age: u8,
    #[schemars(range(max = 4))]
    nights: u8,
}

/// A model that is told of a bound copies it.
#[tokio::test]
async fn a_corrected_value_that_is_the_bound_is_flagged() {
    let guest = |age: u8, nights: u8| json!({"age": age, "nights": nights});
    for (answers, is_at_bound) in [
        (vec![guest(3, 9), guest(15, 9), guest(15, 3)], true),
        (vec![guest(3, 2), guest(30, 2)], false),
        (vec![guest(15, 4)], false),
        (vec![guest(15, 9), guest(15, 3)], false),
    ] {
        let model = answers.iter().fold(ScriptedModel::new(), |model, answer| {
            model.reply(answer.clone())
        });
        let report = Run::new(model)
            .extract::<Guest>("?")
            .retries(2)
            .report()
            .await
            .unwrap();
        let last = report.record.attempts.last().unwrap();
        assert_eq!(
            last.flags.contains(&llmnode::Flag::AtBound),
            is_at_bound,
            "{answers:?} {:?}",
            last.flags
        );
        let changed = report.record.corrected();
        assert_eq!(
            changed.iter().any(|one| one.path == "/age"),
            answers[0]["age"] == 3
        );
    }
}
