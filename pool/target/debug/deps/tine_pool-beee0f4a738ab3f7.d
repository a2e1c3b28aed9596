/work/main/pool/target/debug/deps/tine_pool-beee0f4a738ab3f7.d: pool/src/lib.rs pool/src/clock.rs pool/src/config.rs pool/src/deque/mod.rs pool/src/deque/nested.rs pool/src/deque/spawned.rs pool/src/deque/steal.rs pool/src/injector.rs pool/src/job.rs pool/src/latch.rs pool/src/ledger.rs pool/src/park.rs pool/src/row.rs pool/src/seat.rs pool/src/slab.rs pool/src/sleep.rs pool/src/spares.rs pool/src/stats.rs pool/src/sync.rs pool/src/sys.rs pool/src/unwind.rs pool/src/blocking.rs pool/src/broadcast.rs pool/src/builder.rs pool/src/handle.rs pool/src/idle.rs pool/src/join.rs pool/src/loops.rs pool/src/outside.rs pool/src/pace.rs pool/src/patience.rs pool/src/picture.rs pool/src/pool.rs pool/src/scope.rs pool/src/shared.rs pool/src/spawn.rs pool/src/thread.rs pool/src/trace/mod.rs pool/src/trace/event.rs pool/src/trace/off.rs pool/src/trace/silent.rs pool/src/wait.rs pool/src/worker.rs

/work/main/pool/target/debug/deps/libtine_pool-beee0f4a738ab3f7.rlib: pool/src/lib.rs pool/src/clock.rs pool/src/config.rs pool/src/deque/mod.rs pool/src/deque/nested.rs pool/src/deque/spawned.rs pool/src/deque/steal.rs pool/src/injector.rs pool/src/job.rs pool/src/latch.rs pool/src/ledger.rs pool/src/park.rs pool/src/row.rs pool/src/seat.rs pool/src/slab.rs pool/src/sleep.rs pool/src/spares.rs pool/src/stats.rs pool/src/sync.rs pool/src/sys.rs pool/src/unwind.rs pool/src/blocking.rs pool/src/broadcast.rs pool/src/builder.rs pool/src/handle.rs pool/src/idle.rs pool/src/join.rs pool/src/loops.rs pool/src/outside.rs pool/src/pace.rs pool/src/patience.rs pool/src/picture.rs pool/src/pool.rs pool/src/scope.rs pool/src/shared.rs pool/src/spawn.rs pool/src/thread.rs pool/src/trace/mod.rs pool/src/trace/event.rs pool/src/trace/off.rs pool/src/trace/silent.rs pool/src/wait.rs pool/src/worker.rs

/work/main/pool/target/debug/deps/libtine_pool-beee0f4a738ab3f7.rmeta: pool/src/lib.rs pool/src/clock.rs pool/src/config.rs pool/src/deque/mod.rs pool/src/deque/nested.rs pool/src/deque/spawned.rs pool/src/deque/steal.rs pool/src/injector.rs pool/src/job.rs pool/src/latch.rs pool/src/ledger.rs pool/src/park.rs pool/src/row.rs pool/src/seat.rs pool/src/slab.rs pool/src/sleep.rs pool/src/spares.rs pool/src/stats.rs pool/src/sync.rs pool/src/sys.rs pool/src/unwind.rs pool/src/blocking.rs pool/src/broadcast.rs pool/src/builder.rs pool/src/handle.rs pool/src/idle.rs pool/src/join.rs pool/src/loops.rs pool/src/outside.rs pool/src/pace.rs pool/src/patience.rs pool/src/picture.rs pool/src/pool.rs pool/src/scope.rs pool/src/shared.rs pool/src/spawn.rs pool/src/thread.rs pool/src/trace/mod.rs pool/src/trace/event.rs pool/src/trace/off.rs pool/src/trace/silent.rs pool/src/wait.rs pool/src/worker.rs

pool/src/lib.rs:
pool/src/clock.rs:
pool/src/config.rs:
pool/src/deque/mod.rs:
pool/src/deque/nested.rs:
pool/src/deque/spawned.rs:
pool/src/deque/steal.rs:
pool/src/injector.rs:
pool/src/job.rs:
pool/src/latch.rs:
pool/src/ledger.rs:
pool/src/park.rs:
pool/src/row.rs:
pool/src/seat.rs:
pool/src/slab.rs:
pool/src/sleep.rs:
pool/src/spares.rs:
pool/src/stats.rs:
pool/src/sync.rs:
pool/src/sys.rs:
pool/src/unwind.rs:
pool/src/blocking.rs:
pool/src/broadcast.rs:
pool/src/builder.rs:
pool/src/handle.rs:
pool/src/idle.rs:
pool/src/join.rs:
pool/src/loops.rs:
pool/src/outside.rs:
pool/src/pace.rs:
pool/src/patience.rs:
pool/src/picture.rs:
pool/src/pool.rs:
pool/src/scope.rs:
pool/src/shared.rs:
pool/src/spawn.rs:
pool/src/thread.rs:
pool/src/trace/mod.rs:
pool/src/trace/event.rs:
pool/src/trace/off.rs:
pool/src/trace/silent.rs:
pool/src/wait.rs:
pool/src/worker.rs:
