import { Text } from '@mantine/core';
import { type KeyboardEvent, useState } from 'react';
import { texts } from '../../texts.ts';
import { nachaFields } from './nacha-fields.ts';
import { fieldsOf } from './nacha-record.ts';
import './messages.css';

/** A file of 94 columns whose fields explain themselves under the pointer, or under the arrow keys. */
export function NachaView({ content }: { content: string }) {
  const [explained, setExplained] = useState<string>();
  const lines = content.split(/\r?\n/).filter((line) => line !== '');
  const meaning = explained === undefined ? undefined : nachaFields[explained];
  return (
    <div>
      <div className="nacha" role="toolbar" aria-label="NACHA" onKeyDown={moveByArrows}>
        {lines.map((line, row) => (
          <div key={row}>
            {fieldsOf(line).map(({ name, text }, column) => (
              <button
                type="button"
                key={name}
                tabIndex={row === 0 && column === 0 ? 0 : -1}
                data-explained={name === explained}
                onFocus={() => setExplained(name)}
                onMouseEnter={() => setExplained(name)}
                aria-label={`${nachaFields[name]?.[0] ?? ''}: ${text.trim()}`}
              >
                {text}
              </button>
            ))}
          </div>
        ))}
      </div>
      <Text size="sm" mt="xs" mih={42} aria-live="polite">
        {meaning === undefined ? (
          texts.payment.fieldsHint
        ) : (
          <>
            <strong>{meaning[0]}</strong>: {meaning[1]}
          </>
        )}
      </Text>
    </div>
  );
}

const steps: Record<string, number> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

function moveByArrows(event: KeyboardEvent<HTMLDivElement>): void {
  const step = steps[event.key];
  if (step === undefined) return;
  const buttons = [...event.currentTarget.querySelectorAll('button')];
  buttons[buttons.indexOf(document.activeElement as HTMLButtonElement) + step]?.focus();
  event.preventDefault();
}
