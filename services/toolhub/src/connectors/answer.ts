import { ConnectorError } from './connector.ts';

const ANSWER_BYTES_MAX = 4 * 1024 * 1024;

/** The JSON object that a platform answered with; an answer without end or without sense counts as no answer. */
export async function readJsonAnswer(response: Response, platform: string): Promise<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse((await readAnswer(response, platform)).toString('utf8'));
  } catch (error) {
    if (error instanceof ConnectorError) throw error;
    throw new ConnectorError(
      'platform_unavailable',
      `${platform} sent an answer (HTTP ${response.status}) that cannot be read`,
      { cause: error },
    );
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ConnectorError('platform_unavailable', `${platform} sent an answer that is not an object`);
  }
  return value as Record<string, unknown>;
}

async function readAnswer(response: Response, platform: string): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > ANSWER_BYTES_MAX) {
      throw new ConnectorError(
        'platform_unavailable',
        `${platform} sent more than ${ANSWER_BYTES_MAX} bytes`,
      );
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
