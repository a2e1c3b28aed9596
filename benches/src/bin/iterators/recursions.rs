//! Loops whose items call the same loop again: walks of trees, searches, halves of halves. Nearly all calls have
//! only a few tiny items.

use std::hint::black_box;
use std::sync::OnceLock;

use super::Book;
use crate::race::{Case, Goal, sample};

pub struct Node {
    value: u64,
    kids: Vec<Node>,
}

/// A small generator of numbers, the same in each run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 33) % end
    }
}

/// A tree of this number of levels below its root, each node of which has one to six below it.
fn even(levels: u32, dice: &mut Dice) -> Node {
    let kids = if levels == 0 { 0 } else { 1 + dice.below(6) };
    Node {
        value: dice.below(1000),
        kids: (0..kids).map(|_| even(levels - 1, dice)).collect(),
    }
}

/// A tree of this number of nodes. Below each, half of the parts are single nodes, and half may hold nearly all.
fn uneven(nodes: u64, dice: &mut Dice) -> Node {
    let mut left = nodes.saturating_sub(1);
    let value = dice.below(1000);
    let mut kids = vec![];
    while left > 0 {
        let most = if dice.below(2) == 0 { 1 } else { left };
        let part = 1 + dice.below(most);
        kids.push(uneven(part, dice));
        left -= part;
    }
    Node { value, kids }
}

/// Whether a queen may stand in a column of a row, below others; and what is taken then.
#[derive(Clone, Copy)]
pub struct Board {
    row: u32,
    columns: u64,
    falling: u64,
    rising: u64,
}

impl Board {
    const EMPTY: Self = Self {
        row: 0,
        columns: 0,
        falling: 0,
        rising: 0,
    };

    fn with(self, column: u32) -> Option<Self> {
        let (falling, rising) = (1 << (self.row + column), 1 << (32 + self.row - column));
        let taken = self.columns & (1 << column) | self.falling & falling | self.rising & rising;
        (taken == 0).then_some(Self {
            row: self.row + 1,
            columns: self.columns | 1 << column,
            falling: self.falling | falling,
            rising: self.rising | rising,
        })
    }
}

macro_rules! walks {
    ($module:ident, $par_iter:ident, $into_par_iter:ident $(, $prelude:path)?) => {
        mod $module {
            use super::{Board, Node};
            $(use $prelude::*;)?

            pub fn sum(node: &Node) -> u64 {
                node.value + node.kids.$par_iter().map(sum).sum::<u64>()
            }

            /// The number of ways to place a queen in each of the rows that are left.
            pub fn queens(n: u32, board: Board) -> u64 {
                if board.row == n {
                    return 1;
                }
                let columns = (0..n).$into_par_iter();
                let boards = columns.filter_map(|column| board.with(column));
                boards.map(|board| queens(n, board)).sum()
            }

            pub fn pairs(n: u32) -> u64 {
                match n {
                    0 | 1 => n.into(),
                    _ => [n - 1, n - 2].$par_iter().map(|&n| pairs(n)).sum(),
                }
            }
        }
    };
}

walks!(sequential, iter, into_iter);
walks!(ours, par_iter, into_par_iter, tine_iter::prelude);
walks!(rayons, par_iter, into_par_iter, rayon::prelude);

macro_rules! cases {
    ($walk:ident($($of:expr),*)) => {
        || -> Vec<Case> {
            vec![
                ("sequential", sample(move || sequential::$walk($(black_box($of)),*))),
                ("tine", sample(move || ours::$walk($($of),*))),
                ("rayon", sample(move || rayons::$walk($($of),*))),
            ]
        }
    };
}

/// An even and an uneven tree, a small and a large one of each.
fn trees() -> &'static [Node; 4] {
    static TREES: OnceLock<[Node; 4]> = OnceLock::new();
    TREES.get_or_init(|| {
        let dice = &mut Dice(4);
        let [small, large] = [5, 9].map(|levels| even(levels, dice));
        [small, large, uneven(1_000, dice), uneven(50_000, dice)]
    })
}

/// The rows of this file.
pub fn rows(book: &mut Book<'_>) {
    book.section("Loops that call themselves");
    let goal = Goal::Within(1.0, "rayon", 0.0);
    let names = [
        "recursion, tree of 6 levels",
        "recursion, tree of 10 levels",
        "recursion, uneven tree of 1,000 nodes",
        "recursion, uneven tree of 50,000 nodes",
    ];
    for (name, tree) in names.into_iter().zip(trees()) {
        book.row(name, goal, cases!(sum(tree)));
    }
    book.row("recursion, 8 queens", goal, cases!(queens(8, Board::EMPTY)));
    book.row(
        "recursion, 10 queens",
        goal,
        cases!(queens(10, Board::EMPTY)),
    );
    book.row("recursion, 20 levels of pairs", goal, cases!(pairs(20)));
}
