import {
  CodeTabs,
  type Column,
  ConfirmButton,
  CopyText,
  Empty,
  Icon,
  ListView,
  Page,
  Panel,
  toast,
  useSearchState,
  When,
} from '@libs/ui';
import { Alert, Button, Group, List, Stack, Text } from '@mantine/core';
import { client, FOLLOW_MS, refresh, useList } from '../api/client.ts';
import { texts } from '../texts.ts';
import { scopeWords } from '../tokens/scopes.tsx';

const words = texts.assistants;
const CLIENTS_PATH = '/api/clients';

interface ConnectedClient {
  id: string;
  name: string;
  scopes: string[];
  connected_at: string;
  last_seen_at: string;
}

export function AssistantsPage() {
  const mcpAddress = `${window.location.origin}/mcp`;
  return (
    <Page title={words.title} lead={words.lead}>
      <Stack gap="lg">
        <Panel title={words.connect} lead={words.connectLead}>
          <Stack>
            <Text component="div" size="sm">
              {words.address} <CopyText text={mcpAddress} label={words.address} />
            </Text>
            <CodeTabs
              label={words.connect}
              samples={[
                { name: words.desktop, text: desktopSnippet(mcpAddress) },
                { name: words.terminal, text: `claude mcp add --transport http toolhub ${mcpAddress}` },
                { name: words.any, text: anySnippet(mcpAddress) },
              ]}
            />
            <List size="sm">
              {words.hints.map((hint) => (
                <List.Item key={hint}>{hint}</List.Item>
              ))}
            </List>
            <Alert color="gray" role="note" title={words.withToken}>
              <Group justify="space-between">
                <Text size="sm">{words.withTokenHint}</Text>
                <Button component="a" href="/oauth/connect-mcp" leftSection={<Icon name="key" size={16} />}>
                  {words.makeSnippets}
                </Button>
              </Group>
            </Alert>
          </Stack>
        </Panel>
        <Clients />
      </Stack>
    </Page>
  );
}

function desktopSnippet(address: string): string {
  const server = { command: 'npx', args: ['-y', 'mcp-remote', address] };
  return JSON.stringify({ mcpServers: { toolhub: server } }, null, 2);
}

function anySnippet(address: string): string {
  return JSON.stringify({ mcpServers: { toolhub: { type: 'http', url: address } } }, null, 2);
}

const columns: readonly Column<ConnectedClient>[] = [
  { header: words.client, written: true, render: ({ name }) => <strong>{name}</strong> },
  { header: words.scopes, render: ({ scopes }) => scopeWords(scopes) },
  { header: words.connectedAt, align: 'right', render: ({ connected_at: at }) => <When at={at} dayOnly /> },
  { header: words.lastSeen, align: 'right', render: ({ last_seen_at: at }) => <When at={at} /> },
  {
    header: texts.common.actions,
    align: 'right',
    render: ({ id, name }) => (
      <ConfirmButton
        danger
        label={words.disconnect}
        question={words.disconnectQuestion(name)}
        explanation={words.disconnectHint}
        onConfirm={async () => {
          await client.delete(`${CLIENTS_PATH}/${id}`);
          await refresh(CLIENTS_PATH);
          toast.done(words.disconnected);
        }}
      />
    ),
  },
];

function Clients() {
  const { values } = useSearchState();
  const query = useList<ConnectedClient>(
    CLIENTS_PATH,
    { cursor: values.cursor },
    { refetchMs: () => FOLLOW_MS },
  );
  return (
    <Panel title={words.connected} flush>
      <ListView
        label={words.connected}
        query={query}
        columns={columns}
        keyOf={({ id }) => id}
        empty={<Empty icon="people" title={words.none} next={words.noneNext} />}
      />
    </Panel>
  );
}
