export interface DriverAddress {
  readonly connectionString: string;
  /** What the address asks of the server at the start of a connection (`options=-c …`); the driver would let it replace ours. */
  readonly options: string | undefined;
}

/** The driver takes each for `verify-full` already, and writes a page of warnings at every start that its next version will not. */
const VERIFIED = /^(?:prefer|require|verify-ca)$/;
/** libpq's word for the authorities that the machine trusts, which are the driver's when it is given no file. */
const TRUSTED_BY_THE_SYSTEM = 'system';

/** The address of a database as the driver is to read it. */
export function driverAddress(url: string): DriverAddress {
  const at = url.indexOf('?');
  if (at < 0) return { connectionString: url, options: undefined };
  const wanted = new URLSearchParams(url.slice(at + 1));
  const options = wanted.get('options') ?? undefined;
  wanted.delete('options');
  if (wanted.get('sslrootcert') === TRUSTED_BY_THE_SYSTEM) {
    wanted.delete('sslrootcert');
    wanted.set('sslmode', 'verify-full');
  }
  if (VERIFIED.test(wanted.get('sslmode') ?? '') && wanted.get('uselibpqcompat') !== 'true')
    wanted.set('sslmode', 'verify-full');
  return { connectionString: `${url.slice(0, at)}?${wanted}`, options };
}

/** Certificates that nobody has signed whom the driver knows. */
const UNKNOWN_AUTHORITY: ReadonlySet<unknown> = new Set([
  ...['SELF_SIGNED_CERT_IN_CHAIN', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'UNABLE_TO_GET_ISSUER_CERT'],
  ...['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
]);

/** Why no connection came about, in words for who wrote the address. */
export function connectReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, path, syscall } = error as NodeJS.ErrnoException;
  if (UNKNOWN_AUTHORITY.has(code))
    return `nobody who is known here signed its certificate: name the file of its authority in the address, sslrootcert=<file> (${code})`;
  if (syscall === 'open') return `the address names a file that cannot be read: ${path} (${code})`;
  return error.message || code || '';
}
