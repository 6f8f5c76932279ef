//! What the mechanisms ask of an engine, by the queries of the plan.

use super::answer::Row;
use super::{DIALECT, Session};
use crate::sql::{self, Step, dawid_skene};
use crate::{
    Agreement, Covered, Crowd, Engine, PairCount, PeerSum, Right, SizeCount, Strata, TermSum,
};
use caz::Result;

impl Engine for Session<'_> {
    fn crowd(&mut self) -> Result<Crowd> {
        self.make(&sql::workers())?;
        let workers =
            self.relation("workers", "worker, tasks", |row| (row.text(0), row.count(1)))?;
        let tasks = self.rows("SELECT COUNT(DISTINCT task) FROM labels")?;
        let mut labels = self.texts("SELECT DISTINCT label FROM labels")?;
        labels.sort();
        Ok(Crowd {
            workers: workers.into_iter().collect(),
            tasks: tasks.first().map_or(0, |row| row.count(0)),
            labels,
            sources: self.sources.clone(),
        })
    }

    fn sizes(&mut self, strata: Strata) -> Result<Vec<SizeCount>> {
        let columns = "source, stratum, reports, tasks";
        self.counted(strata, &sql::sizes(strata), columns, |row| SizeCount {
            source: row.text(0),
            stratum: row.text(1),
            reports: row.count(2),
            tasks: row.count(3),
        })
    }

    fn pairs(&mut self, strata: Strata) -> Result<Vec<PairCount>> {
        let columns = "source, stratum, reports, label, peer_label, pairs";
        let mut pairs = self.counted(strata, &sql::pairs(strata), columns, |row| PairCount {
            source: row.text(0),
            stratum: row.text(1),
            reports: row.count(2),
            label: row.text(3),
            peer_label: row.text(4),
            pairs: row.count(5),
        })?;
        // A label alone on a task has no pair with itself.
        pairs.retain(|pair| pair.pairs > 0);
        Ok(pairs)
    }

    fn terms(&mut self, strata: Strata, agreements: &[Agreement]) -> Result<Vec<TermSum>> {
        self.make_all(sql::reports(strata))?;
        self.make(&sql::given_agreements(strata, agreements))?;
        self.make_all(sql::terms(strata, DIALECT))?;
        let name = sql::terms_name(strata);
        self.relation(&name, "source, stratum, worker, tasks, total", |row| TermSum {
            source: row.text(0),
            stratum: row.text(1),
            worker: row.text(2),
            tasks: row.count(3),
            total: row.float(4),
        })
    }

    fn covered(&mut self, strata: Strata) -> Result<Vec<Covered>> {
        let columns = "source, worker, tasks, same, shared";
        self.counted(strata, &sql::covered(strata), columns, |row| Covered {
            source: row.text(0),
            worker: row.text(1),
            tasks: row.count(2),
            same: row.count(3),
            shared: row.count(4),
        })
    }

    fn output_agreement(&mut self, strata: Strata) -> Result<Vec<PeerSum>> {
        let step = sql::output_agreement(strata, DIALECT);
        self.counted(strata, &step, "source, worker, total", |row| PeerSum {
            source: row.text(0),
            worker: row.text(1),
            total: row.float(2),
        })
    }

    fn keeps(&self) -> bool {
        self.folder.is_some()
    }

    fn dawid_skene(&mut self, number: usize) -> Result<f64> {
        if number == 1 {
            if self.iterations > 0 {
                self.drop_all(&dawid_skene::left(self.iterations))?;
            }
            self.make_all([sql::workers()])?;
            self.make_all(sql::majority())?;
            self.make_all(dawid_skene::start(DIALECT))?;
            self.make_all(dawid_skene::confusion(0))?;
        }
        self.make_all(dawid_skene::iteration(number))?;
        let likelihood = self.rows(&dawid_skene::likelihood(number))?;
        self.make_all(dawid_skene::confusion(number))?;
        self.drop_all(&dawid_skene::over(number))?;
        self.iterations = number;
        Ok(likelihood.first().map_or(0.0, |row| row.float(0)))
    }

    fn right(&mut self) -> Result<Vec<Right>> {
        let query = dawid_skene::scores(self.iterations);
        self.rows_as(&query, |row| Right { worker: row.text(1), share: row.float(2) })
    }
}

impl Session<'_> {
    /// The rows of a relation of the plan, each as `row` reads it.
    fn relation<T>(&self, name: &str, columns: &str, row: impl Fn(&Row) -> T) -> Result<Vec<T>> {
        self.rows_as(&format!("SELECT {columns} FROM {name}"), row)
    }

    /// The same of a relation that is counted from the labels in their strata.
    fn counted<T>(
        &mut self,
        strata: Strata,
        step: &Step,
        columns: &str,
        row: impl Fn(&Row) -> T,
    ) -> Result<Vec<T>> {
        self.make_all(sql::reports(strata))?;
        self.make(step)?;
        self.relation(&step.name, columns, row)
    }
}
