export interface SearchQuery {
  query: string;
  /** Only tools of this platform. */
  platform?: string;
  limit: number;
}

export interface SearchEntry {
  name: string;
  title: string;
  description: string;
  platform: string | null;
}

export interface SearchScope {
  has(name: string): boolean;
  /** Tools that can be used at once come before equals that cannot. */
  isNear(name: string): boolean;
}

/** Finds tools by words of their names, titles and descriptions. */
export interface SearchIndex {
  /** Names, the best first. */
  search(query: SearchQuery, scope: SearchScope): string[];
}

/** A word of the name says more than one of the description. */
const WEIGHTS = { name: 4, title: 2.5, description: 1 };
const NEAR_FACTOR = 1.25;
/** Of the weight of the whole word, for one that only begins like it. */
const PREFIX_FACTOR = 0.5;
const PREFIX_LENGTH_MIN = 3;
const QUERY_WORDS_MAX = 32;

/** Words that people use for what the catalogue calls otherwise. */
const SYNONYMS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    mail: ['email'],
    inbox: ['email', 'message'],
    dm: ['direct', 'message'],
    tweet: ['post', 'x'],
    twitter: ['x'],
    toot: ['status', 'mastodon'],
    guild: ['server'],
    chat: ['message'],
    write: ['send', 'create'],
    publish: ['create', 'post'],
    remove: ['delete'],
    show: ['get', 'list'],
    read: ['get'],
    find: ['search'],
    like: ['favourite', 'reaction'],
    favorite: ['favourite'],
    reply: ['answer'],
  }),
);

const STOP_WORDS: ReadonlySet<string> = new Set(
  'a an and are as at be by for from in into is it its my of on or that the this to with you your'.split(' '),
);

/**
 * Made once at start: for each word, which tools have it and how much that says. Rare words weigh more, as usual in
 * search; with some hundred tools a query is a few hundred additions, so nothing more is needed.
 */
export function createSearchIndex(entries: readonly SearchEntry[]): SearchIndex {
  const postings = new Map<string, Map<number, number>>();
  for (const [position, entry] of entries.entries()) {
    for (const field of ['name', 'title', 'description'] as const)
      for (const word of new Set(wordsOf(entry[field]))) {
        const tools = postings.get(word) ?? new Map<number, number>();
        tools.set(position, (tools.get(position) ?? 0) + WEIGHTS[field]);
        postings.set(word, tools);
      }
  }
  const rarity = (tools: ReadonlyMap<number, number>) => Math.log(1 + entries.length / tools.size);
  const words = [...postings.keys()];

  function add(scores: Map<number, number>, word: string, factor: number): void {
    const tools = postings.get(word);
    if (tools === undefined) return;
    for (const [position, weight] of tools)
      scores.set(position, (scores.get(position) ?? 0) + factor * weight * rarity(tools));
  }

  function scoresOf(query: string): Map<number, number> {
    const scores = new Map<number, number>();
    const asked = [...new Set(wordsOf(query))].slice(0, QUERY_WORDS_MAX);
    for (const word of asked) {
      add(scores, word, 1);
      for (const synonym of SYNONYMS.get(word) ?? []) add(scores, stem(synonym), PREFIX_FACTOR);
      if (postings.has(word) || word.length < PREFIX_LENGTH_MIN) continue;
      for (const known of words) if (known.startsWith(word)) add(scores, known, PREFIX_FACTOR);
    }
    return scores;
  }

  return {
    search({ query, platform, limit }, { has, isNear }) {
      const exact = query.trim().toLowerCase();
      return [...scoresOf(query)]
        .map(([position, score]) => ({ position, entry: entries[position] as SearchEntry, score }))
        .filter(({ entry }) => has(entry.name) && (platform === undefined || entry.platform === platform))
        .map(({ entry, score, position }) => ({
          ...{ name: entry.name, position },
          score:
            entry.name === exact ? Number.POSITIVE_INFINITY : score * (isNear(entry.name) ? NEAR_FACTOR : 1),
        }))
        .sort((a, b) => (a.score === b.score ? a.position - b.position : b.score - a.score))
        .slice(0, limit)
        .map(({ name }) => name);
    },
  };
}

function wordsOf(text: string): string[] {
  const words =
    text
      .toLowerCase()
      .replaceAll('e-mail', 'email')
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.filter((word) => !STOP_WORDS.has(word)).map(stem);
}

/** Plurals alone: "messages" finds "message", "replies" finds "reply". */
function stem(word: string): string {
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  return word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
}
