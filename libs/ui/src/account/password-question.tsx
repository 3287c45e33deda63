import { Button, Modal } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useRef } from 'react';
import { ApiFormView } from '../form/api-form.tsx';
import { useApiForm } from '../form/use-api-form.ts';
import { useFocusNearby } from '../show/focus-nearby.ts';
import { OwnPasswordField } from './fields.tsx';

interface PasswordQuestion {
  question: string;
  submitLabel: string;
  danger?: boolean;
  send: (password: string) => Promise<unknown>;
}

/** For what a session alone must not be enough: asks for the password, and says at its field that it is wrong. */
export function PasswordModal(props: PasswordQuestion & { opened: boolean; onClose: () => void }) {
  const { opened, onClose, question, ...form } = props;
  return (
    <Modal opened={opened} onClose={onClose} title={question}>
      <PasswordForm {...form} onDone={onClose} />
    </Modal>
  );
}

function PasswordForm(props: Omit<PasswordQuestion, 'question'> & { onDone: () => void }) {
  const api = useApiForm({
    initialValues: { password: '' },
    fieldOfCode: { wrong_password: 'password' },
    send: async ({ password }) => {
      await props.send(password);
      props.onDone();
    },
  });
  return (
    <ApiFormView api={api} submitLabel={props.submitLabel} danger={props.danger ?? false}>
      <OwnPasswordField input={{ ...api.form.getInputProps('password'), 'data-autofocus': true }} />
    </ApiFormView>
  );
}

export function PasswordButton({
  label,
  question,
  send,
}: Record<'label' | 'question', string> & Pick<PasswordQuestion, 'send'>) {
  const [opened, { open, close }] = useDisclosure(false);
  const opener = useRef<HTMLButtonElement>(null);
  const focusNearby = useFocusNearby(opener);
  return (
    <>
      <Button ref={opener} variant="default" size="xs" onClick={open}>
        {label}
      </Button>
      <PasswordModal
        {...{ opened, question }}
        onClose={close}
        submitLabel={label}
        danger
        send={(password) => {
          focusNearby();
          return send(password);
        }}
      />
    </>
  );
}
