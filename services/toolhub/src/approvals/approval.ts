import { type CatalogueTool, takesIdempotencyKey } from '../tools/tool.ts';

/** What a customer wants to be asked about. */
export interface ApprovalRules {
  /** Tools that send (W). */
  readonly send: boolean;
  /** Tools that delete or overwrite (D, U). */
  readonly deletion: boolean;
  /** Single tools, for which the two above do not count. */
  readonly tools: Readonly<Record<string, boolean>>;
  /** `rememberedKey` of clients that need not ask again. */
  readonly remembered: ReadonlySet<string>;
}

export const NO_RULES: ApprovalRules = { send: false, deletion: false, tools: {}, remembered: new Set() };

/** Who makes calls: an OAuth client, or a personal token. */
export interface CallingClient {
  readonly id: string;
  readonly name: string;
}

export const STORED_STATUSES = ['pending', 'allowed', 'denied', 'used'] as const;
export type StoredStatus = (typeof STORED_STATUSES)[number];
/** Expired is who waited, or was allowed and never came back, for longer than 24 hours. */
export const APPROVAL_STATUSES = [...STORED_STATUSES, 'expired'] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

export interface Approval {
  readonly customerId: string;
  readonly id: string;
  readonly client: CallingClient;
  readonly tool: string;
  readonly platform: string;
  readonly argumentsHash: Buffer;
  readonly key: string | null;
  readonly status: StoredStatus;
  readonly usedKey: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly decidedAt: Date | null;
}

/** What it would send may be megabytes: it is read where it is shown, and nowhere else. */
export interface NewApproval extends Approval {
  readonly sealedArguments: Buffer;
}

export interface ListedApproval extends Approval {
  /** Null where they are too long to be read for a whole list. */
  readonly sealedArguments: Buffer | null;
}

/** Only such tools carry the arguments with which a call can come again. */
export function canWait(tool: CatalogueTool): boolean {
  return tool.platform !== null && takesIdempotencyKey(tool.class);
}

export function isAskedFor(rules: ApprovalRules, tool: CatalogueTool): boolean {
  if (!canWait(tool)) return false;
  const own = Object.hasOwn(rules.tools, tool.name) ? rules.tools[tool.name] : undefined;
  return own ?? (tool.class === 'W' ? rules.send : rules.deletion);
}

export function rememberedKey(client: string, tool: string): string {
  return `${client}\n${tool}`;
}

export function statusOf(
  { status, expiresAt }: Pick<Approval, 'status' | 'expiresAt'>,
  now: Date,
): ApprovalStatus {
  return (status === 'pending' || status === 'allowed') && expiresAt <= now ? 'expired' : status;
}

/** What a call without a key of its own runs under, so that it runs once however often it comes. */
export function keyOfApproval(id: string): string {
  return `approval:${id}`;
}
