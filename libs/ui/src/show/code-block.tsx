import { Tabs } from '@mantine/core';
import { useRef, useState } from 'react';
import { CopyButton } from './copy.tsx';
import { useIsSideways } from './sideways.ts';
import { TabRow } from './tab-row.tsx';
import { jsonWithUnseenEscaped } from './unseen.ts';

/** `wrap`: long lines go on below instead of scrolling, for what somebody has to read to the end. */
export function CodeBlock({ text, label, wrap }: { text: string; label: string; wrap?: boolean }) {
  const room = useRef<HTMLPreElement>(null);
  const isSideways = useIsSideways(room);
  return (
    <section className="ui-code" aria-label={label} data-wrap={wrap}>
      {/* Long lines scroll, so the keyboard must be able to get in. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to take the focus */}
      <pre ref={room} tabIndex={0} data-sideways={isSideways || undefined}>
        <code>{text}</code>
      </pre>
      <CopyButton text={text} label={label} />
    </section>
  );
}

export interface CodeSample {
  name: string;
  text: string;
}

/** The same thing in several languages. */
export function CodeTabs({ samples, label }: { samples: readonly CodeSample[]; label: string }) {
  const [chosen, setChosen] = useState('0');
  return (
    <Tabs value={chosen} onChange={(value) => setChosen(value ?? '0')}>
      {/* By number: the value becomes part of ids, which have no spaces. */}
      <TabRow
        label={label}
        chosen={chosen}
        tabs={samples.map(({ name }, index) => [String(index), name] as const)}
      />
      {samples.map(({ name, text }, index) => (
        <Tabs.Panel key={name} value={String(index)}>
          <CodeBlock text={text} label={`${label}: ${name}`} />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

export function JsonBlock({ value, label }: { value: unknown; label: string }) {
  return <CodeBlock text={jsonWithUnseenEscaped(JSON.stringify(value, null, 2))} label={label} wrap />;
}
