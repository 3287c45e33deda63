import type { Socket } from 'node:net';
import { type AppError, baseErrors } from '@libs/runtime';
import { PROBLEM_TYPE, toProblem } from './problem.ts';
import { newRequestId } from './request-id.ts';
import type { BaseHeaders } from './security-headers.ts';

/** Reasons of RFC 9110 for the few statuses that Node's parser can cause. */
const reasonByStatus: Record<number, string> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  413: 'Content Too Large',
  431: 'Request Header Fields Too Large',
};

function fromParser(code: unknown): AppError {
  if (code === 'HPE_HEADER_OVERFLOW') return baseErrors.headers_too_large();
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return baseErrors.request_timeout();
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return baseErrors.body_too_large();
  return baseErrors.bad_request();
}

/** Answers what never became a request (bad syntax, headers too large, too slow), straight on the socket. */
export function clientErrorHandler(options: {
  typeBase: string;
  headers: BaseHeaders;
}): (error: Error & { code?: unknown }, socket: Socket) => void {
  return (error, socket) => {
    if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
      socket.destroy();
      return;
    }
    const problem = fromParser(error.code);
    const requestId = newRequestId();
    const body = JSON.stringify(toProblem(problem, { requestId, typeBase: options.typeBase }));
    const head = [
      `HTTP/1.1 ${problem.status} ${reasonByStatus[problem.status] ?? 'Bad Request'}`,
      `x-request-id: ${requestId}`,
      ...options.headers.map(([name, value]) => `${name}: ${value}`),
      `content-type: ${PROBLEM_TYPE}`,
      `content-length: ${Buffer.byteLength(body)}`,
      'connection: close',
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  };
}
