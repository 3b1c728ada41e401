//! The vectors of a collection in memory, row after row, searched exactly.
//!
//! A search looks at all rows, which for some hundred thousand of them takes milliseconds and finds what an index may miss. All
//! vectors have the length 1, so that the product of two is their cosine.

use std::collections::HashMap;

/// Independent sums, which compilers turn into vector instructions.
const LANES: usize = 16;

/// Rows that tie with the last hit, in addition: the caller orders them by id.
pub(crate) const TIES: usize = 64;

/// Vectors of one length, by the numbers of their rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Matrix {
    columns: usize,
    numbers: Vec<f32>,
    rows: Vec<i64>,
    row_positions: HashMap<i64, usize>,
}

impl Matrix {
    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    #[cfg(feature = "sqlite")]
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    #[cfg(feature = "sqlite")]
    pub(crate) fn reserve(&mut self, rows: usize, numbers: usize) {
        self.numbers.reserve_exact(numbers);
        self.rows.reserve_exact(rows);
        self.row_positions.reserve(rows);
    }

    /// Replaces a row of the same number. `false`: the length differs from the others'.
    pub(crate) fn insert(&mut self, row: i64, vector: &[f32]) -> bool {
        if self.rows.is_empty() {
            self.columns = vector.len();
        }
        if vector.len() != self.columns {
            return false;
        }
        let place = *self.row_positions.entry(row).or_insert(self.rows.len());
        if place == self.rows.len() {
            self.rows.push(row);
            self.numbers.extend_from_slice(vector);
        } else {
            self.numbers[place * self.columns..][..self.columns].copy_from_slice(vector);
        }
        true
    }

    /// The last row moves into its place.
    pub(crate) fn remove(&mut self, row: i64) {
        let Some(place) = self.row_positions.remove(&row) else {
            return;
        };
        let last_begin = (self.rows.len() - 1) * self.columns;
        self.numbers.copy_within(last_begin.., place * self.columns);
        self.numbers.truncate(last_begin);
        self.rows.swap_remove(place);
        if let Some(moved) = self.rows.get(place) {
            self.row_positions.insert(*moved, place);
        }
    }

    #[cfg(feature = "sqlite")]
    pub(crate) fn iter(&self) -> impl Iterator<Item = (i64, &[f32])> {
        self.rows
            .iter()
            .copied()
            .zip(self.numbers.chunks_exact(self.columns.max(1)))
    }

    pub(crate) fn row(&self, row: i64) -> Option<&[f32]> {
        self.row_positions
            .get(&row)
            .map(|place| &self.numbers[place * self.columns..][..self.columns])
    }

    /// `Some`: the length of the vectors, which a query of another length has no distance to.
    pub(crate) fn other_length(&self, query: &[f32]) -> Option<usize> {
        (!self.rows.is_empty() && query.len() != self.columns).then_some(self.columns)
    }

    /// Largest first, and up to `TIES` more rows that equal the last of the `k`.
    pub(crate) fn nearest(
        &self,
        vector: &[f32],
        k: usize,
        allowed: impl Fn(i64) -> bool,
    ) -> Vec<(i64, f64)> {
        self.nearest_above(f32::NEG_INFINITY, vector, k, allowed)
    }

    /// The same, of rows with at least this score.
    ///
    /// What was found is sorted and cut whenever there is too much of it; from then on, rows below the worst of the best are skipped.
    pub(crate) fn nearest_above(
        &self,
        least: f32,
        vector: &[f32],
        k: usize,
        allowed: impl Fn(i64) -> bool,
    ) -> Vec<(i64, f64)> {
        if k == 0 || self.rows.is_empty() || vector.len() != self.columns {
            return Vec::new();
        }
        let mut found = Vec::new();
        let mut floor = least;
        let mut most = k.saturating_add(TIES);
        let vectors = self.numbers.chunks_exact(self.columns);
        for (row, numbers) in self.rows.iter().zip(vectors) {
            let score = dot_product(vector, numbers);
            if score < floor || !allowed(*row) {
                continue;
            }
            found.push((*row, score));
            if found.len() > most {
                floor = keep_best(&mut found, k).max(least);
                most = found.len() + k.max(16);
            }
        }
        keep_best(&mut found, k);
        found
            .into_iter()
            .map(|(row, score)| (row, f64::from(score)))
            .collect()
    }
}

/// Also keeps the ties, and returns the score of the last.
fn keep_best(found: &mut Vec<(i64, f32)>, k: usize) -> f32 {
    found.sort_by(|(one, score), (other, than)| than.total_cmp(score).then(one.cmp(other)));
    found.truncate(k.saturating_add(TIES));
    let Some((_, last)) = found.get(k - 1).copied() else {
        return f32::NEG_INFINITY;
    };
    found.retain(|(_, score)| score.total_cmp(&last).is_ge());
    last
}

/// The sum of products, in several sums at once.
pub(crate) fn dot_product(one: &[f32], other: &[f32]) -> f32 {
    let (one_chunks, one_rest) = one.as_chunks::<LANES>();
    let (other_chunks, other_rest) = other.as_chunks::<LANES>();
    let mut sums = [0.0_f32; LANES];
    for (one, other) in one_chunks.iter().zip(other_chunks) {
        for lane in 0..LANES {
            sums[lane] += one[lane] * other[lane];
        }
    }
    let rest: f32 = one_rest
        .iter()
        .zip(other_rest)
        .map(|(one, other)| one * other)
        .sum();
    sums.iter().sum::<f32>() + rest
}

/// Gives it the length 1. A zero vector stays as it is.
pub(crate) fn normalise(vector: &mut [f32]) {
    // An `f32` may not hold the squares.
    let squares = vector
        .iter()
        .map(|number| f64::from(*number) * f64::from(*number));
    let length = squares.sum::<f64>().sqrt();
    if length > 0.0 {
        for number in vector {
            *number = (f64::from(*number) / length) as f32;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rows_come_and_go() {
        let mut matrix = Matrix::default();
        for (row, vector) in [(1, [1.0, 0.0]), (2, [0.0, 1.0]), (3, [0.6, 0.8])] {
            assert!(matrix.insert(row, &vector));
        }
        assert!(!matrix.insert(4, &[1.0]), "of another length");
        matrix.remove(1);
        matrix.remove(9);
        assert_eq!(
            (matrix.row(1), matrix.row(3)),
            (None, Some(&[0.6, 0.8][..]))
        );
        assert!(matrix.insert(2, &[1.0, 0.0]));
        let found: Vec<_> = matrix
            .nearest(&[1.0, 0.0], 2, |_| true)
            .into_iter()
            .map(|(row, _)| row)
            .collect();
        assert_eq!(found, [2, 3]);
        assert_eq!(matrix.nearest(&[1.0, 0.0], 2, |row| row == 3)[0].0, 3);
        assert!(
            matrix.nearest(&[1.0], 2, |_| true).is_empty()
                && matrix.nearest(&[1.0, 0.0], 0, |_| true).is_empty()
        );
    }

    #[test]
    fn all_that_equal_the_last_are_found() {
        let mut matrix = Matrix::default();
        for row in 0..10 {
            matrix.insert(row, if row == 7 { &[1.0, 0.0] } else { &[0.0, 1.0] });
        }
        let found = matrix.nearest(&[1.0, 0.5], 3, |_| true);
        assert_eq!((found.len(), found[0].0), (10, 7));
    }

    #[test]
    fn huge_numbers_have_a_direction() {
        let mut vector = [f32::MAX, f32::MAX];
        normalise(&mut vector);
        assert!((vector[0] - std::f32::consts::FRAC_1_SQRT_2).abs() < 1e-6);
        let mut none = [0.0, 0.0];
        normalise(&mut none);
        assert_eq!(none, [0.0, 0.0]);
    }

    #[test]
    fn of_many_equal_ones_some_are_found() {
        let mut matrix = Matrix::default();
        (0..1000).for_each(|row| assert!(matrix.insert(row, &[0.6, 0.8])));
        let found = matrix.nearest(&[1.0, 0.0], 3, |row| row != 1);
        assert_eq!((found.len(), found[0].0, found[1].0), (3 + TIES, 0, 2));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn the_nearest_are_those_of_a_scan(
            vectors in prop::collection::vec(prop::collection::vec(-3_i8..=3, 20), 0..300),
            query in prop::collection::vec(-3_i8..=3, 20),
            k in 1_usize..12,
            removed in prop::collection::vec(0_i64..300, 0..20),
        ) {
            let floats = |of: &[i8]| -> Vec<f32> { of.iter().map(|one| f32::from(*one) / 9.0).collect() };
            let query = floats(&query);
            let mut matrix = Matrix::default();
            for (row, vector) in vectors.iter().enumerate() {
                matrix.insert(row as i64, &floats(vector));
            }
            removed.iter().for_each(|row| matrix.remove(*row));
            let scored = |(row, vector): (usize, &Vec<i8>)| (row as i64, f64::from(dot_product(&query, &floats(vector))));
            let mut expected: Vec<_> = vectors.iter().enumerate().map(scored).collect();
            expected.retain(|(row, _)| !removed.contains(row));
            expected.sort_by(|(one, score), (other, than)| than.total_cmp(score).then(one.cmp(other)));
            expected.truncate(k + TIES);
            if let Some((_, last)) = expected.get(k - 1).copied() {
                expected.retain(|(_, score)| *score >= last);
            }
            prop_assert_eq!(matrix.nearest(&query, k, |_| true), expected);
        }
    }
}
