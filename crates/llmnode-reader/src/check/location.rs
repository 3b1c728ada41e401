//! A place in the JSON. Its path is built only if there is a fault to report.

use crate::text::one_line;

/// Where a check is. It borrows the place around it, so that going into a value allocates nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Location<'p> {
    up: Option<&'p Location<'p>>,
    step: Step<'p>,
}

/// The last part of the path.
#[derive(Clone, Copy, Debug)]
enum Step<'p> {
    Root,
    Member(&'p str),
    Item(usize),
}

impl Location<'static> {
    pub(crate) const ROOT: Location<'static> = Location {
        up: None,
        step: Step::Root,
    };
}

impl<'p> Location<'p> {
    pub(crate) fn member(&'p self, name: &'p str) -> Location<'p> {
        Location {
            up: Some(self),
            step: Step::Member(name),
        }
    }

    pub(crate) fn item(&'p self, index: usize) -> Location<'p> {
        Location {
            up: Some(self),
            step: Step::Item(index),
        }
    }

    /// Whether it is within the answer, and not all of it.
    pub(crate) fn is_inner(&self) -> bool {
        self.up.is_some()
    }

    /// Whether it is a member's value, whose schema says what it is.
    pub(crate) fn is_member(&self) -> bool {
        matches!(self.step, Step::Member(_))
    }

    /// As messages show it: `steps[2].item`; empty for the root.
    pub(crate) fn path(&self) -> String {
        let mut steps = Vec::new();
        let mut place = Some(self);
        while let Some(Location { up, step }) = place {
            steps.push(*step);
            place = *up;
        }
        let mut path = String::new();
        for step in steps.into_iter().rev() {
            match step {
                Step::Root => {}
                Step::Member(name) => {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path.push_str(&one_line(name, usize::MAX));
                }
                Step::Item(index) => path.push_str(&format!("[{index}]")),
            }
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::Location;

    #[test]
    fn a_path_is_written_as_it_is_elsewhere() {
        let (whole, list) = (Location::ROOT, Location::ROOT.item(1));
        assert_eq!(whole.path(), "");
        assert_eq!(list.member("a").path(), "[1].a");
        let steps = whole.member("steps");
        assert_eq!(steps.item(2).member("item").path(), "steps[2].item");
    }
}
