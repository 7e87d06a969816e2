//! Searches for single bytes. `memchr::memchr` detects the features of the processor at every call, which costs time if
//! lines and comments are short; these searchers detect them once.

macro_rules! searcher {
    ($(#[$about:meta])* $name:ident: $vector:ident, $plain:ident, $($byte:literal),+) => {
        $(#[$about])*
        #[derive(Clone, Copy)]
        pub(super) struct $name {
            #[cfg(target_arch = "x86_64")]
            avx2: Option<memchr::arch::x86_64::avx2::memchr::$vector>,
        }

        impl Default for $name {
            fn default() -> Self {
                Self {
                    #[cfg(target_arch = "x86_64")]
                    avx2: memchr::arch::x86_64::avx2::memchr::$vector::new($($byte),+),
                }
            }
        }

        impl $name {
            #[inline]
            pub(super) fn find(&self, text: &[u8]) -> Option<usize> {
                #[cfg(target_arch = "x86_64")]
                if let Some(avx2) = &self.avx2 {
                    return avx2.find(text);
                }
                memchr::$plain($($byte),+, text)
            }
        }
    };
}

searcher!(
    /// Finds line feeds.
    LineFeed: One, memchr, b'\n'
);
searcher!(
    /// Finds closing braces and line feeds.
    BraceOrLineFeed: Two, memchr2, b'}', b'\n'
);
