import { expect, it } from 'vitest';
import type { Message } from '../mime/message.ts';
import { appendRaw, callerOf, findArrived, type MailSetup, plainMail } from './mail-setup.ts';

/** Messages as other programs write them, on whatever server. */
export function itReadsMime(setup: () => MailSetup): void {
  it('reads nested parts, charsets and encoded names', async () => {
    const { connector, bob } = setup();
    const call = callerOf(connector);
    await appendRaw(bob, { folder: 'Archive', raw: nestedMail() });
    const { uid } = await findArrived(connector, bob, { folder: 'Archive', from: 'nested@else.test' });
    const message = await call<Message>('email_get_message', { folder: 'Archive', uid }, bob);
    expect(message.from).toBe('"Müller, Jörg" <nested@else.test>');
    expect(message.subject).toBe('日本語の件名');
    expect(message.text).toBe('Café déjà vu\nsecond line');
    expect(message.html).toBe('<p>Привет</p>');
    expect(message.attachments).toMatchObject([
      { filename: 'größe.txt', content_type: 'text/plain' },
      { filename: null, content_type: 'message/rfc822' },
      { filename: 'passwd', content_type: 'application/x-sh' },
    ]);
    const [latin] = message.attachments;
    const page = await call<{ content_base64: string }>(
      'email_get_attachment',
      { folder: 'Archive', uid, part_id: latin?.part_id },
      bob,
    );
    // An attachment comes as it was sent, in its own charset.
    expect(Buffer.from(page.content_base64, 'base64').toString('latin1')).toBe('Größe\r\n');
  });

  it('reads headers of old programs, in which letters stand as they are', async () => {
    const { connector, bob } = setup();
    const call = callerOf(connector);
    const head =
      'From: "J\xf6rg M\xfcller" <old@else.test>\r\nTo: Andr\xe9 <andre@mail.test>, bob@mail.test\r\n';
    await appendRaw(bob, { folder: 'Archive', raw: `${head}Subject: Caf\xe9\r\n cr\xe8me\r\n\r\nhello\r\n` });
    const found = await findArrived(connector, bob, { folder: 'Archive', from: 'old@else.test' });
    const shown = {
      subject: 'Café crème',
      from: 'Jörg Müller <old@else.test>',
      to: ['André <andre@mail.test>', 'bob@mail.test'],
    };
    expect(found).toMatchObject(shown);
    const { uid } = found;
    expect(await call('email_get_message', { folder: 'Archive', uid }, bob)).toMatchObject(shown);
  });

  it('makes text of a message that only has HTML, and cuts what is too long', async () => {
    const { connector, bob } = setup();
    const call = callerOf(connector);
    const head = 'From: html@else.test\r\nTo: bob@mail.test\r\nSubject: only html\r\nMIME-Version: 1.0\r\n';
    const html = '<style>p{}</style><p>Hello <b>there</b></p><script>alert(1)</script>';
    await appendRaw(bob, { folder: 'Archive', raw: `${head}Content-Type: text/html\r\n\r\n${html}\r\n` });
    const small = await findArrived(connector, bob, { folder: 'Archive', from: 'html@else.test' });
    const message = await call<Message>('email_get_message', { folder: 'Archive', uid: small.uid }, bob);
    expect(message.text).toBe('Hello there');
    expect(message).toMatchObject({ html, truncated: false });
    const long = plainMail('too long', 'ü'.repeat(300_000).replaceAll(/.{70}/g, '$&\r\n'));
    await appendRaw(bob, {
      folder: 'Archive',
      raw: Buffer.from(long.replace('Date:', 'Content-Type: text/plain; charset=utf-8\r\nDate:')),
    });
    const found = await findArrived(connector, bob, { folder: 'Archive', subject: 'too long' });
    const cut = await call<Message>('email_get_message', { folder: 'Archive', uid: found.uid }, bob);
    expect(cut.truncated).toBe(true);
    expect(Buffer.byteLength(cut.text ?? '')).toBeLessThanOrEqual(256 * 1024);
    expect(cut.text).not.toContain('\ufffd');
  });

  it.each(BODIES)('reads every part of a body: $name', async ({ name, mail, text, html }) => {
    const { connector, bob } = setup();
    const call = callerOf(connector);
    const head = `From: parts@else.test\r\nTo: bob@mail.test\r\nSubject: parts: ${name}\r\nMIME-Version: 1.0\r\n`;
    await appendRaw(bob, { folder: 'Archive', raw: `${head}${mail}\r\n` });
    const { uid } = await findArrived(connector, bob, { folder: 'Archive', subject: `parts: ${name}` });
    const read = (format: string) =>
      call<Message>('email_get_message', { folder: 'Archive', uid, format }, bob);
    expect(await read('full')).toMatchObject({ text, html, attachments: [], truncated: false });
    expect(await read('text')).toMatchObject({ text, html: null });
    expect(await read('html')).toMatchObject({ text: null, html });
  });
}

/** A part of a message that holds others. */
function multipart(kind: string, ...parts: string[]): string {
  const boundary = `of-${kind}`;
  const inside = parts.map((part) => `--${boundary}\r\n${part}\r\n`).join('');
  return `Content-Type: multipart/${kind}; boundary="${boundary}"\r\n\r\n${inside}--${boundary}--`;
}

const leaf = (type: string, content: string) => `Content-Type: text/${type}\r\n\r\n${content}`;

const BODIES = [
  {
    name: 'HTML with a footer of a list',
    mail: multipart('mixed', leaf('html', '<p>Hello</p>'), leaf('plain', 'a list & its footer')),
    text: 'Hello\na list & its footer',
    html: '<p>Hello</p>\n<pre>a list &amp; its footer</pre>',
  },
  {
    name: 'both with a footer of a list',
    mail: multipart(
      'mixed',
      multipart('alternative', leaf('plain', 'Hello'), leaf('html', '<p>Hi</p>')),
      leaf('plain', 'footer'),
    ),
    text: 'Hello\nfooter',
    html: '<p>Hi</p>\n<pre>footer</pre>',
  },
  {
    name: 'a blank choice',
    mail: multipart('alternative', leaf('plain', '\r\n'), multipart('related', leaf('html', '<p>Offer</p>'))),
    text: 'Offer',
    html: '<p>Offer</p>',
  },
  {
    name: 'text with a disclaimer',
    mail: multipart('mixed', leaf('plain', 'a < b'), leaf('html', '<i>Confidential</i>')),
    text: 'a < b\nConfidential',
    html: '<pre>a &lt; b</pre>\n<i>Confidential</i>',
  },
  {
    name: 'one text that has a file name',
    mail: 'Content-Type: text/plain; charset=utf-8; name="mail.txt"\r\nContent-Disposition: inline\r\n\r\nHello',
    text: 'Hello',
    html: null,
  },
  {
    name: 'file names everywhere',
    mail: multipart(
      'mixed',
      multipart('alternative', leaf('plain; name=a.txt', 'Hello'), leaf('html; name=a.html', '<p>Hi</p>')),
    ),
    text: 'Hello',
    html: '<p>Hi</p>',
  },
  {
    name: 'text alone',
    mail: multipart('mixed', leaf('plain', 'one'), leaf('plain', 'two')),
    text: 'one\ntwo',
    html: null,
  },
];

/** Deep, in four charsets, with names in three notations, one of them a path. */
function nestedMail(): string {
  return [
    'From: =?ISO-8859-1?Q?=22M=FCller=2C_J=F6rg=22?= <nested@else.test>',
    'To: bob@mail.test',
    'Subject: =?ISO-2022-JP?B?GyRCRnxLXDhsJE43b0w+GyhC?=',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary="outer"',
    '',
    'This is a multi-part message in MIME format.',
    '--outer',
    'Content-Type: multipart/related; boundary="middle"',
    '',
    '--middle',
    'Content-Type: multipart/alternative; boundary="inner"',
    '',
    '--inner',
    'Content-Type: text/plain; charset=iso-8859-1',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    'Caf=E9 d=E9j=E0 =',
    'vu',
    'second line',
    '--inner',
    'Content-Type: text/html; charset=koi8-r',
    'Content-Transfer-Encoding: base64',
    '',
    'PHA+8NLJ18XUPC9wPg==',
    '--inner--',
    '--middle--',
    '--outer',
    "Content-Type: text/plain; charset=iso-8859-1; name*=iso-8859-1''gr%F6%DFe.txt",
    "Content-Disposition: inline; filename*=iso-8859-1''gr%F6%DFe.txt",
    'Content-Transfer-Encoding: quoted-printable',
    '',
    'Gr=F6=DFe=0D=0A=',
    '',
    '--outer',
    'Content-Type: message/rfc822',
    '',
    'From: inner@else.test',
    'Subject: forwarded',
    'Content-Type: text/plain',
    '',
    'a message inside',
    '--outer',
    'Content-Type: application/x-sh',
    'Content-Disposition: attachment; filename="../../etc/passwd"',
    '',
    'echo',
    '--outer--',
    '',
  ].join('\r\n');
}
