//! Thread-transition systems and Petri nets as text: what is read, and what is wrong where.

use selvedge_frontend::diagnostic::Diagnostic;
use selvedge_frontend::spec::{Change, Net, Tokens, load_net};
use selvedge_frontend::{spec, tts};
use selvedge_ir::tts::{Cover, Rule, Start, Tts};

fn rule(shared: usize, local: usize, shared_after: usize, after: &[usize]) -> Rule {
    let after = after.iter().map(|local| (*local).into()).collect();
    let (shared, shared_after) = (shared.into(), shared_after.into());
    Rule { shared, local: local.into(), shared_after, after, goes_on: true, transfers: Vec::new() }
}

#[test]
fn lines_are_rules_and_targets() {
    let text = "# a system\n2 3 # sizes\n\n0 0 +> 1 2\r\n1 2->0 1\n1|2,0 # together\n";
    let read = tts::load(text);
    let expected = Tts {
        n_shared: 2,
        n_local: 3,
        rules: [rule(0, 0, 1, &[0, 2]), rule(1, 2, 0, &[1])].into_iter().collect(),
        starts: vec![Start { shared: 0.into(), threads: vec![0.into()], any: vec![] }],
        targets: vec![Cover { shared: 1.into(), threads: vec![0.into(), 2.into()] }],
    };
    assert_eq!((read.tts(), &read.diagnostics), (Some(&expected), &vec![]));
}

#[test]
fn transfers_are_behind_a_rule_or_a_rule_of_their_own() {
    let text = "1 4\n0 1 -> 0 2 3 ~> 1 0 ~> 0 0 ~> 3 2 ~> 2\n0 0 ~> 0 3\n";
    let read = tts::load(text);
    assert_eq!(read.diagnostics, []);
    let with = |rule: Rule, transfers: &[(usize, &[usize])]| {
        let list = |to: &[usize]| to.iter().map(|to| (*to).into()).collect();
        Rule { transfers: transfers.iter().map(|(from, to)| ((*from).into(), list(to))).collect(), ..rule }
    };
    // Threads are in 0 at first and come to 1, 2 and 3.
    let all = |local: usize, after: usize| with(rule(0, local, 0, &[after]), &[(0, &[3])]);
    let expected = [with(rule(0, 1, 0, &[2]), &[(0, &[0, 3]), (3, &[1])]), all(0, 3), all(1, 1), all(2, 2), all(3, 3)];
    assert_eq!(read.tts().expect("it has no errors").rules.as_raw_slice(), expected);
}

/// The first finding: its code, and the text at its place.
fn found(text: &str, diagnostics: &[Diagnostic]) -> (String, String) {
    let first = diagnostics.first().unwrap_or_else(|| panic!("nothing is wrong with:\n{text}"));
    (first.code.as_str().to_string(), first.primary.span.of(text).to_string())
}

#[test]
fn wrong_lines_of_systems_are_found_at_their_place() {
    for (text, code, place) in [
        ("", "SV0003", ""),
        ("2\n", "SV0003", "2"),
        ("0 3\n", "SV0010", "0"),
        ("2 99999999999999999999\n", "SV0010", "99999999999999999999"),
        ("2 3\n0 0 -> 2 1\n", "SV0010", "2"),
        ("2 3\n0 3 +> 1 1\n", "SV0010", "3"),
        ("2 3\n0 0 - 1 1\n", "SV0003", "0 0 - 1 1"),
        ("2 3\n0 a -> 1 1\n", "SV0003", "a"),
        ("2 3\n0 0 -> 1 1 2\n", "SV0003", "2"),
        ("2 3\n0 0 -> 1 1 2 -> 1\n", "SV0003", "2 -> 1"),
        ("2 3\n0 0 -> 1 1 2 ~> 3\n", "SV0010", "3"),
        ("2 3\n0 0 +> 1 1 2 ~> 1\n", "SV0003", "0 0 +> 1 1 2 ~> 1"),
        ("2 3\n0 0 ~> 1 3\n", "SV0010", "3"),
        ("2 3\n0|\n", "SV0003", "0|"),
        ("2 3\n0|1,\n", "SV0003", "0|1,"),
        ("2 3\n0|1,3\n", "SV0010", "3"),
    ] {
        let read = tts::load(text);
        assert_eq!(found(text, &read.diagnostics), (code.to_string(), place.to_string()), "{text}");
        assert!(read.tts().is_none() && read.program.is_none());
    }
}

#[test]
fn a_net_has_places_rules_tokens_and_targets() {
    let text = "vars\n x y\nrules\n y >= 2 ->\n x' = x - 3, y' = y;\n true -> y' = y + 1;\n\
     init x = 4, y >= 1\n\
                target\n x >= 1, y >= 1\n y >= 5\ninvariants\n x = 1, y = 1\n";
    let expected = Net {
        places: vec!["x".to_string(), "y".to_string()],
        rules: vec![
            Change { needs: vec![(1, 2), (0, 3)], puts: vec![(0, -3)], transfers: vec![] },
            Change { needs: vec![], puts: vec![(1, 1)], transfers: vec![] },
        ],
        initial: vec![Tokens::Exactly(4), Tokens::AtLeast(1)],
        targets: vec![vec![(0, 1), (1, 1)], vec![(1, 5)]],
    };
    assert_eq!(load_net(text), Some(expected));
}

#[test]
fn tokens_of_a_place_go_to_another_one_or_nowhere() {
    let text = "vars a b c\nrules\n a >= 1 -> a' = 0, b' = b + a - 1, c' = 2;\n b >= 1 -> b' = c + 3, c' = b;\n\
                init a = 1, b = 0, c = 0\ntarget b >= 1\n";
    let net = load_net(text).expect("it has no errors");
    let expected = [
        Change { needs: vec![(0, 1)], puts: vec![(1, -1), (2, 2)], transfers: vec![(0, Some(1)), (2, None)] },
        Change { needs: vec![(1, 1)], puts: vec![(1, 3)], transfers: vec![(1, Some(2)), (2, Some(1))] },
    ];
    assert_eq!(net.rules, expected);
}

#[test]
fn wrong_parts_of_nets_are_found_at_their_place() {
    let net =
        |rules: &str, init: &str, target: &str| format!("vars x y\nrules\n{rules}\ninit {init}\ntarget {target}\n");
    let fine = ("x >= 1 -> y' = y + 1;", "x = 1, y = 0", "y >= 1");
    assert_eq!(spec::load(&net(fine.0, fine.1, fine.2)).diagnostics, []);
    for (text, code, place) in [
        (net("x >= 1 -> x' = y + 1;", fine.1, fine.2), "SV0028", "x' = y + 1"),
        (net("x >= 1 -> x' = x + y;", fine.1, fine.2), "SV0028", "x' = x + y"),
        (net("x >= 1 -> x' = y, y' = y;", fine.1, fine.2), "SV0028", "y' = y"),
        (net("x >= 1 -> x' = x + x;", fine.1, fine.2), "SV0028", "x' = x + x"),
        (net("x >= 1 -> x' = x - y;", fine.1, fine.2), "SV0003", "y"),
        (net("x = 0 -> y' = y + 1;", fine.1, fine.2), "SV0028", "x = 0"),
        (net("z >= 1 -> y' = y + 1;", fine.1, fine.2), "SV0012", "z"),
        (net("x >= 1 -> y' = y + 1, y' = y - 1;", fine.1, fine.2), "SV0024", "1"),
        (net("x >= 99999 -> y' = y + 1;", fine.1, fine.2), "SV0010", "99999"),
        (net(fine.0, fine.1, "y = 1"), "SV0028", "y = 1"),
        (net(fine.0, "x = 1, x = 2, y = 0", fine.2), "SV0024", "x = 2"),
        (net(fine.0, "x = 1", fine.2), "SV0003", ""),
        (net("x >= 4, x >= 2 -> y' = y + 1;", fine.1, fine.2), "SV0024", "x >= 2"),
        (net("x >= 4, x in [0, 2] -> y' = y + 1;", fine.1, fine.2), "SV0028", "x in"),
        (net("x >= 1 -> x' = x - 2;", fine.1, fine.2), "SV0010", "x' = x - 2"),
        (net(fine.0, fine.1, "y >= 2, x >= 1, y >= 2"), "SV0024", "y >= 2"),
        (net(fine.0, fine.1, "y >= 1\ninvariants x = 1, y = 1, x = 1"), "SV0024", "x = 1"),
        (net(fine.0, fine.1, "y >= 1\nrules"), "SV0003", "rules"),
        ("vars x x\n".to_string(), "SV0017", "x"),
        ("places x\n".to_string(), "SV0003", "places"),
        (String::new(), "SV0003", ""),
    ] {
        let read = spec::load(&text);
        assert_eq!(found(&text, &read.diagnostics), (code.to_string(), place.to_string()), "{text}");
        assert!(read.tts().is_none());
    }
}
