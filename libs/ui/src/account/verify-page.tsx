import { Alert, Button, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { NarrowPage } from '../shell/narrow-page.tsx';
import { ProblemView } from '../show/problem-view.tsx';
import { Loading } from '../show/query-view.tsx';
import type { Account } from './account.ts';
import { texts } from './texts.ts';

const words = texts.verify;

export function VerifyPage({ account }: { account: Account }) {
  const { token = '' } = useSearch({ strict: false }) as { token?: string };
  // A query and not an effect: it runs once for the token, however often the page is drawn.
  const verified = useQuery({
    queryKey: ['verify', token],
    queryFn: async () => {
      await account.client.post(`${account.paths.auth}/verify`, { token });
      await account.api.refresh(account.paths.person);
      return true;
    },
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  return (
    <NarrowPage brand={account.brand} title={words.title}>
      {verified.isPending ? <Loading /> : null}
      {verified.isError ? (
        <>
          <ProblemView error={verified.error} />
          <Text size="sm">{words.again}</Text>
        </>
      ) : null}
      {verified.isSuccess ? (
        <Alert color="brand" role="status">
          {words.done}
        </Alert>
      ) : null}
      <Button component={Link} to="/" variant={verified.isSuccess ? 'filled' : 'default'}>
        {verified.isError ? words.logIn : words.go}
      </Button>
    </NarrowPage>
  );
}
