//! The lines of a page, in the order in which the file shows them.

use std::collections::HashMap;

use lopdf::content::Content;
use lopdf::{Dictionary, Document, Object, ObjectId, Stream};

use super::font::{Font, numbers};
use super::{MOST_BYTES, PdfError};

/// A line of text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    pub(super) text: String,
    /// Of most of its letters, in points.
    pub(super) size: f32,
    /// From the baseline before it on the page down to its own, in points; missing on the first line, and
    /// where a line stands higher, as at the top of a column.
    pub(super) below: Option<f32>,
}

/// Pieces of a page shown inside others.
const DEEPEST: usize = 12;

/// Letters drawn as one.
const LIGATURES: [(char, &str); 7] = [
    ('\u{fb00}', "ff"),
    ('\u{fb01}', "fi"),
    ('\u{fb02}', "fl"),
    ('\u{fb03}', "ffi"),
    ('\u{fb04}', "ffl"),
    ('\u{fb05}', "st"),
    ('\u{fb06}', "st"),
];

/// `[a b c d e f]` of ISO 32000-1, 8.3.3.
#[derive(Debug, Clone, Copy)]
struct Matrix([f32; 6]);

impl Matrix {
    const ONE: Self = Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    fn shift(x: f32, y: f32) -> Self {
        Self([1.0, 0.0, 0.0, 1.0, x, y])
    }

    /// First this one, then `next`.
    fn then(self, next: Self) -> Self {
        let ([a, b, c, d, e, f], [g, h, i, j, k, l]) = (self.0, next.0);
        Self([
            a * g + b * i,
            a * h + b * j,
            c * g + d * i,
            c * h + d * j,
            e * g + f * i + k,
            e * h + f * j + l,
        ])
    }

    fn of(operands: &[f32]) -> Self {
        let mut matrix = Self::ONE;
        for (entry, operand) in matrix.0.iter_mut().zip(operands) {
            *entry = *operand;
        }
        matrix
    }
}

/// What `q` keeps and `Q` brings back.
#[derive(Clone)]
struct State {
    to_page: Matrix,
    font: Option<usize>,
    size: f32,
    letter_spacing: f32,
    word_spacing: f32,
    stretch: f32,
    leading: f32,
    rise: f32,
    painted: bool,
}

/// The lines of text that is painted, and of text that is not.
#[derive(Default)]
struct Pen {
    lines: Vec<Line>,
    text: String,
    /// Letters of the line by tenths of a point of their size.
    sizes: HashMap<u32, usize>,
    below: Option<f32>,
    /// Where the last letter ended, and how large it was.
    last: Option<([f32; 2], f32)>,
}

impl Pen {
    fn end_line(&mut self) {
        let text = std::mem::take(&mut self.text);
        let sizes = std::mem::take(&mut self.sizes);
        let below = self.below.take();
        if !text.trim().is_empty() {
            let size = sizes.into_iter().max_by_key(|&(size, letters)| (letters, size));
            let size = size.map_or(0.0, |(size, _)| size as f32 / 10.0);
            self.lines.push(Line { text: text.trim().to_owned(), size, below });
        }
    }

    /// Puts a glyph that runs from `from` to `to`, in the direction `along`, onto the page.
    fn put(&mut self, text: &str, (from, to): ([f32; 2], [f32; 2]), along: [f32; 2], size: f32) {
        if let Some((end, before)) = self.last {
            let (x, y) = (from[0] - end[0], from[1] - end[1]);
            let ahead = x * along[0] + y * along[1];
            let up = y * along[0] - x * along[1];
            let em = size.max(before);
            if up.abs() > 0.55 * em || ahead < -1.5 * em || ahead > 4.0 * em {
                self.end_line();
                self.below = (up < 0.0).then_some(-up);
            } else if ahead > 0.13 * size.min(before) && !self.text.ends_with(' ') {
                self.text.push(' ');
            }
        }
        if !(text == " " && self.text.ends_with(' ')) {
            for letter in text.chars() {
                match LIGATURES.iter().find(|(ligature, _)| *ligature == letter) {
                    Some((_, letters)) => self.text.push_str(letters),
                    None => self.text.push(letter),
                }
            }
        }
        if !text.trim().is_empty() {
            // Sizes are small and positive; what is not falls together.
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "saturates"
            )]
            let tenths = (size * 10.0).round() as u32;
            *self.sizes.entry(tenths).or_default() += text.len();
        }
        self.last = Some((to, size));
    }
}

/// What a page shows, as it is read.
pub(super) struct Reader<'a> {
    document: &'a Document,
    /// By where their dictionaries stand in memory.
    fonts: HashMap<usize, Font<'a>>,
    painted: Pen,
    unpainted: Pen,
}

impl<'a> Reader<'a> {
    pub(super) fn new(document: &'a Document) -> Self {
        Self { document, fonts: HashMap::new(), painted: Pen::default(), unpainted: Pen::default() }
    }

    /// The lines of a page. Text that is not painted counts only where nothing else is there: as what a
    /// program read from a scan, not as what somebody hid beside what people read.
    pub(super) fn lines(&mut self, page: ObjectId) -> Result<Vec<Line>, PdfError> {
        (self.painted, self.unpainted) = (Pen::default(), Pen::default());
        let content = self.document.get_page_content_with_limit(page, MOST_BYTES)?;
        let (own, shared) = self.document.get_page_resources(page)?;
        let shared = shared.iter().filter_map(|&id| self.document.get_dictionary(id).ok());
        let resources: Vec<&'a Dictionary> = own.into_iter().chain(shared).collect();
        let state = State {
            to_page: Matrix::ONE,
            font: None,
            size: 0.0,
            letter_spacing: 0.0,
            word_spacing: 0.0,
            stretch: 1.0,
            leading: 0.0,
            rise: 0.0,
            painted: true,
        };
        self.show(&content, &resources, state, 0)?;
        self.painted.end_line();
        self.unpainted.end_line();
        let painted = std::mem::take(&mut self.painted.lines);
        Ok(if painted.is_empty() { std::mem::take(&mut self.unpainted.lines) } else { painted })
    }

    fn font(&mut self, resources: &[&'a Dictionary], name: &[u8]) -> Option<usize> {
        let document = self.document;
        let font = resources.iter().find_map(|resources| {
            let fonts = resources.get_deref(b"Font", document).and_then(Object::as_dict).ok()?;
            fonts.get_deref(name, document).and_then(Object::as_dict).ok()
        })?;
        let key = std::ptr::from_ref(font).addr();
        self.fonts.entry(key).or_insert_with(|| Font::new(font, document));
        Some(key)
    }

    fn show(
        &mut self,
        content: &[u8],
        resources: &[&'a Dictionary],
        mut state: State,
        depth: usize,
    ) -> Result<(), PdfError> {
        let mut kept: Vec<State> = Vec::new();
        let (mut text, mut line) = (Matrix::ONE, Matrix::ONE);
        for operation in Content::decode(content)?.operations {
            let operands = &operation.operands;
            let number =
                |at: usize| operands.get(at).and_then(|o| o.as_float().ok()).unwrap_or(0.0);
            let numbers = || -> Vec<f32> { (0..operands.len()).map(number).collect() };
            let string =
                |at: usize| operands.get(at).and_then(|o| o.as_str().ok()).unwrap_or_default();
            let mut next_line = |x: f32, y: f32, text: &mut Matrix| {
                line = Matrix::shift(x, y).then(line);
                *text = line;
            };
            match operation.operator.as_str() {
                "q" => kept.push(state.clone()),
                "Q" => state = kept.pop().unwrap_or(state),
                "cm" => state.to_page = Matrix::of(&numbers()).then(state.to_page),
                "BT" => (text, line) = (Matrix::ONE, Matrix::ONE),
                "Tf" => {
                    let name = operands.first().and_then(|name| name.as_name().ok());
                    state.font = name.and_then(|name| self.font(resources, name));
                    state.size = number(1);
                }
                "Tc" => state.letter_spacing = number(0),
                "Tw" => state.word_spacing = number(0),
                "Tz" => state.stretch = number(0) / 100.0,
                "TL" => state.leading = number(0),
                "Ts" => state.rise = number(0),
                "Tr" => state.painted = (number(0) - 3.0).abs() > 0.5,
                "Td" => next_line(number(0), number(1), &mut text),
                "TD" => {
                    state.leading = -number(1);
                    next_line(number(0), number(1), &mut text);
                }
                "Tm" => (text, line) = (Matrix::of(&numbers()), Matrix::of(&numbers())),
                "T*" => next_line(0.0, -state.leading, &mut text),
                "Tj" => self.string(string(0), &state, &mut text),
                "'" => {
                    next_line(0.0, -state.leading, &mut text);
                    self.string(string(0), &state, &mut text);
                }
                "\"" => {
                    (state.word_spacing, state.letter_spacing) = (number(0), number(1));
                    next_line(0.0, -state.leading, &mut text);
                    self.string(string(2), &state, &mut text);
                }
                "TJ" => {
                    let parts = operands.first().and_then(|parts| parts.as_array().ok());
                    for part in parts.into_iter().flatten() {
                        match (part.as_str(), part.as_float()) {
                            (Ok(string), _) => self.string(string, &state, &mut text),
                            (_, Ok(back)) => {
                                let shift = -back / 1000.0 * state.size * state.stretch;
                                text = Matrix::shift(shift, 0.0).then(text);
                            }
                            _ => {}
                        }
                    }
                }
                "Do" => {
                    let name = operands.first().and_then(|name| name.as_name().ok());
                    let form = name.and_then(|name| self.form(resources, name));
                    if let Some(form) = form.filter(|_| depth < DEEPEST) {
                        self.inside(form, resources, &state, depth)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn form(&self, resources: &[&'a Dictionary], name: &[u8]) -> Option<&'a Stream> {
        let document = self.document;
        let found = resources.iter().find_map(|resources| {
            let objects =
                resources.get_deref(b"XObject", document).and_then(Object::as_dict).ok()?;
            objects.get_deref(name, document).and_then(Object::as_stream).ok()
        })?;
        let kind = found.dict.get_deref(b"Subtype", document).and_then(Object::as_name);
        kind.is_ok_and(|kind| kind == b"Form").then_some(found)
    }

    /// What a piece shows that stands in a page as a whole.
    fn inside(
        &mut self,
        form: &'a Stream,
        resources: &[&'a Dictionary],
        state: &State,
        depth: usize,
    ) -> Result<(), PdfError> {
        let content = form.get_plain_content_with_limit(MOST_BYTES)?;
        let matrix = Matrix::of(&numbers(&form.dict, b"Matrix", self.document));
        let own = form.dict.get_deref(b"Resources", self.document).and_then(Object::as_dict).ok();
        let resources: Vec<&Dictionary> =
            own.into_iter().chain(resources.iter().copied()).collect();
        let state = State { to_page: matrix.then(state.to_page), ..state.clone() };
        self.show(&content, &resources, state, depth + 1)
    }

    fn string(&mut self, string: &[u8], state: &State, text: &mut Matrix) {
        let Some(font) = state.font.and_then(|font| self.fonts.get_mut(&font)) else { return };
        let pen = if state.painted { &mut self.painted } else { &mut self.unpainted };
        for glyph in font.glyphs(string) {
            let spacing = if glyph.is_space { state.word_spacing } else { 0.0 };
            let ahead = (glyph.width * state.size) * state.stretch;
            let shown = text.then(state.to_page).0;
            let [x, y] = [shown[0], shown[1]];
            let long = x.hypot(y);
            let along = if long > 0.0 { [x / long, y / long] } else { [1.0, 0.0] };
            let from = Matrix::shift(0.0, state.rise).then(*text).then(state.to_page).0;
            let from = [from[4], from[5]];
            let to = [from[0] + x * ahead, from[1] + y * ahead];
            let size = shown[2].hypot(shown[3]) * state.size.abs();
            if size.is_finite() && from.iter().chain(&to).all(|place| place.is_finite()) {
                pen.put(&glyph.text, (from, to), along, size);
            }
            let whole = ahead + (state.letter_spacing + spacing) * state.stretch;
            *text = Matrix::shift(whole, 0.0).then(*text);
        }
    }
}
