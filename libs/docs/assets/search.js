// Finds sections of the guides. The server and the pages use this same file, so both find the same.

const RESULTS_MAX = 12;
const WORDS_MAX = 8;
const EXCERPT_BEFORE = 50;
const EXCERPT_LENGTH = 150;

/** `retries` finds `retry`, and `webhooks` finds `webhook`. */
const stemOf = (word) => (word.length > 3 ? word.replace(/ies$/, 'y').replace(/([^s])s$/, '$1') : word);

const wordsOf = (text) => (text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []).map(stemOf);

/** How well a word fits a text: whole words count most, then beginnings, then parts of words with underscores. */
function fit(word, text) {
  let best = 0;
  for (const other of wordsOf(text)) {
    if (other === word) return 3;
    if (other.startsWith(word)) best = Math.max(best, 2);
    else if (word.length > 2 && other.includes(word)) best = Math.max(best, 1);
  }
  return best;
}

function scoreOf(words, { title, heading, text }) {
  let score = 0;
  for (const word of words) {
    const own = 8 * fit(word, heading) + 4 * fit(word, title) + fit(word, text);
    if (own === 0) return 0;
    score += own;
  }
  return score;
}

function excerptOf(words, text) {
  const lower = text.toLowerCase();
  const places = words.map((word) => lower.indexOf(word)).filter((at) => at >= 0);
  const first = places.length === 0 ? 0 : Math.min(...places);
  const space = text.indexOf(' ', Math.max(0, first - EXCERPT_BEFORE));
  const start = first <= EXCERPT_BEFORE || space < 0 ? 0 : space + 1;
  const end = start + EXCERPT_LENGTH;
  return `${start > 0 ? '… ' : ''}${text.slice(start, end).trim()}${end < text.length ? ' …' : ''}`;
}

/** The best sections for a question, best first. */
export function find(sections, question) {
  const words = wordsOf(question).slice(0, WORDS_MAX);
  if (words.length === 0) return [];
  return sections
    .map((section) => ({ section, score: scoreOf(words, section) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, RESULTS_MAX)
    .map(({ section }) => ({ ...section, excerpt: excerptOf(words, section.text) }));
}
