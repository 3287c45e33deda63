import { Alert, Group, List, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { texts } from '../texts.ts';
import { SubmitButton } from './submit-button.tsx';
import type { ApiForm, FormProblem } from './use-api-form.ts';

export function FormProblemView({ problem }: { problem: FormProblem | undefined }) {
  if (problem === undefined) return null;
  const [only] = problem.lines;
  return (
    <Alert color="red" title={problem.title} role="alert">
      {problem.lines.length === 1 ? (
        only
      ) : (
        <List size="sm">
          {problem.lines.map((line) => (
            <List.Item key={line}>{line}</List.Item>
          ))}
        </List>
      )}
    </Alert>
  );
}

/** After a log-in in the middle of a form. */
export function RestoredNote() {
  return (
    <Alert color="blue" role="status">
      {texts.restored}
    </Alert>
  );
}

/** The frame of every form: the fields, one button that cannot be pressed twice, and what was refused, where it was pressed. */
export function ApiFormView<Values extends object>(props: {
  api: ApiForm<Values>;
  submitLabel: string;
  /** A function puts the end of the form, which is its button, where it belongs. */
  children: ReactNode | ((end: ReactNode) => ReactNode);
  /** Beside the button. */
  besides?: ReactNode;
  fullWidth?: boolean;
  /** The button beside the one field. */
  inline?: boolean;
  /** For what cannot be taken back. */
  danger?: boolean;
}) {
  const { api } = props;
  const button = (
    <SubmitButton
      sending={api.sending}
      fullWidth={props.fullWidth ?? false}
      color={props.danger === true ? 'red.8' : 'brand'}
    >
      {props.submitLabel}
    </SubmitButton>
  );
  const problem = <FormProblemView problem={api.problem} />;
  const end = (
    <>
      {problem}
      {props.fullWidth === true ? (
        button
      ) : (
        <Group justify="flex-end">
          {props.besides}
          {button}
        </Group>
      )}
    </>
  );
  return (
    <form onSubmit={api.submit} noValidate>
      <Stack>
        {api.isRestored ? <RestoredNote /> : null}
        {typeof props.children === 'function' ? (
          props.children(end)
        ) : props.inline === true ? (
          <>
            <Group align="flex-end" gap="sm" className="ui-inline-form">
              {props.children}
              {button}
            </Group>
            {problem}
          </>
        ) : (
          <>
            {props.children}
            {end}
          </>
        )}
      </Stack>
    </form>
  );
}
