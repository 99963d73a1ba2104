//! Random functions of six to eight variables: both implementations and the tables agree.

use super::oracle::Oracle;
use super::table::{Table, check_one, check_three, check_two};
use super::twin::{Diagrams, Facade};
use crate::numbers::Numbers;

/// A formula in reverse Polish notation, so that both implementations build the same one.
enum Token {
    Var(usize),
    Not,
    Binary(usize),
}

fn formula(numbers: &mut Numbers, vars: usize, size: usize) -> Vec<Token> {
    let mut tokens = vec![Token::Var(numbers.below(vars))];
    for _ in 0..size {
        tokens.push(Token::Var(numbers.below(vars)));
        if numbers.below(3) == 0 {
            tokens.push(Token::Not);
        }
        tokens.push(Token::Binary(numbers.below(4)));
    }
    tokens
}

fn build<T: Diagrams>(d: &T, tokens: &[Token]) -> T::D {
    let mut stack: Vec<T::D> = Vec::new();
    for token in tokens {
        let top = match token {
            Token::Var(v) => d.var(*v),
            Token::Not => d.not(&stack.pop().unwrap()),
            Token::Binary(op) => {
                let (g, f) = (stack.pop().unwrap(), stack.pop().unwrap());
                match op {
                    0 => d.and(&f, &g),
                    1 => d.or(&f, &g),
                    2 => d.xor(&f, &g),
                    _ => d.implies(&f, &g),
                }
            }
        };
        stack.push(top);
    }
    stack.pop().unwrap()
}

#[test]
fn both_implementations_agree_on_random_formulas() {
    let mut numbers = Numbers::seeded(1);
    for round in 0..60 {
        let vars = 6 + round % 3;
        let (facade, oracle) = (Facade::with_vars(vars), Oracle::with_vars(vars));
        let formulas: Vec<Vec<Token>> = (0..3).map(|_| formula(&mut numbers, vars, 4 + round / 3)).collect();
        let ours: Vec<_> = formulas.iter().map(|t| build(&facade, t)).collect();
        let theirs: Vec<_> = formulas.iter().map(|t| build(&oracle, t)).collect();
        let tables: Vec<Table> = ours.iter().map(|f| Table::read(&facade, vars, f)).collect();
        for i in 0..3 {
            assert_eq!(Table::read(&oracle, vars, &theirs[i]), tables[i]);
            assert_eq!(facade.node_count(&ours[i]), oracle.node_count(&theirs[i]), "the diagrams are reduced");
            assert_eq!(facade.split_at(&ours[i], vars / 2).len(), oracle.split_at(&theirs[i], vars / 2).len());
            for (a, b) in facade.split_at(&ours[i], vars / 2).iter().zip(oracle.split_at(&theirs[i], vars / 2)) {
                assert_eq!(Table::read(&facade, vars, &a.0), Table::read(&oracle, vars, &b.0));
                assert_eq!(Table::read(&facade, vars, &a.1), Table::read(&oracle, vars, &b.1));
            }
        }
        let chosen: Vec<usize> = (0..vars).filter(|_| numbers.below(2) == 0).collect();
        let pairs: Vec<(usize, usize)> = (0..vars).map(|v| (v, numbers.below(vars))).collect();
        check_one(&facade, &ours[0], &tables[0]);
        check_one(&oracle, &theirs[0], &tables[0]);
        check_two(&facade, (&ours[0], &tables[0]), (&ours[1], &tables[1]), &chosen);
        check_two(&oracle, (&theirs[0], &tables[0]), (&theirs[1], &tables[1]), &chosen);
        let [a, b, c] = [0, 1, 2];
        check_three(&facade, [a, b, c].map(|i| (&ours[i], &tables[i])), &pairs);
        check_three(&oracle, [a, b, c].map(|i| (&theirs[i], &tables[i])), &pairs);
    }
}
