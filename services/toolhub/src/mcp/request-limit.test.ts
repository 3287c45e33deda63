// Which messages count against which limit, before their body is read.
import type { RateLimit, RateLimits } from '@libs/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
import { createRequestLimit } from './request-limit.ts';

function countedFor(headers: Record<string, string>, callsPerSecond = 20): string[] {
  const counted: string[] = [];
  const limit = ({ name, limit: perSecond }: { name: string; limit: number }) =>
    ({ isOff: perSecond === 0, enforce: () => void counted.push(name) }) as unknown as RateLimit;
  const requestLimit = createRequestLimit({ limit } as unknown as RateLimits, callsPerSecond);
  requestLimit.enforce('cus_1', { headers } as FastifyRequest, {} as FastifyReply);
  return counted;
}

test('a message of a mebibyte, or of a length that it does not tell, counts as a large one, too', () => {
  expect(countedFor({ 'content-length': '1048575' })).toEqual(['messages']);
  expect(countedFor({ 'content-length': '1048576' })).toEqual(['messages', 'large_messages']);
  expect(countedFor({ 'transfer-encoding': 'chunked' })).toEqual(['messages', 'large_messages']);
});

test('nothing counts where calls are not limited', () => {
  expect(countedFor({}, 0)).toEqual([]);
});
