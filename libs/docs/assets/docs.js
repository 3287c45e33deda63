// What the pages gain by a script: tabs, copy buttons, results while one types. All of them can be read without it.
import { find } from './search.js';

const WAY_KEY = 'docs-way';
const COPIED_MS = 1_500;

function rememberedWay() {
  try {
    return localStorage.getItem(WAY_KEY);
  } catch {
    return null; // Storage may be switched off; then the first tab is shown.
  }
}

function rememberWay(way) {
  try {
    localStorage.setItem(WAY_KEY, way);
  } catch {
    // The choice holds for this page only.
  }
}

function choose(group, way, { focus = false } = {}) {
  for (const tab of group.querySelectorAll('[role=tab]')) {
    const isChosen = tab.dataset.way === way;
    tab.setAttribute('aria-selected', String(isChosen));
    tab.tabIndex = isChosen ? 0 : -1;
    if (isChosen && focus) tab.focus();
  }
  for (const panel of group.querySelectorAll(':scope > .way')) panel.hidden = panel.dataset.way !== way;
}

function chooseEverywhere(way) {
  for (const group of document.querySelectorAll('.ways')) {
    if (group.querySelector(`[role=tab][data-way="${CSS.escape(way)}"]`)) choose(group, way);
  }
}

function makeTabs(group, number) {
  const panels = [...group.querySelectorAll(':scope > .way')];
  const list = document.createElement('div');
  list.setAttribute('role', 'tablist');
  list.setAttribute('aria-label', 'Language');
  panels.forEach((panel, at) => {
    const tab = document.createElement('button');
    tab.type = 'button';
    tab.textContent = panel.dataset.way;
    tab.dataset.way = panel.dataset.way;
    tab.id = `tab-${number}-${at}`;
    tab.setAttribute('role', 'tab');
    panel.id = `panel-${number}-${at}`;
    panel.setAttribute('role', 'tabpanel');
    panel.setAttribute('aria-labelledby', tab.id);
    tab.setAttribute('aria-controls', panel.id);
    list.append(tab);
  });
  list.addEventListener('click', (event) => {
    const way = event.target.dataset.way;
    if (way === undefined) return;
    const before = event.target.getBoundingClientRect().top;
    rememberWay(way);
    chooseEverywhere(way);
    // Other samples change their height, too: what was clicked stays where it is.
    window.scrollBy(0, event.target.getBoundingClientRect().top - before);
  });
  list.addEventListener('keydown', (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const ways = panels.map((panel) => panel.dataset.way);
    const at = ways.indexOf(event.target.dataset.way);
    const next = ways[(at + step + ways.length) % ways.length];
    rememberWay(next);
    chooseEverywhere(next);
    choose(group, next, { focus: true });
  });
  group.prepend(list);
  group.classList.add('tabbed');
  const way = rememberedWay();
  const ways = panels.map((panel) => panel.dataset.way);
  choose(group, ways.includes(way) ? way : ways[0]);
}

function makeCopy(button) {
  const status = document.getElementById('status');
  button.hidden = false;
  button.addEventListener('click', async () => {
    const text = button.closest('figure').querySelector('code').textContent;
    let said = 'Copied';
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      said = 'Not copied';
    }
    button.textContent = said;
    status.textContent = said;
    setTimeout(() => {
      button.textContent = 'Copy';
      status.textContent = '';
    }, COPIED_MS);
  });
}

function makeSearch(form) {
  const input = form.querySelector('input');
  const results = form.querySelector('.results');
  let sections;
  async function show() {
    sections ??= fetch(form.dataset.index).then((answer) => answer.json());
    const found = find(await sections, input.value);
    results.replaceChildren(
      ...found.map(({ title, heading, url, excerpt }) => {
        const link = document.createElement('a');
        link.href = url;
        const name = document.createElement('strong');
        name.textContent = heading === title ? title : `${title} › ${heading}`;
        const text = document.createElement('span');
        text.textContent = excerpt;
        link.append(name, text);
        return link;
      }),
    );
    const nothing = input.value.trim() !== '' && found.length === 0;
    if (nothing) results.textContent = 'Nothing found. Try another word.';
    results.hidden = found.length === 0 && !nothing;
    document.getElementById('status').textContent =
      input.value.trim() === '' ? '' : `${found.length} results`;
  }
  input.addEventListener('input', show);
  input.addEventListener('focus', () => {
    if (input.value.trim() !== '') show();
  });
  form.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      results.hidden = true;
      input.focus();
      return;
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined || results.hidden) return;
    event.preventDefault();
    const stops = [input, ...results.querySelectorAll('a')];
    const at = stops.indexOf(document.activeElement);
    stops[Math.min(stops.length - 1, Math.max(0, at + step))].focus();
  });
  document.addEventListener('click', (event) => {
    if (!form.contains(event.target)) results.hidden = true;
  });
  document.addEventListener('keydown', (event) => {
    const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    input.focus();
  });
}

/** Marks the section that is being read in the list of sections. */
function followReading(contents) {
  const links = new Map([...contents.querySelectorAll('a')].map((link) => [link.hash.slice(1), link]));
  const headings = [...links.keys()].map((anchor) => document.getElementById(decodeURIComponent(anchor)));
  const mark = () => {
    const passed = headings.filter((heading) => heading.getBoundingClientRect().top < 120).at(-1);
    for (const link of links.values()) link.removeAttribute('aria-current');
    if (passed) links.get(passed.id)?.setAttribute('aria-current', 'location');
  };
  document.addEventListener('scroll', mark, { passive: true });
  mark();
}

[...document.querySelectorAll('.ways')].forEach(makeTabs);
for (const button of document.querySelectorAll('.copy')) makeCopy(button);
for (const form of document.querySelectorAll('form.search')) makeSearch(form);
for (const contents of document.querySelectorAll('.contents')) followReading(contents);
