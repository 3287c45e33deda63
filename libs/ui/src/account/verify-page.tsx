import { Alert, Button, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { ApiError, ConnectionLost } from '../api/problem.ts';
import { askedAgainMs } from '../api/reading.ts';
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
      try {
        await account.client.post(`${account.paths.auth}/verify`, { token });
      } catch (refusal) {
        // Who follows the link a second time has nothing left to do; it is said of which address, since a link may be of another.
        const address = await addressVerifiedBefore(account);
        if (address !== null) return words.doneBefore(address);
        throw refusal;
      }
      await account.api.refresh(account.paths.person);
      return words.done;
    },
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
    // Whether the link still works is not known yet.
    refetchInterval: ({ state: { error, errorUpdateCount } }) =>
      error instanceof ConnectionLost && askedAgainMs(error, errorUpdateCount),
  });
  return (
    <NarrowPage brand={account.brand} title={words.title}>
      {verified.isPending ? <Loading /> : null}
      {verified.isError ? (
        <>
          <ProblemView error={verified.error} />
          {verified.error instanceof ConnectionLost ? null : <Text size="sm">{words.again}</Text>}
        </>
      ) : null}
      {verified.isSuccess ? (
        <Alert color="brand" role="status">
          {verified.data}
        </Alert>
      ) : null}
      <Button component={Link} to="/" variant={verified.isSuccess ? 'filled' : 'default'}>
        {verified.isError ? words.logIn : words.go}
      </Button>
    </NarrowPage>
  );
}

async function addressVerifiedBefore(account: Account): Promise<string | null> {
  try {
    return await account.verifiedAddress();
  } catch (error) {
    // Of a stranger nothing is known, and the refusal of the link is what counts.
    if (error instanceof ApiError) return null;
    throw error;
  }
}
