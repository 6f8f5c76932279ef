//! Where fields and lines end.

/// Bytes that are looked at together.
const BLOCK: usize = 64;

/// The places of two bytes, ascending. Fields are short: to look at all bytes is quicker than one search a field.
pub(in crate::data) fn places_of([a, b]: [u8; 2], bytes: &[u8]) -> impl Iterator<Item = usize> {
    let (mut start, mut next, mut found) = (0, 0, 0_u64);
    std::iter::from_fn(move || {
        while found == 0 {
            let rest = &bytes[next.min(bytes.len())..];
            found = match rest.first_chunk() {
                Some(block) => bits(block, |byte| byte == a || byte == b),
                None if rest.is_empty() => return None,
                None => {
                    let mut block = [0; BLOCK];
                    block[..rest.len()].copy_from_slice(rest);
                    bits(&block, |byte| byte == a || byte == b) & ((1 << rest.len()) - 1)
                }
            };
            (start, next) = (next, next + BLOCK);
        }
        let place = start + found.trailing_zeros() as usize;
        found &= found - 1;
        Some(place)
    })
}

/// A bit for each byte, the lowest for the first.
fn bits(block: &[u8; BLOCK], is_sought: impl Fn(u8) -> bool) -> u64 {
    // Moves the lowest bits of eight bytes side by side into the highest byte.
    const TOGETHER: u64 = 0x0102_0408_1020_4080;
    let mut flags = [0; BLOCK];
    flags.iter_mut().zip(block).for_each(|(flag, &byte)| *flag = u8::from(is_sought(byte)));
    let (words, _) = flags.as_chunks();
    let together = |word: &[u8; 8]| u64::from_le_bytes(*word).wrapping_mul(TOGETHER) >> 56;
    words.iter().rev().fold(0, |bits, word| (bits << 8) | together(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn places_are_those_of_a_look_at_each_byte(
            bytes in proptest::collection::vec(proptest::sample::select(&b"\0,\n\xffab"[..]), 0..300),
        ) {
            let want = (0..bytes.len()).filter(|&place| matches!(bytes[place], b',' | b'\n'));
            proptest::prop_assert!(places_of([b',', b'\n'], &bytes).eq(want));
        }
    }
}
