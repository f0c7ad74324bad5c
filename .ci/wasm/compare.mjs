// Compares the answers of a WebAssembly module with the lines of a file: `node compare.mjs MODULE ANSWERS`.
import { readFileSync } from 'node:fs';

const [path, expected] = process.argv.slice(2);
const { instance } = await WebAssembly.instantiate(readFileSync(path));
const lines = readFileSync(expected, 'utf8').trim().split('\n');
let wrong = 0;
lines.forEach((line, number) => {
    const found = BigInt.asUintN(64, instance.exports.answer(number)).toString(16).padStart(16, '0');
    if (found !== line || found === 'ffffffffffffffff') {
        console.error(`answer ${number}: ${found} in WebAssembly, ${line} natively`);
        wrong += 1;
    }
});
console.log(`${lines.length - wrong} of ${lines.length} answers equal those of the native build`);
process.exit(wrong === 0 && lines.length > 0 ? 0 : 1);
