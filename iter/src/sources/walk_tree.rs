//! Trees whose nodes are made while they are walked.
//!
//! A producer holds nodes whose subtrees are still to be walked (`ahead`) and nodes that were
//! opened on the way to a split (`opened`). A split opens nodes until two subtrees lie side by
//! side. Where nodes come before their children, it opens at most [`PATIENCE`] of them, and a tree
//! that is one long branch is handed on bit by bit. Where nodes come after their children, the
//! branch is opened to its end, as for the first item of a sequential walk.
#![forbid(unsafe_code)]

use crate::plumbing::{Folder, UnindexedProducer};
use crate::sources::kit::unindexed;
use std::fmt;
use std::mem;

/// How many nodes one split may open.
const PATIENCE: usize = 256;

/// The value of a vector that holds but one.
fn only<T>(v: &mut Vec<T>) -> Option<T> {
    if v.len() == 1 { v.pop() } else { None }
}

/// The later half of a vector, if it holds at least two values.
fn later_half<T>(v: &mut Vec<T>) -> Option<Vec<T>> {
    (v.len() > 1).then(|| v.split_off(v.len() / 2))
}

macro_rules! tree {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        pub struct $name<S, B> {
            root: S,
            children_of: B,
        }

        impl<S: fmt::Debug, B> fmt::Debug for $name<S, B> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).field("root", &self.root).finish()
            }
        }
    };
}

tree! {
    /// Parallel iterator over the nodes of a tree, in any order.
    ///
    /// Made by [`walk_tree`].
    ///
    /// ```
    /// use tine::{iter::{WalkTree, walk_tree}, prelude::*};
    ///
    /// let nodes: WalkTree<_, _> = walk_tree(3, |&n| 0..n);
    /// assert_eq!(nodes.count(), 8);
    /// ```
    WalkTree
}
tree! {
    /// Parallel iterator over the nodes of a tree, each before its children.
    ///
    /// Made by [`walk_tree_prefix`].
    ///
    /// ```
    /// use tine::{iter::{WalkTreePrefix, walk_tree_prefix}, prelude::*};
    ///
    /// let nodes: WalkTreePrefix<_, _> = walk_tree_prefix(2, |&n| 0..n);
    /// assert_eq!(nodes.collect::<Vec<i32>>(), [2, 0, 1, 0]);
    /// ```
    WalkTreePrefix
}
tree! {
    /// Parallel iterator over the nodes of a tree, each after its children.
    ///
    /// Made by [`walk_tree_postfix`].
    ///
    /// ```
    /// use tine::{iter::{WalkTreePostfix, walk_tree_postfix}, prelude::*};
    ///
    /// let nodes: WalkTreePostfix<_, _> = walk_tree_postfix(2, |&n| 0..n);
    /// assert_eq!(nodes.collect::<Vec<i32>>(), [0, 0, 1, 2]);
    /// ```
    WalkTreePostfix
}

/// Walks a tree from `root` in the order that is fastest; `children_of` returns the children of a
/// node.
///
/// ```
/// use tine::iter::walk_tree;
/// use tine::prelude::*;
///
/// // Every number up to 1000, as the children 10 n … 10 n + 9 of its prefix.
/// let count = walk_tree(0_u32, |&n| {
///     let first = if n == 0 { 1 } else { 10 * n };
///     (first..10 * n + 10).filter(|&child| child < 1000)
/// })
/// .count();
/// assert_eq!(count, 1000);
/// ```
pub fn walk_tree<S, B, I>(root: S, children_of: B) -> WalkTree<S, B>
where
    S: Send,
    B: Fn(&S) -> I + Send + Sync,
    I: IntoIterator<Item = S, IntoIter: DoubleEndedIterator>,
{
    WalkTree { root, children_of }
}

/// Walks a tree from `root`, each node before its children, and the children in order.
///
/// ```
/// use tine::iter::walk_tree_prefix;
/// use tine::prelude::*;
///
/// //      1
/// //     / \
/// //    2   3
/// //   / \
/// //  4   5
/// let children = |&n: &u32| [2 * n, 2 * n + 1].into_iter().filter(|&child| child <= 5);
/// let order: Vec<u32> = walk_tree_prefix(1, children).collect();
/// assert_eq!(order, [1, 2, 4, 5, 3]);
/// ```
pub fn walk_tree_prefix<S, B, I>(root: S, children_of: B) -> WalkTreePrefix<S, B>
where
    S: Send,
    B: Fn(&S) -> I + Send + Sync,
    I: IntoIterator<Item = S, IntoIter: DoubleEndedIterator>,
{
    WalkTreePrefix { root, children_of }
}

/// Walks a tree from `root`, each node after its children, and the children in order.
///
/// ```
/// use tine::iter::walk_tree_postfix;
/// use tine::prelude::*;
///
/// //      1
/// //     / \
/// //    2   3
/// //   / \
/// //  4   5
/// let children = |&n: &u32| [2 * n, 2 * n + 1].into_iter().filter(|&child| child <= 5);
/// let order: Vec<u32> = walk_tree_postfix(1, children).collect();
/// assert_eq!(order, [4, 5, 2, 3, 1]);
/// ```
pub fn walk_tree_postfix<S, B, I>(root: S, children_of: B) -> WalkTreePostfix<S, B>
where
    S: Send,
    B: Fn(&S) -> I + Send + Sync,
    I: IntoIterator<Item = S>,
{
    WalkTreePostfix { root, children_of }
}

unindexed! {
    [S, B, I] WalkTree<S, B>, where [
        S: Send,
        B: Fn(&S) -> I + Send + Sync,
        I: IntoIterator<Item = S, IntoIter: DoubleEndedIterator>,
    ] => S;
    producer(it) Prefix { opened: Vec::new(), ahead: vec![it.root], children_of: &it.children_of };
}

unindexed! {
    [S, B, I] WalkTreePrefix<S, B>, where [
        S: Send,
        B: Fn(&S) -> I + Send + Sync,
        I: IntoIterator<Item = S, IntoIter: DoubleEndedIterator>,
    ] => S;
    producer(it) Prefix { opened: Vec::new(), ahead: vec![it.root], children_of: &it.children_of };
}

unindexed! {
    [S, B, I] WalkTreePostfix<S, B>, where [
        S: Send,
        B: Fn(&S) -> I + Send + Sync,
        I: IntoIterator<Item = S>,
    ] => S;
    producer(it) Postfix { ahead: vec![it.root], opened: Vec::new(), children_of: &it.children_of };
}

/// Produces nodes before their children.
struct Prefix<'b, S, B> {
    /// Nodes that come before all others, in order.
    opened: Vec<S>,
    /// Subtrees, the next one last.
    ahead: Vec<S>,
    children_of: &'b B,
}

impl<S, B, I> UnindexedProducer for Prefix<'_, S, B>
where
    S: Send,
    B: Fn(&S) -> I + Send + Sync,
    I: IntoIterator<Item = S, IntoIter: DoubleEndedIterator>,
{
    type Item = S;

    fn split(mut self) -> (Self, Option<Self>) {
        let children_of = self.children_of;
        for _ in 0..PATIENCE {
            let Some(node) = only(&mut self.ahead) else {
                break;
            };
            self.ahead.extend(children_of(&node).into_iter().rev());
            self.opened.push(node);
        }
        if let Some(next) = later_half(&mut self.ahead) {
            let ahead = mem::replace(&mut self.ahead, next);
            return (
                self,
                Some(Prefix {
                    opened: Vec::new(),
                    ahead,
                    children_of,
                }),
            );
        }
        let Some(opened) = later_half(&mut self.opened) else {
            return (self, None);
        };
        let ahead = mem::take(&mut self.ahead);
        (
            self,
            Some(Prefix {
                opened,
                ahead,
                children_of,
            }),
        )
    }

    fn fold_with<F: Folder<S>>(self, folder: F) -> F {
        let Prefix {
            opened,
            mut ahead,
            children_of,
        } = self;
        let mut folder = folder.consume_iter(opened);
        while !folder.full() {
            let Some(node) = ahead.pop() else { break };
            ahead.extend(children_of(&node).into_iter().rev());
            folder = folder.consume(node);
        }
        folder
    }
}

/// Produces nodes after their children.
struct Postfix<'b, S, B> {
    /// Subtrees, the next one first.
    ahead: Vec<S>,
    /// Nodes that come after all others, the next one last.
    opened: Vec<S>,
    children_of: &'b B,
}

impl<S, B, I> UnindexedProducer for Postfix<'_, S, B>
where
    S: Send,
    B: Fn(&S) -> I + Send + Sync,
    I: IntoIterator<Item = S>,
{
    type Item = S;

    fn split(mut self) -> (Self, Option<Self>) {
        let children_of = self.children_of;
        while let Some(node) = only(&mut self.ahead) {
            self.ahead.extend(children_of(&node));
            self.opened.push(node);
        }
        if let Some(ahead) = later_half(&mut self.ahead) {
            let opened = mem::take(&mut self.opened);
            return (
                self,
                Some(Postfix {
                    ahead,
                    opened,
                    children_of,
                }),
            );
        }
        let Some(inner) = later_half(&mut self.opened) else {
            return (self, None);
        };
        let opened = mem::replace(&mut self.opened, inner);
        (
            self,
            Some(Postfix {
                ahead: Vec::new(),
                opened,
                children_of,
            }),
        )
    }

    fn fold_with<F: Folder<S>>(self, mut folder: F) -> F {
        let Postfix {
            ahead,
            opened,
            children_of,
        } = self;
        // The branch above `node`: its ancestors, each with its remaining children. The branch grows with the
        // depth of the tree; the call stack does not.
        let mut branch = Vec::new();
        for subtree in ahead {
            let mut children = children_of(&subtree).into_iter();
            let mut node = subtree;
            let mut next = children.next();
            loop {
                let done = match next {
                    Some(child) => {
                        let mut below = children_of(&child).into_iter();
                        next = below.next();
                        if next.is_some() {
                            let parent = mem::replace(&mut node, child);
                            branch.push((parent, mem::replace(&mut children, below)));
                            continue;
                        }
                        // A leaf never becomes part of the branch.
                        next = children.next();
                        child
                    }
                    None => match branch.pop() {
                        Some((parent, siblings)) => {
                            children = siblings;
                            next = children.next();
                            mem::replace(&mut node, parent)
                        }
                        None => break,
                    },
                };
                folder = folder.consume(done);
                if folder.full() {
                    return folder;
                }
            }
            folder = folder.consume(node);
            if folder.full() {
                return folder;
            }
        }
        folder.consume_iter(opened.into_iter().rev())
    }
}

#[cfg(test)]
mod tests {
    use super::{PATIENCE, Postfix, Prefix};
    use crate::sources::pieces::tests::{leaves, sequential};

    /// Children of `n` in a tree of `size` nodes, each with `fan` children.
    fn children(size: usize, fan: usize) -> impl Fn(&usize) -> Vec<usize> + Sync {
        move |&n| {
            (n * fan + 1..=n * fan + fan)
                .take_while(|&child| child < size)
                .collect()
        }
    }

    #[test]
    fn every_way_to_split_keeps_the_order() {
        for (size, fan) in [(1, 2), (2, 1), (3, 1), (40, 1), (7, 2), (100, 2), (50, 7)] {
            let children_of = &children(size, fan);
            let prefix = || Prefix {
                opened: vec![],
                ahead: vec![0],
                children_of,
            };
            let postfix = || Postfix {
                opened: vec![],
                ahead: vec![0],
                children_of,
            };
            let (before, after) = (sequential(prefix()), sequential(postfix()));
            assert_eq!(before.len(), size);
            assert_eq!(after.len(), size);
            for depth in 0..9 {
                assert_eq!(leaves(prefix(), depth), before);
                assert_eq!(leaves(postfix(), depth), after);
            }
        }
    }

    #[test]
    fn a_long_branch_is_opened_bit_by_bit_or_to_its_end() {
        use crate::plumbing::UnindexedProducer;

        let children_of = &children(100 * PATIENCE, 1);
        let (left, right) = Prefix {
            opened: vec![],
            ahead: vec![0],
            children_of,
        }
        .split();
        let right = right.expect("a branch can be split");
        assert_eq!(left.opened.len() + right.opened.len(), PATIENCE);
        assert!(left.ahead.is_empty() && right.ahead.len() == 1);
        let (left, right) = Postfix {
            opened: vec![],
            ahead: vec![0],
            children_of,
        }
        .split();
        let right = right.expect("a branch can be split");
        assert_eq!(left.opened.len(), right.opened.len());
        assert_eq!(left.opened.len() + right.opened.len(), 100 * PATIENCE);
        assert!(left.ahead.is_empty() && right.ahead.is_empty());
    }
}
