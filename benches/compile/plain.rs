// The program to which a sort is added.
use library::prelude::*;

#[derive(Clone, Copy, Debug)]
struct Person {
    height: u32,
    born: u64,
    id: u64,
}

fn person(id: u64) -> Person {
    let born = id.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    Person { height: (born >> 40) as u32, born, id }
}

fn main() {
    let mut numbers: Vec<u64> = (0..100_000).map(|id| person(id).born).collect();
    let mut people: Vec<Person> = (0..100_000).map(person).collect();
    numbers.par_iter_mut().for_each(|number| *number >>= 1);
    people.par_iter_mut().for_each(|person| person.id += 1);
    // HERE
    println!("{:?} {:?}", numbers[500], people[500]);
}
