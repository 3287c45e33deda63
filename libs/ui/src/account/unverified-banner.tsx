import { Alert, Group, Text } from '@mantine/core';
import { ActionButton } from '../show/action-button.tsx';
import { toast } from '../show/toast.ts';
import type { Account } from './account.ts';
import { texts } from './texts.ts';

const words = texts.unverified;

export function UnverifiedBanner({ account, email }: { account: Account; email: string }) {
  return (
    <Alert color="orange" mb="lg" py="xs">
      <Group justify="space-between" gap="xs">
        <Text size="sm">
          {words.text} {email}.
        </Text>
        <ActionButton
          onAct={async () => {
            await account.client.post(`${account.paths.auth}/verify/resend`);
            toast.done(words.sent);
          }}
        >
          {words.resend}
        </ActionButton>
      </Group>
    </Alert>
  );
}
