import { once } from "node:events";
import { createServer, type AddressInfo, type Server } from "node:net";
import { buffer } from "node:stream/consumers";
import { SMTPServer } from "smtp-server";
import { afterEach, expect, test } from "vitest";
import { isDomainError } from "@/lib/core/errors";
import { mailContract } from "@/lib/platform/ports/mail.contract";
import { createSmtpMailer } from "./mailer";

interface Received {
  to: string;
  subject: string;
  text: string;
}

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

const wordPattern = /=\?utf-8\?([QB])\?(.*?)\?=/gi;
const quoted = (text: string): Buffer =>
  Buffer.from(
    text.replace(/=([0-9A-F]{2})/g, (_all, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    ),
    "latin1",
  );

/** Decodes RFC 2047 as far as these tests need it. */
const decodeHeader = (header: string): string =>
  header
    .replace(/\?=\s+=\?/g, "?==?")
    .replace(wordPattern, (_all, kind: string, word: string) =>
      (kind.toUpperCase() === "B"
        ? Buffer.from(word, "base64")
        : quoted(word.replaceAll("_", " "))
      ).toString("utf8"),
    );

const parse = (raw: string, to: string): Received => {
  const [head = "", ...body] = raw.split("\r\n\r\n");
  const headers = head.replace(/\r\n[ \t]+/g, " ");
  const header = (name: string): string =>
    new RegExp(`^${name}: (.*)$`, "im").exec(headers)?.[1] ?? "";
  const content = body.join("\r\n\r\n");
  const encoding = header("Content-Transfer-Encoding");
  const bytes =
    encoding === "base64"
      ? Buffer.from(content, "base64")
      : encoding === "quoted-printable"
        ? quoted(content.replace(/=\r\n/g, ""))
        : Buffer.from(content);
  const text = bytes.toString("utf8").replaceAll("\r\n", "\n").replace(/\n$/, "");
  return { to, subject: decodeHeader(header("Subject")), text };
};

const listen = async (server: Server): Promise<number> => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(() => server.close());
  return (server.address() as AddressInfo).port;
};

const startServer = async (): Promise<{ url: string; received: Received[] }> => {
  const received: Received[] = [];
  const smtp = new SMTPServer({
    disabledCommands: ["STARTTLS"],
    onAuth: ({ username, password }, _session, done) =>
      username === "user@x" && password === "p:w"
        ? done(null, { user: username })
        : done(new Error("no")),
    onRcptTo: ({ address }, _session, done) =>
      done(address.startsWith("refused@") ? new Error("no such box") : null),
    onData: (stream, session, done) => {
      const receive = (raw: Buffer): void => {
        received.push(
          ...session.envelope.rcptTo.map(({ address }) =>
            parse(raw.toString("utf8").replace(/\r\n$/, ""), address),
          ),
        );
        done();
      };
      void buffer(stream).then(receive, done);
    },
  });
  // The mailer may close its connection amid a mail, as after a refused recipient.
  smtp.on("error", () => undefined);
  const port = await listen(smtp.server);
  return { url: `smtp://user%40x:p%3Aw@127.0.0.1:${port}`, received };
};

const makeMailer = (url: string, timeoutMs?: number) => {
  const mailer = createSmtpMailer({
    url,
    from: "Causeway <no-reply@example.com>",
    ...(timeoutMs ? { timeoutMs } : {}),
  });
  closers.unshift(() => mailer.close());
  return mailer;
};

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "sent",
    (error: unknown) => (isDomainError(error) ? error.code : String(error)),
  );

mailContract("SMTP mailer", async () => {
  const { url, received } = await startServer();
  return { mailer: makeMailer(url), received: () => Promise.resolve(received) };
});

const mail = { to: "ada@example.com", subject: "Hello", text: "Hello", code: "123456" };

test("the code for the inbox page is in no mail by itself", async () => {
  const { url, received } = await startServer();
  await makeMailer(url).send(mail);
  expect(JSON.stringify(received)).not.toContain("123456");
});

test("a refused recipient, a wrong password and no server are provider_error", async () => {
  const { url } = await startServer();
  expect(await codeOf(makeMailer(url).send({ ...mail, to: "refused@example.com" }))).toBe(
    "provider_error",
  );
  expect(await codeOf(makeMailer(url.replace("p%3Aw", "wrong")).send(mail))).toBe(
    "provider_error",
  );
  expect(await codeOf(makeMailer("smtp://127.0.0.1:1").send(mail))).toBe("provider_error");
});

test("a comma in the address makes no second recipient", async () => {
  const { url, received } = await startServer();
  await codeOf(makeMailer(url).send({ ...mail, to: "ada@example.com,eve@example.com" }));
  expect(received.filter(({ to }) => to === "eve@example.com")).toEqual([]);
});

test("a server that accepts and says nothing is given up at the deadline", async () => {
  const port = await listen(createServer((socket) => socket.on("error", () => undefined)));
  expect(await codeOf(makeMailer(`smtp://127.0.0.1:${port}`, 300).send(mail))).toBe(
    "provider_error",
  );
});
