import { type ErrorCatalogue, type ErrorDefinition, isRetryable, statusByKind } from '@libs/runtime';

/** A table as Markdown; what stands in a cell may be Markdown itself. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

const MEANINGS: Readonly<Record<number, string>> = {
  400: 'The request cannot be read',
  401: 'Nobody was recognised',
  403: 'Recognised, and not allowed',
  404: 'Not there',
  405: 'The wrong method',
  408: 'Too slow',
  409: 'Not in this state',
  410: 'Gone',
  413: 'Too much',
  414: 'Too long an address',
  415: 'Not JSON',
  422: 'Understood, and refused',
  429: 'Too many requests',
  431: 'Too many headers',
  500: 'Our mistake',
  502: 'A server behind us failed',
  503: 'Not at the moment',
};

/** Every code with its own heading, so that the `type` of an error leads to it. */
export function errorsMarkdown({ codes, definitions }: ErrorCatalogue): string {
  const byStatus = new Map<number, [string, ErrorDefinition][]>();
  for (const code of codes) {
    const definition = definitions[code] as ErrorDefinition;
    const status = statusByKind[definition.kind];
    byStatus.set(status, [...(byStatus.get(status) ?? []), [code, definition]]);
  }
  return [...byStatus]
    .sort(([one], [other]) => one - other)
    .map(([status, entries]) => {
      const parts = entries.map(([code, definition]) => errorMarkdown(code, definition));
      return `## ${status}: ${MEANINGS[status] ?? 'Other'}\n\n${parts.join('\n\n')}`;
    })
    .join('\n\n');
}

function errorMarkdown(code: string, definition: ErrorDefinition): string {
  const { detail, title, help } = definition;
  return `### \`${code}\`\n\n${detail ?? title}${help === undefined ? '' : ` ${help}`}\n\n${adviceOf(definition)}`;
}

function adviceOf(definition: ErrorDefinition): string {
  if (definition.kind === 'internal') return 'Retryable: **yes**, with the same `Idempotency-Key`.';
  if (isRetryable(definition)) return 'Retryable: **yes**, after `Retry-After` where the answer has it.';
  return 'Retryable: **no**.';
}
