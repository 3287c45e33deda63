import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectorError, doingNothing } from '../connector.ts';
import type { MetaContext } from '../vendor-api/meta.ts';
import { path } from '../vendor-api/path.ts';
import { fieldsOf, textOrNull } from '../vendor-api/shape.ts';
import { instagram, readOwnId, TITLE } from './api.ts';

export const KINDS = ['image', 'video', 'story_image', 'story_video', 'carousel'] as const;
export type Kind = (typeof KINDS)[number];

/** Each look comes a second later than the one before it, until they are this far apart. */
const POLL_MS_MAX = 5_000;
const POLLS_MAX = 120;
/** What is kept of the call's time for the last step, of which alone nobody may stay in doubt. */
const PUBLISHING_MS = 5_000;

/** Files take seconds or minutes. */
const LOOK_AGAIN_SECONDS = 30;

export interface NewMedia {
  kind: Kind;
  urls: readonly string[];
  caption: string | undefined;
  /** What an earlier call had begun to make of all that. */
  container: string | undefined;
}

/** Instagram fetches the files into containers first; a container that is ready is then published, which is what counts. */
export async function publish(context: MetaContext, media: NewMedia): Promise<string> {
  const owner = await doingNothing(readOwnId(context));
  const container = media.container ?? (await doingNothing(makeContainer(context, owner, media)));
  await showingTheWay(doingNothing(waitUntilReady(context, container)), container);
  const request = { path: path`/${owner}/media_publish`, json: { creation_id: container } };
  return (await showingTheWay(instagram.make(context, request), container)).id;
}

/**
 * What was fetched stays for a day and need not be fetched anew. It is published once, and knows whether it was: what became
 * of it where no answer came can be found out without a second post.
 */
async function showingTheWay<T>(step: Promise<T>, container: string): Promise<T> {
  try {
    return await step;
  } catch (error) {
    const mayPass = error instanceof ConnectorError && PASSING.has(error.code);
    throw mayPass ? withWayOut(error, container) : error;
  }
}

const PASSING: ReadonlySet<string> = new Set(['platform_unavailable', 'rate_limited']);

function withWayOut(failure: ConnectorError, container: string): ConnectorError {
  const { code, message, platformCode, outcomeOpen } = failure;
  const way = outcomeOpen
    ? `the same call with container_id ${container} publishes it, unless that was done`
    : `nothing was published. Make the same call again in a while, with container_id ${container}, which goes on from there`;
  return new ConnectorError(code, `${message}; ${way}`, {
    ...{ cause: failure, outcomeOpen, nothingDone: !outcomeOpen },
    retryAfterSeconds: failure.retryAfterSeconds ?? LOOK_AGAIN_SECONDS,
    ...(platformCode === null ? {} : { platformCode }),
  });
}

async function makeContainer(
  context: MetaContext,
  owner: string,
  { kind, urls, caption }: NewMedia,
): Promise<string> {
  const create = async (json: Record<string, unknown>): Promise<string> =>
    (await instagram.make(context, { path: path`/${owner}/media`, json })).id;
  const [url = ''] = urls;
  if (kind === 'image') return create({ image_url: url, caption });
  if (kind === 'video') return create({ media_type: 'REELS', video_url: url, caption });
  if (kind === 'story_image') return create({ media_type: 'STORIES', image_url: url });
  if (kind === 'story_video') return create({ media_type: 'STORIES', video_url: url });
  const children: string[] = [];
  for (const image of urls) children.push(await create({ image_url: image, is_carousel_item: true }));
  return create({ media_type: 'CAROUSEL', children: children.join(','), caption });
}

async function waitUntilReady(context: MetaContext, container: string): Promise<void> {
  for (let poll = 0; poll < POLLS_MAX; poll += 1) {
    const { body } = await instagram.call(context, {
      path: path`/${container}`,
      query: { fields: 'status_code,status' },
    });
    const { status_code: code, status } = fieldsOf(body);
    if (code === 'FINISHED') return;
    if (code === 'PUBLISHED')
      throw new ConnectorError('platform_error', `${TITLE} has published this container already`, {
        platformCode: code,
      });
    if (code !== 'IN_PROGRESS')
      throw new ConnectorError(
        'platform_error',
        `${TITLE} could not use the file (${textOrNull(status) ?? 'no reason given'})`.slice(0, 300),
        {
          platformCode: textOrNull(code) ?? 'unknown',
        },
      );
    const leftMs = context.timeLeftMs() - PUBLISHING_MS;
    if (leftMs <= 0) break;
    context.progress(poll + 1, undefined, 'Instagram fetches the file');
    const waitMs = Math.min((poll + 1) * 1_000, POLL_MS_MAX, leftMs);
    await sleep(waitMs, undefined, { signal: context.signal });
  }
  throw new ConnectorError('platform_unavailable', `${TITLE} still works on the file`, {
    platformCode: 'IN_PROGRESS',
  });
}
