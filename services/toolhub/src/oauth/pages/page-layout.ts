import { Html, html, inlineSource } from './html.ts';

export interface Page {
  html: string;
  csp: string;
}

/**
 * The last rule of buttons: one that was clicked takes no second click, by which an answer would be sent twice, the second time to a
 * request that is over. Who came to it by the keyboard sees its outline, and may click it. No script does this: pages with a form have none.
 */
const STYLE = `
:root{color-scheme:light dark;--ground:#f4f5f8;--card:#fff;--ink:#14161d;--muted:#565c6b;--line:#d9dce5;--edge:#858b9c;--accent:#0c766c;
--accent-ink:#fff;--soft:#e9f6f4;--bad:#b3261e;--bad-soft:#fdeceb;--code:#f0f2f7}
@media screen and (prefers-color-scheme:dark){:root{--ground:#0f1117;--card:#181b24;--ink:#eceef4;--muted:#a3aabb;--line:#2d3240;--edge:#727a8e;
--accent:#75c0b5;--accent-ink:#06231f;--soft:#17302d;--bad:#ff9a92;--bad-soft:#3a1f1e;--code:#11141c}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:flex;flex-direction:column;align-items:center;justify-content:center;
padding:1.5rem 1rem;background:var(--ground);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",sans-serif}
main{width:100%;max-width:27rem;background:var(--card);border:1px solid var(--line);border-radius:14px;padding:2rem 1.75rem;
box-shadow:0 1px 2px #0000000d,0 12px 32px -16px #00000033}
main.wide{max-width:46rem}
.brand{display:flex;align-items:center;gap:.55rem;font-weight:650;color:var(--muted);margin:0 0 1.25rem}
.brand svg{width:1.4rem;height:1.4rem}
h1{font-size:1.4rem;line-height:1.25;margin:0 0 .5rem;overflow-wrap:anywhere}
h2{font-size:1.1rem;margin:2rem 0 .25rem}
h3{font-size:.95rem;margin:1.25rem 0 .35rem}
p{margin:.5rem 0;overflow-wrap:anywhere}
.muted{color:var(--muted);font-size:.925rem}
label{display:block;font-weight:600;font-size:.925rem;margin:1rem 0 .3rem}
input{width:100%;font:inherit;color:inherit;background:var(--card);border:1px solid var(--edge);border-radius:9px;padding:.65rem .75rem}
.actions{display:flex;gap:.75rem;margin-top:1.5rem}
button{font:inherit;font-weight:600;border-radius:9px;padding:.7rem 1rem;cursor:pointer;border:1px solid var(--line);
background:transparent;color:inherit;flex:1}
button.primary{background:var(--accent);border-color:var(--accent);color:var(--accent-ink)}
button.link{border:0;padding:0;flex:none;font-weight:400;color:var(--accent);text-decoration:underline}
button:hover{filter:brightness(1.06)}
form button:focus:not(:focus-visible):not(:active){pointer-events:none}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
a{color:var(--accent)}
.alert{background:var(--bad-soft);color:var(--bad);border-radius:9px;padding:.65rem .85rem;font-size:.925rem}
.facts{margin:1.25rem 0;border:1px solid var(--line);border-radius:10px;overflow:hidden}
.facts div{padding:.6rem .85rem;display:flex;justify-content:space-between;gap:1rem}
.facts div+div{border-top:1px solid var(--line)}
dt{color:var(--muted);font-size:.9rem;white-space:nowrap}dd{margin:0;font-size:.95rem;font-weight:600;text-align:right;
overflow-wrap:anywhere;text-wrap:balance}
ul.scopes{list-style:none;padding:0;margin:.75rem 0}
ul.scopes li{padding:.55rem .85rem;background:var(--soft);border-radius:9px;margin-bottom:.4rem}
ul.scopes code{display:block;color:var(--muted);font-size:.8rem}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,monospace}
.snippet{display:grid;gap:.35rem}
pre{background:var(--code);border:1px solid var(--line);border-radius:10px;padding:.85rem 1rem;margin:0;overflow-x:auto;
font-size:.85rem;line-height:1.5;white-space:pre;user-select:all}
.snippet button{justify-self:end;padding:.25rem .7rem;font-size:.8rem;background:var(--card)}
.heard{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden;white-space:nowrap}
footer{margin-top:1rem;font-size:.85rem;color:var(--muted)}
@media (prefers-reduced-motion:no-preference){button{transition:filter .12s}}
@media (max-width:30em){.facts div{display:block}dd{text-align:left}}
@media (max-width:16em){body{padding-inline:.35rem}main{padding-inline:.75rem;overflow-wrap:anywhere}.actions{flex-wrap:wrap}}
`.trim();

/** That of the dashboard (`dashboard/public/icon.svg`), by which people know whose page asks for their password. */
const ICON =
  '<svg aria-hidden="true" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#0d7d74"/>' +
  '<path d="M16 16 9 9m7 7 7-7m-7 7v8" fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round"/>' +
  '<g fill="#fff"><circle cx="9" cy="9" r="2.6"/><circle cx="23" cy="9" r="2.6"/><circle cx="16" cy="24" r="2.6"/>' +
  '<circle cx="16" cy="16" r="3.4"/></g></svg>';

/** Shows the copy buttons, which are useless without it, and makes them work. */
const COPY_SCRIPT = `
const said = document.querySelector('[role=status]');
for (const button of document.querySelectorAll('button[data-copy]')) {
  button.hidden = false;
  button.addEventListener('click', async () => {
    const source = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = 'Copied';
    } catch {
      getSelection().selectAllChildren(source);
      button.textContent = document.execCommand('copy') ? 'Copied' : 'Selected';
    }
    said.textContent = button.textContent === 'Copied' ? 'Copied' : 'Not copied, but selected';
    setTimeout(() => { button.textContent = 'Copy'; said.textContent = ''; }, 2000);
  });
}
`.trim();

const STYLE_SOURCE = inlineSource(STYLE);
const SCRIPT_SOURCE = inlineSource(COPY_SCRIPT);

export interface PageOptions {
  title: string;
  body: Html;
  wide?: boolean;
  copyButtons?: boolean;
  /** Schemes beside this origin that the answer to the page's form may lead to; browsers check redirects, too. */
  formSchemes?: readonly string[];
}

export function layOut(options: PageOptions): Page {
  const { title, body, wide = false, copyButtons = false, formSchemes = [] } = options;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} · Toolhub</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<main${wide ? html` class="wide"` : ''}>
<p class="brand">${new Html(ICON)}Toolhub</p>
${body}
</main>
${copyButtons ? html`<p class="heard" role="status"></p><script>${new Html(COPY_SCRIPT)}</script>` : ''}
</body>
</html>
`;
  const csp = [
    "default-src 'none'",
    `style-src ${STYLE_SOURCE}`,
    ...(copyButtons ? [`script-src ${SCRIPT_SOURCE}`] : []),
    `form-action ${["'self'", ...formSchemes].join(' ')}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  return { html: page.text, csp: csp.join('; ') };
}
