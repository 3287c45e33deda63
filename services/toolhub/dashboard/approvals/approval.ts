export interface ApprovalRules {
  send: boolean;
  delete: boolean;
  tools: Record<string, boolean>;
}

export type ApprovalStatus = 'pending' | 'allowed' | 'denied' | 'expired' | 'used';

export interface Approval {
  id: string;
  tool: string;
  platform: string;
  arguments: Record<string, unknown>;
  /** Long texts are cut in lists. */
  arguments_cut: boolean;
  /** Data, such as attachments, everywhere. */
  data_cut: boolean;
  status: ApprovalStatus;
  client: { id: string; name: string };
  created_at: string;
  expires_at: string;
}

export const APPROVALS_PATH = '/api/approvals';
export const RULES_PATH = '/api/approvals/rules';
