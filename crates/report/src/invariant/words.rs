//! A function as a short formula in the syntax of Boolean programs.
//!
//! The order of work: literals that the function implies are written first, then equations between two variables, one
//! of which is then replaced by the other; what remains becomes a sum of products or a product of sums, whichever is
//! shorter. So `x & y = old(y) & (a | b)` comes out of a diagram that has a path for each of its valuations. The
//! result is equivalent to the function: every part is implied by it, and what is removed follows from the parts
//! written.

use super::diagram::{Diagram, Diagrams, FALSE, TRUE, TooLarge};

/// A variable with its sign.
type Literal = (u32, bool);

/// The most products that are written.
const MAX_PRODUCTS: usize = 24;

/// The formula, in which `name` says what variables are called; `None` if it would be too long.
pub(super) fn words(
    diagrams: &mut Diagrams,
    f: Diagram,
    name: &dyn Fn(u32) -> String,
) -> Result<Option<String>, TooLarge> {
    match f {
        TRUE => return Ok(Some("true".to_string())),
        FALSE => return Ok(Some("false".to_string())),
        _ => {}
    }
    let mut rest = f;
    let mut parts: Vec<String> = Vec::new();
    for (var, sign) in take_literals(diagrams, &mut rest)? {
        parts.push(literal(var, sign, name));
    }
    for (left, right, sign) in take_equations(diagrams, &mut rest)? {
        parts.push(format!("{} {} {}", name(left), if sign { "=" } else { "!=" }, name(right)));
    }
    if rest == TRUE {
        return Ok(Some(join(parts)));
    }
    let Some(remainder) = shortest(diagrams, rest, name)? else { return Ok(None) };
    parts.extend(remainder);
    Ok(Some(join(parts)))
}

/// A conjunction; equations stand in parentheses where they do not stand alone, as the language asks for.
fn join(parts: Vec<String>) -> String {
    if parts.len() == 1 {
        return parts.into_iter().collect();
    }
    let guarded = |part: String| match part.contains(' ') && !part.starts_with('(') {
        true => format!("({part})"),
        false => part,
    };
    parts.into_iter().map(guarded).collect::<Vec<_>>().join(" & ")
}

fn literal(var: u32, sign: bool, name: &dyn Fn(u32) -> String) -> String {
    format!("{}{}", if sign { "" } else { "!" }, name(var))
}

/// The literals that the function implies; it is left without them.
fn take_literals(diagrams: &mut Diagrams, f: &mut Diagram) -> Result<Vec<Literal>, TooLarge> {
    let mut taken = Vec::new();
    for var in diagrams.support(*f) {
        for sign in [true, false] {
            let positive = diagrams.var(var)?;
            let literal = if sign { positive } else { diagrams.not(positive)? };
            if diagrams.implies(*f, literal)? {
                taken.push((var, sign));
                *f = diagrams.exists(*f, var)?;
            }
        }
    }
    Ok(taken)
}

/// The equations `left = right` (or `!=`) that the function implies; it is left without the variables on the right.
fn take_equations(diagrams: &mut Diagrams, f: &mut Diagram) -> Result<Vec<(u32, u32, bool)>, TooLarge> {
    let mut taken = Vec::new();
    let support = diagrams.support(*f);
    for (number, left) in support.iter().enumerate() {
        for right in &support[number + 1..] {
            for sign in [true, false] {
                let live = diagrams.support(*f);
                if !live.contains(left) || !live.contains(right) {
                    continue;
                }
                let (a, b) = (diagrams.var(*left)?, diagrams.var(*right)?);
                let (not_a, not_b) = (diagrams.not(a)?, diagrams.not(b)?);
                let equation = if sign { diagrams.ite(a, b, not_b)? } else { diagrams.ite(a, not_b, b)? };
                if diagrams.implies(*f, equation)? {
                    taken.push((*left, *right, sign));
                    *f = diagrams.replace(*f, *right, if sign { a } else { not_a })?;
                }
            }
        }
    }
    Ok(taken)
}

/// The parts of a conjunction that is the function: one sum of products, or several sums.
fn shortest(
    diagrams: &mut Diagrams,
    f: Diagram,
    name: &dyn Fn(u32) -> String,
) -> Result<Option<Vec<String>>, TooLarge> {
    let negated = diagrams.not(f)?;
    let products = irredundant(diagrams, f, f)?.map(|(cover, _)| cover);
    let sums = irredundant(diagrams, negated, negated)?.map(|(cover, _)| cover);
    let size = |cover: &Option<Vec<Vec<Literal>>>| cover.as_ref().map_or(usize::MAX, |cover| cover.concat().len());
    let text = |product: &Vec<Literal>, flip: bool, sign: &str| {
        let literals: Vec<String> =
            product.iter().map(|(var, positive)| literal(*var, *positive != flip, name)).collect();
        literals.join(sign)
    };
    Ok(match (products, sums) {
        (None, None) => None,
        (products, Some(sums)) if size(&Some(sums.clone())) < size(&products) => Some(
            sums.iter()
                .map(|sum| match sum.len() {
                    1 => text(sum, true, " | "),
                    _ => format!("({})", text(sum, true, " | ")),
                })
                .collect(),
        ),
        (products, _) => products.map(|products| {
            let texts: Vec<String> = products.iter().map(|product| text(product, false, " & ")).collect();
            vec![texts.join(" | ")]
        }),
    })
}

/// Products with their sum.
type Cover = (Vec<Vec<Literal>>, Diagram);

/// An irredundant sum of products between two functions (Minato and Morreale), or `None` if it has too many.
///
/// Products that need the topmost variable false come first, then those that need it true, then those that need
/// neither, for what the others leave. Ends, since each call looks at a lower variable.
fn irredundant(diagrams: &mut Diagrams, low: Diagram, high: Diagram) -> Result<Option<Cover>, TooLarge> {
    if low == FALSE {
        return Ok(Some((Vec::new(), FALSE)));
    }
    if high == TRUE {
        return Ok(Some((vec![Vec::new()], TRUE)));
    }
    let var = diagrams.top(low).min(diagrams.top(high));
    let ((low0, low1), (high0, high1)) = (diagrams.split(low, var), diagrams.split(high, var));
    let (not_high0, not_high1) = (diagrams.not(high0)?, diagrams.not(high1)?);
    let (only0, only1) = (diagrams.and(low0, not_high1)?, diagrams.and(low1, not_high0)?);
    let Some((cover0, f0)) = irredundant(diagrams, only0, high0)? else { return Ok(None) };
    let Some((cover1, f1)) = irredundant(diagrams, only1, high1)? else { return Ok(None) };
    let (not_f0, not_f1) = (diagrams.not(f0)?, diagrams.not(f1)?);
    let (left0, left1) = (diagrams.and(low0, not_f0)?, diagrams.and(low1, not_f1)?);
    let (left, both) = (diagrams.or(left0, left1)?, diagrams.and(high0, high1)?);
    let Some((cover, f)) = irredundant(diagrams, left, both)? else { return Ok(None) };
    let x = diagrams.var(var)?;
    let split = diagrams.ite(x, f1, f0)?;
    let whole = diagrams.or(split, f)?;
    let with =
        |sign: bool| move |product: Vec<Literal>| std::iter::once((var, sign)).chain(product).collect::<Vec<_>>();
    let all: Vec<Vec<Literal>> =
        cover0.into_iter().map(with(false)).chain(cover1.into_iter().map(with(true))).chain(cover).collect();
    Ok((all.len() <= MAX_PRODUCTS).then_some((all, whole)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(var: u32) -> String {
        ["a", "b", "c", "d", "e", "f"][var as usize].to_string()
    }

    /// The function with this table of truth: bit `i` is its value where variable `v` is bit `v` of `i`.
    fn table(diagrams: &mut Diagrams, n_vars: u32, bits: u64) -> Diagram {
        let mut f = FALSE;
        for row in (0..1 << n_vars).filter(|row| bits >> row & 1 == 1) {
            let mut product = TRUE;
            for var in 0..n_vars {
                let x = diagrams.var(var).unwrap();
                let literal = if row >> var & 1 == 1 { x } else { diagrams.not(x).unwrap() };
                product = diagrams.and(product, literal).unwrap();
            }
            f = diagrams.or(f, product).unwrap();
        }
        f
    }

    /// The value of a written formula.
    fn value(text: &str, row: u64) -> bool {
        let watch = crate::session::Watch::parse(text).unwrap();
        let lookup = |name: &str| {
            let var = "abcdef".find(name)?;
            Some(selvedge_ir::Value::Bool(row >> var & 1 == 1))
        };
        watch.holds(&lookup).unwrap()
    }

    #[test]
    fn every_function_of_three_variables_is_written_as_itself() {
        for bits in 0..256 {
            let mut diagrams = Diagrams::new(10_000);
            let f = table(&mut diagrams, 3, bits);
            let text = words(&mut diagrams, f, &name).unwrap().unwrap();
            for row in 0..8 {
                assert_eq!(value(&text, row), bits >> row & 1 == 1, "{text}, row {row}");
            }
        }
    }

    #[test]
    fn functions_of_six_variables_are_written_as_themselves() {
        let mut bits: u64 = 0x9e37_79b9_7f4a_7c15;
        for _ in 0..60 {
            bits = bits.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
            let sparse = bits & bits.rotate_left(17) & bits.rotate_left(31);
            let mut diagrams = Diagrams::new(100_000);
            let f = table(&mut diagrams, 6, sparse);
            let Some(text) = words(&mut diagrams, f, &name).unwrap() else { continue };
            for row in 0..64 {
                assert_eq!(value(&text, row), sparse >> row & 1 == 1, "{text}, row {row}");
            }
        }
    }

    #[test]
    fn literals_and_equations_are_taken_out() {
        let mut diagrams = Diagrams::new(1000);
        let [a, b, c, d] = [0, 1, 2, 3].map(|var| diagrams.var(var).unwrap());
        let (not_c, either) = (diagrams.not(c).unwrap(), diagrams.or(a, d).unwrap());
        let equation = diagrams.ite(b, c, not_c).unwrap();
        let both = diagrams.and(equation, either).unwrap();
        assert_eq!(words(&mut diagrams, both, &name).unwrap().unwrap(), "(b = c) & (a | d)");
        let with_a = diagrams.and(equation, a).unwrap();
        assert_eq!(words(&mut diagrams, with_a, &name).unwrap().unwrap(), "a & (b = c)");
    }
}
