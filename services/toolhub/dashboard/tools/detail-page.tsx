import { CodeTabs, Facts, Page, Panel, QueryView } from '@libs/ui';
import { Anchor, Stack } from '@mantine/core';
import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { platformTitle } from '../connections/platforms.ts';
import { texts } from '../texts.ts';
import { ClassBadge } from './class-badge.tsx';
import { type ToolDetail, useTool } from './tool.ts';
import { TrialPanel } from './trial-panel.tsx';

const words = texts.tools;

export function ToolPage() {
  const { name } = useParams({ strict: false }) as { name: string };
  const query = useTool(name);
  const tool = query.data;
  // One page, read or not: a second one would take the focus from what is on it.
  return (
    <Page title={tool?.title ?? words.tool} lead={tool && withCode(tool.description)}>
      <QueryView query={query}>{(read) => <ToolView key={read.name} tool={read} />}</QueryView>
    </Page>
  );
}

/** Descriptions are written for assistants, which read `names` as they do. */
function withCode(description: string): ReactNode {
  return description
    .split('`')
    .map((part, index) => (index % 2 === 0 ? part : <code key={index}>{part}</code>));
}

function ToolView({ tool }: { tool: ToolDetail }) {
  return (
    <>
      <Panel title={words.about}>
        <Facts
          facts={[
            [words.name, <code key="name">{tool.name}</code>],
            [
              words.platform,
              tool.platform === null ? null : (
                <Anchor
                  key="platform"
                  component={Link}
                  to="/connections/$platform"
                  params={{ platform: tool.platform } as never}
                >
                  {platformTitle(tool.platform)}
                </Anchor>
              ),
            ],
            [words.class, <ClassBadge key="class" value={tool.class} />],
            [words.isOn, tool.enabled ? words.yes : words.no],
          ]}
        />
      </Panel>
      <Stack gap="lg">
        <TrialPanel tool={tool} />
        <Panel title={words.schemas}>
          <CodeTabs
            label={words.schemas}
            samples={[
              { name: words.input, text: JSON.stringify(tool.input_schema, null, 2) },
              { name: words.output, text: JSON.stringify(tool.output_schema, null, 2) },
            ]}
          />
        </Panel>
      </Stack>
    </>
  );
}
