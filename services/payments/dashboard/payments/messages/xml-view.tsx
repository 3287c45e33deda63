import { CodeBlock } from '@libs/ui';
import { Tabs } from '@mantine/core';
import { texts } from '../../texts.ts';
import './messages.css';

const words = texts.payment;

/** A message of ISO 20022 as a tree that folds, and as it went over the wire. */
export function XmlView({ content, label }: { content: string; label: string }) {
  const root = new DOMParser().parseFromString(content, 'application/xml').documentElement;
  return (
    <Tabs defaultValue="tree" keepMounted={false}>
      <Tabs.List mb="sm" aria-label={label}>
        <Tabs.Tab value="tree">{words.tree}</Tabs.Tab>
        <Tabs.Tab value="raw">{words.raw}</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="tree" className="xml">
        <XmlElement element={root} />
      </Tabs.Panel>
      <Tabs.Panel value="raw">
        <CodeBlock text={content} label={label} />
      </Tabs.Panel>
    </Tabs>
  );
}

function XmlElement({ element }: { element: Element }) {
  const children = [...element.children];
  const attributes = [...element.attributes]
    .filter(({ name }) => !name.startsWith('xmlns'))
    .map(({ name, value }) => ` ${name}="${value}"`)
    .join('');
  const name = (
    <span className="xml-name">
      {element.localName}
      {attributes}
    </span>
  );
  if (children.length === 0) {
    return (
      <div>
        {name} {element.textContent}
      </div>
    );
  }
  return (
    <details open>
      <summary>{name}</summary>
      <ul>
        {children.map((child, index) => (
          <li key={index}>
            <XmlElement element={child} />
          </li>
        ))}
      </ul>
    </details>
  );
}
