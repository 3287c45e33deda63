import { EmailForm } from './email-form.tsx';
import { KeyForm } from './key-form.tsx';
import type { Platform } from './platforms.ts';

/** Mail has two servers with a log-in each; all others are made from their schema. */
export function CredentialForm({ platform }: { platform: Platform }) {
  return platform.platform === 'email' ? <EmailForm /> : <KeyForm platform={platform} />;
}
