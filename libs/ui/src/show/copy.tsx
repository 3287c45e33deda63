import { ActionIcon, CopyButton as MantineCopyButton, Tooltip } from '@mantine/core';
import { texts } from '../texts.ts';
import { Icon } from '../theme/icons.tsx';

const SHOWN_MS = 1_500;

export function CopyButton({ text, label }: { text: string; label: string }) {
  return (
    <MantineCopyButton value={text} timeout={SHOWN_MS}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? texts.copied : texts.copy}>
          <ActionIcon
            variant="subtle"
            color={copied ? 'brand' : 'gray'}
            size="sm"
            onClick={copy}
            aria-label={copied ? texts.copied : `${texts.copy} ${label}`}
          >
            <Icon name={copied ? 'check' : 'copy'} size={15} />
          </ActionIcon>
        </Tooltip>
      )}
    </MantineCopyButton>
  );
}

/** An id, or anything else that is copied more often than read. */
export function CopyText({ text, label }: { text: string; label: string }) {
  return (
    <span className="ui-id">
      {text} <CopyButton text={text} label={label} />
    </span>
  );
}
