import { ActionButton, toast } from '@libs/ui';
import { Alert, Group, Text } from '@mantine/core';
import { client } from '../api/client.ts';
import { texts } from '../texts.ts';

export function UnverifiedBanner({ email }: { email: string }) {
  return (
    <Alert color="orange" mb="lg" py="xs">
      <Group justify="space-between" gap="xs">
        <Text size="sm">
          {texts.unverified.text} {email}.
        </Text>
        <ActionButton
          onAct={async () => {
            await client.post('/api/auth/verify/resend');
            toast.done(texts.unverified.sent);
          }}
        >
          {texts.unverified.resend}
        </ActionButton>
      </Group>
    </Alert>
  );
}
