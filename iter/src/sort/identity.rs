//! The id of a type, lifetimes aside.

use std::any::TypeId;
use std::marker::PhantomData;
use std::mem::transmute;

/// The id that `T` has once every lifetime in it is `'static`. std gives the id of such types alone.
#[inline(always)]
pub(crate) fn type_id<T: ?Sized>() -> TypeId {
    trait Identified {
        fn id(&self) -> TypeId
        where
            Self: 'static;
    }

    impl<T: ?Sized> Identified for PhantomData<T> {
        #[inline(always)]
        fn id(&self) -> TypeId
        where
            Self: 'static,
        {
            TypeId::of::<T>()
        }
    }

    let nothing = PhantomData::<T>;
    let identified: &dyn Identified = &nothing;
    // SAFETY: only the lifetimes of a type change, which no code asks for: the value holds nothing,
    // and `id` reads a number that is the same for all lifetimes.
    let identified =
        unsafe { transmute::<&(dyn Identified + '_), &(dyn Identified + 'static)>(identified) };
    identified.id()
}

#[cfg(test)]
mod tests {
    use super::type_id;
    use std::any::TypeId;

    fn of_borrowed<'a>(text: &'a str) -> (TypeId, TypeId) {
        fn id_of<T>(_: T) -> TypeId {
            type_id::<T>()
        }
        (id_of::<&'a str>(text), id_of::<(&'a str, u8)>((text, 1)))
    }

    #[test]
    fn lifetimes_make_no_difference() {
        let text = String::from("here");
        let (alone, in_a_pair) = of_borrowed(&text);
        assert_eq!(alone, TypeId::of::<&'static str>());
        assert_eq!(in_a_pair, TypeId::of::<(&'static str, u8)>());
        assert_ne!(alone, in_a_pair);
    }

    #[test]
    fn types_differ_that_look_alike() {
        struct Number(#[allow(dead_code)] u64);
        assert_eq!(type_id::<u64>(), TypeId::of::<u64>());
        assert_eq!(type_id::<str>(), TypeId::of::<str>());
        assert_ne!(type_id::<u64>(), type_id::<i64>());
        assert_ne!(type_id::<u64>(), type_id::<Number>());
    }
}
