import { acceptedHosts } from '@libs/http';

/**
 * The names under which requests are answered: that of the public address, and while that is a loopback one, all names of
 * this machine, also on the port that this very process listens on. A page of another name that resolves to this
 * machine (DNS rebinding) gets nothing.
 */
export function acceptedHostsOf(server: { publicUrl: string; port: number }): ReadonlySet<string> {
  const hosts = acceptedHosts(server.publicUrl);
  const isLoopback = hosts.size > 1;
  return isLoopback ? new Set([...hosts, ...acceptedHosts(`http://localhost:${server.port}`)]) : hosts;
}
