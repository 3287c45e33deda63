import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { texts } from '../texts.ts';
import { isFocusNowhere, useFocusNearby } from './focus-nearby.ts';
import { ignoreHeldKey } from './held-key.ts';
import { type Act, useIntention } from './intention.ts';
import { ProblemView } from './problem-view.tsx';
import { toast } from './toast.ts';

/** A button for what cannot be taken back: it says what will happen and asks once. */
export function ConfirmButton(props: {
  label: string;
  question: string;
  explanation?: string;
  /** What the other button says, where “Cancel” could be taken for a yes. */
  dismissLabel?: string;
  onConfirm: Act;
  danger?: boolean;
  size?: 'xs' | 'sm';
  disabled?: boolean;
  leftSection?: ReactNode;
}) {
  const [opened, { open, close }] = useDisclosure(false);
  const { busy, run } = useIntention(props.onConfirm);
  const [refusal, setRefusal] = useState<unknown>();
  const opener = useRef<HTMLButtonElement>(null);
  const answer = useRef<HTMLButtonElement>(null);
  const focusNearby = useFocusNearby(opener);
  useEffect(() => {
    // The answer was disabled while it waited, which took the focus from it.
    if (refusal !== undefined && isFocusNowhere()) answer.current?.focus();
  }, [refusal]);
  const color = props.danger === true ? 'red.8' : 'brand';
  /** Not while the answer is on its way: nothing is called off by it, and a refusal would be said to nobody. */
  const dismiss = () => {
    if (!busy) close();
  };
  const confirm = async () => {
    focusNearby();
    setRefusal(undefined);
    try {
      await run();
      close();
    } catch (error) {
      if (answer.current === null) toast.problem(error, texts.notSentGone);
      else setRefusal(error);
    }
  };
  return (
    <>
      <Button
        ref={opener}
        variant="default"
        size={props.size ?? 'xs'}
        onClick={() => {
          setRefusal(undefined);
          open();
        }}
        disabled={props.disabled ?? false}
        leftSection={props.leftSection}
      >
        {props.label}
      </Button>
      <Modal opened={opened} onClose={dismiss} title={props.question}>
        <Stack>
          {props.explanation === undefined ? null : <Text size="sm">{props.explanation}</Text>}
          {refusal === undefined ? null : <ProblemView error={refusal} lostWords={texts.notSent} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={dismiss} disabled={busy}>
              {props.dismissLabel ?? texts.cancel}
            </Button>
            <Button
              ref={answer}
              color={color}
              onClick={() => void confirm()}
              onKeyDown={ignoreHeldKey}
              loading={busy}
              data-autofocus
            >
              {props.label}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}
