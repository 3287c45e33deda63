/** What every process has to forget: one token, or all tokens that came from one consent. */
export type Revocation = { tokenId: string } | { family: string };
