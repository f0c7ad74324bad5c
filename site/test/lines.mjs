// The lines that the page gives to copy are what this version understands: `node lines.mjs PAGE FOLDER ROOT COMMAND`. Those for the command are run, those for Rust compiled, those for Python are run where the package is there (python/test.sh
// installs it) and else parsed. Those for Redis are held to their form; crates/redis has its own tests.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

const [page, folder, root, command] = process.argv.slice(2);
const sources = readFileSync(new URL('../page/unpack.js', import.meta.url), 'utf8') + readFileSync(new URL('../page/engine.js', import.meta.url), 'utf8');
const { bytesOf, unpack, engine } = new Function(`${sources}; return { bytesOf, unpack, engine };`)();
const packed = readFileSync(page, 'utf8').match(/id="wasm">\s*([^\s<&]+)\s*<\/script>/)[1];
const ask = engine(unpack(bytesOf(packed)));
rmSync(folder, { recursive: true, force: true });
mkdirSync(`${folder}/src`, { recursive: true });
writeFileSync(`${folder}/items.txt`, 'one\ntwo\nthree\n');
writeFileSync(`${folder}/candidates.txt`, 'two\nfour\n');
writeFileSync(`${folder}/lines.txt`, 'a\nb\na\n');

let wrong = 0;
const fail = (text) => {
    wrong += 1;
    console.error(text);
};
const rust = [];
const added = new Set();
const python = existsSync(`${root}/target/python/venv/bin/python`) ? `${root}/target/python/venv/bin/python` : 'python3';
const hasPackage = spawnSync(python, ['-c', 'import truebloom'], { cwd: folder }).status === 0;
let ran = 0;
for (const question of [
    'size\nn=10 million\np=1 in 1000', 'size\nn=1000\np=1e-6', 'size\nn=100\np=1/3', 'size\np=1e-6\nm=1 MiB', 'size\nn=50k\nm=64KiB', 'size\nn=50k\nm=64KiB\nk=5', 'size\nn=1000\np=1%\npromise=mean', 'size\nn=1000\np=1%\nc=99.99%',
    'streams\nmemory=1 MiB\np=0.1%', 'streams\nn=10k\np=1e-4', 'streams\nremember=10k\np=1/3', 'streams\nremember=10 minutes\narrival=50\np=0.1%', 'counts\ne=1e-4\nd=1%', 'counts\ne=1/3\nd=1/7', 'audit\nlib=bip37\nn=5000\np=1%', 'audit\nlib=guava\nn=1000\np=1e-3\nm=64KiB\nk=3',
]) {
    const answer = JSON.parse(ask(question));
    const about = JSON.stringify(question);
    if (!answer.lines?.length) fail(`${about} has no lines`);
    for (const { name, code } of answer.lines ?? []) {
        ran += 1;
        if (name === 'Rust') {
            rust.push(`mod question_${rust.length} {\n${code}\n}`);
            const adds = code.match(/^\/\/ (cargo add --path \.\.\/truebloom\/crates\/filter( --features \w+)?)$/m);
            if (adds) added.add(adds[1]);
            else fail(`${about}: no line that adds the crate`);
        } else if (name === 'Shell') {
            rmSync(`${folder}/seen.tbl`, { force: true });
            const done = spawnSync('bash', ['-e', '-c', code.replace(/\btruebloom\b/g, `'${command}'`)], { cwd: folder, encoding: 'utf8' });
            if (done.status !== 0) fail(`${about}: ${code}\n${done.stderr}`);
            if (code.includes('check') && done.stdout.trim().split('\n').at(-1) !== 'two') fail(`${about}: ${code}\nprints ${JSON.stringify(done.stdout)}`);
        } else if (name === 'Python') {
            const program = hasPackage ? ['-c', code] : ['-c', 'import ast, sys; ast.parse(sys.argv[1])', code];
            const done = spawnSync(python, program, { cwd: folder, encoding: 'utf8' });
            if (done.status !== 0) fail(`${about}: ${code}\n${done.stderr}`);
        } else if (name === 'Redis') {
            const form = /^(BF\.RESERVE seen [\d.e-]+ \d+ NONSCALING\nBF\.ADD seen "an item"\nBF\.EXISTS seen "an item"|BF\.RESERVE seen [\d.e-]+ \d+ (RECYCLE( PHASES 2)?|EVERY \d+)\nBF\.ADD seen "an item"|CMS\.INITBYPROB counts [\d.e-]+ [\d.e-]+\nCMS\.INCRBY counts "an item" 1\nCMS\.QUERY counts "an item")$/;
            if (!form.test(code)) fail(`${about}: ${code}`);
        } else fail(`${about}: lines for ${name}`);
    }
}
writeFileSync(`${folder}/Cargo.toml`, '[package]\nname = "lines"\nversion = "0.0.0"\nedition = "2024"\n\n[workspace]\n');
const unused = '#![allow(unused_variables, unused_mut, dead_code)]';
writeFileSync(`${folder}/src/lib.rs`, `${unused}\n${rust.join('\n')}\n`);
for (const line of added) {
    const done = spawnSync('bash', ['-c', `${line.replace('../truebloom', root)} --offline`], { cwd: folder, encoding: 'utf8' });
    if (done.status !== 0) fail(`${line}\n${done.stderr}`);
}
try {
    execFileSync('cargo', ['check', '--quiet', '--manifest-path', `${folder}/Cargo.toml`], { env: { ...process.env, CARGO_TARGET_DIR: `${root}/target/native` }, stdio: ['ignore', 'inherit', 'inherit'] });
} catch {
    fail('the lines for Rust do not compile');
}
console.log(`${ran} pieces to copy are what this version understands${hasPackage ? '' : '; those for Python are parsed alone, as the package is not built here'}`);
process.exit(wrong ? 1 : 0);
