// Answers become elements.

/**
 * @param {string} tag
 * @param {Record<string, string | boolean | EventListener>} [attributes]
 * @param {...(Node | string)} children
 * @returns {HTMLElement}
 */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (value !== false && value !== '') element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children);
  return element;
}

/** @param {{ name: string, value: string, text: string, tone: string }} card */
function drawCard(card) {
  return make('div', { class: `card ${card.tone}` }, make('h3', {}, card.name), make('p', { class: 'value' }, card.value), make('p', {}, card.text));
}

/** A sentence below; nothing where there is none. @param {string} [text] @param {...Node} more */
const noted = (text, ...more) => (text ? [make('p', { class: 'note' }, text, ...more)] : []);

/** @param {{ name: string, code: string, note: string }} line */
function drawLine(line) {
  const copy = make('button', { type: 'button', 'aria-label': `Copy the lines for ${line.name}`, click: () => copied(copy, line.code) }, 'Copy');
  return make('div', { class: 'code' }, make('div', { class: 'bar' }, make('h4', {}, line.name), copy), make('pre', {}, make('code', {}, line.code)), ...noted(line.note));
}

/** @typedef {{ title: string, note?: string, heads: string[], numbers: boolean[], rows: string[][], tones?: string[] }} Table */

/** Where it is narrow each row becomes a list, so the roles are said: what is laid out otherwise loses its own. @param {Table} table */
function drawTable(table) {
  const kind = (/** @type {number} */ column) => (table.numbers[column] ? 'number' : '');
  const head = make('thead', { role: 'rowgroup' }, make('tr', { role: 'row' }, ...table.heads.map((text, column) => (text ? make('th', { scope: 'col', role: 'columnheader', class: kind(column) }, text) : make('td', { role: 'cell' })))));
  const row = (/** @type {string[]} */ cells, /** @type {number} */ at) =>
    make('tr', { role: 'row' }, ...cells.map((text, column) => {
      const tone = column === cells.length - 1 ? (table.tones?.[at] ?? '') : '';
      if (column === 0) return make('th', { scope: 'row', role: 'rowheader', class: kind(column) }, text);
      return make('td', { role: 'cell', class: `${kind(column)} ${tone}`.trim(), 'data-head': text ? table.heads[column] : '' }, text);
    }));
  const body = make('tbody', { role: 'rowgroup' }, ...table.rows.map(row));
  const parts = table.heads.some((text) => text) ? [head, body] : [body];
  const scroll = make('div', { class: 'scroll', 'data-scrolls': table.title }, make('table', { role: 'table' }, make('caption', {}, table.title), ...parts));
  return make('div', { class: 'panel' }, scroll, ...noted(table.note));
}

/**
 * A chart. Its style sheet is for a document of its own, so it gets one: a shadow root.
 * @param {string} title
 * @param {string} svg
 * @param {() => void} save
 * @param {string} [note]
 */
function drawChart(title, svg, save, note) {
  const plot = make('div', { class: 'plot' });
  plot.attachShadow({ mode: 'open' }).innerHTML = `<style>svg{display:block;max-width:100%;height:auto}</style>${svg}`;
  const shown = plot.shadowRoot?.querySelector('svg');
  shown?.setAttribute('aria-label', title);
  const tools = make('div', { class: 'tools' }, make('button', { type: 'button', click: save }, 'Save as SVG'));
  return make('figure', { class: 'panel' }, make('h3', {}, title), plot, ...noted(note), tools);
}

/** What is wider than its place can be scrolled with the keyboard. @param {ParentNode} root */
function letScroll(root) {
  for (const element of root.querySelectorAll('[data-scrolls]')) {
    const overflows = element.scrollWidth > element.clientWidth + 1;
    if (overflows) {
      element.setAttribute('tabindex', '0');
      element.setAttribute('role', 'region');
      element.setAttribute('aria-label', element.getAttribute('data-scrolls') ?? '');
    } else {
      for (const name of ['tabindex', 'role', 'aria-label']) element.removeAttribute(name);
    }
  }
}

/** @param {HTMLElement} button @param {string} text */
async function copied(button, text) {
  const before = button.textContent ?? '';
  let done = true;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Pages from a disk may not have the clipboard; the older way works there.
    const area = /** @type {HTMLTextAreaElement} */ (make('textarea', { readonly: true, 'aria-hidden': 'true' }));
    area.value = text;
    document.body.append(area);
    area.select();
    done = document.execCommand('copy');
    area.remove();
    button.focus();
  }
  button.textContent = done ? 'Copied' : 'Select it and copy';
  speak(done ? 'Copied' : 'This browser does not let the page copy');
  setTimeout(() => (button.textContent = before), 1500);
}

/** @param {string} name @param {string} text @param {string} type */
function saved(name, text, type) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = /** @type {HTMLAnchorElement} */ (make('a', { href: address, download: name }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** For screen readers, once typing has paused. @type {number | undefined} */
let speaking;

/** @param {string} text @param {number} [after] */
function speak(text, after = 0) {
  clearTimeout(speaking);
  speaking = window.setTimeout(() => {
    const place = /** @type {HTMLElement} */ (document.getElementById('spoken'));
    if (place.textContent !== text) place.textContent = text;
  }, after);
}
