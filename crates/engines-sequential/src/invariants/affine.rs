//! Linear equations between numbers of one width, which hold up to multiples of a power of two.
//!
//! The affine hull of some points is one of them plus all combinations of some differences. Equations that hold in all
//! points are the combinations that the differences do not change (Müller-Olm and Seidl, "Analysis of modular
//! arithmetic", TOPLAS 2007). Since numbers modulo a power of two have few ideals, elimination that always takes an
//! entry with the fewest factors of two brings the matrix of differences into a diagonal form, from which the equations
//! can be read. A point that satisfies all equations belongs to the hull.

/// An equation: the sum of the variables with these factors is the constant, in the lowest bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Equation {
    pub(super) factors: Vec<u64>,
    pub(super) constant: u64,
    /// The number of bits in which the sides agree.
    pub(super) bits: u8,
}

/// The affine hull of some points.
#[derive(Clone, Debug)]
pub(super) struct Hull {
    bits: u8,
    first: Vec<u64>,
    /// The differences of other points and the first.
    differences: Vec<Vec<u64>>,
    pub(super) equations: Vec<Equation>,
}

fn mask(bits: u8) -> u64 {
    u64::MAX >> (64 - bits)
}

/// Returns the inverse of an odd number, by Newton's iteration: each round doubles the number of bits that are right.
fn inverse(odd: u64) -> u64 {
    (0..6).fold(odd, |known, _| known.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(known))))
}

impl Equation {
    fn holds(&self, point: &[u64]) -> bool {
        let sum =
            self.factors.iter().zip(point).fold(0_u64, |sum, (factor, x)| sum.wrapping_add(factor.wrapping_mul(*x)));
        (sum ^ self.constant) & mask(self.bits) == 0
    }

    /// Subtracts a multiple of another equation, which agrees in no fewer bits.
    fn subtract(&mut self, times: u64, other: &Equation) {
        for (factor, of_other) in self.factors.iter_mut().zip(&other.factors) {
            *factor = factor.wrapping_sub(times.wrapping_mul(*of_other)) & mask(self.bits);
        }
        self.constant = self.constant.wrapping_sub(times.wrapping_mul(other.constant)) & mask(self.bits);
    }
}

impl Hull {
    /// Returns the hull of one point, whose numbers have this width.
    pub(super) fn of_point(bits: u8, point: Vec<u64>) -> Hull {
        let mut hull = Hull { bits, first: point, differences: Vec::new(), equations: Vec::new() };
        hull.solve();
        hull
    }

    /// Adds a point.
    pub(super) fn add(&mut self, point: &[u64]) {
        if self.equations.iter().all(|equation| equation.holds(point)) {
            return;
        }
        let difference = point.iter().zip(&self.first).map(|(x, first)| x.wrapping_sub(*first) & mask(self.bits));
        self.differences.push(difference.collect());
        self.solve();
    }

    /// Finds the equations.
    fn solve(&mut self) {
        let (columns, pivots) = diagonal(self.differences.clone(), self.first.len(), self.bits);
        let equation = |(number, factors): (usize, Vec<u64>)| {
            let bits = pivots.get(number).map_or(self.bits, |zeros| *zeros);
            let factors: Vec<u64> =
                factors.into_iter().map(|factor| if bits == 0 { 0 } else { factor & mask(bits) }).collect();
            let sum = factors
                .iter()
                .zip(&self.first)
                .fold(0_u64, |sum, (factor, x)| sum.wrapping_add(factor.wrapping_mul(*x)));
            (bits > 0).then(|| Equation { factors, constant: sum & mask(bits), bits })
        };
        let mut equations: Vec<Equation> = columns.into_iter().enumerate().filter_map(equation).collect();
        equations.sort_by_key(|equation| std::cmp::Reverse(equation.bits));
        reduce(&mut equations);
        self.equations = equations;
    }
}

/// Brings a matrix into a diagonal form by steps on rows and columns. Returns the columns of the matrix of the steps on
/// columns, and the number of factors of two of each entry of the diagonal that is not zero.
fn diagonal(mut rows: Vec<Vec<u64>>, n_columns: usize, bits: u8) -> (Vec<Vec<u64>>, Vec<u8>) {
    let mut columns: Vec<Vec<u64>> =
        (0..n_columns).map(|column| (0..n_columns).map(|row| u64::from(row == column)).collect()).collect();
    let mut pivots = Vec::new();
    for step in 0..n_columns {
        let places = (step..rows.len()).flat_map(|row| (step..n_columns).map(move |column| (row, column)));
        let entries = places.filter(|(row, column)| rows[*row][*column] != 0);
        let Some((row, column)) = entries.min_by_key(|(row, column)| rows[*row][*column].trailing_zeros()) else {
            break;
        };
        rows.swap(step, row);
        rows.iter_mut().for_each(|row| row.swap(step, column));
        columns.swap(step, column);
        let zeros = rows[step][step].trailing_zeros();
        let unit = inverse(rows[step][step] >> zeros);
        rows[step].iter_mut().for_each(|entry| *entry = entry.wrapping_mul(unit) & mask(bits));
        let pivot = rows[step].clone();
        for row in &mut rows[step + 1..] {
            let times = row[step] >> zeros;
            row.iter_mut().zip(&pivot).for_each(|(entry, pivot)| {
                *entry = entry.wrapping_sub(times.wrapping_mul(*pivot)) & mask(bits);
            });
        }
        let taken = columns[step].clone();
        for column in step + 1..n_columns {
            let times = pivot[column] >> zeros;
            columns[column].iter_mut().zip(&taken).for_each(|(entry, taken)| {
                *entry = entry.wrapping_sub(times.wrapping_mul(*taken)) & mask(bits);
            });
        }
        // The rows below have nothing left in this column, so that the step on columns changes this row alone.
        rows[step][step + 1..].iter_mut().for_each(|entry| *entry = 0);
        pivots.push(zeros as u8);
    }
    (columns, pivots)
}

/// Makes equations short: each gets a variable with the factor 1 that no other one of as many bits or fewer has. The
/// equations are sorted by their bits, the most first.
fn reduce(equations: &mut [Equation]) {
    for number in 0..equations.len() {
        let Some(column) = equations[number].factors.iter().rposition(|factor| factor % 2 == 1) else { continue };
        let bits = equations[number].bits;
        let unit = inverse(equations[number].factors[column]);
        let this = &mut equations[number];
        this.factors.iter_mut().for_each(|factor| *factor = factor.wrapping_mul(unit) & mask(bits));
        this.constant = this.constant.wrapping_mul(unit) & mask(bits);
        let this = this.clone();
        for (_, other) in equations.iter_mut().enumerate().filter(|(other, _)| *other != number) {
            if other.bits <= bits {
                other.subtract(other.factors[column], &this);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hull(bits: u8, points: &[&[u64]]) -> Hull {
        let mut hull = Hull::of_point(bits, points[0].to_vec());
        points[1..].iter().for_each(|point| hull.add(point));
        hull
    }

    #[test]
    fn a_double_is_found_though_numbers_wrap_around() {
        let found = hull(8, &[&[0, 0], &[1, 2], &[200, 144]]);
        assert_eq!(found.equations, [Equation { factors: vec![254, 1], constant: 0, bits: 8 }]);
    }

    #[test]
    fn evenness_is_an_equation_in_one_bit() {
        let found = hull(8, &[&[3], &[5]]);
        assert_eq!(found.equations, [Equation { factors: vec![1], constant: 1, bits: 1 }]);
    }

    /// The equations are exactly those of the hull: all combinations of the points satisfy them, and a point that
    /// satisfies them is a combination. Tried for all points of a small space.
    #[test]
    fn the_equations_say_exactly_what_belongs_to_the_hull() {
        let sets: [&[&[u64]]; 4] = [
            &[&[0, 0, 0], &[2, 4, 6]],
            &[&[1, 2, 3], &[1, 2, 5], &[3, 2, 3]],
            &[&[7, 0, 1]],
            &[&[0, 0, 0], &[4, 2, 1], &[0, 4, 0]],
        ];
        for points in sets {
            let found = hull(3, points);
            let mut members = vec![points[0].to_vec()];
            let mut next = 0;
            while next < members.len() {
                for point in &points[1..] {
                    let sum: Vec<u64> = (0..3)
                        .map(|at| members[next][at].wrapping_add(point[at]).wrapping_sub(points[0][at]) & 7)
                        .collect();
                    if !members.contains(&sum) {
                        members.push(sum);
                    }
                }
                next += 1;
            }
            for number in 0..512_u64 {
                let point = [number & 7, number >> 3 & 7, number >> 6];
                let satisfies = found.equations.iter().all(|equation| equation.holds(&point));
                assert_eq!(satisfies, members.contains(&point.to_vec()), "{points:?} {point:?} {found:?}");
            }
        }
    }
}
