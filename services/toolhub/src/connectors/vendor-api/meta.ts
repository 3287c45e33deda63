import { Type } from 'typebox';
import {
  type Connector,
  defineConnector,
  type OAuthProvider,
  type PageArguments,
  type RefreshOutcome,
  type ToolContext,
  type ToolDefinition,
} from '../connector.ts';
import { createGraphApi } from './graph.ts';
import { readGraphPage } from './graph-page.ts';
import { GRAPH_RENEW_AHEAD_MS, hasEnd } from './graph-tokens.ts';
import {
  expiresAt,
  type OAuthCredential,
  oauthCredentialSchema,
  oauthSecretFields,
} from './oauth-credential.ts';
import { probeBy, verifyBy } from './probe.ts';
import type { VendorRequest } from './request.ts';
import { idOrNull, shapeOf } from './shape.ts';
import { closed, nullableText, vendorId } from './tool-schemas.ts';

// What Facebook and Instagram share beyond the Graph API: accounts by OAuth, and how their tools read and write.

export type MetaContext = ToolContext<OAuthCredential>;

export const graphId = (description: string) => vendorId(description, '^[0-9]{1,25}$');
export const madeSchema = closed({ id: Type.String() });
export const sentSchema = closed({ message_id: Type.String(), recipient_id: nullableText });

export function createMetaApi({ title, url }: { title: string; url: string }) {
  const shape = shapeOf(title);
  const call = createGraphApi<OAuthCredential>({ title, url, token: ({ access_token }) => access_token });
  const write = async (context: MetaContext, request: { path: string; json: unknown }) =>
    shape.object((await call(context, { method: 'POST', ...request })).body);
  return {
    shape,
    call,
    readPage: <Item>(
      context: MetaContext,
      request: VendorRequest,
      page: PageArguments & { read: (value: unknown) => Item },
    ) => readGraphPage(call, context, request, { ...page, shape }),
    /** The id of what was made. */
    async make(context: MetaContext, request: { path: string; json: unknown }): Promise<{ id: string }> {
      return { id: shape.text((await write(context, request)).id) };
    },
    async sendMessage(context: MetaContext, request: { path: string; json: unknown }) {
      const sent = await write(context, request);
      return { message_id: shape.text(sent.message_id), recipient_id: idOrNull(sent.recipient_id) };
    },
  };
}

/** A token of Meta's lives for 60 days and is renewed while it works, by each platform in its own way. */
export function defineMetaConnector(platform: {
  id: string;
  title: string;
  url: string;
  accountLabel: string;
  login: OAuthProvider<OAuthCredential>;
  refresh(context: MetaContext): Promise<RefreshOutcome<OAuthCredential>>;
  readOwnName(context: MetaContext): Promise<string>;
  tools: readonly ToolDefinition[];
}): Connector {
  return defineConnector<OAuthCredential>({
    id: platform.id,
    title: platform.title,
    apiUrl: platform.url,
    auth: {
      kind: 'oauth',
      credentialSchema: oauthCredentialSchema,
      secretFields: oauthSecretFields,
      accountLabel: () => platform.accountLabel,
      providers: [platform.login],
    },
    expiresAt,
    isRefreshable: hasEnd,
    refresh: platform.refresh,
    renewAheadMs: GRAPH_RENEW_AHEAD_MS,
    verify: (context) => verifyBy(() => platform.readOwnName(context)),
    health: (context) => probeBy(() => platform.readOwnName(context)),
    tools: platform.tools,
  });
}
