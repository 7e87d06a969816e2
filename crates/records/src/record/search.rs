//! Searches for single bytes. `memchr::memchr` detects the features of the processor at every call, which costs time if
//! lines and comments are short; these searchers detect them once.

/// Finds line feeds.
#[derive(Clone, Copy)]
pub(super) struct LineFeed {
    #[cfg(target_arch = "x86_64")]
    avx2: Option<memchr::arch::x86_64::avx2::memchr::One>,
}

impl LineFeed {
    pub(super) fn new() -> Self {
        Self {
            #[cfg(target_arch = "x86_64")]
            avx2: memchr::arch::x86_64::avx2::memchr::One::new(b'\n'),
        }
    }

    #[inline]
    pub(super) fn find(&self, text: &[u8]) -> Option<usize> {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = &self.avx2 {
            return avx2.find(text);
        }
        memchr::memchr(b'\n', text)
    }
}

/// Finds closing braces and line feeds.
#[derive(Clone, Copy)]
pub(super) struct BraceOrLineFeed {
    #[cfg(target_arch = "x86_64")]
    avx2: Option<memchr::arch::x86_64::avx2::memchr::Two>,
}

impl BraceOrLineFeed {
    pub(super) fn new() -> Self {
        Self {
            #[cfg(target_arch = "x86_64")]
            avx2: memchr::arch::x86_64::avx2::memchr::Two::new(b'}', b'\n'),
        }
    }

    #[inline]
    pub(super) fn find(&self, text: &[u8]) -> Option<usize> {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = &self.avx2 {
            return avx2.find(text);
        }
        memchr::memchr2(b'}', b'\n', text)
    }
}
