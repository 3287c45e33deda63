import type { Mail } from '@libs/mail';
import type { Role } from '../people/person.ts';
import type { Mode } from '../tenant.ts';

export type Notice =
  | { kind: 'live_access_approved' }
  | { kind: 'live_access_refused'; reason: string | null }
  | { kind: 'webhook_endpoint_disabled'; endpointId: string; mode: Mode; isGone: boolean };

const owners: readonly Role[] = ['owner'];
const writers: readonly Role[] = ['owner', 'developer'];

/** Whose work it is. */
export function rolesFor({ kind }: Notice): readonly Role[] {
  return kind === 'webhook_endpoint_disabled' ? writers : owners;
}

export interface NoticePlace {
  /** The address of the pages in test mode. */
  dashboard: string;
  /** Whose page it is: who belongs to several may look at another one just then. Notices from before it was kept have none. */
  organisationId: string | undefined;
}

export function wordsOf(
  notice: Notice,
  { dashboard, organisationId }: NoticePlace,
): Pick<Mail, 'subject' | 'text'> {
  const whose = organisationId === undefined ? '' : `?organisation=${organisationId}`;
  switch (notice.kind) {
    case 'live_access_approved':
      return {
        subject: 'Live access is approved',
        text: letter('your organisation can make live keys now:', `${dashboard}/live/keys${whose}`),
      };
    case 'live_access_refused':
      return {
        subject: 'Live access is refused',
        text: letter(
          'your organisation was refused live access.',
          'Live keys that it has no longer work.',
          ...(notice.reason === null ? [] : ['', notice.reason]),
          ...['', 'You can ask again in the settings:', `${dashboard}/settings${whose}`],
        ),
      };
    case 'webhook_endpoint_disabled': {
      const pages = notice.mode === 'live' ? `${dashboard}/live` : dashboard;
      const why = notice.isGone ? 'it answered 410 (gone)' : 'it has only failed for five days';
      return {
        subject: `A webhook endpoint is switched off (${notice.mode} mode)`,
        text: letter(
          `an endpoint of your organisation is switched off, since ${why}.`,
          'Nothing is sent to it until you switch it on again:',
          `${pages}/webhooks/${notice.endpointId}${whose}`,
        ),
      };
    }
  }
}

function letter(...lines: string[]): string {
  return ['Hello,', '', ...lines, ''].join('\n');
}
