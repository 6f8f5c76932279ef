//! The venues in which `own` is tried, by name.

use serde::{Deserialize, Serialize};

use super::venues::{CalibrationSettings, Handed};

words! {
    /// What is varied in a group of scenarios.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
    #[serde(rename_all = "snake_case")]
    pub(crate) enum ScenarioGroup {
        /// Papers each, with every way to have Z, with cheaters and without.
        Papers = "papers",
        /// What cheaters hand in, one kind a venue.
        Kinds = "kinds",
        /// How honest people write.
        Honest = "honest",
        /// How many cheat.
        Share = "share",
        /// How many sources are Z, on how many papers, and how many peers there are.
        Z = "z",
        /// How many papers the venue has.
        Size = "size",
        /// One review a person: the measure of detectors of LLM text.
        Single = "single",
        /// Who cheats does so on one or two of three papers.
        Sometimes = "sometimes",
        /// How long reviews are.
        Words = "words",
        /// How much the reviews of one person are alike.
        Alike = "alike",
        /// Co-workers who hand in words in no order.
        Junk = "junk",
        /// The people of the files, with the papers they have there.
        People = "people",
    }
}

/// One kind of venue.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scenario {
    /// What is varied.
    pub group: ScenarioGroup,
    /// What is special about it.
    pub name: String,
    /// The venues.
    pub settings: CalibrationSettings,
}

/// Papers each as in venues as they are: 1 to 4, mean 2.3.
const MIX: [usize; 9] = [1, 1, 1, 2, 2, 3, 3, 4, 4];

/// Cheaters of three kinds.
const THREE_KINDS: [Handed; 3] = [Handed::Llm, Handed::OffTopic, Handed::OffTopicLlm];

/// Share of each of them where not many cheat.
const FEW: f64 = 0.05;

/// Share of the cheaters where one kind is alone.
const ONE_KIND: f64 = 0.15;

/// A venue and what is special about it.
type Named = (String, CalibrationSettings);

/// The scenarios of a group, made of `base`: venues of three papers each in which nobody cheats and
/// all sources are Z. Those that need another source than Z are left out where there is one alone.
pub(crate) fn scenarios(group: ScenarioGroup, base: &CalibrationSettings) -> Vec<Scenario> {
    let named = match group {
        ScenarioGroup::Papers => papers(base),
        ScenarioGroup::Kinds => kinds(base),
        ScenarioGroup::Honest => honest(base),
        ScenarioGroup::Share => share(base),
        ScenarioGroup::Z => z(base),
        ScenarioGroup::Size => size(base),
        ScenarioGroup::Single => single(base),
        ScenarioGroup::Sometimes => sometimes(base),
        ScenarioGroup::Words => words(base),
        ScenarioGroup::Alike => alike(base),
        ScenarioGroup::Junk => junk(base),
        ScenarioGroup::People => people(base),
    };
    named.into_iter().map(|(name, settings)| Scenario { group, name, settings }).collect()
}

fn each(base: &CalibrationSettings, papers: usize) -> CalibrationSettings {
    CalibrationSettings { papers_each: vec![papers], ..base.clone() }
}

/// Cheaters, whose texts are not in Z.
fn cheating(base: &CalibrationSettings, shares: &[(Handed, f64)]) -> CalibrationSettings {
    CalibrationSettings { shares: shares.to_vec(), leave_out: true, ..base.clone() }
}

/// The three kinds with a share each.
fn three_kinds(share: f64) -> Vec<(Handed, f64)> {
    THREE_KINDS.iter().map(|&kind| (kind, share)).collect()
}

fn papers(base: &CalibrationSettings) -> Vec<Named> {
    let mut found = Vec::new();
    let counts = [1, 2, 3, 5, 8].map(|count| (count.to_string(), vec![count]));
    for (count, papers_each) in counts.into_iter().chain([("mix".into(), MIX.to_vec())]) {
        let base = CalibrationSettings { papers_each, ..base.clone() };
        for (name, settings) in every_z(&base) {
            let shares = three_kinds(FEW);
            let settings = CalibrationSettings { shares, ..settings };
            found.push((format!("{count} papers, {name}"), settings));
        }
        let clean = clean_z(&base).into_iter();
        found.extend(clean.map(|(name, of)| (format!("{count} papers, {name}, clean"), of)));
    }
    found
}

fn kinds(base: &CalibrationSettings) -> Vec<Named> {
    let mut found = Vec::new();
    for count in [1, 3] {
        for kind in [
            Handed::Llm,
            Handed::Reworded,
            Handed::Shortened,
            Handed::Half,
            Handed::Blended,
            Handed::OffTopic,
            Handed::OffTopicLlm,
            Handed::Praise,
            Handed::Peer,
        ] {
            let settings = cheating(&each(base, count), &[(kind, ONE_KIND)]);
            found.push((format!("{count} papers, {}", kind.as_str()), settings));
        }
    }
    found
}

fn honest(base: &CalibrationSettings) -> Vec<Named> {
    let mut found = Vec::new();
    for count in [1, 3] {
        for kind in [Handed::OwnShort, Handed::OwnFormal, Handed::OwnPolished] {
            let name = |more: &str| format!("{count} papers, {}, {more}", kind.as_str());
            let honest = [(kind, 0.2)];
            found.push((name("clean"), cheating(&each(base, count), &honest)));
            let all = [&honest, &three_kinds(FEW)[..]].concat();
            found.push((name("with cheaters"), cheating(&each(base, count), &all)));
        }
    }
    found
}

fn share(base: &CalibrationSettings) -> Vec<Named> {
    let mut found = Vec::new();
    for share in [0.05, 0.1, 0.2, 0.3, 0.45, 0.6] {
        let name = |kinds: &str| format!("{:.0} % cheat, {kinds}", 100.0 * share);
        found.push((name("llm alone"), cheating(base, &[(Handed::Llm, share)])));
        found.push((name("three kinds"), cheating(base, &three_kinds(share / 3.0))));
    }
    found
}

fn z(base: &CalibrationSettings) -> Vec<Named> {
    let mut found = Vec::new();
    let cheaters = CalibrationSettings { shares: three_kinds(FEW), ..base.clone() };
    if let Some((first, others)) = base.z_sources.split_first() {
        for count in 1..=others.len() {
            let z_sources = others[..count].to_vec();
            let handed_sources = vec![*first];
            let settings = CalibrationSettings { z_sources, handed_sources, ..cheaters.clone() };
            found.push((format!("{count} Z per paper, text not in Z"), settings));
        }
    }
    let cheaters = CalibrationSettings { leave_out: true, ..cheaters };
    for coverage in [0.9, 0.75, 0.6] {
        let settings = CalibrationSettings { z_coverage: coverage, ..cheaters.clone() };
        found.push((format!("Z on {:.0} % of the papers", 100.0 * coverage), settings));
    }
    found.push(("one peer".into(), CalibrationSettings { reviews_per_paper: 2, ..cheaters }));
    found
}

fn size(base: &CalibrationSettings) -> Vec<Named> {
    let mut found = Vec::new();
    for papers in [12, 25, 50] {
        let few = base.papers.iter().copied().take(papers).collect();
        let base = CalibrationSettings { papers: few, ..base.clone() };
        for count in [1, 3] {
            let name = format!("{papers} papers in all, {count} papers");
            found.push((name.clone(), cheating(&each(&base, count), &three_kinds(FEW))));
            found.push((format!("{name}, clean"), each(&base, count)));
        }
    }
    found
}

fn single(base: &CalibrationSettings) -> Vec<Named> {
    let mut found = Vec::new();
    for (name, settings) in every_z(&each(base, 1)) {
        for kind in [Handed::Llm, Handed::Reworded, Handed::Shortened] {
            let shares = vec![(kind, ONE_KIND)];
            let settings = CalibrationSettings { shares, ..settings.clone() };
            found.push((format!("{}, {name}", kind.as_str()), settings));
        }
        let shares = vec![(Handed::OwnPolished, 0.3), (Handed::Llm, 0.2)];
        let settings = CalibrationSettings { shares, ..settings };
        found.push((format!("polished and llm, {name}"), settings));
    }
    found
}

/// Of the ways to have Z all Z and the first alone.
fn all_and_one(ways: Vec<Named>) -> impl Iterator<Item = Named> {
    let kept = |name: &str| name.starts_with("all Z") || name.starts_with("Z 1 alone");
    ways.into_iter().filter(move |(name, _)| kept(name))
}

fn sometimes(base: &CalibrationSettings) -> Vec<Named> {
    let mut found = Vec::new();
    for count in [1, 2] {
        for (name, settings) in all_and_one(every_z(base)) {
            let settings = CalibrationSettings {
                cheat_on: Some(count),
                shares: vec![(Handed::Llm, ONE_KIND)],
                ..settings
            };
            found.push((format!("{count} of 3 papers, {name}"), settings));
        }
    }
    found
}

fn words(base: &CalibrationSettings) -> Vec<Named> {
    let mut found = Vec::new();
    for words in [20, 40, 60, 120] {
        let base = CalibrationSettings { words: Some(words), ..each(base, 1) };
        for (name, settings) in all_and_one(every_z(&base)) {
            let shares = vec![(Handed::Llm, ONE_KIND)];
            found.push((
                format!("{words} words, {name}"),
                CalibrationSettings { shares, ..settings },
            ));
        }
        let clean = all_and_one(clean_z(&base));
        found.extend(clean.map(|(name, of)| (format!("{words} words, {name}, clean"), of)));
    }
    found
}

fn alike(base: &CalibrationSettings) -> Vec<Named> {
    let mut found = Vec::new();
    for likeness in [0.0, 0.3, 0.6] {
        let base = CalibrationSettings { likeness, ..base.clone() };
        for (name, settings) in all_and_one(every_z(&base)) {
            let shares = three_kinds(FEW);
            found.push((
                format!("alike {likeness}, {name}"),
                CalibrationSettings { shares, ..settings },
            ));
        }
        let clean = all_and_one(clean_z(&base));
        found.extend(clean.map(|(name, of)| (format!("alike {likeness}, {name}, clean"), of)));
    }
    found
}

fn junk(base: &CalibrationSettings) -> Vec<Named> {
    let mut found = Vec::new();
    for count in [1, 3] {
        for (name, settings) in all_and_one(clean_z(&each(base, count))) {
            let shares = vec![(Handed::Junk, 0.1)];
            found.push((
                format!("{count} papers, {name}"),
                CalibrationSettings { shares, ..settings },
            ));
        }
    }
    found
}

fn people(base: &CalibrationSettings) -> Vec<Named> {
    let base = CalibrationSettings { people_of_files: true, ..base.clone() };
    let mut found: Vec<Named> = all_and_one(clean_z(&base)).collect();
    found.iter_mut().for_each(|(name, _)| name.push_str(", clean"));
    for share in [0.1, 0.3] {
        for (name, settings) in all_and_one(every_z(&base)) {
            let shares = vec![(Handed::Llm, share)];
            let name = format!("{:.0} % cheat, {name}", 100.0 * share);
            found.push((name, CalibrationSettings { shares, ..settings }));
        }
    }
    found
}

/// Every way to have Z, and what cheaters hand in.
fn every_z(base: &CalibrationSettings) -> Vec<Named> {
    let all = &base.z_sources;
    let mut ways = vec![("all Z, word for word".to_owned(), base.clone())];
    if all.len() > 1 {
        let settings = CalibrationSettings { leave_out: true, ..base.clone() };
        ways.push(("all Z, text not in Z".into(), settings));
    }
    for (position, &z) in all.iter().enumerate() {
        let others: Vec<u32> = all.iter().copied().filter(|&other| other != z).collect();
        let name = |what| format!("Z {} alone, {what}", position + 1);
        let with = |handed_sources| CalibrationSettings {
            z_sources: vec![z],
            handed_sources,
            ..base.clone()
        };
        if all.len() > 1 {
            ways.push((name("word for word"), with(vec![z])));
            ways.push((name("text not in Z"), with(others)));
        }
    }
    ways
}

/// Every way to have Z where nobody cheats.
fn clean_z(base: &CalibrationSettings) -> Vec<Named> {
    let ways = every_z(base).into_iter();
    let ways = ways.filter(|(name, _)| name.ends_with("word for word"));
    ways.map(|(name, settings)| (name.replace(", word for word", ""), settings)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::reviews::tests::real;

    #[test]
    fn every_group_has_scenarios_of_different_names_and_shares_below_one() {
        let base = CalibrationSettings::clean(&real(12, 4));
        for group in ScenarioGroup::EACH {
            let all = scenarios(group, &base);
            let mut names: Vec<&str> = all.iter().map(|scenario| scenario.name.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            assert!(names.len() == all.len() && !all.is_empty(), "{group:?}");
            for scenario in &all {
                let shares: f64 = scenario.settings.shares.iter().map(|share| share.1).sum();
                assert!(shares < 1.0 && !scenario.settings.z_sources.is_empty(), "{scenario:?}");
            }
        }
    }

    #[test]
    fn a_text_not_in_z_is_never_of_a_source_that_is_z_alone() {
        let base = CalibrationSettings::clean(&real(12, 4));
        let all = scenarios(ScenarioGroup::Papers, &base);
        let alone = all.iter().filter(|scenario| scenario.name.ends_with("alone, text not in Z"));
        let mut count = 0;
        for Scenario { settings, .. } in alone {
            assert!(!settings.handed_sources.contains(&settings.z_sources[0]));
            count += 1;
        }
        assert_eq!(count, 12);
        let one = CalibrationSettings { z_sources: vec![0], handed_sources: vec![0], ..base };
        let all = scenarios(ScenarioGroup::Papers, &one);
        assert_eq!(all.len(), 12, "with a source alone: word for word and clean");
    }
}
