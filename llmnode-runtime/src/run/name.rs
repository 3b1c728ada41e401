//! Names of nodes that are made of other nodes.

const LONGEST: usize = 200;

/// Built at compile time, where there is no `format!`.
pub(super) struct ConstName {
    bytes: [u8; LONGEST],
    length: usize,
}

impl ConstName {
    pub(super) const fn list(open: &str, parts: &[&str], close: &str) -> Self {
        let mut name = ConstName {
            bytes: [0; LONGEST],
            length: 0,
        }
        .then(open);
        let mut index = 0;
        while index < parts.len() {
            if index > 0 {
                name = name.then(", ");
            }
            name = name.then(parts[index]);
            index += 1;
        }
        name.then(close)
    }

    const fn then(mut self, text: &str) -> Self {
        let text = text.as_bytes();
        let mut index = 0;
        while index < text.len() && self.length < LONGEST {
            self.bytes[self.length] = text[index];
            self.length += 1;
            index += 1;
        }
        self
    }

    pub(super) const fn as_str(&self) -> &str {
        match std::str::from_utf8(self.bytes.split_at(self.length).0) {
            Ok(name) => name,
            Err(cut) => match std::str::from_utf8(self.bytes.split_at(cut.valid_up_to()).0) {
                Ok(name) => name,
                Err(_) => "",
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_stand_between_commas() {
        assert_eq!(
            ConstName::list("(", &["Weather", "News"], ")").as_str(),
            "(Weather, News)"
        );
        assert_eq!(
            ConstName::list("Batch<", &["Summarize"], ">").as_str(),
            "Batch<Summarize>"
        );
    }

    #[test]
    fn a_long_name_is_cut_at_a_character() {
        let long = "ü".repeat(150);
        assert_eq!(ConstName::list("", &[&long], "").as_str(), "ü".repeat(100));
        assert_eq!(
            ConstName::list("x", &[&long], "").as_str(),
            format!("x{}", "ü".repeat(99))
        );
    }
}
