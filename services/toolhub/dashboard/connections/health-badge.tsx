import { Badge } from '@mantine/core';
import { texts } from '../texts.ts';
import type { Credential, HealthStatus, PlatformHealth } from './platforms.ts';

const colors: Record<HealthStatus, string> = {
  ok: 'teal',
  degraded: 'orange',
  down: 'red',
  token_expired: 'yellow',
  not_connected: 'gray',
  unknown: 'gray',
};

/** An expired credential is known at once; how the platform is, the last check says. */
export function statusOf(
  credential: Credential | undefined,
  health: PlatformHealth | undefined,
): HealthStatus {
  if (credential === undefined) return 'not_connected';
  if (credential.status === 'expired') return 'token_expired';
  return health?.status ?? 'unknown';
}

export function HealthBadge({ status }: { status: HealthStatus }) {
  return (
    <Badge component="span" color={colors[status]}>
      {texts.health[status]}
    </Badge>
  );
}
