//! Which mechanisms a run scores with: those asked for, or those that fit the crowd.

use super::LabelsSettings;
use crate::data::Labels;
use crate::data::labels::Label;
use crate::data::warning::Warning;
use crate::mechanism::MechanismName;

/// Fewer workers than this give no scale of what people answer.
pub(super) const ENOUGH_WORKERS: usize = 10;

/// The mechanisms of a run.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Choice {
    /// In the order of the table.
    pub(super) names: Vec<MechanismName>,
    /// Which were chosen and why, if none was asked for.
    pub(super) sentence: Option<String>,
    /// That own was asked for in a crowd that is too small for it.
    pub(super) warning: Option<Warning>,
}

/// Chooses the mechanisms for a set: own where the crowd gives it a scale, and the paper's.
pub(super) fn choose(set: &Labels, settings: &LabelsSettings) -> Choice {
    let judged = judged(set, settings.min_tasks);
    let needed = format!(
        "{ENOUGH_WORKERS} workers with at least {} tasks that the LLM and somebody else labelled",
        settings.min_tasks
    );
    if !settings.mechanism.is_empty() {
        let small = settings.mechanism.contains(&MechanismName::Own) && judged < ENOUGH_WORKERS;
        let message = format!(
            "own tells own answers by a scale made of this crowd, which takes {needed} (there are \
             {judged}): copiers can be clear and people flagged; trust ca_z instead"
        );
        let warning = small.then(|| Warning::new("own_small_crowd", judged, message));
        return Choice { names: settings.mechanism.clone(), sentence: None, warning };
    }
    let (names, sentence) = if judged < ENOUGH_WORKERS {
        let sentence = format!(
            "Mechanism ca_z alone, because own, which says what a worker's answers read as, needs \
             {needed} (there are {judged})."
        );
        (vec![MechanismName::CaZ], sentence)
    } else {
        let sentence = format!(
            "Mechanism own, because {judged} workers have at least {} tasks that the LLM and \
             somebody else labelled; ca_z, the paper's score, beside it.",
            settings.min_tasks
        );
        (vec![MechanismName::Own, MechanismName::CaZ], sentence)
    };
    Choice { names, sentence: Some(sentence), warning: None }
}

/// Workers with enough tasks that the first LLM and somebody else labelled.
fn judged(set: &Labels, min_tasks: usize) -> usize {
    let Some(source) = set.z.sources.first() else { return 0 };
    let z: Vec<Option<Label>> = source.conditioning();
    let counts = |task: u32| z[task as usize].is_some() && set.table.of_task(task).len() > 1;
    let tasks = set.table.count_of_workers(counts);
    tasks.into_iter().filter(|&tasks| tasks >= min_tasks.max(2)).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{LabelRow, ZLabelRow};

    /// `workers` people label `tasks` tasks of which the LLM labels the first `with_z`.
    fn crowd(workers: usize, tasks: usize, with_z: usize) -> Labels {
        let rows = (0..tasks).flat_map(|task| {
            (0..workers).map(move |worker| {
                let label = if (task + worker) % 3 == 0 { "x" } else { "y" };
                LabelRow::new(format!("q{task}"), format!("w{worker}"), label)
            })
        });
        let z = (0..with_z).map(|task| ZLabelRow::new(format!("q{task}"), "x"));
        Labels::from_rows(rows, z).unwrap()
    }

    #[test]
    fn own_is_chosen_where_enough_workers_can_be_judged_and_else_what_is_missing_is_said() {
        let settings = LabelsSettings::default();
        let enough = choose(&crowd(10, 10, 10), &settings);
        assert_eq!(enough.names, [MechanismName::Own, MechanismName::CaZ]);
        assert!(enough.sentence.unwrap().starts_with("Mechanism own, because 10 workers"));
        for small in [crowd(9, 10, 10), crowd(10, 9, 9), crowd(10, 10, 9), crowd(10, 10, 0)] {
            let choice = choose(&small, &settings);
            assert_eq!(choice.names, [MechanismName::CaZ]);
            let sentence = choice.sentence.unwrap();
            assert!(sentence.contains("needs 10 workers with at least 10 tasks"), "{sentence}");
            assert_eq!(choice.warning, None);
        }
    }

    #[test]
    fn what_is_asked_for_is_given_and_own_in_a_small_crowd_is_warned_of() {
        let mechanism = vec![MechanismName::Own];
        let settings = LabelsSettings { mechanism: mechanism.clone(), ..LabelsSettings::default() };
        let choice = choose(&crowd(9, 10, 10), &settings);
        assert_eq!((choice.names, choice.sentence), (mechanism, None));
        assert_eq!(choice.warning.map(|w| (w.code, w.count)), Some(("own_small_crowd", 9)));
        assert_eq!(choose(&crowd(10, 10, 10), &settings).warning, None);
    }
}
