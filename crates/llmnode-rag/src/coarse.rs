//! Rows in eight bits a number: how large a product can be, found out with a quarter of the memory traffic.

/// So many numbers are added up side by side. All is done in 16 bits, of which every processor handles several at once.
const LANES: usize = 16;
/// So many numbers are added up before the sums are widened.
const BLOCK: usize = 512;
/// The length of a query in whole numbers. A lane adds up 32 products within a block: at most 127 · √32 · 11,000 / 256 + 32, which
/// 16 bits hold.
const REACH: f64 = 11_000.0;

/// Rows of equal length, each as whole numbers up to 127 and a scale.
#[derive(Clone, Debug, Default)]
pub(crate) struct Coarse {
    /// The numbers of a row, and zeros up to a multiple of `LANES`.
    width: usize,
    numbers: Vec<i8>,
    rows: Vec<Row>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Row {
    scale: f32,
    /// How long the difference to the row itself is.
    error: f32,
    /// How long the row is.
    length: f32,
}

/// A vector that rows are compared with.
pub(crate) struct Query {
    numbers: Vec<i16>,
    row: Row,
    /// How much products in `f32` may differ from true ones, of rows of the length 1.
    rounding: f32,
}

impl Query {
    pub(crate) fn new(vector: &[f32]) -> Self {
        let length = length(vector.iter().copied());
        let scale = if length > 0.0 { length / REACH } else { 1.0 };
        let mut numbers: Vec<i16> =
            vector.iter().map(|one| (f64::from(*one) / scale).round() as i16).collect();
        let row = Row::new(vector, &numbers, scale);
        numbers.resize(vector.len().next_multiple_of(LANES), 0);
        Query { numbers, row, rounding: (vector.len() + 8) as f32 * f32::EPSILON }
    }
}

impl Row {
    fn new<N: Copy + Into<f64>>(vector: &[f32], numbers: &[N], scale: f64) -> Self {
        let off = vector
            .iter()
            .zip(numbers)
            .map(|(one, number)| (f64::from(*one) - (*number).into() * scale) as f32);
        // Larger by more than the conversion may have taken away.
        let above = |value: f64| value as f32 * (1.0 + 4.0 * f32::EPSILON);
        Row { scale: scale as f32, error: above(length(off)), length: above(length(vector.iter().copied())) }
    }
}

impl Coarse {
    #[cfg(feature = "sqlite")]
    pub(crate) fn reserve(&mut self, rows: usize, numbers: usize) {
        self.numbers.reserve_exact(numbers);
        self.rows.reserve_exact(rows);
    }

    /// Sets the row at this place, which may be the one behind the last.
    pub(crate) fn set(&mut self, place: usize, vector: &[f32]) {
        self.width = vector.len().next_multiple_of(LANES);
        let most = vector.iter().fold(0.0_f32, |most, one| most.max(one.abs()));
        // As the row will have it.
        let scale = f64::from(if most > 0.0 { most / 127.0 } else { 1.0 });
        let numbers: Vec<i8> = vector.iter().map(|one| (f64::from(*one) / scale).round() as i8).collect();
        let (row, begin) = (Row::new(vector, &numbers, scale), place * self.width);
        if place == self.rows.len() {
            self.rows.push(row);
            self.numbers.resize(begin + self.width, 0);
        }
        self.rows[place] = row;
        self.numbers[begin..begin + numbers.len()].copy_from_slice(&numbers);
    }

    /// Takes a row out: the last one takes its place.
    pub(crate) fn remove(&mut self, place: usize) {
        self.rows.swap_remove(place);
        let last = self.rows.len() * self.width;
        self.numbers.copy_within(last.., place * self.width);
        self.numbers.truncate(last);
    }

    /// For each row, what its product with the query is at most.
    pub(crate) fn most(&self, query: &Query) -> impl Iterator<Item = f32> {
        let Query { numbers, row: asked, rounding } = query;
        let (unit, slack) = (asked.scale * 256.0, 1.0 + rounding);
        let of_error = (asked.length + asked.error) * slack;
        let of_length = (asked.error + rounding * asked.length) * slack;
        self.rows.iter().zip(self.numbers.chunks_exact(self.width.max(1))).map(move |(row, own)| {
            let blocks = own.chunks(BLOCK).zip(numbers.chunks(BLOCK));
            let sum: i32 = blocks.map(|(one, other)| block(one, other)).sum();
            // Each product was rounded down by less than 1.
            let product = row.scale * unit * (sum as f32 + own.len() as f32);
            product + product.abs() * rounding + row.error * of_error + row.length * of_length
        })
    }
}

/// The sum of the products of two rows, each divided by 256 and rounded down.
fn block(row: &[i8], query: &[i16]) -> i32 {
    let mut sums = [0_i16; LANES];
    for (row, query) in row.as_chunks::<LANES>().0.iter().zip(query.as_chunks::<LANES>().0) {
        for lane in 0..LANES {
            let product = (i32::from(i16::from(row[lane]) << 8) * i32::from(query[lane])) >> 16;
            sums[lane] = sums[lane].wrapping_add(product as i16);
        }
    }
    sums.iter().map(|sum| i32::from(*sum)).sum()
}

fn length(vector: impl Iterator<Item = f32>) -> f64 {
    vector.map(|one| f64::from(one) * f64::from(one)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::matrix::{normalise, product};

    /// Numbers of very different sizes.
    fn numbers(columns: usize) -> impl Strategy<Value = Vec<f32>> {
        let number = prop_oneof![
            4 => -1.0_f32..1.0,
            1 => Just(0.0),
            1 => -1e-4_f32..1e-4,
            1 => prop::sample::select(vec![1.0_f32, -1.0, 30.0, -30.0, 1e-30]),
        ];
        prop::collection::vec(number, columns)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn no_product_is_larger_than_the_most(
            (row, query) in (1_usize..600).prop_flat_map(|columns| (numbers(columns), numbers(columns)))
        ) {
            let mut coarse = Coarse::default();
            coarse.set(0, &row);
            let asked = Query::new(&query);
            let (most, exact) = (coarse.most(&asked).next().unwrap(), product(&row, &query));
            prop_assert!(most >= exact, "{most} {exact}");
        }
    }

    #[test]
    fn the_largest_sums_fit() {
        for columns in [16, 512, 513, 4096] {
            let row = vec![1.0; columns];
            let mut coarse = Coarse::default();
            coarse.set(0, &row);
            for query in [vec![1.0; columns], vec![-1.0; columns]] {
                let (most, exact) = (coarse.most(&Query::new(&query)).next().unwrap(), product(&row, &query));
                assert!(most >= exact && most - exact < 0.05 * columns as f32, "{columns}: {most} {exact}");
            }
            // All of a query in one lane.
            let query: Vec<f32> = (0..columns).map(|at| f32::from(u8::from(at % LANES == 3))).collect();
            let (most, exact) = (coarse.most(&Query::new(&query)).next().unwrap(), product(&row, &query));
            assert!(most >= exact && most - exact < 0.1 * exact + 2.0, "{columns}: {most} {exact}");
        }
    }

    #[test]
    fn it_is_little_more_than_the_product() {
        let vector = |salt: u32| -> Vec<f32> {
            let mut vector: Vec<f32> =
                (0..384_u32).map(|at| ((at + 7).wrapping_mul(salt) >> 16) as f32 / 32768.0 - 1.0).collect();
            normalise(&mut vector);
            vector
        };
        for salt in [0x9e37_79b1, 0x85eb_ca6b, 0xc2b2_ae35] {
            let (row, query) = (vector(salt), vector(salt.rotate_left(5)));
            let mut coarse = Coarse::default();
            coarse.set(0, &row);
            let more = coarse.most(&Query::new(&query)).next().unwrap() - product(&row, &query);
            assert!(more < 0.02, "{more}");
        }
    }
}
