//! A jury on top of any way to judge: people of different trades read what was argued, without the
//! names of who argued it, and vote. Its verdict stands beside the judge's and is never mixed in.

use super::{Debate, Floor, JudgeError, Personas, Speaker, Stop};
use crate::data::side::Side;

/// What the jury says after a debate on this floor: votes as scores, cost of the debate included.
///
/// The majority of the readable votes; equally many are a tie. Fewer readable votes than `quorum`
/// are no verdict but the failure `quorum`.
///
/// # Errors
///
/// As [`super::debate`].
pub(crate) fn jury(
    floor: &mut Floor<'_>,
    personas: &Personas,
    quorum: u32,
    rounds: Option<u32>,
) -> Result<Debate, JudgeError> {
    let prompt = &floor.rules().prompts.juror;
    let cases = floor.cases.clone();
    let mut texts = floor.shown([cases[0].as_deref(), cases[1].as_deref()]);
    let feedback = ["first_feedback", "second_feedback"].into_iter().zip(&floor.feedback);
    texts.extend(feedback.filter_map(|(name, text)| Some((name.to_owned(), text.clone()?))));
    let mut votes = [0_u32; 2];
    for persona in &personas.members {
        let question = format!("{}\n\n{}", persona.who, floor.rules().criteria.question());
        let speaker = Speaker::Juror(persona.name.clone());
        match floor.voted(speaker, prompt, &texts, question) {
            Ok(place) => votes[place] += 1,
            // A vote that cannot be read is one vote less.
            Err(Stop::Role(_)) => {}
            Err(stop) => return floor.conclude(Err(stop)),
        }
    }
    let readable = votes[0] + votes[1];
    let [a, b] = floor.order().place(votes.map(f64::from));
    let decided = (Side::of_scores(a, b), Some([a, b]), rounds.unwrap_or(0));
    let mut debate = floor.conclude(Ok(decided))?;
    if readable < quorum {
        debate.verdict = None;
        debate.failure = Some("quorum".into());
    }
    Ok(debate)
}
