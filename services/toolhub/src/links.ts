/** Pages of the dashboard that a failed call points to. */
export interface Links {
  connect(platform: string): string;
  readonly upgrade: string;
  approval(id: string): string;
}

export function createLinks(publicUrl: string): Links {
  return {
    connect: (platform) => `${publicUrl}/connections/${encodeURIComponent(platform)}`,
    upgrade: `${publicUrl}/billing`,
    approval: (id) => `${publicUrl}/approvals?id=${encodeURIComponent(id)}`,
  };
}
