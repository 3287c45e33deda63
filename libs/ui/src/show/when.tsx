import { texts } from '../texts.ts';

const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
/** For a clock that is not the wall's, where one would have to guess. */
const momentAndZone = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });

/** A day that is named without a zone is the same one everywhere. */
const namedDay = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });

/** As the server wrote it, for whoever compares with a log. */
const inUtc = (at: string) => `${at.replace('T', ' ').replace(/\.\d+Z$|Z$/, '')} ${texts.utc}`;

/** A moment in the viewer's own zone, which the page says once where moments do not (`Page`); the pointer over it shows UTC. */
export function When({
  at,
  dayOnly = false,
  withZone = false,
}: {
  at: string | null | undefined;
  dayOnly?: boolean;
  withZone?: boolean;
}) {
  if (at === null || at === undefined) return <span>–</span>;
  return (
    <time
      dateTime={at}
      title={inUtc(at)}
      className="ui-number"
      data-zoneless={!(dayOnly || withZone) || undefined}
    >
      {(dayOnly ? day : withZone ? momentAndZone : moment).format(new Date(at))}
    </time>
  );
}

/** A day of a calendar, such as 2026-11-14, or that of a moment in UTC, as billing counts; written as moments are. */
export function Day({ day: named }: { day: string }) {
  return (
    <time dateTime={named} className="ui-number">
      {namedDay.format(new Date(named))}
    </time>
  );
}
