//! The collecting sinks against their twins in the standard library.

mod collect;
mod drops;
mod kit;
mod lengths;
mod maps;
mod pairs;
mod smallest;
mod state;
mod strings;
mod tree;
