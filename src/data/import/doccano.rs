//! One user's annotations of doccano: `{username}.jsonl` of the export by users.
//!
//! After doccano, `backend/data_export/celery_tasks.py`. The rows do not say who annotated; the name
//! of the file does.

use serde_json::Value;

use super::elements::each_object;
use super::output::Output;
use super::peek::Peek;
use super::text_fields::name_of;
use super::{ImportError, Importer, Request, first_has};

pub(super) struct Doccano;

impl Importer for Doccano {
    fn name(&self) -> &'static str {
        "doccano"
    }

    fn detect(&self, peek: &Peek<'_>) -> bool {
        first_has(peek, &["id", "text", "label", "Comments"])
    }

    fn read(
        &self,
        peek: &Peek<'_>,
        request: &Request<'_>,
        output: &mut Output,
    ) -> Result<(), ImportError> {
        let worker = &request.stem;
        if worker == "all" {
            return Err(request.columns(
                "the annotations of all users together do not say who annotated; export one file \
                 per user"
                    .into(),
            ));
        }
        let read = each_object(peek.bytes, &mut |place, example| {
            output.begin(place.0);
            let task = request.task_of(&example).or_else(|| name_of(example.get("id")));
            let label = match example.get("label") {
                Some(Value::Array(labels)) => {
                    let names: Vec<String> =
                        labels.iter().filter_map(|label| name_of(Some(label))).collect();
                    (!names.is_empty()).then(|| names.join("; "))
                }
                one => name_of(one),
            };
            match (task, label) {
                (Some(task), Some(label)) => output.label(&task, worker, &label),
                (None, _) => output.leave_out("examples without an id"),
                (_, None) => output.leave_out("examples without an answer"),
            }
            true
        });
        output.text_fields = vec!["label".into()];
        read.map(|_| ()).map_err(|broken| request.broken(broken))
    }
}
