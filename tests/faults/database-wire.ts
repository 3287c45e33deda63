import { hash } from 'node:crypto';
import { createFrontendReader } from './frontend-messages.ts';
import { type Inspector, startWire, throughWire, type Wire } from './wire.ts';

/*
 * A wire between a process and its database that knows which statement passes. It tells before a statement reaches the
 * database, and when what was written is committed and the process has not heard of it. What it is told to stop never
 * passes, so that who kills the process in that moment kills it at exactly that step.
 */

/** Where a connection stands: at a statement that is about to run, or after a write that only the database knows of. */
export interface WireStep {
  name: string;
  when: 'before' | 'after';
}

export interface DatabaseWire extends Wire {
  /** The database's address, by way of this wire. */
  url: string;
}

const NAME_MAX = 60;
const WRITES = /^\s*(insert|update|delete|with)\b/i;

export async function startDatabaseWire(
  databaseUrl: string,
  { isStopped }: { isStopped: (step: WireStep) => boolean },
): Promise<DatabaseWire> {
  const { hostname, port } = new URL(databaseUrl);
  const wire = await startWire({
    to: () => ({ host: hostname, port: Number(port) }),
    inspect: () => inspectStatements(isStopped),
  });
  return Object.assign(wire, { url: throughWire(databaseUrl, wire) });
}

function inspectStatements(isStopped: (step: WireStep) => boolean): Inspector {
  const reader = createFrontendReader();
  let isInTransaction = false;
  let last = '';
  let committing: string | null = null;
  return {
    letsToServer(chunk) {
      for (const text of reader.read(chunk)) {
        const isEnd = text === 'commit' || text === 'rollback';
        const name = isEnd ? `${text} after ${last}` : nameOf(text);
        if (isStopped({ name, when: 'before' })) return false;
        isInTransaction = (isInTransaction || text.startsWith('begin')) && !isEnd;
        last = name;
        // A statement that writes by itself is its own commit.
        committing = text === 'commit' || (!isInTransaction && WRITES.test(text)) ? name : null;
      }
      return true;
    },
    letsToClient() {
      const name = committing;
      committing = null;
      return name === null || !isStopped({ name, when: 'after' });
    },
  };
}

/** How a statement begins, in one line, and what tells it from others that begin alike. */
function nameOf(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= NAME_MAX
    ? line
    : `${line.slice(0, NAME_MAX)}… ${hash('sha1', line, 'hex').slice(0, 6)}`;
}
