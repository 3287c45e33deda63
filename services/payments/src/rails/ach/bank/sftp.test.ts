// The live line against a real SFTP server: whole files only, each once, whatever is cut off in between.
import {
  appendFile,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startDyingLine } from '../test/dying-line.ts';
import { replyLines, text } from '../test/nacha-files.ts';
import { newPrivateKey, type SftpBank, startSftpBank } from '../test/sftp-bank.ts';
import { type AchSftp, type AchSftpDependencies, createAchSftp, SftpNameTaken } from './sftp.ts';
import { SftpUnreachable } from './sftp-connection.ts';
import type { OutboundFile } from './transport.ts';

let bank: SftpBank;
let open: AchSftp[];
let alerts: object[];

beforeEach(async () => {
  bank = await startSftpBank();
  open = [];
  alerts = [];
});
afterEach(async () => {
  await Promise.all(open.map((line) => line.close()));
  await bank.close();
});

function connect(changes: Partial<AchSftpDependencies> = {}): AchSftp {
  const line = createAchSftp({
    url: bank.url,
    privateKeyPath: bank.privateKeyPath,
    hostKeyFingerprint: bank.fingerprint,
    now: () => new Date(),
    log: { error: (fields) => void alerts.push(fields), warn: () => {} },
    settleMs: -60_000,
    brokenOffMs: -60_000,
    ...changes,
  });
  open.push(line);
  return line;
}

/** A file that notes down what the house would write into its database. */
function aFile(content: string, changes: Partial<OutboundFile> = {}): OutboundFile & { isUploaded: boolean } {
  const file = {
    name: 'ach-1.ach',
    content,
    asOf: new Date(),
    isUploaded: false,
    noteUploaded: async () => {
      file.isUploaded = true;
    },
    ...changes,
  };
  return file;
}

const outbound = () => readdir(join(bank.folder, 'outbound'));
const readOutbound = (name: string) => readFile(join(bank.folder, 'outbound', name), 'latin1');

describe('sending', () => {
  test('a file appears under its name when it is whole', async () => {
    const content = '1'.repeat(300_000);
    expect(await connect().send(aFile(content))).toEqual({ ok: true });
    expect(await outbound()).toEqual(['ach-1.ach']);
    expect(await readOutbound('ach-1.ach')).toBe(content);
  });

  test('a file that is cut off stays under another name and is gone on with', async () => {
    const content = Array.from({ length: 4_000 }, (_, n) => String(n).padStart(94)).join('\n');
    const file = aFile(content);
    bank.cutAfterBytes = 150_000;
    await expect(connect().send(file)).rejects.toThrow();
    expect(await outbound()).toEqual(['ach-1.ach.part']);
    const begun = (await readOutbound('ach-1.ach.part')).length;
    expect(begun).toBeGreaterThan(0);
    // What is left, and not a byte more, may pass: sending it all again would be cut off once more.
    bank.cutAfterBytes = content.length - begun;
    await connect().send(file);
    expect(await outbound()).toEqual(['ach-1.ach']);
    expect(await readOutbound('ach-1.ach')).toBe(content);
  });

  test('a draft that is not the beginning of the file is written anew', async () => {
    await writeFile(join(bank.folder, 'outbound', 'ach-1.ach.part'), 'something else');
    await connect().send(aFile('the file'));
    expect(await readOutbound('ach-1.ach')).toBe('the file');
  });

  test('the same file again changes nothing', async () => {
    const line = connect();
    const file = aFile('content');
    await line.send(file);
    await line.send(file);
    expect(await outbound()).toEqual(['ach-1.ach']);
    expect(bank.connections).toBe(1);
  });

  test('a file that the bank has taken away is not sent a second time', async () => {
    const file = aFile('content');
    await connect().send(file);
    await rename(join(bank.folder, 'outbound', 'ach-1.ach'), join(bank.folder, 'taken.ach'));
    await connect().send(file);
    expect(await outbound()).toEqual([]);
  });

  test('a crash before the renaming: the draft gets its name', async () => {
    const file = aFile('content');
    const dying = {
      ...file,
      noteUploaded: async () => {
        await file.noteUploaded();
        throw new Error('died');
      },
    };
    await expect(connect().send(dying)).rejects.toThrow('died');
    expect(await outbound()).toEqual(['ach-1.ach.part']);
    await connect().send(file);
    expect(await outbound()).toEqual(['ach-1.ach']);
  });

  test("somebody else's file under our name is left alone", async () => {
    await writeFile(join(bank.folder, 'outbound', 'ach-1.ach'), 'longer than ours');
    await expect(connect().send(aFile('ours'))).rejects.toThrow(SftpNameTaken);
    expect(await readOutbound('ach-1.ach')).toBe('longer than ours');
  });

  test('so is one of the same name and the same size: only the content tells whose it is', async () => {
    await writeFile(join(bank.folder, 'outbound', 'ach-1.ach'), 'their');
    for (const isUploaded of [false, true])
      await expect(connect().send(aFile('ours!', { isUploaded }))).rejects.toThrow(SftpNameTaken);
    expect(await readOutbound('ach-1.ach')).toBe('their');
  });
});

describe('fetching', () => {
  const put = (name: string, content: string | Buffer) =>
    writeFile(join(bank.folder, 'inbound', name), content);

  test('files come until they are acknowledged, then they lie in the archive', async () => {
    await put('b.ach', 'second');
    await put('a.ach', 'first');
    const line = connect();
    const names = async () => (await line.collect(new Date())).files.map(({ name }) => name);
    expect(await names()).toEqual(['a.ach', 'b.ach']);
    expect(await names()).toEqual(['a.ach', 'b.ach']);
    await line.acknowledge('a.ach');
    await line.acknowledge('a.ach');
    expect(await names()).toEqual(['b.ach']);
    expect(await readdir(join(bank.folder, 'inbound', 'archive'))).toEqual(['a.ach']);
    await put('a.ach', 'the bank uses the name again');
    expect((await names()).sort()).toEqual(['a.ach', 'b.ach']);
    await line.acknowledge('a.ach');
    expect(await readdir(join(bank.folder, 'inbound', 'archive'))).toHaveLength(2);
  });

  describe('what was not read is not put into the archive', () => {
    const inbound = async () => (await readdir(join(bank.folder, 'inbound'))).sort();
    const contents = async (line: AchSftp) =>
      (await line.collect(new Date())).files.map(({ content }) => content);

    test('what the bank has written on since', async () => {
      await put('a.ach', 'half');
      const line = connect();
      expect(await contents(line)).toEqual(['half']);
      await appendFile(join(bank.folder, 'inbound', 'a.ach'), ' and half');
      await line.acknowledge('a.ach');
      expect(await contents(line)).toEqual(['half and half']);
      await line.acknowledge('a.ach');
      expect(await inbound()).toEqual(['archive']);
    });

    test('another file of the same name and the same size', async () => {
      await put('a.ach', 'one');
      const before = new Date(Date.now() - 60_000);
      await utimes(join(bank.folder, 'inbound', 'a.ach'), before, before);
      const line = connect();
      expect(await contents(line)).toEqual(['one']);
      await put('a.ach', 'two');
      await line.acknowledge('a.ach');
      expect(await contents(line)).toEqual(['two']);
    });

    test('one that lay there after the fetch', async () => {
      const line = connect();
      expect(await contents(line)).toEqual([]);
      await put('a.ach', 'one');
      await line.acknowledge('a.ach');
      expect(await contents(line)).toEqual(['one']);
    });

    test.each([
      ['and lies where it lay', null, ['a.ach', 'archive'], ['half and half']],
      [
        'and lies beside the next of its name',
        'next',
        ['a.ach', 'a.ach.5', 'archive'],
        ['half and half', 'next'],
      ],
    ])('what the bank writes on while it is put there comes back, %s', async (_how, next, names, all) => {
      await put('a.ach', 'half');
      const line = connect({
        now: () => new Date(5),
        settleMs: -Date.now() * 2,
        brokenOffMs: -Date.now() * 2,
      });
      expect(await contents(line)).toEqual(['half']);
      bank.aroundRename = async (act) => {
        bank.aroundRename = (again) => again();
        await appendFile(join(bank.folder, 'inbound', 'a.ach'), ' and half');
        await act();
        if (next !== null) await put('a.ach', next);
      };
      await line.acknowledge('a.ach');
      expect(await inbound()).toEqual(names);
      expect(await readdir(join(bank.folder, 'inbound', 'archive'))).toEqual([]);
      expect((await contents(line)).sort()).toEqual(all);
    });
  });

  test('every byte arrives, also those that are no text', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, n) => n));
    await put('odd.ach', bytes);
    const [file] = (await connect().collect(new Date())).files;
    expect(Buffer.from(file?.content ?? '', 'latin1')).toEqual(bytes);
  });

  test('what is unfinished, hidden, a folder or just being written is left', async () => {
    await put('a.ach.part', 'x');
    await put('a.tmp', 'x');
    await put('.hidden', 'x');
    await mkdir(join(bank.folder, 'inbound', 'folder'));
    expect(await connect().collect(new Date())).toEqual({ files: [], isAll: true });
    await put('fresh.ach', 'x');
    // It may hold returns, so nobody may think that there are none.
    expect(await connect({ settleMs: 60_000 }).collect(new Date())).toEqual({ files: [], isAll: false });
    const files = [{ name: 'fresh.ach', content: 'x' }];
    expect(await connect().collect(new Date())).toEqual({ files, isAll: true });
  });

  test.each(['a.ach.part', 'a.ach.filepart', 'A.TMP'])(
    '[P-5.12] one that the bank still writes, as %s, may hold returns, until it has lain still for long',
    async (draft) => {
      await put(draft, 'x');
      await put('.hidden', 'x');
      await put('b.ach', text(replyLines));
      let now = Date.now();
      const line = connect({ now: () => new Date(now), brokenOffMs: undefined });
      const collected = async () => {
        const { files, isAll } = await line.collect(new Date());
        return [files.map(({ name }) => name), isAll];
      };
      expect(await collected()).toEqual([['b.ach'], false]);
      now += 40_000;
      expect(await collected()).toEqual([['b.ach'], true]);
    },
  );

  test('[P-5.14] one without its last control is still being written, until it has lain still for long', async () => {
    const whole = text(replyLines);
    await put('half.ach', whole.slice(0, 650));
    await put('whole.ach', whole);
    let now = Date.now();
    const line = connect({ now: () => new Date(now), settleMs: 10_000, brokenOffMs: undefined });
    const names = async () => (await line.collect(new Date())).files.map(({ name }) => name);
    now += 20_000;
    expect(await names()).toEqual(['whole.ach']);
    expect(alerts).toEqual([]);
    now += 40_000;
    expect(await names()).toEqual(['half.ach', 'whole.ach']);
    expect(alerts).toEqual([{ alert: 'ach_file_broken_off', rail: 'ach', file: 'half.ach', size: 650 }]);
  });

  describe("[P-5.14] what the server's clock shows decides nothing", () => {
    const HOUR_S = 3_600;
    let now: number;
    beforeEach(() => {
      now = Date.now();
    });
    const watch = () => connect({ now: () => new Date(now), settleMs: 10_000, brokenOffMs: undefined });
    const put = async (name: string, content: string, secondsAhead: number) => {
      const path = join(bank.folder, 'inbound', name);
      await writeFile(path, content);
      const time = new Date((Math.floor(now / 1_000) + secondsAhead) * 1_000);
      await utimes(path, time, time);
    };
    const collected = async (line: AchSftp) => {
      const { files, isAll } = await line.collect(new Date());
      return [files.map(({ name }) => name), isAll];
    };
    const whole = text(replyLines);

    test.each(['half.ach', 'half.ach.part'])(
      'an hour behind: %s is waited for while it grows, and until it has lain still for long',
      async (name) => {
        const line = watch();
        for (const size of [100, 200, 300]) {
          await put(name, whole.slice(0, size), -HOUR_S);
          expect(await collected(line)).toEqual([[], false]);
          now += 20_000;
        }
        expect(await collected(line)).toEqual([[], false]);
        expect(alerts).toEqual([]);
        now += 40_000;
        expect((await collected(line))[1]).toBe(true);
      },
    );

    test('an hour ahead: a whole file is read when it has lain still', async () => {
      const line = watch();
      await put('whole.ach', whole, HOUR_S);
      expect(await collected(line)).toEqual([[], false]);
      now += 15_000;
      expect(await collected(line)).toEqual([['whole.ach'], true]);
    });
  });

  test('[P-5.14] a file that grew while the folder was listed, however long that took, is still being written', async () => {
    await put('a.ach.part', 'x');
    await put('half.ach', text(replyLines).slice(0, 650));
    let now = Date.now() + 15_000;
    bank.afterListing = async () => {
      now += 60_000;
    };
    const line = connect({ now: () => new Date(now), settleMs: 10_000, brokenOffMs: undefined });
    expect(await line.collect(new Date())).toEqual({ files: [], isAll: false });
    expect(alerts).toEqual([]);
  });

  test('[P-5.14] one that the bank takes away or renames after the listing holds up no other, and is not all there is', async () => {
    await put('a.ach', text(replyLines));
    await put('b.ach', text(replyLines));
    const folder = join(bank.folder, 'inbound');
    bank.afterListing = async () => {
      bank.afterListing = async () => {};
      await rename(join(folder, 'a.ach'), join(folder, 'c.ach'));
    };
    const line = connect();
    const collected = async () => {
      const { files, isAll } = await line.collect(new Date());
      return [files.map(({ name }) => name), isAll];
    };
    expect(await collected()).toEqual([['b.ach'], false]);
    const [names, isAll] = await collected();
    expect([[...(names as string[])].sort(), isAll]).toEqual([['b.ach', 'c.ach'], true]);
  });

  test('those that are still being written take no place of others', async () => {
    for (let n = 100; n < 160; n += 1) await put(`a-${n}.ach`, '101 ');
    await put('b.ach', text(replyLines));
    const { files, isAll } = await connect({ brokenOffMs: 60_000 }).collect(new Date());
    expect(files.map(({ name }) => name)).toEqual(['b.ach']);
    expect(isAll).toBe(false);
  });

  test('[P-5.14] of a slow line, what came within a minute is read, and the rest by the next fetches', async () => {
    for (const name of ['a.ach', 'b.ach', 'c.ach']) await put(name, text(replyLines));
    let now = Date.now();
    const line = connect({
      now: () => {
        now += 40_000;
        return new Date(now);
      },
    });
    for (const [name, isAll] of [
      ['a.ach', false],
      ['b.ach', false],
      ['c.ach', true],
    ] as const) {
      const fetched = await line.collect(new Date());
      expect([fetched.files.map((file) => file.name), fetched.isAll]).toEqual([[name], isAll]);
      await line.acknowledge(name);
    }
  });

  test('one that is too large is left, said to be there, and reported', async () => {
    const size = 200_000_001;
    await put('huge.ach', '');
    await truncate(join(bank.folder, 'inbound', 'huge.ach'), size);
    expect(await connect().collect(new Date())).toEqual({ files: [], isAll: false });
    expect(alerts).toEqual([{ alert: 'ach_file_too_large', rail: 'ach', file: 'huge.ach', size }]);
  });
});

describe('the bank', () => {
  test('with another host key is not our bank', async () => {
    const line = connect({ hostKeyFingerprint: 'SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' });
    await expect(line.send(aFile('secret'))).rejects.toThrow(SftpUnreachable);
    expect(await outbound()).toEqual([]);
  });

  test('lets in our key alone, and the error names no secret', async () => {
    const path = join(bank.folder, '..', 'other-key');
    await writeFile(path, newPrivateKey());
    const url = bank.url.replace('house@', 'house:hunter2@');
    const error = await connect({ url, privateKeyPath: path })
      .collect(new Date())
      .catch((reason: Error) => reason);
    expect(error).toBeInstanceOf(SftpUnreachable);
    expect((error as Error).message).not.toContain('hunter2');
  });

  test('at an IPv6 address, which a URL brackets, is reached', async () => {
    await bank.close();
    bank = await startSftpBank('::1');
    await connect().send(aFile('one'));
    expect(await outbound()).toEqual(['ach-1.ach']);
  });

  test('that is not there is told from an empty folder', async () => {
    const line = connect({ url: 'sftp://house@127.0.0.1:1/' });
    await expect(line.collect(new Date())).rejects.toThrow(SftpUnreachable);
  });

  test('that went away and came back is reached again', async () => {
    const line = connect();
    await line.send(aFile('one'));
    bank.cutAfterBytes = 0;
    await expect(line.send(aFile('two', { name: 'ach-2.ach' }))).rejects.toThrow();
    bank.cutAfterBytes = null;
    await line.send(aFile('two', { name: 'ach-2.ach' }));
    expect(await outbound()).toEqual(['ach-1.ach', 'ach-2.ach']);
  });

  test('[P-5.14] that lets us in and then says nothing is not waited for without end, and is reached again', async () => {
    bank.isMute = true;
    const line = connect({ openMs: 500 });
    await expect(line.collect(new Date())).rejects.toThrow(/does not begin to speak SFTP/);
    bank.isMute = false;
    expect((await line.collect(new Date())).files).toEqual([]);
  });

  test('[P-5.14] whose line has died is not waited for when we take leave', async () => {
    const path = await startDyingLine(Number(new URL(bank.url).port));
    try {
      const line = connect({ url: `sftp://house@127.0.0.1:${path.port}/` });
      await line.collect(new Date());
      path.die();
      await line.close();
    } finally {
      await path.close();
    }
  });

  test('without the folder of answers: an error, not an empty list', async () => {
    await rm(join(bank.folder, 'inbound'), { recursive: true });
    await expect(connect().collect(new Date())).rejects.toThrow();
  });
});
