// Fields, questions, answers, and the address that has them all.

const find = (/** @type {string} */ selector, /** @type {ParentNode} */ root = document) => /** @type {HTMLElement} */ (root.querySelector(selector));
const all = (/** @type {string} */ selector, /** @type {ParentNode} */ root = document) => /** @type {HTMLElement[]} */ ([...root.querySelectorAll(selector)]);

/** How long the previous answer stays unmarked while a new one is computed, in milliseconds. */
const PATIENCE = 80;
/** How long typing must pause before slow parts are computed, in milliseconds. */
const PAUSE = 150;

/** One of the four parts of the page. */
class Tab {
  /** @param {HTMLElement} root @param {{ fast: Lane, slow: Lane }} lanes @param {any} about */
  constructor(root, lanes, about) {
    this.root = root;
    this.name = root.id;
    this.lanes = lanes;
    this.about = about;
    this.version = 0;
    /** @type {Record<string, any>} */
    this.parts = {};
    this.answer = find('.answer', root);
    /** @type {Record<string, HTMLInputElement | HTMLSelectElement>} */
    this.fields = {};
    for (const field of all('.field', root)) this.prepare(field);
    for (const button of all('[data-fields]', root)) {
      button.addEventListener('click', () => {
        // Back leads to what was typed before.
        address('pushState', location.href);
        this.fill(button.dataset.fields ?? '');
      });
    }
    const form = find('form', root);
    this.echo = make('p', { class: 'echo', 'aria-hidden': 'true' });
    form.append(this.echo);
    // A form higher than the window moves until its foot is seen.
    new ResizeObserver(() => (form.style.top = `${Math.min(16, window.innerHeight - form.offsetHeight - 16)}px`)).observe(form);
    for (const button of all('[data-from]', root)) button.addEventListener('click', () => this.take(tabs[button.dataset.from ?? '']));
    find('form', root).addEventListener('submit', (event) => event.preventDefault());
    find('.first', root).append(make('div', { class: 'panel head' }, make('p', { class: 'state', role: 'status' }, 'Computing\u2026')));
    this.keep();
  }

  /** Gives a field its hint, and a place for error messages. @param {HTMLElement} field */
  prepare(field) {
    const input = /** @type {HTMLInputElement | HTMLSelectElement} */ (find('input, select', field));
    const hint = find('.hint', field);
    hint.id = `${input.id}-hint`;
    field.append(make('p', { class: 'error', id: `${input.id}-error`, 'aria-live': 'polite' }));
    input.setAttribute('aria-describedby', `${hint.id} ${input.id}-error`);
    if (input instanceof HTMLInputElement) {
      input.spellcheck = false;
      input.setAttribute('autocapitalize', 'off');
      input.dataset.usual = input.placeholder;
      input.maxLength = 200;
    }
    input.addEventListener('input', () => {
      this.typed(field, input);
      this.update();
    });
    this.fields[field.dataset.name ?? ''] = input;
  }

  /** Where only one of several fields is used, clears the others unless the user typed them. @param {HTMLElement} field @param {HTMLInputElement | HTMLSelectElement} input */
  typed(field, input) {
    input.dataset.typed = '';
    if (!('one' in field.dataset)) return;
    for (const other of all('[data-one] input:not([data-typed])', this.root)) /** @type {HTMLInputElement} */ (other).value = '';
  }

  /** Empties fields. @param {string} names */
  clear(names) {
    for (const name of names.split(' ')) this.fields[name].value = '';
    this.update();
  }

  /** Buttons for other questions. @param {{ text: string, clear: string }[]} [choices] */
  choices(choices) {
    const button = (/** @type {{ text: string, clear: string }} */ { text, clear }) => make('button', { type: 'button', click: () => this.clear(clear) }, text);
    return choices?.length ? [make('span', { class: 'choices' }, ...choices.map(button))] : [];
  }

  /** Sets the fields of a query and empties the others. @param {string} query */
  fill(query) {
    const values = new URLSearchParams(query);
    for (const [name, input] of Object.entries(this.fields)) {
      if (input instanceof HTMLSelectElement && !values.has(name)) input.selectedIndex = 0;
      else input.value = values.get(name) ?? '';
      input.dataset.typed = '';
    }
    for (const details of all('details', this.root)) {
      if (all('.field', details).some((field) => values.get(field.dataset.name ?? ''))) details.setAttribute('open', '');
    }
    this.update();
  }

  /** Takes the items and the rate of another tab: typed, or computed. @param {Tab} other */
  take(other) {
    for (const name of ['n', 'p']) {
      const input = /** @type {HTMLInputElement} */ (other.fields[name]);
      this.fields[name].value = input.value || input.placeholder;
    }
    this.update();
  }

  /** Returns the values of the fields. @returns {Record<string, string>} */
  values() {
    return Object.fromEntries(Object.entries(this.fields).map(([name, input]) => [name, input.value.trim()]));
  }

  /** The part of the address after the tab. */
  query() {
    const given = Object.entries(this.values()).filter(([, value]) => value);
    return new URLSearchParams(given).toString();
  }

  /** Asks again. */
  async update() {
    const version = ++this.version;
    this.answer.setAttribute('data-asking', '');
    this.answer.removeAttribute('data-done');
    remember(this);
    this.lanes.fast.cancel();
    this.lanes.slow.cancel();
    clearTimeout(this.late);
    this.late = window.setTimeout(() => this.state('Computing; this is the last answer.', true), PATIENCE);
    const answer = await this.lanes.fast.ask(this.name, { ...this.values(), width: this.width() });
    if (version !== this.version || !answer) return;
    clearTimeout(this.late);
    const good = this.show(answer);
    if (!good) return;
    this.parts = { [this.name]: answer };
    await new Promise((done) => setTimeout(done, PAUSE));
    if (version === this.version) await this.deepen(version, answer);
    if (version === this.version) this.answer.setAttribute('data-done', '');
  }

  /** @param {string} text @param {boolean} stale */
  state(text, stale) {
    find('.state', this.answer).textContent = text;
    this.answer.classList.toggle('stale', stale);
    if (stale) this.echo.textContent = '';
    this.answer.removeAttribute('data-done');
  }

  /** Shows an answer; returns false if it is an error or a hint. @param {any} answer */
  show(answer) {
    this.answer.removeAttribute('data-asking');
    const errors = new Map((answer.errors ?? []).map((/** @type {any} */ error) => [error.field, error.text]));
    for (const [name, input] of Object.entries(this.fields)) {
      const text = errors.get(name) ?? '';
      const place = find(`#${input.id}-error`);
      if (place.textContent !== text) place.textContent = text;
      if (text) {
        input.setAttribute('aria-invalid', 'true');
        input.closest('details')?.setAttribute('open', '');
      } else input.removeAttribute('aria-invalid');
      if (input instanceof HTMLInputElement) input.placeholder = input.dataset.usual ?? '';
    }
    if (errors.size || answer.hint || answer.problem || answer.refused) {
      const before = find('.big', this.answer) ? ' Below is the last answer.' : '';
      const reason = [...errors.values()].join(' ') || (answer.hint ?? answer.refused ?? answer.problem);
      this.state(`${reason}${before}`, true);
      find('.state', this.answer).append(...this.choices(answer.choices));
      speak(reason, 900);
      this.answer.setAttribute('data-done', '');
      return false;
    }
    for (const [name, value] of Object.entries(answer.fill ?? {})) {
      const input = this.fields[name];
      if (input instanceof HTMLInputElement) input.placeholder = `${value}`;
    }
    this.draw(answer);
    this.state('', false);
    this.echo.textContent = answer.big;
    speak(answer.summary ?? '', 900);
    return true;
  }

  /** @param {any} answer */
  draw(answer) {
    const head = make('div', { class: 'panel head' }, make('p', { class: 'state', role: 'status' }), make('p', { class: 'big' }, answer.big), make('p', { class: 'small' }, answer.small), make('p', { class: 'summary' }, answer.summary), ...noted(answer.note, ...this.choices(answer.choices)));
    const parts = [head, make('div', { class: `cards of${answer.cards.length}` }, ...answer.cards.map(drawCard))];
    if (answer.lines?.length) parts.push(make('div', { class: 'panel' }, make('h3', {}, 'Lines to copy'), make('div', { class: 'lines' }, ...answer.lines.map(drawLine)), ...noted(answer.lines_note), ...noted(this.about.sources)));
    if (answer.chart?.svg) parts.push(drawChart('What it really gives', answer.chart.svg, () => this.save(this.name, { file: 1 }, 'chart', 'audit')));
    parts.push(...(answer.tables ?? []).map(drawTable));
    find('.first', this.answer).replaceChildren(...parts);
    letScroll(this.answer);
  }

  /** Computes and shows the slow parts of an answer, one after the other. @param {number} version @param {any} answer */
  async deepen(version, answer) {
    if (this.name === 'audit') return audit(this, version, answer);
    for (const place of all('.later', this.answer)) {
      const part = place.dataset.part ?? '';
      if (part === 'size/scheme') {
        await schemes(this, version, place);
        continue;
      }
      const found = await this.lanes.slow.ask(part, { ...this.values(), width: this.width() });
      if (version !== this.version || !found) return;
      this.parts[part] = found;
      this.drawPart(place, part, found);
    }
  }

  /** @param {HTMLElement} place @param {string} part @param {any} found */
  drawPart(place, part, found) {
    const title = place.dataset.title ?? '';
    const file = place.dataset.file ?? '';
    const drawn = [];
    if (found.svg) drawn.push(drawChart(title, found.svg, () => this.save(part, {}, '', file)));
    if (found.chart?.svg) drawn.push(drawChart(title, found.chart.svg, () => this.save(part, {}, 'chart', file)));
    if (found.saw?.svg) drawn.push(drawChart('The rate rises until the filter is emptied, and begins anew', found.saw.svg, () => this.save(part, {}, 'saw', 'saw-tooth')));
    if (found.forgetting?.svg) drawn.push(drawChart('What is forgotten, and when', found.forgetting.svg, () => this.save(part, {}, 'forgetting', 'forgetting')));
    drawn.push(...(found.tables ?? []).map(drawTable));
    place.replaceChildren(...drawn);
    letScroll(place);
  }

  /** The width that a chart has here. */
  width() {
    const padding = window.innerWidth <= 480 ? 34 : 46;
    return Math.max(300, Math.min(860, Math.floor(this.answer.clientWidth - padding)));
  }

  /** Saves a chart, with its title, as a file. @param {string} part @param {Record<string, string | number>} more @param {string} inside @param {string} name */
  async save(part, more, inside, name) {
    const found = await this.lanes.slow.ask(part, { ...this.values(), ...this.parts[part]?.asked, ...more, width: 720, file: 1 });
    const svg = inside ? found?.[inside]?.svg : found?.svg;
    if (svg) saved(`${name}.svg`, svg, 'image/svg+xml');
  }

  /** The tools at the end of each answer. */
  keep() {
    const link = make('button', { type: 'button', click: () => copied(link, location.href) }, 'Copy a link to this question');
    const numbers = make('button', { type: 'button', click: () => saved(`${this.name}.csv`, csv(this.parts), 'text/csv') }, 'Save the numbers as CSV');
    const print = make('button', { type: 'button', click: () => window.print() }, 'Print');
    find('.keep', this.root).append(link, numbers, print);
  }
}

/** Compares hashing schemes in a table, row by row. @param {Tab} tab @param {number} version @param {HTMLElement} place */
async function schemes(tab, version, place) {
  /** @type {Table} */
  const table = {
    title: 'Other ways to choose the bits of an item',
    note: 'If you must match another library; the plan above takes independent bits. Compared: the memory relative to that plan, for the same promise. Lowest rate: what equal hashes and dependent bits leave at this size, however many bits an item sets.',
    heads: ['Way', 'Size', 'Compared', 'Lowest rate', 'What meets the rate'],
    numbers: [false, false, true, true, false],
    rows: [],
  };
  const facts = [];
  for (const scheme of tab.about.schemes) {
    const found = await tab.lanes.slow.ask('size/scheme', { ...tab.values(), scheme });
    if (version !== tab.version || !found) return;
    if (!found.row) continue;
    table.rows.push(found.row);
    facts.push({ scheme, ...found.facts });
    place.replaceChildren(drawTable(table));
    letScroll(place);
  }
  tab.parts['size/scheme'] = { facts: { schemes: facts }, tables: [table] };
}

/** Shows one library in more detail, and a table of all libraries. @param {Tab} tab @param {number} version @param {any} answer */
async function audit(tab, version, answer) {
  const current = () => version === tab.version;
  const place = find('.later', tab.answer);
  const asked = tab.values();
  /** @type {Map<string, any>} */
  const rows = new Map();
  const show = () => {
    const found = tab.about.libraries.map((/** @type {any} */ library) => rows.get(library.name)).filter(Boolean);
    const table = drawTable({ title: 'All libraries at this size', note: 'If independent: the rate if all bits were independent. Known by: the law, or the 99% interval of a simulation.', heads: ['Library', 'Bits', 'Probes', 'If independent', 'Rate', 'Known by', 'Verdict'], numbers: [false, true, true, true, true, false, false], rows: found.map((/** @type {any} */ row) => row.row), tones: found.map((/** @type {any} */ row) => row.tone) });
    place.replaceChildren(...(chart ? [chart, table] : [table]));
    tab.parts['audit/row'] = { facts: Object.fromEntries([...rows].map(([name, row]) => [name, row.facts ?? {}])) };
    letScroll(place);
  };
  /** @type {HTMLElement | null} */
  let chart = null;
  const deeper = async () => {
    if (!answer.more) return;
    const found = await tab.lanes.slow.ask('audit', { ...asked, queries: answer.more, width: tab.width() });
    if (!current() || !found?.big) return;
    answer = found;
    tab.parts.audit = { ...found, asked: { queries: found.facts.simulation?.queries ?? 0 } };
    tab.show(found);
  };
  // By laws, then by a quick simulation, then by a longer one.
  for (const round of [0, 1, 2]) {
    if (round === 1) await deeper();
    for (const { name } of tab.about.libraries) {
      const before = rows.get(name);
      if (!current() || (round && !before?.more)) continue;
      const queries = round ? before.more : 0;
      const found = await tab.lanes.slow.ask('audit/row', { ...asked, lib: name, queries });
      if (!current() || !found) return;
      if (found.row) rows.set(name, found);
      show();
    }
  }
  const numbers = Object.fromEntries([...rows].filter(([, row]) => row.given).map(([name, row]) => [`given.${name}`, row.given]));
  tab.parts['audit/chart'] = { asked: numbers };
  const drawn = await tab.lanes.slow.ask('audit/chart', { ...asked, ...numbers, width: tab.width() });
  if (!current() || !drawn) return;
  if (drawn.svg) {
    chart = drawChart('All libraries at this size', drawn.svg, () => tab.save('audit/chart', {}, '', 'libraries'), drawn.note);
    show();
  }
  await deeper();
}

/** Returns all numbers of the answers, one per line. @param {Record<string, any>} parts */
function csv(parts) {
  const quoted = (/** @type {any} */ value) => (/[",\n]/.test(String(value)) ? `"${String(value).replace(/"/g, '""')}"` : String(value ?? ''));
  const lines = ['part,number,value'];
  const add = (/** @type {string} */ part, /** @type {string} */ name, /** @type {any} */ value) => {
    if (value !== null && typeof value === 'object') for (const [key, inner] of Object.entries(value)) add(part, name ? `${name}.${key}` : key, inner);
    else lines.push([part, name, value].map(quoted).join(','));
  };
  for (const [part, answer] of Object.entries(parts)) add(part, '', answer.facts ?? {});
  return `${lines.join('\n')}\n`;
}

/** @type {Record<string, Tab>} */
const tabs = {};
/** @type {number | undefined} */
let remembering;

/** Puts the question into the address. @param {Tab} tab */
function remember(tab) {
  clearTimeout(remembering);
  remembering = window.setTimeout(() => {
    if (tab.root.hidden) return;
    const hash = `#${tab.name}?${tab.query()}`;
    // Without what a link had after a `?`.
    address('replaceState', location.pathname + hash) || address('replaceState', hash);
  }, 250);
}

/** Changes the address, and says whether it did; some browsers let no page from a disk do this, or nothing at all. @param {'pushState' | 'replaceState'} how @param {string} to */
function address(how, to) {
  try {
    history[how](null, '', to);
    return true;
  } catch {
    return false;
  }
}

/** The tab and the fields of an address; those of the well-known calculator too, which writes them after a `?`. @returns {[string, string | null]} */
function asked() {
  const [name, ...rest] = location.hash.slice(1).split('?');
  if (name in tabs) return [name, rest.length ? rest.join('?') : null];
  const bare = rest.length ? rest.join('?') : name.includes('=') ? name : location.search.slice(1);
  const found = new URLSearchParams(bare);
  if (!['n', 'p', 'm', 'k'].some((field) => found.get(field))) return ['size', null];
  // There a number from 1 on means one in so many.
  const rate = found.get('p') ?? '';
  if (/^[\d.,_]+([eE]\+?\d+)?$/.test(rate) && Number(rate.replace(/[,_]/g, '')) >= 1) found.set('p', `1 in ${rate}`);
  // A link with its size asks what that gives; its rate is that calculator's own answer.
  if (found.get('n') && found.get('m')) found.delete('p');
  return ['size', found.toString()];
}

/** Shows the tab that the address names. */
function turn() {
  const [name, query] = asked();
  for (const tab of Object.values(tabs)) tab.root.hidden = tab.name !== name;
  for (const link of all('nav a')) {
    if (link.getAttribute('href') === `#${name}`) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  const tab = tabs[name];
  if (query !== null && query !== tab.query()) tab.fill(query);
  else tab.update();
}

async function begin() {
  const trouble = find('#trouble');
  try {
    const bytes = unpacked();
    const lanes = { fast: new Lane(bytes, 250), slow: new Lane(bytes, 60) };
    const about = await lanes.fast.ask('about', {});
    find('#version').textContent = about.version;
    find('#audit-lib').append(...about.libraries.map((/** @type {any} */ library) => make('option', { value: library.name }, library.title)));
    for (const root of all('main > section')) tabs[root.id] = new Tab(root, lanes, about);
    addEventListener('hashchange', turn);
    let width = window.innerWidth;
    let resizing = 0;
    addEventListener('resize', () => {
      clearTimeout(resizing);
      resizing = window.setTimeout(() => {
        letScroll(document);
        if (Math.abs(window.innerWidth - width) < 20) return;
        width = window.innerWidth;
        Object.values(tabs).find((tab) => !tab.root.hidden)?.update();
      }, 300);
    });
    turn();
  } catch (error) {
    trouble.textContent = `The planner cannot start here: ${error instanceof Error ? error.message : error}.`;
    trouble.hidden = false;
  }
}

find('[data-skip]').addEventListener('click', (event) => {
  // The address is for questions.
  event.preventDefault();
  find('#main').focus();
});
addEventListener('beforeprint', () => (find('#printed').textContent = location.href));
begin();
