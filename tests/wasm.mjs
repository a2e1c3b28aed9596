// Runs the checks of tests/wasm under Node, where there are no threads: everything runs in
// sequence, and nothing may wait for anybody else.
//
//   cargo build --manifest-path tests/wasm/Cargo.toml --target wasm32-unknown-unknown \
//       --target-dir target
//   node tests/wasm.mjs target/wasm32-unknown-unknown/debug/tine_wasm.wasm
//
// The last line has the form of cargo's. A check that waits for ever is ended from outside.

import { readFileSync } from "node:fs";
import { argv, exit } from "node:process";

const [, , file] = argv;
if (!file) {
    console.error("usage: node tests/wasm.mjs <file.wasm>");
    exit(2);
}

const { instance } = await WebAssembly.instantiate(readFileSync(file), {
    host: {
        say(address, bytes) {
            const text = new Uint8Array(instance.exports.memory.buffer, address, bytes);
            console.log(new TextDecoder().decode(text));
        },
    },
});
const { checks, check } = instance.exports;

let passed = 0;
const count = checks();
for (let number = 0; number < count; number += 1) {
    try {
        check(number);
        passed += 1;
    } catch (why) {
        // After a trap the instance is in no state to go on with.
        console.error(`FAILED: ${why.stack}`);
        break;
    }
}
const verdict = passed === count && count > 0 ? "ok" : "FAILED";
console.log(`test result: ${verdict}. ${passed} passed; ${count - passed} failed`);
exit(verdict === "ok" ? 0 : 1);
