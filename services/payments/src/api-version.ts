import type { onRequestHookHandler } from 'fastify';
import { errors } from './errors.ts';

/** Newest first. Additive changes come without a new version. */
export const apiVersions = ['2026-11-15'] as const;

/** A caller may pin a dated version; one that never was is a mistake, and silence would hide it. */
export const checkApiVersion: onRequestHookHandler = (request, _reply, done) => {
  const version = request.headers['api-version'];
  if (version === undefined || (apiVersions as readonly unknown[]).includes(version)) done();
  else done(errors.unsupported_api_version({ extra: { supported_versions: apiVersions } }));
};
