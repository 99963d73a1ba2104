//! A function as a short formula in the syntax of Boolean programs.
//!
//! The order of work: literals that the function implies are written first, then equations between two variables, one
//! of which is then replaced by the other; what remains becomes a sum of products or a product of sums, whichever is
//! shorter. So `x & y = old(y) & (a | b)` comes out of a diagram that has a path for each of its valuations. The
//! result is equivalent to the function: every part is implied by it, and what is removed follows from the parts
//! written.

use selvedge_logic::bdd::{Bdd, Manager, OutOfNodes, Var};

/// A variable with its sign.
type Literal = (Var, bool);

/// The most products that are written.
const MAX_PRODUCTS: usize = 24;

/// The formula, in which `name` says what variables are called; `None` if it would be too long.
pub(super) fn words(manager: &Manager, f: &Bdd, name: &dyn Fn(Var) -> String) -> Result<Option<String>, OutOfNodes> {
    if let Some(value) = f.as_constant() {
        return Ok(Some(value.to_string()));
    }
    let mut rest = f.clone();
    let mut parts: Vec<String> = Vec::new();
    for (var, sign) in take_literals(manager, &mut rest)? {
        parts.push(literal(var, sign, name));
    }
    for (left, right, sign) in take_equations(manager, &mut rest)? {
        parts.push(format!("{} {} {}", name(left), if sign { "=" } else { "!=" }, name(right)));
    }
    if rest.is_true() {
        return Ok(Some(join(parts)));
    }
    let Some(remainder) = shortest(manager, &rest, name)? else { return Ok(None) };
    parts.extend(remainder);
    Ok(Some(join(parts)))
}

/// Returns a conjunction; equations are put in parentheses where they are not alone, as the language requires.
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

fn literal(var: Var, sign: bool, name: &dyn Fn(Var) -> String) -> String {
    format!("{}{}", if sign { "" } else { "!" }, name(var))
}

/// Removes the literals that the function implies from it, and returns them.
fn take_literals(manager: &Manager, f: &mut Bdd) -> Result<Vec<Literal>, OutOfNodes> {
    let mut taken = Vec::new();
    for var in f.support() {
        for sign in [true, false] {
            if f.is_subset(&manager.literal(var, sign)?) {
                taken.push((var, sign));
                *f = f.exists(&manager.var_set(&[var])?)?;
            }
        }
    }
    Ok(taken)
}

/// Removes the equations `left = right` (or `!=`) that the function implies from it, with the variables on the right,
/// and returns them.
fn take_equations(manager: &Manager, f: &mut Bdd) -> Result<Vec<(Var, Var, bool)>, OutOfNodes> {
    let mut taken = Vec::new();
    let support = f.support();
    for (number, left) in support.iter().enumerate() {
        for right in &support[number + 1..] {
            for sign in [true, false] {
                let live = f.support();
                if !live.contains(left) || !live.contains(right) {
                    continue;
                }
                let by = manager.literal(*left, sign)?;
                if f.is_subset(&manager.var(*right)?.iff(&by)?) {
                    taken.push((*left, *right, sign));
                    *f = f.exists(&manager.var_set(&[*right])?)?;
                }
            }
        }
    }
    Ok(taken)
}

/// The parts of a conjunction that is the function: one sum of products, or several sums.
fn shortest(manager: &Manager, f: &Bdd, name: &dyn Fn(Var) -> String) -> Result<Option<Vec<String>>, OutOfNodes> {
    let negated = f.not()?;
    let products = irredundant(manager, f, f)?.map(|(cover, _)| cover);
    let sums = irredundant(manager, &negated, &negated)?.map(|(cover, _)| cover);
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

/// Returns the function where a variable that is not below its topmost one is false, and where it is true.
fn split(f: &Bdd, var: Var) -> (Bdd, Bdd) {
    match f.decision() {
        Some((top, high, low)) if top == var => (low, high),
        _ => (f.clone(), f.clone()),
    }
}

/// Products with their sum.
type Cover = (Vec<Vec<Literal>>, Bdd);

/// An irredundant sum of products between two functions (Minato and Morreale), or `None` if it has too many.
///
/// Products that need the topmost variable false come first, then those that need it true, then those that need
/// neither, for what the others leave. Ends, since each call looks at a lower variable.
fn irredundant(manager: &Manager, low: &Bdd, high: &Bdd) -> Result<Option<Cover>, OutOfNodes> {
    if low.is_false() {
        return Ok(Some((Vec::new(), manager.bottom())));
    }
    if high.is_true() {
        return Ok(Some((vec![Vec::new()], manager.top())));
    }
    let tops = [low, high].into_iter().filter_map(|f| Some(f.decision()?.0));
    let var = tops.min().expect("a function that is neither true nor false has a variable");
    let ((low0, low1), (high0, high1)) = (split(low, var), split(high, var));
    let (only0, only1) = (low0.minus(&high1)?, low1.minus(&high0)?);
    let Some((cover0, f0)) = irredundant(manager, &only0, &high0)? else { return Ok(None) };
    let Some((cover1, f1)) = irredundant(manager, &only1, &high1)? else { return Ok(None) };
    let left = low0.minus(&f0)?.or(&low1.minus(&f1)?)?;
    let Some((cover, f)) = irredundant(manager, &left, &high0.and(&high1)?)? else { return Ok(None) };
    let whole = manager.var(var)?.ite(&f1, &f0)?.or(&f)?;
    let with =
        |sign: bool| move |product: Vec<Literal>| std::iter::once((var, sign)).chain(product).collect::<Vec<_>>();
    let all: Vec<Vec<Literal>> =
        cover0.into_iter().map(with(false)).chain(cover1.into_iter().map(with(true))).chain(cover).collect();
    Ok((all.len() <= MAX_PRODUCTS).then_some((all, whole)))
}

#[cfg(test)]
mod tests {
    use super::*;

    use selvedge_logic::bdd::Limits;

    fn name(var: Var) -> String {
        ["a", "b", "c", "d", "e", "f"][var.level()].to_string()
    }

    fn manager(n_vars: usize) -> (Manager, Vec<Var>) {
        let manager = Manager::new(Limits { nodes: 100_000, cache: 1 << 10 });
        let vars = manager.add_vars(n_vars);
        (manager, vars)
    }

    /// Returns the function with this truth table: bit `i` is its value where variable `v` is bit `v` of `i`.
    fn table(manager: &Manager, vars: &[Var], bits: u64) -> Bdd {
        let rows = (0_u64..1 << vars.len()).filter(|row| bits >> row & 1 == 1);
        rows.fold(manager.bottom(), |f, row| {
            let literals: Vec<Literal> = vars.iter().map(|var| (*var, row >> var.level() & 1 == 1)).collect();
            f.or(&manager.cube(&literals).unwrap()).unwrap()
        })
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
            let (manager, vars) = manager(3);
            let text = words(&manager, &table(&manager, &vars, bits), &name).unwrap().unwrap();
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
            let (manager, vars) = manager(6);
            let Some(text) = words(&manager, &table(&manager, &vars, sparse), &name).unwrap() else { continue };
            for row in 0..64 {
                assert_eq!(value(&text, row), sparse >> row & 1 == 1, "{text}, row {row}");
            }
        }
    }

    #[test]
    fn literals_and_equations_are_taken_out() {
        let (manager, vars) = manager(4);
        let [a, b, c, d] = [0, 1, 2, 3].map(|number: usize| manager.var(vars[number]).unwrap());
        let equation = b.iff(&c).unwrap();
        let both = equation.and(&a.or(&d).unwrap()).unwrap();
        assert_eq!(words(&manager, &both, &name).unwrap().unwrap(), "(b = c) & (a | d)");
        let with_a = equation.and(&a).unwrap();
        assert_eq!(words(&manager, &with_a, &name).unwrap().unwrap(), "a & (b = c)");
    }
}
