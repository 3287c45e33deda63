import { createHash } from 'node:crypto';
import { fastify } from 'fastify';

export interface Reference {
  html: string;
  script: Buffer;
  csp: string;
  scriptTag: string;
}

const HEADER_HEIGHT = '3.5rem';
/**
 * Room for the header, and greys and colours that are dark enough to be read on their ground; what has no room beside its name on a
 * phone goes below it; a list of endpoints, which the keyboard could not scroll, has its whole height; and a heading leaves room for the
 * button behind it, which nobody sees but which made the page too wide.
 */
const CUSTOM_CSS = `:root { --scalar-custom-header-height: ${HEADER_HEIGHT}; }
.light-mode { --scalar-color-2: #444b57; --scalar-color-3: #5b6270; --scalar-color-green: #00683f; --scalar-color-blue: #0a5fa3;
  --scalar-color-orange: #9a4a00; --scalar-color-red: #b3202f; --scalar-color-purple: #6a3fb5; --scalar-color-yellow: #7a5900;
  --scalar-color-accent: #0a5fa3; }
.dark-mode { --scalar-color-2: #c3cad6; --scalar-color-3: #a9b1bf; --scalar-color-green: #5fd39a; --scalar-color-blue: #7cb8f5;
  --scalar-color-orange: #f5a962; --scalar-color-red: #ff9a92; --scalar-color-purple: #c4a5ff; --scalar-color-yellow: #f0c64a;
  --scalar-color-accent: #7cb8f5; }
ul.endpoints.endpoints { overflow: visible; }
.scalar-card-content.scalar-card-content:has(> .endpoints) { max-height: none; overflow: visible; }
.endpoints .endpoint-path { min-width: 0; overflow-wrap: anywhere; white-space: normal; }
:has(> h2 [data-testid='auth-indicator']) { flex-wrap: wrap; height: auto; }
h2:has([data-testid='auth-indicator']) { flex-shrink: 0; }
:has(> [class~='group/heading']) { padding-inline-end: 2rem; }
.t-doc__header span.whitespace-nowrap { min-width: 0; line-height: 1.2; white-space: normal; }`;

const authenticationOf = ({ scheme, token }: { scheme: string; token: string }) => ({
  preferredSecurityScheme: scheme,
  securitySchemes: { [scheme]: { token } },
});

/**
 * The reference page, with its script served from here. The package holds megabytes, so it is loaded when somebody
 * first opens the page; a throw-away server renders it, since the package offers nothing but a plugin.
 */
export async function renderReference(options: {
  title: string;
  documentUrl: string;
  /** Stands above the reference, and leads back to the guides. */
  header: string;
  styleUrl: string;
  /** Mends what the package leaves without a name. */
  scriptUrl: string;
  tryOut?: { scheme: string; token: string };
}): Promise<Reference> {
  const { default: apiReference } = await import('@scalar/fastify-api-reference');
  const renderer = fastify();
  await renderer.register(apiReference, {
    routePrefix: '/docs',
    configuration: {
      url: options.documentUrl,
      pageTitle: options.title,
      withDefaultFonts: false,
      telemetry: false,
      hideClientButton: true,
      showDeveloperTools: 'never',
      agent: { disabled: true },
      mcp: { disabled: true },
      // Only the code that a test has run: what Scalar would make up for other languages has no key and no ids.
      hiddenClients: true,
      defaultOpenFirstTag: true,
      customCss: CUSTOM_CSS,
      ...(options.tryOut === undefined ? {} : { authentication: authenticationOf(options.tryOut) }),
    },
  });
  const [page, script] = await Promise.all([
    renderer.inject('/docs/'),
    renderer.inject('/docs/js/scalar.js'),
  ]);
  await renderer.close();
  const inline = [...page.body.matchAll(/<script(?![^>]*\bsrc=)[^>]*>([\s\S]*?)<\/script>/g)];
  const hashes = inline.map(
    ([, text = '']) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`,
  );
  const html = page.body
    .replace('<html', '<html lang="en"')
    .replace(
      '</head>',
      `<link rel="icon" href="data:,"><link rel="stylesheet" href="${options.styleUrl}"><script type="module" src="${options.scriptUrl}"></script></head>`,
    )
    .replace('<body>', `<body class="reference">${options.header}`);
  return {
    html,
    script: script.rawPayload,
    scriptTag: `"${createHash('sha256').update(script.rawPayload).digest('base64url')}"`,
    // The page styles itself at run time, which needs unsafe-inline; scripts stay pinned by hash and origin.
    csp: [
      "default-src 'none'",
      `script-src 'self' ${hashes.join(' ')}`,
      "style-src 'self' 'unsafe-inline'",
      "img-src 'self' data: blob:",
      "font-src 'self' data:",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
  };
}
