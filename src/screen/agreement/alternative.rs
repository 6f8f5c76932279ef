//! The alternative annotator test of every source against the people behind gold.

use std::collections::BTreeMap;

use super::error::AgreementError;
use super::settings::{AltTestSettings, Closeness};
use super::work::{Row, Work, labels_of};
use crate::metrics::alternative_annotator::{AltTest, Item, Outcome};

/// The test of one source.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AltResult {
    /// The source.
    pub source: String,
    /// The outcome; people are numbers of [`Self::people`].
    pub outcome: Outcome,
    /// Names of the people.
    pub people: Vec<String>,
}

impl AltResult {
    /// People against whom the test does not reject: the source is not shown to be as good.
    pub(crate) fn fails_for(&self) -> Vec<&str> {
        let people = self.outcome.people.iter().filter(|against| !against.rejected);
        people.map(|against| self.people[against.person as usize].as_str()).collect()
    }
}

/// Runs the test for every source, on the scale as given.
#[expect(clippy::cast_possible_truncation, reason = "fewer than 2^32 people")]
pub(super) fn alternatives(
    work: &Work<'_>,
    settings: &AltTestSettings,
) -> Result<(Vec<Row>, Vec<AltResult>), AgreementError> {
    let people = &work.data.gold;
    if people.len() < settings.min_people {
        let (people, needed) = (people.len(), settings.min_people);
        return Err(AgreementError::FewPeople { people, needed });
    }
    let values = match (settings.closeness, &work.scale.values) {
        (Closeness::Match, _) => None,
        (Closeness::Distance, Some(values)) => Some(values.as_slice()),
        (Closeness::Distance, None) => {
            return Err(AgreementError::NoNumbers { what: "the distance of labels" });
        }
    };
    let names: Vec<String> = people.iter().map(|person| person.name.clone()).collect();
    let mut by_people: BTreeMap<u32, Vec<(u32, usize)>> = BTreeMap::new();
    for (number, person) in people.iter().enumerate() {
        for (task, label) in labels_of(work.scale, person) {
            by_people.entry(task).or_default().push((number as u32, label));
        }
    }
    let test = AltTest {
        epsilon: settings.epsilon,
        least_items: settings.least_items,
        min_people: settings.min_people,
        false_discovery_rate: settings.false_discovery_rate,
        values,
    };
    let (mut rows, mut results) = (Vec::new(), Vec::new());
    for source in &work.data.labellers {
        let items: Vec<Item> = by_people
            .iter()
            .map(|(&task, people)| Item {
                llm: source.label(task).and_then(|text| work.scale.label(text)),
                people: people.clone(),
            })
            .collect();
        let outcome = test.run(&items);
        let used: usize = outcome.people.iter().map(|against| against.items).sum();
        let whole = |metric: &str| Row::new(&source.name, "people", metric, used as u64);
        rows.push(whole("omega").with(outcome.winning_rate));
        rows.push(whole("rho").with(outcome.advantage));
        for against in &outcome.people {
            let name = &names[against.person as usize];
            let row = |metric: &str| Row::new(&source.name, name, metric, against.items as u64);
            rows.push(row("rho").with(Some(against.llm_wins)));
            rows.push(row("p_alt_test").with(Some(against.p_value)));
            rows.push(row("rejected").with(Some(f64::from(u8::from(against.rejected)))));
        }
        results.push(AltResult { source: source.name.clone(), outcome, people: names.clone() });
    }
    Ok((rows, results))
}
