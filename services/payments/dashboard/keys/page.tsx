import {
  type Column,
  ConfirmButton,
  Empty,
  Facts,
  Icon,
  ListPanel,
  Page,
  Panel,
  SecretOnce,
  toast,
  When,
} from '@libs/ui';
import { Badge, Button, Group, Modal, Paper } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { scopes } from '../../src/keys/key.ts';
import { client, refresh, useList } from '../api/client.ts';
import { mode } from '../api/mode.ts';
import { useRights, useSession } from '../session/session.ts';
import { texts } from '../texts.ts';
import { type ApiKey, KEYS_PATH, type KeyState, keyState } from './key.ts';
import { NewKeyForm, RollKeyForm } from './key-forms.tsx';

const words = texts.keys;
const API_VERSION = '2026-11-15';

const stateColors: Record<KeyState, string> = { active: 'brand', revoked: 'red', expired: 'gray' };

export function KeysPage() {
  const rights = useRights();
  const session = useSession();
  const isClosed = mode === 'live' && session.data?.organisation?.live_access !== 'approved';
  return (
    <Page title={words.title} lead={texts.mode[mode === 'test' ? 'testBanner' : 'liveBanner']}>
      {!rights.write ? (
        <Paper className="ui-panel">
          <Empty icon="key" title={words.viewer} next={words.viewerNext} />
        </Paper>
      ) : isClosed ? (
        <Paper className="ui-panel">
          <Empty
            icon="key"
            title={words.needLive}
            next={words.needLiveNext}
            action={
              <Button component={Link} to="/settings">
                {words.toSettings}
              </Button>
            }
          />
        </Paper>
      ) : (
        <KeyList />
      )}
      <Panel title={words.version}>
        <Facts
          facts={[
            [words.version, <code key="version">{API_VERSION}</code>],
            ['', words.versionHint],
          ]}
        />
      </Panel>
    </Page>
  );
}

type Dialog = { kind: 'new' } | { kind: 'roll'; key: ApiKey };

function KeyList() {
  const query = useList<ApiKey>(KEYS_PATH);
  const [dialog, setDialog] = useState<Dialog>();
  const [token, setToken] = useState<string>();
  const show = (made: string) => {
    setDialog(undefined);
    setToken(made);
  };
  const create = (
    <Button onClick={() => setDialog({ kind: 'new' })} leftSection={<Icon name="plus" />}>
      {words.create}
    </Button>
  );
  return (
    <>
      <Group justify="flex-end">{create}</Group>
      <ListPanel
        label={words.title}
        query={query}
        columns={columnsWith((key) => setDialog({ kind: 'roll', key }))}
        keyOf={({ id }) => id}
        empty={<Empty icon="key" title={words.none} next={words.noneNext} action={create} />}
      />
      <Modal
        opened={dialog !== undefined}
        onClose={() => setDialog(undefined)}
        title={dialog?.kind === 'roll' ? words.rollTitle : words.create}
      >
        {dialog?.kind === 'new' ? <NewKeyForm onDone={show} /> : null}
        {dialog?.kind === 'roll' ? <RollKeyForm apiKey={dialog.key} onDone={show} /> : null}
      </Modal>
      <SecretOnce title={words.newKey} secret={token} onClose={() => setToken(undefined)}>
        {words.newKeyHint}
      </SecretOnce>
    </>
  );
}

function columnsWith(roll: (key: ApiKey) => void): Column<ApiKey>[] {
  return [
    { header: words.name, render: ({ name }) => <strong>{name}</strong> },
    { header: words.hint, render: ({ hint }) => <code>…{hint}</code> },
    {
      header: words.status,
      render: (key) => {
        const state = keyState(key, new Date());
        return <Badge color={stateColors[state]}>{words[state]}</Badge>;
      },
    },
    {
      header: words.scopes,
      render: ({ scopes: own }) => (own.length === scopes.length ? words.allScopes : own.join(', ')),
    },
    { header: words.expires, align: 'right', render: ({ expires_at: at }) => <When at={at} /> },
    { header: words.created, align: 'right', render: ({ created_at: at }) => <When at={at} dayOnly /> },
    {
      header: texts.common.actions,
      render: (key) =>
        keyState(key, new Date()) === 'active' ? <KeyActions apiKey={key} roll={roll} /> : '',
    },
  ];
}

function KeyActions({ apiKey, roll }: { apiKey: ApiKey; roll: (key: ApiKey) => void }) {
  return (
    <Group gap="xs" wrap="nowrap" justify="flex-end">
      <Button size="xs" variant="default" onClick={() => roll(apiKey)}>
        {words.roll}
      </Button>
      <ConfirmButton
        danger
        label={words.revoke}
        question={words.revokeQuestion}
        explanation={words.revokeHint}
        onConfirm={async () => {
          await client.delete(`${KEYS_PATH}/${apiKey.id}`);
          await refresh(KEYS_PATH);
          toast.done(words.revokedDone);
        }}
      />
    </Group>
  );
}
