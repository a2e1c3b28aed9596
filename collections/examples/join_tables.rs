//! Joins two tables: what each town's customers have spent.

use tine_collections::prelude::*;
use tine_iter::prelude::*;

#[derive(Clone, Debug, PartialEq)]
struct Customer {
    id: u32,
    town: &'static str,
}

#[derive(Clone, Debug, PartialEq)]
struct Order {
    customer: u32,
    cents: u64,
}

fn main() {
    const TOWNS: [&str; 3] = ["Aachen", "Bergen", "Cluj"];
    let customers: Vec<Customer> = (0..3000)
        .map(|id| Customer {
            id,
            town: TOWNS[id as usize % 3],
        })
        .collect();
    // Some orders name customers that do not exist.
    let orders: Vec<Order> = (0..100_000)
        .map(|n| Order {
            customer: n * 7 % 3100,
            cents: u64::from(n % 500),
        })
        .collect();

    let join = || {
        let customers = customers.par_iter();
        orders
            .par_iter()
            .join_by(customers, |order| order.customer, |customer| customer.id)
    };
    let spent = join().inner().into_par_iter().fold_by(
        |(_, customer)| customer.town,
        || 0,
        |sum, (order, _)| *sum += order.cents,
        |sum, more| *sum += more,
    );
    let strangers = join().anti();

    for town in TOWNS {
        let known =
            |order: &&Order| order.customer < 3000 && TOWNS[order.customer as usize % 3] == town;
        let by_hand: u64 = orders.iter().filter(known).map(|order| order.cents).sum();
        assert_eq!(spent.get_cloned(town), Some(by_hand));
        println!("{town:>8}: {:>9}.{:02}", by_hand / 100, by_hand % 100);
    }
    assert!(
        strangers
            .into_iter()
            .eq(orders.iter().filter(|order| order.customer >= 3000))
    );
}
