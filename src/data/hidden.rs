//! Characters that a reader does not see, or takes for others.

use unicode_categories::UnicodeCategories;

/// Whether a character shows nothing and may carry a message or turn the text around.
///
/// The format characters of Unicode (category Cf), variation selectors, the fillers that are
/// letters without a shape, and tag characters; not the joiners, which some scripts and emoji need,
/// and not the signs of category Cf that are seen.
pub(crate) fn is_hidden(c: char) -> bool {
    let seen = matches!(c,
        '\u{600}'..='\u{605}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}' | '\u{8e2}'
        | '\u{110bd}' | '\u{110cd}');
    let format = c.is_other_format() && !seen && !is_joiner(c);
    format
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
            | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// The zero-width joiner and non-joiner.
pub(crate) fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}')
}

/// The small Latin letter that looks like a small or a capital Cyrillic one, or an omicron, given small. Other Greek
/// letters stand in names of their own: µm is not mm.
pub(crate) fn latin_like(c: char) -> Option<char> {
    Some(match c {
        'а' => 'a',
        'в' => 'b',
        'с' => 'c',
        'ԁ' => 'd',
        'е' => 'e',
        'һ' | 'н' => 'h',
        'і' => 'i',
        'ј' => 'j',
        'к' => 'k',
        'ӏ' => 'l',
        'м' => 'm',
        'о' | 'ο' => 'o',
        'р' => 'p',
        'ԛ' => 'q',
        'ѕ' => 's',
        'т' => 't',
        'ԝ' => 'w',
        'х' => 'x',
        'у' => 'y',
        _ => return None,
    })
}
