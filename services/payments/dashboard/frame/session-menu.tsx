import { AccountMenu } from '@libs/ui/account';
import { useNavigate } from '@tanstack/react-router';
import { queryClient } from '../api/client.ts';
import type { Session } from '../api/types.ts';
import { account } from '../session/account.tsx';

export function SessionMenu({ session }: { session: Session }) {
  const navigate = useNavigate();
  return (
    <AccountMenu
      account={account}
      person={session.user}
      initials={initialsOf(session.user.name)}
      onLoggedOut={async () => {
        await navigate({ to: '/login' });
        queryClient.clear();
      }}
    />
  );
}

function initialsOf(name: string): string {
  const words = name.trim().split(/\s+/);
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined].map(
    (word) => [...(word ?? '')][0] ?? '',
  );
  return letters.join('').toUpperCase() || '?';
}
