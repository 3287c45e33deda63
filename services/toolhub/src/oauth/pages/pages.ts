import { EMAIL_CHARACTERS_MAX, PASSWORD_CHARACTERS_MAX, PASSWORD_CHARACTERS_MIN } from '@libs/login';
import { NAME_CHARACTERS_MAX } from '../../customers/customer.ts';
import type { Scope } from '../../customers/identity.ts';
import { scopeTexts } from '../scope-texts.ts';
import { type Html, html } from './html.ts';
import { layOut, type Page } from './page-layout.ts';

export interface LoginView {
  action: string;
  signupLink: string;
  /** To the log-in that knows passkeys and forgotten passwords, and comes back. */
  otherWaysLink: string;
  clientName: string;
  email?: string;
  problem?: string;
}

function alert(problem: string | undefined): Html | '' {
  return problem === undefined ? '' : html`<p class="alert" role="alert">${problem}</p>`;
}

export function loginPage(view: LoginView): Page {
  return layOut({
    title: 'Log in',
    body: html`<h1>Log in</h1>
<p class="muted">to continue to <strong>${view.clientName}</strong></p>
${alert(view.problem)}
<form method="post" action="${view.action}">
<label for="email">E-mail address</label>
<input id="email" name="email" type="email" autocomplete="username" required maxlength="${EMAIL_CHARACTERS_MAX}"
 value="${view.email ?? ''}"${view.email ? '' : html` autofocus`}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required
 maxlength="${PASSWORD_CHARACTERS_MAX}"${view.email ? html` autofocus` : ''}>
<div class="actions"><button class="primary" type="submit">Log in</button></div>
</form>
<p class="muted"><a href="${view.otherWaysLink}">Log in with a passkey, or set a new password</a></p>
<p class="muted">No account yet? <a href="${view.signupLink}">Open one</a></p>`,
  });
}

export interface SignupView {
  action: string;
  loginLink: string;
  clientName: string;
  email?: string;
  name?: string;
  problem?: string;
}

export function signupPage(view: SignupView): Page {
  return layOut({
    title: 'Open an account',
    body: html`<h1>Open an account</h1>
<p class="muted">to continue to <strong>${view.clientName}</strong></p>
${alert(view.problem)}
<form method="post" action="${view.action}">
<label for="name">Name</label>
<input id="name" name="name" autocomplete="name" required maxlength="${NAME_CHARACTERS_MAX}" value="${view.name ?? ''}" autofocus>
<label for="email">E-mail address</label>
<input id="email" name="email" type="email" autocomplete="username" required maxlength="${EMAIL_CHARACTERS_MAX}"
 value="${view.email ?? ''}">
<label for="password">Password, at least ${PASSWORD_CHARACTERS_MIN} characters</label>
<input id="password" name="password" type="password" autocomplete="new-password" required
 minlength="${PASSWORD_CHARACTERS_MIN}" maxlength="${PASSWORD_CHARACTERS_MAX}">
<div class="actions"><button class="primary" type="submit">Open the account</button></div>
</form>
<p class="muted">You have one? <a href="${view.loginLink}">Log in</a></p>`,
  });
}

export interface ConsentView {
  action: string;
  switchAction: string;
  clientName: string;
  /** The address that names a client which described itself in a document on the web. */
  clientHost: string | undefined;
  redirectHost: string;
  redirectScheme: string;
  scopes: readonly Scope[];
  isOwnClient: boolean;
  email: string;
  problem?: string;
}

export function consentPage(view: ConsentView): Page {
  const scopes = view.scopes.map((scope) => html`<li>${scopeTexts[scope]} <code>${scope}</code></li>`);
  const clientHost = view.clientHost && html`<div><dt>Published at</dt><dd>${view.clientHost}</dd></div>`;
  return layOut({
    title: 'Allow access',
    formSchemes: [view.redirectScheme],
    body: html`<h1>${view.clientName} wants to use your Toolhub account</h1>
${alert(view.problem)}
<dl class="facts">
<div><dt>Application</dt><dd>${view.clientName}</dd></div>
${clientHost}
<div><dt>Sends you to</dt><dd>${view.redirectHost}</dd></div>
<div><dt>Logged in as</dt><dd>${view.email}</dd></div>
</dl>
<p>It will be able to:</p>
<ul class="scopes">${scopes}</ul>
<p class="muted">${view.isOwnClient ? '' : 'The application chose its name itself. '}Allow it only if you started this,
and know the address above.</p>
<form method="post" action="${view.action}">
<div class="actions">
<button type="submit" name="decision" value="deny">Deny</button>
<button class="primary" type="submit" name="decision" value="allow">Allow</button>
</div>
</form>
<form method="post" action="${view.switchAction}">
<p class="muted">Not you? <button class="link" type="submit">Use another account</button></p>
</form>`,
  });
}

/** For the end of a flow that cannot go on. */
export function problemPage(view: {
  title: string;
  detail: string;
  retryLink?: string;
  retryText?: string;
}): Page {
  return layOut({
    title: view.title,
    body: html`<h1>${view.title}</h1>
<p>${view.detail}</p>
${view.retryLink && html`<p><a href="${view.retryLink}">${view.retryText ?? 'Try again'}</a></p>`}`,
  });
}

export interface SnippetsView {
  mcpUrl: string;
  token: string;
  tokenDays: number;
  email: string;
}

/** A name that both clients accept in their configuration. */
const SERVER_NAME = 'toolhub';

/**
 * Its configuration file knows programs alone, so a small one (`mcp-remote`) stands between. A space in an argument is
 * lost on some systems, hence the variable for the header.
 */
function desktopConfig(mcpUrl: string, token?: string): string {
  const isPlain = mcpUrl.startsWith('http:') && !/^http:\/\/(localhost|127\.0\.0\.1)[:/]/.test(mcpUrl);
  const args = ['-y', 'mcp-remote', mcpUrl, ...(isPlain ? ['--allow-http'] : [])];
  const server =
    token === undefined
      ? { command: 'npx', args }
      : {
          command: 'npx',
          args: [...args, '--header', `Authorization:\${AUTH_HEADER}`],
          env: { AUTH_HEADER: `Bearer ${token}` },
        };
  return JSON.stringify({ mcpServers: { [SERVER_NAME]: server } }, null, 2);
}

function terminalCommand(mcpUrl: string, token?: string): string {
  const header = token === undefined ? '' : ` --header "Authorization: Bearer ${token}"`;
  return `claude mcp add --transport http ${SERVER_NAME} ${mcpUrl}${header}`;
}

function snippet(id: string, label: string, text: string): Html {
  return html`<div class="snippet"><pre id="${id}" tabindex="0" aria-label="${label}">${text}</pre>
<button type="button" data-copy="${id}" aria-label="Copy ${label}" hidden>Copy</button></div>`;
}

export function snippetsPage(view: SnippetsView): Page {
  const { mcpUrl, token } = view;
  return layOut({
    title: 'Connect your AI client',
    wide: true,
    copyButtons: true,
    body: html`<h1>Your account is ready to connect</h1>
<p class="muted">Logged in as ${view.email}. Choose your client, and one of the two ways to log in.</p>
<h2>Desktop assistant</h2>
<p class="muted">It has a page for connectors? Add a custom connector there with the address
<code>${mcpUrl}</code>, and log in. Otherwise put this into its configuration file and start it again; it needs Node.js.</p>
<h3>Log in with the browser (recommended)</h3>
${snippet('desktop-oauth', 'desktop configuration with browser login', desktopConfig(mcpUrl))}
<h3>With a token</h3>
${snippet('desktop-token', 'desktop configuration with a token', desktopConfig(mcpUrl, token))}
<h2>Terminal coding client</h2>
<p class="muted">Run this once in a terminal.</p>
<h3>Log in with the browser (recommended)</h3>
${snippet('terminal-oauth', 'terminal command with browser login', terminalCommand(mcpUrl))}
<h3>With a token</h3>
${snippet('terminal-token', 'terminal command with a token', terminalCommand(mcpUrl, token))}
<p class="muted">The token is shown this once. It works for ${view.tokenDays} days and can use all your tools; you can
revoke it under Tokens in the <a href="/">dashboard</a>.</p>`,
  });
}
