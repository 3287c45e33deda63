export interface Customer {
  id: string;
  email: string;
  name: string;
  plan: string;
  createdAt: Date;
  /** Whether somebody has proved to read mail at the address. */
  emailVerified: boolean;
}

/** Of every account, until somebody chooses another. */
export const FIRST_PLAN = 'free';
export const NAME_CHARACTERS_MAX = 200;
