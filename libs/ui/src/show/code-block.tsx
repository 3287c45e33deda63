import { Tabs } from '@mantine/core';
import { CopyButton } from './copy.tsx';

/** `wrap`: long lines go on below instead of scrolling, for what somebody has to read to the end. */
export function CodeBlock({ text, label, wrap }: { text: string; label: string; wrap?: boolean }) {
  return (
    <section className="ui-code" aria-label={label} data-wrap={wrap}>
      {/* Long lines scroll, so the keyboard must be able to get in. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to take the focus */}
      <pre tabIndex={0}>
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
  return (
    <Tabs defaultValue="0">
      <Tabs.List aria-label={label} mb="sm">
        {/* By number: the value becomes part of ids, which have no spaces. */}
        {samples.map(({ name }, index) => (
          <Tabs.Tab key={name} value={String(index)}>
            {name}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {samples.map(({ name, text }, index) => (
        <Tabs.Panel key={name} value={String(index)}>
          <CodeBlock text={text} label={`${label}: ${name}`} />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

export function JsonBlock({ value, label }: { value: unknown; label: string }) {
  return <CodeBlock text={JSON.stringify(value, null, 2)} label={label} wrap />;
}
