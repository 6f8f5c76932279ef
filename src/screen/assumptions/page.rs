//! The page of a check of the assumptions: what is shared beyond each LLM, as a table and as a plot.

use super::AssumptionsRun;
use super::report::recommendation;
use crate::experiment::assumptions::{Measured, SourceCheck, verdict_sentence};
use crate::report::html::{Page, ShownTable};
use crate::report::plot::{Bar, BarChart};

impl AssumptionsRun {
    /// The result to read in a browser.
    pub fn page(&self) -> Page {
        let figure = |check: &SourceCheck| (chart(check).svg(), caption(check));
        Page {
            title: "Can conditioning on an LLM work here, and on which?".into(),
            lead: vec![verdict_sentence(&self.checks), recommendation(&self.checks)],
            reading: reading(),
            figures: self.checks.iter().map(figure).collect(),
            table: ShownTable::Folded,
            ..Page::default()
        }
    }
}

fn reading() -> Vec<String> {
    [
        "Every LLM is taken as Z in turn: a plot shows what two people, a cheater and a person, \
         and two cheaters share beyond it.",
        "Conditioning on it works if two people share more than every other pair; the sentences \
         below say where these data show it.",
        "A bar near 0 for cheaters is what is hoped for: beyond Z they have nothing to share.",
        "Unclear means that the interval covers both answers; more tasks would tell.",
        "A verdict speaks of these LLMs on these tasks; a cheater may use another LLM.",
    ]
    .map(str::to_owned)
    .to_vec()
}

fn chart(check: &SourceCheck) -> BarChart {
    let mut bars = vec![bar("two people".into(), &check.humans)];
    for cheater in &check.cheaters {
        let name = &cheater.cheater;
        bars.push(bar(format!("cheater with {name}, person"), &cheater.human.measured));
        bars.push(bar(format!("cheaters with {} and {name}", check.z), &cheater.llm.measured));
    }
    BarChart {
        title: format!("What is shared beyond {}", check.z),
        x_name: "mutual information given Z, less its null; 95 % interval".into(),
        x_range: None,
        reference: None,
        bars,
    }
}

fn bar(name: String, measured: &Measured) -> Bar {
    Bar { name, value: measured.excess(), error: measured.interval }
}

fn caption(check: &SourceCheck) -> String {
    let samples = match check.samples {
        1 => "one sample".to_owned(),
        count => format!("{count} samples"),
    };
    format!("Z is {}, with {samples} per task. An empty row could not be computed.", check.z)
}
