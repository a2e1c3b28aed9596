/work/main/pool/target/debug/deps/meetings-a09beb77f1e5b990.d: pool/tests/meetings.rs pool/tests/common/mod.rs

/work/main/pool/target/debug/deps/meetings-a09beb77f1e5b990: pool/tests/meetings.rs pool/tests/common/mod.rs

pool/tests/meetings.rs:
pool/tests/common/mod.rs:
