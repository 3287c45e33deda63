import { CopyText, Facts, JsonBlock, Page, Panel, QueryView, When } from '@libs/ui';
import { Badge, Text } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import { useObject } from '../api/client.ts';
import { texts } from '../texts.ts';
import { useCallers } from './callers.ts';
import { LOGS_PATH, type RequestLogDetail, statusColor } from './log.ts';

const words = texts.logs;

export function LogPage() {
  const { id } = useParams({ strict: false }) as { id: string };
  const query = useObject<RequestLogDetail>(`${LOGS_PATH}/${encodeURIComponent(id)}`);
  const callerOf = useCallers(query.data === undefined ? [] : [query.data]);
  return (
    <Page title={query.data === undefined ? words.title : `${query.data.method} ${query.data.path}`}>
      <QueryView query={query}>
        {(log) => (
          <>
            <Panel title={words.facts}>
              <Facts facts={factsOf(log, callerOf)} />
            </Panel>
            <Body title={words.request} body={log.request_body} bytes={log.request_bytes} />
            <Body title={words.response} body={log.response_body} bytes={log.response_bytes} />
          </>
        )}
      </QueryView>
    </Page>
  );
}

function factsOf(log: RequestLogDetail, callerOf: (id: string | null) => string) {
  const copied = (label: string, text: string | null) =>
    text === null ? null : <CopyText key={label} text={text} label={label} />;
  const called = (label: string, id: string | null) =>
    id === null ? null : (
      <span key={label}>
        {callerOf(id) === id ? null : callerOf(id)} {copied(label, id)}
      </span>
    );
  return [
    [
      words.status,
      <Badge key="status" color={statusColor(log.status)}>
        {log.status}
      </Badge>,
    ],
    [words.at, <When key="at" at={log.created_at} withZone />],
    [words.duration, `${log.duration_ms} ms`],
    [words.id, copied(words.id, log.request_id)],
    [words.query, log.query],
    [words.idempotencyKey, copied(words.idempotencyKey, log.idempotency_key)],
    [words.key, called(words.key, log.key_id)],
    [words.person, called(words.person, log.user_id)],
    [words.ip, log.ip],
    [words.version, log.api_version],
  ] as const;
}

function Body({ title, body, bytes }: { title: string; body: unknown; bytes: number }) {
  return (
    <Panel title={title}>
      {body === null ? (
        <Text size="sm" c="dimmed">
          {bytes === 0 ? words.noBody : words.tooLong(bytes)}
        </Text>
      ) : (
        <JsonBlock label={title} value={body} />
      )}
    </Panel>
  );
}
