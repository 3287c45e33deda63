import { escapeHtml } from './html.ts';

type Kind = 'comment' | 'string' | 'keyword' | 'number' | 'key' | 'variable';
type Rule = readonly [kind: Kind, pattern: RegExp];

const JS_WORDS =
  'import|from|export|const|let|await|async|for|of|in|new|return|try|catch|if|else|throw|function|true|false|null|class';
const PYTHON_WORDS =
  'import|from|def|class|for|in|if|else|try|except|return|with|as|async|await|not|is|None|True|False|raise|print';

/** Enough to be read with ease, and nothing to download: a few words, strings, numbers and comments of each language. */
const rules: Readonly<Record<string, readonly Rule[]>> = {
  sh: [
    ['comment', /(?:^|(?<=\s))#[^\n]*/y],
    ['string', /'[^']*'|"(?:\\.|[^"\\])*"/y],
    ['variable', /\$\w+|\$\{\w+\}/y],
    ['keyword', /\b(?:curl|npm|npx|node|python3|pip|export|echo|kill|sleep|openssl)\b(?![-./=])/y],
    ['key', /(?<=\s)--?[A-Za-z][\w-]*/y],
  ],
  js: [
    ['comment', /\/\/[^\n]*/y],
    ['string', /'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`/y],
    ['keyword', new RegExp(`\\b(?:${JS_WORDS})\\b`, 'y')],
    ['number', /\b\d[\d_.]*\b/y],
  ],
  python: [
    ['comment', /#[^\n]*/y],
    ['string', /f?"""[\s\S]*?"""|f?"(?:\\.|[^"\\])*"|f?'(?:\\.|[^'\\])*'/y],
    ['keyword', new RegExp(`\\b(?:${PYTHON_WORDS})\\b`, 'y')],
    ['number', /\b\d[\d_.]*\b/y],
  ],
  json: [
    ['key', /"(?:\\.|[^"\\])*"(?=\s*:)/y],
    ['string', /"(?:\\.|[^"\\])*"/y],
    ['keyword', /\b(?:true|false|null)\b/y],
    ['number', /-?\b\d[\d.]*\b/y],
  ],
};

const PLAIN = /[\w]+|[^\w]/y;

export function highlight(text: string, language: string): string {
  const own = rules[language];
  if (own === undefined) return escapeHtml(text);
  let html = '';
  for (let at = 0; at < text.length; ) {
    const found = matchAt(own, text, at);
    if (found !== undefined) {
      html += `<span class="t-${found.kind}">${escapeHtml(found.text)}</span>`;
      at += found.text.length;
      continue;
    }
    PLAIN.lastIndex = at;
    const plain = PLAIN.exec(text)?.[0] ?? (text[at] as string);
    html += escapeHtml(plain);
    at += plain.length;
  }
  return html;
}

function matchAt(own: readonly Rule[], text: string, at: number): { kind: Kind; text: string } | undefined {
  for (const [kind, pattern] of own) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match !== null && match[0] !== '') return { kind, text: match[0] };
  }
  return undefined;
}
