//! The head of the hidden method `go_on`, which runs an iterator behind the items that a folder has taken. `flat_map` calls
//! it; `plumbing/go_on.rs` tells how it works.
#![forbid(unsafe_code)]

/// The method `go_on` of a type: its value, what makes a consumer, and the folder are given these names.
macro_rules! goes_on {
    (|$iter:pat_param, $to:ident, $folder:ident| $went:expr) => {
        #[inline]
        fn go_on<C, M>(
            self,
            $to: M,
            $folder: Option<C::Folder>,
        ) -> $crate::plumbing::Went<C::Folder, C::Result>
        where
            C: $crate::plumbing::UnindexedConsumer<Self::Item>,
            M: FnOnce() -> C,
        {
            let $iter = self;
            $went
        }
    };
}
pub(crate) use goes_on;
