// Asks 500 questions of the module in the page and of the library on this machine: `node numbers.mjs PAGE MODULE NATIVE [COMMAND]`. The answers must be the same, letter by letter; numbers are written so that equal
// letters are equal bits. With the command, what it says to the same questions must be the same, too.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const [page, module, native, command] = process.argv.slice(2);
const html = readFileSync(page, 'utf8');
const sources = readFileSync(new URL('../page/unpack.js', import.meta.url), 'utf8') + readFileSync(new URL('../page/engine.js', import.meta.url), 'utf8');
const { bytesOf, unpack, engine } = new Function(`${sources}; return { bytesOf, unpack, engine };`)();
const packed = html.match(/id="wasm">\s*([^\s<&]+)\s*<\/script>/)[1];
const bytes = unpack(bytesOf(packed));
let wrong = 0;
const fail = (text) => {
    wrong += 1;
    if (wrong < 20) console.error(text);
};
if (Buffer.compare(Buffer.from(bytes), readFileSync(module)) !== 0) fail('the page does not unpack the module that was built');
const ask = engine(bytes);

// Questions of a frozen seed.
let state = 20261122n;
const random = (below) => {
    state = (state * 6364136223846793005n + 1442695040888963407n) & ((1n << 64n) - 1n);
    return Number((state >> 33n) % BigInt(below));
};
const one = (...list) => list[random(list.length)];
const items = () => one(`${1 + random(2000)}`, `${1 + random(999)}k`, `${1 + random(99)}M`, `${1 + random(9)} million`, `${1 + random(999)}e${random(7)}`, `${1 + random(9)},000`);
const rate = () => one(`${1 + random(30)}%`, `0.${1 + random(99)}%`, `1e-${1 + random(12)}`, `1/${2 + random(100000)}`, `1 in ${1 + random(99)}000`, `${1 + random(9)}.${random(99)}e-${2 + random(9)}`);
const size = () => one(`${64 + random(100000)}`, `${1 + random(64)} MiB`, `${1 + random(900)}KB`, `${1 + random(40)}M`, `${1 + random(500)}KiB`);
const share = () => one('', '', `${90 + random(10)}%`, `0.9${random(999)}`, '99.99%');
const promise = () => one('', '', '', 'mean');
const bad = () => one('', 'x', '-1', '0', '1e99', '10 millions', '5', '\u{1f600}', '1 in 1', 'NaN', '=', '%', '1,00');
const fields = (...pairs) => pairs.map(([name, value]) => `${name}=${value}`);
const makers = [
    [180, () => ['size', ...fields(['n', items()], ['p', rate()], ['c', share()], ['promise', promise()])]],
    [50, () => ['size', ...fields(['p', rate()], ['m', size()], ['promise', promise()])]],
    [50, () => ['size', ...fields(['n', items()], ['m', size()])]],
    [30, () => ['size', ...fields(['n', items()], ['p', rate()], ['k', 1 + random(20)])]],
    [30, () => ['size', ...fields(['n', items()], ['p', rate()], ['m', size()])]],
    [30, () => ['size', ...fields(['n', one(bad(), items())], ['p', one(bad(), rate())], ['m', bad()], ['k', bad()], ['c', bad()])]],
    [4, () => ['size/spread', ...fields(['n', 1 + random(300)], ['p', one('1%', '1e-3', '7%')])]],
    [4, () => ['size/chart', ...fields(['n', items()], ['p', rate()], ['width', 300 + random(500)])]],
    [30, () => ['size/scheme', ...fields(['n', 10 + random(5000)], ['p', one('1%', '0.1%', '1e-4')], ['scheme', one('classic', 'partitioned', 'double', 'enhanced', 'cube', 'partition-double', 'blocked')])]],
    [6, () => ['streams', ...fields([one('memory', 'memory', 'n'), one(`${100 + random(900)} MiB`, `${1 + random(900)}M`)], ['p', rate()])]],
    [10, () => ['streams', ...fields(['n', `${1 + random(900)}`], ['p', one('1%', '0.1%', '1e-4')])]],
    [6, () => ['streams', ...fields(['remember', one(`${1 + random(900)}`, '1h', '30s')], ['arrival', one('', '0.1', '5')], ['p', one('1%', '0.1%')])]],
    [40, () => ['counts', ...fields(['e', rate()], ['d', rate()], ['total', one('', items())])]],
    [26, () => ['audit/row', ...fields(['lib', one('guava', 'redisbloom', 'rbloom', 'fastbloom', 'parquet', 'bip37', 'pybloom-live', 'cassandra', 'truebloom')], ['n', 10 + random(3000)], ['p', rate()])]],
    [4, () => ['audit', ...fields(['lib', one('guava', 'dcso', 'bloomfilter')], ['n', 100 + random(900)], ['p', '1%'], ['queries', '20k'])]],
];
const questions = makers.flatMap(([count, make]) => Array.from({ length: count }, () => make().join('\n')));
if (questions.length !== 500) fail(`${questions.length} questions`);

const expected = execFileSync(native, { input: questions.map((question) => question.replaceAll('\n', '\\n')).join('\n') + '\n', encoding: 'utf8', maxBuffer: 1 << 28 }).trim().split('\n');
const slowest = [0, ''];
const kinds = { answered: 0, refused: 0 };
questions.forEach((question, at) => {
    const begin = performance.now();
    const found = ask(question);
    const took = performance.now() - begin;
    if (took > slowest[0]) slowest.splice(0, 2, took, question);
    if (process.env.SLOW && took > 500) console.log(took.toFixed(0), JSON.stringify(question));
    if (found !== expected[at]) fail(`${JSON.stringify(question)}:\n  page   ${found.slice(0, 300)}\n  native ${String(expected[at]).slice(0, 300)}`);
    const answer = JSON.parse(found);
    if (answer.problem?.includes('fault of truebloom')) fail(`${JSON.stringify(question)}: ${answer.problem}`);
    kinds[answer.errors || answer.hint || answer.problem || answer.refused ? 'refused' : 'answered'] += 1;
});
// Most questions are to have numbers in their answers.
if (kinds.answered < 350) fail(`only ${kinds.answered} questions had an answer`);
console.log(`${questions.length} questions, ${kinds.answered} answered and ${kinds.refused} refused, each as by the library on this machine`);

if (command) {
    let compared = 0;
    for (const [n, p, m] of [['1000', '1e-6'], ['10M', '0.1%'], ['100', '1%'], ['123456', '1e-9'], ['', '1e-6', '64MiB'], ['50M', '', '64MiB'], ['300', '1/3'], ['1G', '1%']]) {
        const options = [n && ['-n', n], p && ['-p', p], m && ['-m', m]].filter(Boolean).flat();
        const said = JSON.parse(execFileSync(command, ['plan', ...options, '--json'], { encoding: 'utf8' }));
        const { facts } = JSON.parse(ask(`size\nn=${n}\np=${p}\nm=${m ?? ''}`));
        const pairs = [
            [said.bits, facts.bits], [said.items, facts.items], [said.probes, facts.probes], [said.fpr.upper, facts.fpr.upper], [said.fpr.lower, facts.fpr.lower], [said.guarantee.upper, facts.guarantee.upper],
            [said.textbook.bits, facts.textbook_bits], [said.textbook.fpr.value, facts.textbook_fpr], [said.blocked?.bits, facts.blocked_bits], ...said.overfilled.map((row, at) => [row.fpr.value, facts.overfilled_fpr[at]]),
        ];
        pairs.forEach(([theirs, ours], at) => {
            compared += 1;
            if (theirs !== ours) fail(`plan ${options.join(' ')}, number ${at}: the command says ${theirs}, the page ${ours}`);
        });
    }
    // Few items, too, where the one that ends a cycle counts.
    for (const [field, value, p] of [['n', '1', '10%'], ['n', '3', '10%'], ['n', '100k', '1%'], ['memory', '64KiB', '0.1%'], ['remember', '200k', '1e-4'], ['remember', '7', '1%']]) {
        const option = { n: '-n', memory: '--memory', remember: '--remember' }[field];
        const options = ['plan', '--recycling', option, value, '-p', p];
        const said = JSON.parse(execFileSync(command, [...options, '--json'], { encoding: 'utf8' }));
        const { facts } = JSON.parse(ask(`streams\n${field}=${value}\np=${p}`));
        const pairs = [[said.usual.bits, facts.usual.bits], [said.usual.items_per_cycle, facts.usual.items]];
        for (const [theirs, ours] of [[said.one_phase, facts.one_phase], [said.two_phase, facts.two_phases], [said.certain, facts.certain]]) {
            if (!theirs !== !ours) fail(`${options.join(' ')}: only one of the command and the page has a design`);
            if (!theirs || !ours) continue;
            for (const number of ['bits', 'probes', 'sigma', 'items_per_cycle', 'items_held', 'gain', 'forgotten']) pairs.push([theirs[number], ours[number]]);
            pairs.push([theirs.fpr.upper, ours.fpr.upper], [theirs.worst.value, ours.worst.value]);
        }
        pairs.forEach(([theirs, ours], at) => {
            compared += 1;
            if (theirs !== ours) fail(`${options.join(' ')}, number ${at}: the command says ${theirs}, the page ${ours}`);
        });
    }
    console.log(`${compared} numbers are those of the command`);
}
process.exit(wrong ? 1 : 0);
