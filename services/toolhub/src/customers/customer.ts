export interface Customer {
  id: string;
  email: string;
  name: string;
  plan: string;
  createdAt: Date;
  /** Whether somebody has proved to read mail at the address. */
  emailVerified: boolean;
}

export const NAME_CHARACTERS_MAX = 200;
