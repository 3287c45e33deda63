import { drafts, Panel, useDraft, useSearchState } from '@libs/ui';
import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { texts } from '../texts.ts';
import type { Login, Platform } from './platforms.ts';

const words = texts.connections;
const names = new Intl.ListFormat('en');

/** The server leads to the vendor and back here; no page or script has a secret of it. */
export function LoginPanel({ platform, again }: { platform: Platform; again: boolean }) {
  const open = platform.logins.filter(({ registered }) => registered);
  return (
    <Panel title={again ? words.byLoginAgain : words.byLogin} lead={words.byLoginLead}>
      <Stack>
        <Group align="flex-end">
          {open.map((login) =>
            login.server_parameter === null ? (
              <Button key={login.provider} component="a" href={addressOf(platform, login)}>
                {words.logInAt(login.title)}
              </Button>
            ) : (
              <ServerLogin key={login.provider} platform={platform} login={login} />
            ),
          )}
        </Group>
        <NotRegistered platform={platform} />
      </Stack>
    </Panel>
  );
}

/** Where logging in would be possible if the operator had registered there. */
export function NotRegistered({ platform }: { platform: Platform }) {
  const closed = platform.logins.filter(({ registered }) => !registered).map(({ title }) => title);
  if (closed.length === 0) return null;
  return (
    <Text size="sm" c="dimmed">
      {words.notRegistered(names.format(closed))}
    </Text>
  );
}

function addressOf(platform: Platform, login: Login): string {
  return `/api/connect/${platform.platform}?provider=${encodeURIComponent(login.provider)}`;
}

/** Said here, where what was typed stays: the server refuses the rest after the page has gone. */
const SERVER = /^(https?:\/\/)?[^\s/?#@\\]{1,253}\/?$/;

function ServerLogin({ platform, login }: { platform: Platform; login: Login }) {
  const draft = useDraft({ name: 'server', current: () => (server === '' ? undefined : { server }) });
  const [server, setServer] = useState(typeof draft?.server === 'string' ? draft.server : '');
  const [refusal, setRefusal] = useState(serverRefusal(platform, useSearchState().values.error));
  const field = useRef<HTMLInputElement>(null);
  const address = `${addressOf(platform, login)}&${login.server_parameter}=${encodeURIComponent(server.trim())}`;
  useEffect(() => {
    if (refusal !== null) field.current?.focus();
  }, [refusal]);
  // Whoever comes back from there, or reads the page again, finds what was typed.
  useEffect(() => {
    window.addEventListener('pagehide', drafts.keepAll);
    return () => window.removeEventListener('pagehide', drafts.keepAll);
  }, []);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const isServer = SERVER.test(server.trim());
        setRefusal(isServer ? null : words.notAServer);
        if (isServer) window.location.assign(address);
        else field.current?.focus();
      }}
      noValidate
    >
      <Group align="flex-end" gap="sm" className="ui-inline-form">
        <TextInput
          label={words.server}
          placeholder="mastodon.social"
          ref={field}
          error={refusal}
          value={server}
          onChange={(event) => setServer(event.currentTarget.value)}
          required
        />
        <Button type="submit">{words.logInThere}</Button>
      </Group>
    </form>
  );
}

/** What is said at the field for the server, where the login came to nothing because of it. */
export function serverRefusal(platform: Platform, code: string | undefined): string | null {
  const hasField = platform.logins.some(({ server_parameter: parameter }) => parameter !== null);
  return hasField && code !== undefined ? (words.serverErrors[code] ?? null) : null;
}
