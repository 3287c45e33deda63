export interface CertificateInUse {
  /** The setting that names its file. */
  readonly setting: string;
  readonly beginsAt: Date;
  readonly endsAt: Date;
}

/** No reason to refuse the start: the other rail, test mode and the dashboard work without it. */
export function certificateWarnings(certificates: readonly CertificateInUse[], now: Date): string[] {
  return certificates.flatMap(({ setting, beginsAt, endsAt }) => {
    if (endsAt < now) return [`a certificate of ${setting} expired at ${endsAt.toISOString()}`];
    return beginsAt > now
      ? [`a certificate of ${setting} is not valid before ${beginsAt.toISOString()}`]
      : [];
  });
}
