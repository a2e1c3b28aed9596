//! Success or failure: the part of `std::ops::Try` that stable Rust lacks.

use std::convert::Infallible;
use std::ops::ControlFlow::{self, Break, Continue};
use std::task::Poll;

mod sealed {
    pub trait Sealed {}
}

/// The outcome of one step of `try_fold`, `try_reduce` or `try_for_each`: an `Option`, a `Result`,
/// a `ControlFlow`, or a `Poll` of an `Option` or a `Result`.
pub trait Try: sealed::Sealed {
    /// The value of a success.
    type Output;
    /// The value of a failure.
    type Residual;

    /// Success.
    fn from_output(output: Self::Output) -> Self;

    /// Failure.
    fn from_residual(residual: Self::Residual) -> Self;

    /// Tells the two apart.
    fn branch(self) -> ControlFlow<Self::Residual, Self::Output>;
}

/// Makes a `Try` of the outcome of a step.
pub(crate) fn close<R: Try>(flow: ControlFlow<R::Residual, R::Output>) -> R {
    match flow {
        Continue(output) => R::from_output(output),
        Break(residual) => R::from_residual(residual),
    }
}

macro_rules! attempt {
    ([$($param:ident),*] $Type:ty, $Output:ty, $Residual:ty, $good:pat => $output:expr,
     $bad:pat => $residual:expr, |$o:ident| $from_output:expr, |$r:pat_param| $from_residual:expr) => {
        impl<$($param),*> sealed::Sealed for $Type {}

        impl<$($param),*> Try for $Type {
            type Output = $Output;
            type Residual = $Residual;

            fn from_output($o: $Output) -> Self {
                $from_output
            }

            fn from_residual($r: $Residual) -> Self {
                $from_residual
            }

            fn branch(self) -> ControlFlow<$Residual, $Output> {
                match self {
                    $good => Continue($output),
                    $bad => Break($residual),
                }
            }
        }
    };
}

attempt! {
    [T] Option<T>, T, Option<Infallible>,
    Some(x) => x, None => None, |o| Some(o), |_| None
}
attempt! {
    [T, E] Result<T, E>, T, Result<Infallible, E>,
    Ok(x) => x, Err(e) => Err(e), |o| Ok(o), |r| Err(failed(r))
}
attempt! {
    [B, C] ControlFlow<B, C>, C, ControlFlow<B, Infallible>,
    Continue(x) => x, Break(b) => Break(b), |o| Continue(o), |r| Break(broken(r))
}
attempt! {
    [T, E] Poll<Result<T, E>>, Poll<T>, Result<Infallible, E>,
    good @ (Poll::Pending | Poll::Ready(Ok(_))) => good.map(|result| match result {
        Ok(x) => x,
        Err(_) => unreachable!("an error was matched as success"),
    }),
    Poll::Ready(Err(e)) => Err(e), |o| o.map(Ok), |r| Poll::Ready(Err(failed(r)))
}
attempt! {
    [T, E] Poll<Option<Result<T, E>>>, Poll<Option<T>>, Result<Infallible, E>,
    good @ (Poll::Pending | Poll::Ready(None | Some(Ok(_)))) => good.map(|option| {
        option.map(|result| match result {
            Ok(x) => x,
            Err(_) => unreachable!("an error was matched as success"),
        })
    }),
    Poll::Ready(Some(Err(e))) => Err(e),
    |o| o.map(|option| option.map(Ok)), |r| Poll::Ready(Some(Err(failed(r))))
}

fn failed<E>(residual: Result<Infallible, E>) -> E {
    match residual {
        Err(e) => e,
    }
}

fn broken<B>(residual: ControlFlow<B, Infallible>) -> B {
    match residual {
        Break(b) => b,
    }
}
