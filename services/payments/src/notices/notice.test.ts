import { expect, test } from 'vitest';
import { rolesFor, wordsOf } from './notice.ts';

const PAGES = 'https://pay.example/dashboard';
const place = { dashboard: PAGES, organisationId: 'org_1' };
const disabled = { kind: 'webhook_endpoint_disabled', endpointId: 'we_1', isGone: true } as const;

test('a notice goes to those whose work it is', () => {
  expect(rolesFor({ kind: 'live_access_approved' })).toEqual(['owner']);
  expect(rolesFor({ ...disabled, mode: 'test' })).toEqual(['owner', 'developer']);
});

test('a notice says what happened and why, and leads to the page of its mode', () => {
  const live = wordsOf({ ...disabled, mode: 'live' }, place);
  expect(live.subject).toBe('A webhook endpoint is switched off (live mode)');
  expect(live.text).toContain('it answered 410 (gone)');
  expect(live.text).toContain(`${PAGES}/live/webhooks/we_1?organisation=org_1\n`);
  const failing = wordsOf({ ...disabled, isGone: false, mode: 'test' }, place).text;
  expect(failing).toContain('it has only failed for five days');
  expect(failing).toContain(`${PAGES}/webhooks/we_1?organisation=org_1\n`);
});

test('a refusal repeats what the operator answered, where something was', () => {
  const refused = (reason: string | null) => wordsOf({ kind: 'live_access_refused', reason }, place).text;
  expect(refused('Tell us more.')).toContain('\n\nTell us more.\n\n');
  expect(refused(null)).toContain(
    'refused live access.\nLive keys that it has no longer work.\n\nYou can ask again',
  );
});

test('every link says of which organisation its page is, but for what was planned before that was kept', () => {
  const notices = [
    { kind: 'live_access_approved' },
    { kind: 'live_access_refused', reason: null },
    { ...disabled, mode: 'test' },
  ] as const;
  const linkOf = (notice: (typeof notices)[number], organisationId?: string) =>
    wordsOf(notice, { dashboard: PAGES, organisationId }).text.trim().split('\n').at(-1);
  expect(notices.map((notice) => linkOf(notice, 'org_1'))).toEqual([
    `${PAGES}/live/keys?organisation=org_1`,
    `${PAGES}/settings?organisation=org_1`,
    `${PAGES}/webhooks/we_1?organisation=org_1`,
  ]);
  expect(linkOf(notices[0])).toBe(`${PAGES}/live/keys`);
});
