import { ActionIcon, Tooltip } from '@mantine/core';
import { useEffect, useState } from 'react';
import { texts } from '../texts.ts';
import { Icon } from '../theme/icons.tsx';
import { copyText } from './copy-text.ts';
import { toast } from './toast.ts';

const SHOWN_MS = 1_500;

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [copies, setCopies] = useState(0);
  const [copied, setCopied] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: copied once more, it is shown as long again
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [copied, copies]);
  const copy = async () => {
    const isThere = await copyText(text);
    setCopied(isThere);
    setCopies((before) => before + 1);
    if (!isThere) toast.failed(texts.notCopied, texts.notCopiedNext);
  };
  return (
    <Tooltip label={copied ? texts.copied : texts.copy}>
      <ActionIcon
        variant="subtle"
        color={copied ? 'brand' : 'gray'}
        size="sm"
        onClick={() => void copy()}
        aria-label={copied ? texts.copied : `${texts.copy} ${label}`}
      >
        <Icon name={copied ? 'check' : 'copy'} size={15} />
      </ActionIcon>
    </Tooltip>
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
