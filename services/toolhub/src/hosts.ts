import { acceptedHosts } from '@libs/http';

/**
 * The names under which requests are answered: that of the public address, and the names of this machine on the port that
 * this very process listens on, which a proxy or an operator at the machine uses. A page of another name that
 * resolves to this machine (DNS rebinding) gets nothing.
 */
export function acceptedHostsOf(server: { publicUrl: string; port: number }): ReadonlySet<string> {
  return new Set([...acceptedHosts(server.publicUrl), ...acceptedHosts(`http://localhost:${server.port}`)]);
}
