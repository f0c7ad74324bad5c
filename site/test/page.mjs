// The page in a browser: `node page.mjs PAGE SHOTS`.
import { createRequire } from 'node:module';
import { mkdirSync, readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';

const [file, shots] = process.argv.slice(2);
mkdirSync(shots, { recursive: true });
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const address = `file://${file}`;
const TABS = ['size', 'streams', 'counts', 'audit'];
const failures = [];
const check = (holds, text) => {
    if (!holds) {
        failures.push(text);
        console.error(`FAILED: ${text}`);
    }
};
const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});

/** A page whose errors and requests are held against it. */
async function open(after = '', { width = 1440, height = 1000, scheme = 'light', axed = false } = {}) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, acceptDownloads: true, bypassCSP: axed });
    const page = await context.newPage();
    page.on('console', (message) => ['error', 'warning'].includes(message.type()) && check(false, `console ${message.type()}: ${message.text()}`));
    page.on('pageerror', (error) => check(false, `error in the page: ${error.message}`));
    page.on('request', (request) => check(/^(blob|data):/.test(request.url()) || request.url().startsWith(address), `a request to ${request.url()}`));
    page.on('worker', (worker) => check(worker.url().startsWith('blob:'), `a worker of ${worker.url()}`));
    await page.goto(address + after);
    await page.waitForSelector('section:not([hidden]) .big', { timeout: 60_000 });
    return page;
}
/** The rest of the answer has come, too. */
const settled = (page) => page.waitForSelector('section:not([hidden]) .answer[data-done]', { timeout: 120_000 });
const text = (page, selector) => page.locator(`section:not([hidden]) ${selector}`).first().innerText();
const type = async (page, id, value) => {
    await page.locator(id).fill(value);
};
/** The first answer to what is in the fields now. */
const answered = (page) => page.waitForFunction(() => document.querySelector('section:not([hidden]) .answer:not(.stale):not([data-asking])') && !document.querySelector('section:not([hidden]) [aria-invalid]') && document.querySelector('section:not([hidden]) .answer .big'), null, { timeout: 60_000 });
/** The refusal of what is in the fields now: an earlier one may have marked the same field. */
const refused = (page, ...ids) => page.waitForFunction((ids) => document.querySelector('section:not([hidden]) .answer:not([data-asking])') && ids.some((id) => document.querySelector(`#${id}[aria-invalid]`)), ids);

/** What is cut off or written over at this width, among tables, charts and cards. */
const spoiled = (page) => page.evaluate(() => {
    const found = [];
    const section = document.querySelector('section:not([hidden])');
    if (innerWidth <= 680) for (const table of section.querySelectorAll('[data-scrolls]')) if (table.scrollWidth > table.clientWidth + 1) found.push(`the table "${table.dataset.scrolls}" is cut`);
    for (const plot of section.querySelectorAll('.plot')) {
        const svg = plot.shadowRoot.querySelector('svg');
        const frame = svg.getBoundingClientRect();
        const words = [...svg.querySelectorAll('text')].map((text) => [text.textContent.trim(), text.getBoundingClientRect()]).filter(([text]) => text);
        for (const [text, box] of words) if (box.left < frame.left - 1 || box.right > frame.right + 1) found.push(`"${text}" is beyond the edge of its chart`);
        words.forEach(([text, a], at) => words.slice(at + 1).forEach(([other, b]) => {
            const [across, down] = [Math.min(a.right, b.right) - Math.max(a.left, b.left), Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)];
            // A line of text is higher than its letters.
            if (across > 1 && down > 4) found.push(`"${text}" is over "${other}"`);
        }));
    }
    const rows = new Map();
    const cards = [...section.querySelectorAll('.card')];
    for (const card of cards) rows.set(card.offsetTop, (rows.get(card.offsetTop) ?? 0) + 1);
    const counts = [...rows.values()];
    if (counts.length > 1 && counts[0] > 1 && counts.at(-1) === 1) found.push('the last card stands alone');
    return found;
});

async function looks() {
    for (const scheme of ['light', 'dark']) {
        const page = await open('', { scheme });
        for (const tab of TABS) {
            await page.evaluate((tab) => (location.hash = `#${tab}`), tab);
            await page.setViewportSize({ width: 1440, height: 1000 });
            await page.waitForSelector(`#${tab}:not([hidden]) .big`);
            // One library's simulations are in the light picture; the dark one need not wait for them again.
            if (tab !== 'audit' || scheme === 'light') await settled(page);
            for (const width of scheme === 'light' ? [1440, 1280, 768, 390, 360] : [1440, 768, 360]) {
                await page.setViewportSize({ width, height: 1000 });
                await page.waitForTimeout(500);
                await page.waitForSelector(`#${tab}:not([hidden]) .answer:not(.stale)`);
                if (tab !== 'audit') await settled(page);
                const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
                check(wide <= 0, `${tab} at ${width} pixels is ${wide} pixels too wide`);
                for (const fault of await spoiled(page)) check(false, `${tab} at ${width} pixels: ${fault}`);
                await page.screenshot({ path: `${shots}/${tab}-${width}-${scheme}.png`, fullPage: true });
            }
        }
        await page.setViewportSize({ width: 800, height: 1000 });
        await page.evaluate(() => (location.hash = '#size'));
        await page.waitForTimeout(500);
        await settled(page);
        await page.emulateMedia({ media: 'print', colorScheme: scheme });
        await page.screenshot({ path: `${shots}/print-${scheme}.png`, fullPage: true });
        const hidden = await page.locator('nav').isVisible();
        check(!hidden, 'what can only be clicked is printed');
        await page.context().close();
    }
}

async function accessible() {
    for (const scheme of ['light', 'dark']) {
        // The checker is put into the page, which the page's own policy refuses.
        const page = await open('', { scheme, axed: true });
        await page.addScriptTag({ content: axe });
        for (const tab of TABS) {
            await page.evaluate((tab) => (location.hash = `#${tab}`), tab);
            await page.waitForSelector(`#${tab}:not([hidden]) .big`);
            if (tab !== 'audit') await settled(page);
            for (const state of ['answered', 'wrong']) {
                if (state === 'wrong') {
                    await page.locator(`#${tab} input`).first().fill('a horse');
                    await page.waitForSelector(`#${tab} [aria-invalid]`);
                }
                const { violations } = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }));
                for (const found of violations) check(false, `axe, ${tab}, ${scheme}, ${state}: ${found.id}: ${found.help}: ${found.nodes.map((node) => node.target.join(' ')).slice(0, 3).join('; ')}`);
            }
        }
        await page.context().close();
    }
}

async function byKeyboard() {
    const page = await open();
    const press = async (key, times = 1) => {
        for (let i = 0; i < times; i += 1) await page.keyboard.press(key);
    };
    const focused = () => page.evaluate(() => document.activeElement?.id || document.activeElement?.textContent?.trim().slice(0, 40) || document.activeElement?.tagName);
    const reach = async (wanted, most = 60) => {
        for (let i = 0; i < most; i += 1) {
            if ((await focused()) === wanted) return true;
            await press('Tab');
        }
        return false;
    };
    check(await reach('Skip to the planner', 3), 'the first stop is the link to the planner');
    await press('Enter');
    await press('Tab');
    check((await focused()) === 'size-n', `after the link comes the first field, not ${await focused()}`);
    await press('Control+A');
    await page.keyboard.type('1000');
    check(await reach('size-p'), 'the second field is reached');
    await press('Control+A');
    await page.keyboard.type('1e-6');
    await answered(page);
    check((await text(page, '.small')).startsWith('29,183 bits'), `typed by keyboard: ${await text(page, '.small')}`);
    const outline = await page.evaluate(() => getComputedStyle(/** @type {Element} */ (document.activeElement)).outlineStyle);
    check(outline !== 'none', 'the focus is seen');
    check(await reach('100 keys, one in a million'), 'the examples are reached');
    await press('Enter');
    await page.waitForFunction(() => document.querySelector('#size .small')?.textContent?.startsWith('3,015 bits'));
    check(await reach('Copy'), 'a button to copy is reached');
    await press('Enter');
    await page.waitForFunction(() => document.activeElement?.textContent === 'Copied', null, { timeout: 5_000 }).catch(() => check(false, 'Enter copies'));
    await page.locator('nav a').first().focus();
    await press('Tab');
    await press('Enter');
    await page.waitForSelector('#streams:not([hidden]) .big');
    const current = await page.locator('nav [aria-current]').innerText();
    check(current === 'Recent items', `the tabs turn by keyboard, to ${current}`);
    await page.context().close();
}

async function links() {
    const page = await open();
    await type(page, '#size-n', '123k');
    await type(page, '#size-p', '1 in 5,000');
    await page.locator('#size summary').click();
    await page.locator('#size-promise').selectOption('mean');
    await answered(page);
    await page.waitForFunction(() => location.hash.includes('promise=mean'));
    const [hash, big, small] = [await page.evaluate(() => location.hash), await text(page, '.big'), await text(page, '.small')];
    const again = await open(hash);
    await answered(again);
    check((await again.locator('#size-n').inputValue()) === '123k' && (await again.locator('#size-p').inputValue()) === '1 in 5,000', 'a link has the fields as they were typed');
    check((await text(again, '.small')) === small && (await text(again, '.big')) === big, 'a link has the same answer');
    check(await again.locator('#size-promise').isVisible(), 'a field that a link sets is seen');
    await again.evaluate(() => (location.hash = '#audit?lib=rbloom&n=5000&p=1%25'));
    await again.waitForFunction(() => document.querySelector('#audit:not([hidden]) .small')?.textContent?.startsWith('rbloom'));
    await again.goBack();
    await again.waitForSelector('#size:not([hidden])');
    check((await again.locator('#size-n').inputValue()) === '123k', 'back leads to the question before');
    await again.context().close();
    await page.context().close();
    // The well-known calculator's links, in the query and in the fragment, with its way of writing.
    for (const [link, n, p, m, expected] of [
        ['?n=1000&p=1.0E-6&m=&k=', '1000', '1.0E-6', '', '29,183 bits'],
        ['#?n=1000&p=1000000&m=&k=', '1000', '1 in 1000000', '', '29,183 bits'],
        ['#n=10M&p=0.001', '10M', '0.001', '', '143,806,265 bits'],
        ['?m=64KiB&p=0.5E-5', '', '0.5E-5', '64KiB', '524,288 bits'],
        ['?n=4000&p=0.0000001&m=134191&k=23', '4000', '', '134191', '134,191 bits'],
        ['?n=4000&p=&m=8Mb&k=3', '4000', '', '8Mb', '8,000,000 bits'],
    ]) {
        const old = await open(link);
        await answered(old);
        const found = await Promise.all(['n', 'p', 'm'].map((field) => old.locator(`#size-${field}`).inputValue()));
        check(found.join() === [n, p, m].join() && (await text(old, '.small')).startsWith(expected), `${link} gives ${found.join()}: ${await text(old, '.small')}`);
        await old.context().close();
    }
}

async function keeps() {
    const page = await open('#size?n=1000&p=1e-6');
    await settled(page);
    const read = async (button) => {
        const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: button }).first().click()]);
        return readFileSync(await download.path(), 'utf8');
    };
    const svg = await read('Save as SVG');
    check(svg.startsWith('<svg') && svg.includes('planned for 1,000 items'), 'a chart is saved with its title');
    const csv = await read('Save the numbers as CSV');
    check(csv.includes('size,bits,29183') && csv.includes('size,guarantee.upper,9.9979'), `the numbers are saved: ${csv.slice(0, 200)}`);
    // Values beside their fields, and the command's messages.
    check((await page.locator('#size-m').getAttribute('placeholder')) === '3.562 KiB', 'what is computed stands in the empty field');
    for (const [field, value, message] of [
        ['n', '1.5', 'is not a whole number below 2^64'],
        ['n', '0', 'Items is 0, but must be at least 1.'],
        ['p', '5', 'did you mean 5%?'],
        ['m', '64 XB', 'write bits as 1M or 64Mi, bytes as 2MB or 64MiB'],
        ['m', '100', '13 bytes is too small: 1,000 items at 1e-6 take 3.562 KiB'],
    ]) {
        const before = await page.locator(`#size-${field}`).inputValue();
        await type(page, `#size-${field}`, value);
        await refused(page, `size-${field}`, 'size-p');
        const said = (await page.locator('#size .error').allInnerTexts()).join(' ');
        check(said.includes(message), `${field}=${value} says: ${said}`);
        check((await text(page, '.big')) === '3.562 KiB' && (await page.locator('#size .answer.stale').count()) === 1, 'the last answer stays, and is marked');
        await type(page, `#size-${field}`, before);
        await answered(page);
    }
    await page.context().close();
}

/** What people type who have never been here. */
async function typed() {
    const page = await open();
    for (const [n, p, m, expected] of [
        ['10 million users', 'once in a thousand', '', '17.14 MiB'],
        ['Ten Million', '1 in a thousand', '', '17.14 MiB'],
        ['10,000,000', '0,1%', '', '17.14 MiB'],
        ['', '0.1 percent', '17.14 MiB', '9,99'],
    ]) {
        for (const [field, value] of [['n', n], ['p', p], ['m', m]]) await type(page, `#size-${field}`, value);
        await answered(page);
        check((await text(page, '.big')).startsWith(expected), `${n}, ${p}, ${m} give ${await text(page, '.big')}`);
    }
    // The answer's own size is taken back.
    check((await text(page, '.summary')).includes('holds 9,99'), `17.14 MiB hold ${await text(page, '.summary')}`);
    // Too small a size: what would do is said.
    for (const [field, value] of [['n', '15M'], ['p', '0.1%'], ['m', '20 MiB']]) await type(page, `#size-${field}`, value);
    await refused(page, 'size-m');
    const help = await page.locator('#size-m-error').innerText();
    check(/take 25\.71 MiB; 20 MiB holds 11,66\d,\d{3} .*it reaches a rate of 0\.46\d*% \(1 in 2\d\d\)/.test(help), `15M in 20 MiB: ${help}`);
    await type(page, '#size-m', '30 MiB');
    await answered(page);
    check((await text(page, '.head .note')).includes('All three fields are filled'), 'three fields: how they are read is said');
    await page.getByRole('button', { name: 'How many items fit?' }).click();
    await answered(page);
    check((await text(page, '.big')).endsWith(' items') && (await page.locator('#size-n').inputValue()) === '', `a click asks how many fit: ${await text(page, '.big')}`);
    await type(page, '#size-m', '64 MB');
    await answered(page);
    check((await text(page, '.summary')).startsWith('A Bloom filter of 64 MB holds'), `a size is said as it was typed: ${await text(page, '.summary')}`);
    check((await page.locator('#size .lines + .note').innerText()).startsWith('No lines for Redis'), 'lines that are left out are explained');
    // A time without a number of items per second: the field that lacks is seen, and says what to write.
    await page.evaluate(() => (location.hash = '#streams?remember=1 hour&p=0.1%25'));
    await refused(page, 'streams-arrival');
    check(await page.locator('#streams-arrival').isVisible() && (await page.locator('#streams-arrival-error').innerText()).includes('write here how many'), 'a time asks for the items per second');
    await type(page, '#streams-arrival', 'often');
    await page.waitForFunction(() => document.querySelector('#streams-arrival-error')?.textContent?.includes('often'));
    check((await page.locator('#streams .error:not(:empty)').count()) === 1, 'one wrong field has one message');
    await type(page, '#streams-arrival', '500 a second');
    await answered(page);
    check((await text(page, '.small')).startsWith('to remember the last hour'), `an hour: ${await text(page, '.small')}`);
    check((await page.locator('#streams table').first().innerText()).includes('nothing is forgotten too early'), 'each way to forget is explained');
    // Some thousand items take seconds, as their laws are summed exactly; there is an answer all the same.
    await type(page, '#streams-arrival', '5');
    await answered(page);
    check((await text(page, '.summary')).includes('(18,000 new items)'), `18,000 items: ${await text(page, '.summary')}`);
    await type(page, '#streams-memory', '64 MiB');
    await page.waitForFunction(() => document.querySelector('#streams .state')?.textContent?.includes('none is used until you clear'));
    await page.getByRole('button', { name: 'Keep only how long to remember' }).click();
    await answered(page);
    check((await page.locator('#streams-memory').inputValue()) === '' && (await text(page, '.small')).startsWith('to remember the last hour'), 'a click keeps one of two fields');
    // What nobody typed gives way to what somebody types.
    const fresh = await open('#streams');
    await type(fresh, '#streams-n', '1M');
    await answered(fresh);
    check((await fresh.locator('#streams-memory').inputValue()) === '' && (await text(fresh, '.small')).startsWith('about 1,000,0'), `the example's memory gives way: ${await text(fresh, '.small')}`);
    await fresh.evaluate(() => (location.hash = '#audit'));
    await fresh.waitForSelector('#audit:not([hidden]) .big');
    await type(fresh, '#audit-n', '7');
    await fresh.evaluate(() => document.querySelector('#size-n').setAttribute('value', '2000'));
    await fresh.getByRole('button', { name: 'the items and the rate of' }).click();
    await answered(fresh);
    check((await text(fresh, '.summary')).includes('2,000 items'), `the numbers of the first tab are taken: ${await text(fresh, '.summary')}`);
    await fresh.context().close();
    await page.context().close();
}

/** Whatever is typed, the page answers the next good question. */
async function anything() {
    const page = await open();
    let state = 7n;
    const random = (below) => {
        state = (state * 6364136223846793005n + 1442695040888963407n) & ((1n << 64n) - 1n);
        return Number((state >> 33n) % BigInt(below));
    };
    const pieces = ['1', '0', '9', '10', '.', ',', '_', 'e', 'E', '-', '+', '%', '/', ' ', ' in ', 'k', 'M', 'Ki', 'MiB', 'B', 'million', 'a', 'one', '<b>', '"', "'", '&', '=', '#', '\\', '\u{1f600}', '\u0000', '\u202e', 'NaN', 'Infinity', '1e308', '1e-320', '18446744073709551615', '9'.repeat(40), 'x'.repeat(300), '\n', '\t', '0x10', '\ud800'];
    for (let round = 0; round < 240; round += 1) {
        const tab = TABS[round % 4];
        const values = Array.from({ length: 9 }, () => (random(3) === 0 ? '' : Array.from({ length: 1 + random(4) }, () => pieces[random(pieces.length)]).join('')));
        await page.evaluate(([tab, values]) => {
            if (!location.hash.startsWith(`#${tab}`)) location.hash = `#${tab}`;
            const inputs = /** @type {HTMLInputElement[]} */ ([...document.querySelectorAll(`#${tab} input`)]);
            inputs.forEach((input, at) => {
                input.value = values[at] ?? '';
                input.dispatchEvent(new Event('input', { bubbles: true }));
            });
        }, [tab, values]);
        if (round % 8 === 0) await page.waitForTimeout(60);
        const spoiled = await page.evaluate(() => document.querySelectorAll('.answer b, .field b').length);
        check(spoiled === 0, 'what is typed is text, never markup');
    }
    for (const link of ['#size?n=%', '#size?n=%ff%fe', '#size?', '#?', '#%', '#size?n=1&n=2', '#nowhere?n=5', '#audit?lib=nobody&n=5&p=1%25']) {
        await page.evaluate((link) => (location.hash = link), link);
        await page.waitForTimeout(50);
    }
    await page.evaluate(() => (location.hash = '#size?n=1000&p=1e-6'));
    await answered(page);
    await page.waitForFunction(() => document.querySelector('#size .small')?.textContent?.startsWith('29,183 bits'), null, { timeout: 30_000 }).catch(() => check(false, 'after anything at all, a good question is answered'));
    await page.context().close();
}

/** How long answers take; printed, not asserted, as machines differ. */
async function times() {
    for (const [tab, field, query, value] of [
        ['size', 'n', 'n=1000&p=1e-6', (i) => `${1000 * 3 ** (i % 12) + i}`],
        ['streams', 'memory', 'memory=1MiB&p=0.1%25', (i) => `${1 + 3 * i} MiB`],
        ['streams', 'arrival', 'remember=1h&arrival=5000&p=0.1%25', (i) => `${50 * 3 ** (i % 8) + i}`],
        ['counts', 'e', 'e=1%25&d=1%25', (i) => `1 in ${10 + 97 * i}`],
    ]) {
        const page = await open(`#${tab}?${query}`);
        await settled(page);
        const values = Array.from({ length: 30 }, (_, i) => value(i));
        const took = await page.evaluate(async ([tab, field, values]) => {
            const input = /** @type {HTMLInputElement} */ (document.querySelector(`#${tab}-${field}`));
            const found = [];
            for (const value of values) {
                input.value = value;
                const begin = performance.now();
                const answered = new Promise((done) => new MutationObserver((_, observer) => (observer.disconnect(), done(null))).observe(/** @type {Node} */ (document.querySelector(`#${tab} .first`)), { childList: true }));
                input.dispatchEvent(new Event('input', { bubbles: true }));
                await answered;
                found.push(performance.now() - begin);
            }
            return found.sort((a, b) => a - b);
        }, [tab, field, values]);
        console.log(`from a key stroke to its answer, ${tab} by ${field}: median ${took[15].toFixed(0)} ms, 90% ${took[27].toFixed(0)} ms`);
        await page.context().close();
    }
}

const only = process.env.ONLY?.split(',');
for (const [name, part] of Object.entries({ looks, accessible, byKeyboard, links, keeps, typed, anything, times })) {
    if (only && !only.includes(name)) continue;
    const begin = Date.now();
    await part().catch((error) => check(false, `${name}: ${error.message.split('\n').slice(0, 4).join(' ')}`));
    console.log(`${name}: ${((Date.now() - begin) / 1000).toFixed(0)} s`);
}
await browser.close();
console.log(failures.length ? `${failures.length} failures` : 'the page does what it must');
process.exit(failures.length ? 1 : 0);
