import { ConnectorError } from '../connector.ts';

/** The JSON object that a platform answered with; an answer without sense counts as no answer. */
export async function readJsonAnswer(response: Response, platform: string): Promise<Record<string, unknown>> {
  let value: unknown;
  try {
    value = await response.json();
  } catch (cause) {
    const message = `${platform} sent an answer (HTTP ${response.status}) that cannot be read`;
    throw new ConnectorError('platform_unavailable', message, { cause });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ConnectorError('platform_unavailable', `${platform} sent an answer that is not an object`);
  }
  return value as Record<string, unknown>;
}
