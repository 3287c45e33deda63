import { CopyText, Facts, JsonBlock, Page, Panel, QueryView, When } from '@libs/ui';
import { Badge } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import { useObject } from '../api/client.ts';
import { texts } from '../texts.ts';
import { LOGS_PATH, type RequestLog, statusColor } from './log.ts';

const words = texts.logs;

export function LogPage() {
  const { id } = useParams({ strict: false }) as { id: string };
  const query = useObject<RequestLog>(`${LOGS_PATH}/${encodeURIComponent(id)}`);
  return (
    <Page title={query.data === undefined ? words.title : `${query.data.method} ${query.data.path}`}>
      <QueryView query={query}>
        {(log) => (
          <>
            <Panel title={words.facts}>
              <Facts
                facts={[
                  [words.id, <CopyText key="id" text={log.id} label={words.id} />],
                  [
                    words.status,
                    <Badge key="status" color={statusColor(log.status)}>
                      {log.status}
                    </Badge>,
                  ],
                  [words.duration, `${Math.round(log.duration_ms)} ms`],
                  [words.key, log.key_id],
                  [words.person, log.user_id],
                  [words.at, <When key="at" at={log.created_at} />],
                ]}
              />
            </Panel>
            <Panel title={words.request}>
              <JsonBlock label={words.request} value={log.request_body ?? null} />
            </Panel>
            <Panel title={words.response}>
              <JsonBlock label={words.response} value={log.response_body ?? null} />
            </Panel>
          </>
        )}
      </QueryView>
    </Page>
  );
}
