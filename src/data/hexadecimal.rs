//! Bytes as digits.

/// Two lower-case digits a byte.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(half.into(), 16).expect("4 bits are a digit");
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_two_digits() {
        assert_eq!(hexadecimal(&[0, 9, 10, 0x7f, 255]), "00090a7fff");
        assert_eq!(hexadecimal(&[]), "");
    }
}
