//! Where in the JSON something stands. The path is written only if there is something to say about it.

use crate::text::one_line;

/// A place, as the way to it from the whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'p> {
    up: Option<&'p Place<'p>>,
    step: Step<'p>,
}

#[derive(Clone, Copy, Debug)]
enum Step<'p> {
    Whole,
    Member(&'p str),
    Item(usize),
}

impl Place<'static> {
    /// The whole answer.
    pub(crate) const WHOLE: Place<'static> = Place { up: None, step: Step::Whole };
}

impl<'p> Place<'p> {
    pub(crate) fn member(&'p self, name: &'p str) -> Place<'p> {
        Place { up: Some(self), step: Step::Member(name) }
    }

    pub(crate) fn item(&'p self, index: usize) -> Place<'p> {
        Place { up: Some(self), step: Step::Item(index) }
    }

    /// Whether it is a place within the whole.
    pub(crate) fn is_inner(&self) -> bool {
        self.up.is_some()
    }

    /// Whether it is that of a member.
    pub(crate) fn is_member(&self) -> bool {
        matches!(self.step, Step::Member(_))
    }

    /// The path, such as `steps[2].item`; empty for the whole.
    pub(crate) fn path(&self) -> String {
        let mut steps = Vec::new();
        let mut place = Some(self);
        while let Some(Place { up, step }) = place {
            steps.push(*step);
            place = *up;
        }
        let mut path = String::new();
        for step in steps.into_iter().rev() {
            match step {
                Step::Whole => {}
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
    use super::Place;

    #[test]
    fn a_path_is_written_as_it_is_elsewhere() {
        let (whole, list) = (Place::WHOLE, Place::WHOLE.item(1));
        assert_eq!(whole.path(), "");
        assert_eq!(list.member("a").path(), "[1].a");
        let steps = whole.member("steps");
        assert_eq!(steps.item(2).member("item").path(), "steps[2].item");
    }
}
