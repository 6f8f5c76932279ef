//! How long people worked, where a file has it: seconds of work, or when an answer was begun and handed in.

use std::collections::BTreeMap;

use super::problem::Problems;
use super::rows::{Column, Field, FileProblems, Row, header, read_rows};
use super::source::Source;
use super::warning::Warning;
use crate::data::nouns::{COUNT, HAVE, counted, verb};

const fn column(name: &'static str) -> Column {
    Column { name, synonyms: &[], required: false }
}

/// Columns with times: seconds of work (the first that a row has counts), then when it was begun, handed in,
/// and made.
pub(crate) const TIME_COLUMNS: [Column; 6] = [
    column("seconds"),
    column("WorkTimeInSeconds"),
    column("lead_time"),
    column("AcceptTime"),
    column("SubmitTime"),
    column("created_at"),
];

/// Columns of [`TIME_COLUMNS`] that are seconds.
const SECONDS: usize = 3;

/// Answers that took less than this share of the median time are fast.
const FAST: f64 = 0.1;

/// What one row says about time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Clock {
    /// Seconds of work.
    seconds: Option<f64>,
    /// When it was made, in seconds since 1970.
    made: Option<f64>,
    /// Whether something stands there of which no time can be read.
    is_unreadable: bool,
}

impl Clock {
    /// Of a row whose fields from `first` on are [`TIME_COLUMNS`].
    pub(crate) fn of(row: &Row<'_>, first: usize) -> Self {
        let fields = &row.fields[first..first + TIME_COLUMNS.len()];
        let seconds = fields[..SECONDS].iter().find_map(number);
        let [begun, ended, made] = [3, 4, 5].map(|place| instant(&fields[place]));
        let between = ended.zip(begun).map(|(ended, begun)| ended - begun);
        let seconds = seconds.or(between).filter(|seconds| *seconds >= 0.0);
        let is_given = fields.iter().any(|field| !field.is_missing());
        Self { seconds, made, is_unreadable: is_given && seconds.is_none() && made.is_none() }
    }
}

/// A finite number.
fn number(field: &Field<'_>) -> Option<f64> {
    field.as_name()?.parse().ok().filter(|number: &f64| number.is_finite())
}

/// A moment, in seconds since 1970: a number of seconds or thousandths, or a date with a time.
fn instant(field: &Field<'_>) -> Option<f64> {
    /// Seconds of the year 5138: more are thousandths.
    const MOST_SECONDS: f64 = 1e11;
    if let Some(number) = number(field) {
        return Some(if number > MOST_SECONDS { number / 1000.0 } else { number });
    }
    date_and_time(&field.as_name()?)
}

/// `2024-05-01T10:11:12.5Z`, `2024-05-01 10:11:12`, or `Mon May 01 10:11:12 PDT 2024`, of a
/// half of the day (`PM`), too. Zones are left out of account: differences within one file are wanted.
fn date_and_time(text: &str) -> Option<f64> {
    const MONTHS: &str = "janfebmaraprmayjunjulaugsepoctnovdec";
    let words: Vec<&str> = text.split([' ', 'T', '\t']).filter(|word| !word.is_empty()).collect();
    let clock = words.iter().position(|word| word.contains(':'))?;
    let (year, month, day) = match words[..clock] {
        [date] => {
            let mut parts = date.split('-').map(|part| part.parse::<i64>().ok());
            (parts.next()??, parts.next()??, parts.next()??)
        }
        [_, month, day] => {
            let place = MONTHS.find(&month.get(..3)?.to_lowercase())?;
            let year = words.last()?.parse().ok()?;
            (year, i64::try_from(place).ok()? / 3 + 1, day.parse().ok()?)
        }
        _ => return None,
    };
    if !(1970..10_000).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let digits = words[clock].find(|c: char| !c.is_ascii_digit() && c != ':' && c != '.');
    let time = &words[clock][..digits.unwrap_or(words[clock].len())];
    let behind = words[clock][time.len()..].to_lowercase();
    let is_half = |half: &str| {
        behind == half || words[clock + 1..].iter().any(|word| word.eq_ignore_ascii_case(half))
    };
    let hour: f64 = time.split(':').next()?.parse().ok()?;
    // Twelve is the first hour of either half.
    let mut seconds = match (is_half("am"), is_half("pm")) {
        (true, _) if (12.0..13.0).contains(&hour) => -43_200.0,
        (_, true) if hour < 12.0 => 43_200.0,
        _ => 0.0,
    };
    let mut unit = 3600.0;
    for part in time.split(':').take(3) {
        seconds += unit * part.parse::<f64>().ok()?;
        unit /= 60.0;
    }
    // Days since 1970, counted from March, so that the leap day comes last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    Some((days - 719_468) as f64 * 86_400.0 + seconds)
}

/// How fast one person worked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Speed {
    /// Median seconds of an answer.
    pub median_seconds: f64,
    /// Share of the answers that took less than a tenth of the median time of all.
    pub share_fast: f64,
}

/// How long everybody worked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Times {
    /// Seconds of each answer, sorted, by name.
    of_people: BTreeMap<String, Vec<f64>>,
    /// Median over all answers.
    median: f64,
    /// Answers with something that is no time.
    unreadable: usize,
}

impl Times {
    /// From the rows of everybody. Where there are no seconds, the time since the same person's answer
    /// before stands for them; the first has none then.
    pub(crate) fn of(rows: impl Iterator<Item = (String, Clock)>) -> Self {
        let mut of_people: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        // When, and whether the seconds are known.
        let mut made: BTreeMap<String, Vec<(f64, bool)>> = BTreeMap::new();
        let mut unreadable = 0;
        for (name, clock) in rows {
            unreadable += usize::from(clock.is_unreadable);
            if let Some(moment) = clock.made {
                made.entry(name.clone()).or_default().push((moment, clock.seconds.is_some()));
            }
            if let Some(seconds) = clock.seconds {
                of_people.entry(name).or_default().push(seconds);
            }
        }
        for (name, mut moments) in made {
            moments.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let pairs = moments.windows(2).filter(|pair| !pair[1].1);
            of_people.entry(name).or_default().extend(pairs.map(|pair| pair[1].0 - pair[0].0));
        }
        let mut all: Vec<f64> = of_people.values().flatten().copied().collect();
        all.sort_by(f64::total_cmp);
        of_people.values_mut().for_each(|seconds| seconds.sort_by(f64::total_cmp));
        of_people.retain(|_, seconds| !seconds.is_empty());
        Self { of_people, median: middle(&all).unwrap_or(0.0), unreadable }
    }

    /// Of the rows of a file in caz's own form, by what its column `who` says. A row without a name or
    /// a time says nothing. Of JSON lines the first tells whether there are times.
    pub(crate) fn read(source: &Source, who: Column) -> Self {
        let is_time = |name: &String| TIME_COLUMNS.iter().any(|column| column.matches(name));
        if !header(source).iter().any(is_time) {
            return Self::default();
        }
        let schema = [&[Column { required: false, ..who }], &TIME_COLUMNS[..]].concat();
        let mut problems = Problems::new();
        let mut problems = FileProblems::new(source, &mut problems);
        let mut rows = Vec::new();
        read_rows(source, &schema, &mut problems, &mut |row, _| {
            rows.extend(row.fields[0].as_name().map(|name| (name.into_owned(), Clock::of(row, 1))));
        });
        Self::of(rows.into_iter())
    }

    /// What to say of times that cannot be read.
    pub(crate) fn warning(&self) -> Option<Warning> {
        let message = format!(
            "{} {} a time that cannot be read, and {} as without one: give seconds, from 0 on, or moments as \
             2024-05-01T10:11:12",
            counted(self.unreadable, "answer"),
            verb(self.unreadable, HAVE),
            verb(self.unreadable, COUNT)
        );
        (self.unreadable > 0).then(|| Warning::new("times_unreadable", self.unreadable, message))
    }

    /// How fast somebody worked; `None` where nothing is known of it.
    pub(crate) fn speed(&self, name: &str) -> Option<Speed> {
        let seconds = self.of_people.get(name)?;
        let fast = seconds.partition_point(|seconds| *seconds < FAST * self.median);
        let share_fast = fast as f64 / seconds.len() as f64;
        Some(Speed { median_seconds: middle(seconds)?, share_fast })
    }
}

/// The median of sorted values.
fn middle(sorted: &[f64]) -> Option<f64> {
    let above = sorted.len() / 2;
    let below = sorted.len().checked_sub(1)? / 2;
    Some((sorted[below] + sorted[above]) / 2.0)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn read(text: &str) -> Times {
        let source = Source::from_reader(Path::new("t.csv"), text.as_bytes()).unwrap();
        Times::read(&source, Column { name: "worker", synonyms: &[], required: true })
    }

    #[test]
    fn medians_and_fast_answers_by_hand() {
        // All: 3 30 30 40 90; the median is 30, and less than 3 would be fast.
        let times = read("worker,seconds\na,30\na,40\nb,3\nb,30\nb,90\nc,\nd,x\n");
        assert_eq!(times.speed("a"), Some(Speed { median_seconds: 35.0, share_fast: 0.0 }));
        assert_eq!(times.speed("b"), Some(Speed { median_seconds: 30.0, share_fast: 0.0 }));
        assert_eq!(times.speed("c"), None);
        assert_eq!(times.speed("d"), None);
        // Of c nothing is said, of d nothing that can be read.
        assert_eq!(times.warning().map(|warning| warning.count), Some(1));
        let times = read("worker,seconds\na,-5\na,inf\na,7\nb,8\n");
        assert_eq!(times.warning().map(|warning| warning.count), Some(2));
        // All: 2 30 30 30: of b one of two is below 3.
        let times = read("worker,lead_time\na,30\na,30\nb,2\nb,30\n");
        assert_eq!(times.speed("b"), Some(Speed { median_seconds: 16.0, share_fast: 0.5 }));
        // Without a column of times nobody has one.
        let without = read("worker,label\na,30\n");
        assert_eq!((without.speed("a"), without.warning()), (None, None));
    }

    #[test]
    fn moments_in_every_form_are_seconds_apart() {
        let two = |begun: &str, ended: &str| {
            let rows = format!("worker,AcceptTime,SubmitTime\na,{begun},{ended}\n");
            read(&rows).speed("a").map(|speed| speed.median_seconds)
        };
        assert_eq!(two("2024-02-28T23:59:30Z", "2024-03-01T00:00:00Z"), Some(86_430.0));
        assert_eq!(two("2023-02-28 23:59:30", "2023-03-01 00:00:00.5"), Some(30.5));
        assert_eq!(two("Mon Oct 02 14:20:31 PDT 2017", "Mon Oct 02 14:22:01 PDT 2017"), Some(90.0));
        assert_eq!(two("1700000000", "1700000042"), Some(42.0));
        assert_eq!(two("1700000000000", "1700000042000"), Some(42.0));
        // Midnight and noon are twelve.
        assert_eq!(two("2024-05-01 11:50:00 PM", "2024-05-02 12:05:00 AM"), Some(900.0));
        assert_eq!(two("2024-05-01 11:00:00AM", "2024-05-01 1:00:00pm"), Some(7200.0));
        assert_eq!(two("2024-05-01 12:10:00 PM", "2024-05-01 12:20:00 PM"), Some(600.0));
        // Handed in before it was begun, or no time at all.
        assert_eq!(two("1700000042", "1700000000"), None);
        assert_eq!(two("yesterday", "today at 10:00"), None);
        assert_eq!(two("2024-13-01T10:00:00", "2024-13-01T10:00:10"), None);
    }

    #[test]
    fn moments_alone_are_times_since_the_answer_before() {
        let times = read(
            "worker,created_at\na,2024-05-01T10:00:00Z\na,2024-05-01T10:01:00Z\n\
             a,2024-05-01T10:03:00Z\nb,2024-05-01T10:03:00Z\n",
        );
        assert!((times.speed("a").unwrap().median_seconds - 90.0).abs() < 1e-12);
        assert_eq!(times.speed("b"), None);
        // The answer before is the last one, whether or not its seconds are known: 50 and 600.
        let times = read(
            "worker,created_at,seconds\na,2024-05-01T10:00:00Z,\na,2024-05-01T10:10:00Z,50\n\
             a,2024-05-01T10:20:00Z,\n",
        );
        assert!((times.speed("a").unwrap().median_seconds - 325.0).abs() < 1e-12);
    }
}
