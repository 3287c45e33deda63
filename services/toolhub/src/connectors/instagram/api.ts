import { createMetaApi, type MetaContext } from '../vendor-api/meta.ts';
import { idOrNull } from '../vendor-api/shape.ts';

export const TITLE = 'Instagram';
export const INSTAGRAM_URL = 'https://graph.instagram.com/v24.0';

export const instagram = createMetaApi({ title: TITLE, url: INSTAGRAM_URL });

/** The id under which the account publishes; `id` alone is one that only this app knows. */
export async function readOwnId(context: MetaContext): Promise<string> {
  const { body } = await instagram.call(context, { path: '/me', query: { fields: 'user_id,id' } });
  const { user_id, id } = instagram.shape.object(body);
  return instagram.shape.text(idOrNull(user_id) ?? idOrNull(id));
}
