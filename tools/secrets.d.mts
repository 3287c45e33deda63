export interface FoundSecret {
  readonly line: number;
  readonly kind: string;
  /** The first characters: enough to find it, too little to use it. */
  readonly begins: string;
}

export function findSecrets(text: string, known?: readonly string[]): FoundSecret[];
