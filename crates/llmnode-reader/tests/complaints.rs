//! What a model reads about a wrong value of each type that schemars and serde know: the value, the place, and the form that is
//! wanted in words. Never a value that would be taken: small models copy it.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::num::{NonZeroI32, NonZeroU8};
use std::path::PathBuf;
use std::time::Duration;

use llmnode_reader::{OutputSchema, Reader};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

/// What is said of a text that is no value of the type, as the member `at` of an answer.
fn complaints<T: JsonSchema + DeserializeOwned + 'static>(value: &str) -> Vec<String> {
    match Reader::new()
        .read::<BTreeMap<String, Inner<T>>>(&format!("{{\"it\": {{\"at\": {value}}}}}"))
    {
        Ok(_) => Vec::new(),
        Err(error) => error.violations().iter().map(ToString::to_string).collect(),
    }
}

#[derive(serde::Deserialize, JsonSchema)]
struct Inner<T> {
    #[allow(dead_code, reason = "only whether it is read counts")]
    at: T,
}

fn takes<T: JsonSchema + DeserializeOwned + 'static>(text: &str) -> bool {
    complaints::<T>(text).is_empty()
}

/// Each wrong value gets one complaint, with its place, the value, and `told`, in which no word is a value of the type.
#[track_caller]
fn told<T: JsonSchema + DeserializeOwned + 'static>(right: &str, wrong: &[&str], told: &str) {
    let name = OutputSchema::of::<T>().name().to_owned();
    assert!(
        takes::<T>(right),
        "{name} {right}: {:?}",
        complaints::<T>(right)
    );
    for value in wrong {
        let found = complaints::<T>(value);
        let [complaint] = &found[..] else {
            panic!("{name} {value}: {found:?}")
        };
        let place = complaint
            .strip_prefix("it.at: ")
            .unwrap_or_else(|| panic!("{name} {value}: {complaint}"));
        assert!(
            place.contains(value),
            "{name}: {value} is not in {complaint}"
        );
        assert!(place.ends_with(told), "{name} {value}: {complaint}");
        let words = place.replacen(value, "", 1);
        for word in words.split([' ', ',', ';']).filter(|word| !word.is_empty()) {
            let word = word.trim_matches(['"', '`', ':']);
            for taken in [format!("{word:?}"), word.to_owned()] {
                assert!(
                    !takes::<T>(&taken),
                    "{name}: {taken} is a value, in {complaint}"
                );
            }
        }
    }
}

#[test]
fn dates_and_times() {
    let date = "must be a date that exists, as YYYY-MM-DD";
    let days = [
        "\"31.11.2026\"",
        "\"2026-11-31\"",
        "\"7\"",
        "\"22. Oktober 2026\"",
        "\"\"",
    ];
    told::<chrono::NaiveDate>("\"2026-11-30\"", &days, date);
    told::<jiff::civil::Date>("\"2026-11-30\"", &days, date);

    let local = "must be a date and time as YYYY-MM-DDThh:mm:ss without an offset";
    let right = "\"2026-01-31T09:30:00\"";
    let wrong = [
        "\"2026-01-31 09:30:00\"",
        "\"2026-01-31T09:30\"",
        "\"2026-01-31T09:30:00Z\"",
        "\"soon\"",
    ];
    told::<chrono::NaiveDateTime>(right, &wrong, local);
    told::<jiff::civil::DateTime>(
        right,
        &["\"2026-01-31 9:30\"", "\"2026-01-31T25:30:00\""],
        local,
    );

    let offset = "must be a date and time with its offset, as YYYY-MM-DDThh:mm:ss and then Z, +hh:mm or -hh:mm";
    let right = "\"2026-01-31T09:30:00+01:00\"";
    let wrong = [
        "\"2026-01-31T09:30:00\"",
        "\"2026-02-31T09:30:00Z\"",
        "\"tomorrow at noon\"",
    ];
    told::<chrono::DateTime<chrono::Utc>>(right, &wrong, offset);
    told::<chrono::DateTime<chrono::FixedOffset>>(right, &["\"2026-01-31T09:30Z\""], offset);
    told::<jiff::Timestamp>(right, &wrong, offset);

    let time = "must be a time of day as hh:mm:ss, with hours below 24 and without an offset";
    let wrong = ["\"9:30 AM\"", "\"24:00:00\"", "\"noon\"", "\"09:61:00\""];
    told::<chrono::NaiveTime>("\"09:30:00\"", &wrong, time);
    told::<jiff::civil::Time>("\"09:30:00\"", &wrong, time);
    told::<Option<chrono::NaiveTime>>("null", &wrong, time);

    let zoned = "must be a date and time with offset and time zone, as YYYY-MM-DDThh:mm:ss+hh:mm[Area/City]";
    told::<jiff::Zoned>(
        "\"2026-01-31T09:30:00+01:00[+01:00]\"",
        &["\"2026-01-31T09:30:00+01:00\""],
        zoned,
    );
    let duration = "must be a duration in ISO's form PnDTnHnMnS, with a number for each n";
    told::<jiff::Span>("\"PT1H\"", &["\"an hour\"", "\"\""], duration);
    told::<jiff::SignedDuration>("\"PT1H\"", &["\"an hour\"", "\"P1Y\""], duration);
}

#[test]
fn numbers_of_any_length_ids_and_addresses() {
    let decimal = "must be a decimal number in digits, with a point before its fraction";
    told::<rust_decimal::Decimal>(
        "\"12.50\"",
        &["\"12,50 EUR\"", "\"\"", "\"twelve\""],
        decimal,
    );
    let uuid = "must be a UUID of 8-4-4-4-12 hex digits";
    let right = "\"67e55044-10b1-426f-9247-bb680e5fe0c8\"";
    told::<uuid::Uuid>(
        right,
        &[
            "\"67e55044\"",
            "\"67e55044-10b1-426f-9247-bb680e5fe0cg\"",
            "\"7\"",
        ],
        uuid,
    );
    let url = "must be an absolute URL, with its scheme and host";
    told::<url::Url>(
        "\"https://example.org/a\"",
        &["\"example.org/a\"", "\"https://\""],
        url,
    );
    let ip = "must be an IP address: four numbers with dots between them, or groups of hex digits with colons";
    told::<IpAddr>("\"127.0.0.1\"", &["\"127.0.0\"", "\"localhost\""], ip);
    let v4 = "must be an IPv4 address: four numbers with dots between them";
    told::<Ipv4Addr>("\"127.0.0.1\"", &["\"127.0.0.256\""], v4);
    let v6 = "must be an IPv6 address: groups of hex digits with colons between them";
    told::<Ipv6Addr>("\"::1\"", &["\"::g\""], v6);
    told::<char>("\"a\"", &["\"ab\"", "\"\""], "must be one character");
}

#[test]
fn a_type_of_ones_own_says_why_and_the_value_stands_beside_it() {
    #[derive(Debug, serde::Deserialize, JsonSchema)]
    #[serde(try_from = "String")]
    struct Plate(#[allow(dead_code, reason = "only whether it is read counts")] String);

    impl TryFrom<String> for Plate {
        type Error = String;

        fn try_from(text: String) -> Result<Self, String> {
            let is_plate = text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_uppercase());
            if is_plate {
                Ok(Plate(text))
            } else {
                Err("no plate has been given out like this".to_owned())
            }
        }
    }
    told::<Plate>(
        "\"ABCD\"",
        &["\"B-X 12\""],
        ": no plate has been given out like this",
    );
    let long = format!("\"{}\"", "x".repeat(500));
    let [complaint] = &complaints::<Plate>(&long)[..] else {
        panic!("one complaint")
    };
    assert!(
        complaint.len() < 160 && complaint.contains("\"xxx"),
        "{complaint}"
    );
}

/// Bounds have to be named, and so may be copied.
#[test]
fn numbers_out_of_range_and_values_of_another_kind() {
    macro_rules! told {
        ($($kind:ty: $value:literal => $told:literal,)*) => {$(
            assert_eq!(complaints::<$kind>($value), [concat!("it.at", $told)], "{}", stringify!($kind));
        )*};
    }
    told! {
        u8: "256" => ": is 256, must be at most 255",
        u8: "\"x\"" => ": is \"x\", expected integer from 0 to 255",
        i8: "1.5" => ": is 1.5, expected integer from -128 to 127",
        u32: "4294967296" => ": is 4294967296, must be at most 4294967295",
        i64: "9223372036854775808" => ": is 9223372036854775808, must be an integer from -9223372036854775808 to 9223372036854775807",
        u64: "18446744073709551616" => ": is 18446744073709551616, must be an integer from 0 to 18446744073709551615",
        NonZeroU8: "0" => ": is 0, must be at least 1",
        NonZeroI32: "0" => ": is 0, which is not allowed",
        f64: "\"1,5\"" => ": is \"1,5\", expected number",
        bool: "\"maybe\"" => ": is \"maybe\", expected boolean",
        chrono::NaiveDate: "true" => ": is true, expected a date that exists, as YYYY-MM-DD",
        rust_decimal::Decimal: "true" => ": is true, expected string or number",
        chrono::TimeDelta: "[1, -1]" => "[1]: is -1, must be at least 0",
        Duration: "\"5s\"" => ": is \"5s\", expected object with `secs`, `nanos`",
        Vec<u8>: "\"abc\"" => ": is \"abc\", expected array",
        PathBuf: "true" => ": is true, expected string",
        Result<u8, String>: "7" => ": is 7, expected object with `Ok` or object with `Err`",
    }
}

#[test]
fn keys_of_maps_are_named() {
    macro_rules! told {
        ($($key:ty: $value:literal => $told:literal,)*) => {$(
            let found = complaints::<BTreeMap<$key, u8>>(concat!("{", $value, ": 1}"));
            assert_eq!(found, [concat!("it.at: has the key ", $value, $told)], "{}", stringify!($key));
        )*};
    }
    told! {
        u32: "\"x\"" => ", must be a whole number that is not negative, in digits",
        u8: "\"-1\"" => ", must be a whole number that is not negative, in digits",
        i64: "\"1.5\"" => ", must be a whole number, in digits",
        u8: "\"256\"" => ", must be a whole number from 0 to 255",
        chrono::NaiveDate: "\"soon\"" => ": input contains invalid characters",
        bool: "\"x\"" => ": invalid type: string \"\", expected a boolean",
    }
    assert!(takes::<BTreeMap<u32, String>>("{\"1\": \"a\"}"));
}

/// Arguments by a schema that is known at run time only are a `Value`.
#[test]
fn a_whole_number_that_a_value_does_not_hold_is_refused() {
    let id = serde_json::json!({"type": "object", "properties": {"id": {"type": "integer"}, "free": {}}});
    let schema = OutputSchema::from_value("find", id);
    let read = |text: &str| Reader::new().conforming(text, &schema);
    let kept = read(r#"{"id": 18446744073709551615, "free": [-9223372036854775808]}"#)
        .unwrap()
        .value;
    assert_eq!(
        kept.to_string(),
        r#"{"id":18446744073709551615,"free":[-9223372036854775808]}"#
    );
    for (text, place) in [
        (
            r#"{"id": 18446744073709551617}"#,
            "id: is 18446744073709551617, ",
        ),
        (
            r#"{"free": [18446744073709551617]}"#,
            "free[0]: is 18446744073709551617, ",
        ),
    ] {
        let error = read(text)
            .err()
            .map(|error| error.violations()[0].to_string());
        let told = format!("{place}which cannot be held exactly; put it in quotes");
        assert_eq!(error, Some(told), "{text}");
    }
}
