//! Metrics that compare the output with the expected output.

use std::collections::{BTreeMap, HashMap};

use llmnode_reader::text::one_line;
use llmnode_runtime::{BoxError, Cx, Node};
use serde::Serialize;
use serde_json::{Map, Value};

use super::metric::{Metric, ScoredCase};
use super::score::Score;

/// A metric that compares the output with the expected output, as JSON.
#[derive(Clone, Debug)]
pub struct ComparisonMetric {
    by: CompareMode,
    at: Option<&'static str>,
    is_by_field: bool,
}

#[derive(Clone, Copy, Debug)]
enum CompareMode {
    Exact,
    Contains,
    F1,
}

/// Scores 1 if the output is the expected one, else 0. In an object, only the members of the expected object count: data need not
/// have all members of an output. White space around a text does not count. The members' own scores are the
/// [fields](Score::fields).
///
/// ```
/// use llmnode::evals::{Dataset, evaluate, exact};
/// # use llmnode::{BoxError, Cx, Exec, Node, NodeError, Run, ScriptedModel};
/// # struct Double(u64);
/// # impl Node for Double { type Output = u64; const NAME: &'static str = "double"; }
/// # impl<S: ?Sized + Sync> Exec<S> for Double {
/// #     async fn exec(&self, _: &Cx<'_, S>) -> Result<u64, BoxError> { Ok(self.0 * 2) }
/// # }
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// # let run = Run::new(ScriptedModel::new());
/// let report = evaluate(&run, &Dataset::new([(Double(2), 4), (Double(3), 7)]), exact()).await?;
/// assert_eq!(report.mean(), 0.5);
/// assert_eq!(report.cases()[1].feedback, "expected 7, got 6");
/// # Ok::<(), NodeError>(()) }).unwrap();
/// ```
pub fn exact() -> ComparisonMetric {
    ComparisonMetric {
        by: CompareMode::Exact,
        at: None,
        is_by_field: false,
    }
}

/// Scores 1 if the output's text contains the expected text, else 0. Case does not count. A value that is not a text is compared as JSON.
///
/// ```
/// use llmnode::evals::{Dataset, contains, evaluate};
/// # use llmnode::{BoxError, Cx, Exec, Node, NodeError, Run, ScriptedModel};
/// # struct Ask(&'static str);
/// # impl Node for Ask { type Output = String; const NAME: &'static str = "ask"; }
/// # impl<S: ?Sized + Sync> Exec<S> for Ask {
/// #     async fn exec(&self, _: &Cx<'_, S>) -> Result<String, BoxError> { Ok("At the old harbour of Oslo.".to_owned()) }
/// # }
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// # let run = Run::new(ScriptedModel::new());
/// // The answer is "At the old harbour of Oslo."
/// let data = Dataset::new([(Ask("Where is the fish market?"), "Old Harbour")]);
/// let report = evaluate(&run, &data, contains()).await?;
/// assert_eq!(report.mean(), 1.0);
/// # Ok::<(), NodeError>(()) }).unwrap();
/// ```
pub fn contains() -> ComparisonMetric {
    ComparisonMetric {
        by: CompareMode::Contains,
        at: None,
        is_by_field: false,
    }
}

/// Scores the harmonic mean of precision and recall of the output's words, as SQuAD counts them: without case, punctuation and the
/// articles `a`, `an`, `the`. A value that is not a text is compared as JSON.
///
/// ```
/// use llmnode::evals::{Dataset, f1, evaluate};
/// # use llmnode::{BoxError, Cx, Exec, Node, NodeError, Run, ScriptedModel};
/// # struct Ask(&'static str);
/// # impl Node for Ask { type Output = String; const NAME: &'static str = "ask"; }
/// # impl<S: ?Sized + Sync> Exec<S> for Ask {
/// #     async fn exec(&self, _: &Cx<'_, S>) -> Result<String, BoxError> { Ok("At the old harbour of Oslo.".to_owned()) }
/// # }
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// # let run = Run::new(ScriptedModel::new());
/// // The answer is "At the old harbour of Oslo."
/// let data = Dataset::new([(Ask("Where is the fish market?"), "the old harbour")]);
/// let report = evaluate(&run, &data, f1()).await?;
/// assert_eq!(report.mean(), 2.0 * 2.0 / 7.0); // two words of both are the same, of 2 + 5
/// # Ok::<(), NodeError>(()) }).unwrap();
/// ```
pub fn f1() -> ComparisonMetric {
    ComparisonMetric {
        by: CompareMode::F1,
        at: None,
        is_by_field: false,
    }
}

impl ComparisonMetric {
    /// Compares one member of the output: a name, or a JSON pointer such as `/person/name`. It is compared with the same member of the
    /// expected output, or with the whole expected output if that has no such member.
    #[must_use]
    pub fn at(mut self, member: &'static str) -> Self {
        self.at = Some(member);
        self
    }

    /// Scores each member of the expected output by itself: the score is their mean, and each is a [field](Score::fields) of its
    /// own. `exact()` alone has the same fields, but scores 1 only if all of them are right. An output that is no object is compared
    /// as a whole.
    ///
    /// ```
    /// use llmnode::evals::{Dataset, evaluate, exact};
    /// # use llmnode::{BoxError, Cx, Exec, Node, NodeError, Run, ScriptedModel};
    /// use serde_json::json;
    /// # struct Sort(&'static str);
    /// # impl Node for Sort { type Output = serde_json::Value; const NAME: &'static str = "sort"; }
    /// # impl<S: ?Sized + Sync> Exec<S> for Sort {
    /// #     async fn exec(&self, _: &Cx<'_, S>) -> Result<serde_json::Value, BoxError> {
    /// #         Ok(json!({"team": "repairs", "urgent": false}))
    /// #     }
    /// # }
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    /// # runtime.block_on(async {
    /// # let run = Run::new(ScriptedModel::new());
    /// // The answer is {"team": "repairs", "urgent": false}.
    /// let data = Dataset::new([(Sort("The roof leaks!"), json!({"team": "repairs", "urgent": true}))]);
    /// let report = evaluate(&run, &data, exact().by_field()).await?;
    /// assert_eq!(report.mean(), 0.5);
    /// assert_eq!((report.fields()["team"], report.fields()["urgent"]), (1.0, 0.0));
    /// # Ok::<(), NodeError>(()) }).unwrap();
    /// ```
    #[must_use]
    pub fn by_field(mut self) -> Self {
        self.is_by_field = true;
        self
    }

    fn compare(&self, expected: &Value, output: &Value) -> Result<Score, BoxError> {
        let Some(member) = self.at else {
            return Ok(self.whole(expected, output));
        };
        let output = member_of(output, member)
            .ok_or_else(|| format!("the output has no member `{member}` to compare"))?;
        Ok(self.whole(member_of(expected, member).unwrap_or(expected), output))
    }

    fn whole(&self, expected: &Value, output: &Value) -> Score {
        let is_split = self.is_by_field || matches!(self.by, CompareMode::Exact);
        let members = match (expected, output) {
            (Value::Object(expected), Value::Object(output)) if is_split => {
                self.by.members(expected, output)
            }
            _ => BTreeMap::new(),
        };
        if !self.is_by_field || members.is_empty() {
            let mut score = self.by.score(expected, output);
            score.fields = values(&members);
            return score;
        }
        let mean = members.values().map(|score| score.value).sum::<f64>() / members.len() as f64;
        let mut score = Score::from((mean, feedback_of(&members)));
        score.fields = values(&members);
        score
    }
}

fn values(members: &BTreeMap<String, Score>) -> BTreeMap<String, f64> {
    let each = members.iter();
    each.map(|(name, score)| (name.clone(), score.value))
        .collect()
}

/// What is wrong with the members, a line each.
fn feedback_of(members: &BTreeMap<String, Score>) -> String {
    let wrong = members.iter().filter(|(_, score)| score.value < 1.0);
    let lines: Vec<String> = wrong
        .map(|(name, score)| format!("{name}: {}", score.feedback))
        .collect();
    lines.join("\n")
}

fn member_of<'v>(value: &'v Value, member: &str) -> Option<&'v Value> {
    if member.starts_with('/') {
        value.pointer(member)
    } else {
        value.get(member)
    }
}

impl<N, E, S> Metric<N, E, S> for ComparisonMetric
where
    N: Node<Output: Serialize> + Sync,
    E: Serialize + Sync,
    S: ?Sized + Sync,
{
    async fn score(&self, judged: ScoredCase<'_, N, E>, _: &Cx<'_, S>) -> Result<Score, BoxError> {
        self.compare(
            &serde_json::to_value(judged.expected)?,
            &serde_json::to_value(judged.output)?,
        )
    }

    fn name(&self) -> String {
        let mode = match self.by {
            CompareMode::Exact => "exact",
            CompareMode::Contains => "contains",
            CompareMode::F1 => "f1",
        };
        let mut name = mode.to_owned();
        if let Some(member) = self.at {
            name.push_str(&format!(" at {member}"));
        }
        if self.is_by_field {
            name.push_str(" by field");
        }
        name
    }
}

impl CompareMode {
    /// The score of each member of the expected object; one that the output lacks is compared as null.
    fn members(
        self,
        expected: &Map<String, Value>,
        output: &Map<String, Value>,
    ) -> BTreeMap<String, Score> {
        let mut members = BTreeMap::new();
        for (name, expected) in expected {
            let output = output.get(name).unwrap_or(&Value::Null);
            members.insert(name.clone(), self.score(expected, output));
        }
        members
    }

    fn score(self, expected: &Value, output: &Value) -> Score {
        match self {
            CompareMode::Exact => {
                let mut faults = Vec::new();
                differences("", expected, output, &mut faults);
                Score::from((faults.is_empty(), faults.join("\n")))
            }
            CompareMode::Contains => {
                let expected = text(expected);
                let output = text(output);
                let contains = output.to_lowercase().contains(&expected.to_lowercase());
                let feedback = if contains {
                    String::new()
                } else {
                    format!("{} is not in the answer", quoted(&expected))
                };
                Score::from((contains, feedback))
            }
            CompareMode::F1 => {
                let expected = text(expected);
                let output = text(output);
                let value = words_in_common(&expected, &output);
                let feedback = if value < 1.0 {
                    format!("expected {}", quoted(&expected))
                } else {
                    String::new()
                };
                Score::from((value, feedback))
            }
        }
    }
}

/// A label of `12` is right for a price of `12.0`, also within lists and objects.
fn is_same(expected: &Value, output: &Value) -> bool {
    match (expected, output) {
        (Value::Number(expected), Value::Number(output)) => {
            let may_be_rounded = expected.is_f64() || output.is_f64();
            expected == output || may_be_rounded && expected.as_f64() == output.as_f64()
        }
        (Value::Array(expected), Value::Array(output)) => {
            let mut pairs = expected.iter().zip(output);
            expected.len() == output.len() && pairs.all(|(one, other)| is_same(one, other))
        }
        (Value::Object(expected), Value::Object(output)) => {
            let is_in_output = |(name, one): (&String, &Value)| {
                output.get(name).is_some_and(|other| is_same(one, other))
            };
            expected.len() == output.len() && expected.iter().all(is_in_output)
        }
        _ => expected == output,
    }
}

fn differences(path: &str, expected: &Value, output: &Value, to: &mut Vec<String>) {
    match (expected, output) {
        (Value::Object(expected), Value::Object(output)) => {
            for (name, expected) in expected {
                let path = if path.is_empty() {
                    name.clone()
                } else {
                    format!("{path}.{name}")
                };
                differences(
                    &path,
                    expected,
                    output.get(name).unwrap_or(&Value::Null),
                    to,
                );
            }
        }
        (Value::String(expected), Value::String(output)) if expected.trim() == output.trim() => {}
        _ if is_same(expected, output) => {}
        _ => {
            let place = if path.is_empty() {
                String::new()
            } else {
                format!("{path}: ")
            };
            let [expected, output] =
                [expected, output].map(|value| one_line(value.to_string(), 300));
            to.push(format!("{place}expected {expected}, got {output}"));
        }
    }
}

fn text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

fn quoted(text: &str) -> String {
    format!("{:?}", one_line(text, 300))
}

fn words_in_common(expected: &str, output: &str) -> f64 {
    let expected = words(expected);
    let output = words(output);
    if expected.is_empty() || output.is_empty() {
        return f64::from(u8::from(expected.len() == output.len()));
    }
    let all = (expected.len() + output.len()) as f64;
    let mut left: HashMap<&String, usize> = HashMap::new();
    output
        .iter()
        .for_each(|word| *left.entry(word).or_default() += 1);
    let common = expected.iter().filter(|word| {
        let times = left.get_mut(word).filter(|times| **times > 0);
        times.map(|times| *times -= 1).is_some()
    });
    2.0 * common.count() as f64 / all
}

fn words(text: &str) -> Vec<String> {
    let kept: String = text
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || c.is_whitespace())
        .collect();
    kept.split_whitespace()
        .filter(|word| !matches!(*word, "a" | "an" | "the"))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn score(metric: &ComparisonMetric, expected: Value, output: Value) -> (f64, String) {
        let score = metric.compare(&expected, &output).unwrap();
        (score.value, score.feedback)
    }

    #[test]
    fn exact_counts_what_is_expected_and_says_each_difference() {
        assert_eq!(
            score(&exact(), json!({"a": 1}), json!({"a": 1, "why": "so"})),
            (1.0, String::new())
        );
        assert_eq!(score(&exact(), json!(" yes"), json!("yes\n")).0, 1.0);
        // As a label is written, and as a field of a program is.
        let priced = score(
            &exact(),
            json!({"p": 12, "q": [1]}),
            json!({"p": 12.0, "q": [1.0]}),
        );
        assert_eq!(priced.0, 1.0, "{}", priced.1);
        let near = score(
            &exact(),
            json!(9007199254740993_u64),
            json!(9007199254740992_u64),
        );
        assert_eq!(near.0, 0.0, "whole numbers are compared exactly");
        let (value, feedback) = score(
            &exact(),
            json!({"a": 1, "b": {"c": [2]}}),
            json!({"a": 2, "b": {"c": [3]}}),
        );
        assert_eq!(
            (value, feedback.as_str()),
            (0.0, "a: expected 1, got 2\nb.c: expected [2], got [3]")
        );
        assert_eq!(
            score(&exact().at("a"), json!(1), json!({"a": 1, "b": 2})).0,
            1.0
        );
        assert_eq!(
            score(
                &exact().at("/b/c"),
                json!({"b": {"c": 2}}),
                json!({"b": {"c": 2}})
            )
            .0,
            1.0
        );
        let missing = exact()
            .at("c")
            .compare(&json!(1), &json!({"a": 1}))
            .unwrap_err();
        assert_eq!(
            missing.to_string(),
            "the output has no member `c` to compare"
        );
    }

    #[test]
    fn members_are_fields_and_by_field_scores_their_mean() {
        let expected = json!({"team": "repairs", "urgent": true});
        let output = json!({"team": "Repairs.", "urgent": true, "why": "water"});
        let whole = exact().compare(&expected, &output).unwrap();
        assert_eq!((whole.value, whole.fields["team"]), (0.0, 0.0));
        assert_eq!(whole.fields["urgent"], 1.0);
        let each = exact().by_field().compare(&expected, &output).unwrap();
        assert_eq!((each.value, &each.fields), (0.5, &whole.fields));
        assert_eq!(
            each.feedback,
            "team: expected \"repairs\", got \"Repairs.\""
        );
        let words = f1().by_field().compare(&expected, &output).unwrap();
        assert_eq!((words.value, words.fields.len()), (1.0, 2));
        // Missing is wrong, and what is no object has no fields.
        let missing = exact().by_field().compare(&expected, &json!({})).unwrap();
        assert_eq!((missing.value, missing.fields.len()), (0.0, 2));
        let number = exact().by_field().compare(&json!(4), &json!(4)).unwrap();
        assert_eq!((number.value, number.fields.len()), (1.0, 0));
    }

    #[test]
    fn f1_counts_words_as_squad_does() {
        let f1_of = |expected: &str, output: &str| score(&f1(), json!(expected), json!(output)).0;
        assert_eq!(f1_of("The Eiffel Tower!", "eiffel tower"), 1.0);
        assert_eq!(f1_of("red green", "red blue green black"), 2.0 * 2.0 / 6.0);
        assert_eq!(
            f1_of("a b b", "b"),
            2.0 / 3.0,
            "`a` is an article, and `b` counts once"
        );
        assert_eq!(
            (f1_of("", ""), f1_of("", "x"), f1_of("x", "")),
            (1.0, 0.0, 0.0)
        );
    }

    #[test]
    fn contains_does_not_mind_case() {
        assert_eq!(
            score(&contains(), json!("Oslo"), json!("It is OSLO.")),
            (1.0, String::new())
        );
        assert_eq!(
            score(&contains(), json!("Oslo"), json!("Bergen")),
            (0.0, "\"Oslo\" is not in the answer".to_owned())
        );
        assert_eq!(score(&contains(), json!(4), json!([3, 4])).0, 1.0);
    }
}
