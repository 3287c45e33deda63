import { find, type IndexedSection } from '../assets/search.js';
import { escapeHtml } from './html.ts';
import type { Heading, RenderedGuide } from './render.ts';
import type { DocsSite } from './site.ts';

export interface Frame {
  site: DocsSite;
  docsPath: string;
  guides: readonly RenderedGuide[];
  /** Changes with the style and the script, so that browsers never mix versions. */
  assetsTag: string;
}

interface Page {
  title: string;
  /** Of the guide that is shown; null for pages beside them. */
  name: string | null;
  body: string;
  headings: readonly Heading[];
}

const addressOf = (docsPath: string, name: string) => (name === 'index' ? docsPath : `${docsPath}/${name}`);

/** The Markdown of a promise without its marks, for lists and search engines. */
const plain = (markdown: string) => markdown.replaceAll(/[`*]|\[([^\]]*)\]\([^)]*\)/g, '$1');

/** Every page promises something; in a list of pages the words that all of them share are left out. */
function briefly(promise: string): string {
  const rest = plain(promise).replace(/^After this page /, '');
  return rest.charAt(0).toUpperCase() + rest.slice(1);
}

function link(frame: Frame, name: string, current: string | null): string {
  const title = frame.guides.find(({ guide }) => guide.name === name)?.guide.title ?? name;
  const here = name === current ? ' aria-current="page"' : '';
  return `<a href="${addressOf(frame.docsPath, name)}"${here}>${escapeHtml(title)}</a>`;
}

function navigation(frame: Frame, current: string | null): string {
  const groups = frame.site.groups.map(
    ({ title, pages }) =>
      `<p class="group">${escapeHtml(title)}</p><ul>${pages.map((name) => `<li>${link(frame, name, current)}</li>`).join('')}</ul>`,
  );
  const reference = `<p class="group">Reference</p><ul><li><a href="${frame.docsPath}/reference">Every endpoint</a></li></ul>`;
  return `<ul><li>${link(frame, 'index', current)}</li></ul>${groups.join('')}${reference}`;
}

function searchForm({ docsPath }: Frame, { question = '', isMain = false } = {}): string {
  const kind = isMain ? 'class="search wide" aria-label="On this page"' : 'class="search"';
  return `<form ${kind} role="search" action="${docsPath}/search" data-index="${docsPath}/search.json">
<input type="search" name="q" value="${escapeHtml(question)}" placeholder="Search the guides" aria-label="Search the guides" autocomplete="off" maxlength="200">
<kbd aria-hidden="true">/</kbd><div class="results" hidden></div></form>`;
}

/** The sections of a page, beside it. */
function contentsOf(headings: readonly Heading[]): string {
  const entries = headings.filter(({ depth }) => depth === 2);
  if (entries.length < 2) return '';
  const items = entries.map(({ anchor, text }) => `<li><a href="#${anchor}">${escapeHtml(text)}</a></li>`);
  return `<nav class="contents" aria-label="On this page"><p class="group">On this page</p><ul>${items.join('')}</ul></nav>`;
}

function neighbours(frame: Frame, name: string | null): string {
  const at = frame.guides.findIndex(({ guide }) => guide.name === name);
  if (at < 0) return '';
  const step = (to: RenderedGuide | undefined, word: string, rel: string) =>
    to === undefined
      ? '<span></span>'
      : `<a rel="${rel}" href="${addressOf(frame.docsPath, to.guide.name)}"><span>${word}</span><strong>${escapeHtml(to.guide.title)}</strong></a>`;
  const before = at > 0 ? frame.guides[at - 1] : undefined;
  return `<nav class="neighbours" aria-label="Previous and next page">${step(before, '← Before', 'prev')}${step(frame.guides[at + 1], 'Next →', 'next')}</nav>`;
}

type Barred = Pick<Frame, 'site' | 'docsPath'>;

const brand = ({ site, docsPath }: Barred) =>
  `<a class="brand" href="${docsPath}"><b>${escapeHtml(site.product)}</b> docs</a>`;

function places({ site, docsPath }: Barred): string {
  const links = site.links.map(({ label, href }) => `<a href="${href}">${escapeHtml(label)}</a>`);
  return `<a class="wide-only" href="${docsPath}">Guides</a><a href="${docsPath}/reference">Reference</a>${links.join('')}`;
}

/** The bar at the top of every guide. */
function header(frame: Frame): string {
  return `<header class="top">${brand(frame)}${searchForm(frame)}<nav class="places" aria-label="Places">${places(frame)}</nav></header>`;
}

/** The same above the reference, which has a header of its own on a phone: a page has one. */
export function referenceBar(frame: Barred): string {
  return `<nav class="top" aria-label="Places">${brand(frame)}<div class="places">${places(frame)}</div></nav>`;
}

function pageHtml(frame: Frame, page: Page): string {
  const { docsPath, assetsTag, site } = frame;
  const shown = frame.guides.find(({ guide }) => guide.name === page.name);
  const description = shown ? plain(shown.guide.promise) : `${site.product} documentation`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="description" content="${escapeHtml(description)}">
<title>${escapeHtml(page.title)} · ${escapeHtml(site.product)} docs</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="${docsPath}/assets/header.css?${assetsTag}"><link rel="stylesheet" href="${docsPath}/assets/docs.css?${assetsTag}">
<script type="module" src="${docsPath}/assets/docs.js?${assetsTag}"></script></head>
<body><a class="skip" href="#content">Skip to the text</a>
${header(frame)}
<details class="menu"><summary>All guides</summary><nav aria-label="All guides">${navigation(frame, page.name)}</nav></details>
<div class="columns"><nav class="side" aria-label="Guides">${navigation(frame, page.name)}</nav>
<main id="content" tabindex="-1"><article>${page.body}</article>${neighbours(frame, page.name)}</main>
${contentsOf(page.headings)}</div>
<div id="status" class="aloud" role="status"></div></body></html>`;
}

export function guidePage(frame: Frame, { guide, html, headings }: RenderedGuide): string {
  const isStart = guide.name === 'index';
  const body = isStart ? html + cards(frame) : html;
  return pageHtml(frame, {
    title: guide.title,
    name: guide.name,
    body,
    headings: isStart ? [] : headings,
  });
}

/** Every guide with what one can do after it. */
function cards(frame: Frame): string {
  const groups = frame.site.groups.map(({ title, pages }) => {
    const entries = pages.map((name) => {
      const guide = frame.guides.find((one) => one.guide.name === name)?.guide;
      return `<li><a href="${addressOf(frame.docsPath, name)}"><strong>${escapeHtml(guide?.title ?? name)}</strong><span>${escapeHtml(briefly(guide?.promise ?? ''))}</span></a></li>`;
    });
    return `<h2>${escapeHtml(title)}</h2><ul class="cards">${entries.join('')}</ul>`;
  });
  const reference = `<h2>Reference</h2><ul class="cards"><li><a href="${frame.docsPath}/reference"><strong>Every endpoint</strong><span>Parameters, answers and code that works when it is pasted.</span></a></li><li><a href="/openapi.json"><strong>OpenAPI document</strong><span>The same for machines, version 3.1.</span></a></li></ul>`;
  return groups.join('') + reference;
}

export function missingPage(frame: Frame): string {
  const body = `<h1>There is no such page</h1><p class="promise">The address may be mistyped, or the page has another name now. Search for what you need, or take one of these:</p>${searchForm(frame, { isMain: true })}${cards(frame)}`;
  return pageHtml(frame, { title: 'No such page', name: null, body, headings: [] });
}

export function searchPage(frame: Frame, sections: readonly IndexedSection[], question: string): string {
  const found = find(sections, question);
  const entries = found.map(
    ({ title, heading, url, excerpt }) =>
      `<li><a href="${escapeHtml(url)}"><strong>${escapeHtml(heading === title ? title : `${title} › ${heading}`)}</strong><span>${escapeHtml(excerpt)}</span></a></li>`,
  );
  const answer =
    entries.length > 0
      ? `<ul class="cards one">${entries.join('')}</ul>`
      : '<p>Nothing found. Try another word.</p>';
  const title = question === '' ? 'Search' : `Search: ${question}`;
  const body = `<h1>${escapeHtml(title)}</h1>${searchForm(frame, { question, isMain: true })}${question === '' ? '' : answer}`;
  return pageHtml(frame, { title, name: null, body, headings: [] });
}
