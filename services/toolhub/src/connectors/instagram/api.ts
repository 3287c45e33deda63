import type { ToolContext } from '../connector.ts';
import { createGraphApi } from '../vendor-api/graph.ts';
import type { OAuthCredential } from '../vendor-api/oauth-credential.ts';
import { idOrNull, shapeOf } from '../vendor-api/shape.ts';

export const TITLE = 'Instagram';
export const INSTAGRAM_URL = 'https://graph.instagram.com/v24.0';
export const shape = shapeOf(TITLE);

export type InstagramContext = ToolContext<OAuthCredential>;

export const callInstagram = createGraphApi<OAuthCredential>({
  title: TITLE,
  url: INSTAGRAM_URL,
  token: ({ access_token }) => access_token,
});

/** The id under which the account publishes; `id` alone is one that only this app knows. */
export async function readOwnId(context: InstagramContext): Promise<string> {
  const { body } = await callInstagram(context, { path: '/me', query: { fields: 'user_id,id' } });
  const { user_id, id } = shape.object(body);
  return shape.text(idOrNull(user_id) ?? idOrNull(id));
}
