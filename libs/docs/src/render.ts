import { Marked, type Token, type Tokens } from 'marked';
import { type Block, groupBlocks } from './blocks.ts';
import type { Guide } from './guide.ts';
import { highlight } from './highlight.ts';
import { escapeHtml, slugOf } from './html.ts';

export interface Heading {
  depth: number;
  text: string;
  anchor: string;
}

/** A part of a page that the search finds. */
export interface Section {
  heading: string;
  anchor: string;
  text: string;
}

export interface RenderedGuide {
  guide: Guide;
  html: string;
  headings: readonly Heading[];
  sections: readonly Section[];
}

/** Where a link of the Markdown leads on the site: files that lie beside it are pages. */
function siteLink(href: string, docsPath: string): string {
  const page = /^(?:\.\/)?([\w-]+)\.md(#.*)?$/.exec(href);
  if (page === null) return href;
  return `${docsPath}${page[1] === 'index' ? '' : `/${page[1]}`}${page[2] ?? ''}`;
}

export function renderGuide(guide: Guide, docsPath: string): RenderedGuide {
  const headings: Heading[] = [];
  const sections: Section[] = [{ heading: guide.title, anchor: '', text: '' }];
  const marked = createMarked(docsPath, headings);
  let html = '';
  let isPromise = true;
  for (const token of groupBlocks(guide.tokens)) {
    if (token.type === 'blocks') {
      html += blocksHtml((token as { blocks: Block[] }).blocks);
      continue;
    }
    const text = plainText(token as Token);
    const isLead = isPromise && token.type === 'paragraph';
    if (isLead) isPromise = false;
    const rendered = marked.parser([token as Token]);
    html += isLead ? rendered.replace('<p>', '<p class="promise">') : rendered;
    if (token.type === 'heading') {
      const heading = headings.at(-1) as Heading;
      if (heading.depth > 1) sections.push({ heading: heading.text, anchor: heading.anchor, text: '' });
    } else {
      const section = sections.at(-1) as Section;
      section.text += `${section.text === '' ? '' : ' '}${text}`;
    }
  }
  return { guide, html, headings, sections };
}

function createMarked(docsPath: string, headings: Heading[]): Marked {
  const marked = new Marked();
  marked.use({
    renderer: {
      heading({ tokens, depth, text }) {
        const plain = text.replaceAll('`', '');
        const anchor = slugOf(plain);
        headings.push({ depth, text: plain, anchor });
        const inner = this.parser.parseInline(tokens);
        if (depth === 1) return `<h1>${inner}</h1>\n`;
        const label = `Link to “${escapeHtml(plain)}”`;
        return `<h${depth} id="${anchor}">${inner} <a class="anchor" href="#${anchor}" aria-label="${label}">#</a></h${depth}>\n`;
      },
      link({ href, tokens }) {
        const inner = this.parser.parseInline(tokens);
        return `<a href="${escapeHtml(siteLink(href, docsPath))}">${inner}</a>`;
      },
      blockquote({ tokens }) {
        return `<aside class="note" aria-label="Note">${this.parser.parse(tokens)}</aside>\n`;
      },
      table({ header, rows }) {
        const labels = header.map(({ text }) => escapeHtml(text.replaceAll('`', '')));
        const cell = (one: Tokens.TableCell) => this.parser.parseInline(one.tokens);
        const head = header.map((one) => `<th role="columnheader" scope="col">${cell(one)}</th>`).join('');
        const body = rows.map((row) => {
          const cells = row.map((one, at) => `<td role="cell" data-label="${labels[at]}">${cell(one)}</td>`);
          return `<tr role="row">${cells.join('')}</tr>`;
        });
        return `<table role="table"><thead role="rowgroup"><tr role="row">${head}</tr></thead><tbody role="rowgroup">${body.join('\n')}</tbody></table>\n`;
      },
      html({ text }) {
        return escapeHtml(text);
      },
    },
  });
  return marked;
}

/** What is said, without the marks. */
function plainText(token: Token): string {
  const { tokens, items, rows, header } = token as Partial<{
    tokens: Token[];
    items: Token[];
    rows: Tokens.TableCell[][];
    header: Tokens.TableCell[];
  }>;
  if (rows !== undefined && header !== undefined)
    return rows
      .flat()
      .map((cell) => cell.tokens.map(plainText).join(''))
      .join(' ');
  if (items !== undefined) return items.map(plainText).join(' ');
  if (tokens !== undefined) return tokens.map(plainText).join('');
  return 'text' in token ? String(token.text) : '';
}

const LABELS: Readonly<Record<string, string>> = {
  js: 'Node',
  python: 'Python',
  json: 'JSON',
  sh: 'Terminal',
  text: 'Text',
};

function labelOf(block: Block): string {
  if (block.label !== null) return block.label;
  if (block.file !== null) return block.file;
  if (block.use === 'output') return block.language === 'json' ? 'Answer' : 'Prints';
  if (block.language === 'sh' && /^\s*(\w+=\$\()?curl /m.test(block.text)) return 'curl';
  return LABELS[block.language] ?? block.language;
}

/** Tabs where several ways lead to the same; without the script they stand one below the other. */
function blocksHtml(blocks: readonly Block[]): string {
  const shared = blocks.filter(({ use, ofAll }) => use === 'output' && ofAll).map(blockHtml);
  const tabs: { label: string; html: string; prints: boolean }[] = [];
  for (const block of blocks) {
    const last = tabs.at(-1);
    if (block.use !== 'output') tabs.push({ label: labelOf(block), html: blockHtml(block), prints: false });
    else if (!block.ofAll && last !== undefined) {
      last.html += blockHtml(block);
      last.prints = true;
    }
  }
  for (const tab of tabs) if (!tab.prints) tab.html += shared.join('');
  const isTabbed = tabs.length > 1;
  const panels = tabs.map(({ label, html }) =>
    isTabbed ? `<div class="way" data-way="${escapeHtml(label)}">${html}</div>` : html,
  );
  return `<div class="${isTabbed ? 'ways' : 'sample'}">${panels.join('')}</div>\n`;
}

function blockHtml(block: Block): string {
  const label = escapeHtml(labelOf(block));
  const copy = block.use === 'output' ? '' : '<button type="button" class="copy" hidden>Copy</button>';
  const code = highlight(block.text, block.language);
  return `<figure class="code${block.use === 'output' ? ' output' : ''}"><figcaption><span>${label}</span>${copy}</figcaption><pre tabindex="0"><code>${code}</code></pre></figure>`;
}
