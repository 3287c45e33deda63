const STYLE = `:root{color-scheme:light dark}body{font:16px/1.6 system-ui,sans-serif;display:grid;place-content:center;min-height:90vh;
margin:0;padding:1rem;text-align:center}p{max-width:32rem;margin:.5rem auto;opacity:.8}`;

/** A page that stands by itself, for when there is no program of pages to show. Its parts are HTML already. */
export function plainPage(
  { title, head = '', main }: { title: string; head?: string; main: string },
  nonce: string,
): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
${head}<title>${title}</title><style nonce="${nonce}">${STYLE}</style></head>
<body><main>${main}</main></body></html>`;
}
