import { Alert, Stack, Text } from '@mantine/core';
import { ApiError, ConnectionLost } from '../api/problem.ts';
import { texts } from '../texts.ts';
import { ActionButton } from './action-button.tsx';
import { CopyText } from './copy.tsx';
import { Empty } from './empty.tsx';
import { ToStart } from './to-start.tsx';

/** Why something could not be shown, at the place where it would be. */
export function ProblemView(props: {
  error: unknown;
  retry?: () => Promise<unknown>;
  /** In place of the server's words, where those are for programs. */
  words?: string | undefined;
  /** Where nothing is tried again by itself: what to do when no answer came. */
  lostWords?: string;
}) {
  const { error, retry } = props;
  if (error instanceof ConnectionLost)
    return (
      <Alert color="orange" role="alert">
        {props.lostWords ?? texts.noAnswer}
      </Alert>
    );
  if (error instanceof ApiError && error.status === 404)
    return <Empty icon="search" title={texts.notFound} next={texts.notFoundNext} action={<ToStart />} />;
  const known = error instanceof ApiError;
  return (
    <Alert color={known && error.status === 403 ? 'orange' : 'red'} title={titleOf(error)} role="alert">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{known ? (props.words ?? error.message) : texts.unexpectedNext}</Text>
        {known && error.requestId !== '' ? (
          <Text size="xs" component="div">
            {texts.requestId}: <CopyText text={error.requestId} label={texts.requestId} />
          </Text>
        ) : null}
        {retry === undefined ? null : <ActionButton onAct={() => retry()}>{texts.retry}</ActionButton>}
      </Stack>
    </Alert>
  );
}

function titleOf(error: unknown): string {
  if (!(error instanceof ApiError)) return texts.unexpected;
  return error.code === 'insufficient_role' ? texts.forbidden : error.title;
}
