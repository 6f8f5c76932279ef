//! Server-sent events: bytes as they arrive to the data of events.
//!
//! The format is that of the HTML standard, section 9.2.6: lines end in LF, CR LF or CR, lines that
//! start with a colon are comments, an empty line ends an event.

/// Puts bytes together to events.
#[derive(Debug, Default)]
pub(super) struct EventReader {
    line: Vec<u8>,
    /// The data of the event under way, lines joined by line feeds.
    data: Option<Vec<u8>>,
    /// Whether the byte before was a carriage return, which a line feed may follow.
    after_return: bool,
}

impl EventReader {
    /// Reads more bytes; `event` gets the data of every event that is complete, and says whether to
    /// go on. Returns whether it went to the end of the bytes.
    pub(super) fn feed(&mut self, bytes: &[u8], event: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        let mut rest = bytes;
        while let Some(&first) = rest.first() {
            if self.after_return && first == b'\n' {
                self.after_return = false;
                rest = &rest[1..];
                continue;
            }
            self.after_return = false;
            let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                self.line.extend_from_slice(rest);
                return true;
            };
            self.line.extend_from_slice(&rest[..end]);
            self.after_return = rest[end] == b'\r';
            rest = &rest[end + 1..];
            let line = std::mem::take(&mut self.line);
            if let Some(data) = self.take_line(&line)
                && !event(&data)
            {
                return false;
            }
        }
        true
    }

    /// The data of an event that lacks its end because the reply ended.
    pub(super) fn rest(mut self) -> Option<Vec<u8>> {
        let line = std::mem::take(&mut self.line);
        self.take_line(&line).or(self.data)
    }

    /// Bytes that are held.
    pub(super) fn held(&self) -> usize {
        self.line.len() + self.data.as_ref().map_or(0, Vec::len)
    }

    /// The data of the event that this line ends, if it ends one.
    fn take_line(&mut self, line: &[u8]) -> Option<Vec<u8>> {
        if line.is_empty() {
            return self.data.take();
        }
        let (field, value) = match line.iter().position(|&byte| byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &line[line.len()..]),
        };
        if field == b"data" {
            let value = value.strip_prefix(b" ").unwrap_or(value);
            match &mut self.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => self.data = Some(value.to_vec()),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn events(pieces: &[&[u8]]) -> Vec<String> {
        let mut reader = EventReader::default();
        let mut found = Vec::new();
        for piece in pieces {
            let mut keep = |data: &[u8]| {
                found.push(String::from_utf8(data.to_vec()).unwrap());
                true
            };
            assert!(reader.feed(piece, &mut keep));
        }
        found.extend(reader.rest().map(|data| String::from_utf8(data).unwrap()));
        found
    }

    #[test]
    fn events_end_at_empty_lines_whatever_ends_a_line() {
        for end in ["\n", "\r\n", "\r"] {
            let text =
                "data: a\n\n: comment\nevent: x\ndata:b\ndata:  c\n\n\nid: 1\n\ndata\n\ndata: d";
            let text = text.replace('\n', end);
            assert_eq!(events(&[text.as_bytes()]), ["a", "b\n c", "", "d"], "{end:?}");
        }
    }

    #[test]
    fn nothing_is_read_behind_the_event_that_is_the_last() {
        let mut reader = EventReader::default();
        let mut found = Vec::new();
        let mut keep = |data: &[u8]| {
            found.push(data.to_vec());
            data != b"[DONE]"
        };
        assert!(!reader.feed(b"data: 1\n\ndata: [DONE]\n\ndata: 2\n\n", &mut keep));
        assert_eq!(found, [b"1".to_vec(), b"[DONE]".to_vec()]);
    }

    proptest! {
        #[test]
        fn where_the_bytes_are_cut_does_not_matter(
            text in "(data: [a\u{e9}\u{8bc4}{}\":]{0,5}|:x|\r\n|\n|\r|event: y){0,12}",
            cuts in proptest::collection::vec(0_usize..80, 0..6),
        ) {
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.sort_unstable();
            let mut pieces = Vec::new();
            let mut start = 0;
            for cut in cuts {
                pieces.push(&bytes[start..cut]);
                start = cut;
            }
            pieces.push(&bytes[start..]);
            prop_assert_eq!(events(&pieces), events(&[bytes]));
        }
    }
}
