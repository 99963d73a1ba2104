//! Other threads that a rule transfers: what they become, what they were, and a choice for each of them.

use selvedge_check::{Run, Stop};
use selvedge_ir::tts::{LocalId, Rule, RuleId, TtsStep};

use super::Vector;

/// Returns all lists of states, in ascending order, that threads can have after another one has taken a rule.
pub(super) fn lists_after(rule: &Rule, threads: &[LocalId], run: &Run<'_>) -> Result<Vec<Vec<LocalId>>, Stop> {
    let mut lists: Vec<Vec<LocalId>> = vec![Vec::new()];
    for local in threads {
        let mut longer = Vec::new();
        for list in &lists {
            run.tick()?;
            for way in rule.ways(local) {
                let mut list = list.clone();
                list.insert(list.partition_point(|other| other < way), *way);
                longer.push(list);
            }
        }
        longer.sort_unstable();
        longer.dedup();
        lists = longer;
    }
    Ok(lists)
}

/// Returns configurations from which a rule leads above some threads, and whether it puts one of these. All from which
/// it does are above one of the configurations: the threads that the rule does not put were others before, each in one
/// of the states whose threads may go where it is.
pub(super) fn before(rule: &Rule, threads: &Vector, run: &Run<'_>) -> Result<(Vec<Vector>, bool), Stop> {
    let mut left = threads.clone();
    let mut puts = false;
    for local in &rule.after {
        puts |= left.remove(*local);
    }
    Ok((origins(&rule.transfers, &left, &Vector::of(&[rule.local]), run)?, puts))
}

/// Returns the least configurations with some threads and others that become those of a list by transfers.
pub(super) fn origins(
    transfers: &[(LocalId, Vec<LocalId>)],
    list: &Vector,
    with: &Vector,
    run: &Run<'_>,
) -> Result<Vec<Vector>, Stop> {
    let mut all = vec![with.clone()];
    for (local, count) in list.counts() {
        let stays = transfers.iter().all(|(from, _)| from != local).then_some(*local);
        let moved = transfers.iter().filter(|(_, to)| to.contains(local)).map(|(from, _)| *from);
        let origins: Vec<LocalId> = stays.into_iter().chain(moved).collect();
        if let [origin] = origins[..] {
            all.iter_mut().for_each(|before| before.add_many(origin, *count));
            continue;
        }
        for _ in 0..*count {
            let mut longer = Vec::new();
            for before in &all {
                run.tick()?;
                for origin in &origins {
                    let mut before = before.clone();
                    before.add(*origin);
                    longer.push(before);
                }
            }
            longer.sort_unstable();
            longer.dedup();
            all = longer;
        }
    }
    all.sort_unstable();
    Ok(all)
}

/// Returns the step of a thread by which some other threads, given by their numbers, become at least those of `wanted`.
///
/// # Panics
///
/// If they cannot.
pub(super) fn step(
    (id, rule): (RuleId, &Rule),
    now: &[Option<LocalId>],
    mover: usize,
    others: &[usize],
    wanted: &[LocalId],
) -> TtsStep {
    let mut transferred = Vec::new();
    if !rule.transfers.is_empty() {
        let states: Vec<LocalId> = others.iter().filter_map(|thread| now[*thread]).collect();
        let ways = choose(rule, &states, wanted).expect("the threads can become these");
        for (thread, local) in now.iter().enumerate().filter(|(thread, _)| *thread != mover) {
            let Some(local) = local.as_ref().filter(|local| rule.transfers(**local)) else { continue };
            let place = others.iter().position(|other| *other == thread);
            transferred.push(place.map_or(rule.ways(local)[0], |place| ways[place]));
        }
    }
    TtsStep { thread: mover, rule: id, transferred }
}

/// Chooses new states of threads such that those of `wanted` are among them; `None` if that is not possible. Each
/// wanted state is given to a thread; where all threads that can have it have been given others, one of these is given
/// another one, again and again (an augmenting path of a bipartite matching).
fn choose(rule: &Rule, threads: &[LocalId], wanted: &[LocalId]) -> Option<Vec<LocalId>> {
    let mut given: Vec<Option<usize>> = vec![None; threads.len()];
    for number in 0..wanted.len() {
        let mut tried = vec![false; threads.len()];
        if !give(rule, (threads, wanted), number, &mut given, &mut tried) {
            return None;
        }
    }
    let states = threads.iter().zip(given);
    Some(states.map(|(local, given)| given.map_or(rule.ways(local)[0], |number| wanted[number])).collect())
}

fn give(
    rule: &Rule,
    (threads, wanted): (&[LocalId], &[LocalId]),
    number: usize,
    given: &mut [Option<usize>],
    tried: &mut [bool],
) -> bool {
    for thread in 0..threads.len() {
        if tried[thread] || !rule.ways(&threads[thread]).contains(&wanted[number]) {
            continue;
        }
        tried[thread] = true;
        let is_free = match given[thread] {
            None => true,
            Some(other) => give(rule, (threads, wanted), other, given, tried),
        };
        if is_free {
            given[thread] = Some(number);
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locals(list: &[usize]) -> Vec<LocalId> {
        list.iter().map(|local| LocalId::from(*local)).collect()
    }

    /// Threads in 0 go to 1 or 2, those in 1 to 2.
    fn rule() -> Rule {
        Rule {
            shared: 0.into(),
            local: 3.into(),
            shared_after: 1.into(),
            after: locals(&[3]),
            goes_on: true,
            transfers: vec![(0.into(), locals(&[1, 2])), (1.into(), locals(&[2]))],
        }
    }

    #[test]
    fn lists_after_a_rule_have_all_choices_once() {
        let lists = lists_after(&rule(), &locals(&[0, 0, 1, 3]), &Run::unlimited()).expect("nothing stops it");
        assert_eq!(lists, [locals(&[1, 1, 2, 3]), locals(&[1, 2, 2, 3]), locals(&[2, 2, 2, 3])]);
    }

    #[test]
    fn configurations_before_a_rule_are_those_of_which_some_choice_leads_there() {
        let before = |threads: &[usize]| {
            let (all, puts) =
                before(&rule(), &Vector::of(&locals(threads)), &Run::unlimited()).expect("nothing stops it");
            let mut all: Vec<_> = all.iter().map(|one| one.threads()).collect();
            all.sort();
            (all, puts)
        };
        assert_eq!(before(&[1, 2]), (vec![locals(&[0, 0, 3]), locals(&[0, 1, 3]), locals(&[0, 2, 3])], false));
        assert_eq!(before(&[3, 3]), (vec![locals(&[3, 3])], true));
        assert_eq!(before(&[0]), (vec![], false));
    }

    #[test]
    fn threads_are_transferred_so_that_all_that_is_wanted_is_there() {
        let now: Vec<Option<LocalId>> = locals(&[0, 3, 1, 0]).into_iter().map(Some).collect();
        let rule = rule();
        let taken = step((7.into(), &rule), &now, 1, &[0, 2, 3], &locals(&[2, 2, 1]));
        assert_eq!(taken.transferred.len(), 3);
        let mut after = now.clone();
        rule.apply(&mut after, &taken).expect("the step applies");
        let mut after: Vec<LocalId> = after.into_iter().flatten().collect();
        after.sort_unstable();
        assert_eq!(after, locals(&[1, 2, 2, 3]));
        assert_eq!(choose(&rule, &locals(&[0, 1]), &locals(&[1, 1])), None);
    }
}
