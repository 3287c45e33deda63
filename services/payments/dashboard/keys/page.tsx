import {
  type Column,
  ConfirmButton,
  CopyText,
  Empty,
  Facts,
  Icon,
  ListPanel,
  Page,
  Panel,
  SecretOnce,
  toast,
  useSearchState,
  When,
} from '@libs/ui';
import { Badge, Button, Group, Modal, Paper } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Fragment, type ReactNode, useState } from 'react';
import { scopes } from '../../src/keys/key.ts';
import { client, refresh, useList } from '../api/client.ts';
import { mode } from '../api/mode.ts';
import { NeedsLiveAccess } from '../session/needs-live-access.tsx';
import { useRights } from '../session/session.ts';
import { texts } from '../texts.ts';
import { type ApiKey, KEYS_PATH, type KeyState, keyState, untilNextEnd } from './key.ts';
import { NewKeyForm, RollKeyForm } from './key-forms.tsx';

const words = texts.keys;
const API_VERSION = '2026-11-15';

const stateColors: Record<KeyState, string> = { active: 'brand', revoked: 'red', expired: 'gray' };

export function KeysPage() {
  const rights = useRights();
  const [opened, { open, close }] = useDisclosure(false);
  const [token, setToken] = useState<string>();
  const create = (
    <Button onClick={open} leftSection={<Icon name="plus" />}>
      {words.create}
    </Button>
  );
  return (
    <Page
      title={words.title}
      lead={texts.mode[mode === 'test' ? 'testBanner' : 'liveBanner']}
      actions={rights.write ? create : null}
    >
      {rights.needsLiveAccess ? (
        <NeedsLiveAccess icon="key" title={words.needLive} next={words.needLiveNext} />
      ) : !rights.write ? (
        <Paper className="ui-panel">
          <Empty icon="key" title={words.viewer} next={words.viewerNext} />
        </Paper>
      ) : (
        <KeyList create={create} />
      )}
      <Modal opened={opened} onClose={close} title={words.create} size="lg">
        <NewKeyForm
          onDone={(made) => {
            close();
            setToken(made);
          }}
        />
      </Modal>
      <SecretOnce title={words.newKey} secret={token} onClose={() => setToken(undefined)}>
        {words.newKeyHint}
      </SecretOnce>
      <Panel title={words.version}>
        <Facts
          facts={[
            [words.versionNewest, <code key="version">{API_VERSION}</code>],
            [words.versionHeader, words.versionHint],
          ]}
        />
      </Panel>
    </Page>
  );
}

/** The dialog is the page's: the first key makes the button that asked for it go away, and its secret must still be shown. */
function KeyList({ create }: { create: ReactNode }) {
  const { cursor } = useSearchState().values;
  const query = useList<ApiKey>(KEYS_PATH, { cursor }, untilNextEnd);
  // Whether a key works is a matter of the time: with each read it is looked at anew.
  const now = new Date(query.dataUpdatedAt);
  const [rolled, setRolled] = useState<ApiKey>();
  const [token, setToken] = useState<string>();
  return (
    <>
      <ListPanel
        label={words.title}
        query={query}
        columns={columnsWith(now, setRolled)}
        keyOf={({ id }) => id}
        empty={<Empty icon="key" title={words.none} next={words.noneNext} action={create} />}
      />
      <Modal
        opened={rolled !== undefined}
        onClose={() => setRolled(undefined)}
        title={rolled && words.rollTitle(words.called(rolled.name, rolled.hint))}
      >
        {rolled === undefined ? null : (
          <RollKeyForm
            apiKey={rolled}
            onDone={(made) => {
              setRolled(undefined);
              setToken(made);
            }}
          />
        )}
      </Modal>
      <SecretOnce title={words.newKey} secret={token} onClose={() => setToken(undefined)}>
        {words.newKeyHint}
      </SecretOnce>
    </>
  );
}

function columnsWith(now: Date, roll: (key: ApiKey) => void): Column<ApiKey>[] {
  return [
    {
      header: words.name,
      written: true,
      render: ({ id, name, hint, mode: own }) => (
        <div>
          <strong>{name}</strong> <code className="ui-id ui-beside">{words.ends(own, hint)}</code>
          {/* The request log is asked for a key by its id. */}
          <div className="ui-beside ui-whole-id">
            <CopyText text={id} label={words.id} />
          </div>
        </div>
      ),
    },
    {
      header: words.status,
      render: (key) => {
        const state = keyState(key, now);
        return <Badge color={stateColors[state]}>{words[state]}</Badge>;
      },
    },
    {
      header: words.scopes,
      render: ({ scopes: own }) =>
        own.length === scopes.length ? words.allScopes : <ScopeList scopes={own} />,
    },
    {
      header: words.expires,
      align: 'right',
      render: ({ expires_at: at }) => (
        <span className="ui-two-lines">
          <When at={at} withZone />
        </span>
      ),
    },
    { header: words.created, align: 'right', render: ({ created_at: at }) => <When at={at} dayOnly /> },
    {
      header: texts.common.actions,
      has: (key) => keyState(key, now) === 'active',
      render: (key) => <KeyActions apiKey={key} roll={roll} />,
    },
  ];
}

/** Parted between scopes alone. */
function ScopeList({ scopes: own }: { scopes: readonly string[] }) {
  return (
    <code className="ui-id">
      {own.map((scope, index) => (
        <Fragment key={scope}>
          <span className="ui-together">
            {scope}
            {index < own.length - 1 ? ',' : ''}
          </span>{' '}
        </Fragment>
      ))}
    </code>
  );
}

function KeyActions({ apiKey, roll }: { apiKey: ApiKey; roll: (key: ApiKey) => void }) {
  return (
    <Group gap="xs" wrap="nowrap" justify="flex-end">
      {/* Its successor is rolled instead. */}
      {!apiKey.replaced_by ? (
        <Button size="xs" variant="default" onClick={() => roll(apiKey)}>
          {words.roll}
        </Button>
      ) : null}
      <ConfirmButton
        danger
        label={words.revoke}
        question={words.revokeQuestion(words.called(apiKey.name, apiKey.hint))}
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
