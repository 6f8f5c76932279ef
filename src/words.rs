//! Enums whose variants have a word each in tables and files.

/// Makes an enum, its list and its words from one line per variant.
macro_rules! words {
    ($(#[$of:meta])* $vis:vis enum $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$of])*
        $vis enum $name {
            $($(#[$doc])* $variant,)+
        }

        #[allow(dead_code, reason = "not every list is gone through")]
        impl $name {
            /// All of them, in the order of the enum.
            $vis const EACH: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// The word in tables and files.
            $vis fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }
    };
}
