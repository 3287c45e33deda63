export interface Customer {
  id: string;
  email: string;
  name: string;
  plan: string;
  createdAt: Date;
  /** Whether somebody has proved to read mail at the address. */
  emailVerified: boolean;
}

export const PASSWORD_CHARACTERS_MIN = 10;
/** Long enough for any pass phrase; the bound keeps hashing from becoming a way to keep the server busy. */
export const PASSWORD_CHARACTERS_MAX = 256;
export const EMAIL_CHARACTERS_MAX = 254;
export const NAME_CHARACTERS_MAX = 200;

/** One address, one account: neither case nor the way an accent is composed makes another one. */
export function emailKey(email: string): string {
  return email.trim().normalize('NFC').toLowerCase();
}

/** Loose on purpose: only the mail server knows which local parts exist. */
export const EMAIL_PATTERN =
  '^[^\\s@<>"(),:;\\[\\]\\\\]{1,64}@[^\\s@.<>"(),:;\\[\\]\\\\]+(\\.[^\\s@.<>"(),:;\\[\\]\\\\]+)*$';
