import {
  breakable,
  ChoiceFilter,
  type Column,
  DataTable,
  Empty,
  FilterBar,
  Page,
  Panel,
  QueryView,
  TextFilter,
  toast,
  useSearchState,
} from '@libs/ui';
import { Anchor, Button, Group, Paper, Switch, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../api/client.ts';
import { HealthBadge, statusOf } from '../connections/health-badge.tsx';
import {
  type Credential,
  type HealthStatus,
  type PlatformHealth,
  platformTitle,
  useCredentials,
  useHealth,
} from '../connections/platforms.ts';
import { texts } from '../texts.ts';
import { ClassBadge } from './class-badge.tsx';
import { refreshTools, TOOLS_PATH, type Tool, type ToolCatalogue, useTools } from './tool.ts';

const words = texts.tools;

export function ToolsPage() {
  const tools = useTools();
  return (
    <Page title={words.title} lead={words.lead}>
      <QueryView query={tools}>{(catalogue) => <Catalogue catalogue={catalogue} />}</QueryView>
    </Page>
  );
}

function Catalogue({ catalogue }: { catalogue: ToolCatalogue }) {
  const { values } = useSearchState();
  const wanted = (values.q ?? '').toLowerCase();
  const shown = catalogue.data.filter(
    (tool) =>
      (values.platform === undefined || tool.platform === values.platform) &&
      (values.class === undefined || tool.class === values.class) &&
      `${tool.name} ${tool.title} ${tool.description}`.toLowerCase().includes(wanted),
  );
  const platforms = catalogue.platforms.filter(({ platform }) =>
    shown.some((tool) => tool.platform === platform),
  );
  const own = shown.filter(({ platform }) => platform === null);
  const credentials = useCredentials().data?.data;
  const health = useHealth().data?.platforms ?? [];
  return (
    <>
      <FilterBar>
        <TextFilter name="q" label={words.search} width={260} />
        <ChoiceFilter
          name="platform"
          label={words.platform}
          choices={catalogue.platforms.map(({ platform, title }) => ({ value: platform, label: title }))}
        />
        <ChoiceFilter
          name="class"
          label={words.class}
          choices={Object.entries(texts.toolClasses).map(([value, label]) => ({ value, label }))}
        />
      </FilterBar>
      {shown.length === 0 ? (
        <Paper className="ui-panel">
          <Empty icon="search" title={words.nothing} next={words.nothingNext} />
        </Paper>
      ) : null}
      {platforms.map((platform) => (
        <PlatformTools
          key={platform.platform}
          platform={platform}
          connection={credentials && connectionOf(platform.platform, credentials, health)}
          tools={shown.filter((tool) => tool.platform === platform.platform)}
          isSearched={Object.values(values).some(Boolean)}
        />
      ))}
      {own.length === 0 ? null : (
        <Panel title={words.own} lead={words.ownLead} flush>
          <ToolTable label={words.own} tools={own} />
        </Panel>
      )}
    </>
  );
}

interface Connection {
  /** As the page of connections says it. */
  status: HealthStatus;
  account: string | undefined;
}

function connectionOf(
  platform: string,
  credentials: readonly Credential[],
  health: readonly PlatformHealth[],
): Connection {
  const credential = credentials.find((each) => each.platform === platform);
  const checked = health.find((each) => each.platform === platform);
  return { status: statusOf(credential, checked), account: credential?.account };
}

function ConnectionState({ connection: { status, account } }: { connection: Connection }) {
  return (
    <Group component="span" gap="xs" mt={6}>
      <HealthBadge status={status} />
      {account}
    </Group>
  );
}

/** Where its tools would be refused, the way to change that. */
function ConnectLink({
  platform,
  title,
  status,
}: { platform: string; title: string } & Pick<Connection, 'status'>) {
  if (status !== 'not_connected' && status !== 'token_expired') return null;
  const isNew = status === 'not_connected';
  const label = isNew ? texts.connections.connect : texts.connections.reconnect;
  return (
    <Button
      component={Link}
      to="/connections/$platform"
      params={{ platform } as never}
      size="xs"
      variant={isNew ? 'light' : 'filled'}
      aria-label={`${label}: ${title}`}
    >
      {label}
    </Button>
  );
}

/** Closed until somebody wants to see them: there are many. What was searched for is shown. */
function PlatformTools(props: {
  platform: ToolCatalogue['platforms'][number];
  /** Undefined until it is known. */
  connection: Connection | undefined;
  tools: readonly Tool[];
  isSearched: boolean;
}) {
  const { platform, title, enabled } = props.platform;
  const { connection } = props;
  const [opened, setOpened] = useState(false);
  const isOpen = opened || props.isSearched;
  return (
    <Panel
      title={title}
      lead={
        <>
          {texts.platformUses[platform]}
          {connection && <ConnectionState connection={connection} />}
        </>
      }
      flush
      actions={
        <Group gap="md">
          {connection && <ConnectLink platform={platform} title={title} status={connection.status} />}
          {props.isSearched ? null : (
            <Button
              size="xs"
              variant="default"
              aria-expanded={isOpen}
              aria-label={`${isOpen ? words.hide : words.show(props.tools.length)}: ${title}`}
              onClick={() => setOpened(!isOpen)}
            >
              {isOpen ? words.hide : words.show(props.tools.length)}
            </Button>
          )}
          <Switch
            checked={enabled}
            aria-label={words.platformSwitch(title)}
            onChange={(event) => void switchTo(`/api/platforms/${platform}`, event.currentTarget.checked)}
          />
        </Group>
      }
    >
      {isOpen ? <ToolTable label={title} tools={props.tools} /> : null}
    </Panel>
  );
}

async function switchTo(path: string, enabled: boolean): Promise<void> {
  try {
    await client.put(path, { enabled });
  } catch (error) {
    toast.problem(error);
  }
  await refreshTools();
}

const columns: readonly Column<Tool>[] = [
  {
    header: words.tool,
    render: ({ name, title }) => (
      <div>
        <Anchor component={Link} to="/tools/$name" params={{ name } as never} fw={600}>
          {title}
        </Anchor>
        <Text size="xs" c="dimmed" className="ui-id">
          {breakable(name)}
        </Text>
      </div>
    ),
  },
  { header: words.class, render: (tool) => <ClassBadge value={tool.class} /> },
  {
    header: words.on,
    align: 'right',
    render: (tool) =>
      tool.platform === null ? (
        words.always
      ) : (
        <Switch
          // Its box is as wide as the cell otherwise, and stands at the left of it.
          display="inline-block"
          checked={tool.switched_on}
          disabled={!tool.platform_enabled}
          aria-label={`${tool.title}, ${platformTitle(tool.platform)}`}
          onChange={(event) => void switchTo(`${TOOLS_PATH}/${tool.name}`, event.currentTarget.checked)}
        />
      ),
  },
];

function ToolTable({ label, tools }: { label: string; tools: readonly Tool[] }) {
  return <DataTable label={label} columns={columns} rows={tools} keyOf={({ name }) => name} />;
}
