import { ConnectorError } from '../connector.ts';
import { path } from '../vendor-api/path.ts';
import { fieldsOf, textOrNull } from '../vendor-api/shape.ts';
import { callMastodon, type MastodonContext, shape } from './api.ts';

/** From the most people to the fewest. */
const VISIBILITIES = ['public', 'unlisted', 'private', 'direct'];
const MENTION = /(?<![\p{L}\p{N}_/])@[\p{L}\p{N}_]/u;

/**
 * Who is to see an answer of which the caller did not say it. A server takes the account's own setting whatever is answered, so that
 * answers to private messages would be public; people's apps ask for the narrower of the two. Undefined leaves it to that setting.
 */
export async function visibilityOfAnswer(
  context: MastodonContext,
  { text, answered }: { text: string; answered: string },
): Promise<string | undefined> {
  const { body } = await callMastodon(context, { path: path`/api/v1/statuses/${answered}` });
  const visibility = textOrNull(shape.object(body).visibility);
  if (visibility === null || visibility === 'public') return undefined;
  if (visibility === 'direct') {
    if (MENTION.test(text)) return visibility;
    throw new ConnectorError(
      'invalid_arguments',
      'an answer to a private message is seen by those alone whom its text mentions: write @name@server of whom it is for',
    );
  }
  const own = await readOwnVisibility(context);
  return isNarrower(own, visibility) ? undefined : visibility;
}

async function readOwnVisibility(context: MastodonContext): Promise<string | null> {
  const { body } = await callMastodon(context, { path: '/api/v1/accounts/verify_credentials' });
  return textOrNull(fieldsOf(shape.object(body).source).privacy);
}

/** Of words that only some servers have (`local`) nobody knows the rank: the answer is seen as what it answers. */
function isNarrower(own: string | null, visibility: string): boolean {
  const [ownRank, rank] = [own ?? '', visibility].map((one) => VISIBILITIES.indexOf(one));
  return ownRank !== undefined && rank !== undefined && rank >= 0 && ownRank > rank;
}
