import { ConnectorError, type PageArguments } from '../connector.ts';
import { createMetaApi, type MetaContext } from '../vendor-api/meta.ts';
import { path } from '../vendor-api/path.ts';
import { fieldsOf, textOrNull } from '../vendor-api/shape.ts';

export const TITLE = 'Facebook';
export const FACEBOOK_URL = 'https://graph.facebook.com/v24.0';

export const facebook = createMetaApi({ title: TITLE, url: FACEBOOK_URL });
const { shape, call: callFacebook } = facebook;

/** Beyond this nobody runs pages by one account, and each may cost a request. */
const PAGES_MAX = 100;
const PAGES_TRIED_MAX = 25;

/** A page has no pages: so Graph answers to the token of one, which people paste as well as their own. */
const NO_SUCH_FIELD = '100';

/** The pages that a person runs; undefined where the token is that of a page itself. */
async function ofPerson<Found>(asked: Promise<Found>): Promise<Found | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ConnectorError && error.platformCode === NO_SUCH_FIELD) return undefined;
    throw error;
  }
}

/** One page of the list, which for the token of a page is the page itself. */
export async function listPagesOf<Item>(
  context: MetaContext,
  fields: string,
  page: PageArguments & { read: (value: unknown) => Item },
): Promise<{ items: Item[]; next_cursor: string | null }> {
  const listed = await ofPerson(
    facebook.readPage(context, { path: '/me/accounts', query: { fields } }, page),
  );
  if (listed !== undefined) return listed;
  const { body } = await callFacebook(context, { path: '/me', query: { fields } });
  return { items: [page.read(body)], next_cursor: null };
}

/** A page acts by a token of its own, which Facebook shows to those who run it; it is kept nowhere. */
export async function asPage(context: MetaContext, pageId: string): Promise<MetaContext> {
  const { body } = await callFacebook(context, { path: path`/${pageId}`, query: { fields: 'access_token' } });
  const token = textOrNull(shape.object(body).access_token);
  if (token === null && (await isTokenOf(context, pageId))) return context;
  if (token === null)
    throw new ConnectorError('platform_error', 'the account does not run this page', {
      platformCode: 'not_a_page',
    });
  return withToken(context, token);
}

async function isTokenOf(context: MetaContext, pageId: string): Promise<boolean> {
  const { body } = await callFacebook(context, { path: '/me', query: { fields: 'id' } });
  return shape.object(body).id === pageId;
}

/** The page that a post or comment is on: the one of its id, else the first that may see it. */
export async function asPageOf(context: MetaContext, objectId: string): Promise<MetaContext> {
  const request = { path: '/me/accounts', query: { fields: 'id,access_token', limit: PAGES_MAX } };
  const answer = await ofPerson(callFacebook(context, request));
  if (answer === undefined) return context;
  // Of a page that the account may only look at, Facebook shows no token.
  const pages = shape
    .list(shape.object(answer.body).data)
    .map(fieldsOf)
    .filter(({ access_token }) => typeof access_token === 'string');
  const named = pages.find(({ id }) => id === objectId.split('_')[0]);
  const candidates = named === undefined ? pages.slice(0, PAGES_TRIED_MAX) : [named];
  for (const { access_token } of candidates) {
    const page = withToken(context, shape.text(access_token));
    if (candidates.length === 1 || (await canSee(page, objectId))) return page;
  }
  throw new ConnectorError('platform_error', 'no page of the account has this post or comment', {
    platformCode: 'not_a_page',
  });
}

async function canSee(page: MetaContext, objectId: string): Promise<boolean> {
  try {
    await callFacebook(page, { path: path`/${objectId}`, query: { fields: 'id' } });
    return true;
  } catch (error) {
    if (error instanceof ConnectorError && error.code === 'platform_error') return false;
    throw error;
  }
}

function withToken(context: MetaContext, token: string): MetaContext {
  return { ...context, credential: { access_token: token } };
}
