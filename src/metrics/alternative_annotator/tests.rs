use super::*;

fn item(llm: usize, people: &[usize]) -> Item {
    let people = (0..).zip(people.iter().copied()).collect();
    Item { llm: Some(llm), people }
}

#[test]
fn one_person_by_hand() {
    // Person 0 against the LLM, others 1 and 2, two items: on the first the LLM matches both others
    // and person 0 none, on the second both match one. Wins of the LLM 1, 1; of person 0: 0, 1.
    // Differences -1, 0: mean -.5, variance .5; t = (-.5 - .1) / sqrt(.5 / 2) = -1.2; one degree of
    // freedom: 1/2 + atan(-1.2) / pi = .2211421.
    let items = [item(1, &[0, 1, 1]), item(0, &[0, 0, 1])];
    let test = AltTest { epsilon: 0.1, least_items: 2, ..AltTest::default() };
    let against = test.run(&items).people[0];
    assert_eq!((against.items, against.llm_wins, against.person_wins), (2, 1.0, 0.5));
    assert!((against.p_value - 0.221_142_1).abs() < 1e-7, "{}", against.p_value);
}

#[test]
fn without_variance_the_mean_decides() {
    // The LLM and everybody always agree: differences 0, below any epsilon above 0.
    let items = vec![item(0, &[0, 0, 0]); 3];
    let test = AltTest { epsilon: 0.1, least_items: 3, ..AltTest::default() };
    let outcome = test.run(&items);
    assert_eq!((outcome.winning_rate, outcome.advantage), (Some(1.0), Some(1.0)));
    let strict = AltTest { epsilon: 0.0, ..test }.run(&items);
    assert_eq!(strict.winning_rate, Some(0.0));
}

#[test]
fn items_without_two_others_and_people_with_few_items_are_left_out() {
    let mut items = vec![item(0, &[0, 0, 0]); 2];
    items.push(item(0, &[0, 1]));
    items.push(Item { llm: None, people: vec![(0, 0), (1, 0), (2, 0)] });
    let test = AltTest { least_items: 2, ..AltTest::default() };
    let outcome = test.run(&items);
    assert!(outcome.people.iter().all(|against| against.items == 2));
    let outcome = AltTest { least_items: 3, ..test }.run(&items);
    assert_eq!((outcome.people.len(), outcome.left_out), (0, 3));
    assert_eq!((outcome.winning_rate, outcome.advantage), (None, None));
    assert_eq!(test.run(&[]).winning_rate, None);
}

#[test]
fn one_other_is_enough_where_that_is_asked_for() {
    // Two people: against each the other is the rest, as the authors count.
    let items = vec![item(0, &[0, 1]), item(1, &[0, 1]), item(1, &[1, 1])];
    let test = AltTest { least_items: 2, ..AltTest::default() };
    assert!(test.run(&items).people.is_empty());
    let found = AltTest { min_people: 2, ..test }.run(&items);
    // Against person 0 the rest says 1 1 1: the LLM matches 0 1 1, the person 0 0 1.
    let shares: Vec<_> =
        found.people.iter().map(|p| (p.items, p.llm_wins, p.person_wins)).collect();
    // Against person 1 it says 0 0 1: the LLM matches 1 0 1, the person 0 0 1.
    assert_eq!(shares, [(3, 1.0, 2.0 / 3.0), (3, 1.0, 2.0 / 3.0)]);
}

#[test]
fn numbers_are_compared_by_how_far_they_are() {
    // Others 1 and 3 (values 1, 4): the LLM's 2 has errors 1 and 2, person 0's label 0 has 1 and 4.
    let values = [0.0, 1.0, 2.0, 4.0];
    let items = vec![item(2, &[0, 1, 3]); 2];
    let test = AltTest { least_items: 2, values: Some(&values), ..AltTest::default() };
    let person = test.run(&items).people[0];
    assert_eq!((person.llm_wins, person.person_wins), (1.0, 0.0));
}

#[test]
fn distances_that_are_equal_on_paper_tie() {
    // The other says .3: the LLM's .1 and the person's .5 are both .2 from it.
    let values = [0.1, 0.3, 0.5];
    let items = vec![item(0, &[2, 1]); 2];
    let test =
        AltTest { least_items: 2, min_people: 2, values: Some(&values), ..AltTest::default() };
    let person = test.run(&items).people[0];
    assert_eq!((person.llm_wins, person.person_wins), (1.0, 1.0));
}

#[test]
fn benjamini_and_yekutieli_by_hand() {
    // m = 3, harmonic sum 11/6, rate .05: bounds .05 / 5.5 = .00909, .01818, .02727. The largest
    // p-value within its bound is the third, so all are rejected although .01 > .00909.
    assert_eq!(benjamini_yekutieli(&[0.027, 0.01, 0.018], 0.05), [true, true, true]);
    assert_eq!(benjamini_yekutieli(&[0.028, 0.01, 0.019], 0.05), [false, false, false]);
    assert_eq!(benjamini_yekutieli(&[0.5, 0.009, 0.019], 0.05), [false, true, false]);
    assert!(benjamini_yekutieli(&[], 0.05).is_empty());
}
