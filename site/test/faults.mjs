// Plants one fault at a time in the page and runs the part of the browser's tests that must notice it: `node faults.mjs PAGE FOLDER` beside page.mjs, as site/test.sh leaves it. By hand; some minutes.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const [page, folder] = process.argv.slice(2);
const html = readFileSync(page, 'utf8');
const MESSAGE = 'const place = find(`#${input.id}-error`);\nif (place.textContent !== text) place.textContent = text;';
const faults = [
    ['an error on the console', 'times', "find('[data-skip]')", "console.error('planted'); find('[data-skip]')"],
    ['an exception', 'times', "addEventListener('hashchange', turn);", "addEventListener('hashchange', turn); setTimeout(() => planted());"],
    ['a request', 'times', '<p class="brand">', '<img alt="" src="https://example.org/pixel.png"><p class="brand">'],
    ['too wide for a telephone', 'looks', '<p class="brand">', '<p style="width:400px">wide</p><p class="brand">'],
    ['words that are hard to read', 'accessible', '--soft:#57606a', '--soft:#a0a8b0'],
    ['a field without a label', 'accessible', 'for="size-n"', 'for="size-x"'],
    ['no stop for the keyboard', 'byKeyboard', '<input id="size-p"', '<input tabindex="-1" id="size-p"'],
    ['buttons that do not copy', 'byKeyboard', "button.textContent = done ? 'Copied'", "button.title = done ? 'Copied'"],
    ['an address without fields', 'links', "`#${tab.name}?${tab.query()}`", "`#${tab.name}`"],
    ['a select that links forget', 'links', "else input.value = values.get(name) ?? '';", "else if (name !== 'promise') input.value = values.get(name) ?? '';"],
    ['one in so many that is not read', 'links', "found.set('p', `1 in ${rate}`)", 'found'],
    ['no message beside the field', 'keeps', MESSAGE, ''],
    ['a last answer that is not marked', 'keeps', "this.answer.classList.toggle('stale', stale);", ''],
    ['a field that lacks is not seen', 'typed', '<div class="field" data-name="arrival">', '<div hidden class="field" data-name="arrival">'],
    ['three fields without a word', 'typed', '...noted(answer.note, ', "...noted('', "],
    ['a click that clears nothing', 'typed', "for (const name of names.split(' ')) this.fields[name].value = '';", ''],
    ['an example that stays beside what is typed', 'typed', "this.root)) (other).value = '';", 'this.root)) other.focus();'],
    ['numbers of the first tab that are not taken', 'typed', 'this.fields[name].value = input.value || input.placeholder;', ''],
    ['a link of the known calculator that keeps its rate', 'links', "found.delete('p')", 'found'],
    ['a box that is gone without a word', 'typed', '...noted(answer.lines_note)', ''],
    ['a table that is cut', 'looks', 'table,tbody,tr,caption{display:block}', 'table{width:40rem}'],
    ['a card that stands alone', 'looks', '.cards.of4{grid-template-columns:repeat(2,minmax(0,1fr))}', '.cards.of4{grid-template-columns:repeat(3,minmax(0,1fr))}'],
    ['numbers that are not saved', 'keeps', "add(part, '', answer.facts ?? {});", ''],
    ['input taken for markup', 'anything', MESSAGE, `${MESSAGE.split('\n')[0]}\nplace.innerHTML = text;`],
    ['a page that dies of odd input', 'anything', 'const version = ++this.version;', "if (JSON.stringify(this.values()).includes('\\u{1f600}')) this.version = NaN; const version = ++this.version;"],
];
let missed = 0;
for (const [name, part, from, to] of faults.filter(([name]) => !process.env.FAULT || name.includes(process.env.FAULT))) {
    if (!html.includes(from)) {
        console.error(`cannot plant: ${name}`);
        missed += 1;
        continue;
    }
    const file = `${folder}/fault.html`;
    writeFileSync(file, html.replace(from, () => to));
    const done = spawnSync('node', ['page.mjs', file, `${folder}/shots-of-faults`], { env: { ...process.env, ONLY: part }, encoding: 'utf8' });
    const noticed = done.status !== 0;
    missed += noticed ? 0 : 1;
    console.log(`${noticed ? 'noticed' : 'MISSED '} ${name}: ${(done.stderr.match(/FAILED: (.*)/)?.[1] ?? '').slice(0, 140)}`);
}
process.exit(missed ? 1 : 0);
