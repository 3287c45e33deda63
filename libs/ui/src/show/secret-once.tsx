import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { texts } from '../texts.ts';
import { CodeBlock } from './code-block.tsx';
import { useFocusOutside } from './focus-outside.ts';

/** Shows a secret that the server tells once; neither a stray click nor a way back closes it unasked. */
export function SecretOnce(props: {
  title: string;
  secret: string | undefined;
  onClose: () => void;
  children?: ReactNode;
}) {
  const opened = props.secret !== undefined;
  useFocusOutside(opened);
  useBlocker({
    shouldBlockFn: () => !window.confirm(texts.leaveSecret),
    enableBeforeUnload: true,
    disabled: !opened,
  });
  return (
    <Modal
      opened={opened}
      returnFocus={false}
      onClose={props.onClose}
      title={props.title}
      size="lg"
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack>
        <Alert color="orange">{texts.shownOnce}</Alert>
        <CodeBlock text={props.secret ?? ''} label={props.title} />
        {props.children === undefined ? null : <Text size="sm">{props.children}</Text>}
        <Group justify="flex-end">
          <Button onClick={props.onClose}>{texts.iKeptIt}</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
