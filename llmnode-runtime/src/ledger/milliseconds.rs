//! Durations in JSON: milliseconds, with microseconds as decimals.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Writes a duration.
pub fn serialize<S: Serializer>(duration: &Duration, to: S) -> Result<S::Ok, S::Error> {
    milliseconds(duration).serialize(to)
}

/// Reads a duration.
pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    duration(f64::deserialize(from)?)
}

pub(crate) fn whole(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn milliseconds(duration: &Duration) -> f64 {
    duration.as_micros() as f64 / 1000.0
}

fn duration<E: de::Error>(milliseconds: f64) -> Result<Duration, E> {
    if milliseconds < 0.0 {
        return Err(E::invalid_value(
            de::Unexpected::Float(milliseconds),
            &"milliseconds of 0 or more",
        ));
    }
    Ok(Duration::try_from_secs_f64(milliseconds / 1000.0).unwrap_or(Duration::MAX))
}

pub(super) mod optional {
    use super::*;

    pub(in crate::ledger) fn serialize<S: Serializer>(
        duration: &Option<Duration>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        duration.as_ref().map(milliseconds).serialize(to)
    }

    pub(in crate::ledger) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Duration>, D::Error> {
        Option::<f64>::deserialize(from)?.map(duration).transpose()
    }
}

/// A time of day: whole milliseconds since 1970.
pub mod unix {
    use std::time::SystemTime;

    use super::*;

    /// Writes a time.
    pub fn serialize<S: Serializer>(time: &SystemTime, to: S) -> Result<S::Ok, S::Error> {
        let since = time
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        whole(since).serialize(to)
    }

    /// Reads a time.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<SystemTime, D::Error> {
        let since = Duration::from_millis(u64::deserialize(from)?);
        SystemTime::UNIX_EPOCH
            .checked_add(since)
            .ok_or_else(|| de::Error::custom("a time beyond the calendar"))
    }

    /// The same, or nothing.
    pub mod optional {
        use super::*;

        #[derive(Serialize, Deserialize)]
        struct Unix(#[serde(with = "super")] SystemTime);

        /// Writes a time.
        pub fn serialize<S: Serializer>(
            time: &Option<SystemTime>,
            to: S,
        ) -> Result<S::Ok, S::Error> {
            time.map(Unix).serialize(to)
        }

        /// Reads a time.
        pub fn deserialize<'de, D: Deserializer<'de>>(
            from: D,
        ) -> Result<Option<SystemTime>, D::Error> {
            Ok(Option::<Unix>::deserialize(from)?.map(|Unix(time)| time))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there_and_back(duration: Duration) -> Duration {
        let mut json = Vec::new();
        serialize(&duration, &mut serde_json::Serializer::new(&mut json)).unwrap();
        deserialize(&mut serde_json::Deserializer::from_slice(&json)).unwrap()
    }

    #[test]
    fn microseconds_survive() {
        for micros in [0, 1, 999, 1_000, 1_234_567, 86_400_000_001] {
            assert_eq!(
                there_and_back(Duration::from_micros(micros)),
                Duration::from_micros(micros)
            );
        }
        assert_eq!(there_and_back(Duration::MAX), Duration::MAX);
    }

    #[test]
    fn time_does_not_run_backwards() {
        let error = deserialize(&mut serde_json::Deserializer::from_str("-1")).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("expected milliseconds of 0 or more"),
            "{error}"
        );
    }
}
